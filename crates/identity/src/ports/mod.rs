//! The ports through which identity reaches storage. One method is one atomic journal: all of it is written, or nothing.
//!
//! Obligations of every method that writes:
//! - what the [`heddle_usecase::Journal`] holds is written in the same transaction;
//! - where an organisation's memberships, roles, grants or the state of one of its members changes, the
//!   organisation's authorization revision grows by one in the same transaction, so that the next request of anybody
//!   sees the change;
//! - `Stale` when the expected revision is not the stored one, `NotFound` when there is no such row *in that
//!   organisation*, `Duplicate` with the name of the constraint for a unique value that is taken.

mod access;
mod chain;
mod directory;
mod factors;
mod federation;
mod installation;
mod sessions;

pub use access::{Access, AccessStore, Credential, TenantAccess, TokenKind};
pub use chain::{AuditChainStore, ChainLink};
pub use directory::{
    Change, Dependents, DirectoryStore, GrantFilter, GroupChange, LimitOutcome, MemberFilter, NameTaken,
    NewOrganization, NewUser, Tombstone, UserFilter,
};
pub use factors::{
    Enrolment, Factor, FactorAtHome, FactorPlace, FactorProof, FactorSealer, FactorStore, Removal,
    SealedFactor,
};
pub use federation::{FederationStore, MappedMembership, ProviderAccount, ProviderOutcome, ProviderSession};
pub use installation::{AuditEvent, AuditFilter, InstallationStore, LimitCounter, SetUp};
pub use sessions::{Attempt, NewSession, PasswordChange, SessionStore};

#[cfg(any(test, feature = "mock"))]
pub use self::{
    access::MockAccessStore, directory::MockDirectoryStore, factors::MockFactorSealer,
    factors::MockFactorStore, federation::MockFederationStore, installation::MockInstallationStore,
    sessions::MockSessionStore,
};
