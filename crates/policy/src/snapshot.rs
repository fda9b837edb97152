//! The decision: what a caller has, indexed by type and action.
//!
//! With the selectors limited to `*`, `own` and an id, a decision and a list have one closed form:
//! `(all if an allow '*' applies, else the listed ids and, if an allow 'own' applies, one's own)
//! - (all if a deny '*' applies, else the denied ids and, if a deny 'own' applies, one's own)`.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::sync::Arc;

use heddle_kernel::{TenantId, Timestamp, UserId};

use crate::access::{
    Authorized, AuthorizedKind, AuthorizedList, AuthorizedListWithin, AuthorizedSome, OwnAccount,
};
use crate::capability::{Capability, Lists};
use crate::decision::{
    ActionFilter, Decision, DenialError, DeterminingRule, Effective, PrivilegeEscalation, Question, Reason,
    Target,
};
use crate::facts::{ANY, Effect, Facts, ResourceRule, RoleRules, Source};
use crate::filter::{AccessFilter, Extent};
use crate::ownership::{Ownership, Person};
use crate::permission::{Action, Permission, ResourceType, WITHOUT_READ};
use crate::resource::{Key, Place as _, PlaceOf, Resource, ResourceId as _};
use crate::rule_id::{RuleId, StoredSelector};

#[derive(Debug, Default)]
struct Bucket {
    allow_all: Vec<DeterminingRule>,
    allow: BTreeMap<RuleId, Vec<DeterminingRule>>,
    allow_own: Vec<DeterminingRule>,
    deny_all: Vec<DeterminingRule>,
    deny_own: Vec<DeterminingRule>,
    deny: BTreeMap<RuleId, Vec<DeterminingRule>>,
}

#[derive(Debug)]
struct Inner {
    user_id: UserId,
    person: Arc<Person>,
    tenant: TenantId,
    active: bool,
    member: bool,
    revision: i64,
    limited: bool,
    valid_until: Option<Timestamp>,
    permissions: BTreeMap<Permission, Vec<String>>,
    denied_permissions: BTreeMap<Permission, Vec<String>>,
    // None stands for `*`.
    buckets: BTreeMap<(Option<ResourceType>, Option<Action>), Bucket>,
}

