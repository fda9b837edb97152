//! Facts about a caller in an organisation, as they were loaded.

use heddle_kernel::{TenantId, Timestamp, UserId, literals};
use serde::{Deserialize, Serialize};

use crate::permission::Permission;

/// The selector and the action that stand for everything.
pub const ANY: &str = "*";

literals! {
    /// Whether a rule gives or takes.
    pub enum Effect {
        /// Gives.
        Allow = "allow",
        /// Takes, whatever else gives.
        Deny = "deny",
    }
}

/// A set of permissions: some, or all but some.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PermissionSet {
    /// Whether all are in it.
    #[serde(default)]
    pub all: bool,
    /// All but these, when all are in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
    /// These, when not all are in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listed: Vec<String>,
}

impl PermissionSet {
    /// From the text of a role table: `*`, `* except a b` or `a b c`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut words = text.split_ascii_whitespace().peekable();
        let all = words.next_if_eq(&ANY).is_some();
        if all {
            words.next_if_eq(&"except");
        }
        let rest: Vec<String> = words.map(str::to_owned).collect();
        if all {
            Self { all, except: rest, listed: Vec::new() }
        } else {
            Self { all, except: Vec::new(), listed: rest }
        }
    }

    /// Of the given names; `*` among them stands for all.
    #[must_use]
    pub fn of<T: AsRef<str>>(names: &[T]) -> Self {
        if names.iter().any(|name| name.as_ref() == ANY) {
            return Self { all: true, ..Self::default() };
        }
        Self { listed: names.iter().map(|name| name.as_ref().to_owned()).collect(), ..Self::default() }
    }

    /// The names, with `*` alone when all are in it.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        match (self.all, self.except.is_empty()) {
            (true, true) => vec![ANY.to_owned()],
            (true, false) => self.names().map(|name| name.as_str().to_owned()).collect(),
            (false, _) => self.listed.clone(),
        }
    }

    /// Whether a permission is in it.
    #[must_use]
    pub fn contains(&self, permission: &str) -> bool {
        let named = |list: &[String]| list.iter().any(|name| name == permission);
        if self.all { !named(&self.except) } else { named(&self.listed) }
    }

    /// The registered permissions that are in it.
    pub fn names(&self) -> impl Iterator<Item = Permission> {
        Permission::ALL.iter().copied().filter(|name| self.contains(name.as_str()))
    }
}

/// A rule about resources: type, actions and selector; `*` stands for all of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResourceRule {
    /// The type, or `*`.
    pub resource: String,
    /// The actions; `*` for all.
    pub actions: Vec<String>,
    /// One id, `*`, or `own` where things of the type may be the caller's own.
    #[serde(default = "any")]
    pub selector: String,
    /// Gives or takes.
    #[serde(default = "allow")]
    pub effect: Effect,
}

fn any() -> String {
    ANY.to_owned()
}

const fn allow() -> Effect {
    Effect::Allow
}

/// Rules of a role: permissions and resource actions that it gives or takes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RoleRules {
    /// Permissions that it gives.
    #[serde(default)]
    pub permissions: PermissionSet,
    /// Permissions that it takes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied_permissions: Vec<String>,
    /// Resource actions that it gives or takes.
    #[serde(default)]
    pub resources: Vec<ResourceRule>,
}

/// A role that a caller has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleFacts {
    /// Id of the role.
    pub id: String,
    /// Name of the role.
    pub name: String,
    /// Rules of the role.
    pub rules: RoleRules,
    /// Instant at which the caller loses it; none for one without an end. What is granted or denied to the role ends
    /// with it.
    pub expires_at: Option<Timestamp>,
}

/// Through whom a rule applies to a caller.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// Directly.
    User,
    /// As a member of a group; its id.
    Group(String),
    /// As one who has a role; its id.
    Role(String),
    /// As anybody in the organisation.
    Everyone,
}

impl Source {
    /// The word of the API and the database.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Group(_) => "group",
            Self::Role(_) => "role",
            Self::Everyone => "everyone",
        }
    }

    /// The group's or the role's id.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Group(id) | Self::Role(id) => Some(id),
            Self::User | Self::Everyone => None,
        }
    }
}

/// A grant or a deny that applies to a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantFacts {
    /// Id of the grant.
    pub id: String,
    /// Through whom it applies.
    pub source: Source,
    /// The type, or `*`.
    pub resource: String,
    /// The action, or `*`.
    pub action: String,
    /// One id, `*`, or `own` where things of the type may be the caller's own.
    pub selector: String,
    /// Gives or takes.
    pub effect: Effect,
    /// Instant at which it ends; none for one without an end.
    pub expires_at: Option<Timestamp>,
}

/// Facts about a caller in an organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The caller.
    pub user_id: UserId,
    /// E-mail address of the caller, by which a task may name them.
    pub email: String,
    /// Names and ids of the groups and roles by which a task may name the caller.
    pub groups: Vec<String>,
    /// The organisation.
    pub tenant: TenantId,
    /// Whether the caller's account is in use.
    pub active: bool,
    /// Whether the caller belongs to the organisation.
    pub member: bool,
    /// Instant at which the membership ends; none for one without an end.
    pub member_until: Option<Timestamp>,
    /// The state of the organisation's roles, grants and memberships.
    pub revision: i64,
    /// The caller's roles.
    pub roles: Vec<RoleFacts>,
    /// Grants and denies that apply to the caller.
    pub grants: Vec<GrantFacts>,
    /// The permissions to which an API token is narrowed.
    pub narrow_to: Option<Vec<String>>,
    /// Whether the credential gives less than all that the user has everywhere: an API token that is narrowed
    /// to permissions or bound to one organisation.
    pub limited: bool,
}

impl Facts {
    /// An active member without any right.
    #[must_use]
    pub const fn member(user_id: UserId, tenant: TenantId) -> Self {
        Self {
            user_id,
            email: String::new(),
            groups: Vec::new(),
            tenant,
            active: true,
            member: true,
            member_until: None,
            revision: 0,
            roles: Vec::new(),
            grants: Vec::new(),
            narrow_to: None,
            limited: false,
        }
    }

    /// With one more role.
    #[must_use]
    pub fn with_role(mut self, id: &str, name: &str, rules: RoleRules) -> Self {
        self.roles.push(RoleFacts { id: id.to_owned(), name: name.to_owned(), rules, expires_at: None });
        self
    }

    /// With one more role until an instant.
    #[must_use]
    pub fn with_role_until(mut self, id: &str, rules: RoleRules, end: Timestamp) -> Self {
        let role = RoleFacts { id: id.to_owned(), name: id.to_owned(), rules, expires_at: Some(end) };
        self.roles.push(role);
        self
    }

    /// With one more grant or deny.
    #[must_use]
    pub fn with_grant(mut self, grant: GrantFacts) -> Self {
        self.grants.push(grant);
        self
    }
}
