//! Decisions on waiting runs, and their cancellation.

use heddle_engine::{Command, LocalId, Remark, SkipTarget, outcome_of};
use heddle_kernel::Revision;
use heddle_policy::capability::{RunCancel, RunDecide};
use heddle_policy::{Authorized, InstanceKey, Permission, RequestContext};
use heddle_usecase::{Journal, check_revision};
use serde_json::{Map, Value};

use super::Runs;
use super::advance::Said;
use super::forms::Forms;
use super::tasks::{Sent, Settled, check_candidate, quoted, settled};
use crate::plan::Initiator;
use crate::records::{HumanTask, Run};
use crate::told::RunStanding;
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
    /// The word of the API.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Revise => "revise",
            Self::Retry => "retry",
            Self::Skip => "skip",
            Self::Continue => "continue",
            Self::Resume => "resume",
            Self::Suspend => "suspend",
            Self::Move => "move",
        }
    }

    /// Whether it completes a human task.
    const fn completes(self) -> bool {
        matches!(self, Self::Approve | Self::Reject | Self::Revise)
    }

    /// Members that it takes, beside the feedback that each takes.
    const fn members(self) -> &'static [&'static str] {
        match self {
            Self::Approve | Self::Reject | Self::Revise | Self::Continue => {
                &["nodeId", "nodeInstanceId", "variables"]
            }
            Self::Retry | Self::Skip => &["nodeId", "nodeInstanceId", "incidentId", "variables"],
            Self::Move => &["nodeId", "nodeInstanceId", "incidentId", "target"],
            Self::Resume | Self::Suspend => &[],
        }
    }

    /// The permissions of which the caller needs one.
    const fn permissions(self) -> &'static [Permission] {
        if self.completes() {
            &[Permission::TasksWork]
        } else {
            &[Permission::RunsOperate, Permission::WorkflowsManage]
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

/// Manner in which a run is ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cancellation {
    /// Kept in the history.
    pub reason: Option<String>,
    /// Whether what has completed is compensated first; the run ends when that is done.
    pub compensate: bool,
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
        check_members(&decision)?;
        if let Some(node) = &decision.node_id {
            self.check_node(&authorized.key().into(), node).await?;
        }
        let by = Initiator::new(context.now(), Some(context.user_id()));
        // What is said at the completion of a task is its comment.
        let said = decision.feedback.clone().filter(|_| !decision.kind.completes());
        let remark = said.map(|feedback| Remark { decision: decision.kind.as_str(), feedback });
        let before = parking_lot::Mutex::new(None);
        let choose = |run: &Run| {
            *before.lock() = Some(RunStanding::of(run));
            command(&self.forms, context, run, &decision).map(Some)
        };
        let told = |run: &Run| {
            let before = *before.lock();
            record(run).changing(before.as_ref(), Some(&RunStanding::of(run)))
        };
        let said = Said { remark: remark.as_ref(), ..Said::default() };
        self.advance_with(&authorized.key().into(), by, said, choose, &told).await
    }

    /// Checks that the process of an active run has an element.
    async fn check_node(&self, key: &InstanceKey, node: &str) -> Result<(), UseCaseError> {
        let run = self.load(key).await?;
        if run.state.is_terminal() {
            return Ok(());
        }
        let plan = self.plan_of(&run).await?;
        if plan.process().is_some_and(|graph| graph.find(node).is_some()) {
            return Ok(());
        }
        Err(UseCaseError::invalid("nodeId", "unknownNode", format!("The process has no element `{node}`.")))
    }

    /// Cancels an active run, at once or behind the compensation of what has completed in it; an ended one stays as it is.
    /// `seen` is the revision that the caller saw.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`revisionMismatch`).
    pub async fn cancel(
        &self,
        authorized: &Authorized<RunCancel>,
        context: &RequestContext,
        seen: Option<Revision>,
        cancellation: Cancellation,
        record: &JournalFor<'_, Run>,
    ) -> Result<Run, UseCaseError> {
        let by = Initiator::new(context.now(), Some(context.user_id()));
        let before = parking_lot::Mutex::new(None);
        let choose = |run: &Run| {
            *before.lock() = Some(RunStanding::of(run));
            check_revision(seen, run.revision)?;
            let active = !run.state.is_terminal();
            let reason = cancellation.reason.clone();
            let command = if cancellation.compensate {
                Command::CancelCompensating { reason }
            } else {
                Command::Cancel { reason }
            };
            Ok(active.then_some(command))
        };
        let told = |run: &Run| {
            let before = *before.lock();
            record(run).changing(before.as_ref(), Some(&RunStanding::of(run)))
        };
        self.advance(&authorized.key().into(), by, choose, &told).await
    }

    /// Removes an ended run with its history; done again it is done. `seen` is the revision that the caller saw.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`active`, `awaited`, `revisionMismatch`).
    pub async fn purge(
        &self,
        authorized: &Authorized<RunCancel>,
        seen: Option<Revision>,
        unit: &Journal,
    ) -> Result<(), UseCaseError> {
        self.purge_instance(&authorized.key().into(), seen, unit).await
    }

    /// Whether there was such a run of the workflow and it was removed: to end it once more is done, too.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn was_purged(&self, authorized: &Authorized<RunCancel>) -> Result<bool, UseCaseError> {
        Ok(self.ports.runs.was_purged(&authorized.key().into()).await?)
    }
}

