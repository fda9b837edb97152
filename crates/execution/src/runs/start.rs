//! Starting runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use heddle_engine::{Command, RunContext, Trigger};
use heddle_kernel::{DefinitionKind, RunId};
use heddle_policy::capability::WorkflowRun;
use heddle_policy::{Authorized, RequestContext};
use serde_json::Value;

use super::advance::run_context;
use super::stepping::PlannedStep;
use super::{Runs, opening};
use crate::compiled::{CompiledVersion, Plan};
use crate::plan::{Initiator, NewInstance, StartOf, StartRun, new_run};
use crate::ports::RunWrite;
use crate::records::{Run, TriggerKind, TriggerRecord};
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
        let (tenant, definition) = (context.tenant(), authorized.id());
        let of = StartOf { tenant, kind: DefinitionKind::Workflow, definition };
        self.start_instance(of, context, request, record).await
    }

    /// Starts an instance of either kind, of a definition of which the caller may start some.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn start_instance(
        &self,
        of: StartOf,
        context: &RequestContext,
        mut request: StartRun,
        record: &JournalFor<'_, Run>,
    ) -> Result<Run, UseCaseError> {
        let StartOf { tenant, kind, definition } = of;
        let what = match kind {
            DefinitionKind::Workflow => "workflow",
            DefinitionKind::Case => "case type",
        };
        self.ports.limits.starts.take(tenant, context.now())?;
        let standing = self.ports.versions.of(kind)?.standing(tenant, definition).await?;
        let version = match (standing.is_archived, request.version, standing.latest) {
            (true, ..) => {
                return Err(UseCaseError::conflict("archived", format!("The {what} is archived.")));
            }
            (_, Some(version), Some(latest)) if (1..=latest).contains(&version) => version,
            (_, Some(version), Some(_)) => {
                let message = format!("There is no version {version}.");
                return Err(UseCaseError::invalid("version", "unknownVersion", message));
            }
            (_, None, Some(latest)) => latest,
            (_, _, None) => {
                let message = format!("The {what} has no published version.");
                return Err(UseCaseError::conflict("notPublished", message));
            }
        };
        let people = self.known_people(context, std::mem::take(&mut request.people)).await?;
        request.people = people;
        let trigger = TriggerRecord {
            kind: TriggerKind::Manual,
            name: None,
            node_id: request.start_node_id.clone(),
            event_id: None,
            parent: None,
        };
        let beginning = NewInstance {
            tenant,
            kind,
            workflow: definition,
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
        self.commit_runs(tenant, vec![write], unit).await?;
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
        let versions = self.ports.versions.of(beginning.kind)?;
        let compiled = versions.plan(beginning.tenant, beginning.workflow, beginning.version).await?;
        let plan = compiled.startable(beginning.request.process_id.as_deref())?;
        let id = RunId(self.ports.ids.next(by.now));
        self.begin_as(id, beginning, Model { compiled, plan }, by).await
    }

    /// The rows of a new run with that id, of a process of the version.
    pub(super) async fn begin_as(
        &self,
        id: RunId,
        mut beginning: NewInstance,
        model: Model,
        by: Initiator,
    ) -> Result<RunWrite, UseCaseError> {
        let Model { compiled, plan } = model;
        if let Some(wanted) = compiled.input_schema(&plan, &beginning.trigger) {
            let problems = wanted.check(&Value::Object(beginning.request.input.clone()), "input");
            if !problems.is_empty() {
                return Err(UseCaseError::Invalid(problems));
            }
            wanted.fill(&mut beginning.request.input, |_| false);
        }
        let mut people = BTreeMap::new();
        if let Some(case) = plan.case() {
            opening::check_file(case, &beginning.request.input)?;
            people = opening::people(case, std::mem::take(&mut beginning.request.people))?;
        }
        let run = new_run(&beginning, plan.id(), id, by);
        let mut input = beginning.request.input;
        if let (Some(user), Some(graph)) = (by.user, plan.process()) {
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
        let context = RunContext { people, ..run_context(&run, &compiled, by, self.budget) };
        let written = Vec::new();
        let step = PlannedStep { run, is_new: true, version: compiled, command, context, by, written };
        self.stepped(step).await.map_err(opening::at_start)
    }
}

/// Model of a run that begins.
pub(super) struct Model {
    /// Version of the definition.
    pub compiled: Arc<CompiledVersion>,
    /// The process or the case.
    pub plan: Plan,
}
