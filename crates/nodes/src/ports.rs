//! The port through which nodes reach models.

use std::time::Duration;

use async_trait::async_trait;
use heddle_kernel::{JobId, RunId, TenantId, WorkflowId};
use serde_json::{Map, Value};

/// The job on whose behalf a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The organisation.
    pub tenant: TenantId,
    /// Workflow of the run, or case type of the case.
    pub workflow: WorkflowId,
    /// The run.
    pub run: RunId,
    /// The job.
    pub job: JobId,
    /// Attempt of the job, from 1.
    pub attempt: u32,
    /// The node.
    pub node: String,
}

impl Caller {
    /// Key of the call: the same for a repeat of the same attempt, for providers that take one.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}:{}:{}", self.run, self.job, self.attempt)
    }
}

/// Kind of a call's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Refusal of the request as it is: the same again is refused again.
    Refused,
    /// Rights of the run's starter that do not reach the deployment.
    Denied,
    /// Deployment that is not there.
    Missing,
    /// Rate, budget or queue that is full for a while.
    Limited,
    /// Provider that does not answer.
    Unavailable,
}

/// Failure of a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallFault {
    /// Kind of it.
    pub kind: FaultKind,
    /// A sentence without prompt, answer or key.
    pub message: String,
    /// Time before which another attempt makes no sense.
    pub after: Option<Duration>,
}

/// Asks models on behalf of runs: with the present rights of the run's starter, or, where nobody started it, of who
/// published its version; within their limits and budgets. A call that takes longer than its time is ended upstream.
#[async_trait]
pub trait ModelCalls: Send + Sync {
    /// Asks for a completion: request and answer in the words of OpenAI's chat completions, without a stream.
    async fn chat(
        &self,
        caller: &Caller,
        request: Map<String, Value>,
        time: Duration,
    ) -> Result<Value, CallFault>;
    /// Asks for vectors: request and answer in the words of OpenAI's embeddings, with vectors of numbers.
    async fn embed(
        &self,
        caller: &Caller,
        request: Map<String, Value>,
        time: Duration,
    ) -> Result<Value, CallFault>;
}
