//! Human tasks: the work list, completion and assignment.

use std::collections::BTreeSet;

use heddle_bpmn_graph::Work;
use heddle_cmmn::plan::{ItemEvent, Work as CaseWork};
use heddle_engine::{Command, OpenTask};
use heddle_kernel::{DefinitionKind, Page, PageRequest, TaskId, TenantId};
use heddle_policy::capability::{HumanTaskAssign, HumanTaskList, HumanTaskRead, RunCompleteTask};
use heddle_policy::{
    Authorized, AuthorizedList, InstanceFilter, InstanceKey, Permission, Principal, RequestContext,
};
use serde_json::{Map, Value};

use super::Runs;
use super::decide::only;
use crate::compiled::Plan;
use crate::plan::Initiator;
use crate::ports::{DefinitionNames, Person, TaskFilter};
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

/// A task with what whoever works on it needs to know.
#[derive(Debug, Clone)]
pub struct TaskView {
    /// The task.
    pub task: HumanTask,
    /// Run of the task.
    pub run: Run,
    /// Definition of the run: its workflow, or the case type.
    pub workflow: DefinitionNames,
    /// Variables that the task's form or its settings name, as the task sees them.
    pub variables: Map<String, Value>,
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
    /// Assigned to the user of this id or e-mail address, or to a name that is nobody's.
    Of(String),
    /// Tasks that the user of this id or e-mail address may work on.
    CandidateOf(String),
}

/// Search for a human task in its run.
type Finding<'f> = &'f (dyn Fn(&Run) -> Result<(HumanTask, OpenTask), UseCaseError> + Send + Sync);

