//! Work of the service's own node kinds: who does it, in whose name, and what becomes of it. What such a kind is, and the
//! way that all of them take, is told in [`heddle_settings::service`].

use std::time::Duration;

use async_trait::async_trait;
use heddle_engine::ProtectionViolated;
use heddle_kernel::{DefinitionKind, JobId, RunId, TenantId, Timestamp, UserId, WorkflowId};
use heddle_policy::RequestContext;
use heddle_settings::service::{database_of, deployment_of};
use heddle_usecase::UseCaseError;
use serde_json::{Map, Value};

/// Job of the service that is to be done now.
#[derive(Clone, PartialEq)]
pub struct ServiceJob {
    /// The organisation.
    pub tenant: TenantId,
    /// The job.
    pub job: JobId,
    /// The attempt, from 1: with the job it names what is asked for, for those who must ask for nothing twice.
    pub attempt: u32,
    /// Epoch under which it is held.
    pub epoch: i64,
    /// Kind of the node.
    pub kind: String,
    /// Headers of the job: values of its settings, or the one header of a kind whose settings are evaluated when the work
    /// is done.
    pub arguments: Map<String, Value>,
    /// Variables that its node sees.
    pub variables: Map<String, Value>,
    /// Output and outcome of each node of the instance, by its id.
    pub outputs: Value,
    /// Attempts that are left, this one among them.
    pub retries: u32,
    /// Notes that the attempt before left for this one.
    pub notes: Option<Value>,
    /// Kind of the instance.
    pub instance_kind: DefinitionKind,
    /// The run or case.
    pub run: RunId,
    /// Workflow of the run, or case type of the case.
    pub definition: WorkflowId,
    /// Version of the definition.
    pub version: i32,
    /// Id of the element.
    pub node_id: String,
    /// User who started the instance; none where an event or a timer did.
    pub starter: Option<UserId>,
}

impl std::fmt::Debug for ServiceJob {
    /// The job without what it is about.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("ServiceJob");
        shown.field("job", &self.job).field("kind", &self.kind).field("attempt", &self.attempt);
        shown.finish_non_exhaustive()
    }
}

/// Call of a node kind: the job with the rights that its work has.
#[derive(Debug, Clone)]
pub struct ServiceCall {
    /// The job.
    pub job: ServiceJob,
    /// Person in whose name it is done, with the rights that they have now: who started the instance, else who published
    /// the version that it follows. None when they have no account any more, or are no member of the organisation: work
    /// that reaches nothing outside its instance is done even so.
    pub context: Option<RequestContext>,
}

impl ServiceCall {
    /// The person in whose name the work is done.
    ///
    /// # Errors
    /// `Refused` when there is nobody.
    pub fn person(&self) -> Result<&RequestContext, ServiceFault> {
        self.context.as_ref().ok_or_else(|| {
            let message = "Nobody has the rights for it: neither who started it nor who published its version is a member \
                           any more.";
            ServiceFault::Refused { message: message.to_owned() }
        })
    }
}

/// End of a call.
#[derive(Clone, PartialEq)]
pub struct ServiceEnd {
    /// Variables of the node, or the reason for which the work was not done.
    pub outcome: Result<Map<String, Value>, ServiceFault>,
    /// Findings of protection, in order; the history has them before the outcome.
    pub findings: Vec<ProtectionViolated>,
    /// Notes for the next attempt, where this one failed; none leaves those of before. The history has them.
    pub notes: Option<Value>,
}

impl std::fmt::Debug for ServiceEnd {
    /// Whether the work was done, without what it gave.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServiceEnd").field("is_done", &self.outcome.is_ok()).finish_non_exhaustive()
    }
}

impl From<Result<Map<String, Value>, ServiceFault>> for ServiceEnd {
    fn from(outcome: Result<Map<String, Value>, ServiceFault>) -> Self {
        Self { outcome, findings: Vec::new(), notes: None }
    }
}

impl From<ServiceFault> for ServiceEnd {
    fn from(fault: ServiceFault) -> Self {
        Self { outcome: Err(fault), findings: Vec::new(), notes: None }
    }
}

