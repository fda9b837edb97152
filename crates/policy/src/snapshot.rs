//! The decision: what a caller has, indexed by type and action.
//!
//! With the selectors limited to `*`, `own` and an id, a decision and a list have one closed form:
//! `(all if an allow '*' applies, else the listed ids and, if an allow 'own' applies, one's own)
//! - (all if a deny '*' applies, else the denied ids and, if a deny 'own' applies, one's own)`.

mod extent;

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::sync::Arc;

use heddle_kernel::{DefinitionKind, TenantId, Timestamp, UserId};

use crate::access::{
    Authorized, AuthorizedKind, AuthorizedKindWithin, AuthorizedList, AuthorizedListWithin, AuthorizedSome,
    OwnAccount,
};
use crate::asked::Asked;
use crate::capability::{Capability, Lists};
use crate::decision::{Decision, DenialError, DeniedPlace, DeterminingRule, Question, Reason, Target};
use crate::facts::{ANY, Effect, Facts, GrantFacts, RoleRules, Source};
use crate::filter::AccessFilter;
use crate::implied::counting;
use crate::index::{PermissionBits, RulesById, RulesOfId, Table};
use crate::left::Left;
use crate::ownership::{Ownership, Person};
use crate::permission::{Action, Permission, ResourceType};
use crate::resource::{Key, Place as _, PlaceOf, Resource, is_elsewhere, is_open};
use crate::rule_id::{RuleId, StoredSelector};

/// The most rules that a decision on all of a kind tells of: a list may rest on thousands.
const MOST_TOLD: usize = 100;

#[derive(Debug, Default)]
struct Bucket {
    allow_all: Vec<DeterminingRule>,
    allow: RulesById,
    allow_own: Vec<DeterminingRule>,
    deny_all: Vec<DeterminingRule>,
    deny: RulesById,
    deny_own: Vec<DeterminingRule>,
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
    // Of the given ones, those that are not denied: what a decision asks.
    held: PermissionBits,
    // None stands for `*`.
    buckets: Table<Bucket>,
    left: Left,
}

/// Rights of a caller in an organisation, compiled for decisions. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Snapshot(Arc<Inner>);

impl Snapshot {
    /// Compiles what holds at an instant; what has ended by then is left out.
    #[must_use]
    pub fn new(facts: &Facts, now: Timestamp) -> Self {
        let ended = |end: Option<Timestamp>| end.is_some_and(|end| end <= now);
        // What is granted or denied to a role is the caller's as long as the role is.
        let grant_end = |grant: &GrantFacts| {
            let role = match &grant.source {
                Source::Role(id) => facts.roles.iter().find(|role| role.id == *id),
                Source::User | Source::Group(_) | Source::Everyone => None,
            };
            earlier(grant.expires_at, role.and_then(|role| role.expires_at))
        };
        let living = facts.grants.iter().filter(|grant| !ended(grant_end(grant)));
        let ends = facts.grants.iter().map(|grant| grant.expires_at).chain([facts.member_until]);
        let ends = ends.chain(facts.roles.iter().map(|role| role.expires_at));
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
            held: PermissionBits::default(),
            buckets: Table::default(),
            left: Left::default(),
        };
        for role in facts.roles.iter().filter(|role| !ended(role.expires_at)) {
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
        let taken = PermissionBits::of(inner.denied_permissions.keys());
        inner.held = PermissionBits::of(inner.permissions.keys()).without(taken);
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
        self.is_member() && self.0.held.contains(permission)
    }

    fn given(&self, permission: Permission) -> Option<&Vec<String>> {
        if self.0.held.contains(permission) { self.0.permissions.get(&permission) } else { None }
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
        self.granted(&Asked::of::<C>(C::ACTION), &Target::all())?;
        Ok(AuthorizedKind { tenant: self.tenant(), of: PhantomData })
    }

    /// Decides whether the caller may do `C` to all of its kind within a thing: a deny on that thing refuses.
    ///
    /// # Errors
    /// With the reason and the rules that counted.
    pub fn authorize_kind_within<C: Capability>(
        &self,
        place: PlaceOf<C::On>,
    ) -> Result<AuthorizedKindWithin<C>, DenialError> {
        let target = Target { parents: place.parents(), ..Target::all() };
        self.granted(&Asked::of::<C>(C::ACTION), &target)?;
        let kind = AuthorizedKind { tenant: self.tenant(), of: PhantomData };
        Ok(AuthorizedKindWithin { kind, place })
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
        self.about_own(<C::On as Resource>::TYPE, C::ACTION).next().is_some()
    }

