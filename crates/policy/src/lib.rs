//! Authorisation: permissions, rules, decisions with reasons, licence states.
//!
//! A caller needs one of an operation's permissions and the action on the resource. What a caller has is loaded as
//! [`Facts`] and compiled to a [`Snapshot`]; the snapshot alone gives out proofs ([`Authorized`] and its like), which
//! carry the key of what was authorized, so that no use case can be called past a decision, nor about another thing.

mod access;
mod asked;
pub mod capability;
mod context;
mod covers;
mod decision;
mod denies;
mod explain;
pub mod facts;
mod filter;
mod implied;
mod index;
mod instances;
mod left;
pub mod licence;
mod listing;
mod ownership;
pub mod permission;
pub mod resource;
mod rule_id;
mod snapshot;
pub mod system_roles;
mod words;

pub use access::{
    Access, Authorized, AuthorizedEither, AuthorizedKind, AuthorizedKindWithin, AuthorizedList,
    AuthorizedListWithin, AuthorizedSome, OnEither, OnKind, OnKindWithin, OnList, OnListWithin, OnLoaded,
    OnNamed, OnOne, OnSome, OwnAccount, Public, SignedIn,
};
pub use capability::Capability;
pub use context::{OwnReason, Principal, RequestContext, RequestFacts, SessionKind};
pub use decision::{
    ActionFilter, Decision, DenialError, DeniedPlace, DeterminingRule, Effective, PrivilegeEscalation,
    Question, Reason, Target,
};
pub use explain::{Explained, Step};
pub use facts::{Effect, Facts, GrantFacts, PermissionSet, ResourceRule, RoleFacts, RoleRules, Source};
pub use filter::{AccessFilter, Extent};
pub use instances::InstanceFilter;
pub use listing::{ListedAction, Listing, ListingPlace, Scope, UnknownPlace};
pub use ownership::{OWN, Ownership, Person};
pub use permission::{Action, Permission, ResourceType};
pub use resource::{InstanceKey, Key, PlaceOf, Resource, Within};
pub use rule_id::{RuleId, StoredSelector};
pub use snapshot::Snapshot;
