//! Reach of an action on things of a type, and those through whom it is given or taken. The ids of rules lie in order, so
//! that a part of a reach costs what it has, however many rules there are.

use std::collections::BTreeSet;

use super::{Bucket, Snapshot};
use crate::asked::Asked;
use crate::decision::{ActionFilter, DeniedPlace, DeterminingRule, Effective, Target};
use crate::denies::Denies;
use crate::facts::{Effect, Source};
use crate::filter::Extent;
use crate::implied::counting;
use crate::index::Merged;
use crate::permission::{Action, Permission, ResourceType};
use crate::rule_id::RuleId;

impl Snapshot {
    /// Extent of an action of a type for an active member, permissions apart.
    #[must_use]
    pub fn extent(&self, resource: ResourceType, action: Action) -> Extent {
        let mut extent = self.outline(resource, action);
        if !extent.all {
            extent.listed = self.listed_ids(resource, action).cloned().collect();
        }
        extent.denied = self.denied_ids(resource, action).cloned().collect();
        let within = self.denied_within(resource, action, None).map(|place| (place.resource, place.id));
        // All of the type are denied already.
        let is_told = |(_, id): &(ResourceType, RuleId)| !(extent.deny_all && id.is_any());
        extent.denied_within = within.filter(is_told).collect();
        extent
    }

    /// Extent of an action without the ids that it names.
    pub(crate) fn outline(&self, resource: ResourceType, action: Action) -> Extent {
        let mut extent = Extent { by_place: resource.is_selected_by_place(), ..Extent::default() };
        for bucket in self.buckets(resource, counting(Effect::Allow, resource, action)) {
            extent.all |= !bucket.allow_all.is_empty();
            extent.own |= !bucket.allow_own.is_empty();
        }
        let taking = counting(Effect::Deny, resource, action);
        for bucket in self.buckets(resource, taking) {
            extent.deny_all |= !bucket.deny_all.is_empty();
            extent.denied_own |= !bucket.deny_own.is_empty();
        }
        extent.deny_all |= self.denies_everywhere(resource, taking);
        extent.own &= !extent.all;
        extent
    }

    /// Whether an action reaches everything of a type, as far as these denies count.
    pub(crate) fn reaches_all(&self, resource: ResourceType, action: Action, denies: Denies) -> bool {
        let taking = counting(Effect::Deny, resource, action);
        let mut kinds = std::iter::once(resource).chain(resource.places());
        let is_free = |bucket: &Bucket| {
            let some = bucket.deny.all().iter().flat_map(|one| &one.rules);
            !bucket.deny_all.iter().chain(&bucket.deny_own).chain(some).any(|rule| denies.counts(rule))
        };
        self.is_member()
            && self.outline(resource, action).all
            && kinds.all(|kind| self.buckets(kind, taking).all(is_free))
    }

    /// Whether an action reaches a thing of which nothing but its id is known, as far as these denies count.
    pub(crate) fn reaches(
        &self,
        resource: ResourceType,
        action: Action,
        id: &RuleId,
        denies: Denies,
    ) -> bool {
        let asked = Asked { permissions: &[], resource, action, some: false, elsewhere: false };
        let target = Target::one(id.clone());
        self.is_member()
            && self.allowing(&asked, &target).next().is_some()
            && !self.denying(&asked, &target).any(|rule| denies.counts(rule))
    }

