//! Compensation (clauses 10.7 and 13.5.5) and cancelled transactions (clause 13.3.4).
//!
//! What completed and can be compensated is kept as a record, with a snapshot of its variables where handlers see them. A
//! throw takes the records that it means as the steps of one compensation, in reverse order of completion, and each step
//! waits for the one before. A completed sub-process is restored for the compensation of what is in it: a scope with its
//! snapshot, in which its records are compensated in the same way.

use super::leave::Completion;
use super::{At, Machine, StepFault};
use crate::event::{BodyKind, CancelReason, CompensationStep, EventKind, Phase};
use crate::size::COMPENSATION_STEP;
use crate::state::{Cancelling, Record, Stage};
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{Compensate, NodeIx, Start, Throw, Trigger, Work};
use std::collections::HashSet;

impl Machine<'_> {
    /// Keeps what the compensation of a node instance that completes will need. What compensates is not compensated
    /// itself.
    pub(super) fn record_for_compensation(&mut self, ix: NodeIx, id: LocalId) {
        let node = self.graph.node(ix);
        let Ok((_, at)) = self.at(id) else { return };
        let Some(own) = self.state.instance(id) else { return };
        if own.compensates.is_some() || node.for_compensation {
            return;
        }
        let body = own.body.as_ref().is_some_and(|body| body.kind != BodyKind::AdHoc);
        let holds = (body || node.work.content().is_some()) && self.state.has_records(id);
        // The handler of a body is that of each of its instances.
        let handled = node.compensation.is_some() && !body;
        if holds || handled {
            let snapshot = holds || own.iteration.is_some() || self.event_handler(ix).is_some();
            self.emit(at, EventKind::CompensationRecorded { snapshot });
        }
    }

    /// The event sub-process that compensates a sub-process.
    fn event_handler(&self, ix: NodeIx) -> Option<NodeIx> {
        let handler = self.graph.node(ix).compensation?;
        matches!(self.graph.node(handler).work, Work::EventSubProcess { .. }).then_some(handler)
    }

    /// The activity that compensates an activity.
    fn activity_handler(&self, ix: NodeIx) -> Option<NodeIx> {
        let handler = self.graph.node(ix).compensation?;
        (!matches!(self.graph.node(handler).work, Work::EventSubProcess { .. })).then_some(handler)
    }

    /// Compensates an activity, or all that has completed in the scope of the event.
    pub(super) fn throw_compensation(&mut self, id: LocalId, what: &Compensate) -> Result<(), StepFault> {
        let steps = self.steps_of_throw(id, what.activity.as_deref(), None)?;
        if steps.is_empty() {
            return Ok(self.leave(id)?);
        }
        self.start_compensation(id, steps, what.wait)?;
        if what.wait { Ok(()) } else { Ok(self.leave(id)?) }
    }

    fn start_compensation(
        &mut self,
        id: LocalId,
        steps: Vec<CompensationStep>,
        waits: bool,
    ) -> Result<(), StepFault> {
        self.admit_told(steps.len() as u64 * COMPENSATION_STEP)?;
        Ok(self.tell_compensation(id, steps, waits)?)
    }

    fn tell_compensation(
        &mut self,
        id: LocalId,
        steps: Vec<CompensationStep>,
        waits: bool,
    ) -> Result<(), Rejection> {
        let (_, at) = self.at(id)?;
        let compensation_id = self.next_id();
        self.emit(at, EventKind::CompensationStarted { compensation_id, steps, waits });
        Ok(())
    }

    /// The scopes whose content an event compensates: its own, and for an event sub-process the one around that.
    fn levels(&self, id: LocalId) -> Result<Vec<LocalId>, Rejection> {
        let mut found = Vec::new();
        let mut scope = self.instance(id)?.scope;
        loop {
            found.push(scope);
            if scope == LocalId::ROOT {
                return Ok(found);
            }
            let own = self.instance(scope)?;
            let by_event =
                matches!(self.graph.node(self.node(&own.node)?).work, Work::EventSubProcess { .. });
            if !by_event || own.restored {
                return Ok(found);
            }
            scope = own.scope;
        }
    }

    /// The steps that compensate an activity, or all that has completed in the scopes of an event and in the one `beside`.
    fn steps_of_throw(
        &self,
        id: LocalId,
        activity: Option<&str>,
        beside: Option<LocalId>,
    ) -> Result<Vec<CompensationStep>, StepFault> {
        self.charge_records()?;
        let mut levels = self.levels(id)?;
        levels.extend(beside);
        let mut wanted = activity;
        // The activity around the event stands for all that is in it.
        let around =
            |level: &&LocalId| self.state.instance(**level).is_some_and(|own| wanted == Some(&*own.node));
        if let Some(level) = levels.iter().find(around).copied() {
            levels = vec![level];
            wanted = None;
        }
        let taken = self.state.flow.compensations.iter().flat_map(|own| &own.steps);
        let taken: HashSet<LocalId> = taken.map(|step| step.record).collect();
        let meant = |record: &&Record| {
            levels.contains(&record.scope)
                && !taken.contains(&record.id)
                && wanted.is_none_or(|wanted| *record.node == *wanted)
        };
        Ok(self.steps_of(self.state.flow.records.iter().rev().filter(meant))?)
    }

    /// Counts the work of looking through what can be compensated.
    fn charge_records(&self) -> Result<(), StepFault> {
        let records = self.state.flow.records.len() as u64;
        let charged = self.steps.charge(records / 8);
        charged
            .map_err(|limit| crate::core::budgets::reached(limit, |own| super::expression(own.to_string())))
    }

    /// The steps that compensate what was recorded, in the same order: what is in a sub-process before the sub-process.
    fn steps_of<'r>(
        &self,
        records: impl Iterator<Item = &'r Record>,
    ) -> Result<Vec<CompensationStep>, Rejection> {
        let holding: HashSet<LocalId> = self.state.flow.records.iter().map(|record| record.scope).collect();
        let mut steps = Vec::new();
        for record in records {
            let ix = self.node(&record.node)?;
            let (record_id, scope) = (record.id, record.scope);
            let step = |ix: NodeIx, restores: bool| {
                let node_id = self.graph.node(ix).id.clone();
                CompensationStep { record: record_id, node_id, scope, restores }
            };
            let restores = record.body
                || record.iteration
                || holding.contains(&record.id)
                || self.event_handler(ix).is_some();
            if restores {
                steps.push(step(ix, true));
            }
            // An instance of a body has its own handler, which sees its variables.
            if let Some(handler) = self.activity_handler(ix).filter(|_| !record.body && !record.iteration) {
                steps.push(step(handler, false));
            }
        }
        Ok(steps)
    }

    /// Does the next step of a compensation that waits for it; answers whether there was one.
    pub(super) fn compensate_next(&mut self) -> Result<bool, Rejection> {
        let waits = self.state.flow.compensations.iter().find(|own| own.running.is_none());
        let Some((id, owner, scope, step)) =
            waits.map(|own| (own.id, own.owner, own.scope, own.steps.last().cloned()))
        else {
            return Ok(false);
        };
        if self.halted || self.is_stopped() {
            return Ok(false);
        }
        let Some(step) = step else {
            self.compensated(id, owner, scope)?;
            return Ok(true);
        };
        let ix = self.node(&step.node_id)?;
        if let Some(stop) = self.next_stop() {
            self.stop_at_limit(ix, &stop);
            return Ok(false);
        }
        if step.restores {
            self.restore(ix, &step)?;
        } else {
            self.handle(ix, &step)?;
        }
        Ok(true)
    }

    /// Activates a handler.
    fn handle(&mut self, ix: NodeIx, step: &CompensationStep) -> Result<(), Rejection> {
        let node = self.graph.node(ix);
        let (element, name) = (node.element, node.name.clone());
        let kind = EventKind::NodeActivated {
            element,
            name,
            via: Vec::new(),
            iteration: None,
            compensates: Some(step.record),
        };
        let id = self.begin(ix, step.scope, kind);
        let Work::EventSubProcess { scope: content, start } = node.work else { return self.enter(ix, id) };
        self.open_scope(ix, id);
        self.touched.push(id);
        match self.listeners(content, id) {
            Ok(waits) => self.open(waits, id),
            Err(fault) => self.fault(id, fault, Phase::Enter)?,
        }
        self.activate(start, id, &[])
    }

    /// Opens a completed node instance again, and begins the compensation of what is in it.
    fn restore(&mut self, ix: NodeIx, step: &CompensationStep) -> Result<(), Rejection> {
        let iteration = self.state.recorded(step.record).is_some_and(|record| record.iteration);
        let body = self.state.recorded(step.record).is_some_and(|record| record.body);
        let inside =
            self.state.flow.records.iter().filter(|record| record.scope == step.record).count() as u64;
        let admitted =
            self.charge_records().and_then(|()| Ok(self.admit_told((inside + 1) * 2 * COMPENSATION_STEP)?));
        match admitted {
            Ok(()) => {}
            Err(StepFault::Rejected(rejection)) => return Err(rejection),
            // Nothing has happened yet: the step is done when the incident is retried.
            Err(StepFault::Incident(_, message)) => {
                self.stop_at_limit(ix, &message);
                return Ok(());
            }
        }
        let element = self.graph.node(ix).element;
        let id = self.begin(ix, step.scope, EventKind::NodeRestored { element, compensates: step.record });
        let handler = |handler: NodeIx| CompensationStep {
            record: step.record,
            node_id: self.graph.node(handler).id.clone(),
            scope: id,
            restores: false,
        };
        let steps = match self.event_handler(ix).filter(|_| !body) {
            Some(own) => vec![handler(own)],
            None => {
                let holds = body || element.is_sub_process();
                let inside = self.state.flow.records.iter().rev();
                let mut steps = self.steps_of(inside.filter(|record| holds && record.scope == id))?;
                steps.extend(self.activity_handler(ix).filter(|_| iteration).map(handler));
                steps
            }
        };
        if steps.is_empty() {
            return self.close_restored(id);
        }
        self.tell_compensation(id, steps, true)
    }

    /// All of a compensation is done: what waited for it goes on.
    fn compensated(&mut self, id: LocalId, owner: Option<LocalId>, scope: LocalId) -> Result<(), Rejection> {
        let at = match owner.filter(|owner| self.state.instance(*owner).is_some()) {
            Some(owner) => self.at(owner)?.1,
            None => At::scope(scope),
        };
        self.emit(at, EventKind::CompensationEnded { compensation_id: id, completed: true });
        self.touched.push(scope);
        let Some(owner) = at.instance else {
            // Another compensation, for which nothing waits either, may still run.
            if let Some(Cancelling { reason, by }) = self.state.flow.cancelling.clone()
                && self.state.flow.compensations.is_empty()
            {
                self.cancel_contents(LocalId::ROOT, CancelReason::RunCancelled, None)?;
                self.close_waits(LocalId::ROOT, true);
                self.emit(At::RUN, EventKind::RunCancelled { reason, by });
            }
            return Ok(());
        };
        let own = self.instance(owner)?;
        if own.restored {
            return self.close_restored(owner);
        }
        if cancels(&self.graph.node(self.node(&own.node)?).work) {
            return self.transaction_cancelled(owner);
        }
        self.leave(owner)
    }

    fn close_restored(&mut self, id: LocalId) -> Result<(), Rejection> {
        let (ix, at) = self.at(id)?;
        self.settle_incidents(Some(id), at);
        self.emit(At { node: Some(ix), ..At::scope(id) }, EventKind::ScopeClosed {});
        let element = self.graph.node(ix).element;
        self.emit(at, EventKind::NodeCompensated { element });
        self.touched.extend(at.scope);
        Ok(())
    }

    /// Withdraws the compensations for which a node instance waits that goes before their end.
    pub(super) fn withdraw_compensations(
        &mut self,
        id: LocalId,
        reason: CancelReason,
    ) -> Result<(), Rejection> {
        while let Some(own) = self.state.flow.compensations.iter().find(|own| own.owner == Some(id)) {
            let (compensation_id, running) = (own.id, own.running);
            let (_, at) = self.at(id)?;
            self.emit(at, EventKind::CompensationEnded { compensation_id, completed: false });
            if let Some(running) = running.filter(|running| self.state.instance(*running).is_some()) {
                self.cancel(running, reason)?;
            }
        }
        Ok(())
    }

    /// Withdraws the compensations in a scope for which nothing waits, since all that is in it goes.
    pub(super) fn drop_compensations(&mut self, scope: LocalId) {
        let inside = |own: &&crate::state::CompensationState| {
            own.owner.is_none() && (own.scope == scope || own.steps.iter().any(|step| step.scope == scope))
        };
        while let Some(compensation_id) = self.state.flow.compensations.iter().find(inside).map(|own| own.id)
        {
            self.emit(At::scope(scope), EventKind::CompensationEnded { compensation_id, completed: false });
        }
    }

    /// Cancels the run: what is active is withdrawn, what has completed is compensated, and then the run ends.
    pub(super) fn cancel_compensating(&mut self, reason: Option<String>) -> Result<(), Rejection> {
        let again = self.state.flow.cancelling.is_some();
        if again {
            return self.cancel_run(reason);
        }
        self.cancel_contents(LocalId::ROOT, CancelReason::RunCancelled, None)?;
        self.close_waits(LocalId::ROOT, true);
        let records = self.state.flow.records.iter().rev();
        let steps = self.steps_of(records.filter(|record| record.scope == LocalId::ROOT))?;
        let by = self.actor();
        self.emit(At::RUN, EventKind::RunCancelling { reason: reason.clone(), by });
        if steps.is_empty() {
            return self.cancel_run(reason);
        }
        let compensation_id = self.next_id();
        let started = EventKind::CompensationStarted { compensation_id, steps, waits: false };
        self.emit(At::scope(LocalId::ROOT), started);
        Ok(())
    }

    /// Cancels the transaction of a cancel end event: what runs in it is withdrawn, what has completed is compensated, and
    /// then its cancel event takes over. That event interrupts the whole activity (clause 10.5.6), so that of several
    /// instances it takes the others with it: they are withdrawn, and what has completed in any of them is compensated,
    /// too. Without one only this instance is cancelled.
    pub(super) fn cancel_transaction(&mut self, id: LocalId) -> Result<(), StepFault> {
        let transaction = self.instance(id)?.scope;
        self.cancel_contents(transaction, CancelReason::Cancelled, Some(id))?;
        self.close_waits(transaction, false);
        let host = self.attached(transaction)?;
        let whole = host != transaction && self.cancel_event(host)?.is_some();
        if whole {
            self.close_waits(host, false);
            self.withdraw_beside(host, transaction)?;
        }
        let steps = self.steps_of_throw(id, None, whole.then_some(host))?;
        if steps.is_empty() {
            return Ok(self.transaction_cancelled(id)?);
        }
        self.start_compensation(id, steps, true)
    }

    /// Withdraws the instances of a body beside one. What has completed in them is kept as that of completed ones is.
    fn withdraw_beside(&mut self, body: LocalId, own: LocalId) -> Result<(), Rejection> {
        // The body starts no more of them.
        self.stage(body, Stage::Depart)?;
        let others = self.state.flow.active.iter().filter(|other| other.scope == body && other.id != own);
        let others: Vec<LocalId> = others.map(|other| other.id).collect();
        for other in others {
            if self.state.has_records(other) {
                let (_, at) = self.at(other)?;
                self.emit(at, EventKind::CompensationRecorded { snapshot: true });
            }
            self.cancel(other, CancelReason::Cancelled)?;
        }
        Ok(())
    }

    /// The cancel event at the border of a transaction.
    fn cancel_event(&self, host: LocalId) -> Result<Option<NodeIx>, Rejection> {
        let (ix, _) = self.at(host)?;
        let is_it = |event: &&NodeIx| {
            if let Work::Boundary { trigger, .. } = &self.graph.node(**event).work {
                trigger.parts().iter().any(|part| matches!(part, Trigger::Cancel))
            } else {
                false
            }
        };
        Ok(self.graph.node(ix).boundary.iter().find(is_it).copied())
    }

    fn transaction_cancelled(&mut self, id: LocalId) -> Result<(), Rejection> {
        let scope = self.instance(id)?.scope;
        self.finish(id, Completion::default())?;
        let host = self.attached(scope)?;
        let (_, at) = self.at(host)?;
        let outer = at.scope.unwrap_or(LocalId::ROOT);
        match self.cancel_event(host)? {
            Some(boundary) => {
                let event = self.create(boundary, outer, &[]);
                self.cancel(host, CancelReason::Cancelled)?;
                self.leave(event)
            }
            // The other instances of a body go on.
            None if host != scope && self.body(host)?.kind == BodyKind::Instances => {
                self.cancel(scope, CancelReason::Cancelled)?;
                self.bodies.push_back(host);
                Ok(())
            }
            None => {
                self.cancel(host, CancelReason::Cancelled)?;
                self.touched.push(outer);
                Ok(())
            }
        }
    }

    /// The node instance on which the boundary events of an activity stand: of one of several instances their body.
    pub(super) fn attached(&self, id: LocalId) -> Result<LocalId, Rejection> {
        let own = self.instance(id)?;
        Ok(if own.iteration.is_some() { own.scope } else { id })
    }

    /// Whether a start event waits for compensation alone.
    pub(super) fn starts_compensation(&self, start: NodeIx) -> bool {
        matches!(
            &self.graph.node(start).work,
            Work::Start(Start { trigger: Some(Trigger::Compensation), .. })
        )
    }
}

/// Whether a node cancels the transaction around it, also where it throws something before.
fn cancels(work: &Work) -> bool {
    let ends = |throw: &&Throw| !matches!(throw, Throw::None | Throw::Message(_) | Throw::Signal(_));
    match work {
        Work::End(Throw::Several(all)) => matches!(all.iter().find(ends), Some(Throw::Cancel)),
        work => matches!(work, Work::End(Throw::Cancel)),
    }
}
