//! The machine of a process: one command, run to quiescence.

mod adhoc;
mod calls;
mod cancel;
mod choreography;
mod compensation;
mod complex;
mod compute;
mod conditions;
mod correlation;
mod data;
mod decide;
mod edges;
mod enter;
mod error;
mod escalation;
mod eval;
mod fire;
mod incident;
mod index;
mod jobs;
mod join;
mod leave;
mod loops;
mod several;
mod stages;
mod starts;
mod stores;
mod wait;

use crate::core::{Core, Spot, StepFault, expression};
use crate::event::{EventKind, Phase, RunStarted, Trigger};
use crate::state::{Life, NodeInstance};
use crate::{Command, LocalId, Rejection, SkipTarget};
pub(crate) use conditions::unsettles;
use heddle_bpmn_graph::choreography::Direction;
use heddle_bpmn_graph::{FlowIx, Graph, NodeIx, ROOT, ScopeIx};
use index::Index;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
pub use stores::store_signal;

/// Place of an event in the run.
#[derive(Clone, Copy)]
struct At {
    node: Option<NodeIx>,
    instance: Option<LocalId>,
    scope: Option<LocalId>,
    attempt: Option<u32>,
}

impl At {
    /// The run as a whole.
    const RUN: Self = Self { node: None, instance: None, scope: None, attempt: None };

    const fn scope(scope: LocalId) -> Self {
        Self { scope: Some(scope), ..Self::RUN }
    }
}

/// The machine of a process.
pub(crate) struct Machine<'g> {
    graph: &'g Graph,
    core: Core<'g>,
    /// Tokens that may move; each is in the state, too, unless it was withdrawn.
    ready: VecDeque<(FlowIx, LocalId)>,
    /// Such tokens before events that throw signals: what can be armed for a signal beside them is armed before.
    late: VecDeque<(FlowIx, LocalId)>,
    /// Scopes in which something ended, and which may be over.
    touched: Vec<LocalId>,
    /// Whether tokens stood still behind such an incident when the step began.
    was_stopped: bool,
    /// Bodies of loops and of several instances that may go on.
    bodies: VecDeque<LocalId>,
    /// Failures for which a flow out of the node may be.
    failures: VecDeque<edges::NodeFailure>,
    /// The last of them, as a flow that leads back carries it.
    failure: Option<Value>,
    /// Comment and values of the human task that the step completed.
    feedback: Option<Value>,
    /// Findings of protection at the job that the step settled, in words.
    violations: Vec<Value>,
    /// Node instance whose flows that lead back are counted anew.
    anew: Option<LocalId>,
    /// Index of a large state.
    index: Option<Index>,
    /// Whether data have changed that conditions may see.
    unsettled: bool,
    /// Node instances that may wait for data.
    data_waits: data::DataWaits,
}

impl<'g> Deref for Machine<'g> {
    type Target = Core<'g>;

    fn deref(&self) -> &Core<'g> {
        &self.core
    }
}

impl<'g> DerefMut for Machine<'g> {
    fn deref_mut(&mut self) -> &mut Core<'g> {
        &mut self.core
    }
}

impl<'g> Machine<'g> {
    pub(crate) fn new(graph: &'g Graph, core: Core<'g>) -> Self {
        let mut machine = Self {
            graph,
            core,
            ready: VecDeque::new(),
            late: VecDeque::new(),
            touched: Vec::new(),
            was_stopped: false,
            bodies: VecDeque::new(),
            failures: VecDeque::new(),
            failure: None,
            feedback: None,
            violations: Vec::new(),
            anew: None,
            index: None,
            unsettled: false,
            data_waits: data::DataWaits::new(),
        };
        machine.was_stopped = machine.is_stopped();
        machine
    }

