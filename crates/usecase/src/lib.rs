//! Parts that every use-case crate shares: the errors that it answers with, the journal that goes with a
//! change, the check of a revision, the rules of texts, and digests.
//!
//! Rules that a caller sees are here once, so that no two areas answer differently to the same mistake.

pub mod errand;
pub mod outside;
pub mod secret;

mod change;
mod compute;
mod definition;
mod digest;
mod error;
mod journal;
mod revision;
mod store;
mod text;

pub use change::{AuditView, Audited};
pub use compute::{Admission, Compute, Done, InPlace, Work, computed};
pub use definition::VersionChoice;
pub use digest::{canonical_json, canonical_sha256, hex, sha256_hex, write_canonical};
pub use error::{Problem, Problems, UseCaseError};
pub use journal::{
    Actor, ActorKind, AuditEntry, IdempotencyRecord, Journal, JournalFor, Outcome, RightsSeen, Target,
};
pub use revision::check_revision;
pub use store::StoreError;
pub use text::{has_hidden, length, name, slug, slug_from, text};
