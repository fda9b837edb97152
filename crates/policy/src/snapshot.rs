//! The decision: what a caller has, indexed by type and action.
//!
//! With the selectors limited to `*` and an id, a decision and a list have one closed form:
//! `(all if an allow '*' applies, else the listed ids) - (all if a deny '*' applies, else the denied ids)`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::marker::PhantomData;
use std::sync::Arc;

use heddle_kernel::{TenantId, Timestamp, UserId};

use crate::capability::Capability;
use crate::facts::{ANY, Effect, Facts, ResourceRule, RoleRules, Source};
use crate::permission::{
    ACTIONS, PERMISSIONS, RESOURCE_TYPES, WITHOUT_READ, action, ancestors_of, parent_of, permission,
    resource_type,
};

/// Why a decision is as it is.
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

/// What an operation is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Target {
    /// The thing's id; none stands for all of the type.
    pub id: Option<String>,
    /// Whether it is enough that some thing of the type is reached: which one is known when it is loaded.
    pub some: bool,
    /// What it belongs to: type and id.
    pub parents: Vec<(&'static str, String)>,
}

impl Target {
    /// All of the type.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Some thing of the type, which is known when it is loaded, and decided again then.
    #[must_use]
    pub fn some() -> Self {
        Self { some: true, ..Self::default() }
    }

    /// One thing.
    #[must_use]
    pub fn one(id: impl ToString) -> Self {
        Self { id: Some(id.to_string()), ..Self::default() }
    }

    /// Within a thing of another type.
    #[must_use]
    pub fn within(mut self, resource: &'static str, id: impl ToString) -> Self {
        self.parents.push((resource, id.to_string()));
        self
    }
}

/// What is asked: permissions of which one is needed, and an action on a resource.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Of these one is needed; none is needed when it is empty.
    pub permissions: &'a [&'a str],
    /// The type.
    pub resource: &'a str,
    /// The action.
    pub action: &'a str,
    /// Whether whatever may be read of the type is asked for, and not one thing.
    pub lists: bool,
    /// What it is about.
    pub target: &'a Target,
}

/// An answer with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Why.
    pub reason: Reason,
    /// The permission that counted.
    pub permission: Option<&'static str>,
    /// The rules that counted.
    pub via: Vec<DeterminingRule>,
}

impl Decision {
    /// Whether it is allowed.
    #[must_use]
    pub fn allowed(&self) -> bool {
        self.reason == Reason::Granted
    }

    const fn without_rules(reason: Reason) -> Self {
        Self { reason, permission: None, via: Vec::new() }
    }
}

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("refused: {}", reason.code())]
pub struct DenialError {
    /// Why.
    pub reason: Reason,
    /// The rules that counted.
    pub via: Vec<DeterminingRule>,
}

/// What an action reaches, in the closed form that SQL can filter by: a row passes when
/// `(all or id in listed) and not deny_all and id not in denied and its parent's id not in denied_parents`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccessFilter {
    /// Every id is allowed.
    pub all: bool,
    /// These ids are allowed; empty when all are.
    pub listed: Vec<String>,
    /// Every id is denied, also through the type to which things of this type belong.
    pub deny_all: bool,
    /// These ids are denied.
    pub denied: Vec<String>,
    /// What belongs to these ids of the parent type (for runs: workflows) is denied.
    pub denied_parents: Vec<String>,
}

impl AccessFilter {
    /// Everything.
    #[must_use]
    pub fn everything() -> Self {
        Self { all: true, ..Self::default() }
    }

    /// Whether a thing with this id and this parent is reached.
    #[must_use]
    pub fn permits(&self, id: &str, parent: Option<&str>) -> bool {
        let named = |list: &[String], id: &str| list.iter().any(|known| known == id);
        (self.all || named(&self.listed, id))
            && !self.deny_all
            && !named(&self.denied, id)
            && !parent.is_some_and(|parent| named(&self.denied_parents, parent))
    }

    /// Whether surely nothing is reached.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.deny_all || (!self.all && self.listed.iter().all(|id| self.denied.contains(id)))
    }

    /// Whether everything is reached.
    #[must_use]
    pub const fn is_everything(&self) -> bool {
        self.all && !self.deny_all && self.denied.is_empty() && self.denied_parents.is_empty()
    }
}

