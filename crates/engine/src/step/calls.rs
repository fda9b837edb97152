//! Call activities: runs that a run starts and waits for (clause 10.3.6).

use super::error::Thrown;
use super::{At, Machine, StepFault, expression};
use crate::event::{CalledVersion, EventKind, IncidentCode, Phase, RunCalled};
use crate::{LocalId, Rejection, size};
use heddle_bpmn_graph::{CallTask, CallVersion, NodeIx, Setting, Work, version_number};
use heddle_kernel::{RunId, shortened};
use serde_json::{Map, Value};

/// End of a called run other than its completion.
pub(super) struct Failure {
    pub code: Option<String>,
    pub message: String,
    pub output: Map<String, Value>,
}

/// Most characters of a key of a called run, as of one that somebody starts.
const MOST_OF_A_KEY: usize = 200;

impl Machine<'_> {
    /// Calls a run, for which the node instance waits from now on.
    pub(super) fn open_call(&mut self, ix: NodeIx, id: LocalId, call: &CallTask) -> Result<(), StepFault> {
        // Nothing is open yet when the call itself cannot be made, so that a retry begins anew.
        let called = self.planned_call(id, call)?;
        let waits = self.boundary(ix, id)?;
        self.open(waits, id);
        self.emit_call(id, called)?;
        Ok(())
    }

    /// Calls a run in the place of one that did not complete; the boundary events listen still.
    pub(super) fn call_anew(&mut self, id: LocalId) -> Result<(), Rejection> {
        let call = self.call_task(id)?;
        match self.planned_call(id, &call) {
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
        called.number = self.next_id();
        called.run_id = called.number.called(self.cx.run_id);
        self.emit(at, EventKind::RunCalled(Box::new(called)));
        Ok(())
    }

    /// Target of a call, and its variables. Its ids are those that the next event would bring.
    fn planned_call(&mut self, id: LocalId, call: &CallTask) -> Result<RunCalled, StepFault> {
        // A call that calls itself without end goes one hop deeper with each.
        self.admit_hop()?;
        let scope = self.inner(id)?;
        let called = self.text(Some(&call.called), scope)?;
        let Some(called) = called.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()) else {
            return Err(expression("calledElement gives no name: there is nothing to call"));
        };
        let version = match &call.version {
            None => None,
            Some(version) => Some(self.called_version(version, scope)?),
        };
        let business_key = self.key("businessKey", call.business_key.as_ref(), scope)?;
        let correlation_key = self.key("correlationKey", call.correlation_key.as_ref(), scope)?;
        let correlation_key = correlation_key.or_else(|| self.state.correlation_key.clone());
        let input = self.passed(id, call, scope)?;
        self.admit_told(size::of_members(&input))?;
        let number = self.next_id();
        let run_id = number.called(self.cx.run_id);
        Ok(RunCalled {
            run_id,
            number,
            called: called.into(),
            version,
            input,
            business_key,
            inherit_business_key: call.inherit,
            correlation_key,
        })
    }

    fn called_version(&self, version: &CallVersion, scope: LocalId) -> Result<CalledVersion, StepFault> {
        Ok(match version {
            CallVersion::Latest => CalledVersion::Latest,
            CallVersion::Deployment => CalledVersion::Deployment,
            CallVersion::Number(setting) => {
                let value = self.setting(setting, scope)?;
                let number = version_number(&value);
                CalledVersion::Number(number.ok_or_else(|| {
                    expression(format!(
                        "version: {value} is no number of a version, which are counted from 1"
                    ))
                })?)
            }
            CallVersion::Tag(setting) => match self.text(Some(setting), scope)? {
                Some(tag) if !tag.trim().is_empty() => CalledVersion::Tag(tag.trim().to_owned()),
                _ => return Err(expression("versionTag gives no tag")),
            },
        })
    }

    /// A key for the called run; null is none that was meant.
    fn key(
        &self,
        member: &str,
        setting: Option<&Setting>,
        scope: LocalId,
    ) -> Result<Option<String>, StepFault> {
        let Some(setting) = setting else { return Ok(None) };
        match self.text(Some(setting), scope)? {
            None => Err(expression(format!("{member}: the key of the called run is null"))),
            Some(key) if key.is_empty() || key.chars().count() > MOST_OF_A_KEY => {
                let count = key.chars().count();
                Err(expression(format!(
                    "{member}: a key has 1 to {MOST_OF_A_KEY} characters and not {count}"
                )))
            }
            key => Ok(key),
        }
    }

    /// Variables with which the called run begins.
    fn passed(&self, id: LocalId, call: &CallTask, inner: LocalId) -> Result<Map<String, Value>, StepFault> {
        let mut found = Map::new();
        let mut next = if call.all_in { Some(inner) } else { Some(id) };
        while let Some(scope) = next.and_then(|scope| self.state.scope(scope)) {
            for (name, value) in &scope.variables {
                if !found.contains_key(name) {
                    self.charge_copy(value)?;
                    found.insert(name.clone(), value.clone());
                }
            }
            next = scope.parent.filter(|_| call.all_in);
        }
        Ok(found)
    }
}
