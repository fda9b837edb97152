//! Human tasks, and receive tasks that wait to be told to go on.

use super::leave::Completion;
use super::{At, Machine};
use crate::event::EventKind;
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{ListenerPlace, Work};
use heddle_kernel::TaskId;
use serde_json::{Map, Value};

impl Machine<'_> {
    fn open_task(&self, task_id: TaskId) -> Result<(LocalId, At), Rejection> {
        let id = self.state.task(task_id).ok_or(Rejection::UnknownTask(task_id))?.owner;
        Ok((id, self.at(id)?.1))
    }

    pub(super) fn complete_task(
        &mut self,
        task_id: TaskId,
        outcome: Option<String>,
        comment: Option<String>,
        values: Map<String, Value>,
    ) -> Result<(), Rejection> {
        let (id, at) = self.open_task(task_id)?;
        self.admit_outcome(task_id, outcome.as_deref())?;
        let by = self.actor();
        self.feedback = Some(serde_json::json!({ "comment": &comment, "values": &values }));
        self.emit(at, EventKind::TaskCompleted { task_id, outcome, values: values.clone(), comment, by });
        let (ix, _) = self.at(id)?;
        if self.graph.node(ix).listeners.is_some() {
            // What is told as long as the task is open is not told while a listener or commit point behind it waits.
            self.close_waits_of(ix, id);
        }
        self.give(id, values)?;
        self.leave(id)
    }

    pub(super) fn assign_task(&mut self, task_id: TaskId, assignee: Option<String>) -> Result<(), Rejection> {
        let (id, at) = self.open_task(task_id)?;
        let (by, is_assigned) = (self.actor(), assignee.is_some());
        self.emit(at, EventKind::TaskAssigned { task_id, assignee, by });
        let (ix, _) = self.at(id)?;
        self.task_heard(ix, id, ListenerPlace::Update)?;
        if is_assigned {
            self.task_heard(ix, id, ListenerPlace::Assignment)?;
        }
        Ok(())
    }

    /// Sets variables of a scope. Those of an open human task itself change the task.
    pub(super) fn set_variables(
        &mut self,
        scope: LocalId,
        values: Map<String, Value>,
    ) -> Result<(), Rejection> {
        if self.state.scope(scope).is_none() {
            return Err(Rejection::UnknownInstance(scope));
        }
        self.emit(At::scope(scope), EventKind::VariablesSet { values });
        if self.state.task_of(scope).is_none() {
            return Ok(());
        }
        let (ix, _) = self.at(scope)?;
        self.task_heard(ix, scope, ListenerPlace::Update)
    }

    pub(super) fn proceed(&mut self, id: LocalId, payload: Value) -> Result<(), Rejection> {
        let (ix, _) = self.at(id)?;
        let failed =
            self.state.incidents.iter().any(|own| own.instance == Some(id)) || self.instance(id)?.restored;
        let waits = matches!(self.graph.node(ix).work, Work::Receive(None)) && !self.is_body(ix, id);
        if failed || !waits || !self.instance(id)?.stage.is_work() {
            return Err(Rejection::NotWaiting(id));
        }
        let output = (!payload.is_null()).then(|| payload.clone());
        if let Value::Object(values) = payload {
            self.give(id, values)?;
        }
        self.leave_with(id, Completion { skipped: false, output })
    }
}
