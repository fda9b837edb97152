//! Human tasks.

use heddle_kernel::{Patch, RunId, TaskId, Timestamp, WorkflowId};
use serde_json::Value;

use super::cases::{Case, CaseState};
use super::envelope::{AnyJson, Instant, JsonObject};
use super::runs::{Run, RunState};
use crate::contract::{json_bodies, path_params};

words! {
    /// State of a human task.
    enum TaskState {
        /// Waits for somebody.
        Open = "open",
        /// Done.
        Completed = "completed",
        /// Withdrawn.
        Cancelled = "cancelled",
    }
}

path_params! {
    /// Path of a human task within a run.
    HumanTaskNodePath { workflow_id "workflowId": WorkflowId, run_id "runId": RunId, node_id "nodeId": String }

    /// Path of a human task.
    TaskPath { task_id "taskId": TaskId }
}

response! {
    /// A human task.
    struct HumanTask {
        /// Stable identifier.
        id: String,
        /// Run that the task belongs to; absent for a task of a case.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        run_id: Option<String>,
        /// Workflow that the run is of; absent for a task of a case.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        workflow_id: Option<String>,
        /// Case that the task belongs to; absent for a task of a run.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        case_id: Option<String>,
        /// Case type that the case is of; absent for a task of a run.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        case_type_id: Option<String>,
        /// The element id of the user task, or the plan item's of the human task.
        node_id: String,
        /// The instance of the user task.
        node_instance_id: String,
        /// The user task's name.
        name: String,
        /// State of the task.
        state: TaskState,
        /// Assignee: id of the user who works on it, or the name that the model gives; null while unclaimed.
        #[schema(required = true)]
        assignee: Option<String>,
        /// Users who may take it, by id or e-mail address.
        candidate_users: Vec<String>,
        /// Which groups or roles may take it.
        candidate_groups: Vec<String>,
        /// Instant by which it should be done; null without a due date.
        #[schema(required = true, value_type = Option<Instant>)]
        due_at: Option<Timestamp>,
        /// Instant from which on somebody should look at it; null without a follow-up date.
        #[schema(required = true, value_type = Option<Instant>)]
        follow_up_at: Option<Timestamp>,
        /// Urgency, from 0 to 100.
        #[schema(minimum = 0, maximum = 100)]
        priority: i32,
        /// Form of the task: a JSON Schema, or null.
        #[schema(value_type = AnyJson)]
        form: Value,
        /// The outcomes that may be chosen; any when empty.
        outcomes: Vec<String>,
        /// Instant of creation.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
        /// Instant of the end; null while it is open.
        #[schema(required = true, value_type = Option<Instant>)]
        ended_at: Option<Timestamp>,
        /// User who completed it; null while it is open or when it was withdrawn.
        #[schema(required = true)]
        completed_by: Option<String>,
    }

    /// The case of a task.
    struct TaskCase {
        /// Stable identifier.
        id: String,
        /// The case within the definition.
        definition_id: String,
        /// Lifecycle state of the case.
        state: CaseState,
        /// The caller's own name for it.
        #[schema(required = true)]
        business_key: Option<String>,
        /// Correlation key by which case events find it.
        #[schema(required = true)]
        correlation_key: Option<String>,
    }

    /// The workflow or case type of a task.
    struct TaskWorkflow {
        /// Stable identifier.
        id: String,
        /// Unique name within the organisation.
        slug: String,
        /// Name for people.
        display_name: String,
        /// The version that the run or case follows.
        #[schema(minimum = 1)]
        version: i32,
    }

    /// The run of a task.
    struct TaskRun {
        /// Stable identifier.
        id: String,
        /// The process within the definition.
        process_id: String,
        /// Lifecycle state of the run.
        state: RunState,
        /// The caller's own name for it.
        #[schema(required = true)]
        business_key: Option<String>,
        /// Correlation key by which messages find it.
        #[schema(required = true)]
        correlation_key: Option<String>,
    }

    /// A human task as whoever works on it needs it.
    struct HumanTaskDetail {
        /// Stable identifier.
        id: String,
        /// Run that the task belongs to; absent for a task of a case.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        run_id: Option<String>,
        /// Workflow that the run is of; absent for a task of a case.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        workflow_id: Option<String>,
        /// Case that the task belongs to; absent for a task of a run.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        case_id: Option<String>,
        /// Case type that the case is of; absent for a task of a run.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        case_type_id: Option<String>,
        /// The element id of the user task, or the plan item's of the human task.
        node_id: String,
        /// The instance of the user task.
        node_instance_id: String,
        /// The user task's name.
        name: String,
        /// State of the task.
        state: TaskState,
        /// Assignee: id of the user who works on it, or the name that the model gives; null while unclaimed.
        #[schema(required = true)]
        assignee: Option<String>,
        /// Users who may take it, by id or e-mail address.
        candidate_users: Vec<String>,
        /// Which groups or roles may take it.
        candidate_groups: Vec<String>,
        /// Instant by which it should be done; null without a due date.
        #[schema(required = true, value_type = Option<Instant>)]
        due_at: Option<Timestamp>,
        /// Instant from which on somebody should look at it; null without a follow-up date.
        #[schema(required = true, value_type = Option<Instant>)]
        follow_up_at: Option<Timestamp>,
        /// Urgency, from 0 to 100.
        #[schema(minimum = 0, maximum = 100)]
        priority: i32,
        /// Form of the task: a JSON Schema, or null.
        #[schema(value_type = AnyJson)]
        form: Value,
        /// The outcomes that may be chosen; any when empty.
        outcomes: Vec<String>,
        /// Instant of creation.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
        /// Instant of the end; null while it is open.
        #[schema(required = true, value_type = Option<Instant>)]
        ended_at: Option<Timestamp>,
        /// User who completed it; null while it is open or when it was withdrawn.
        #[schema(required = true)]
        completed_by: Option<String>,
        /// Workflow of the task; absent for a task of a case.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        workflow: Option<TaskWorkflow>,
        /// Run of the task; absent for a task of a case.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        run: Option<TaskRun>,
        /// Case type of the task; absent for a task of a run.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        case_type: Option<TaskWorkflow>,
        /// Case of the task; absent for a task of a run.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        case: Option<TaskCase>,
        /// Variables that the form or the settings of the task name, with their present values; one that is not set is
        /// absent.
        #[schema(value_type = Object)]
        variables: JsonObject,
    }

    /// A completed task with its run or its case.
    struct CompletedTask {
        /// The task.
        task: HumanTask,
        /// The run at its next wait state; absent for a task of a case.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        run: Option<Run>,
        /// The case at its next wait state; absent for a task of a run.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        case: Option<Case>,
    }
}

