//! The external task protocol of Camunda 7, as its REST interface has it.

use std::collections::BTreeMap;

use heddle_kernel::JobId;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::envelope::{AnyJson, JsonObject};
use crate::contract::{json_bodies, path_params};

words! {
    /// Column by which fetched tasks are ordered.
    enum TaskSortBy {
        /// Instant of creation.
        CreateTime = "createTime",
    }
}

words! {
    /// Direction in which fetched tasks are ordered.
    enum TaskSortOrder {
        /// The oldest first.
        Ascending = "asc",
        /// The newest first.
        Descending = "desc",
    }
}

path_params! {
    /// Path of an external task.
    TaskPath { job_id "id": JobId }
}

/// Name of a worker. Some clients send a number.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum WorkerId {
    /// A text.
    Text(String),
    /// A number, which stands for its digits.
    Number(i64),
}

impl std::fmt::Display for WorkerId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
        }
    }
}

request! {
    /// A value with its type.
    struct TypedValue {
        /// Value in the form of its type: of `Json` and `Object` a text, of `File` and `Bytes` base64.
        #[serde(default)]
        #[schema(value_type = AnyJson, required = false)]
        value: Value,
        /// Name of the type, such as `String`; read from the value when absent. Capitals don't matter.
        #[schema(max_length = 100)]
        r#type: Option<String>,
        /// Facts that the type needs beside the value, such as `filename`.
        #[schema(value_type = Option<Object>)]
        value_info: Option<JsonObject>,
    }

    /// Topic of which tasks are fetched. Those members that are absent or null leave out nothing.
    struct FetchTopic {
        /// Topic: the type of the jobs.
        #[schema(min_length = 1, max_length = 200)]
        topic_name: String,
        /// Time that a task is held for, in milliseconds.
        #[schema(minimum = 1, maximum = 86400000)]
        lock_duration: i64,
        /// Names of the variables to give; all when absent.
        #[schema(max_items = 1000)]
        variables: Option<Vec<String>>,
        /// Whether variables of the task's own scope alone are given, which can't be told apart here: false.
        local_variables: Option<bool>,
        /// Whether objects are given as JSON: they always are.
        deserialize_values: Option<bool>,
        /// Business key of the run.
        #[schema(max_length = 200)]
        business_key: Option<String>,
        /// Id of the process definition, as fetched tasks have it.
        #[schema(max_length = 600)]
        process_definition_id: Option<String>,
        /// Ids of process definitions.
        #[schema(max_items = 1000)]
        process_definition_id_in: Option<Vec<String>>,
        /// Process within the definition: its id in the diagram.
        #[schema(max_length = 500)]
        process_definition_key: Option<String>,
        /// Processes.
        #[schema(max_items = 1000)]
        process_definition_key_in: Option<Vec<String>>,
        /// Variables that the task must see with just these values.
        #[schema(value_type = Option<Object>)]
        process_variables: Option<JsonObject>,
        /// Whether tasks without a tenant are meant: all are.
        without_tenant_id: Option<bool>,
        /// Whether the job's headers are given as `extensionProperties`.
        include_extension_properties: Option<bool>,
    }

    /// Order of fetched tasks.
    struct TaskSorting {
        /// Column of the order.
        sort_by: TaskSortBy,
        /// Direction of the order.
        sort_order: Option<TaskSortOrder>,
    }

    /// Wish for tasks.
    #[schema(examples(json!({"workerId": "worker-1", "maxTasks": 10, "asyncResponseTimeout": 20000,
        "topics": [{"topicName": "charge-card", "lockDuration": 60000}]})))]
    struct FetchTasks {
        /// Name of the worker, under which the tasks are locked.
        worker_id: WorkerId,
        /// The most tasks.
        #[schema(minimum = 0, maximum = 1000)]
        max_tasks: i64,
        /// Whether a higher priority comes first: it always does.
        use_priority: Option<bool>,
        /// The longest wait for the first task, in milliseconds.
        #[schema(minimum = 0, maximum = 1800000)]
        async_response_timeout: Option<i64>,
        /// Topics of which tasks are fetched.
        topics: Option<Vec<FetchTopic>>,
        /// Order among tasks of one priority; the oldest come first.
        sorting: Option<Vec<TaskSorting>>,
    }

    /// Completion of a task.
    #[schema(examples(json!({"workerId": "worker-1", "variables": {"paid": {"value": true, "type": "Boolean"}}})))]
    struct CompleteTask {
        /// Worker that holds the task.
        worker_id: WorkerId,
        /// Variables for the run.
        variables: Option<BTreeMap<String, TypedValue>>,
        /// Variables for the output mapping of the task; without one they are the run's.
        local_variables: Option<BTreeMap<String, TypedValue>>,
    }

    /// Failure of a task.
    #[schema(examples(json!({"workerId": "worker-1", "errorMessage": "The bank does not answer.", "retries": 2,
        "retryTimeout": 60000})))]
    struct TaskFailure {
        /// Worker that holds the task.
        worker_id: WorkerId,
        /// One sentence.
        #[schema(max_length = 4000)]
        error_message: Option<String>,
        /// Whatever helps to find the cause.
        #[schema(max_length = 100000)]
        error_details: Option<String>,
        /// Further tries; none, and so when absent, make an incident.
        #[schema(minimum = 0, maximum = 1000000)]
        retries: Option<i64>,
        /// Time before the next try, in milliseconds.
        #[schema(minimum = 0, maximum = 2000000000)]
        retry_timeout: Option<i64>,
    }

    /// A BPMN error at a task.
    #[schema(examples(json!({"workerId": "worker-1", "errorCode": "NO_FUNDS", "errorMessage": "The card is empty."})))]
    struct TaskError {
        /// Worker that holds the task.
        worker_id: WorkerId,
        /// Code of the error, by which it is caught.
        #[schema(min_length = 1, max_length = 500)]
        error_code: String,
        /// One sentence.
        #[schema(max_length = 4000)]
        error_message: Option<String>,
        /// Variables that come with the error.
        variables: Option<BTreeMap<String, TypedValue>>,
    }

    /// A longer lock.
    #[schema(examples(json!({"workerId": "worker-1", "newDuration": 60000})))]
    struct ExtendLock {
        /// Worker that holds the task.
        worker_id: WorkerId,
        /// Time that the task is held for from now on, in milliseconds.
        #[schema(minimum = 1, maximum = 86400000)]
        new_duration: i64,
    }
}

