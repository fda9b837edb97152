//! Tombstones of identity: what each deletion leaves, and when.

use heddle_identity::ports::Tombstone;
use heddle_kernel::{TenantId, Timestamp};
use heddle_store::{journal, tombstone};
use heddle_usecase::Journal;

/// The tombstone of a thing of an organisation.
pub(crate) fn of(tenant: TenantId, what: Tombstone) -> tombstone::Tombstone<'static> {
    let (kind, id) = what.parts();
    tombstone::Tombstone::of(tenant, kind, id)
}

/// Instant of a deletion, as its journal says.
pub(crate) fn deleted_at(journal: &Journal) -> Timestamp {
    journal::time_of(journal).unwrap_or_default()
}
