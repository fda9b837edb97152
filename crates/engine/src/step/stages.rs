//! Stages of a node instance's life around its work: continuations, inputs, listeners and outputs.

use super::leave::Completion;
use super::wait::{Wait, What, timer_fault};
use super::{Machine, StepFault};
use crate::core::compute::{Scopes, json_of};
use crate::event::{EventKind, JobKind, Phase};
use crate::state::Stage;
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{Listener, ListenerPlace, ListenerWork, NodeIx, Schedule};
use heddle_feel::{Context, Expression};
use serde_json::Map;
use std::sync::Arc;

impl Machine<'_> {
    /// Does what comes before the work of a node, from the stage at which its instance stands, and then the work.
    pub(super) fn begin_stages(&mut self, ix: NodeIx, id: LocalId) -> Result<(), StepFault> {
        let node = self.graph.node(ix);
        let stage = self.instance(id)?.stage;
        // By far the most nodes have nothing but their work.
        if stage.is_work() && node.is_plain() {
            return self.work(ix, id);
        }
        match stage {
            // The commit points of several instances are those of their body.
            Stage::Work if node.continuations.before && self.instance(id)?.iteration.is_none() => {
                self.wait_to_continue(ix, id, Stage::Before)
            }
            Stage::Work | Stage::Before if !self.has_data(ix, id)? => {
                // It is looked at again when nothing else moves.
                if stage.is_work() {
                    self.stage(id, Stage::Before)?;
                }
                self.await_stores(ix, id);
                Ok(())
            }
            Stage::Work | Stage::Before => {
                self.awaits_stores_no_more(ix, id);
                self.inputs_of(ix, id)?;
                self.start_listeners(ix, id, 0)
            }
            Stage::StartListener(next) => self.start_listeners(ix, id, next),
            Stage::EndListener(_) | Stage::After | Stage::Depart | Stage::Delay(..) | Stage::Review(_) => {
                self.end_stages(id, Completion::default())
            }
        }
    }

    /// Does what comes behind the work of a node, from the stage at which its instance stands, and leaves it.
    pub(super) fn end_stages(&mut self, id: LocalId, ending: Completion) -> Result<(), StepFault> {
        let (ix, _) = self.at(id)?;
        let node = self.graph.node(ix);
        let stage = self.instance(id)?.stage;
        if self.is_body(ix, id) {
            return self.close_body(ix, id, ending);
        }
        if node.is_plain() {
            return self.depart(id, ending);
        }
        match stage {
            Stage::Work | Stage::Before | Stage::StartListener(_) => {
                self.outputs_of(ix, id)?;
                self.end_listeners(ix, id, 0, ending)
            }
            Stage::EndListener(next) => self.end_listeners(ix, id, next, ending),
            Stage::After | Stage::Depart | Stage::Delay(..) | Stage::Review(_) => self.depart(id, ending),
        }
    }

    /// The commit point has been passed: the instance goes on.
    pub(super) fn continue_stage(&mut self, id: LocalId) -> Result<(), Rejection> {
        let (ix, _) = self.at(id)?;
        match self.instance(id)?.stage {
            Stage::After | Stage::Delay(..) | Stage::Review(_) => self.leave(id),
            Stage::Before | Stage::StartListener(_) | Stage::Work | Stage::EndListener(_) | Stage::Depart => {
                self.enter(ix, id)
            }
        }
    }

    /// A worker has done the job of a listener: the next one, or what comes behind the listeners.
    pub(super) fn listener_done(&mut self, id: LocalId) -> Result<(), Rejection> {
        let (ix, _) = self.at(id)?;
        match self.instance(id)?.stage {
            Stage::StartListener(at) => {
                self.stage(id, Stage::StartListener(at + 1))?;
                self.enter(ix, id)
            }
            Stage::EndListener(at) => {
                self.stage(id, Stage::EndListener(at + 1))?;
                self.leave(id)
            }
            Stage::Before
            | Stage::Work
            | Stage::After
            | Stage::Depart
            | Stage::Delay(..)
            | Stage::Review(_) => Ok(()),
        }
    }

    pub(super) fn stage(&mut self, id: LocalId, stage: Stage) -> Result<(), Rejection> {
        let (_, at) = self.at(id)?;
        self.emit(at, EventKind::NodeStaged { stage });
        Ok(())
    }

    /// Ends the step's way here: a timer that is due at once goes on in another step.
    pub(super) fn wait_to_continue(
        &mut self,
        ix: NodeIx,
        id: LocalId,
        stage: Stage,
    ) -> Result<(), StepFault> {
        self.stage(id, stage)?;
        let at = self.wait_at(ix, id);
        self.schedule(at, Schedule { due_at: self.now, cycle: None });
        Ok(())
    }

    fn start_listeners(&mut self, ix: NodeIx, id: LocalId, from: u32) -> Result<(), StepFault> {
        let next = self.listen(ix, id, ListenerPlace::Start, from)?;
        if next.is_some() {
            return Ok(());
        }
        if !self.instance(id)?.stage.is_work() {
            self.stage(id, Stage::Work)?;
        }
        self.work(ix, id)
    }

    fn end_listeners(
        &mut self,
        ix: NodeIx,
        id: LocalId,
        from: u32,
        ending: Completion,
    ) -> Result<(), StepFault> {
        if self.listen(ix, id, ListenerPlace::End, from)?.is_some() {
            return Ok(());
        }
        if self.graph.node(ix).continuations.after && self.instance(id)?.iteration.is_none() {
            return self.wait_to_continue(ix, id, Stage::After);
        }
        self.stage(id, Stage::Depart)?;
        self.depart(id, ending)
    }

    /// Does the listeners of a place one after another; answers the first one that waits for a worker.
    fn listen(
        &mut self,
        ix: NodeIx,
        id: LocalId,
        place: ListenerPlace,
        from: u32,
    ) -> Result<Option<u32>, StepFault> {
        let Some(listeners) = self.graph.node(ix).listeners.clone() else { return Ok(None) };
        for (at, own) in (0..).zip(listeners.at(place)).skip(from as usize) {
            let (stage, kind) = match place {
                ListenerPlace::End => (Stage::EndListener(at), JobKind::EndListener),
                ListenerPlace::Start
                | ListenerPlace::Create
                | ListenerPlace::Assignment
                | ListenerPlace::Update
                | ListenerPlace::Timeout
                | ListenerPlace::Complete
                | ListenerPlace::Delete => (Stage::StartListener(at), JobKind::StartListener),
            };
            // A listener that fails is tried again by itself, without what came before it.
            self.stage(id, stage)?;
            match &own.work {
                ListenerWork::Job(task) => {
                    self.open_job(id, kind, task)?;
                    return Ok(Some(at));
                }
                ListenerWork::Script { source, variable } => {
                    let scope = self.inner(id)?;
                    let values = self.heard(source, variable.as_ref(), scope)?;
                    // What a listener behind the work gives is for what comes after the node.
                    let target = match place {
                        ListenerPlace::End => self.instance(id)?.scope,
                        ListenerPlace::Start
                        | ListenerPlace::Create
                        | ListenerPlace::Assignment
                        | ListenerPlace::Update
                        | ListenerPlace::Timeout
                        | ListenerPlace::Complete
                        | ListenerPlace::Delete => scope,
                    };
                    self.admit_own(target, &values)?;
                    self.set_values(target, values);
                }
            }
        }
        Ok(None)
    }

    /// Does the listeners of an open human task to which something happened: what they compute is set at once, and their
    /// jobs stand beside the task, with which they go.
    pub(super) fn task_heard(
        &mut self,
        ix: NodeIx,
        id: LocalId,
        place: ListenerPlace,
    ) -> Result<(), Rejection> {
        let Some(listeners) = self.graph.node(ix).listeners.clone() else { return Ok(()) };
        listeners.at(place).try_for_each(|own| self.task_listener(id, own))
    }

    fn task_listener(&mut self, id: LocalId, own: &Listener) -> Result<(), Rejection> {
        let done = match &own.work {
            ListenerWork::Job(task) => self.open_job(id, JobKind::TaskListener, task),
            ListenerWork::Script { source, variable } => {
                self.inner(id).map_err(StepFault::from).and_then(|scope| {
                    let values = self.heard(source, variable.as_ref(), scope)?;
                    self.admit_own(scope, &values)?;
                    self.set_values(scope, values);
                    Ok(())
                })
            }
        };
        match done {
            Ok(()) => Ok(()),
            Err(fault) => self.fault(id, fault, Phase::Tokens),
        }
    }

    /// Does the listeners of an open human task that is about to be withdrawn, with what it sees; what they compute is for
    /// the scope around it. One that fails holds nothing up: its incident goes with the task and stays in the history.
    pub(super) fn task_withdrawn(&mut self, id: LocalId) -> Result<(), Rejection> {
        let is_open = self.state.task_of(id).is_some();
        let (ix, at) = self.at(id)?;
        let Some(listeners) = self.graph.node(ix).listeners.clone().filter(|_| is_open) else {
            return Ok(());
        };
        // The human task about a flow is none of the node's own.
        if matches!(self.instance(id)?.stage, Stage::Review(_)) {
            return Ok(());
        }
        for own in listeners.at(ListenerPlace::Delete) {
            let ListenerWork::Script { source, variable } = &own.work else { continue };
            match self.heard_at_withdrawal(id, source, variable.as_ref()) {
                Ok(()) => {}
                Err(StepFault::Rejected(rejection)) => return Err(rejection),
                Err(StepFault::Incident(code, message)) => {
                    let message = heddle_kernel::shortened(&message).into_owned();
                    let (incident_id, phase) = (self.next_id(), Phase::Tokens);
                    let raised =
                        EventKind::IncidentRaised { incident_id, code, message, phase, failure: None };
                    self.emit(at, raised);
                }
            }
        }
        Ok(())
    }

    fn heard_at_withdrawal(
        &mut self,
        id: LocalId,
        source: &Expression,
        variable: Option<&Arc<str>>,
    ) -> Result<(), StepFault> {
        let (inner, around) = (self.inner(id)?, self.instance(id)?.scope);
        let values = self.heard(source, variable, inner)?;
        self.admit_own(around, &values)?;
        self.set_values(around, values);
        Ok(())
    }

    /// Waits of the listeners of a human task that are told when time has passed, by their numbers among them.
    pub(super) fn timeouts(&self, ix: NodeIx, id: LocalId) -> Result<Vec<Wait>, StepFault> {
        let Some(listeners) = &self.graph.node(ix).listeners else { return Ok(Vec::new()) };
        let scope = self.inner(id)?;
        let mut waits = Vec::new();
        for (number, own) in (0..).zip(listeners.at(ListenerPlace::Timeout)) {
            let Some(timer) = &own.timer else { continue };
            let schedule = timer.schedule_on(self.now, &self.variables(scope), &self.steps);
            let schedule = schedule.map_err(|fault| timer_fault(fault, "the timer of a listener: "))?;
            self.admit_schedule(&schedule)?;
            waits.push(Wait { node: ix, what: What::Timer(schedule), trigger: Some(number) });
        }
        Ok(waits)
    }

    /// The time of a listener of an open human task has come.
    pub(super) fn task_timed_out(
        &mut self,
        ix: NodeIx,
        id: LocalId,
        number: Option<u32>,
    ) -> Result<(), Rejection> {
        let Some(listeners) = self.graph.node(ix).listeners.clone() else { return Ok(()) };
        let number = usize::try_from(number.unwrap_or(0)).unwrap_or(usize::MAX);
        match listeners.at(ListenerPlace::Timeout).nth(number) {
            Some(own) => self.task_listener(id, own),
            None => Ok(()),
        }
    }

    /// Gives an activity its own variables.
    pub(super) fn inputs_of(&mut self, ix: NodeIx, id: LocalId) -> Result<(), StepFault> {
        if let Some(mappings) = self.graph.node(ix).mappings.clone() {
            let around = self.inner(id)?;
            let mut reasons = Vec::new();
            let own = self.inputs(&mappings.inputs, around, &mut reasons)?;
            self.open_scope(ix, id);
            let values = json_of(&own);
            self.admit_own(id, &values)?;
            if !values.is_empty() {
                self.emit(
                    super::At { node: Some(ix), ..super::At::scope(id) },
                    EventKind::VariablesSet { values },
                );
            }
        }
        self.data_in(ix, id)
    }

    /// Gives the scope around what comes out of an activity.
    fn outputs_of(&mut self, ix: NodeIx, id: LocalId) -> Result<(), StepFault> {
        self.data_out(ix, id)?;
        let Some(mappings) = self.graph.node(ix).mappings.clone() else { return Ok(()) };
        if mappings.outputs.is_empty() {
            return Ok(());
        }
        let (inner, around) = (self.inner(id)?, self.instance(id)?.scope);
        let mut reasons = Vec::new();
        let scopes = Scopes { inner, around };
        let values = self.mapped(&mappings.outputs, Map::new(), &Context::new(), scopes, &mut reasons)?;
        self.admit_own(around, &values)?;
        self.set_values(around, values);
        Ok(())
    }
}