impl Runs {
    /// The work list over runs alone.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn tasks(
        &self,
        authorized: &AuthorizedList<HumanTaskList>,
        context: &RequestContext,
        whose: MyTasks,
        filter: TaskFilter,
        page: &PageRequest,
    ) -> Result<Page<HumanTask>, UseCaseError> {
        self.work_list(&[authorized.filter().into()], context, whose, filter, page).await
    }

    /// The work list over the kinds of instances that a filter is given for. Who may not view one of the kinds sees of its
    /// tasks those alone that are theirs or could be.
    ///
    /// # Errors
    /// As [`Self::tasks`].
    pub async fn work_list(
        &self,
        access: &[InstanceFilter],
        context: &RequestContext,
        whose: MyTasks,
        mut filter: TaskFilter,
        page: &PageRequest,
    ) -> Result<Page<HumanTask>, UseCaseError> {
        let views = |of: &&InstanceFilter| context.holds(view_of(of.kind()));
        let viewed: Vec<InstanceFilter> = access.iter().filter(views).cloned().collect();
        let views_all = viewed.len() == access.len();
        let mut access = access;
        match whose {
            MyTasks::All => {}
            MyTasks::Assigned => filter.assignee = Some(names(context)),
            MyTasks::Candidate => filter.candidate = Some((names(context), groups(context))),
            MyTasks::Of(name) => {
                let person = self.ports.directory.person(context.tenant(), &name).await?;
                filter.assignee = Some(person.map_or_else(|| vec![name], |person| person.names()));
            }
            MyTasks::CandidateOf(name) => {
                let person = self.person(context, "candidate", &name).await?;
                if person.id != context.user_id() {
                    access = &viewed;
                }
                if access.is_empty() {
                    let message = "What others may work on is for those with `runs.view` or `cases.view`.";
                    return Err(UseCaseError::Forbidden(Problem::at(
                        "candidate",
                        "permissionMissing",
                        message,
                    )));
                }
                filter.candidate = Some((person.names(), person.groups));
            }
        }
        // Who only works on tasks sees those that are his or could be; of what they may view besides, all.
        if !views_all && filter.candidate.is_none() {
            filter.candidate = Some((names(context), groups(context)));
            filter.viewed = viewed.first().map(InstanceFilter::kind);
        }
        Ok(self.ports.runs.tasks(context.tenant(), &filter, access, page).await?)
    }

    /// The member whom a name means.
    pub(super) async fn person(
        &self,
        context: &RequestContext,
        field: &str,
        name: &str,
    ) -> Result<Person, UseCaseError> {
        let found = self.ports.directory.person(context.tenant(), name).await?;
        found.ok_or_else(|| {
            let message = format!("No member of the organisation has the id or e-mail address `{name}`.");
            UseCaseError::invalid(field, "unknownUser", message)
        })
    }

    /// Whether a task names the caller now, as their own runs are told: an open one as its assignee, or, while it is
    /// nobody's, as a candidate or by a group or role of theirs; a completed one whoever completed it. One that names nobody
    /// names no one.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn task_names(
        &self,
        tenant: TenantId,
        task: TaskId,
        caller: &Principal,
    ) -> Result<bool, UseCaseError> {
        let task = self.ports.runs.task(tenant, task).await?;
        Ok(match task.state {
            TaskState::Open => match &task.assignee {
                Some(assignee) => means(caller, assignee),
                None => {
                    task.candidate_users.iter().any(|name| means(caller, name))
                        || task.candidate_groups.iter().any(|group| caller.groups.contains(group))
                }
            },
            TaskState::Completed => task.completed_by == Some(caller.user_id),
            TaskState::Cancelled => false,
        })
    }

    /// A task with what whoever works on it needs to know.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn task(
        &self,
        authorized: &Authorized<HumanTaskRead>,
        context: &RequestContext,
        task: TaskId,
    ) -> Result<TaskView, UseCaseError> {
        self.instance_task(&authorized.key().into(), context, task).await
    }

    /// The same of an instance of either kind; a task of another one is not there.
    ///
    /// # Errors
    /// As [`Self::task`].
    pub async fn instance_task(
        &self,
        key: &InstanceKey,
        context: &RequestContext,
        task: TaskId,
    ) -> Result<TaskView, UseCaseError> {
        let task = self.ports.runs.task(context.tenant(), task).await?;
        if task.run != key.id() {
            return Err(UseCaseError::NotFound);
        }
        let run = self.load(key).await?;
        let workflow = self.ports.versions.of(run.kind)?.names(run.tenant, run.workflow).await?;
        let plan = self.plan_of(&run).await?;
        let open = run.snapshot.tasks().into_iter().find(|open| open.task_id == task.id);
        let scope = open.map(|open| open.node_instance_id);
        let mut variables = Map::new();
        for name in named_variables(&plan, &task) {
            if let Some(value) = run.snapshot.variable_at(scope, &name) {
                variables.insert(name, value.clone());
            }
        }
        Ok(TaskView { task, run, workflow, variables })
    }

    /// Completes a human task of a node; the run goes on to its next wait state.
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
        let find = |run: &Run| open_task(run, node, completion.task);
        self.complete_found(&authorized.key().into(), context, &completion, &find, record).await
    }

    /// Completes a human task by its own id.
    ///
    /// # Errors
    /// `Conflict` (`ended`) when it is done or withdrawn, and else as [`Self::complete`].
    pub async fn complete_task(
        &self,
        authorized: &Authorized<RunCompleteTask>,
        context: &RequestContext,
        task: TaskId,
        completion: Completion,
        record: &JournalFor<'_, (HumanTask, Run)>,
    ) -> Result<(HumanTask, Run), UseCaseError> {
        self.complete_instance_task(&authorized.key().into(), context, task, completion, record).await
    }

    /// The same of an instance of either kind.
    ///
    /// # Errors
    /// As [`Self::complete_task`].
    pub async fn complete_instance_task(
        &self,
        key: &InstanceKey,
        context: &RequestContext,
        task: TaskId,
        completion: Completion,
        record: &JournalFor<'_, (HumanTask, Run)>,
    ) -> Result<(HumanTask, Run), UseCaseError> {
        let find = |run: &Run| {
            let open = run.snapshot.tasks().into_iter().find(|open| open.task_id == task);
            let open =
                open.ok_or_else(|| UseCaseError::conflict("ended", "The task is done or withdrawn."))?;
            Ok((plan::human_task(run, open.clone()), open))
        };
        self.complete_found(key, context, &completion, &find, record).await
    }

    async fn complete_found(
        &self,
        key: &InstanceKey,
        context: &RequestContext,
        completion: &Completion,
        find: Finding<'_>,
        record: &JournalFor<'_, (HumanTask, Run)>,
    ) -> Result<(HumanTask, Run), UseCaseError> {
        let by = Initiator::new(context.now(), Some(context.user_id()));
        let chosen = parking_lot::Mutex::new(None);
        let choose = |run: &Run| {
            let (task, open) = find(run)?;
            check_candidate(context, &task)?;
            let form = self.forms.of(run, &task);
            let outcome = completion.outcome.as_deref();
            let sent = Sent { outcome, values: &completion.values, base: "values" };
            let Settled { outcome, values } = settled(run, &open, form.as_deref(), sent)?;
            let task_id = task.id;
            *chosen.lock() = Some((task.clone(), done(task, context)));
            let comment = completion.comment.clone();
            Ok(Some(Command::CompleteTask { task_id, outcome, values, comment }))
        };
        let missing = || UseCaseError::Internal("a completion without a task".to_owned());
        let paired = |run: &Run| match chosen.lock().clone() {
            Some((before, task)) => {
                let journal = record(&(task.clone(), run.clone()));
                journal.changing(Some(&before), Some(&task))
            }
            None => heddle_usecase::Journal::default(),
        };
        let run = self.advance(key, by, choose, &paired).await?;
        let (_, task) = chosen.lock().take().ok_or_else(missing)?;
        Ok((task, run))
    }

    /// The instance of a task: what is asked for before anything is done to the task.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn task_instance(&self, tenant: TenantId, task: TaskId) -> Result<InstanceKey, UseCaseError> {
        Ok(self.ports.runs.task_run(tenant, task).await?)
    }

    /// Claims, releases or delegates an open task; the assignee is kept by id, whatever names them.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`ended`, `assigned`); `Forbidden` (`notCandidate`); `Invalid` (`unknownUser`) for one who
    /// is no member.
    pub async fn assign(
        &self,
        authorized: &Authorized<HumanTaskAssign>,
        context: &RequestContext,
        task: TaskId,
        assignment: Assignment,
        record: &JournalFor<'_, HumanTask>,
    ) -> Result<HumanTask, UseCaseError> {
        self.assign_instance_task(&authorized.key().into(), context, task, assignment, record).await
    }

    /// The same of an instance of either kind.
    ///
    /// # Errors
    /// As [`Self::assign`].
    pub async fn assign_instance_task(
        &self,
        key: &InstanceKey,
        context: &RequestContext,
        task: TaskId,
        assignment: Assignment,
        record: &JournalFor<'_, HumanTask>,
    ) -> Result<HumanTask, UseCaseError> {
        let assignment = match assignment {
            Assignment::To(name) => {
                Assignment::To(self.person(context, "assignee", &name).await?.id.to_string())
            }
            Assignment::Claim => Assignment::Claim,
            Assignment::Release => Assignment::Release,
        };
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
            let before = open.clone();
            open.assignee.clone_from(&assignee);
            *chosen.lock() = Some((before, open));
            Ok((!same).then_some(Command::AssignTask { task_id: task, assignee }))
        };
        let paired = |_: &Run| match chosen.lock().as_ref() {
            Some((before, task)) => record(task).changing(Some(before), Some(task)),
            None => heddle_usecase::Journal::default(),
        };
        self.advance(key, by, choose, &paired).await?;
        let missing = || UseCaseError::Internal("an assignment without a task".to_owned());
        chosen.into_inner().map(|(_, task)| task).ok_or_else(missing)
    }
}

