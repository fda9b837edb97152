//! Indexes of rules, by which a decision costs the same however many rules there are: a fixed place for each type and
//! action, and a hash of the ids.

use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::RandomState;

use crate::decision::DeterminingRule;
use crate::permission::{Action, Permission, ResourceType};
use crate::rule_id::RuleId;

/// Number of columns: one for each action, and one for `*`.
const COLUMNS: usize = Action::ALL.len() + 1;
/// Number of places: a row for each type and one for `*`.
pub(crate) const PLACES: usize = (ResourceType::ALL.len() + 1) * COLUMNS;
/// Place at which nothing is.
const NOTHING: u16 = u16::MAX;

/// Place of a type and an action, each of which none stands for `*`.
pub(crate) fn place(resource: Option<ResourceType>, action: Option<Action>) -> usize {
    let row = resource.map_or(0, |resource| resource as usize + 1);
    let column = action.map_or(0, |action| action as usize + 1);
    row * COLUMNS + column
}

/// Set of permissions, of which each is one bit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PermissionBits(u64);

// Each has a bit of its own.
const _: () = assert!(Permission::ALL.len() <= u64::BITS as usize);

impl PermissionBits {
    /// The set of these.
    pub(crate) fn of<'a>(permissions: impl Iterator<Item = &'a Permission>) -> Self {
        Self(permissions.fold(0, |bits, permission| bits | Self::bit(*permission)))
    }

    /// Whether a permission is in it.
    pub(crate) const fn contains(self, permission: Permission) -> bool {
        self.0 & Self::bit(permission) != 0
    }

    /// Without those of another set.
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    const fn bit(permission: Permission) -> u64 {
        1 << permission as u32
    }
}

/// Table of values by type and action; only those that were put in take room.
#[derive(Debug)]
pub(crate) struct Table<T> {
    places: Box<[u16]>,
    values: Vec<T>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { places: vec![NOTHING; PLACES].into_boxed_slice(), values: Vec::new() }
    }
}

impl<T: Default> Table<T> {
    /// The value of a type and an action, if there is one.
    pub(crate) fn get(&self, resource: Option<ResourceType>, action: Option<Action>) -> Option<&T> {
        let at = *self.places.get(place(resource, action))?;
        self.values.get(usize::from(at))
    }

    /// The value of a type and an action, empty if there was none; none beyond the table's end, where nothing is.
    pub(crate) fn entry(&mut self, resource: Option<ResourceType>, action: Option<Action>) -> Option<&mut T> {
        let at = self.places.get_mut(place(resource, action))?;
        if *at == NOTHING {
            // There are far fewer places than numbers.
            *at = u16::try_from(self.values.len()).ok()?;
            self.values.push(T::default());
        }
        self.values.get_mut(usize::from(*at))
    }
}

/// Rules about one thing.
#[derive(Debug)]
pub(crate) struct RulesOfId {
    /// The thing's id.
    pub(crate) id: RuleId,
    /// The rules.
    pub(crate) rules: Vec<DeterminingRule>,
}

/// Rules by the id of the thing that they are about.
#[derive(Debug, Default)]
pub(crate) struct RulesById {
    places: HashMap<RuleId, usize, RandomState>,
    all: Vec<RulesOfId>,
    /// The ids in their order: found out when they are first listed.
    sorted: OnceLock<Box<[RuleId]>>,
}

impl RulesById {
    /// Adds a rule.
    pub(crate) fn add(&mut self, id: RuleId, rule: DeterminingRule) {
        self.sorted = OnceLock::new();
        let next = self.all.len();
        let at = *self.places.entry(id.clone()).or_insert(next);
        match self.all.get_mut(at) {
            Some(known) => known.rules.push(rule),
            None => self.all.push(RulesOfId { id, rules: vec![rule] }),
        }
    }

    /// The rules about a thing.
    pub(crate) fn get(&self, id: &RuleId) -> &[DeterminingRule] {
        let found = self.places.get(id).and_then(|at| self.all.get(*at));
        found.map_or(&[], |found| found.rules.as_slice())
    }

    /// Whether there is a rule about a thing.
    pub(crate) fn contains(&self, id: &RuleId) -> bool {
        self.places.contains_key(id)
    }

    /// All, in the order in which they were added.
    pub(crate) fn all(&self) -> &[RulesOfId] {
        &self.all
    }

    /// The ids in their order.
    pub(crate) fn ids(&self) -> &[RuleId] {
        self.sorted.get_or_init(|| {
            let mut ids: Box<[RuleId]> = self.all.iter().map(|one| one.id.clone()).collect();
            ids.sort_unstable();
            ids
        })
    }
}

