//! The licence: its file, its signature, and the use cases around it.

mod file;
mod keys;
mod service;
mod state;
#[cfg(any(test, feature = "test-keys"))]
pub mod testing;

pub use file::{ARMOUR_BEGIN, ARMOUR_END, FileError, armour};
pub use service::{Install, LicenceReport, LicenceRequest, Validation};

pub(crate) use file::{read, sign};
pub(crate) use service::with_trial;
pub(crate) use state::{Kept, Licences};
