//! Sentries (clauses 5.4.7 and 8.5): what is remembered of their on-parts, and what they cause.

use super::items::Creation;
use super::{CaseMachine, Moved, Todo};
use crate::core::{Spot, StepFault};
use crate::event::{EventKind, IncidentCode, ItemState, Phase, Resolution};
use crate::{LocalId, Rejection};
use heddle_cmmn::plan::{
    Criterion, CriterionIx, ExitEvent, ExitKind, FileEvent, FileIx, ItemEvent, ItemIx, PLAN_MODEL, Rule,
    Sentry, Source, Work,
};
use serde_json::json;

impl<'p> CaseMachine<'p> {
    /// An item made a transition: the criteria that wait for it are looked at, those of exits first.
    pub(super) fn item_moved(&mut self, moved: &Moved) -> Result<(), Rejection> {
        self.start_timers(|source| fits(source, moved))?;
        let Some(criteria) = self.plan.on_item.get(&moved.item) else { return Ok(()) };
        self.all(criteria, Some(moved), |source| fits(source, moved))
    }

    /// A case file item made a transition.
    pub(super) fn file_changed(&mut self, file: FileIx, event: FileEvent) -> Result<(), Rejection> {
        let fits = |source: &Source| matches!(source, Source::File { item, event: own } if *item == file && *own == event);
        self.start_timers(fits)?;
        let Some(criteria) = self.plan.on_file.get(&file) else { return Ok(()) };
        self.all(criteria, None, fits)
    }