/// The proof that a caller may do `C`. Only [`Snapshot::authorize`] makes one.
pub struct Authorized<C> {
    reach: AccessFilter,
    via: Vec<DeterminingRule>,
    capability: PhantomData<fn() -> C>,
}

impl<C> Authorized<C> {
    /// What of the type is reached: for a list the rows to show, else the one target.
    #[must_use]
    pub const fn reach(&self) -> &AccessFilter {
        &self.reach
    }

    /// The rules that counted.
    #[must_use]
    pub fn via(&self) -> &[DeterminingRule] {
        &self.via
    }
}

impl<C: Capability> std::fmt::Debug for Authorized<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authorized").field("of", &C::NAME).field("reach", &self.reach).finish_non_exhaustive()
    }
}

/// A right that somebody wants to give away without having it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrivilegeEscalation {
    /// A permission.
    #[error("the permission `{0}` is not held")]
    Permission(&'static str),
    /// An action on a resource.
    #[error("`{action}` on `{resource}` `{selector}` is not held")]
    Action {
        /// The type.
        resource: &'static str,
        /// The action.
        action: &'static str,
        /// One id, or `*`.
        selector: String,
    },
}

/// The reach of one action in the listing of all rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionFilter {
    /// The type.
    pub resource: &'static str,
    /// The action.
    pub action: &'static str,
    /// What it reaches.
    pub reach: AccessFilter,
}

/// All rights of a caller.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effective {
    /// The permissions held, with the roles that give them.
    pub permissions: Vec<(&'static str, Vec<String>)>,
    /// The permissions taken.
    pub denied_permissions: Vec<&'static str>,
    /// Per type and action what is reached; actions that reach nothing are left out.
    pub resources: Vec<ActionFilter>,
}

#[derive(Debug, Default)]
struct Bucket {
    allow_all: Vec<DeterminingRule>,
    allow: BTreeMap<String, Vec<DeterminingRule>>,
    deny_all: Vec<DeterminingRule>,
    deny: BTreeMap<String, Vec<DeterminingRule>>,
}

#[derive(Debug)]
struct Inner {
    user_id: UserId,
    tenant: TenantId,
    active: bool,
    member: bool,
    revision: i64,
    valid_until: Option<Timestamp>,
    permissions: BTreeMap<&'static str, Vec<String>>,
    denied_permissions: BTreeMap<&'static str, Vec<String>>,
    // The empty text stands for `*`, so that both kinds of keys are static.
    buckets: HashMap<(&'static str, &'static str), Bucket>,
}

/// What a caller has in an organisation, compiled for decisions. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Snapshot(Arc<Inner>);

impl Snapshot {
    /// Compiles what holds at an instant; what has ended by then is left out.
    #[must_use]
    pub fn new(facts: &Facts, now: Timestamp) -> Self {
        let ended = |end: Option<Timestamp>| end.is_some_and(|end| end <= now);
        let living = facts.grants.iter().filter(|grant| !ended(grant.expires_at));
        let ends = facts.grants.iter().map(|grant| grant.expires_at).chain([facts.member_until]);
        let mut inner = Inner {
            user_id: facts.user_id,
            tenant: facts.tenant,
            active: facts.active,
            member: facts.member && !ended(facts.member_until),
            revision: facts.revision,
            valid_until: ends.flatten().filter(|end| *end > now).min(),
            permissions: BTreeMap::new(),
            denied_permissions: BTreeMap::new(),
            buckets: HashMap::new(),
        };
        for role in &facts.roles {
            inner.add_role(&role.id, &role.rules);
        }
        for grant in living {
            let via = DeterminingRule {
                grant_id: Some(grant.id.clone()),
                effect: grant.effect,
                source: grant.source.clone(),
            };
            inner.add_rule((&grant.resource, &grant.action, &grant.selector), &via);
        }
        if let Some(narrow) = &facts.narrow_to {
            inner.permissions.retain(|name, _| narrow.iter().any(|kept| kept == name));
        }
        Self(Arc::new(inner))
    }

    /// Whom it is about.
    #[must_use]
    pub fn user_id(&self) -> UserId {
        self.0.user_id
    }

