//! Extent of an action, in the closed form that a query can filter by.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::ownership::{Ownership, Person};
use crate::permission::ResourceType;
use crate::resource::{In, Instance, Key, Parents, Place as _, Resource, ResourceId as _, may_be_within};
use crate::rule_id::RuleId;

/// Extent of an action on a kind of things: a thing is reached when
/// `(all or its id in listed or it is one's own and own) and not deny_all and its id not in denied and not (it is one's own
/// and denied_own) and nothing that it stands within in denied_within`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extent {
    /// Every id is allowed.
    pub all: bool,
    /// These ids are allowed; empty when all are.
    pub listed: Vec<RuleId>,
    /// Permission for what is the caller's own; not said when all are.
    pub own: bool,
    /// Every id is denied, also through a kind to which things of this kind belong.
    pub deny_all: bool,
    /// These ids are denied.
    pub denied: Vec<RuleId>,
    /// Deny on what is the caller's own.
    pub denied_own: bool,
    /// Things within these (for runs: workflows) are denied; `*` stands for all of the type.
    pub denied_within: Vec<(ResourceType, RuleId)>,
    /// The ids that are allowed or denied may also be those of what a thing stands within.
    pub by_place: bool,
}

impl Extent {
    /// Whether a thing with this id in this place is reached. Where it is not said within which thing of a kind it stands, a
    /// deny on any of them takes it.
    #[must_use]
    pub fn permits(&self, id: &RuleId, parents: &Parents, ownership: Ownership) -> bool {
        let above = parents.iter().flatten().map(|(_, above)| above).filter(|_| self.by_place);
        // What is selected by its place stands within as many things as any does.
        let is_open = self.by_place && parents.iter().any(Option::is_none);
        let among = |ids: &[RuleId]| ids.contains(id) || above.clone().any(|above| ids.contains(above));
        (self.all || among(&self.listed) || (self.own && ownership.gives()))
            && !self.deny_all
            && !among(&self.denied)
            && !(is_open && self.denied.iter().any(RuleId::is_made_here))
            && !(self.denied_own && ownership.takes())
            && !self.denied_within.iter().any(|(kind, id)| may_be_within(parents, *kind, id))
    }

    /// Whether surely nothing is reached.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let some_own = self.own && !self.denied_own;
        if self.deny_all || self.all || some_own {
            return self.deny_all;
        }
        if self.denied.is_empty() {
            return self.listed.is_empty();
        }
        // Both may have thousands.
        let denied: HashSet<&RuleId> = self.denied.iter().collect();
        self.listed.iter().all(|id| denied.contains(id))
    }

    /// Whether everything is reached.
    #[must_use]
    pub const fn is_everything(&self) -> bool {
        let but_some = self.denied_own || !self.denied.is_empty() || !self.denied_within.is_empty();
        self.all && !self.deny_all && !but_some
    }
}

/// The things of the kind `R` that a caller may act on. A list's query takes it by a column that names an `R`; a filter
/// of another kind does not compile there.
pub struct AccessFilter<R: Resource> {
    extent: Extent,
    /// Person whose own things the extent means.
    person: Option<Arc<Person>>,
    of: PhantomData<fn() -> R>,
}

impl<R: Resource> AccessFilter<R> {
    const fn of(extent: Extent) -> Self {
        Self { extent, person: None, of: PhantomData }
    }

    pub(crate) fn of_person(extent: Extent, person: &Arc<Person>) -> Self {
        let about_own = extent.own || extent.denied_own;
        Self { extent, person: about_own.then(|| Arc::clone(person)), of: PhantomData }
    }

    /// Everything of the kind: for tests of stores, as the other makers are.
    #[must_use]
    pub fn everything() -> Self {
        Self::of(Extent { all: true, ..Extent::default() })
    }

    /// These things alone.
    #[must_use]
    pub fn only(ids: impl IntoIterator<Item = R::Id>) -> Self {
        Self::of(Extent { listed: ids.into_iter().map(|id| id.rule_id()).collect(), ..Extent::default() })
    }

    /// A person's own things alone.
    #[must_use]
    pub fn own_of(person: Person) -> Self {
        let extent = Extent { own: true, ..Extent::default() };
        Self { extent, person: Some(Arc::new(person)), of: PhantomData }
    }

    /// Without a person's own things.
    #[must_use]
    pub fn but_own_of(mut self, person: Person) -> Self {
        self.extent.denied_own = true;
        self.person = Some(Arc::new(person));
        self
    }

    /// Without these things.
    #[must_use]
    pub fn but(mut self, ids: impl IntoIterator<Item = R::Id>) -> Self {
        self.extent.denied.extend(ids.into_iter().map(|id| id.rule_id()));
        self
    }

