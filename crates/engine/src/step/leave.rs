//! Completion of node instances: their outgoing flows, and the end of scopes.

use super::adhoc::Quiet;
use super::{At, Machine, StepFault};
use crate::event::{CancelReason, EventKind, IncidentCode, Phase, Resolution};
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{FlowIx, JoinRule, NodeIx, Side, SplitRule, Throw, Work};
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
        if matches!(self.graph.node(ix).join, JoinRule::Complex(_)) {
            return self.depart_complex(ix, id);
        }
        if self.ends_ad_hoc(ix, scope)? {
            self.finish(id, ending)?;
            return Ok(self.end_ad_hoc(ix, scope)?);
        }
        let way = self.way(ix, id, &ending, false)?;
        self.follow(ix, id, way, ending)
    }

    /// Puts a token on a flow.
    pub(super) fn take(&mut self, flow: FlowIx, scope: LocalId) {
        self.put(flow, scope);
        if self.throws_signal(self.graph.flow(flow).target) {
            self.late.push_back((flow, scope));
        } else {
            self.ready.push_back((flow, scope));
        }
    }

    /// Whether a node broadcasts a signal, which reaches what listens at that moment and nothing later.
    fn throws_signal(&self, node: NodeIx) -> bool {
        let signal = |throw: &Throw| matches!(throw, Throw::Signal(_));
        match &self.graph.node(node).work {
            Work::Throw(Throw::Several(all)) | Work::End(Throw::Several(all)) => all.iter().any(signal),
            Work::Throw(throw) | Work::End(throw) => signal(throw),
            Work::Start(_)
            | Work::Catch(_)
            | Work::Boundary { .. }
            | Work::Pass
            | Work::Receive(_)
            | Work::User(_)
            | Work::Decision(_)
            | Work::Script(_)
            | Work::Job(_)
            | Work::Call(_)
            | Work::SubProcess(_)
            | Work::Transaction(_)
            | Work::AdHoc { .. }
            | Work::EventSubProcess { .. } => false,
        }
    }

    pub(super) fn put(&mut self, flow: FlowIx, scope: LocalId) {
        self.put_for(flow, scope, None);
    }

    /// The same with the number of times that a flow which leads back has been taken.
    pub(super) fn put_for(&mut self, flow: FlowIx, scope: LocalId, iteration: Option<u32>) {
        let own = self.graph.flow(flow);
        let target_id = self.graph.node(own.target).id.clone();
        let at = At { node: Some(own.source), ..At::scope(scope) };
        self.emit(at, EventKind::FlowTaken { flow_id: own.id.clone(), target_id, iteration });
    }

    /// The flows that a node takes at its end, by its split rule. The default flow is taken when no condition holds
    /// (clause 8.4.13): of a gateway, where a flow without a condition counts as one that holds, when no other flow
    /// is taken.
    pub(super) fn choose(&self, ix: NodeIx, scope: LocalId) -> Result<Vec<FlowIx>, StepFault> {
        self.choose_but(ix, scope, &[], false)
    }

    /// The same without some of the flows, or those for the failure of the node.
    pub(super) fn choose_but(
        &self,
        ix: NodeIx,
        scope: LocalId,
        except: &[FlowIx],
        failed: bool,
    ) -> Result<Vec<FlowIx>, StepFault> {
        let graph = self.graph;
        let outgoing = graph.outgoing(ix);
        let node = graph.node(ix);
        match outgoing {
            [] if !failed => return Ok(Vec::new()),
            // By far the most nodes have one unconditional flow.
            [one] if graph.flow(*one).condition.is_none() && except.is_empty() && !failed => {
                return Ok(vec![*one]);
            }
            _ => {}
        }
        let for_failure = |flow: FlowIx| {
            let condition = graph.flow(flow).condition.as_ref();
            condition.is_some_and(|condition| condition.side == Side::Failure)
        };
        let open = |flow: &&FlowIx| !except.contains(flow) && (failed || !for_failure(**flow));
        if !failed && !outgoing.iter().any(|flow| open(&flow)) {
            return Ok(Vec::new());
        }
        // Whether the first flow that holds is the only one, and whether a flow without a condition counts as one.
        let (first, gateway) = match node.split {
            SplitRule::All => return Ok(outgoing.iter().filter(open).copied().collect()),
            SplitRule::First => (true, true),
            SplitRule::Every => (false, true),
            // After a gateway that waits for events the flow is that of the event; this one is not asked.
            SplitRule::Direct | SplitRule::Events => (false, false),
        };
        let mut taken = Vec::new();
        let mut held = false;
        for &flow in outgoing.iter().filter(open).filter(|&&flow| node.default_flow != Some(flow)) {
            if self.holds(flow, scope, failed)? {
                taken.push(flow);
                held |= gateway || graph.flow(flow).condition.is_some();
                if first {
                    break;
                }
            }
        }
        if !held && !failed {
            taken.extend(node.default_flow.filter(|flow| !except.contains(flow)));
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
        self.emit(
            at,
            if self.is_body(ix, id) {
                EventKind::BodyClosed { element, skipped, output }
            } else {
                EventKind::NodeCompleted { element, skipped, output }
            },
        );
        Ok(())
    }

    /// Withdraws the human task, the job or the called run for which a node instance waits.
    pub(super) fn withdraw_work(&mut self, id: LocalId, at: At) {
        for withdrawn in self.works_of(id) {
            self.emit(at, withdrawn);
        }
    }

    /// Closes incidents whose instance is going.
    pub(super) fn settle_incidents(&mut self, instance: Option<LocalId>, at: At) {
        let Some(instance) = instance.filter(|_| !self.state.incidents.is_empty()) else { return };
        let found: Vec<LocalId> = match self.index() {
            Some(index) => index.incidents(instance),
            None => {
                let own = self.state.incidents.iter().filter(|own| own.instance == Some(instance));
                own.map(|own| own.id).collect()
            }
        };
        for incident_id in found {
            let by = self.actor();
            self.emit(at, EventKind::IncidentResolved { incident_id, resolution: Resolution::Obsolete, by });
        }
    }

    /// Ends scopes in which nothing is left; answers whether one ended.
    pub(super) fn close_scopes(&mut self) -> Result<bool, Rejection> {
        while let Some(scope) = self.touched.pop() {
            if self.state.scope(scope).is_none() || self.is_busy(scope) {
                continue;
            }
            // A scope of variables alone ends with its activity, and that of a body with its last instance.
            if self.content(scope)?.is_none() || !self.is_at_work(scope) {
                continue;
            }
            // A listener that could not be opened keeps the run from ending unnoticed.
            if self.state.incidents.iter().any(|own| own.scope == scope && own.instance.is_none()) {
                continue;
            }
            match self.quiet(scope)? {
                Quiet::Ends => {}
                Quiet::Waits => continue,
                Quiet::WentOn => return Ok(true),
            }
            if scope == LocalId::ROOT
                && let Err(exceeded) = self.admit_end()
            {
                let message = format!("{exceeded}, at the end of the run");
                self.raise(At::scope(scope), IncidentCode::Limit, &message, Phase::Tokens);
                return Ok(false);
            }
            if scope == LocalId::ROOT && self.lacks_outputs() {
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

    /// Raises an incident where the process ends without one of its output sets (clause 10.4.1).
    fn lacks_outputs(&mut self) -> bool {
        let missing = self.missing_outputs().join("`, `");
        if missing.is_empty() {
            return false;
        }
        let message = format!("no output set of the process is whole at its end: `{missing}` has no value");
        self.raise(At::scope(LocalId::ROOT), IncidentCode::ExpressionError, &message, Phase::Tokens);
        true
    }

    /// Whether the content of a scope runs, rather than a listener or a choice behind it.
    fn is_at_work(&self, scope: LocalId) -> bool {
        let failed =
            |own: &crate::state::IncidentState| own.instance == Some(scope) && own.phase == Phase::Leave;
        scope == LocalId::ROOT
            || (self.state.instance(scope).is_some_and(|own| own.stage.is_work())
                && !self.state.incidents.iter().any(failed))
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
    pub(super) fn set_values(&mut self, scope: LocalId, values: Map<String, Value>) {
        for (owner, mut values) in self.spread(scope, values) {
            self.keep_from_agent(owner, &mut values);
            if !values.is_empty() {
                self.emit(At::scope(owner), EventKind::VariablesSet { values });
            }
        }
    }
}
