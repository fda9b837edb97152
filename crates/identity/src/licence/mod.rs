//! The licence: its file, its signature, and what is kept of it.

mod file;
mod guard;
mod keys;
mod state;
#[cfg(any(test, feature = "test-keys"))]
pub mod testing;

pub use keys::vendor_key_names;

pub(crate) use file::{read, sign};
pub(crate) use heddle_licence::{FileError, INSTALLATION_KEY_ID};
pub(crate) use state::{Kept, Licences};
