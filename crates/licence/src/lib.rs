//! The licence file: one PASETO v4.public token (Ed25519) in an armour of lines, and the keys that sign and check it.
//! An installation reads licences with it; whoever distributes the program issues them with it.

mod file;
mod keys;

pub use file::{ARMOUR_BEGIN, ARMOUR_END, FileError, SignError, Signed, armour, read, sign};
pub use keys::{INSTALLATION_KEY_ID, KEY_LENGTH, KeyError, PublicKeys, SecretKey, TEST_KEY_ID};

/// A key that checks signatures.
pub type PublicKey = pasetors::keys::AsymmetricPublicKey<pasetors::version4::V4>;
/// A key that signs, as the signature's library has it.
pub type SigningKey = pasetors::keys::AsymmetricSecretKey<pasetors::version4::V4>;