/// Rights of a caller in an organisation, compiled for decisions. Cheap to clone.
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
            person: Arc::new(Person::new(facts.user_id, &facts.email, &facts.groups)),
            tenant: facts.tenant,
            active: facts.active,
            member: facts.member && !ended(facts.member_until),
            revision: facts.revision,
            limited: facts.limited || facts.narrow_to.is_some(),
            valid_until: ends.flatten().filter(|end| *end > now).min(),
            permissions: BTreeMap::new(),
            denied_permissions: BTreeMap::new(),
            buckets: BTreeMap::new(),
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
            let reach = Reach { resource: &grant.resource, action: &grant.action, selector: &grant.selector };
            inner.add_rule(reach, &via);
        }
        if let Some(narrow) = &facts.narrow_to {
            inner.permissions.retain(|name, _| narrow.iter().any(|kept| kept == name.as_str()));
        }
        Self(Arc::new(inner))
    }

    /// User whose rights they are.
    #[must_use]
    pub fn user_id(&self) -> UserId {
        self.0.user_id
    }

    /// The same user as things name them.
    #[must_use]
    pub fn person(&self) -> &Person {
        &self.0.person
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

    /// Instant at which the first of its rules ends; from then on it must be compiled anew.
    #[must_use]
    pub fn valid_until(&self) -> Option<Timestamp> {
        self.0.valid_until
    }

    /// Whether the caller is an active member of the organisation.
    #[must_use]
    pub fn is_member(&self) -> bool {
        self.0.active && self.0.member
    }

    /// Whether the credential gives less than all that the user has: what is about the account as a whole is
    /// not for it.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.0.limited
    }

    /// Whether a permission is held.
    #[must_use]
    pub fn holds(&self, permission: Permission) -> bool {
        self.is_member() && self.given(permission).is_some()
    }

    fn given(&self, permission: Permission) -> Option<&Vec<String>> {
        if self.0.denied_permissions.contains_key(&permission) {
            return None;
        }
        self.0.permissions.get(&permission)
    }

    /// Whether the caller's account is in use.
    ///
    /// # Errors
    /// With the reason.
    pub fn authorize_own(&self) -> Result<OwnAccount, DenialError> {
        if self.0.active {
            Ok(OwnAccount(()))
        } else {
            Err(DenialError { reason: Reason::PrincipalInactive, via: Vec::new() })
        }
    }

    /// Decides whether the caller may do `C` to all of its kind.
    ///
    /// # Errors
    /// With the reason and the rules that counted.
    pub fn authorize_kind<C: Capability>(&self) -> Result<AuthorizedKind<C>, DenialError> {
        let via = self.granted(&Asked::of::<C>(C::ACTION), &Target::all())?;
        Ok(AuthorizedKind { tenant: self.tenant(), via, of: PhantomData })
    }

    /// Decides whether the caller may do `C` to one thing, in the place that is claimed for it.
    ///
    /// # Errors
    /// With the reason and the rules that counted.
    pub fn authorize_one<C: Capability>(
        &self,
        id: <C::On as Resource>::Id,
        place: PlaceOf<C::On>,
    ) -> Result<Authorized<C>, DenialError> {
        self.authorize_key(Key::of_claimed(self.tenant(), id, place))
    }

    /// Whether a rule about the caller's own things may decide whether they may do `C` to one: then it is looked up first.
    #[must_use]
    pub fn asks_ownership<C: Capability>(&self) -> bool {
        let (resource, action) = (<C::On as Resource>::TYPE, C::ACTION);
        resource.has_own()
            && (self.buckets(resource, giving(resource, &action)).any(|bucket| !bucket.allow_own.is_empty())
                || self.buckets(resource, taking(&action)).any(|bucket| !bucket.deny_own.is_empty()))
    }

    /// The key of one thing in the place that is claimed for it, of which nothing is decided yet.
    #[must_use]
    pub fn claimed<R: Resource>(&self, id: R::Id, place: PlaceOf<R>) -> Key<R> {
        Key::of_claimed(self.tenant(), id, place)
    }

    /// Decides whether the caller may do `C` to a thing that was found; one of another organisation never. A rule about
    /// the caller's own things gives nothing here, and takes all: [`Self::authorize_owned`] knows more.
    ///
    /// # Errors
    /// With the reason and the rules that counted.
    pub fn authorize_key<C: Capability>(&self, key: Key<C::On>) -> Result<Authorized<C>, DenialError> {
        self.authorize_owned(key, Ownership::Unknown)
    }

    /// Decides whether the caller may do `C` to a thing that is or is not their own; one of another organisation never.
    ///
    /// # Errors
    /// With the reason and the rules that counted.
    pub fn authorize_owned<C: Capability>(
        &self,
        key: Key<C::On>,
        ownership: Ownership,
    ) -> Result<Authorized<C>, DenialError> {
        if key.tenant() != self.tenant() {
            return Err(DenialError { reason: Reason::NotAMember, via: Vec::new() });
        }
        let target = Target { id: Some(key.id().rule_id()), parents: key.place().parents(), ownership };
        let asked = Asked::of::<C>(C::ACTION);
        let via = self.granted(&asked, &target)?;
        let rests_on_it = ownership.gives() && self.granted(&asked, &target.owned(Ownership::Other)).is_err();
        let key = key.resting_on(rests_on_it.then(|| Arc::clone(&self.0.person)));
        Ok(Authorized { key, via })
    }

    /// Decides whether the caller may do `C` to a thing that names them, as a task names its candidates: that is as good as
    /// an allow, which any deny overrides. Who asks has looked at the thing.
    ///
    /// # Errors
    /// With the reason and the rules that counted.
    pub fn authorize_named<C: Capability>(
        &self,
        key: Key<C::On>,
        ownership: Ownership,
    ) -> Result<Authorized<C>, DenialError> {
        if key.tenant() != self.tenant() {
            return Err(DenialError { reason: Reason::NotAMember, via: Vec::new() });
        }
        let target = Target { id: Some(key.id().rule_id()), parents: key.place().parents(), ownership };
        let Decision { reason, via, .. } = self.judge(&Asked::of::<C>(C::ACTION), &target);
        if matches!(reason, Reason::Granted | Reason::ResourceActionNotGranted) {
            return Ok(Authorized { key, via });
        }
        Err(DenialError { reason, via })
    }

    /// Decides whether the caller may list any of what `C` lists.
    ///
    /// # Errors
    /// With the reason and the rules that counted.
    pub fn authorize_list<C: Lists>(&self) -> Result<AuthorizedList<C>, DenialError> {
        self.listed(&Target::all())
    }

    /// Decides whether the caller may list any of what `C` lists within a thing.
    ///
    /// # Errors
    /// With the reason and the rules that counted.
    pub fn authorize_list_within<C: Lists>(
        &self,
        place: PlaceOf<C::On>,
    ) -> Result<AuthorizedListWithin<C>, DenialError> {
        let list = self.listed(&Target { parents: place.parents(), ..Target::all() })?;
        Ok(AuthorizedListWithin { list, place })
    }

    fn listed<C: Lists>(&self, target: &Target) -> Result<AuthorizedList<C>, DenialError> {
        let via = self.granted(&Asked::of::<C>(Action::List), target)?;
        let extent = self.extent(<C::On as Resource>::TYPE, Action::List);
        let filter = AccessFilter::of_person(extent, &self.0.person);
        Ok(AuthorizedList { filter, via })
    }

    /// Authorises some thing of the kind for `C`, where the thing itself is still to be found: the filter is
    /// never empty.
    ///
    /// # Errors
    /// With the reason and the rules that counted, when there is surely nothing.
    pub fn authorize_some<C: Capability>(&self) -> Result<AccessFilter<C::On>, DenialError> {
        let asked = Asked { some: true, ..Asked::of::<C>(C::ACTION) };
        self.granted(&asked, &Target::all())?;
        let extent = self.extent(<C::On as Resource>::TYPE, C::ACTION);
        Ok(AccessFilter::of_person(extent, &self.0.person))
    }

    /// Decides whether the caller may do `C` to some thing of the kind, which a use case finds within the filter.
    ///
    /// # Errors
    /// As [`Self::authorize_some`].
    pub fn authorize_found<C: Capability>(&self) -> Result<AuthorizedSome<C>, DenialError> {
        Ok(AuthorizedSome { filter: self.authorize_some::<C>()?, tenant: self.tenant() })
    }

    fn granted(&self, asked: &Asked<'_>, target: &Target) -> Result<Vec<DeterminingRule>, DenialError> {
        let Decision { reason, via, .. } = self.judge(asked, target);
        if reason == Reason::Granted { Ok(via) } else { Err(DenialError { reason, via }) }
    }

    /// Decides any question, with the reason.
    #[must_use]
    pub fn decide(&self, question: &Question<'_>) -> Decision {
        let resource = ResourceType::parse(question.resource);
        let action = Action::parse(question.action);
        match (self.outside(), resource, action) {
            (Some(reason), ..) => Decision::without_rules(reason),
            (None, None, _) => Decision::without_rules(Reason::UnknownResourceType),
            (None, Some(_), None) => Decision::without_rules(Reason::UnknownAction),
            (None, Some(resource), Some(action)) => {
                let action = if question.lists { Action::List } else { action };
                let some = action == Action::List;
                let asked = Asked { permissions: question.permissions, resource, action, some };
                self.judge(&asked, question.target)
            }
        }
    }

    /// Reason for which the caller has nothing at all here; none for an active member.
    fn outside(&self) -> Option<Reason> {
        match (self.0.active, self.0.member) {
            (false, _) => Some(Reason::PrincipalInactive),
            (true, false) => Some(Reason::NotAMember),
            (true, true) => None,
        }
    }

    fn judge(&self, asked: &Asked<'_>, target: &Target) -> Decision {
        if let Some(reason) = self.outside() {
            return Decision::without_rules(reason);
        }
        let denies = self.denies(asked, target);
        if !denies.is_empty() {
            return Decision { reason: Reason::ExplicitDeny, permission: None, via: denies };
        }
        let held = asked.permissions.iter().copied().find(|name| self.given(*name).is_some());
        if held.is_none() && !asked.permissions.is_empty() {
            return self.lacking(asked.permissions);
        }
        let allows = self.allows(asked, target);
        if allows.is_empty() {
            return Decision { reason: Reason::ResourceActionNotGranted, permission: held, via: Vec::new() };
        }
        Decision { reason: Reason::Granted, permission: held, via: allows }
    }

    fn lacking(&self, permissions: &[Permission]) -> Decision {
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

    /// Extent of an action of a type for an active member, permissions apart.
    #[must_use]
    pub fn extent(&self, resource: ResourceType, action: Action) -> Extent {
        let mut extent = Extent { by_place: resource.is_selected_by_place(), ..Extent::default() };
        let (mut listed, mut denied, mut denied_within) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for bucket in self.buckets(resource, giving(resource, &action)) {
            extent.all |= !bucket.allow_all.is_empty();
            extent.own |= !bucket.allow_own.is_empty();
            listed.extend(bucket.allow.keys());
        }
        for bucket in self.buckets(resource, taking(&action)) {
            extent.deny_all |= !bucket.deny_all.is_empty();
            extent.denied_own |= !bucket.deny_own.is_empty();
            denied.extend(bucket.deny.keys());
        }
        for parent in resource.ancestors() {
            for bucket in self.buckets(parent, taking(&action)) {
                // Of what stands within nobody knows whose it is: one's own is not told apart there.
                extent.deny_all |= !bucket.deny_all.is_empty() || !bucket.deny_own.is_empty();
                denied_within.extend(bucket.deny.keys().map(|id| (parent, id)));
            }
        }
        extent.own &= !extent.all;
        if !extent.all {
            extent.listed = listed.into_iter().cloned().collect();
        }
        extent.denied = denied.into_iter().cloned().collect();
        extent.denied_within = denied_within.into_iter().map(|(kind, id)| (kind, id.clone())).collect();
        extent
    }

    /// All rights, in the same closed form as the decisions; empty for who is not an active member.
    #[must_use]
    pub fn effective(&self) -> Effective {
        if !self.is_member() {
            return Effective::default();
        }
        let held = Permission::ALL.iter().filter_map(|name| Some((*name, self.given(*name)?)));
        let pairs = ResourceType::ALL
            .iter()
            .flat_map(|resource| Action::ALL.iter().map(move |action| (*resource, *action)));
        Effective {
            permissions: held.map(|(name, roles)| (name, roles.clone())).collect(),
            denied_permissions: self.0.denied_permissions.keys().copied().collect(),
            resources: pairs
                .map(|(resource, action)| ActionFilter {
                    resource,
                    action,
                    reach: self.extent(resource, action),
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
        if let Some(missing) = rules.permissions.names().find(|name| !self.holds(*name)) {
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
        let mut denied = rules.denied_permissions.iter().filter_map(|name| Permission::parse(name));
        if let Some(missing) = denied.find(|name| !self.holds(*name)) {
            return Err(PrivilegeEscalation::Permission(missing));
        }
        rules
            .resources
            .iter()
            .filter(|rule| rule.effect == Effect::Deny)
            .try_for_each(|rule| self.has_rule(rule))
    }

    fn has_rule(&self, rule: &ResourceRule) -> Result<(), PrivilegeEscalation> {
        let is_meant = |kind: &&ResourceType| rule.resource == ANY || rule.resource == kind.as_str();
        let selector = StoredSelector::read(ResourceType::parse(&rule.resource), &rule.selector);
        for resource in ResourceType::ALL.iter().filter(is_meant) {
            let named =
                |action: Action| rule.actions.iter().any(|name| name == ANY || name == action.as_str());
            // What may be read may be listed, so a rule about reading is one about lists as well.
            let wanted =
                |action: &&Action| named(**action) || (**action == Action::List && named(Action::Read));
            for action in Action::ALL.iter().filter(wanted) {
                let extent = self.extent(*resource, *action);
                let has = match &selector {
                    // What is somebody else's own is not the caller's.
                    StoredSelector::All | StoredSelector::Own | StoredSelector::Unreadable => {
                        extent.is_everything()
                    }
                    StoredSelector::One(id) => extent.permits(id, &Target::all().parents, Ownership::Unknown),
                };
                if !has || !self.is_member() {
                    return Err(PrivilegeEscalation::Action {
                        resource: *resource,
                        action: *action,
                        selector: rule.selector.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    fn buckets<'a>(
        &'a self,
        resource: ResourceType,
        actions: &'a [Action],
    ) -> impl Iterator<Item = &'a Bucket> {
        let keys = [Some(resource), None].into_iter().flat_map(move |resource| {
            actions.iter().copied().map(Some).chain([None]).map(move |action| (resource, action))
        });
        keys.filter_map(|key| self.0.buckets.get(&key))
    }

    fn denies(&self, asked: &Asked<'_>, target: &Target) -> Vec<DeterminingRule> {
        let mut found = BTreeSet::new();
        for bucket in self.buckets(asked.resource, taking(&asked.action)) {
            found.extend(&bucket.deny_all);
            if target.id.is_some() && target.ownership.takes() {
                found.extend(&bucket.deny_own);
            }
            found.extend(asked.selectors(target).filter_map(|id| bucket.deny.get(id)).flatten());
        }
        for (kind, id) in target.parents.iter().flatten() {
            for bucket in self.buckets(*kind, taking(&asked.action)) {
                found.extend(bucket.deny.get(id).into_iter().flatten());
            }
        }
        // A deny on all of the parent type holds whether or not the parent is named; and so does one on one's own of it,
        // since nobody knows here whose the parent is.
        for parent in asked.resource.ancestors() {
            for bucket in self.buckets(parent, taking(&asked.action)) {
                found.extend(&bucket.deny_all);
                found.extend(&bucket.deny_own);
            }
        }
        found.into_iter().cloned().collect()
    }

    fn allows(&self, asked: &Asked<'_>, target: &Target) -> Vec<DeterminingRule> {
        let mut found = BTreeSet::new();
        for bucket in self.buckets(asked.resource, giving(asked.resource, &asked.action)) {
            found.extend(&bucket.allow_all);
            match &target.id {
                Some(_) => {
                    found.extend(asked.selectors(target).filter_map(|id| bucket.allow.get(id)).flatten());
                    if target.ownership.gives() {
                        found.extend(&bucket.allow_own);
                    }
                }
                // Some id is listed that no deny takes away: enough for a list.
                None if asked.some => {
                    let is_denied = |id: &RuleId| {
                        self.buckets(asked.resource, taking(&asked.action))
                            .any(|bucket| bucket.deny.contains_key(id))
                    };
                    let left = bucket.allow.iter().filter(|(id, _)| !is_denied(id));
                    found.extend(left.flat_map(|(_, via)| via));
                    let mut taking = self.buckets(asked.resource, taking(&asked.action));
                    if taking.all(|bucket| bucket.deny_own.is_empty()) {
                        found.extend(&bucket.allow_own);
                    }
                }
                None => {}
            }
        }
        found.into_iter().cloned().collect()
    }
}

/// Question in registered words.
struct Asked<'a> {
    permissions: &'a [Permission],
    resource: ResourceType,
    action: Action,
    /// Whether it is enough that some thing of the type is reached.
    some: bool,
}

impl Asked<'static> {
    fn of<C: Capability>(action: Action) -> Self {
        let resource = <C::On as Resource>::TYPE;
        Self { permissions: C::PERMISSIONS, resource, action, some: action == Action::List }
    }
}

impl Asked<'_> {
    /// Ids by which a rule about the kind selects a thing.
    fn selectors<'t>(&self, target: &'t Target) -> impl Iterator<Item = &'t RuleId> {
        let by_place = self.resource.is_selected_by_place();
        let above = target.parents.iter().flatten().map(|(_, id)| id).filter(move |_| by_place);
        target.id.iter().chain(above)
    }
}

/// The actions whose allows count for an action: what may be read may be listed.
fn giving(resource: ResourceType, action: &Action) -> &[Action] {
    match action {
        Action::List if WITHOUT_READ.contains(&resource) => &[Action::List, Action::Read],
        Action::List => &[Action::Read],
        other => std::slice::from_ref(other),
    }
}

/// The actions whose denies count for an action: who may not read or not list sees nothing in a list.
fn taking(action: &Action) -> &[Action] {
    match action {
        Action::List => &[Action::List, Action::Read],
        other => std::slice::from_ref(other),
    }
}

/// Reach of a rule in the words that are stored: which action on which things of which type.
#[derive(Clone, Copy)]
struct Reach<'a> {
    resource: &'a str,
    action: &'a str,
    selector: &'a str,
}

impl Inner {
    fn add_role(&mut self, id: &str, rules: &RoleRules) {
        for name in rules.permissions.names() {
            self.permissions.entry(name).or_default().push(id.to_owned());
        }
        for name in rules.denied_permissions.iter().filter_map(|name| Permission::parse(name)) {
            self.denied_permissions.entry(name).or_default().push(id.to_owned());
        }
        for rule in &rules.resources {
            let via =
                DeterminingRule { grant_id: None, effect: rule.effect, source: Source::Role(id.to_owned()) };
            for action in &rule.actions {
                self.add_rule(Reach { resource: &rule.resource, action, selector: &rule.selector }, &via);
            }
        }
    }

    fn add_rule(&mut self, reach: Reach<'_>, via: &DeterminingRule) {
        let kind = ResourceType::parse(reach.resource);
        let action = Action::parse(reach.action);
        // A rule about what is not registered can't apply to anything.
        if (reach.resource != ANY && kind.is_none()) || (reach.action != ANY && action.is_none()) {
            return;
        }
        let bucket = self.buckets.entry((kind, action)).or_default();
        let (all, own, some) = match via.effect {
            Effect::Allow => (&mut bucket.allow_all, &mut bucket.allow_own, &mut bucket.allow),
            Effect::Deny => (&mut bucket.deny_all, &mut bucket.deny_own, &mut bucket.deny),
        };
        match (StoredSelector::read(kind, reach.selector), via.effect) {
            (StoredSelector::All, _) | (StoredSelector::Unreadable, Effect::Deny) => all.push(via.clone()),
            (StoredSelector::Own, _) => own.push(via.clone()),
            (StoredSelector::One(id), _) => some.entry(id).or_default().push(via.clone()),
            (StoredSelector::Unreadable, Effect::Allow) => {}
        }
    }
}
