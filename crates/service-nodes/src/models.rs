//! Kinds that ask models or judge values: over the gateway of models, in the name of the person that the call has.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use heddle_execution::ports::{ServiceCall, ServiceEnd, ServiceFault, ServiceJob, ServiceWork};
use heddle_execution::runs::ProtectionViolated;
use heddle_execution::schema::Checker;
use heddle_kernel::{Clock, DefinitionKind, ModelDeploymentId, WorkflowId};
use heddle_models::{Caller as ModelCaller, Gateway, GatewayError, untold};
use heddle_models_wire::{ChatRequest, EmbeddingRequest};
use heddle_nodes::{
    CallFault, Caller, Ending, FaultKind, Hit, InsideKind, ModelCalls, Next, Notes, Policy, SchemaCheck, Work,
};
use heddle_policy::capability::{DeploymentChat, DeploymentEmbed};
use heddle_policy::{Capability, RequestContext, resource};
use heddle_usecase::{StoreError, UseCaseError};
use serde_json::{Map, Value};

use crate::arguments::refused;

/// Names of the kinds.
const NAMES: &[&str] = &[
    "llm.chat",
    "llm.extract",
    "llm.classify",
    "llm.rerank",
    "llm.moderate",
    "embedding.create",
    "guardrail.check",
    "agent",
    "protection",
];

/// Worker of the kinds that ask models or judge values. What judges alone is done for an instance of which nobody is known
/// any more, too; a model is asked in somebody's name.
pub struct ModelNodes {
    gateway: Gateway,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for ModelNodes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelNodes").finish_non_exhaustive()
    }
}

impl ModelNodes {
    /// Over the gateway.
    #[must_use]
    pub const fn new(gateway: Gateway, clock: Arc<dyn Clock>) -> Self {
        Self { gateway, clock }
    }
}

#[async_trait]
impl ServiceWork for ModelNodes {
    fn kinds(&self) -> &'static [&'static str] {
        NAMES
    }

    async fn call(&self, call: &ServiceCall) -> ServiceEnd {
        let job = &call.job;
        let Some(kind) = InsideKind::of_name(&job.kind) else {
            return refused(format!("`{}` is no kind that asks models or judges values.", job.kind)).into();
        };
        let asked = Asked {
            gateway: &self.gateway,
            person: call.context.as_ref(),
            workflow: (job.instance_kind == DefinitionKind::Workflow).then_some(job.definition),
        };
        let work = Work {
            kind,
            caller: caller_of(job),
            settings: Map::new(),
            tools: Vec::new(),
            policy: Policy::default(),
            variables: job.variables.clone(),
            outputs: job.outputs.clone(),
            now: self.clock.now(),
            notes: Notes::read(job.notes.as_ref()),
            models: &asked,
            schemas: &Schemas,
        };
        match work.read(&job.arguments) {
            Ok(work) => ended(work.perform().await),
            Err(fault) => refused(fault.0).into(),
        }
    }
}

fn caller_of(job: &ServiceJob) -> Caller {
    Caller {
        tenant: job.tenant,
        workflow: job.definition,
        run: job.run,
        job: job.job,
        attempt: job.attempt,
        node: job.node_id.clone(),
    }
}

/// The end of work as the job ends with it.
fn ended(ending: Ending) -> ServiceEnd {
    let mut notes = None;
    let (outcome, hits) = match ending {
        Ending::Completed { variables, hits } => (Ok(variables), hits),
        Ending::Failed { setback, hits } => {
            notes = setback.notes.as_ref().map(Notes::to_value);
            let message = setback.message;
            let fault = match setback.next {
                Next::Nothing => refused(message),
                Next::Repair => ServiceFault::Unfit { message },
                Next::Attempt => ServiceFault::Again { message, after: setback.after },
            };
            (Err(fault), hits)
        }
        Ending::Error { code, message, hits } => {
            (Err(ServiceFault::Error { code: code.to_owned(), message, variables: Map::new() }), hits)
        }
    };
    ServiceEnd { outcome, findings: hits.into_iter().map(violated).collect(), notes }
}