/// Checks that a decision says nothing that it does not take, and that its ids are some.
fn check_members(decision: &Decision) -> Result<(), UseCaseError> {
    let (word, taken) = (decision.kind.as_str(), decision.kind.members());
    let given = [
        ("nodeId", decision.node_id.is_some()),
        ("nodeInstanceId", decision.node_instance_id.is_some()),
        ("incidentId", decision.incident_id.is_some()),
        ("variables", !decision.variables.is_empty()),
        ("target", decision.target.is_some()),
    ];
    let mut problems: Vec<Problem> = given
        .into_iter()
        .filter(|(member, given)| *given && !taken.contains(member))
        .map(|(member, _)| {
            Problem::at(member, "notAllowed", format!("The decision `{word}` takes no `{member}`."))
        })
        .collect();
    for (member, id) in
        [("nodeInstanceId", &decision.node_instance_id), ("incidentId", &decision.incident_id)]
    {
        if id.as_ref().is_some_and(|id| id.parse::<LocalId>().is_err()) {
            problems.push(Problem::at(
                member,
                "wrongFormat",
                "An id within the run is needed, such as `n7`.",
            ));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(UseCaseError::Invalid(problems)) }
}

/// The engine's command for a decision on the run as it is.
fn command(
    forms: &Forms,
    context: &RequestContext,
    run: &Run,
    decision: &Decision,
) -> Result<Command, UseCaseError> {
    if run.state.is_terminal() {
        return Err(UseCaseError::conflict("ended", "The run has ended."));
    }
    let variables = decision.variables.clone();
    match decision.kind {
        DecisionKind::Approve | DecisionKind::Reject | DecisionKind::Revise => {
            complete(forms, context, run, decision)
        }
        DecisionKind::Suspend => Ok(Command::Suspend),
        DecisionKind::Resume => Ok(Command::Resume),
        DecisionKind::Retry => Ok(Command::Retry { incident_id: incident(run, decision)?.id, variables }),
        DecisionKind::Skip => {
            let target = match incident(run, decision) {
                Ok(incident) => SkipTarget::Incident(incident.id),
                Err(error) if decision.incident_id.is_some() => return Err(error),
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
    forms: &Forms,
    context: &RequestContext,
    run: &Run,
    decision: &Decision,
) -> Result<Command, UseCaseError> {
    let matches = |task: &HumanTask| {
        decision.node_id.as_ref().is_none_or(|id| *id == task.node_id)
            && decision.node_instance_id.as_ref().is_none_or(|id| *id == task.node_instance_id)
    };
    let open = run.snapshot.tasks().into_iter().map(|open| (plan::human_task(run, open.clone()), open));
    let found = open.filter(|(task, _)| matches(task)).collect();
    let (task, open) = only(found, "human task", "nodeInstanceId")?;
    check_candidate(context, &task)?;
    let word = decision.kind.as_str();
    let Some(outcome) = outcome_of(word, &open.outcomes) else {
        let message =
            format!("The task's outcomes are {}; none of them is `{word}`.", quoted(&task.outcomes));
        return Err(UseCaseError::invalid("decision", "notAllowed", message));
    };
    let form = forms.of(run, &task);
    let sent = Sent { outcome: Some(outcome), values: &decision.variables, base: "variables" };
    let Settled { outcome, values } = settled(run, &open, form.as_deref(), sent)?;
    Ok(Command::CompleteTask { task_id: task.id, outcome, values, comment: decision.feedback.clone() })
}

/// Whether an id of the engine is the wanted one, if one is wanted.
fn is_wanted<T: ToString>(wanted: Option<&String>, id: Option<T>) -> bool {
    wanted.is_none_or(|wanted| id.is_some_and(|id| id.to_string() == *wanted))
}

fn incident(run: &Run, decision: &Decision) -> Result<heddle_engine::Incident, UseCaseError> {
    let matches = |incident: &heddle_engine::Incident| {
        is_wanted(decision.incident_id.as_ref(), Some(incident.id))
            && is_wanted(decision.node_id.as_ref(), incident.node_id.as_ref())
            && is_wanted(decision.node_instance_id.as_ref(), incident.node_instance_id)
    };
    let open = run.snapshot.incidents().into_iter().filter(matches).collect();
    only(open, "incident", "incidentId")
}

fn instance(run: &Run, decision: &Decision) -> Result<LocalId, UseCaseError> {
    if decision.incident_id.is_some() {
        let stopped = incident(run, decision)?.node_instance_id;
        return stopped.ok_or_else(|| {
            UseCaseError::conflict(
                "nothingWaits",
                "The incident belongs to no node instance that could be moved.",
            )
        });
    }
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
