//! Human tasks: the work list, assigning and completing.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_cases::CaseView;
use heddle_faces::literals::task_state_of;
use heddle_faces::{case_view, run_view};
use heddle_kernel::{CaseId, CaseTypeId, DefinitionKind, Patch, TaskId};
use heddle_policy::capability::CaseTaskList;
use heddle_policy::{AuthorizedEither, Capability, InstanceFilter, InstanceKey, ResourceType, resource};
use heddle_usecase::Journal;
use heddle_workflows::ports::TaskFilter;
use heddle_workflows::records::{HumanTask, Run, TaskState};
use heddle_workflows::runs::{Assignment, Completion, MyTasks};
use serde_json::json;

use super::{either, id_of};
use crate::app::App;
use crate::audit::About;
use crate::call::{Call, page};
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

/// POST /api/workflows/{workflowId}/runs/{runId}/human-tasks/{nodeId}/complete
pub(crate) async fn complete(call: Call<ops::CompleteHumanTask>) -> HandlerResult {
    let body = &call.body;
    let task = match body.task_id.as_deref().map(str::parse::<TaskId>) {
        None => None,
        Some(Ok(task)) => Some(task),
        Some(Err(_)) => return Err(Failure::at("taskId", "wrongType", "The id of a task is needed.")),
    };
    let completion = Completion {
        outcome: body.outcome.clone(),
        values: body.values.clone().unwrap_or_default(),
        comment: body.comment.clone(),
        task,
    };
    let (id, node) = (call.authorized.id().to_string(), call.path.node_id.as_str());
    let details = json!({ "nodeId": node, "outcome": body.outcome });
    let record = |(task, run): &(HumanTask, Run)| {
        let about = About::from(&id).and("human-task", task.id);
        call.journal_with(about, details.clone(), || completed(&call.app, task, run))
    };
    let (task, run) =
        call.app.runs.complete(&call.authorized, &call.context, node, completion, &record).await?;
    completed(&call.app, &task, &run)
}

fn completed(app: &App, task: &HumanTask, run: &Run) -> HandlerResult {
    match run.kind {
        DefinitionKind::Workflow => completed_run(app, task, run),
        DefinitionKind::Case => completed_case(app, task, &app.cases.now(run.clone())),
    }
}

fn completed_run(app: &App, task: &HumanTask, run: &Run) -> HandlerResult {
    let shown = run_view::bare(run, app.runs.model_now(run).as_deref(), run_view::Extent::Whole);
    let data = wire::tasks::CompletedTask { task: run_view::task(task), run: Some(shown), case: None };
    Ok(Response::data(200, data)?.tagged(run.revision))
}

fn completed_case(app: &App, task: &HumanTask, view: &CaseView) -> HandlerResult {
    let shown = case_view::whole(view, app.now())?;
    let data = wire::tasks::CompletedTask { task: run_view::task(task), run: None, case: Some(shown) };
    Ok(Response::data(200, data)?.tagged(view.case.revision))
}

/// GET /api/human-tasks/{taskId}
pub(crate) async fn get(call: Call<ops::GetHumanTask>) -> HandlerResult {
    let key = instance(&call.authorized);
    let view = call.app.runs.instance_task(&key, &call.context, call.path.task_id).await?;
    Response::data(200, run_view::task_detail(&view))
}

/// POST /api/human-tasks/{taskId}/complete
pub(crate) async fn complete_one(call: Call<ops::CompleteTaskById>) -> HandlerResult {
    let body = &call.body;
    let completion = Completion {
        outcome: body.outcome.clone(),
        values: body.values.clone().unwrap_or_default(),
        comment: body.comment.clone(),
        task: None,
    };
    let key = instance(&call.authorized);
    let outcome = body.outcome.clone();
    let record = |(task, run): &(HumanTask, Run)| {
        let about = About::from(&key.id().to_string()).and("human-task", task.id);
        let details = json!({ "nodeId": task.node_id, "outcome": outcome });
        told_of(&key, call.journal_with(about, details, || completed(&call.app, task, run)))
    };
    let task = call.path.task_id;
    let (task, run) =
        call.app.runs.complete_instance_task(&key, &call.context, task, completion, &record).await?;
    match run.kind {
        DefinitionKind::Workflow => completed_run(&call.app, &task, &run),
        // The plan may have left the cache since the step.
        DefinitionKind::Case => completed_case(&call.app, &task, &call.app.cases.view(run).await?),
    }
}

