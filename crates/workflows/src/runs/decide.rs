//! Decisions on waiting runs, and their cancellation.

use heddle_engine::{Command, LocalId, SkipTarget};
use heddle_policy::capability::{RunCancel, RunDecide};
use heddle_policy::{Authorized, Permission, RequestContext};
use heddle_usecase::Journal;
use serde_json::{Map, Value};

use super::Runs;
use super::tasks::{Sent, check_candidate, completion_problems};
use crate::models::CompiledVersions;
use crate::plan::Initiator;
use crate::records::{HumanTask, Run};
use crate::{JournalFor, Problem, UseCaseError, plan};

/// Kind of decision (api.md, POST decision).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionKind {
    /// Completes a human task with outcome `approve`.
    Approve,
    /// Completes a human task with outcome `reject`.
    Reject,
    /// Completes a human task with outcome `revise`.
    Revise,
    /// Tries again what ended in an incident.
    Retry,
    /// Goes on behind what ended in an incident or waits.
    Skip,
    /// Lets a node that waits for nothing in particular go on.
    Continue,
    /// Ends a suspension.
    Resume,
    /// Holds the run.
    Suspend,
    /// Moves a token to another node.
    Move,
}

impl DecisionKind {
    /// The outcome with which a human task ends.
    const fn outcome(self) -> Option<&'static str> {
        match self {
            Self::Approve => Some("approve"),
            Self::Reject => Some("reject"),
            Self::Revise => Some("revise"),
            Self::Retry | Self::Skip | Self::Continue | Self::Resume | Self::Suspend | Self::Move => None,
        }
    }

    /// The permissions of which the caller needs one.
    const fn permissions(self) -> &'static [Permission] {
        match self.outcome() {
            Some(_) => &[Permission::TasksWork],
            None => &[Permission::RunsOperate, Permission::WorkflowsManage],
        }
    }
}

/// A decision as it was sent.
#[derive(Debug, Clone)]
pub struct Decision {
    /// Kind of the decision.
    pub kind: DecisionKind,
    /// Id of the node that is decided about.
    pub node_id: Option<String>,
    /// Id of the activity instance that is decided about.
    pub node_instance_id: Option<String>,
    /// Id of the incident that is decided about.
    pub incident_id: Option<String>,
    /// Feedback of the caller.
    pub feedback: Option<String>,
    /// Variables to set.
    pub variables: Map<String, Value>,
    /// Id of the node to which a token is moved.
    pub target: Option<String>,
}

impl Runs {
    /// Decides on a waiting run.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`nothingWaits`, `ambiguous`, `ended`); `Forbidden`; `Invalid`.
    pub async fn decide(
        &self,
        authorized: &Authorized<RunDecide>,
        context: &RequestContext,
        decision: Decision,
        record: &JournalFor<'_, Run>,
    ) -> Result<Run, UseCaseError> {
        let permissions = decision.kind.permissions();
        if !permissions.iter().any(|permission| context.holds(*permission)) {
            let names: Vec<&str> = permissions.iter().map(|permission| permission.as_str()).collect();
            let message = format!("This decision needs {}.", names.join(" or "));
            return Err(UseCaseError::Forbidden(Problem::at("decision", "permissionMissing", message)));
        }
        let by = Initiator::new(context.now(), Some(context.user_id()));
        let choose = |run: &Run| command(&self.ports.models, context, run, &decision).map(Some);
        self.advance(authorized.key(), by, choose, record).await
    }

