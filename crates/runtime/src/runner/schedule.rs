//! Scheduling: which lanes come next. Pure: what runs and what is ready come in, claims go out.
//!
//! Each organisation is served in turn, beginning behind the one that was served last, so that one with ten thousand
//! errands takes no more turns than one with a single one. Bounds keep room: of a kind in all, of an organisation (the
//! rest of the kind's slots is for others), and of a target, which is not to be overrun.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;

use heddle_kernel::TenantId;
use heddle_usecase::errand::{Bounds, Claim, Lane, ReadyLane};

/// Errands of a kind that are being done on this node, in slots: a lane in order takes one.
#[derive(Debug, Clone, Default)]
pub(super) struct Load {
    total: usize,
    organizations: HashMap<TenantId, usize>,
    targets: HashMap<(TenantId, String), usize>,
    /// Slots with an errand that is under suspicion.
    suspects: HashMap<TenantId, usize>,
}

/// Takes one from a count, which goes when it is 0.
fn less<K: Hash + Eq>(counts: &mut HashMap<K, usize>, key: K) {
    if let Some(count) = counts.get_mut(&key) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

impl Load {
    /// A slot is taken.
    pub(super) fn begin(&mut self, lane: &Lane, is_suspect: bool) {
        self.total += 1;
        if is_suspect {
            *self.suspects.entry(lane.tenant).or_default() += 1;
        }
        *self.organizations.entry(lane.tenant).or_default() += 1;
        *self.targets.entry((lane.tenant, lane.target.clone())).or_default() += 1;
    }

    /// A slot is free again.
    pub(super) fn end(&mut self, lane: &Lane, is_suspect: bool) {
        self.total = self.total.saturating_sub(1);
        if is_suspect {
            less(&mut self.suspects, lane.tenant);
        }
        less(&mut self.organizations, lane.tenant);
        less(&mut self.targets, (lane.tenant, lane.target.clone()));
    }

    /// Whether no slot is taken.
    pub(super) const fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Whether there is a slot at all.
    pub(super) const fn has_room(&self, bounds: &Bounds) -> bool {
        self.total < bounds.total
    }

    /// Whether there is a slot for an errand of this lane.
    fn admits(&self, ready: &ReadyLane, bounds: &Bounds) -> bool {
        let lane = &ready.lane;
        let target = self.targets.get(&(lane.tenant, lane.target.clone())).copied().unwrap_or(0);
        self.has_room(bounds)
            && self.organizations.get(&lane.tenant).copied().unwrap_or(0) < bounds.organization
            && target < bounds.target
            // One of an organisation at a time: it may be the one that ends the process, and another organisation's does
            // not wait for it.
            && !(ready.is_suspect && self.suspects.contains_key(&lane.tenant))
    }
}

/// Lanes that are served next, in turn over the organisations behind the one that was served last.
pub(super) fn pick(
    ready: Vec<ReadyLane>,
    load: &Load,
    bounds: &Bounds,
    served: Option<TenantId>,
) -> Vec<Claim> {
    let mut load = load.clone();
    let mut lanes: BTreeMap<TenantId, VecDeque<ReadyLane>> = BTreeMap::new();
    for one in ready {
        lanes.entry(one.lane.tenant).or_default().push_back(one);
    }
    let mut turns: VecDeque<TenantId> = lanes.keys().copied().collect();
    let before = turns.iter().take_while(|tenant| served.is_some_and(|served| **tenant <= served)).count();
    turns.rotate_left(before);
    let mut claims: Vec<Claim> = Vec::new();
    let mut places: HashMap<Lane, usize> = HashMap::new();
    while let Some(tenant) = turns.pop_front() {
        let Some(of) = lanes.get_mut(&tenant) else { continue };
        // Lanes without room now are left; those behind them may have some.
        let Some(next) = std::iter::from_fn(|| of.pop_front()).find(|one| load.admits(one, bounds)) else {
            continue;
        };
        load.begin(&next.lane, next.is_suspect);
        let in_order = next.lane.is_in_order();
        match places.get(&next.lane).and_then(|place| claims.get_mut(*place)) {
            Some(claim) => claim.most += 1,
            None => {
                // One that is under suspicion is taken without those behind it.
                let ahead = if in_order && !next.is_suspect { bounds.ahead.max(1) } else { 1 };
                places.insert(next.lane.clone(), claims.len());
                let most = i64::try_from(ahead).unwrap_or(1);
                claims.push(Claim { lane: next.lane.clone(), most });
            }
        }
        if !in_order && !next.is_suspect {
            of.push_back(next);
        }
        turns.push_back(tenant);
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_usecase::errand::ErrandKind;
    use std::time::Duration;
    use uuid::Uuid;

    const BOUNDS: Bounds = Bounds {
        total: 6,
        organization: 4,
        target: 2,
        ahead: 8,
        time_limit: Duration::from_secs(1),
        backlog: 10,
        oldest: Duration::from_secs(1),
    };

    fn lane(tenant: u128, target: &str, line: Option<&str>) -> ReadyLane {
        let tenant = TenantId(Uuid::from_u128(tenant));
        let (target, line) = (target.to_owned(), line.map(str::to_owned));
        ReadyLane { lane: Lane { tenant, kind: ErrandKind::Webhook, target, line }, is_suspect: false }
    }

    fn names(claims: &[Claim]) -> Vec<String> {
        let name = |claim: &Claim| {
            let line = claim.lane.line.clone().unwrap_or_default();
            format!("{}{}{line}*{}", claim.lane.tenant.0.as_u128(), claim.lane.target, claim.most)
        };
        claims.iter().map(name).collect()
    }

    #[test]
    fn organizations_are_served_in_turn_behind_the_last_one() {
        let ready = || {
            let flood = (0..100).map(|n| lane(1, &format!("t{n}"), Some("l")));
            flood.chain([lane(2, "a", Some("l")), lane(3, "a", Some("l"))]).collect()
        };
        let picked = |served: Option<u128>| {
            let served = served.map(|id| TenantId(Uuid::from_u128(id)));
            names(&pick(ready(), &Load::default(), &BOUNDS, served))
        };
        assert_eq!(picked(None), ["1t0l*8", "2al*8", "3al*8", "1t1l*8", "1t2l*8", "1t3l*8"]);
        assert_eq!(picked(Some(1))[..3], ["2al*8", "3al*8", "1t0l*8"]);
        assert_eq!(picked(Some(2))[..3], ["3al*8", "1t0l*8", "2al*8"]);
    }

    #[test]
    fn bounds_hold_by_kind_organization_and_target_and_free_slots_are_taken_again() {
        let flood: Vec<_> = (0..100).map(|n| lane(1, &format!("t{n}"), Some("l"))).collect();
        let picked = pick(flood.clone(), &Load::default(), &BOUNDS, None);
        assert_eq!(picked.len(), BOUNDS.organization, "the rest is for others");
        let mut load = Load::default();
        picked.iter().for_each(|claim| load.begin(&claim.lane, false));
        assert!(pick(flood.clone(), &load, &BOUNDS, None).is_empty());
        assert_eq!(names(&pick(vec![lane(2, "a", Some("l"))], &load, &BOUNDS, None)), ["2al*8"]);
        load.end(&picked[0].lane, false);
        assert_eq!(pick(flood, &load, &BOUNDS, None).len(), 1);
        // Lines of one target share its bound, and so do errands without an order.
        let lines: Vec<_> = ["x", "y", "z"].map(|line| lane(1, "t", Some(line))).into();
        assert_eq!(names(&pick(lines, &Load::default(), &BOUNDS, None)), ["1tx*8", "1ty*8"]);
        let many = vec![lane(1, "t", None), lane(2, "t", None)];
        assert_eq!(names(&pick(many, &Load::default(), &BOUNDS, None)), ["1t*2", "2t*2"]);
    }

    #[test]
    fn what_may_end_the_process_is_done_one_at_a_time() {
        let suspect = |target| ReadyLane { is_suspect: true, ..lane(1, target, Some("l")) };
        let ready = vec![suspect("a"), suspect("b"), lane(1, "c", Some("l"))];
        let mut load = Load::default();
        assert_eq!(names(&pick(ready.clone(), &load, &BOUNDS, None)), ["1al*1", "1cl*8"]);
        load.begin(&ready[0].lane, true);
        assert_eq!(names(&pick(ready.clone(), &load, &BOUNDS, None)), ["1cl*8"]);
        let other = ReadyLane { is_suspect: true, ..lane(2, "a", Some("l")) };
        assert_eq!(names(&pick(vec![other], &load, &BOUNDS, None)), ["2al*1"], "another's does not wait");
        load.end(&ready[0].lane, true);
        assert_eq!(pick(ready, &load, &BOUNDS, None).len(), 2);
    }
}