/// A command to an item of a case, in whose place the human task is completed that the item waits for, where that is what
/// completing it comes to: by whom the task is for alone, as by its own id. One with a form stays the engine's to refuse.
///
/// # Errors
/// `Forbidden` (`notCandidate`).
pub fn item_completion(
    context: &RequestContext,
    case: &Run,
    command: Command,
) -> Result<Command, UseCaseError> {
    let Command::Transition { target, transition: ItemEvent::Complete } = &command else {
        return Ok(command);
    };
    let Some(open) = case.snapshot.task_of_item(target) else { return Ok(command) };
    let task = plan::human_task(case, open);
    check_candidate(context, &task)?;
    if task.form.is_some() {
        return Ok(command);
    }
    Ok(Command::CompleteTask { task_id: task.id, outcome: None, values: Map::new(), comment: None })
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
    means(context.principal(), name)
}

/// Whether a name is that of a caller: their id or e-mail address.
fn means(caller: &Principal, name: &str) -> bool {
    name == caller.user_id.to_string() || name.eq_ignore_ascii_case(&caller.email)
}

/// The variables that a task's form or its settings name: the properties of the form, and what the expressions of the
/// settings read.
fn named_variables(plan: &Plan, task: &HumanTask) -> BTreeSet<String> {
    let properties = task.form.as_ref().and_then(|form| form.get("properties")).and_then(Value::as_object);
    let mut names: BTreeSet<String> = properties.into_iter().flat_map(Map::keys).cloned().collect();
    match plan {
        Plan::Process(graph) => {
            let node = graph.find(&task.node_id).map(|at| graph.node(at));
            if let Some(Work::User(settings)) = node.map(|node| &node.work) {
                names.extend(settings.variables().map(str::to_owned));
            }
        }
        Plan::Case(case) => {
            let item = case.item_ids.get(&*task.node_id).and_then(|at| case.items.get(*at as usize));
            if let Some(CaseWork::Human { task: settings, .. }) = item.map(|item| &item.work) {
                names.extend(settings.variables().map(str::to_owned));
            }
        }
    }
    names
}