request! {
    /// A completion.
    #[schema(examples(json!({"outcome": "approve", "values": {"approved": true}})))]
    struct CompleteTask {
        /// The chosen outcome.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        outcome: Option<String>,
        /// The form's values.
        #[schema(value_type = Object, nullable = false, required = false)]
        values: Option<JsonObject>,
        /// A remark.
        #[schema(nullable = false, max_length = 4000)]
        comment: Option<String>,
        /// The task, where several of the element are open.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        task_id: Option<String>,
    }

    /// A completion of the task that the path names.
    #[schema(examples(json!({"outcome": "approve", "values": {"approved": true}})))]
    struct CompleteOneTask {
        /// The chosen outcome.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        outcome: Option<String>,
        /// The form's values.
        #[schema(value_type = Object, nullable = false, required = false)]
        values: Option<JsonObject>,
        /// A remark.
        #[schema(nullable = false, max_length = 4000)]
        comment: Option<String>,
    }

    /// An assignment.
    #[schema(examples(json!({"assignee": "me"})))]
    struct AssignTask {
        /// A member's id or e-mail address, or `me` to claim it; null releases it.
        #[schema(required = true, value_type = Option<String>, min_length = 1, max_length = 254)]
        assignee: Patch<String>,
    }

    /// Which human tasks.
    struct HumanTaskListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Only those of this user, by id or e-mail address; `me` is the caller.
        #[schema(min_length = 1, max_length = 254)]
        assignee: Option<String>,
        /// Only those that this user may take, by id or e-mail address; `me` is the caller.
        #[schema(min_length = 1, max_length = 254)]
        candidate: Option<String>,
        /// Only those in this state; `open` when absent.
        state: Option<TaskState>,
        /// Only those due before.
        #[schema(value_type = Option<Instant>)]
        due: Option<Timestamp>,
        /// Only those with a follow-up date before.
        #[schema(value_type = Option<Instant>)]
        follow_up: Option<Timestamp>,
        /// Only those of this workflow.
        #[schema(min_length = 1, max_length = 200)]
        workflow_id: Option<String>,
        /// Only those of this run.
        #[schema(min_length = 1, max_length = 200)]
        run_id: Option<String>,
        /// Only those of cases of this case type.
        #[schema(min_length = 1, max_length = 200)]
        case_type_id: Option<String>,
        /// Only those of this case.
        #[schema(min_length = 1, max_length = 200)]
        case_id: Option<String>,
    }
}

json_bodies!(CompleteTask, CompleteOneTask, AssignTask);