/// A finding as the history has it.
fn violated(hit: Hit) -> ProtectionViolated {
    let spans = hit.spans.iter().filter_map(|span| serde_json::to_value(span).ok()).collect();
    ProtectionViolated {
        check_id: hit.check_id,
        stage: hit.stage.as_str().to_owned(),
        action: hit.action.as_str().to_owned(),
        message: hit.message,
        count: u64::try_from(hit.count).unwrap_or(u64::MAX),
        spans,
    }
}

/// JSON Schemas within the bounds of forms. What it tells names places and keywords, and nothing of the value.
struct Schemas;

impl SchemaCheck for Schemas {
    fn problems(&self, schema: &Value, value: &Value) -> Vec<String> {
        let problems = Checker::new(schema).check(value, "value");
        let told = |field: Option<String>, reason: &str| {
            let place = field.unwrap_or_else(|| "value".to_owned());
            match reason {
                "schemaNotUsable" | "schemaWork" => format!("The schema cannot be used ({reason})."),
                "required" => format!("`{place}` is missing."),
                // Its name is none of the schema's.
                "unknownField" => "A member is there that the schema does not have.".to_owned(),
                "schema" => format!("`{place}` does not fit the schema."),
                other => format!("`{place}` does not fit the schema ({other})."),
            }
        };
        problems.into_iter().map(|problem| told(problem.field, problem.reason)).collect()
    }
}

/// Models as one job asks them.
struct Asked<'a> {
    gateway: &'a Gateway,
    /// Person in whose name they are asked.
    person: Option<&'a RequestContext>,
    /// Workflow of the run; none in a case.
    workflow: Option<WorkflowId>,
}

/// A caller who may use a deployment.
struct Allowed {
    caller: ModelCaller,
    id: ModelDeploymentId,
}

impl Asked<'_> {
    /// The caller of a deployment, once their present rights allow it.
    async fn authorized<C>(&self, caller: &Caller, name: &str) -> Result<Allowed, CallFault>
    where
        C: Capability<On = resource::Deployment>,
    {
        let nobody = || fault(FaultKind::Denied, "Nobody is known in whose name the run could ask a model.");
        let person = self.person.ok_or_else(nobody)?;
        // Whoever may not use it learns nothing about whether it is there.
        let denied = || {
            let message =
                "Whoever started the run may not use the deployment, or there is none of this name.";
            fault(FaultKind::Denied, message)
        };
        let id = match self.gateway.find(caller.tenant, name).await {
            Ok(id) => id,
            Err(StoreError::NotFound) => return Err(denied()),
            Err(error) => return Err(fault(FaultKind::Unavailable, &error.to_string())),
        };
        if person.snapshot().authorize_one::<C>(id, ()).is_err() {
            return Err(denied());
        }
        let caller = ModelCaller {
            tenant: caller.tenant,
            principal: person.user_id(),
            workflow: self.workflow,
            request_id: caller.key(),
            rights: Some(person.snapshot().clone()),
        };
        Ok(Allowed { caller, id })
    }
}

#[async_trait]
impl ModelCalls for Asked<'_> {
    async fn chat(
        &self,
        caller: &Caller,
        request: Map<String, Value>,
        time: Duration,
    ) -> Result<Value, CallFault> {
        let request = ChatRequest::of(&request).map_err(|error| told(&GatewayError::Request(error)))?;
        let Allowed { caller, id } = self.authorized::<DeploymentChat>(caller, request.model()).await?;
        let asked = self.gateway.chat_as(&caller, id, request, untold());
        let answer = tokio::time::timeout(time, asked).await.map_err(|_elapsed| late(time))?;
        let answer = answer.map_err(|error| told(&error))?;
        read(&answer.response.body)
    }

    async fn embed(
        &self,
        caller: &Caller,
        request: Map<String, Value>,
        time: Duration,
    ) -> Result<Value, CallFault> {
        let body =
            serde_json::to_vec(&request).map_err(|error| fault(FaultKind::Refused, &error.to_string()))?;
        let request =
            EmbeddingRequest::read(body.into()).map_err(|error| told(&GatewayError::Request(error)))?;
        let Allowed { caller, id } = self.authorized::<DeploymentEmbed>(caller, request.model()).await?;
        let asked = self.gateway.embed_as(&caller, id, request, untold());
        let answer = tokio::time::timeout(time, asked).await.map_err(|_elapsed| late(time))?;
        let answer = answer.map_err(|error| told(&error))?;
        read(&answer.response.body)
    }
}

