//! The licence: its file, its signature, and what is kept of it.

mod file;
mod keys;
mod state;
#[cfg(any(test, feature = "test-keys"))]
pub mod testing;

pub use file::{ARMOUR_BEGIN, ARMOUR_END, FileError, armour};

pub(crate) use file::{read, sign};
pub(crate) use keys::INSTALLATION_KEY_ID;
pub(crate) use state::{Kept, Licences};
