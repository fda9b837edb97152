//! AES-256-GCM with fresh keys and nonces.

use aes_gcm::aead::{Aead as _, KeyInit as _, Payload};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use zeroize::Zeroizing;

use crate::{Random, SealError};

/// Length of a key in bytes.
pub const KEY_LENGTH: usize = 32;
/// Length of a nonce in bytes.
pub(crate) const NONCE_LENGTH: usize = 12;

/// Key in memory that is wiped when it is dropped.
pub(crate) type Secret = Zeroizing<[u8; KEY_LENGTH]>;

/// Bytes under a key.
pub(crate) struct Closed {
    /// Nonce, never used before.
    pub(crate) nonce: [u8; NONCE_LENGTH],
    /// Cipher text and its tag.
    pub(crate) bytes: Vec<u8>,
}

/// A new key.
pub(crate) fn new_key(random: &mut dyn Random) -> Result<Secret, SealError> {
    let mut key = Zeroizing::new([0; KEY_LENGTH]);
    random.fill(key.as_mut_slice())?;
    Ok(key)
}

/// The bytes under the key, with a new nonce before them.
///
/// # Errors
/// `NoRandom`, `TooLong`.
pub(crate) fn encrypt(
    key: &Secret,
    bytes: &[u8],
    associated: &[u8],
    random: &mut dyn Random,
) -> Result<Closed, SealError> {
    let mut nonce = [0; NONCE_LENGTH];
    random.fill(&mut nonce)?;
    let bytes = cipher(key)
        .encrypt(&Nonce::from(nonce), Payload { msg: bytes, aad: associated })
        .map_err(|aes_gcm::Error| SealError::TooLong(bytes.len()))?;
    Ok(Closed { nonce, bytes })
}

/// Input of [`encrypt`].
///
/// # Errors
/// `DoesNotOpen`.
pub(crate) fn decrypt(
    key: &Secret,
    nonce: [u8; NONCE_LENGTH],
    sealed: &[u8],
    associated: &[u8],
) -> Result<Zeroizing<Vec<u8>>, SealError> {
    cipher(key)
        .decrypt(&Nonce::from(nonce), Payload { msg: sealed, aad: associated })
        .map(Zeroizing::new)
        .map_err(|aes_gcm::Error| SealError::DoesNotOpen)
}

fn cipher(key: &Secret) -> Aes256Gcm {
    let bytes: &[u8; KEY_LENGTH] = key;
    Aes256Gcm::new(<&Key<Aes256Gcm>>::from(bytes))
}
