//! Human tasks: the work list, assigning and completing.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_kernel::{Patch, TaskId};
use heddle_workflows::ports::TaskFilter;
use heddle_workflows::records::{HumanTask, Run, TaskState};
use heddle_workflows::runs::{Assignment, Completion, MyTasks};
use serde_json::json;

use super::literals::task_state_of;
use super::{id_of, run_view};
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
    let data = wire::tasks::CompletedTask {
        task: run_view::task(task),
        run: run_view::bare(run, app.runs.model_now(run).as_deref(), run_view::Extent::Whole),
    };
    Ok(Response::data(200, data)?.tagged(run.revision))
}

/// GET /api/human-tasks/{taskId}
pub(crate) async fn get(call: Call<ops::GetHumanTask>) -> HandlerResult {
    let view = call.app.runs.task(&call.authorized, &call.context, call.path.task_id).await?;
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
    let id = call.authorized.id().to_string();
    let outcome = body.outcome.clone();
    let record = |(task, run): &(HumanTask, Run)| {
        let about = About::from(&id).and("human-task", task.id);
        let details = json!({ "nodeId": task.node_id, "outcome": outcome });
        call.journal_with(about, details, || completed(&call.app, task, run))
    };
    let task = call.path.task_id;
    let (task, run) =
        call.app.runs.complete_task(&call.authorized, &call.context, task, completion, &record).await?;
    completed(&call.app, &task, &run)
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
        workflow: id_of(query.workflow_id.as_deref(), "workflowId")?,
        run: id_of(query.run_id.as_deref(), "runId")?,
        ..TaskFilter::default()
    };
    let found = call.app.runs.tasks(&call.authorized, &call.context, whose, filter, &page).await?;
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
    let record = |task: &HumanTask| {
        let about = About::from(&task.run.to_string()).and("human-task", task.id);
        call.journal_with(about, details.clone(), || answer(task))
    };
    let task =
        call.app.runs.assign(&call.authorized, &call.context, call.path.task_id, assignment, &record).await?;
    answer(&task)
}
