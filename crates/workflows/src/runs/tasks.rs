//! Human tasks: the work list, completion and assignment.

use heddle_engine::Command;
use heddle_kernel::{Page, PageRequest, TaskId, TenantId};
use heddle_policy::capability::{HumanTaskAssign, HumanTaskList, RunCompleteTask};
use heddle_policy::{Authorized, AuthorizedList, Key, Permission, RequestContext, resource};
use serde_json::{Map, Value};

use super::Runs;
use super::decide::only;
use crate::plan::Initiator;
use crate::ports::TaskFilter;
use crate::records::{HumanTask, Run, TaskState};
use crate::schema::Checker;
use crate::{JournalFor, Problem, UseCaseError, plan};

/// A completion as it was sent.
#[derive(Debug, Clone, Default)]
pub struct Completion {
    /// One of the task's outcomes.
    pub outcome: Option<String>,
    /// The form's values; they become variables.
    pub values: Map<String, Value>,
    /// Comment of the caller.
    pub comment: Option<String>,
    /// Task to complete, when several of the node are open.
    pub task: Option<TaskId>,
}

/// A change of who works on a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assignment {
    /// The caller takes it.
    Claim,
    /// The caller gives it back.
    Release,
    /// Assignment to somebody else.
    To(String),
}

/// Choice of the tasks that a work list shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum MyTasks {
    /// Everybody's.
    #[default]
    All,
    /// Assigned to the caller.
    Assigned,
    /// Tasks that the caller may work on.
    Candidate,
    /// Assigned to this name.
    Of(String),
}

impl Runs {
    /// The work list.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn tasks(
        &self,
        authorized: &AuthorizedList<HumanTaskList>,
        context: &RequestContext,
        whose: MyTasks,
        mut filter: TaskFilter,
        page: &PageRequest,
    ) -> Result<Page<HumanTask>, UseCaseError> {
        match whose {
            MyTasks::All => {}
            MyTasks::Assigned => filter.assignee = Some(names(context)),
            MyTasks::Candidate => filter.candidate = Some((names(context), groups(context))),
            MyTasks::Of(name) => filter.assignee = Some(vec![name]),
        }
        // Who only works on tasks sees those that are his or could be.
        if !context.holds(Permission::RunsView) && filter.candidate.is_none() {
            filter.candidate = Some((names(context), groups(context)));
        }
        Ok(self.ports.runs.tasks(context.tenant(), &filter, authorized.filter(), page).await?)
    }

    /// Completes a human task; the run goes on to its next wait state.
    ///
    /// # Errors
    /// `NotFound` for the run; `Conflict` (`nothingWaits`, `ambiguous`); `Forbidden` (`notCandidate`); `Invalid` for
    /// an outcome or values that the task does not allow.
    pub async fn complete(
        &self,
        authorized: &Authorized<RunCompleteTask>,
        context: &RequestContext,
        node: &str,
        completion: Completion,
        record: &JournalFor<'_, (HumanTask, Run)>,
    ) -> Result<(HumanTask, Run), UseCaseError> {
        let by = Initiator::new(context.now(), Some(context.user_id()));
        let chosen = parking_lot::Mutex::new(None);
        let choose = |run: &Run| {
            let task = open_task(run, node, completion.task)?;
            check_candidate(context, &task)?;
            let outcome = completion.outcome.as_deref();
            let form = self.ports.models.form(run, &task);
            let sent = Sent { outcome, values: &completion.values, base: "values" };
            let problems = completion_problems(&task, form.as_deref(), sent);
            if !problems.is_empty() {
                return Err(UseCaseError::Invalid(problems));
            }
            let task_id = task.id;
            *chosen.lock() = Some(done(task, context));
            Ok(Some(Command::CompleteTask {
                task_id,
                outcome: completion.outcome.clone(),
                values: completion.values.clone(),
                comment: completion.comment.clone(),
            }))
        };
        let missing = || UseCaseError::Internal("a completion without a task".to_owned());
        let paired = |run: &Run| match chosen.lock().clone() {
            Some(task) => record(&(task, run.clone())),
            None => heddle_usecase::Journal::default(),
        };
        let run = self.advance(authorized.key(), by, choose, &paired).await?;
        let task = chosen.lock().take().ok_or_else(missing)?;
        Ok((task, run))
    }

    /// The run of a task: what is asked for before anything is done to the task.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn task_run(&self, tenant: TenantId, task: TaskId) -> Result<Key<resource::Run>, UseCaseError> {
        Ok(self.ports.runs.task_run(tenant, task).await?)
    }

    /// Claims, releases or delegates an open task.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`ended`, `assigned`); `Forbidden` (`notCandidate`).
    pub async fn assign(
        &self,
        authorized: &Authorized<HumanTaskAssign>,
        context: &RequestContext,
        task: TaskId,
        assignment: Assignment,
        record: &JournalFor<'_, HumanTask>,
    ) -> Result<HumanTask, UseCaseError> {
        let by = Initiator::new(context.now(), Some(context.user_id()));
        let chosen = parking_lot::Mutex::new(None);
        let choose = |run: &Run| {
            let open = run.snapshot.tasks().into_iter().find(|open| open.task_id == task);
            let Some(open) = open else {
                return Err(UseCaseError::conflict("ended", "The task is done or withdrawn."));
            };
            let mut open = plan::human_task(run, open);
            let assignee = assignee(context, &open, &assignment)?;
            let same = assignee == open.assignee;
            open.assignee.clone_from(&assignee);
            *chosen.lock() = Some(open);
            Ok((!same).then_some(Command::AssignTask { task_id: task, assignee }))
        };
        let paired = |_: &Run| chosen.lock().as_ref().map(record).unwrap_or_default();
        self.advance(authorized.key(), by, choose, &paired).await?;
        chosen.into_inner().ok_or_else(|| UseCaseError::Internal("an assignment without a task".to_owned()))
    }
}

