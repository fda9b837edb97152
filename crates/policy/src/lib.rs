//! Who may do what: permissions, grants, scopes, decisions with reasons, licence states.
//!
//! A caller needs one of an operation's permissions and the action on the resource. What a caller has is loaded as
//! [`Facts`] and compiled to a [`Snapshot`]; the snapshot alone gives out [`Authorized`]s and [`RequestContext`]s, so that no use
//! case can be called past a decision.

pub mod capability;
mod context;
pub mod facts;
pub mod licence;
pub mod permission;
mod snapshot;
pub mod system_roles;

pub use capability::Capability;
pub use context::{Principal, RequestContext, RequestFacts, SessionKind};
pub use facts::{Effect, Facts, GrantFacts, PermissionSet, ResourceRule, RoleFacts, RoleRules, Source};
pub use snapshot::{
    AccessFilter, ActionFilter, Authorized, Decision, DenialError, DeterminingRule, Effective,
    PrivilegeEscalation, Question, Reason, Snapshot, Target,
};