    /// The organisation.
    #[must_use]
    pub fn tenant(&self) -> TenantId {
        self.0.tenant
    }

    /// The state of roles, grants and memberships that it was made from.
    #[must_use]
    pub fn revision(&self) -> i64 {
        self.0.revision
    }

    /// When the first of its rules ends; from then on it must be compiled anew.
    #[must_use]
    pub fn valid_until(&self) -> Option<Timestamp> {
        self.0.valid_until
    }

    /// Whether the caller is an active member of the organisation.
    #[must_use]
    pub fn is_member(&self) -> bool {
        self.0.active && self.0.member
    }

    /// Whether a permission is held.
    #[must_use]
    pub fn holds(&self, permission: &str) -> bool {
        self.is_member() && self.given(permission).is_some()
    }

    fn given(&self, name: &str) -> Option<(&'static str, &Vec<String>)> {
        if self.0.denied_permissions.contains_key(name) {
            return None;
        }
        self.0.permissions.get_key_value(name).map(|(name, roles)| (*name, roles))
    }

    /// Decides whether the caller may do `C`.
    ///
    /// # Errors
    /// With the reason and the rules that counted.
    pub fn authorize<C: Capability>(&self, target: &Target) -> Result<Authorized<C>, DenialError> {
        let question = Question {
            permissions: C::PERMISSIONS,
            resource: C::RESOURCE,
            action: C::ACTION,
            lists: C::LISTS,
            target,
        };
        // Own sessions, password and tokens ask for a caller, not for rights in an organisation.
        if C::PERMISSIONS.is_empty() && C::RESOURCE == "session" {
            return if self.0.active {
                Ok(Authorized { reach: AccessFilter::everything(), via: Vec::new(), capability: PhantomData })
            } else {
                Err(DenialError { reason: Reason::PrincipalInactive, via: Vec::new() })
            };
        }
        let decision = self.decide(&question);
        if !decision.allowed() {
            return Err(DenialError { reason: decision.reason, via: decision.via });
        }
        let reach = match &target.id {
            _ if C::LISTS => self.reach(C::RESOURCE, "list"),
            None if target.some => self.reach(C::RESOURCE, C::ACTION),
            Some(id) => AccessFilter { listed: vec![id.clone()], ..AccessFilter::default() },
            None => AccessFilter::everything(),
        };
        Ok(Authorized { reach, via: decision.via, capability: PhantomData })
    }

    /// Decides any question, with the reason.
    #[must_use]
    pub fn decide(&self, question: &Question<'_>) -> Decision {
        if !self.0.active {
            return Decision::without_rules(Reason::PrincipalInactive);
        }
        if !self.0.member {
            return Decision::without_rules(Reason::NotAMember);
        }
        let Some(resource) = resource_type(question.resource) else {
            return Decision::without_rules(Reason::UnknownResourceType);
        };
        let Some(action) = action(question.action) else {
            return Decision::without_rules(Reason::UnknownAction);
        };
        let action = if question.lists { "list" } else { action };
        let denies = self.denies(resource, action, question.target);
        if !denies.is_empty() {
            return Decision { reason: Reason::ExplicitDeny, permission: None, via: denies };
        }
        let held = question.permissions.iter().find_map(|name| self.given(name));
        if held.is_none() && !question.permissions.is_empty() {
            return self.lacking(question.permissions);
        }
        let permission = held.map(|(name, _)| name);
        let allows = self.allows(resource, action, question.target);
        if allows.is_empty() {
            return Decision { reason: Reason::ResourceActionNotGranted, permission, via: Vec::new() };
        }
        Decision { reason: Reason::Granted, permission, via: allows }
    }

    fn lacking(&self, permissions: &[&str]) -> Decision {
        let deniers = permissions.iter().filter_map(|name| self.0.denied_permissions.get(name)).flatten();
        let via: BTreeSet<DeterminingRule> = deniers
            .map(|role| DeterminingRule {
                grant_id: None,
                effect: Effect::Deny,
                source: Source::Role(role.clone()),
            })
            .collect();
        let reason = if via.is_empty() { Reason::PermissionMissing } else { Reason::ExplicitDeny };
        Decision { reason, permission: None, via: via.into_iter().collect() }
    }