/// The names by which a task may mean the caller.
fn names(context: &RequestContext) -> Vec<String> {
    vec![context.user_id().to_string(), context.principal().email.clone()]
}

/// The roles and groups by which a task may mean the caller.
fn groups(context: &RequestContext) -> Vec<String> {
    context.principal().groups.clone()
}

fn is_me(context: &RequestContext, name: &str) -> bool {
    name == context.user_id().to_string() || name.eq_ignore_ascii_case(&context.principal().email)
}

/// Whether the task means the caller: it is theirs, or nobody's and they are a candidate (or everybody is).
pub(super) fn check_candidate(context: &RequestContext, task: &HumanTask) -> Result<(), UseCaseError> {
    let candidate = match &task.assignee {
        Some(assignee) => is_me(context, assignee),
        None => is_candidate(context, task),
    };
    if candidate {
        return Ok(());
    }
    let message = match &task.assignee {
        Some(_) => "The task is assigned to somebody else.",
        None => "The task names other candidates.",
    };
    Err(UseCaseError::Forbidden(Problem::new("notCandidate", message)))
}

fn is_candidate(context: &RequestContext, task: &HumanTask) -> bool {
    let open_to_all = task.candidate_users.is_empty() && task.candidate_groups.is_empty();
    open_to_all
        || task.candidate_users.iter().any(|name| is_me(context, name))
        || task.candidate_groups.iter().any(|group| context.principal().groups.contains(group))
}

fn assignee(
    context: &RequestContext,
    task: &HumanTask,
    assignment: &Assignment,
) -> Result<Option<String>, UseCaseError> {
    let operator = context.holds(Permission::RunsOperate);
    let mine = task.assignee.as_deref().is_some_and(|name| is_me(context, name));
    let taken = task.assignee.is_some() && !mine;
    let not_candidate = || {
        let message = "The task is somebody else's, or names other candidates.";
        UseCaseError::Forbidden(Problem::new("notCandidate", message))
    };
    match assignment {
        Assignment::Claim if taken && !operator => {
            Err(UseCaseError::conflict("assigned", "Somebody else works on the task."))
        }
        Assignment::Claim if operator || mine || is_candidate(context, task) => {
            Ok(Some(context.user_id().to_string()))
        }
        Assignment::Release if operator || mine => Ok(None),
        Assignment::To(name) if operator || mine || (!taken && is_candidate(context, task)) => {
            Ok(Some(name.clone()))
        }
        Assignment::Claim | Assignment::Release | Assignment::To(_) => Err(not_candidate()),
    }
}

/// Outcome and values of a completion, and the member that has the values.
pub(super) struct Sent<'s> {
    pub outcome: Option<&'s str>,
    pub values: &'s Map<String, Value>,
    pub base: &'s str,
}

/// Problems of a completion: an outcome that the task does not offer, values that its form does not allow.
pub(super) fn completion_problems(task: &HumanTask, form: Option<&Checker>, sent: Sent<'_>) -> Vec<Problem> {
    let Sent { outcome, values, base } = sent;
    let mut problems = Vec::new();
    match outcome {
        Some(outcome) if !task.outcomes.is_empty() && !task.outcomes.iter().any(|one| one == outcome) => {
            let message = format!("The task's outcomes are {}.", quoted(&task.outcomes));
            problems.push(Problem::at("outcome", "notAllowed", message));
        }
        None if !task.outcomes.is_empty() => {
            let message = format!("Choose one of {}.", quoted(&task.outcomes));
            problems.push(Problem::at("outcome", "required", message));
        }
        _ => {}
    }
    if let Some(form) = form {
        problems.extend(form.check(&Value::Object(values.clone()), base));
    }
    problems
}

fn quoted(words: &[String]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

fn open_task(run: &Run, node: &str, wanted: Option<TaskId>) -> Result<HumanTask, UseCaseError> {
    let open = run.snapshot.tasks().into_iter().filter(|task| *task.node_id == *node);
    let matching = open.filter(|task| wanted.is_none_or(|id| id == task.task_id));
    only(matching.map(|task| plan::human_task(run, task)).collect(), "human task", "taskId")
}

fn done(task: HumanTask, context: &RequestContext) -> HumanTask {
    HumanTask {
        state: TaskState::Completed,
        ended_at: Some(context.now()),
        completed_by: Some(context.user_id()),
        ..task
    }
}