/// Ids of several lists that are each in order: in order, none twice. Nothing is sorted or copied for it, so that a part of
/// them costs what it has and not what there is.
#[derive(Debug, Clone)]
pub(crate) struct Merged<'a>(Vec<&'a [RuleId]>);

impl<'a> Merged<'a> {
    /// Of these lists.
    pub(crate) fn of(lists: impl Iterator<Item = &'a [RuleId]>) -> Self {
        Self(lists.filter(|list| !list.is_empty()).collect())
    }

    /// Those behind an id.
    pub(crate) fn behind(self, id: &RuleId) -> Self {
        let rest = |list: &'a [RuleId]| list.get(list.partition_point(|one| one <= id)..).unwrap_or_default();
        Self::of(self.0.into_iter().map(rest))
    }
}

impl<'a> Iterator for Merged<'a> {
    type Item = &'a RuleId;

    fn next(&mut self) -> Option<&'a RuleId> {
        // Most have one list.
        if let [list] = self.0.as_mut_slice() {
            let (first, rest) = list.split_first()?;
            *list = rest;
            return Some(first);
        }
        let first = self.0.iter().copied().filter_map(<[RuleId]>::first).min()?;
        for list in &mut self.0 {
            match list.split_first() {
                Some((front, rest)) if front == first => *list = rest,
                Some(_) | None => {}
            }
        }
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Effect, Source};

    #[test]
    fn each_pair_has_a_place_of_its_own() {
        let kinds = || ResourceType::ALL.iter().copied().map(Some).chain([None]);
        let actions = || Action::ALL.iter().copied().map(Some).chain([None]);
        let mut places: Vec<usize> =
            kinds().flat_map(|kind| actions().map(move |action| place(kind, action))).collect();
        places.sort_unstable();
        assert!(places.iter().copied().eq(0..PLACES), "none twice and none beyond the end");
        let mut table: Table<Vec<u8>> = Table::default();
        assert!(table.get(None, None).is_none());
        table.entry(None, Some(Action::Read)).unwrap().push(7);
        table.entry(Some(ResourceType::Run), None).unwrap().push(8);
        assert_eq!(table.get(None, Some(Action::Read)), Some(&vec![7]));
        assert_eq!(table.get(Some(ResourceType::Run), None), Some(&vec![8]));
        assert!(table.get(None, None).is_none());
    }

    #[test]
    fn rules_are_found_by_their_id() {
        let rule = |name: &str| DeterminingRule {
            grant_id: Some(name.to_owned()),
            effect: Effect::Allow,
            source: Source::User,
        };
        let id = |name: &str| RuleId::read_any(name).unwrap();
        let mut rules = RulesById::default();
        for (name, grant) in [("a", "1"), ("b", "2"), ("a", "3")] {
            rules.add(id(name), rule(grant));
        }
        assert_eq!(rules.get(&id("a")), [rule("1"), rule("3")]);
        assert_eq!(rules.get(&id("c")), []);
        assert!(rules.contains(&id("b")) && !rules.contains(&id("c")));
        rules.add(id("0"), rule("4"));
        assert_eq!(rules.ids(), [id("0"), id("a"), id("b")]);
        rules.add(id("aa"), rule("5"));
        assert_eq!(rules.ids(), [id("0"), id("a"), id("aa"), id("b")], "one that came later has its place");
    }

    #[test]
    fn ids_of_several_lists_come_in_order_and_once() {
        let list = |names: &[&str]| -> Vec<RuleId> {
            names.iter().map(|name| RuleId::read_any(name).unwrap()).collect()
        };
        let lists = [list(&["a", "c", "d"]), list(&[]), list(&["b", "c"]), list(&["c"])];
        let merged = || Merged::of(lists.iter().map(Vec::as_slice));
        assert!(merged().eq(&list(&["a", "b", "c", "d"])));
        for (behind, rest) in
            [("b", &["c", "d"][..]), ("bb", &["c", "d"]), ("0", &["a", "b", "c", "d"]), ("d", &[])]
        {
            assert!(merged().behind(&RuleId::read_any(behind).unwrap()).eq(&list(rest)), "{behind}");
        }
        assert!(Merged::of(lists.iter().map(Vec::as_slice).take(1)).eq(&list(&["a", "c", "d"])));
    }

    #[test]
    fn each_permission_has_a_bit_of_its_own() {
        let all = PermissionBits::of(Permission::ALL.iter());
        for permission in Permission::ALL {
            let one = PermissionBits::of([permission].into_iter());
            assert!(
                all.contains(*permission)
                    && one.contains(*permission)
                    && !all.without(one).contains(*permission)
            );
            let others = Permission::ALL.iter().filter(|other| *other != permission);
            assert!(others.clone().all(|other| !one.contains(*other) && all.without(one).contains(*other)));
        }
    }
}
