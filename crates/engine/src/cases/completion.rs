//! Completion of stages and of the case (clause 8.6.1), and listeners that nothing is left for.

use super::CaseMachine;
use crate::core::StepFault;
use crate::event::{EventKind, IncidentCode, ItemState, RunError};
use crate::{LocalId, Rejection};
use heddle_cmmn::plan::{
    CriterionIx, Item, ItemEvent, ItemIx, PLAN_MODEL, ParentCompletion, Rule, Source, Work,
};
use serde_json::{Map, Value};

impl CaseMachine<'_> {
    /// Completes stages in which nothing is left to do; answers whether one did.
    pub(super) fn close_stages(&mut self) -> Result<bool, Rejection> {
        // Each once, and what is inside before what is around it.
        self.touched.sort_unstable();
        self.touched.dedup();
        while let Some(id) = self.touched.pop() {
            if self.state.item(id).is_none_or(|own| own.state != ItemState::Active) {
                continue;
            }
            match self.blockers(id, false, 1) {
                Ok(blockers) if blockers.is_empty() => {
                    self.complete_stage(id)?;
                    return Ok(true);
                }
                Ok(_) => {}
                Err(fault) => self.stopped(id, fault)?,
            }
        }
        Ok(false)
    }

    /// Completes a stage or the case.
    pub(super) fn complete_stage(&mut self, id: LocalId) -> Result<(), Rejection> {
        if id == LocalId::ROOT {
            return self.end_case(ItemEvent::Complete, None, None);
        }
        self.finish(id, Map::new(), true)
    }

    /// Items that keep a stage from completing, by their ids, and not more than `most` of them; `by_hand` is the completion
    /// by a user, for which only what is active or required counts.
    pub(super) fn blockers(&self, id: LocalId, by_hand: bool, most: usize) -> Result<Vec<String>, StepFault> {
        let (_, stage) = self.item_of(id)?;
        let auto = matches!(stage.work, Work::Stage { auto_complete: true }) || by_hand;
        let mut found = Vec::new();
        let mut children = self.children(id);
        if most > 1 {
            // As they stand in the model.
            children.sort_by_key(|child| self.places.get(child).copied());
        }
        for child in children {
            let (ix, item) = self.item_of(child)?;
            if !self.is_ignored(id, child, item)? && self.holds_back(id, child, ix, item, [auto, by_hand]) {
                found.push(item.id.to_string());
                if found.len() >= most {
                    return Ok(found);
                }
            }
        }
        if !auto && found.is_empty() {
            for &ix in &stage.table {
                if let Some(item) = self.plan_item(ix)
                    && self.is_left_to_plan(ix, item, id)
                {
                    found.push(item.id.to_string());
                }
            }
        }
        Ok(found)
    }

    /// Whether a child keeps its stage from completing. One that failed does not by the standard; one whose failure waits for
    /// a decision does, unless somebody completes the stage by hand, so that no failure goes by unseen.
    fn holds_back(
        &self,
        stage: LocalId,
        child: LocalId,
        ix: ItemIx,
        item: &Item,
        [auto, by_hand]: [bool; 2],
    ) -> bool {
        let Some(own) = self.state.item(child) else { return false };
        let listens = self.is_listener(item);
        match own.state {
            ItemState::Active => true,
            // Of what is suspended the standard counts what is required, and without autoComplete all of it.
            ItemState::Suspended => !auto || own.required,
            ItemState::Failed => {
                !by_hand && self.state.incidents.iter().any(|incident| incident.instance == Some(child))
            }
            ItemState::Disabled | ItemState::Completed | ItemState::Terminated | ItemState::Closed => false,
            ItemState::Available | ItemState::Enabled if auto => own.required && !own.repeats,
            ItemState::Available | ItemState::Enabled => !(listens && self.is_orphaned(ix, stage)),
        }
    }

    /// Whether vendors' words let a stage complete as if the item were not there.
    fn is_ignored(&self, stage: LocalId, child: LocalId, item: &Item) -> Result<bool, StepFault> {
        let state = self.item(child)?.state;
        let is_idle = matches!(state, ItemState::Available | ItemState::Enabled);
        let is_done =
            || Ok::<_, Rejection>(self.case()?.tally(stage, &item.id).is_some_and(|own| own.completed > 0));
        let ignored = match item.control.parent_completion {
            ParentCompletion::Standard => matches!(item.work, Work::Reactivation { .. }),
            ParentCompletion::Ignore => true,
            ParentCompletion::IgnoreIfAvailable => state == ItemState::Available,
            ParentCompletion::IgnoreAfterFirstCompletion => is_done()?,
            ParentCompletion::IgnoreIfAvailableOrEnabled => is_idle,
            ParentCompletion::IgnoreAfterFirstCompletionIfAvailableOrEnabled => is_idle && is_done()?,
        };
        if ignored || state != ItemState::Available {
            return Ok(ignored);
        }
        match &item.control.completion_neutral {
            Some(rule) => self.rule(rule, self.inner(child)),
            None => Ok(false),
        }
    }

    /// Whether nothing is left that a listener could trigger in its stage.
    fn is_orphaned(&self, listener: ItemIx, stage: LocalId) -> bool {
        let Ok((stage_ix, _)) = self.item_of(stage) else { return false };
        let criteria = self.plan.on_item.get(&listener).map(Vec::as_slice).unwrap_or_default();
        let matters = criteria.iter().filter_map(|ix| self.criterion(*ix)).any(|(criterion, _)| {
            let mut there = self.live(criterion.item).iter().filter_map(|id| self.state.item(*id));
            let waits = if criterion.is_exit {
                // The exit of the stage that is about to complete is nothing that is left.
                criterion.item != stage_ix && criterion.item != PLAN_MODEL && there.next().is_some()
            } else {
                there.any(|own| own.state == ItemState::Available) || self.may_repeat(criterion.item, stage)
            };
            waits || self.may_begin(criterion.item, stage_ix)
        });
        let starts = self.conditional.iter().any(|&timer| {
            let work = self.plan_item(timer).map(|own| &own.work);
            let Some(Work::Timer { start: Some(start), .. }) = work else { return false };
            let by_it = matches!(&start.source, Source::Item { item, .. } if *item == listener);
            by_it && !self.available(timer).is_empty()
        });
        !matters && !starts
    }

    /// Whether an item of a stage comes again whenever an entry criterion is met.
    fn may_repeat(&self, ix: ItemIx, stage: LocalId) -> bool {
        let Some(item) = self.plan_item(ix) else { return false };
        let was_there = || self.case().is_ok_and(|case| case.tally(stage, &item.id).is_some());
        !matches!(item.control.repetition, Rule::No) && (item.discretionary.is_none() || was_there())
    }

    /// Whether a stage around an item, within another stage, has yet to begin.
    fn may_begin(&self, item: ItemIx, stage: ItemIx) -> bool {
        let mut next = self.plan_item(item).and_then(|own| own.parent);
        while let Some(ix) = next.filter(|ix| *ix != stage) {
            let mut there = self.live(ix).iter().filter_map(|id| self.state.item(*id));
            if there.any(|own| matches!(own.state, ItemState::Available | ItemState::Enabled)) {
                return true;
            }
            next = self.plan_item(ix).and_then(|own| own.parent);
        }
        false
    }

    /// Ends the case.
    pub(super) fn end_case(
        &mut self,
        event: ItemEvent,
        criterion: Option<CriterionIx>,
        reason: Option<String>,
    ) -> Result<(), Rejection> {
        if event == ItemEvent::Complete
            && let Err(exceeded) = self.admit_end()
        {
            let message = format!("{exceeded}, at the end of the case");
            self.raise_at_case(IncidentCode::Limit, &message);
            return Ok(());
        }
        let output = match event {
            ItemEvent::Complete => match self.output() {
                Ok(output) => output,
                // The case stays, behind an incident: whoever called it would get something else.
                Err(fault) => return self.stopped(LocalId::ROOT, fault),
            },
            _ => Map::new(),
        };
        self.transit(LocalId::ROOT, event, criterion)?;
        let by = self.actor();
        let ended = match event {
            ItemEvent::Complete => EventKind::RunCompleted { output },
            ItemEvent::Fault => {
                let message = reason.unwrap_or_else(|| "somebody said that the case has failed".to_owned());
                let (code, node_id) = ("fault".into(), self.plan.id.clone());
                EventKind::RunFailed { error: RunError { code, message, node_id } }
            }
            _ => EventKind::RunCancelled { reason, by },
        };
        let spot = crate::core::Spot::default();
        self.emit(spot, ended);
        Ok(())
    }

    /// Output parameters of the case; all of its variables where it declares none.
    fn output(&self) -> Result<Map<String, Value>, StepFault> {
        let variables = self.variables(LocalId::ROOT);
        if self.plan.outputs.is_empty() {
            return Ok(self.state.variables().cloned().unwrap_or_default());
        }
        let mut given = Map::new();
        for own in &self.plan.outputs {
            let bound = own.bound.and_then(|ix| self.file_value(ix));
            let value = match &own.refinement {
                Some(refinement) => Some(heddle_feel::to_json(&self.evaluate(refinement, &variables)?.0)),
                None => bound.or_else(|| self.state.variables()?.get(&*own.name)).cloned(),
            };
            given.extend(value.map(|value| (own.name.to_string(), value)));
        }
        Ok(given)
    }
}