    /// Whether what is decided about one thing depends on whose it is; else nobody needs to look.
    #[must_use]
    pub fn depends_on_ownership<C: Capability>(&self, key: &Key<C::On>) -> bool {
        let (asked, target) = (Asked::of::<C>(C::ACTION), Target::of(key).owned(Ownership::Own));
        self.asks_ownership::<C>()
            && self.weigh(&asked, &target).reason
                != self.weigh(&asked, &target.clone().owned(Ownership::Other)).reason
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
        let target = Target::of(&key).owned(ownership);
        let asked = Asked::of::<C>(C::ACTION);
        self.granted(&asked, &target)?;
        let rests_on_it = ownership.gives() && !self.weigh(&asked, &target.owned(Ownership::Other)).allowed();
        let key = key.resting_on(rests_on_it.then(|| Arc::clone(&self.0.person)));
        Ok(Authorized { key })
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
        let target = Target::of(&key).owned(ownership);
        match self.granted(&Asked::of::<C>(C::ACTION), &target) {
            Ok(()) => Ok(Authorized { key }),
            Err(denial) if denial.reason == Reason::ResourceActionNotGranted => Ok(Authorized { key }),
            Err(denial) => Err(denial),
        }
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
        self.granted(&Asked::of::<C>(Action::List), target)?;
        let extent = self.extent(<C::On as Resource>::TYPE, Action::List);
        let filter = AccessFilter::of_person(extent, &self.0.person);
        Ok(AuthorizedList { filter })
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

    fn granted(&self, asked: &Asked<'_>, target: &Target) -> Result<(), DenialError> {
        let decision = self.weigh(asked, target);
        match decision.allowed() {
            true => Ok(()),
            false => {
                Err(DenialError { reason: decision.reason, via: self.via(asked, target, decision.reason) })
            }
        }
    }

    /// Decides any question, with the reason and the rules that counted.
    #[must_use]
    pub fn decide(&self, question: &Question<'_>) -> Decision {
        match Asked::read(question) {
            Ok(asked) => {
                let decision = self.weigh(&asked, question.target);
                Decision { via: self.via(&asked, question.target, decision.reason), ..decision }
            }
            Err(unknown) => Decision::without_rules(self.outside().unwrap_or(unknown)),
        }
    }

    /// Decides any question as [`Self::decide`] does, without a look for the rules that counted: its cost does not grow
    /// with their number.
    #[must_use]
    pub fn verdict(&self, question: &Question<'_>) -> Reason {
        match Asked::read(question) {
            Ok(asked) => self.weigh(&asked, question.target).reason,
            Err(unknown) => self.outside().unwrap_or(unknown),
        }
    }

    /// Reason for which the caller has nothing at all here; none for an active member.
    pub(crate) fn outside(&self) -> Option<Reason> {
        match (self.0.active, self.0.member) {
            (false, _) => Some(Reason::PrincipalInactive),
            (true, false) => Some(Reason::NotAMember),
            (true, true) => None,
        }
    }

    /// Decides by the indexes alone, and allocates nothing.
    fn weigh(&self, asked: &Asked<'_>, target: &Target) -> Decision {
        if let Some(reason) = self.outside() {
            return Decision::without_rules(reason);
        }
        if self.denying(asked, target).next().is_some() {
            return Decision::without_rules(Reason::ExplicitDeny);
        }
        let held = asked.permissions.iter().copied().find(|name| self.0.held.contains(*name));
        if held.is_none() && !asked.permissions.is_empty() {
            let taken = asked.permissions.iter().any(|name| self.0.denied_permissions.contains_key(name));
            let reason = if taken { Reason::ExplicitDeny } else { Reason::PermissionMissing };
            return Decision::without_rules(reason);
        }
        let allowed = self.allowing(asked, target).next().is_some()
            || (asked.is_some_of(target) && self.is_some_left(asked.resource, asked.action));
        let reason = if allowed { Reason::Granted } else { Reason::ResourceActionNotGranted };
        Decision { permission: held, ..Decision::without_rules(reason) }
    }

    /// The rules on which a decision with this reason rests.
    fn via(&self, asked: &Asked<'_>, target: &Target, reason: Reason) -> Vec<DeterminingRule> {
        match reason {
            Reason::Granted => self.allows(asked, target),
            Reason::ExplicitDeny => {
                let denies = told(self.denying(asked, target));
                if denies.is_empty() { self.taken(asked.permissions) } else { denies }
            }
            Reason::PrincipalInactive
            | Reason::NotAMember
            | Reason::UnknownResourceType
            | Reason::UnknownAction
            | Reason::PermissionMissing
            | Reason::ResourceActionNotGranted => Vec::new(),
        }
    }

    /// The rules of roles that take one of these permissions.
    pub(crate) fn taken(&self, permissions: &[Permission]) -> Vec<DeterminingRule> {
        let takers = permissions.iter().filter_map(|name| self.0.denied_permissions.get(name)).flatten();
        of_roles(takers, Effect::Deny)
    }

    /// The rules of roles that give one of these permissions, as far as it is held.
    pub(crate) fn giving(&self, permissions: &[Permission]) -> Vec<DeterminingRule> {
        let givers = permissions.iter().filter_map(|name| self.given(*name)).flatten();
        of_roles(givers, Effect::Allow)
    }

    fn buckets<'a>(
        &'a self,
        resource: ResourceType,
        actions: &'a [Action],
    ) -> impl Iterator<Item = &'a Bucket> {
        [Some(resource), None].into_iter().flat_map(move |resource| {
            let actions = actions.iter().copied().map(Some).chain([None]);
            actions.filter_map(move |action| self.0.buckets.get(resource, action))
        })
    }

    /// The denies of all that stands within things of a type, and those of what stands within one's own of it, since nobody
    /// knows there whose they are.
    fn whole<'a>(
        &'a self,
        parent: ResourceType,
        actions: &'a [Action],
    ) -> impl Iterator<Item = &'a DeterminingRule> {
        self.buckets(parent, actions).flat_map(|bucket| bucket.deny_all.iter().chain(&bucket.deny_own))
    }

    /// Whether things of a type are denied by what they stand within, wherever that is.
    fn denies_everywhere(&self, resource: ResourceType, actions: &[Action]) -> bool {
        let denied = |kind: DefinitionKind| {
            let places = resource.places().filter(|place| place.definition_kind() == Some(kind));
            places.flat_map(|place| self.whole(place, actions)).next().is_some()
        };
        let (in_runs, in_cases) = (DefinitionKind::Workflow, DefinitionKind::Case);
        match resource.is_in_either() {
            true => denied(in_runs) && denied(in_cases),
            false => resource.places().any(|place| self.whole(place, actions).next().is_some()),
        }
    }

    /// The denies that apply.
    fn denying<'a>(
        &'a self,
        asked: &'a Asked<'_>,
        target: &'a Target,
    ) -> impl Iterator<Item = &'a DeterminingRule> {
        let actions = counting(Effect::Deny, asked.resource, asked.action);
        let takes_own = target.id.is_some() && target.ownership.takes();
        let is_open = move |kind: ResourceType| !asked.elsewhere && target.is_open(kind);
        let names_place = asked.resource.is_selected_by_place() && asked.resource.places().any(is_open);
        let about_kind = self.buckets(asked.resource, actions).flat_map(move |bucket| {
            let one = asked.selectors(target).flat_map(move |id| bucket.deny.get(id));
            let own = bucket.deny_own.iter().filter(move |_| takes_own);
            let of_place: &[RulesOfId] = if names_place { bucket.deny.all() } else { &[] };
            let of_place = of_place.iter().filter(|one| one.id.is_made_here()).flat_map(|one| &one.rules);
            bucket.deny_all.iter().chain(own).chain(one).chain(of_place)
        });
        let above = target.parents.iter().flatten().flat_map(move |(kind, id)| {
            self.buckets(*kind, actions).flat_map(move |bucket| bucket.deny.get(id))
        });
        // A deny on all of the parent type holds whether or not the parent is named. Where a thing may stand within
        // others instead, it holds for one of which nobody said so; for all of the kind both must be denied.
        let is_some = target.id.is_some() && !asked.elsewhere;
        let is_somewhere = is_some || target.parents.iter().any(Option::is_some);
        let counts = is_somewhere || self.denies_everywhere(asked.resource, actions);
        let kinds =
            asked.resource.places().filter(move |kind| counts && !is_elsewhere(&target.parents, *kind));
        let kinds = kinds.flat_map(move |parent| self.whole(parent, actions));
        // Where it is not said within which thing of a kind a thing stands, any of them may be denied.
        let perhaps = asked.resource.places().filter(move |kind| is_open(*kind)).flat_map(move |kind| {
            let denied = self.buckets(kind, actions).flat_map(|bucket| bucket.deny.all());
            denied.flat_map(|one| &one.rules)
        });
        about_kind.chain(above).chain(kinds).chain(perhaps)
    }

    /// The allows that apply to all of the kind, and to the thing, where one is named.
    fn allowing<'a>(
        &'a self,
        asked: &'a Asked<'_>,
        target: &'a Target,
    ) -> impl Iterator<Item = &'a DeterminingRule> {
        let actions = counting(Effect::Allow, asked.resource, asked.action);
        let gives_own = target.id.is_some() && target.ownership.gives();
        self.buckets(asked.resource, actions).flat_map(move |bucket| {
            let named = target.id.iter().flat_map(move |_| asked.selectors(target));
            let one = named.flat_map(move |id| bucket.allow.get(id));
            let own = bucket.allow_own.iter().filter(move |_| gives_own);
            bucket.allow_all.iter().chain(own).chain(one)
        })
    }

    /// The things that are allowed one by one and that no deny takes away.
    fn left(&self, resource: ResourceType, action: Action) -> impl Iterator<Item = &RulesOfId> {
        let giving = counting(Effect::Allow, resource, action);
        let listed = self.buckets(resource, giving).flat_map(|bucket| bucket.allow.all());
        listed.filter(move |one| !self.is_denied_by_id(resource, action, &one.id))
    }

    /// The allows of one's own, unless a deny takes that away.
    fn left_own(&self, resource: ResourceType, action: Action) -> impl Iterator<Item = &DeterminingRule> {
        let taking = counting(Effect::Deny, resource, action);
        let giving = counting(Effect::Allow, resource, action);
        let is_left = self.buckets(resource, taking).all(|bucket| bucket.deny_own.is_empty());
        self.buckets(resource, giving).filter(move |_| is_left).flat_map(|bucket| &bucket.allow_own)
    }

    /// The rules about the caller's own things that may decide about an action on one thing of a type.
    pub(crate) fn about_own(
        &self,
        resource: ResourceType,
        action: Action,
    ) -> impl Iterator<Item = &DeterminingRule> {
        let taking = self.buckets(resource, counting(Effect::Deny, resource, action));
        let giving = self.buckets(resource, counting(Effect::Allow, resource, action));
        giving.flat_map(|bucket| &bucket.allow_own).chain(taking.flat_map(|bucket| &bucket.deny_own))
    }

    /// Ownership with which one thing would be reached that is not, for nobody looked whose it is; where it is not said
    /// within what it stands, it may be denied there nevertheless.
    #[must_use]
    pub fn granted_if(&self, question: &Question<'_>) -> Option<Ownership> {
        let asked = Asked { elsewhere: true, ..Asked::read(question).ok()? };
        let target = question.target;
        let is_open = target.id.is_some() && target.ownership == Ownership::Unknown;
        if !is_open || self.about_own(asked.resource, asked.action).next().is_none() {
            return None;
        }
        let gives = |whose| self.weigh(&asked, &target.clone().owned(whose)).allowed();
        // What is reached either way depends on nothing.
        match (gives(Ownership::Own), gives(Ownership::Other)) {
            (true, false) => Some(Ownership::Own),
            (false, true) => Some(Ownership::Other),
            (true, true) | (false, false) => None,
        }
    }

    /// Whether denies leave something of what is allowed one by one or as one's own; they may deny all of the kind besides.
    pub(crate) fn is_some_left(&self, resource: ResourceType, action: Action) -> bool {
        let find = || {
            self.left_own(resource, action).next().is_some() || self.left(resource, action).next().is_some()
        };
        self.0.left.or_find(resource, action, find)
    }

    fn allows(&self, asked: &Asked<'_>, target: &Target) -> Vec<DeterminingRule> {
        let allowing = self.allowing(asked, target);
        match asked.is_some_of(target) {
            // Some id is listed that no deny takes away, or one's own is: enough for a list.
            true => {
                let one_by_one = self.left(asked.resource, asked.action).flat_map(|one| &one.rules);
                told(allowing.chain(self.left_own(asked.resource, asked.action)).chain(one_by_one))
            }
            false => told(allowing),
        }
    }

    /// The rules that deny what a question asks, and those that allow it, each whatever the others say; none for words
    /// that nobody registered.
    pub(crate) fn weighed(&self, question: &Question<'_>) -> Option<Weighed> {
        let asked = Asked::read(question).ok()?;
        let target = question.target;
        let allowed = self.allowing(&asked, target).next().is_some()
            || (asked.is_some_of(target) && self.is_some_left(asked.resource, asked.action));
        Some(Weighed {
            denies: told(self.denying(&asked, target)),
            allows: self.allows(&asked, target),
            allowed,
        })
    }

    /// Things within which a deny takes away what is allowed, where it is not said within what a thing stands: it is allowed
    /// unless it stands within one of them, and, where [`Self::granted_if`] says so, whose it is decides as well. None where
    /// nothing depends on that.
    #[must_use]
    pub fn granted_unless(&self, question: &Question<'_>) -> Vec<DeniedPlace> {
        let Ok(asked) = Asked::read(question) else { return Vec::new() };
        let target = question.target;
        let is_allowed = self.weigh(&asked, target).allowed();
        let depends = match target.id {
            None => is_allowed,
            Some(_) if is_allowed => false,
            Some(_) => {
                let asked = Asked { elsewhere: true, ..asked };
                self.weigh(&asked, target).allowed() || self.granted_if(question).is_some()
            }
        };
        if !depends {
            return Vec::new();
        }
        let taking = counting(Effect::Deny, asked.resource, asked.action);
        let open = asked.resource.places().filter(|kind| is_open(&target.parents, *kind));
        let places = open.flat_map(|kind| {
            let all = self.whole(kind, taking).next().map(|_| RuleId::any().clone());
            let denied = self.buckets(kind, taking).flat_map(|bucket| bucket.deny.ids());
            all.into_iter().chain(denied.cloned()).map(move |id| DeniedPlace { resource: kind, id })
        });
        in_order(places.collect()).collect()
    }
}

