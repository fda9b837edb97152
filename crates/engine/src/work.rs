//! Data of events about jobs, called runs and bodies.

use crate::LocalId;
use heddle_kernel::{DefinitionKind, JobId, RunId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Data of `job.created`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobCreated {
    /// The job.
    pub job_id: JobId,
    /// Part of its node for which it stands.
    #[serde(default, skip_serializing_if = "JobKind::is_task")]
    pub kind: JobKind,
    /// Type of the job, by which workers ask for it.
    pub job_type: Arc<str>,
    /// Attempts that there are.
    pub retries: u32,
    /// The higher, the sooner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Settings of the model for the worker.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub headers: Map<String, Value>,
    /// Number of the job in the run's counter.
    pub number: LocalId,
}

/// Part of its node for which a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum JobKind {
    /// The work of the node.
    #[default]
    Task,
    /// A listener before the work.
    StartListener,
    /// A listener behind the work.
    EndListener,
    /// A listener of a human task.
    TaskListener,
}

impl JobKind {
    /// Whether it is the work of the node.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    pub(crate) const fn is_task(&self) -> bool {
        matches!(self, Self::Task)
    }
}

/// Data of `run.called`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunCalled {
    /// The run that is to be started.
    pub run_id: RunId,
    /// Number of the call in the run's counter.
    pub number: LocalId,
    /// Kind of what is called. A call activity means a workflow, and where there is none of the name, a case type.
    #[serde(default = "DefinitionKind::workflow", skip_serializing_if = "is_workflow")]
    pub kind: DefinitionKind,
    /// Id of a process, a global task or a case, or id or slug of a workflow or case type, as the model names it.
    pub called: Arc<str>,
    /// Version that is meant; absent is the caller's own for what stands in the same definition, else the latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<CalledVersion>,
    /// Variables at its start.
    pub input: Map<String, Value>,
    /// Business key of it; absent is that of the caller, where it inherits one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub business_key: Option<String>,
    /// Whether it has the business key of its caller unless its own is given.
    #[serde(default = "yes", skip_serializing_if = "bool::clone")]
    pub inherit_business_key: bool,
    /// Correlation key of it; absent is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_key: Option<String>,
}

/// Version that a call means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CalledVersion {
    /// The one that is active at the call.
    Latest,
    /// The one that was active when the caller's version was published.
    Deployment,
    /// The one of this number.
    Number(i32),
    /// The last one with this tag.
    Tag(String),
}

/// Kind of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BodyKind {
    /// Multi-instance activity.
    #[default]
    Instances,
    /// Standard loop.
    Loop,
    /// Ad-hoc sub-process.
    AdHoc,
}

impl BodyKind {
    /// Whether it is that of a multi-instance activity.
    #[must_use]
    pub const fn is_instances(&self) -> bool {
        matches!(self, Self::Instances)
    }
}

/// Whether a call is of the kind that calls of before are.
fn is_workflow(kind: &DefinitionKind) -> bool {
    *kind == DefinitionKind::Workflow
}

const fn yes() -> bool {
    true
}