/// Key of the run or the case that a proof is about.
fn instance<C, D>(authorized: &AuthorizedEither<C, D>) -> InstanceKey
where
    C: Capability<On = resource::Run>,
    D: Capability<On = resource::Case>,
{
    match authorized {
        AuthorizedEither::One(run) => run.key().into(),
        AuthorizedEither::Other(case) => case.key().into(),
    }
}

/// A journal whose event is about a case where the instance is one: the row is called after runs.
fn told_of(key: &InstanceKey, mut journal: Journal) -> Journal {
    if let (DefinitionKind::Case, Some(entry)) = (key.kind(), &mut journal.audit) {
        entry.resource_type = ResourceType::Case.as_str().to_owned();
    }
    journal
}

/// GET /api/human-tasks
pub(crate) async fn list(call: Call<ops::ListHumanTasks>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let whose = match (query.assignee.as_deref(), query.candidate.as_deref()) {
        (Some(_), Some(_)) => {
            return Err(Failure::at(
                "candidate",
                "contradiction",
                "Either `assignee` or `candidate`, not both.",
            ));
        }
        (Some("me"), None) => MyTasks::Assigned,
        (Some(name), None) => MyTasks::Of(name.to_owned()),
        (None, Some("me")) => MyTasks::Candidate,
        (None, Some(name)) => MyTasks::CandidateOf(name.to_owned()),
        (None, None) => MyTasks::All,
    };
    let filter = TaskFilter {
        state: Some(query.state.map_or(TaskState::Open, task_state_of)),
        due_before: query.due,
        follow_up_before: query.follow_up,
        workflow: either(
            id_of(query.workflow_id.as_deref(), "workflowId")?,
            id_of::<CaseTypeId>(query.case_type_id.as_deref(), "caseTypeId")?,
            "caseTypeId",
        )?,
        run: either(
            id_of(query.run_id.as_deref(), "runId")?,
            id_of::<CaseId>(query.case_id.as_deref(), "caseId")?,
            "caseId",
        )?,
        ..TaskFilter::default()
    };
    let mut access: Vec<InstanceFilter> = vec![call.authorized.filter().into()];
    // Who may read no cases sees the tasks of runs, as the row says.
    if let Ok(cases) = call.context.snapshot().authorize_list::<CaseTaskList>() {
        access.push(cases.filter().into());
    }
    let found = call.app.runs.work_list(&access, &call.context, whose, filter, &page).await?;
    Response::list(found, page.limit, |task| run_view::task(&task))
}

/// POST /api/human-tasks/{taskId}/assign
pub(crate) async fn assign(call: Call<ops::AssignHumanTask>) -> HandlerResult {
    let assignment = match &call.body.assignee {
        Patch::Null => Assignment::Release,
        Patch::Value(name) if name == "me" => Assignment::Claim,
        Patch::Value(name) => Assignment::To(name.clone()),
        Patch::Absent => return Err(Failure::at("assignee", "required", "`me`, a name, or null is needed.")),
    };
    let details = json!({ "assignee": match &call.body.assignee { Patch::Value(name) => Some(name), Patch::Null | Patch::Absent => None } });
    let answer = |task: &HumanTask| Response::data(200, run_view::task(task));
    let key = instance(&call.authorized);
    let record = |task: &HumanTask| {
        let about = About::from(&task.run.to_string()).and("human-task", task.id);
        told_of(&key, call.journal_with(about, details.clone(), || answer(task)))
    };
    let (runs, task) = (&call.app.runs, call.path.task_id);
    let task = runs.assign_instance_task(&key, &call.context, task, assignment, &record).await?;
    answer(&task)
}
