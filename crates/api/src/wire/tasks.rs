//! Human tasks.

use heddle_kernel::{Patch, RunId, TaskId, Timestamp, WorkflowId};
use serde_json::Value;

use super::envelope::{AnyJson, Instant, JsonObject};
use super::runs::Run;
use crate::contract::{json_bodies, path_params};

words! {
    /// Where a human task stands.
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
        /// Its run.
        run_id: String,
        /// Its workflow.
        workflow_id: String,
        /// The user task's element id.
        node_id: String,
        /// The instance of the user task.
        node_instance_id: String,
        /// The user task's name.
        name: String,
        /// Where it stands.
        state: TaskState,
        /// Who works on it.
        #[schema(required = true)]
        assignee: Option<String>,
        /// Who may take it.
        candidate_users: Vec<String>,
        /// Which groups or roles may take it.
        candidate_groups: Vec<String>,
        /// When it should be done.
        #[schema(required = true, value_type = Option<Instant>)]
        due_at: Option<Timestamp>,
        /// How urgent it is.
        #[schema(minimum = 0, maximum = 100)]
        priority: i32,
        /// Its form: a JSON Schema, or null.
        #[schema(value_type = AnyJson)]
        form: Value,
        /// The outcomes that may be chosen; any when empty.
        outcomes: Vec<String>,
        /// When it was created.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
        /// When it ended.
        #[schema(required = true, value_type = Option<Instant>)]
        ended_at: Option<Timestamp>,
        /// Who completed it.
        #[schema(required = true)]
        completed_by: Option<String>,
    }

    /// A completed task with its run.
    struct CompletedTask {
        /// The task.
        task: HumanTask,
        /// The run at its next wait state.
        run: Run,
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

    /// An assignment.
    #[schema(examples(json!({"assignee": "me"})))]
    struct AssignTask {
        /// A user's id, or `me` to claim it; null releases it.
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
        /// Only those of this user; `me` is the caller.
        #[schema(min_length = 1, max_length = 254)]
        assignee: Option<String>,
        /// Only those that this user may take; `me` is the caller.
        #[schema(min_length = 1, max_length = 254)]
        candidate: Option<String>,
        /// Only those in this state; `open` when absent.
        state: Option<TaskState>,
        /// Only those due before.
        #[schema(value_type = Option<Instant>)]
        due: Option<Timestamp>,
        /// Only those of this workflow.
        #[schema(min_length = 1, max_length = 200)]
        workflow_id: Option<String>,
        /// Only those of this run.
        #[schema(min_length = 1, max_length = 200)]
        run_id: Option<String>,
    }
}

json_bodies!(CompleteTask, AssignTask);