    fn all(
        &mut self,
        criteria: &'p [CriterionIx],
        source: Option<&Moved>,
        fits: impl Fn(&Source) -> bool,
    ) -> Result<(), Rejection> {
        for exits in [true, false] {
            for &ix in criteria {
                let Some((criterion, sentry)) = self.criterion(ix).filter(|(own, _)| own.is_exit == exits)
                else {
                    continue;
                };
                for owner in self.owners(criterion, source) {
                    if source.is_some_and(|source| !self.shares(source, owner, criterion)) {
                        continue;
                    }
                    for (part, on) in (0..).zip(&sentry.on) {
                        if fits(&on.source) {
                            self.occurred(ix, owner, part)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn criterion(&self, ix: CriterionIx) -> Option<(&'p Criterion, &'p Sentry)> {
        let criterion = self.plan.criteria.get(ix as usize)?;
        Some((criterion, self.plan.sentries.get(criterion.sentry as usize)?))
    }

    /// Instances for which a criterion is kept: of an exit criterion those of its item, of an entry criterion the stages
    /// in which the item may begin. What moved in a stage concerns, of the other items of that stage, those of the same
    /// instance alone.
    fn owners(&self, criterion: &Criterion, moved: Option<&Moved>) -> Vec<LocalId> {
        let Some(item) = self.plan_item(criterion.item) else { return Vec::new() };
        let is_beside = |ix: ItemIx| self.plan_item(ix).is_some_and(|own| own.parent == item.parent);
        let stage = moved.filter(|moved| is_beside(moved.item)).and_then(|moved| moved.parent);
        let own = self.live(criterion.item);
        let beside = stage.and_then(|id| self.within.get(&id)).filter(|beside| beside.len() < own.len());
        let near = beside.map_or(own, Vec::as_slice).iter();
        let near = near.filter(|id| beside.is_none() || self.places.get(*id) == Some(&criterion.item));
        let there = near.filter_map(|id| self.state.item(*id));
        let there = there.filter(|own| stage.is_none() || own.parent == stage);
        if criterion.is_exit {
            return there.map(|own| own.id).collect();
        }
        let repeats = !matches!(item.control.repetition, Rule::No);
        let mut waiting: Vec<LocalId> = Vec::new();
        if !repeats {
            let available = there.filter(|own| own.state == ItemState::Available);
            waiting.extend(available.filter_map(|own| own.parent));
            waiting.sort_unstable();
        }
        let waits = |stage: &LocalId| match (repeats, item.discretionary.is_some()) {
            // What was never planned does not come.
            (true, true) => self.case().is_ok_and(|case| case.tally(*stage, &item.id).is_some()),
            (true, false) => true,
            (false, _) => waiting.binary_search(stage).is_ok(),
        };
        let is_open = |id: &LocalId| self.state.item(*id).is_some_and(|own| own.state == ItemState::Active);
        let all = self.live(item.parent.unwrap_or(PLAN_MODEL));
        let stages = if stage.is_some() { stage.as_slice() } else { all };
        stages.iter().copied().filter(|id| is_open(id) && waits(id)).collect()
    }

    /// Whether what moved stands in the same instance of the innermost stage around both.
    fn shares(&self, source: &Moved, owner: LocalId, criterion: &Criterion) -> bool {
        let Ok(case) = self.case() else { return false };
        // By far the most items wait for others of their own stage.
        if !criterion.is_exit && source.parent == Some(owner) {
            return true;
        }
        let is_stage =
            |id: LocalId| self.item_of(id).is_ok_and(|(_, item)| matches!(item.work, Work::Stage { .. }));
        // An entry criterion is kept for its stage, and one of a stage's exit watches what is in it.
        let own = case.item(owner).filter(|_| !criterion.is_exit || is_stage(owner));
        let own: Vec<_> = own.into_iter().chain(case.around(owner)).collect();
        let moved = case.item(source.id).filter(|_| is_stage(source.id));
        let parent = source.parent.and_then(|id| case.item(id));
        let around = source.parent.into_iter().flat_map(|id| case.around(id));
        for stage in moved.into_iter().chain(parent).chain(around) {
            if let Some(same) = own.iter().find(|one| one.item == stage.item) {
                return same.id == stage.id;
            }
        }
        false
    }

    /// An on-part occurred.
    fn occurred(&mut self, ix: CriterionIx, owner: LocalId, part: u32) -> Result<(), Rejection> {
        let Some((criterion, sentry)) = self.criterion(ix) else { return Ok(()) };
        if sentry.on_event {
            let parts = self.fleeting.entry((owner, ix)).or_default();
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        let is_new = !self.known(ix, criterion, owner, part) || sentry.on_event;
        let whole =
            (0..).zip(&sentry.on).all(|(other, _)| other == part || self.known(ix, criterion, owner, other));
        if whole && self.if_part(criterion, sentry, owner)? {
            return self.fire(ix, owner);
        }
        if is_new && !sentry.on_event {
            let spot = self.owner_spot(criterion.item, owner);
            self.emit(spot, EventKind::OnPartOccurred { criterion: criterion.id.clone(), part });
        }
        Ok(())
    }

    /// Whether an on-part has occurred.
    fn known(&self, ix: CriterionIx, criterion: &Criterion, owner: LocalId, part: u32) -> bool {
        if self.fleeting.get(&(owner, ix)).is_some_and(|parts| parts.contains(&part)) {
            return true;
        }
        let case = self.state.case.as_deref();
        case.and_then(|case| case.memory(owner, &criterion.id)).is_some_and(|own| own.parts.contains(&part))
    }

    /// Whether the if-part holds; one that cannot be told is an incident until it can, and does not hold.
    fn if_part(&mut self, criterion: &Criterion, sentry: &Sentry, owner: LocalId) -> Result<bool, Rejection> {
        let Some(condition) = &sentry.condition else { return Ok(true) };
        let scope = self.inner(owner);
        let is_about = |own: &&crate::state::IncidentState| {
            let about = own.failure.as_ref().and_then(|own| own.get("criterion")?.as_str());
            own.instance == Some(owner) && about == Some(&*criterion.id)
        };
        let open = self.state.incidents.iter().find(is_about).map(|own| own.id);
        match (self.part(condition, scope), open) {
            (Ok(holds), None) => Ok(holds),
            (Ok(holds), Some(incident_id)) => {
                let (spot, by) = (self.spot(owner), self.actor());
                let resolution = Resolution::Obsolete;
                self.emit(spot, EventKind::IncidentResolved { incident_id, resolution, by });
                Ok(holds)
            }
            (Err(StepFault::Rejected(rejection)), _) => Err(rejection),
            (Err(StepFault::Incident(IncidentCode::ExpressionError, _)), Some(_)) => Ok(false),
            (Err(StepFault::Incident(code, message)), _) => {
                let message = format!("the criterion `{}`: {message}", criterion.id);
                let about = json!({ "criterion": &*criterion.id });
                self.raise(owner, code, &message, Phase::Tokens, Some(about));
                Ok(false)
            }
        }
    }

    /// Looks at the sentries that read data.
    pub(super) fn data_round(&mut self) -> Result<(), Rejection> {
        self.settle_listeners()?;
        let plan = self.plan;
        for &ix in &plan.on_data {
            let Some((criterion, _)) = self.criterion(ix) else { continue };
            for owner in self.owners(criterion, None) {
                if self.halted || self.steps.is_stopped() {
                    return Ok(());
                }
                self.settle_data(ix, owner, false)?;
            }
        }
        Ok(())
    }

    /// Looks at the criteria of a new instance whose sentries have an if-part alone.
    pub(super) fn look_at_new(&mut self, id: LocalId) -> Result<(), Rejection> {
        let Some(own) = self.state.item(id).filter(|own| !own.state.is_ended()) else { return Ok(()) };
        let (fresh, parent) = (!own.repeats, own.parent.unwrap_or(LocalId::ROOT));
        let (_, item) = self.item_of(id)?;
        for &ix in item.exit.iter().chain(&item.entry) {
            let Some((criterion, sentry)) = self.criterion(ix) else { continue };
            let is_there = self.state.item(id).is_some_and(|own| !own.state.is_ended());
            if sentry.on.is_empty() && is_there {
                self.settle_data(ix, if criterion.is_exit { id } else { parent }, fresh)?;
            }
        }
        Ok(())
    }

    fn settle_data(&mut self, ix: CriterionIx, owner: LocalId, fresh: bool) -> Result<(), Rejection> {
        let Some((criterion, sentry)) = self.criterion(ix) else { return Ok(()) };
        let whole = (0..).zip(&sentry.on).all(|(part, _)| self.known(ix, criterion, owner, part));
        if !whole {
            return Ok(());
        }
        let case = self.state.case.as_deref();
        let held = case.and_then(|case| case.memory(owner, &criterion.id)).is_some_and(|own| own.held);
        let holds = self.if_part(criterion, sentry, owner)?;
        match (holds, held && sentry.on.is_empty()) {
            (true, true) if !fresh => Ok(()),
            (true, _) => self.fire(ix, owner),
            (false, true) => {
                let spot = self.owner_spot(criterion.item, owner);
                self.emit(spot, EventKind::SentryReset { criterion: criterion.id.clone() });
                Ok(())
            }
            (false, false) => Ok(()),
        }
    }

    /// Place of what a sentry remembers: at the item, for the instance that it is kept for.
    fn owner_spot(&self, item: ItemIx, owner: LocalId) -> Spot {
        let node = self.plan_item(item).map(|own| own.id.clone());
        Spot { node, instance: Some(owner), scope: Some(self.inner(owner)), attempt: None }
    }

    /// A sentry is satisfied at a criterion.
    fn fire(&mut self, ix: CriterionIx, owner: LocalId) -> Result<(), Rejection> {
        let Some((criterion, sentry)) = self.criterion(ix) else { return Ok(()) };
        self.fleeting.remove(&(owner, ix));
        let spot = self.owner_spot(criterion.item, owner);
        let satisfied = EventKind::SentrySatisfied {
            criterion: criterion.id.clone(),
            sentry: sentry.id.clone(),
            by_condition: sentry.on.is_empty(),
        };
        self.emit(spot, satisfied);
        if criterion.is_exit {
            return self.exit(owner, ix);
        }
        let mut there = self.live(criterion.item).iter().copied();
        let waits = |id: &LocalId| {
            self.state
                .item(*id)
                .is_some_and(|own| own.parent == Some(owner) && own.state == ItemState::Available)
        };
        if let Some(id) = there.find(waits) {
            return self.entry_met(id, Some(ix));
        }
        self.enter_again(ix, criterion.item, owner)
    }

    /// An entry criterion is met again where no instance waits for it: the rule says whether one more comes.
    fn enter_again(&mut self, ix: CriterionIx, item_ix: ItemIx, stage: LocalId) -> Result<(), Rejection> {
        let Some(item) = self.plan_item(item_ix) else { return Ok(()) };
        if !self.has_room(item_ix, item, stage) {
            return Ok(());
        }
        let scope = self.inner(stage);
        match self.rule(&item.control.repetition, scope) {
            Ok(true) => {
                let planned = item.discretionary.is_some();
                let id = self.create(item_ix, stage, Creation { planned, ..Creation::default() })?;
                self.entry_met(id, Some(ix))
            }
            Ok(false) => Ok(()),
            Err(fault) => self.trouble(stage, fault),
        }
    }

    /// An exit criterion is met.
    fn exit(&mut self, id: LocalId, ix: CriterionIx) -> Result<(), Rejection> {
        let (item_ix, item) = self.item_of(id)?;
        let state = self.item(id)?.state;
        let goes = match item.extra.exit {
            ExitKind::All => true,
            ExitKind::Active => state == ItemState::Active,
            ExitKind::ActiveAndEnabled => matches!(state, ItemState::Active | ItemState::Enabled),
        };
        if !goes {
            return Ok(());
        }
        let completes = match item.extra.exit_event {
            ExitEvent::Exit => false,
            ExitEvent::ForceComplete => state == ItemState::Active,
            ExitEvent::Complete => match self.blockers(id, true, 1) {
                // What may not complete stays as it is.
                Ok(blockers) if !blockers.is_empty() || state != ItemState::Active => return Ok(()),
                Ok(_) => true,
                Err(fault) => return self.trouble(id, fault),
            },
        };
        let event = if completes { ItemEvent::Complete } else { self.exit_event(item) };
        if item_ix == PLAN_MODEL {
            return self.end_case(event, Some(ix), None);
        }
        let (cycle, before) = (self.cycle(item_ix, item), self.item(id)?.before);
        if super::transition(cycle, state, before, event).is_none() {
            return Ok(());
        }
        self.transit(id, event, Some(ix))
    }

    /// A new instance is looked at when its turn comes.
    pub(super) fn look_at(&mut self, id: LocalId) {
        self.todo.push_back(Todo::Look(id));
    }
}

/// Whether a source means a transition of an item.
fn fits(source: &Source, moved: &Moved) -> bool {
    match source {
        Source::Item { item, event, exit } => {
            let by_exit = exit.is_none() || *exit == moved.criterion;
            *item == moved.item && *event == moved.event && by_exit
        }
        Source::File { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Core;
    use crate::state::State;
    use crate::{Command, RunContext, Trigger, step};
    use heddle_kernel::{Budget, RunId, Timestamp};
    use serde_json::Value;
    use std::collections::BTreeMap;

    const STAGES: usize = 40;

    fn context() -> RunContext {
        RunContext {
            run_id: RunId(uuid::Uuid::from_u128(1)),
            now: Timestamp::from_micros(0),
            correlation_key: None,
            actor: None,
            decisions: None,
            elsewhere: None,
            hops: 0,
            budget: Budget::DEFAULT,
            remark: None,
            stores: BTreeMap::new(),
            roles: Vec::new(),
            people: BTreeMap::new(),
        }
    }

    /// A stage for each element of a collection; in each `b` waits for `a`, and ends with `c`.
    fn model() -> Value {
        let on = |id: &str, source: &str| {
            json!({"id": id, "onParts": [
                {"type": "planItemOnPart", "sourceRef": source, "standardEvent": "complete"}]})
        };
        json!({"cases": [{"id": "c", "casePlanModel": {
        "id": "m", "type": "casePlanModel",
        "items": [{"id": "s", "definitionRef": "stage", "itemControl": {
            "repetitionRule": {"configuration": {"collection": "all"}}}}],
        "definitions": [
            {"id": "t", "type": "humanTask"},
            {"id": "stage", "type": "stage", "sentries": [on("y", "a"), on("z", "c")], "items": [
                {"id": "a", "definitionRef": "t"}, {"id": "c", "definitionRef": "t"},
                {"id": "b", "definitionRef": "t", "entryCriteria": [{"id": "in", "sentryRef": "y"}],
                 "exitCriteria": [{"id": "out", "sentryRef": "z"}]}]}
        ]}}]})
    }

    #[test]
    fn what_moves_in_one_of_many_stages_looks_at_that_stage_alone() {
        let compiled = heddle_cmmn::compile(&serde_json::from_value(model()).unwrap());
        let plan = compiled.cases.first().unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics));
        let all: Vec<usize> = (0..STAGES).collect();
        let input = json!({ "all": all }).as_object().cloned().unwrap();
        let (start, cx) =
            (Command::Start { trigger: Trigger::Manual { start_node: None }, input }, context());
        let state = step(plan, &State::new(), start, &cx).unwrap().state;
        let machine = CaseMachine::new(plan, Core::new(state, &cx));
        let ix = |id: &str| *plan.item_ids.get(id).unwrap();
        let sources: Vec<LocalId> = machine.live(ix("a")).to_vec();
        assert_eq!((sources.len(), machine.live(ix("b")).len()), (STAGES, STAGES));
        let mut looked = 0;
        for (name, is_exit) in [("a", false), ("c", true)] {
            let mut criteria = plan.criteria.iter();
            let criterion = criteria.find(|own| own.is_exit == is_exit).unwrap();
            for &id in machine.live(ix(name)) {
                let parent = machine.state.item(id).and_then(|own| own.parent);
                let event = ItemEvent::Complete;
                let owners = machine
                    .owners(criterion, Some(&Moved { id, item: ix(name), event, criterion: None, parent }));
                let own = owners.iter().map(|own| {
                    if is_exit { machine.state.item(*own).and_then(|own| own.parent) } else { Some(*own) }
                });
                assert_eq!(own.collect::<Vec<_>>(), [parent]);
                looked += owners.len();
            }
            // Data concern all of them.
            assert_eq!(machine.owners(criterion, None).len(), STAGES);
        }
        assert_eq!(looked, 2 * STAGES);
    }
}