response! {
    /// A variable with its type.
    struct TypedVariable {
        /// Name of the type.
        r#type: &'static str,
        /// Value in the form of its type.
        #[schema(value_type = AnyJson)]
        value: Value,
        /// Facts that the type needs beside the value.
        #[schema(value_type = Object)]
        value_info: JsonObject,
    }

    /// A task that a worker holds.
    struct LockedTask {
        /// Stable identifier: the job's.
        id: String,
        /// The element.
        activity_id: String,
        /// The instance of the element.
        activity_instance_id: String,
        /// The instance of the element, too: what runs here has no executions of its own.
        execution_id: String,
        /// The run.
        process_instance_id: String,
        /// Process, version and workflow.
        process_definition_id: String,
        /// The process within the definition.
        process_definition_key: String,
        /// Always null: tags of versions are for calls alone.
        #[schema(required = true)]
        process_definition_version_tag: Option<String>,
        /// Always null: the organisation is the token's.
        #[schema(required = true)]
        tenant_id: Option<String>,
        /// Tries that are left; null before the first failure.
        #[schema(required = true)]
        retries: Option<i64>,
        /// Whether the run is held: then it gives no tasks.
        suspended: bool,
        /// Worker that holds the task.
        worker_id: String,
        /// End of the lock.
        lock_expiration_time: String,
        /// Instant at which the task began.
        create_time: String,
        /// The topic.
        topic_name: String,
        /// Priority; a higher one comes first.
        priority: i64,
        /// Always null: it stands in the run's events.
        #[schema(required = true)]
        error_message: Option<String>,
        /// Always null: they stand in the run's events.
        #[schema(required = true)]
        error_details: Option<String>,
        /// Business key of the run.
        #[schema(required = true)]
        business_key: Option<String>,
        /// Variables that were asked for.
        variables: BTreeMap<String, TypedVariable>,
        /// Headers of the job, if they were asked for.
        extension_properties: BTreeMap<String, String>,
    }
}

json_bodies!(FetchTasks, CompleteTask, TaskFailure, TaskError, ExtendLock);
