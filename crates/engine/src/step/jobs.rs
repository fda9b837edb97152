//! Jobs for external workers.

use super::error::Thrown;
use super::{Machine, StepFault};
use crate::event::{IncidentCode, JobKind};
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::JobTask;
use heddle_kernel::JobId;
use serde_json::{Map, Value};

/// Failure of a worker at a job.
pub(super) struct Failure {
    pub message: String,
    pub details: Option<String>,
    pub retries: Option<u32>,
    pub retry_after_ms: Option<u64>,
}

impl Machine<'_> {
    /// Opens a job for a node instance.
    pub(super) fn open_job(
        &mut self,
        _id: LocalId,
        _kind: JobKind,
        _task: &JobTask,
    ) -> Result<(), StepFault> {
        Err(StepFault::Incident(IncidentCode::JobFailed, "jobs come with the part jobs".to_owned()))
    }

    pub(super) fn complete_job(
        &mut self,
        job: JobId,
        _variables: Map<String, Value>,
    ) -> Result<(), Rejection> {
        Err(Rejection::UnknownJob(job))
    }

    pub(super) fn fail_job(&mut self, job: JobId, _failure: Failure) -> Result<(), Rejection> {
        Err(Rejection::UnknownJob(job))
    }

    pub(super) fn throw_job_error(&mut self, job: JobId, _thrown: Thrown) -> Result<(), Rejection> {
        Err(Rejection::UnknownJob(job))
    }

    pub(super) fn set_job_retries(&mut self, job: JobId, _retries: u32) -> Result<(), Rejection> {
        Err(Rejection::UnknownJob(job))
    }
}