    /// What an action of a type reaches for an active member, permissions apart.
    #[must_use]
    pub fn reach(&self, resource: &str, action: &str) -> AccessFilter {
        let mut reach = AccessFilter::default();
        let (mut listed, mut denied, mut denied_parents) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for bucket in self.buckets(resource, giving(resource, action)) {
            reach.all |= !bucket.allow_all.is_empty();
            listed.extend(bucket.allow.keys().cloned());
        }
        for bucket in self.buckets(resource, taking(&action)) {
            reach.deny_all |= !bucket.deny_all.is_empty();
            denied.extend(bucket.deny.keys().cloned());
        }
        for parent in ancestors_of(resource) {
            for bucket in self.buckets(parent, taking(&action)) {
                reach.deny_all |= !bucket.deny_all.is_empty();
            }
        }
        if let Some(parent) = parent_of(resource) {
            for bucket in self.buckets(parent, taking(&action)) {
                denied_parents.extend(bucket.deny.keys().cloned());
            }
        }
        if !reach.all {
            reach.listed = listed.into_iter().collect();
        }
        reach.denied = denied.into_iter().collect();
        reach.denied_parents = denied_parents.into_iter().collect();
        reach
    }

    /// All rights, in the same closed form as the decisions; empty for who is not an active member.
    #[must_use]
    pub fn effective(&self) -> Effective {
        if !self.is_member() {
            return Effective::default();
        }
        let held = PERMISSIONS.iter().filter_map(|name| self.given(name));
        let pairs =
            RESOURCE_TYPES.iter().flat_map(|resource| ACTIONS.iter().map(move |action| (*resource, *action)));
        Effective {
            permissions: held.map(|(name, roles)| (name, roles.clone())).collect(),
            denied_permissions: self.0.denied_permissions.keys().copied().collect(),
            resources: pairs
                .map(|(resource, action)| ActionFilter {
                    resource,
                    action,
                    reach: self.reach(resource, action),
                })
                .filter(|entry| !entry.reach.is_empty())
                .collect(),
        }
    }

    /// Whether the caller has all that these rules give.
    ///
    /// # Errors
    /// With the first right that the caller lacks.
    pub fn covers(&self, rules: &RoleRules) -> Result<(), PrivilegeEscalation> {
        if let Some(missing) = rules.permissions.names().find(|name| !self.holds(name)) {
            return Err(PrivilegeEscalation::Permission(missing));
        }
        rules
            .resources
            .iter()
            .filter(|rule| rule.effect == Effect::Allow)
            .try_for_each(|rule| self.has_rule(rule))
    }

    /// Whether the caller would be untouched if the denies among these rules were no more: who is held back by a
    /// deny can't lift it.
    ///
    /// # Errors
    /// With the first right that the caller lacks.
    pub fn covers_denies(&self, rules: &RoleRules) -> Result<(), PrivilegeEscalation> {
        let mut denied = rules.denied_permissions.iter().filter_map(|name| permission(name));
        if let Some(missing) = denied.find(|name| !self.holds(name)) {
            return Err(PrivilegeEscalation::Permission(missing));
        }
        rules
            .resources
            .iter()
            .filter(|rule| rule.effect == Effect::Deny)
            .try_for_each(|rule| self.has_rule(rule))
    }