    /// With a deny of all.
    #[must_use]
    pub const fn but_all(mut self) -> Self {
        self.extent.deny_all = true;
        self
    }

    /// Without what stands within these things.
    #[must_use]
    pub fn but_within<P: Resource>(mut self, ids: impl IntoIterator<Item = P::Id>) -> Self
    where
        R: In<P>,
    {
        self.extent.denied_within.extend(ids.into_iter().map(|id| (P::TYPE, id.rule_id())));
        self
    }

    /// Whether every thing is allowed that is not denied.
    #[must_use]
    pub const fn all(&self) -> bool {
        self.extent.all
    }

    /// The things that are allowed, unless all are.
    #[must_use]
    pub fn listed(&self) -> Vec<R::Id> {
        self.extent.listed.iter().filter_map(R::Id::of_rule).collect()
    }

    /// The person whose own things are allowed, unless all are.
    #[must_use]
    pub fn own(&self) -> Option<&Person> {
        self.person.as_deref().filter(|_| self.extent.own && !self.extent.all)
    }

    /// The person whose own things are denied.
    #[must_use]
    pub fn denied_own(&self) -> Option<&Person> {
        self.person.as_deref().filter(|_| self.extent.denied_own)
    }

    /// The person of whom it must be known which things are their own, if that decides about any.
    #[must_use]
    pub fn person(&self) -> Option<&Person> {
        self.own().or_else(|| self.denied_own())
    }

    /// The things that are denied.
    #[must_use]
    pub fn denied(&self) -> Vec<R::Id> {
        self.extent.denied.iter().filter_map(R::Id::of_rule).collect()
    }

    /// The things of the kind `P` within which all is denied.
    #[must_use]
    pub fn denied_within<P: Resource>(&self) -> Vec<P::Id>
    where
        R: In<P>,
    {
        let denied = self.extent.denied_within.iter().filter(|(kind, _)| *kind == P::TYPE);
        denied.filter_map(|(_, id)| P::Id::of_rule(id)).collect()
    }

    /// Without what stands within any thing of the kind `P`.
    #[must_use]
    pub fn but_within_all<P: Resource>(mut self) -> Self
    where
        R: In<P>,
    {
        self.extent.denied_within.push((P::TYPE, RuleId::any().clone()));
        self
    }

    /// Whether all is denied that stands within any thing of the kind `P`, while some stand elsewhere.
    #[must_use]
    pub fn denies_all_within<P: Resource>(&self) -> bool
    where
        R: In<P>,
    {
        self.extent.denied_within.iter().any(|(kind, id)| *kind == P::TYPE && id.is_any())
    }

    /// Whether a thing is let through of which nobody looked whose it is.
    #[must_use]
    pub fn permits(&self, key: &Key<R>) -> bool {
        self.permits_owned(key, Ownership::Unknown)
    }

    /// Whether a thing is let through that is or is not the caller's own.
    #[must_use]
    pub fn permits_owned(&self, key: &Key<R>, ownership: Ownership) -> bool {
        self.extent.permits(&key.id().rule_id(), &key.place().parents(), ownership)
    }

    /// Whether surely nothing is let through.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.extent.is_empty()
    }

    /// Whether everything is let through.
    #[must_use]
    pub const fn is_everything(&self) -> bool {
        self.extent.is_everything()
    }
}

impl<R: Resource> AccessFilter<R> {
    /// The same filter over rows of both kinds of instances, for [`crate::InstanceFilter`], which keeps the kind.
    pub(crate) fn of_instances(&self) -> AccessFilter<Instance> {
        let mut extent = self.extent.clone();
        for (kind, _) in &mut extent.denied_within {
            if *kind == ResourceType::CaseType {
                *kind = ResourceType::Workflow;
            }
        }
        AccessFilter { extent, person: self.person.clone(), of: PhantomData }
    }
}

/// Nothing.
impl<R: Resource> Default for AccessFilter<R> {
    fn default() -> Self {
        Self::of(Extent::default())
    }
}

impl<R: Resource> Clone for AccessFilter<R> {
    fn clone(&self) -> Self {
        Self { extent: self.extent.clone(), person: self.person.clone(), of: PhantomData }
    }
}

impl<R: Resource> PartialEq for AccessFilter<R> {
    fn eq(&self, other: &Self) -> bool {
        self.extent == other.extent && self.person == other.person
    }
}

impl<R: Resource> fmt::Debug for AccessFilter<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "of {}: {:?}", R::TYPE, self.extent)
    }
}