    /// Cancels an active run; an ended one stays as it is.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn cancel(
        &self,
        authorized: &Authorized<RunCancel>,
        context: &RequestContext,
        reason: Option<String>,
        record: &JournalFor<'_, Run>,
    ) -> Result<Run, UseCaseError> {
        let by = Initiator::new(context.now(), Some(context.user_id()));
        let choose = |run: &Run| {
            let active = !run.state.is_terminal();
            Ok(active.then(|| Command::Cancel { reason: reason.clone() }))
        };
        self.advance(authorized.key(), by, choose, record).await
    }

    /// Removes an ended run with its history; done again it is done.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`active`).
    pub async fn purge(
        &self,
        authorized: &Authorized<RunCancel>,
        unit: &Journal,
    ) -> Result<(), UseCaseError> {
        let (tenant, id) = (authorized.tenant(), authorized.id());
        let _held = self.locks.hold(id).await;
        self.recent.forget(id);
        match self.load(authorized.key()).await {
            Ok(run) if run.state.is_terminal() => Ok(self.ports.runs.purge(tenant, id, unit).await?),
            Ok(_) => Err(UseCaseError::conflict("active", "The run is active; cancel it first.")),
            Err(UseCaseError::NotFound) if self.ports.runs.was_purged(tenant, id).await? => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// The engine's command for a decision on the run as it is.
fn command(
    models: &CompiledVersions,
    context: &RequestContext,
    run: &Run,
    decision: &Decision,
) -> Result<Command, UseCaseError> {
    if run.state.is_terminal() {
        return Err(UseCaseError::conflict("ended", "The run has ended."));
    }
    let variables = decision.variables.clone();
    let changes_nothing =
        matches!(decision.kind, DecisionKind::Suspend | DecisionKind::Resume | DecisionKind::Move);
    if changes_nothing && !variables.is_empty() {
        let message = "This decision sets no variables.";
        return Err(UseCaseError::invalid("variables", "notAllowed", message));
    }
    match decision.kind {
        DecisionKind::Approve | DecisionKind::Reject | DecisionKind::Revise => {
            complete(models, context, run, decision)
        }
        DecisionKind::Suspend => Ok(Command::Suspend),
        DecisionKind::Resume => Ok(Command::Resume),
        DecisionKind::Retry => Ok(Command::Retry { incident_id: incident(run, decision)?, variables }),
        DecisionKind::Skip => {
            let target = match incident(run, decision) {
                Ok(incident) => SkipTarget::Incident(incident),
                Err(_) => SkipTarget::Node(instance(run, decision)?),
            };
            Ok(Command::Skip { target, output: variables })
        }
        DecisionKind::Continue => {
            let payload = Value::Object(variables);
            Ok(Command::Continue { node_instance_id: instance(run, decision)?, payload })
        }
        DecisionKind::Move => {
            let Some(target) = decision.target.clone() else {
                return Err(UseCaseError::invalid(
                    "target",
                    "required",
                    "Name the node to move the token to.",
                ));
            };
            Ok(Command::Move { node_instance_id: instance(run, decision)?, target_node: target })
        }
    }
}

fn complete(
    models: &CompiledVersions,
    context: &RequestContext,
    run: &Run,
    decision: &Decision,
) -> Result<Command, UseCaseError> {
    let matches = |task: &HumanTask| {
        decision.node_id.as_ref().is_none_or(|id| *id == task.node_id)
            && decision.node_instance_id.as_ref().is_none_or(|id| *id == task.node_instance_id)
    };
    let open = run.snapshot.tasks().into_iter().map(|task| plan::human_task(run, task));
    let task = only(open.filter(matches).collect(), "human task", "nodeInstanceId")?;
    check_candidate(context, &task)?;
    let outcome = decision.kind.outcome().map(str::to_owned);
    let form = models.form(run, &task);
    let sent = Sent { outcome: outcome.as_deref(), values: &decision.variables, base: "variables" };
    let problems = completion_problems(&task, form.as_deref(), sent);
    if !problems.is_empty() {
        return Err(UseCaseError::Invalid(problems));
    }
    Ok(Command::CompleteTask {
        task_id: task.id,
        outcome,
        values: decision.variables.clone(),
        comment: decision.feedback.clone(),
    })
}

/// Whether an id of the engine is the wanted one, if one is wanted.
fn is_wanted<T: ToString>(wanted: Option<&String>, id: Option<T>) -> bool {
    wanted.is_none_or(|wanted| id.is_some_and(|id| id.to_string() == *wanted))
}

fn incident(run: &Run, decision: &Decision) -> Result<LocalId, UseCaseError> {
    let matches = |incident: &heddle_engine::Incident| {
        is_wanted(decision.incident_id.as_ref(), Some(incident.id))
            && is_wanted(decision.node_id.as_ref(), incident.node_id.as_ref())
            && is_wanted(decision.node_instance_id.as_ref(), incident.node_instance_id)
    };
    let open = run.snapshot.incidents().into_iter().filter(matches).collect();
    only(open, "incident", "incidentId").map(|incident| incident.id)
}

fn instance(run: &Run, decision: &Decision) -> Result<LocalId, UseCaseError> {
    let matches = |node: &heddle_engine::ActiveNode| {
        is_wanted(decision.node_id.as_ref(), Some(&node.node_id))
            && is_wanted(decision.node_instance_id.as_ref(), node.node_instance_id)
    };
    let mut waiting: Vec<LocalId> = run
        .snapshot
        .active_nodes()
        .into_iter()
        .filter(matches)
        .filter_map(|node| node.node_instance_id)
        .collect();
    waiting.sort_unstable();
    // A gateway that waits for several events is one instance.
    waiting.dedup();
    only(waiting, "node", "nodeInstanceId")
}

/// The only one there is: none is a conflict, and so are several.
pub(super) fn only<T>(mut found: Vec<T>, what: &str, by: &str) -> Result<T, UseCaseError> {
    let count = found.len();
    match (found.pop(), count) {
        (Some(one), 1) => Ok(one),
        (None, _) => Err(UseCaseError::conflict("nothingWaits", format!("No such {what} waits."))),
        (Some(_), _) => {
            let message = format!("{count} of them wait; say which {what} by `{by}`.");
            Err(UseCaseError::conflict("ambiguous", message))
        }
    }
}