/// Rules for and against what a question asks.
pub(crate) struct Weighed {
    /// Rules that deny it.
    pub(crate) denies: Vec<DeterminingRule>,
    /// Rules that allow it.
    pub(crate) allows: Vec<DeterminingRule>,
    /// Whether it is allowed where no rule denies it.
    pub(crate) allowed: bool,
}

/// Rules to tell of: in order, none twice, at most [`MOST_TOLD`].
pub(crate) fn told<'a>(rules: impl Iterator<Item = &'a DeterminingRule>) -> Vec<DeterminingRule> {
    let mut told: Vec<DeterminingRule> = rules.take(MOST_TOLD).cloned().collect();
    told.sort();
    told.dedup();
    told
}

/// Each once, in order.
fn in_order<T: Ord>(mut all: Vec<T>) -> impl Iterator<Item = T> {
    all.sort_unstable();
    all.dedup();
    all.into_iter()
}

fn of_roles<'a>(roles: impl Iterator<Item = &'a String>, effect: Effect) -> Vec<DeterminingRule> {
    let roles: BTreeSet<&String> = roles.collect();
    let rule = |role: &String| DeterminingRule { grant_id: None, effect, source: Source::Role(role.clone()) };
    roles.into_iter().map(rule).collect()
}

/// The earlier of two ends, of which either may be none.
fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, None) => one,
        (None, other) => other,
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
        let Some(bucket) = self.buckets.entry(kind, action) else { return };
        let (all, own, some) = match via.effect {
            Effect::Allow => (&mut bucket.allow_all, &mut bucket.allow_own, &mut bucket.allow),
            Effect::Deny => (&mut bucket.deny_all, &mut bucket.deny_own, &mut bucket.deny),
        };
        match (StoredSelector::read(kind, reach.selector), via.effect) {
            (StoredSelector::All, _) | (StoredSelector::Unreadable, Effect::Deny) => all.push(via.clone()),
            (StoredSelector::Own, _) => own.push(via.clone()),
            (StoredSelector::One(id), _) => some.add(id, via.clone()),
            (StoredSelector::Unreadable, Effect::Allow) => {}
        }
    }
}

#[cfg(test)]
mod tests;
