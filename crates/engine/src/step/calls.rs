//! Call activities: runs that a run starts and waits for (clause 10.3.6).

use super::{Machine, StepFault};
use crate::event::IncidentCode;
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::CallTask;
use heddle_kernel::RunId;
use serde_json::{Map, Value};

/// End of a called run other than its completion.
pub(super) struct Failure {
    pub code: Option<String>,
    pub message: String,
    pub output: Map<String, Value>,
}

impl Machine<'_> {
    pub(super) fn open_call(&mut self, _id: LocalId, _call: &CallTask) -> Result<(), StepFault> {
        Err(StepFault::Incident(IncidentCode::CallFailed, "calls come with the part calls".to_owned()))
    }

    pub(super) fn complete_call(&mut self, run: RunId, _output: Map<String, Value>) -> Result<(), Rejection> {
        Err(Rejection::UnknownCall(run))
    }

    pub(super) fn fail_call(&mut self, run: RunId, _failure: Failure) -> Result<(), Rejection> {
        Err(Rejection::UnknownCall(run))
    }
}
