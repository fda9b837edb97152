//! Starting runs.

use std::sync::Arc;

use heddle_bpmn_graph::Graph;
use heddle_engine::{Command, Trigger};
use heddle_kernel::RunId;
use heddle_policy::capability::WorkflowRun;
use heddle_policy::{Authorized, RequestContext};
use serde_json::Value;

use super::Runs;
use super::advance::run_context;
use super::stepping::PlannedStep;
use crate::models::CompiledVersion;
use crate::plan::{Initiator, NewInstance, StartRun, new_run};
use crate::ports::RunWrite;
use crate::records::{Run, TriggerKind, TriggerRecord, WorkflowState};
use crate::told::RunStanding;
use crate::{JournalFor, UseCaseError};

impl Runs {
    /// Starts a run. The answer is its state when nothing can move any more, already durable.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`notPublished`, `archived`); `Invalid` for an input that the start event's schema does
    /// not allow, an unknown version, process or start event; `RateLimited`.
    pub async fn start(
        &self,
        authorized: &Authorized<WorkflowRun>,
        context: &RequestContext,
        request: StartRun,
        record: &JournalFor<'_, Run>,
    ) -> Result<Run, UseCaseError> {
        let workflow = authorized.id();
        self.ports.limits.starts.take(context.tenant(), context.now())?;
        let (state, published) = self.ports.workflows.standing(context.tenant(), workflow).await?;
        let version = match (state, request.version, published) {
            (WorkflowState::Archived, ..) => {
                return Err(UseCaseError::conflict("archived", "The workflow is archived."));
            }
            (_, Some(version), Some(latest)) if (1..=latest).contains(&version) => version,
            (_, Some(version), Some(_)) => {
                let message = format!("There is no version {version}.");
                return Err(UseCaseError::invalid("version", "unknownVersion", message));
            }
            (_, None, Some(latest)) => latest,
            (_, _, None) => {
                return Err(UseCaseError::conflict("notPublished", "The workflow has no published version."));
            }
        };
        let trigger = TriggerRecord {
            kind: TriggerKind::Manual,
            name: None,
            node_id: request.start_node_id.clone(),
            event_id: None,
            parent: None,
        };
        let beginning = NewInstance {
            tenant: context.tenant(),
            workflow,
            version,
            trigger: Trigger::Manual { start_node: request.start_node_id.clone() },
            record: trigger,
            request,
        };
        let write = self.begin(beginning, Initiator::new(context.now(), Some(context.user_id()))).await?;
        let run = write.run.clone();
        let unit = record(&run).changing(None, Some(&RunStanding::of(&run)));
        // Whoever steps the new run at once waits until it is kept, and nothing is kept that was stepped since.
        let held = self.locks.hold(run.id).await;
        self.commit_runs(context.tenant(), vec![write], unit).await?;
        self.recent.keep(&run);
        drop(held);
        Ok(run)
    }

    /// The rows of a new run.
    pub(super) async fn begin(
        &self,
        beginning: NewInstance,
        by: Initiator,
    ) -> Result<RunWrite, UseCaseError> {
        let compiled =
            self.ports.models.version(beginning.tenant, beginning.workflow, beginning.version).await?;
        let graph = Arc::clone(compiled.startable(beginning.request.process_id.as_deref())?);
        let id = RunId(self.ports.ids.next(by.now));
        self.begin_as(id, beginning, Model { compiled, graph }, by).await
    }

    /// The rows of a new run with that id, of a process of the version.
    pub(super) async fn begin_as(
        &self,
        id: RunId,
        beginning: NewInstance,
        model: Model,
        by: Initiator,
    ) -> Result<RunWrite, UseCaseError> {
        let Model { compiled, graph } = model;
        if let Some(wanted) = compiled.input_schema(&graph, &beginning.trigger) {
            let problems = wanted.check(&Value::Object(beginning.request.input.clone()), "input");
            if !problems.is_empty() {
                return Err(UseCaseError::Invalid(problems));
            }
        }
        let run = new_run(&beginning, &graph.id, id, by);
        let mut input = beginning.request.input;
        if let Some(user) = by.user {
            let event = if let Trigger::Manual { start_node } = &beginning.trigger {
                start_node.as_deref()
            } else {
                None
            };
            // Who starts a run is known here: no input says otherwise.
            let names = graph.initiators(event);
            input.extend(names.map(|name| (name.to_string(), user.to_string().into())));
        }
        let command = Command::Start { trigger: beginning.trigger, input };
        let context = run_context(&run, &compiled, by, self.budget);
        let written = Vec::new();
        self.stepped(PlannedStep { run, is_new: true, version: compiled, command, context, by, written })
            .await
    }
}

/// Model of a run that begins.
pub(super) struct Model {
    /// Version of the workflow.
    pub compiled: Arc<CompiledVersion>,
    /// The process.
    pub graph: Arc<Graph>,
}