    fn has_rule(&self, rule: &ResourceRule) -> Result<(), PrivilegeEscalation> {
        for resource in RESOURCE_TYPES.iter().filter(|name| rule.resource == ANY || rule.resource == **name) {
            let named = |name: &str| rule.actions.iter().any(|action| action == ANY || action == name);
            // What may be read may be listed, so a rule about reading is one about lists as well.
            let wanted = |name: &&&str| named(name) || (**name == "list" && named("read"));
            for action in ACTIONS.iter().filter(wanted) {
                let reach = self.reach(resource, action);
                let has = match rule.selector.as_str() {
                    ANY => reach.is_everything(),
                    id => reach.permits(id, None),
                };
                if !has || !self.is_member() {
                    return Err(PrivilegeEscalation::Action {
                        resource,
                        action,
                        selector: rule.selector.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    fn buckets<'a>(&'a self, resource: &'a str, actions: &'a [&'a str]) -> impl Iterator<Item = &'a Bucket> {
        let keys = [resource, ""].into_iter().flat_map(move |resource| {
            actions.iter().copied().chain([""]).map(move |action| (resource, action))
        });
        keys.filter_map(|key| self.0.buckets.get(&key))
    }

    fn denies(&self, resource: &str, action: &str, target: &Target) -> Vec<DeterminingRule> {
        let mut found = BTreeSet::new();
        for bucket in self.buckets(resource, taking(&action)) {
            found.extend(&bucket.deny_all);
            found.extend(target.id.as_ref().and_then(|id| bucket.deny.get(id)).into_iter().flatten());
        }
        for (parent, id) in &target.parents {
            for bucket in self.buckets(parent, taking(&action)) {
                found.extend(bucket.deny.get(id).into_iter().flatten());
            }
        }
        // A deny on all of the parent type holds whether or not the parent is named.
        for parent in ancestors_of(resource) {
            for bucket in self.buckets(parent, taking(&action)) {
                found.extend(&bucket.deny_all);
            }
        }
        found.into_iter().cloned().collect()
    }

    fn allows(&self, resource: &str, action: &str, target: &Target) -> Vec<DeterminingRule> {
        // Some id is listed that no deny takes away: enough for a list.
        let denied: BTreeSet<&String> =
            self.buckets(resource, taking(&action)).flat_map(|bucket| bucket.deny.keys()).collect();
        let mut found = BTreeSet::new();
        for bucket in self.buckets(resource, giving(resource, action)) {
            found.extend(&bucket.allow_all);
            match &target.id {
                Some(id) => found.extend(bucket.allow.get(id).into_iter().flatten()),
                None if action == "list" || target.some => {
                    let some = bucket.allow.iter().filter(|(id, _)| !denied.contains(id));
                    found.extend(some.flat_map(|(_, via)| via));
                }
                None => {}
            }
        }
        found.into_iter().cloned().collect()
    }
}

/// The actions whose allows count for an action: what may be read may be listed.
fn giving<'a>(resource: &str, action: &'a str) -> &'a [&'a str] {
    match action {
        "list" if WITHOUT_READ.contains(&resource) => &["list", "read"],
        "list" => &["read"],
        "read" => &["read"],
        other => ACTIONS.iter().position(|known| *known == other).map_or(&[], |at| &ACTIONS[at..=at]),
    }
}

/// The actions whose denies count for an action: who may not read or not list sees nothing in a list.
fn taking<'a>(action: &'a &'a str) -> &'a [&'a str] {
    match *action {
        "list" => &["list", "read"],
        _ => std::slice::from_ref(action),
    }
}

impl Inner {
    fn add_role(&mut self, id: &str, rules: &RoleRules) {
        for name in rules.permissions.names() {
            self.permissions.entry(name).or_default().push(id.to_owned());
        }
        for name in rules.denied_permissions.iter().filter_map(|name| permission(name)) {
            self.denied_permissions.entry(name).or_default().push(id.to_owned());
        }
        for rule in &rules.resources {
            let via =
                DeterminingRule { grant_id: None, effect: rule.effect, source: Source::Role(id.to_owned()) };
            for action in &rule.actions {
                self.add_rule((&rule.resource, action, &rule.selector), &via);
            }
        }
    }

    fn add_rule(&mut self, (resource, wanted, selector): (&str, &str, &str), via: &DeterminingRule) {
        let resource = if resource == ANY { Some("") } else { resource_type(resource) };
        let wanted = if wanted == ANY { Some("") } else { action(wanted) };
        // A rule about what is not registered can't apply to anything.
        let (Some(resource), Some(wanted)) = (resource, wanted) else { return };
        let bucket = self.buckets.entry((resource, wanted)).or_default();
        let (all, some) = match via.effect {
            Effect::Allow => (&mut bucket.allow_all, &mut bucket.allow),
            Effect::Deny => (&mut bucket.deny_all, &mut bucket.deny),
        };
        let place = if selector == ANY { all } else { some.entry(selector.to_owned()).or_default() };
        place.push(via.clone());
    }
}
