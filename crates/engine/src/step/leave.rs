//! Completion of node instances: their outgoing flows, and the end of scopes.

use super::{At, Machine, StepFault};
use crate::event::{CancelReason, EventKind, IncidentCode, Phase, Resolution};
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{FlowIx, NodeIx, SplitRule, Work};
use serde_json::{Map, Value};

/// Result of a node instance that came to its end.
#[derive(Default)]
pub(super) struct Completion {
    pub skipped: bool,
    pub output: Option<Value>,
}

impl Machine<'_> {
    /// Completes the work of a node instance: its outputs, its listeners, and its outgoing flows; or raises an incident.
    pub(super) fn leave(&mut self, id: LocalId) -> Result<(), Rejection> {
        self.leave_with(id, Completion::default())
    }

    pub(super) fn leave_with(&mut self, id: LocalId, ending: Completion) -> Result<(), Rejection> {
        let left = if ending.skipped { self.depart(id, ending) } else { self.end_stages(id, ending) };
        match left {
            Ok(()) => Ok(()),
            Err(fault) => self.fault(id, fault, Phase::Leave),
        }
    }

    /// Ends a node instance of which all is done, and takes its outgoing flows.
    pub(super) fn depart(&mut self, id: LocalId, ending: Completion) -> Result<(), StepFault> {
        let (ix, at) = self.at(id)?;
        let scope = at.scope.unwrap_or(LocalId::ROOT);
        if let Some(iteration) = self.instance(id)?.iteration {
            return self.iteration_done(id, iteration, ending);
        }
        let flows = self.choose(ix, scope)?;
        self.finish(id, ending)?;
        if flows.is_empty() {
            self.touched.push(scope);
        }
        let times = self.graph.node(ix).quantities.completion;
        for flow in flows {
            for _ in 0..times {
                self.take(flow, scope);
            }
        }
        Ok(())
    }

    /// Puts a token on a flow.
    pub(super) fn take(&mut self, flow: FlowIx, scope: LocalId) {
        self.put(flow, scope);
        self.ready.push_back((flow, scope));
    }

    pub(super) fn put(&mut self, flow: FlowIx, scope: LocalId) {
        let own = self.graph.flow(flow);
        let target_id = self.graph.node(own.target).id.clone();
        let at = At { node: Some(own.source), ..At::scope(scope) };
        self.emit(at, EventKind::FlowTaken { flow_id: own.id.clone(), target_id });
    }

    /// The flows that a node takes at its end, by its split rule. The default flow is taken when no condition holds
    /// (clause 8.4.13): of a gateway, where a flow without a condition counts as one that holds, when no other flow
    /// is taken.
    pub(super) fn choose(&self, ix: NodeIx, scope: LocalId) -> Result<Vec<FlowIx>, StepFault> {
        let graph = self.graph;
        let outgoing = graph.outgoing(ix);
        let node = graph.node(ix);
        match outgoing {
            [] => return Ok(Vec::new()),
            // By far the most nodes have one unconditional flow.
            [one] if graph.flow(*one).condition.is_none() => return Ok(vec![*one]),
            _ => {}
        }
        // Whether the first flow that holds is the only one, and whether a flow without a condition counts as one.
        let (first, gateway) = match node.split {
            SplitRule::All => return Ok(outgoing.to_vec()),
            SplitRule::First => (true, true),
            SplitRule::Every => (false, true),
            // After a gateway that waits for events the flow is that of the event; this one is not asked.
            SplitRule::Direct | SplitRule::Events => (false, false),
        };
        let mut taken = Vec::new();
        let mut held = false;
        for &flow in outgoing.iter().filter(|&&flow| node.default_flow != Some(flow)) {
            if self.holds(flow, scope)? {
                taken.push(flow);
                held |= gateway || graph.flow(flow).condition.is_some();
                if first {
                    break;
                }
            }
        }
        if !held {
            taken.extend(node.default_flow);
        }
        if taken.is_empty() {
            let message = format!("no outgoing flow of `{}` holds and there is no default flow", node.id);
            return Err(StepFault::Incident(IncidentCode::NoMatchingFlow, message));
        }
        Ok(taken)
    }

    /// Ends a node instance: what was waited for on its behalf is withdrawn.
    pub(super) fn finish(&mut self, id: LocalId, ending: Completion) -> Result<(), Rejection> {
        let (ix, at) = self.at(id)?;
        self.close_waits(id, false);
        self.withdraw_work(id, at);
        self.settle_incidents(Some(id), at);
        self.withdraw_compensations(id, CancelReason::Moved)?;
        if !ending.skipped {
            self.record_for_compensation(ix, id);
        }
        if self.state.scope(id).is_some() {
            self.emit(At { node: Some(ix), ..At::scope(id) }, EventKind::ScopeClosed {});
        }
        let Completion { skipped, output } = ending;
        let element = self.graph.node(ix).element;
        self.emit(at, EventKind::NodeCompleted { element, skipped, output });
        Ok(())
    }

    /// Withdraws the human task, the job or the called run for which a node instance waits.
    pub(super) fn withdraw_work(&mut self, id: LocalId, at: At) {
        if let Some(task_id) = self.state.task_of(id).map(|task| task.id) {
            self.emit(at, EventKind::TaskCancelled { task_id });
        }
        while let Some(job_id) = self.state.job_of(id).map(|job| job.id) {
            self.emit(at, EventKind::JobCancelled { job_id });
        }
        if let Some(run_id) = self.state.call_of(id).map(|call| call.run) {
            self.emit(at, EventKind::CallCancelled { run_id });
        }
    }

    /// Closes incidents whose instance is going.
    pub(super) fn settle_incidents(&mut self, instance: Option<LocalId>, at: At) {
        while let Some(own) =
            self.state.incidents.iter().find(|own| own.instance == instance && instance.is_some())
        {
            let (incident_id, by) = (own.id, self.actor());
            self.emit(at, EventKind::IncidentResolved { incident_id, resolution: Resolution::Obsolete, by });
        }
    }

    /// Ends scopes in which nothing is left; answers whether one ended.
    pub(super) fn close_scopes(&mut self) -> Result<bool, Rejection> {
        while let Some(scope) = self.touched.pop() {
            if self.state.scope(scope).is_none() || self.state.is_busy(scope) {
                continue;
            }
            // A scope of variables alone ends with its activity, and that of a body with its last instance.
            if self.content(scope)?.is_none() || !self.is_at_work(scope) || self.keeps_open(scope)? {
                continue;
            }
            // A listener that could not be opened keeps the run from ending unnoticed.
            if self.state.incidents.iter().any(|own| own.scope == scope && own.instance.is_none()) {
                continue;
            }
            if scope == LocalId::ROOT
                && let Err(exceeded) = self.admit_end()
            {
                let message = format!("{exceeded}, at the end of the run");
                self.raise(At::scope(scope), IncidentCode::Limit, &message, Phase::Tokens);
                return Ok(false);
            }
            self.close_waits(scope, true);
            if scope == LocalId::ROOT {
                let output = self.state.variables().cloned().unwrap_or_default();
                self.emit(At::RUN, EventKind::RunCompleted { output });
                return Ok(true);
            }
            let (ix, at) = self.at(scope)?;
            if matches!(self.graph.node(ix).work, Work::EventSubProcess { .. }) {
                self.finish(scope, Completion::default())?;
                self.touched.push(at.scope.unwrap_or(LocalId::ROOT));
            } else {
                self.leave(scope)?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Whether the content of a scope runs, rather than a listener or a choice behind it.
    fn is_at_work(&self, scope: LocalId) -> bool {
        let failed =
            |own: &crate::state::IncidentState| own.instance == Some(scope) && own.phase == Phase::Leave;
        scope == LocalId::ROOT
            || (self.state.instance(scope).is_some_and(|own| own.stage.is_work())
                && !self.state.incidents.iter().any(failed))
    }

    /// Whether a scope in which nothing is left stays open all the same.
    fn keeps_open(&self, scope: LocalId) -> Result<bool, Rejection> {
        self.ad_hoc_keeps_open(scope)
    }

    /// Gives values to what a node instance leaves behind: to its own scope where mappings say what comes out of it, else
    /// to the variables as they are seen from it.
    pub(super) fn give(&mut self, id: LocalId, values: Map<String, Value>) -> Result<(), Rejection> {
        let (ix, _) = self.at(id)?;
        let mapped = self.graph.node(ix).mappings.as_ref().is_some_and(|own| !own.outputs.is_empty());
        if mapped && self.state.scope(id).is_some() {
            if !values.is_empty() {
                self.emit(At { node: Some(ix), ..At::scope(id) }, EventKind::VariablesSet { values });
            }
            return Ok(());
        }
        let scope = self.inner(id)?;
        self.set_values(scope, values);
        Ok(())
    }

    /// Sets variables as seen from a scope: each where it is, new ones at the process.
    pub(super) fn set_values(&mut self, scope: LocalId, mut values: Map<String, Value>) {
        if values.is_empty() {
            return;
        }
        if scope != LocalId::ROOT {
            let variables = self.variables(scope);
            let mut inner: Vec<(LocalId, Map<String, Value>)> = Vec::new();
            let mut outer = Map::new();
            for (name, value) in values {
                match variables.owner(&name) {
                    LocalId::ROOT => {
                        outer.insert(name, value);
                    }
                    owner => match inner.iter_mut().find(|(own, _)| *own == owner) {
                        Some((_, own)) => {
                            own.insert(name, value);
                        }
                        None => inner.push((owner, Map::from_iter([(name, value)]))),
                    },
                }
            }
            for (owner, values) in inner {
                self.emit(At::scope(owner), EventKind::VariablesSet { values });
            }
            values = outer;
        }
        if !values.is_empty() {
            self.emit(At::scope(LocalId::ROOT), EventKind::VariablesSet { values });
        }
    }
}