/// Reason for which the work of a node was not done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ServiceFault {
    /// Fault that passes: the next attempt may do.
    #[error("{message}")]
    Again {
        /// A sentence for people, without secrets.
        message: String,
        /// The least time before the next attempt.
        after: Option<Duration>,
    },
    /// Answer that does not fit: it is asked for again at once, and none of the attempts of the job is spent.
    #[error("{message}")]
    Unfit {
        /// A sentence for people, without secrets.
        message: String,
    },
    /// Fault that another attempt meets as well: an incident at once.
    #[error("{message}")]
    Refused {
        /// A sentence for people, without secrets.
        message: String,
    },
    /// A BPMN error, which the scopes around the node catch; in a case an incident.
    #[error("{code}: {message}")]
    Error {
        /// Code of the error.
        code: String,
        /// A sentence for people, without secrets.
        message: String,
        /// Variables for whoever catches it.
        variables: Map<String, Value>,
    },
}

impl From<UseCaseError> for ServiceFault {
    fn from(error: UseCaseError) -> Self {
        let message = error.in_words();
        match error {
            UseCaseError::NotFound
            | UseCaseError::Invalid(_)
            | UseCaseError::Conflict(_)
            | UseCaseError::Forbidden(_)
            | UseCaseError::LimitReached { .. }
            | UseCaseError::Unauthenticated => Self::Refused { message },
            UseCaseError::Internal(_) => {
                tracing::error!(error = message, "the work of a node failed within");
                Self::Again {
                    message: "The work failed for a reason of the service's own.".to_owned(),
                    after: None,
                }
            }
            UseCaseError::Throttled { .. }
            | UseCaseError::RateLimited { .. }
            | UseCaseError::Busy
            | UseCaseError::QueueFull { .. }
            | UseCaseError::Abandoned { .. }
            | UseCaseError::Unavailable(_) => Self::Again { message, after: None },
        }
    }
}

/// Worker of node kinds. It may be called for the same job and attempt more than once, where the process ended before its
/// answer was recorded.
#[async_trait]
pub trait ServiceWork: Send + Sync {
    /// Names of the kinds.
    fn kinds(&self) -> &'static [&'static str];

    /// Does the work; gives the variables of the node, or a [`ServiceFault`]. Dropped when it takes longer than jobs of the
    /// service may.
    async fn call(&self, call: &ServiceCall) -> ServiceEnd;
}

/// Source of the rights with which the work of a node is done: those of the person in whose name it is.
#[async_trait]
pub trait ServiceRights: Send + Sync {
    /// Context of the person with the rights that they have at an instant; none when they have no account any more, or are
    /// no member of the organisation.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn context(&self, job: &ServiceJob, now: Timestamp)
    -> Result<Option<RequestContext>, UseCaseError>;
}

/// Name by which the published definitions are found that name a vector database. No process and no case is called so.
#[must_use]
pub fn database_name(database: &str) -> String {
    format!("\u{1f}vector-database:{database}")
}

/// Name by which the published definitions are found that name a deployment of models, by its alias or its id. No process
/// and no case is called so.
#[must_use]
pub fn deployment_name(deployment: &str) -> String {
    format!("\u{1f}deployment:{deployment}")
}

/// Names of the vector databases and the deployments of models that the nodes of a stored definition name, each as
/// [`database_name`] and [`deployment_name`] say, and each once. What only an expression tells is not among them.
#[must_use]
pub fn used_names(definition: &Value) -> Vec<String> {
    let (mut found, mut ahead) = (Vec::new(), vec![definition]);
    while let Some(value) = ahead.pop() {
        match value {
            Value::Array(items) => ahead.extend(items),
            Value::Object(members) => {
                let settings = members.get("configuration").and_then(Value::as_object);
                found.extend(settings.and_then(database_of).map(database_name));
                found.extend(settings.and_then(deployment_of).map(deployment_name));
                ahead.extend(members.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn databases_and_deployments_are_found_wherever_their_node_stands() {
        let node = |kind: &str, name: &str| json!({ "configuration": { "kind": kind, "database": name } });
        let definition = json!({
            "nodes": [node("vector.query", "manuals"), node("vector.query", "= chosen")],
            "bpmn": { "processes": [{ "nodes": [{ "nodes": [node("vector.delete", "old"), node("feel", "no")] }] }] },
            "cases": [{ "definitions": [node("vector.upsert", "manuals")] }],
            "asks": { "configuration": { "kind": "agent", "model": "fast" } }
        });
        let names = [deployment_name("fast"), database_name("manuals"), database_name("old")];
        assert_eq!(used_names(&definition), names);
    }
}
