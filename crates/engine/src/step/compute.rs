//! Tasks that compute: decisions and scripts (clause 10.3.3.1).

use super::error::Thrown;
use super::{Machine, StepFault};
use crate::LocalId;
use crate::core::compute::Computed;
use crate::event::IncidentCode;
use heddle_bpmn_graph::{DecisionTask, ScriptError, ScriptTask};
use serde_json::Map;
use std::sync::Arc;

impl Machine<'_> {
    /// Evaluates the decision of a business rule task and goes on.
    pub(super) fn decision(&mut self, task: &DecisionTask, id: LocalId) -> Result<(), StepFault> {
        let scope = self.inner(id)?;
        let computed = self.decide(task, id, scope)?;
        self.computed(id, scope, computed)
    }

    /// Evaluates the script of a script task and goes on.
    pub(super) fn script(&mut self, task: &ScriptTask, id: LocalId) -> Result<(), StepFault> {
        let scope = self.inner(id)?;
        if let Some(ScriptError { code, message }) = &task.throws {
            let message = message.as_deref().map(str::to_owned);
            let thrown = Thrown { code: Arc::clone(code), message, values: Map::new() };
            if self.error_at(id, thrown)? {
                return Ok(());
            }
            let told = format!("the script throws the error `{code}`, which nothing catches");
            return Err(StepFault::Incident(IncidentCode::UnhandledError, told));
        }
        let computed = self.compute(task, id, scope)?;
        self.computed(id, scope, computed)
    }

    fn computed(&mut self, id: LocalId, scope: LocalId, computed: Computed) -> Result<(), StepFault> {
        let (_, at) = self.at(id)?;
        self.emit(at, computed.event);
        self.set_values(scope, computed.values?);
        Ok(self.leave(id)?)
    }
}
