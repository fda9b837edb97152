//! Who may do what: permissions, grants, scopes, decisions with reasons, licence states.
//!
//! A caller needs one of an operation's permissions and the action on the resource. What a caller has is loaded as
//! [`Facts`] and compiled to a [`Snapshot`]; the snapshot alone gives out [`Grant`]s and [`Scope`]s, so that no use
//! case can be called past a decision.

pub mod capability;
pub mod facts;
pub mod licence;
pub mod permission;
mod scope;
mod snapshot;
pub mod store;
pub mod system_roles;
pub mod unit;

pub use capability::Capability;
pub use facts::{Effect, Facts, GrantFacts, PermissionSet, ResourceRule, RoleFacts, RoleRules, Source};
pub use scope::{Principal, RequestFacts, Scope, SessionKind};
pub use snapshot::{
    ActionReach, Decision, Denial, Effective, Excess, Grant, Question, Reach, Reason, Snapshot, Target, Via,
};