    /// The ids that are allowed one by one, in order.
    pub(crate) fn listed_ids(&self, resource: ResourceType, action: Action) -> Merged<'_> {
        let giving = counting(Effect::Allow, resource, action);
        Merged::of(self.buckets(resource, giving).map(|bucket| bucket.allow.ids()))
    }

    /// The ids that are denied, in order.
    pub(crate) fn denied_ids(&self, resource: ResourceType, action: Action) -> Merged<'_> {
        let taking = counting(Effect::Deny, resource, action);
        Merged::of(self.buckets(resource, taking).map(|bucket| bucket.deny.ids()))
    }

    /// Whether a rule about the thing itself denies it.
    pub(crate) fn is_denied_by_id(&self, resource: ResourceType, action: Action, id: &RuleId) -> bool {
        let taking = counting(Effect::Deny, resource, action);
        self.buckets(resource, taking).any(|bucket| bucket.deny.contains(id))
    }

    /// The things within which all is denied, in order, behind one of them where it is named.
    pub(crate) fn denied_within<'a>(
        &'a self,
        resource: ResourceType,
        action: Action,
        behind: Option<&'a DeniedPlace>,
    ) -> impl Iterator<Item = DeniedPlace> + 'a {
        let taking = counting(Effect::Deny, resource, action);
        let from = behind.map(|place| place.resource);
        let mut kinds: Vec<ResourceType> = resource.places().filter(|kind| Some(*kind) >= from).collect();
        kinds.sort_unstable();
        kinds.into_iter().flat_map(move |kind| {
            // Of what stands within nobody knows whose it is: one's own is not told apart there.
            let all: &[RuleId] = match self.whole(kind, taking).next() {
                Some(_) => std::slice::from_ref(RuleId::any()),
                None => &[],
            };
            let ids = self.buckets(kind, taking).map(|bucket| bucket.deny.ids());
            let ids = Merged::of(ids.chain([all]));
            let ids = match behind {
                Some(place) if place.resource == kind => ids.behind(&place.id),
                Some(_) | None => ids,
            };
            ids.map(move |id| DeniedPlace { resource: kind, id: id.clone() })
        })
    }

    /// The roles, and the others through whom rules about an action on things of a type give it to the caller or take it.
    pub(crate) fn sources(&self, resource: ResourceType, action: Action) -> Vec<DeterminingRule> {
        let given = self.buckets(resource, counting(Effect::Allow, resource, action)).flat_map(|bucket| {
            let some = bucket.allow.all().iter().flat_map(|one| &one.rules);
            bucket.allow_all.iter().chain(&bucket.allow_own).chain(some)
        });
        let taking = counting(Effect::Deny, resource, action);
        let kinds = std::iter::once(resource).chain(resource.places());
        let taken = kinds.flat_map(|kind| self.buckets(kind, taking)).flat_map(|bucket| {
            let some = bucket.deny.all().iter().flat_map(|one| &one.rules);
            bucket.deny_all.iter().chain(&bucket.deny_own).chain(some)
        });
        let sources: BTreeSet<(Effect, &Source)> =
            given.chain(taken).map(|rule| (rule.effect, &rule.source)).collect();
        let rule = |(effect, source): (Effect, &Source)| DeterminingRule {
            grant_id: None,
            effect,
            source: source.clone(),
        };
        sources.into_iter().map(rule).collect()
    }

    /// The permissions held, each with the ids of the roles that give it; none for who is not an active member.
    #[must_use]
    pub fn held_permissions(&self) -> Vec<(Permission, Vec<String>)> {
        let held = Permission::ALL.iter().filter(|name| self.holds(**name));
        held.filter_map(|name| Some((*name, self.given(*name)?.clone()))).collect()
    }

    /// The permissions taken; none for who is not an active member.
    #[must_use]
    pub fn taken_permissions(&self) -> Vec<Permission> {
        if self.is_member() { self.0.denied_permissions.keys().copied().collect() } else { Vec::new() }
    }

    /// All rights, in the same closed form as the decisions; empty for who is not an active member.
    #[must_use]
    pub fn effective(&self) -> Effective {
        if !self.is_member() {
            return Effective::default();
        }
        let pairs = ResourceType::ALL
            .iter()
            .flat_map(|resource| Action::ALL.iter().map(move |action| (*resource, *action)));
        Effective {
            permissions: self.held_permissions(),
            denied_permissions: self.taken_permissions(),
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
}