/// Permission to view all instances of a kind.
const fn view_of(kind: DefinitionKind) -> Permission {
    match kind {
        DefinitionKind::Workflow => Permission::RunsView,
        DefinitionKind::Case => Permission::CasesView,
    }
}

/// Permission to give tasks of a kind to others, whomever they name.
const fn operate_of(kind: DefinitionKind) -> Permission {
    match kind {
        DefinitionKind::Workflow => Permission::RunsOperate,
        DefinitionKind::Case => Permission::CasesWork,
    }
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
    Err(UseCaseError::Forbidden(Problem::new("notCandidate", not_for(context, task))))
}

/// Sentences that say for whom a task is, and what the caller can do about it.
fn not_for(context: &RequestContext, task: &HumanTask) -> String {
    let way = if context.holds(operate_of(task.instance_kind)) {
        format!(
            " Assign it to yourself first: POST /api/human-tasks/{}/assign with `{{\"assignee\":\"me\"}}`.",
            task.id
        )
    } else {
        String::new()
    };
    if task.assignee.is_some() {
        return format!("The task is assigned to somebody else.{way}");
    }
    let groups = match task.candidate_groups.as_slice() {
        names if !names.is_empty() && context.holds(view_of(task.instance_kind)) => {
            format!(" It is for those with the role {}.", quoted(names))
        }
        _ => String::new(),
    };
    format!("The task names other candidates.{groups}{way}")
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
    let operator = context.holds(operate_of(task.instance_kind));
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

/// Completion that the task allows: with what its outcome sets.
pub(super) struct Settled {
    pub outcome: Option<String>,
    pub values: Map<String, Value>,
}

/// Settles a completion. An outcome that is not named is the one that the values say, where the model gives outcomes
/// values. What is neither sent nor among the run's variables has the default that the form gives it.
///
/// # Errors
/// `Invalid`: an outcome that the task does not offer, a value that contradicts it, values that the form does not allow.
pub(super) fn settled(
    run: &Run,
    task: &OpenTask,
    form: Option<&Checker>,
    sent: Sent<'_>,
) -> Result<Settled, UseCaseError> {
    let Sent { outcome: named, values: given, base } = sent;
    let outcomes: Vec<String> = task.outcomes.iter().map(ToString::to_string).collect();
    let outcome = task.meant(named, given);
    let mut problems = Vec::new();
    match outcome {
        Some(outcome) if !outcomes.is_empty() && !outcomes.iter().any(|one| one == outcome) => {
            let message = format!("The task's outcomes are {}.", quoted(&outcomes));
            problems.push(Problem::at("outcome", "notAllowed", message));
        }
        None if !outcomes.is_empty() => {
            let message = format!("Choose one of {}.", quoted(&outcomes));
            problems.push(Problem::at("outcome", "required", message));
        }
        _ => {}
    }
    let mut values = given.clone();
    for (name, value) in task.sets(outcome).into_iter().flatten() {
        if values.get(name).is_some_and(|other| other != value) {
            let message = format!("The outcome sets this to {value}.");
            problems.push(Problem::at(format!("{base}.{name}"), "contradiction", message));
        }
        values.insert(name.clone(), value.clone());
    }
    if let Some(form) = form {
        problems.extend(form.check(&Value::Object(values.clone()), base));
    }
    if !problems.is_empty() {
        return Err(UseCaseError::Invalid(problems));
    }
    // What a task of a case gives may be bound to its case file, which nobody overwrites by saying nothing.
    if let Some(form) = form.filter(|_| run.snapshot.case_file().is_none()) {
        form.fill(&mut values, |name| run.snapshot.variable_at(Some(task.node_instance_id), name).is_some());
    }
    Ok(Settled { outcome: outcome.map(str::to_owned), values })
}

pub(super) fn quoted(words: &[String]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

fn open_task(run: &Run, node: &str, wanted: Option<TaskId>) -> Result<(HumanTask, OpenTask), UseCaseError> {
    let open = run.snapshot.tasks().into_iter().filter(|task| *task.node_id == *node);
    let matching = open.filter(|task| wanted.is_none_or(|id| id == task.task_id));
    let found = matching.map(|open| (plan::human_task(run, open.clone()), open)).collect();
    only(found, "human task", "taskId")
}

fn done(task: HumanTask, context: &RequestContext) -> HumanTask {
    HumanTask {
        state: TaskState::Completed,
        ended_at: Some(context.now()),
        completed_by: Some(context.user_id()),
        ..task
    }
}
