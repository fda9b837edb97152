//! Call activities: runs that a run starts and waits for (clause 10.3.6).

use super::error::Thrown;
use super::{At, Machine, StepFault};
use crate::event::{EventKind, IncidentCode, Phase, RunCalled};
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{CallTask, NodeIx, Work};
use heddle_kernel::{RunId, shortened};
use serde_json::{Map, Value};

/// End of a called run other than its completion.
pub(super) struct Failure {
    pub code: Option<String>,
    pub message: String,
    pub output: Map<String, Value>,
}

impl Machine<'_> {
    /// Calls a run, for which the node instance waits from now on.
    pub(super) fn open_call(&mut self, ix: NodeIx, id: LocalId, call: &CallTask) -> Result<(), StepFault> {
        // Nothing is open yet when the call itself cannot be made, so that a retry begins anew.
        let scope = self.inner(id)?;
        let called = self.planned_call(id, call, scope)?;
        let waits = self.boundary(ix, id)?;
        self.open(waits, id);
        self.emit_call(id, called)?;
        Ok(())
    }

    /// Calls a run in the place of one that did not complete; the boundary events listen still.
    pub(super) fn call_anew(&mut self, id: LocalId) -> Result<(), Rejection> {
        let call = self.call_task(id)?;
        let scope = self.inner(id)?;
        match self.planned_call(id, &call, scope) {
            Ok(called) => self.emit_call(id, called),
            Err(StepFault::Rejected(rejection)) => Err(rejection),
            Err(StepFault::Incident(_, message)) => {
                let (_, at) = self.at(id)?;
                self.raise(at, IncidentCode::CallFailed, &message, Phase::Enter);
                Ok(())
            }
        }
    }

    /// The called run completed: what it gives is passed on, and the call activity goes on.
    pub(super) fn complete_call(&mut self, run: RunId, output: Map<String, Value>) -> Result<(), Rejection> {
        let (id, ix, at) = self.caller_of(run)?;
        let call = self.call_task(id)?;
        let node = self.graph.node(ix);
        let mapped = node.data.is_some() || node.mappings.as_ref().is_some_and(|own| !own.outputs.is_empty());
        self.emit(at, EventKind::CallCompleted { run_id: run, output: output.clone() });
        if call.all_out {
            self.set_values(at.scope.unwrap_or(LocalId::ROOT), output.clone());
        }
        if mapped {
            // What comes out of it is computed over what the called run left behind.
            self.open_scope(ix, id);
            if !output.is_empty() {
                self.emit(At { node: Some(ix), ..At::scope(id) }, EventKind::VariablesSet { values: output });
            }
        }
        self.leave(id)
    }

    /// The called run failed, was cancelled or could not be started. Its error is thrown at the call activity; what nothing
    /// catches is an incident, whose retry calls anew.
    pub(super) fn fail_call(&mut self, run: RunId, failure: Failure) -> Result<(), Rejection> {
        let (id, _, at) = self.caller_of(run)?;
        let call = self.call_task(id)?;
        let Failure { code, message, output } = failure;
        let message = shortened(&message).into_owned();
        self.emit(at, EventKind::CallFailed { run_id: run, code: code.clone(), message: message.clone() });
        if let Some(code) = code {
            let values = if call.all_out { output } else { Map::new() };
            let thrown = Thrown { code: code.into(), message: Some(message.clone()), values };
            if self.error_at(id, thrown)? {
                return Ok(());
            }
        }
        self.raise(at, IncidentCode::CallFailed, &message, Phase::Enter);
        Ok(())
    }

    /// The node instance that waits for a called run.
    fn caller_of(&self, run: RunId) -> Result<(LocalId, NodeIx, At), Rejection> {
        let call = self.state.calls.iter().find(|call| call.run == run);
        let id = call.ok_or(Rejection::UnknownCall(run))?.owner;
        let (ix, at) = self.at(id)?;
        Ok((id, ix, at))
    }

    fn call_task(&self, id: LocalId) -> Result<std::sync::Arc<CallTask>, Rejection> {
        let (ix, _) = self.at(id)?;
        let Work::Call(call) = &self.graph.node(ix).work else { return Err(Rejection::NotWaiting(id)) };
        Ok(std::sync::Arc::clone(call))
    }

    fn emit_call(&mut self, id: LocalId, mut called: RunCalled) -> Result<(), Rejection> {
        let (_, at) = self.at(id)?;
        // What was opened since the call was planned has taken numbers.
        self.number(&mut called);
        self.emit(at, EventKind::RunCalled(Box::new(called)));
        Ok(())
    }
}
