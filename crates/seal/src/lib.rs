//! Secrets at rest. Each secret is sealed with AES-256-GCM under a key of its own (the data key), which a key of the
//! installation's [`Keyring`] wraps; the place of the secret (tenant, kind of record, record, field) is associated data,
//! so that a sealed secret opens where it was sealed and nowhere else. Another key of the ring is a new wrapping of the
//! data keys: no secret is opened for it.
//!
//! Keys and opened secrets are wiped when they are dropped, and no `Debug` shows one.

mod cipher;
mod file;
mod keyring;
mod place;
mod random;
mod sealed;

pub use cipher::KEY_LENGTH;
pub use keyring::{CheckValue, Keyring};
pub use place::Place;
pub use random::{Random, SystemRandom};
pub use sealed::{LONGEST, Sealed};
pub use zeroize::Zeroizing;

use std::path::PathBuf;

/// Reason for which a secret can't be sealed or opened, or a keyring not be read. It names keys by their id and never
/// holds a byte of a key or a secret.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The sealed form is of a version that this program does not know.
    #[error("the secret is sealed in version {0} of the form, which this program does not know")]
    UnknownVersion(u8),
    /// The key is not on the ring.
    #[error("the key `{0}` is not on the keyring: put the key file back that has it")]
    UnknownKey(String),
    /// A key of that id is on the ring, and it is another one.
    #[error("the key `{0}` of the keyring is not the key of that name which sealed what is stored")]
    WrongKey(String),
    /// The secret does not open: a byte was changed, or it was sealed for another place.
    #[error("the secret does not open: it was changed, or it was sealed for another tenant, record or field")]
    DoesNotOpen,
    /// The secret is longer than what is sealed ([`LONGEST`]).
    #[error("a secret may be up to {LONGEST} bytes long, and this one has {0}")]
    TooLong(usize),
    /// The system has no random bytes.
    #[error("no random bytes: {0}")]
    NoRandom(String),
    /// The text is no keyring.
    #[error("the keyring is not one of ours: {0}")]
    BadKeyring(&'static str),
    /// The key can't be taken from the ring: new secrets are sealed under it.
    #[error("the key `{0}` is the current one and stays on the keyring")]
    IsCurrent(String),
    /// The keyring's file can be read or written by others.
    #[error("`{}` can be read or written by others: give it to the user that runs heddle, with mode 0600", .0.display())]
    Exposed(PathBuf),
    /// The file system.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// Path of the keyring's file.
        path: PathBuf,
        /// Error of the file system.
        source: std::io::Error,
    },
}
