//! The hash chain of an audit trail, without I/O: the text of a record that is hashed, the hash that follows from it and
//! from the one before, checkpoints that the installation signs, and the verification. `docs/audit.md` has the form in
//! full.

mod checkpoint;
mod export;
mod record;
mod verify;

pub use checkpoint::{Checkpoint, CheckpointKey, CheckpointKind, NoPublicKey, PublicKey, Statement};
pub use export::{ExportFault, ExportFindings, ExportReader};
pub use record::{AuditRecord, ChainRow, Content, Hash, INSTALLATION_TRAIL, NoHash, sealed_text};
pub(crate) use record::{link, time_of_id};
pub use verify::{Fault, FaultReason, Verifier};
