//! Questions and their answers, with reasons.

use crate::facts::{Effect, Source};
use crate::filter::Extent;
use crate::ownership::Ownership;
use crate::permission::{Action, Permission, ResourceType};
use crate::resource::{Key, Parents, Place as _, Resource, ResourceId as _, is_open};
use crate::rule_id::RuleId;

/// Reason of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The account is not in use.
    PrincipalInactive,
    /// The caller does not belong to the organisation.
    NotAMember,
    /// The type is not a registered one.
    UnknownResourceType,
    /// The action is not a registered one.
    UnknownAction,
    /// A deny applies.
    ExplicitDeny,
    /// None of the accepted permissions is held.
    PermissionMissing,
    /// No grant gives the action on the resource.
    ResourceActionNotGranted,
    /// Allowed.
    Granted,
}

impl Reason {
    /// The code of check-access.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::PrincipalInactive => "PRINCIPAL_INACTIVE",
            Self::NotAMember => "NOT_A_MEMBER",
            Self::UnknownResourceType => "UNKNOWN_RESOURCE_TYPE",
            Self::UnknownAction => "UNKNOWN_ACTION",
            Self::ExplicitDeny => "EXPLICIT_DENY",
            Self::PermissionMissing => "PERMISSION_MISSING",
            Self::ResourceActionNotGranted => "RESOURCE_ACTION_NOT_GRANTED",
            Self::Granted => "GRANTED",
        }
    }
}

/// A rule that led to a decision.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeterminingRule {
    /// The grant's id; none for a rule of a role.
    pub grant_id: Option<String>,
    /// Gives or takes.
    pub effect: Effect,
    /// Through whom it applies.
    pub source: Source,
}

/// Target of a question: one thing, some thing, or all of a kind; and the place within which it stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Target {
    /// The thing's id; none stands for all of the kind.
    pub id: Option<RuleId>,
    /// Things that it stands within, the nearest first.
    pub parents: Parents,
    /// Whether the thing is the caller's own.
    pub ownership: Ownership,
}

impl Target {
    /// All of the kind.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// One thing.
    #[must_use]
    pub fn one(id: RuleId) -> Self {
        Self { id: Some(id), ..Self::default() }
    }

    /// The thing of a key, of which nobody knows whose it is.
    pub(crate) fn of<R: Resource>(key: &Key<R>) -> Self {
        Self { id: Some(key.id().rule_id()), parents: key.place().parents(), ownership: Ownership::Unknown }
    }

    /// With what is known of whose it is.
    #[must_use]
    pub const fn owned(mut self, ownership: Ownership) -> Self {
        self.ownership = ownership;
        self
    }

    /// Whether a thing is meant of which it is not said within which thing of a kind it stands. A deny on any of those may
    /// be about it, and counts.
    #[must_use]
    pub(crate) fn is_open(&self, kind: ResourceType) -> bool {
        self.id.is_some() && is_open(&self.parents, kind)
    }

    /// Within a thing of another kind.
    #[must_use]
    pub fn within(mut self, kind: ResourceType, id: RuleId) -> Self {
        if let Some(free) = self.parents.iter_mut().find(|parent| parent.is_none()) {
            *free = Some((kind, id));
        }
        self
    }
}

/// Question to decide: permissions of which one is needed, and an action on a resource. Type and action are
/// the words of whoever asks, and may be none that are registered.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Of these one is needed; none is needed when it is empty.
    pub permissions: &'a [Permission],
    /// The type.
    pub resource: &'a str,
    /// The action.
    pub action: &'a str,
    /// Whether whatever may be read of the type is asked for, and not one thing.
    pub lists: bool,
    /// Target of the question.
    pub target: &'a Target,
}

/// An answer with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Reason of the decision.
    pub reason: Reason,
    /// The permission that counted.
    pub permission: Option<Permission>,
    /// The rules that counted.
    pub via: Vec<DeterminingRule>,
}

impl Decision {
    /// Whether it is allowed.
    #[must_use]
    pub fn allowed(&self) -> bool {
        self.reason == Reason::Granted
    }

    pub(crate) const fn without_rules(reason: Reason) -> Self {
        Self { reason, permission: None, via: Vec::new() }
    }
}

/// A thing within which all is denied.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeniedPlace {
    /// The type.
    pub resource: ResourceType,
    /// The thing's id; `*` stands for all of the type.
    pub id: RuleId,
}

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("refused: {}", reason.code())]
pub struct DenialError {
    /// Reason of the refusal.
    pub reason: Reason,
    /// The rules that counted.
    pub via: Vec<DeterminingRule>,
}

/// A right that somebody wants to give away without having it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrivilegeEscalation {
    /// A permission.
    #[error("the permission `{0}` is not held")]
    Permission(Permission),
    /// An action on a resource.
    #[error("`{action}` on `{resource}` `{selector}` is not held")]
    Action {
        /// The type.
        resource: ResourceType,
        /// The action.
        action: Action,
        /// One id, `*` or `own`.
        selector: String,
    },
}

/// The reach of one action in the listing of all rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionFilter {
    /// The type.
    pub resource: ResourceType,
    /// The action.
    pub action: Action,
    /// Extent of the things that it reaches.
    pub reach: Extent,
}

/// All rights of a caller.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effective {
    /// The permissions held, with the roles that give them.
    pub permissions: Vec<(Permission, Vec<String>)>,
    /// The permissions taken.
    pub denied_permissions: Vec<Permission>,
    /// Per type and action what is reached; actions that reach nothing are left out.
    pub resources: Vec<ActionFilter>,
}