fn read(body: &[u8]) -> Result<Value, CallFault> {
    serde_json::from_slice(body)
        .map_err(|_error| fault(FaultKind::Unavailable, "The provider's answer does not read."))
}

fn fault(kind: FaultKind, message: &str) -> CallFault {
    CallFault { kind, message: message.to_owned(), after: None }
}

fn late(time: Duration) -> CallFault {
    let message = format!("The model did not answer within {} seconds.", time.as_secs());
    fault(FaultKind::Unavailable, &message)
}

/// A failure of the gateway in words for the history: nothing that a provider wrote.
fn told(error: &GatewayError) -> CallFault {
    let kind = match error {
        GatewayError::NotFound => FaultKind::Missing,
        GatewayError::Disabled | GatewayError::Incapable(_) | GatewayError::Request(_) => FaultKind::Refused,
        GatewayError::Limited { .. } | GatewayError::Busy { .. } | GatewayError::Exhausted { .. } => {
            FaultKind::Limited
        }
        GatewayError::Provider(fault) if fault.failure.is_retryable() => FaultKind::Unavailable,
        GatewayError::Provider(_) => FaultKind::Refused,
        GatewayError::Inner(UseCaseError::Unavailable(_)) => FaultKind::Unavailable,
        GatewayError::Inner(_) => FaultKind::Refused,
    };
    CallFault { kind, message: format!("{} ({}).", error, error.word()), after: error.retry_after() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_nodes::Setback;
    use heddle_settings::service::KINDS;

    #[test]
    fn every_kind_that_asks_models_or_judges_values_is_done() {
        let of_table = KINDS.iter().filter(|kind| kind.inside.is_some()).map(|kind| kind.name);
        assert_eq!(of_table.collect::<Vec<_>>(), NAMES);
    }

    #[test]
    fn what_does_not_fit_is_told_by_its_place_and_nothing_of_the_value() {
        let schema = serde_json::json!({
            "type": "object", "required": ["age"], "additionalProperties": false,
            "properties": { "age": {}, "name": { "type": "string" } }
        });
        let value = serde_json::json!({ "name": 4111, "secret": "s3cret" });
        let mut told = Schemas.problems(&schema, &value);
        told.sort();
        let expected = [
            "A member is there that the schema does not have.",
            "`value.age` is missing.",
            "`value.name` does not fit the schema (wrongType).",
        ];
        assert_eq!(told, expected);
        let told = Schemas.problems(&serde_json::json!({ "type": 5 }), &value);
        assert_eq!(told, ["The schema cannot be used (schemaNotUsable)."]);
    }

    #[test]
    fn what_no_attempt_mends_is_refused_and_the_rest_is_tried_again() {
        let failed = |next: Next| {
            let (message, after, notes) = ("no".to_owned(), Some(Duration::ZERO), Some(Notes::default()));
            let setback = Setback { message, after, next, notes };
            let end = ended(Ending::Failed { setback, hits: Vec::new() });
            assert_eq!(end.notes.as_ref().map(|notes| Notes::read(Some(notes))), Some(Notes::default()));
            end.outcome
        };
        assert_eq!(failed(Next::Nothing), Err(refused("no")));
        let again = ServiceFault::Again { message: "no".to_owned(), after: Some(Duration::ZERO) };
        assert_eq!(failed(Next::Attempt), Err(again));
        assert_eq!(failed(Next::Repair), Err(ServiceFault::Unfit { message: "no".to_owned() }));
    }
}
