//! Tombstones of identity: what each deletion leaves, and when.

use heddle_identity::ports::Tombstone;
use heddle_kernel::{TenantId, Timestamp, UserId};
use heddle_store::{journal, tombstone};
use heddle_usecase::Journal;

/// The tombstone of a thing of an organisation.
pub(crate) fn of(tenant: TenantId, what: Tombstone) -> tombstone::Tombstone<'static> {
    let (kind, id) = what.parts();
    tombstone::Tombstone::of(tenant, kind, id)
}

/// The user who acts by a journal, if one does.
pub(crate) fn actor(journal: &Journal) -> Option<UserId> {
    journal.audit.as_ref().and_then(|entry| entry.actor.id.as_deref()).and_then(|id| id.parse().ok())
}

/// Kind of the tombstones of organisations that a user deleted: nobody else learns that they were there.
pub(crate) fn organization_of(user: UserId) -> String {
    format!("organization deleted by {user}")
}

/// Instant of a deletion, as its journal says.
pub(crate) fn deleted_at(journal: &Journal) -> Timestamp {
    journal::time_of(journal).unwrap_or_default()
}