    /// Carries out a command, until no token can move.
    pub(crate) fn finished(mut self, command: Command) -> Result<Core<'g>, Rejection> {
        self.run(command)?;
        Ok(self.core)
    }

    fn run(&mut self, command: Command) -> Result<(), Rejection> {
        self.admit_command(&command)?;
        self.remark(&command);
        // What stood still is looked at again.
        self.unsettled = matches!(command, Command::Retry { .. } | Command::Resume);
        // The data stores for which there was no room are read once that is tried again.
        let tries = matches!(command, Command::Retry { .. }) && self.has_unread_stores();
        let goes_on = matches!(command, Command::Resume);
        let resumes = tries || goes_on;
        if self.state.life == Life::Active && !resumes {
            self.read_stores();
        }
        self.execute(command)?;
        if resumes && self.state.life == Life::Active {
            self.read_stores();
        }
        if goes_on {
            self.take_up_ends()?;
        }
        self.run_to_quiescence()
    }

    /// Keeps what the caller said about the decision, at the node that it is about.
    fn remark(&mut self, command: &Command) {
        let Some(remark) = &self.cx.remark else { return };
        let instance = match command {
            Command::Retry { incident_id, .. }
            | Command::Skip { target: SkipTarget::Incident(incident_id), .. } => {
                self.state.incidents.iter().find(|own| own.id == *incident_id).and_then(|own| own.instance)
            }
            Command::Skip { target: SkipTarget::Node(id), .. }
            | Command::Continue { node_instance_id: id, .. }
            | Command::Move { node_instance_id: id, .. } => Some(*id),
            Command::Start { .. }
            | Command::CompleteTask { .. }
            | Command::AssignTask { .. }
            | Command::CompleteJob { .. }
            | Command::FailJob { .. }
            | Command::ThrowJobError { .. }
            | Command::SetJobRetries { .. }
            | Command::EndJob { .. }
            | Command::Guarded { .. }
            | Command::CompleteCall { .. }
            | Command::FailCall { .. }
            | Command::EscalateCall { .. }
            | Command::FireTimer { .. }
            | Command::DeliverMessage { .. }
            | Command::DeliverSignal { .. }
            | Command::Cancel { .. }
            | Command::CancelCompensating { .. }
            | Command::Suspend
            | Command::Resume
            | Command::Transition { .. }
            | Command::PlanItem { .. }
            | Command::SetFile { .. }
            | Command::RaiseEvent { .. }
            | Command::CompleteCase
            | Command::CloseCase
            | Command::ReactivateCase
            | Command::SetVariables { .. } => None,
        };
        let at = instance.and_then(|id| self.at(id).ok()).map_or(At::RUN, |(_, at)| at);
        let (decision, feedback) = (remark.decision.into(), remark.feedback.clone());
        let by = self.actor();
        self.emit(at, EventKind::DecisionTaken { decision, feedback, by });
    }

    fn emit(&mut self, at: At, kind: EventKind) {
        let spot = Spot {
            node: at.node.map(|ix| self.graph.node(ix).id.clone()),
            instance: at.instance,
            scope: at.scope,
            attempt: at.attempt,
        };
        let ends = matches!(
            kind,
            EventKind::NodeCompleted { .. }
                | EventKind::NodeCancelled { .. }
                | EventKind::NodeCompensated { .. }
        );
        let records = self.state.flow.records.len();
        let before = self.state.flow.tokens.len();
        self.unsettled |= conditions::unsettles(&kind);
        self.data_waits.follow(&kind);
        self.core.record(spot, kind);
        let after = self.core.state.flow.tokens.len();
        if let (Some(index), Some(event)) = (&mut self.index, self.core.events.last()) {
            index.follow(event, self.graph, [before, after]);
        }
        if ends && self.state.flow.records.len() < records {
            // What was kept in vain is gone, with its variables: they are counted anew.
            self.held = None;
        }
    }

    /// The index of the state, once that is large enough to need one.
    fn index(&mut self) -> Option<&Index> {
        if self.index.is_none() {
            self.index = Index::of(&self.core.state, self.graph);
        }
        self.index.as_ref()
    }

    /// Whether tokens or node instances are left in a scope.
    fn is_busy(&mut self, scope: LocalId) -> bool {
        let mut compensations = self.state.flow.compensations.iter();
        // What is left to compensate in it needs its variables.
        let due = compensations.any(|own| own.steps.iter().any(|step| step.scope == scope));
        match self.index() {
            Some(index) => due || index.is_busy(scope),
            None => self.state.is_busy(scope),
        }
    }

    fn node(&self, id: &str) -> Result<NodeIx, Rejection> {
        self.graph.find(id).ok_or_else(|| Rejection::WrongGraph(id.to_owned()))
    }

    fn instance(&self, id: LocalId) -> Result<&NodeInstance, Rejection> {
        self.state.instance(id).ok_or(Rejection::UnknownInstance(id))
    }

    /// The place of a node instance in the history.
    fn at(&self, id: LocalId) -> Result<(NodeIx, At), Rejection> {
        let active = self.instance(id)?;
        let ix = self.node(&active.node)?;
        let at = At {
            node: Some(ix),
            instance: Some(id),
            scope: Some(active.scope),
            attempt: (active.attempt > 1).then_some(active.attempt),
        };
        Ok((ix, at))
    }

    /// The content of an open scope; none for a scope that holds variables alone: that of a body or of an activity, or
    /// one that is open again for compensation.
    fn content(&self, scope: LocalId) -> Result<Option<ScopeIx>, Rejection> {
        if scope == LocalId::ROOT {
            return Ok(Some(ROOT));
        }
        let active = self.instance(scope)?;
        let (ix, restored) = (self.node(&active.node)?, active.restored);
        Ok(if restored || self.is_body(ix, scope) { None } else { self.graph.node(ix).work.content() })
    }

    /// The scope in which a node instance's settings are evaluated: its own, if it has one, else the one around it.
    fn inner(&self, id: LocalId) -> Result<LocalId, Rejection> {
        let around = self.instance(id)?.scope;
        Ok(if self.state.scope(id).is_some() { id } else { around })
    }

    fn execute(&mut self, command: Command) -> Result<(), Rejection> {
        match command {
            Command::Start { trigger, input } => self.start(trigger, input),
            Command::CompleteTask { task_id, outcome, values, comment } => {
                self.complete_task(task_id, outcome, comment, values)
            }
            Command::AssignTask { task_id, assignee } => self.assign_task(task_id, assignee),
            Command::CompleteJob { job_id, variables } => self.complete_job(job_id, variables),
            Command::FailJob { job_id, message, details, retries, retry_after_ms, notes } => {
                self.fail_job(job_id, jobs::Failure { message, details, retries, retry_after_ms, notes })
            }
            Command::ThrowJobError { job_id, code, message, variables } => {
                self.throw_job_error(job_id, error::Thrown { code: code.into(), message, values: variables })
            }
            Command::EndJob { job_id, end } => self.end_job(job_id, end),
            Command::SetJobRetries { job_id, retries } => self.set_job_retries(job_id, retries),
            Command::Guarded { job_id, hits, then } => self.guarded(job_id, hits, *then),
            Command::CompleteCall { run_id, output } => self.complete_call(run_id, output),
            Command::FailCall { run_id, code, message, output } => {
                self.fail_call(run_id, calls::Failure { code, message, output })
            }
            Command::EscalateCall { run_id, code, variables } => self
                .escalate_call(run_id, error::Thrown { code: code.into(), message: None, values: variables }),
            Command::FireTimer { timer_id } => self.fire_timer(timer_id),
            Command::DeliverMessage { subscription_id, payload } => {
                self.deliver(subscription_id, crate::SubscriptionKind::Message, payload)
            }
            Command::DeliverSignal { subscription_id, payload } => {
                self.deliver(subscription_id, crate::SubscriptionKind::Signal, payload)
            }
            Command::Continue { node_instance_id, payload } => self.proceed(node_instance_id, payload),
            Command::Cancel { reason } => self.cancel_run(reason),
            Command::CancelCompensating { reason } => self.cancel_compensating(reason),
            Command::Suspend => {
                let by = self.actor();
                self.emit(At::RUN, EventKind::RunSuspended { by });
                Ok(())
            }
            Command::Resume => {
                let by = self.actor();
                self.emit(At::RUN, EventKind::RunResumed { by });
                Ok(())
            }
            Command::Retry { incident_id, variables } => self.retry(incident_id, variables),
            Command::Skip { target, output } => self.skip(target, output),
            Command::Move { node_instance_id, target_node } => {
                self.move_token(node_instance_id, &target_node)
            }
            Command::SetVariables { scope, values } => {
                self.set_variables(scope.unwrap_or(LocalId::ROOT), values)
            }
            Command::Transition { .. }
            | Command::PlanItem { .. }
            | Command::SetFile { .. }
            | Command::RaiseEvent { .. }
            | Command::CompleteCase
            | Command::CloseCase
            | Command::ReactivateCase => Err(Rejection::OtherKind("a run of a process")),
        }
    }

    fn start(&mut self, trigger: Trigger, input: Map<String, Value>) -> Result<(), Rejection> {
        self.admit_input(&trigger, &input)?;
        let starts = self.starts(&trigger, &input)?;
        let started = RunStarted {
            process_id: self.graph.id.clone(),
            trigger,
            input,
            correlation_key: self.cx.correlation_key.clone(),
            by: self.actor(),
        };
        let message = match &started.trigger {
            Trigger::Message { name, node_id } => self.graph.find(node_id).map(|node| (node, name.clone())),
            Trigger::Manual { .. } | Trigger::Timer { .. } | Trigger::Signal { .. } => None,
        };
        self.emit(At::RUN, EventKind::RunStarted(Box::new(started)));
        self.read_stores();
        if let Some((node, name)) = message {
            let at = At { node: Some(node), ..At::scope(LocalId::ROOT) };
            self.exchanged(at, Direction::Received, &name);
        }
        self.touched.push(LocalId::ROOT);
        self.open_root_listeners()?;
        // A condition that holds from the first interrupts the process before anything in it begins.
        self.settle_conditions()?;
        if self.is_over_at_once() {
            return Ok(());
        }
        starts.into_iter().try_for_each(|beginning| self.begin_at(beginning))
    }

    /// Opens what the process's event sub-processes wait for.
    fn open_root_listeners(&mut self) -> Result<(), Rejection> {
        match self.listeners(ROOT, LocalId::ROOT) {
            Ok(waits) => {
                self.open(waits, LocalId::ROOT);
                Ok(())
            }
            Err(StepFault::Rejected(rejection)) => Err(rejection),
            Err(StepFault::Incident(code, message)) => {
                self.raise(At::scope(LocalId::ROOT), code, &message, Phase::Enter);
                Ok(())
            }
        }
    }

    /// Lets tokens move until none can.
    fn run_to_quiescence(&mut self) -> Result<(), Rejection> {
        if self.was_stopped && !self.is_stopped() {
            // What stood still behind a budget's incident goes on with it.
            let tokens = self.state.flow.tokens.iter();
            let tokens = tokens.filter_map(|token| Some((self.graph.find_flow(&token.flow)?, token.scope)));
            self.ready = tokens.collect();
            self.wake_bodies();
        }
        while self.state.life == Life::Active && !self.steps.is_stopped() {
            self.settle_conditions()?;
            if let Some(failure) = self.failures.pop_front() {
                self.fail_over(failure)?;
            } else if let Some((flow, scope)) = self.ready.pop_front().or_else(|| self.late.pop_front()) {
                self.arrive(flow, scope)?;
            } else if let Some(body) = self.bodies.pop_front() {
                self.advance_body(body)?;
            } else if !self.compensate_next()?
                && !self.close_scopes()?
                && !self.fire_inclusive()?
                && !self.fire_complex()?
                && !self.enter_with_data()?
                && (self.halted || !self.unsettled)
            {
                break;
            }
        }
        if self.state.life == Life::Active && !self.state.flow.tokens.is_empty() {
            self.detect_deadlocks();
        }
        Ok(())
    }

    fn has_token(&self, flow: FlowIx, scope: LocalId) -> bool {
        let id = &self.graph.flow(flow).id;
        let place = self.state.flow.tokens.iter().position(|token| token.scope == scope && token.flow == *id);
        // The step stops at its next token when this was too much.
        let _ = self.charge_places(place.unwrap_or(self.state.flow.tokens.len()));
        place.is_some()
    }

    /// A node instance comes to be and does its work as far as it can.
    fn activate(&mut self, ix: NodeIx, scope: LocalId, via: &[FlowIx]) -> Result<(), Rejection> {
        let id = self.create(ix, scope, via);
        self.enter(ix, id)
    }

    fn create(&mut self, ix: NodeIx, scope: LocalId, via: &[FlowIx]) -> LocalId {
        self.create_as(ix, scope, via, None)
    }

    /// The same for an instance of a multi-instance body or a loop, whose scope is the body's.
    fn create_as(&mut self, ix: NodeIx, scope: LocalId, via: &[FlowIx], iteration: Option<u64>) -> LocalId {
        let node = self.graph.node(ix);
        let via: Vec<Arc<str>> = via.iter().map(|&flow| self.graph.flow(flow).id.clone()).collect();
        let (element, name) = (node.element, node.name.clone());
        let kind = EventKind::NodeActivated { element, name, via, iteration, compensates: None };
        self.begin(ix, scope, kind)
    }

    /// A node instance comes to be by this event.
    fn begin(&mut self, ix: NodeIx, scope: LocalId, kind: EventKind) -> LocalId {
        self.activations += 1;
        let id = self.next_id();
        self.emit(At { node: Some(ix), instance: Some(id), scope: Some(scope), attempt: None }, kind);
        id
    }
}
