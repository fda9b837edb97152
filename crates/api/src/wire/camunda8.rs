//! The part of Camunda 8's REST interface that workers and callers of processes use, as its OpenAPI document has it. Keys
//! are numbers in texts.

use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::envelope::JsonObject;
use crate::contract::{json_bodies, path_params};

/// An integer of 64 bits. Clients whose language has no such numbers send it as a text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Int64 {
    /// As a number.
    Number(i64),
    /// Text of its digits.
    Text(String),
}

impl Int64 {
    /// The integer; none for a text that is none.
    #[must_use]
    pub fn value(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(digits) => digits.parse().ok(),
        }
    }
}

path_params! {
    /// Path of a job.
    JobPath { key "jobKey": i64 }
}

words! {
    /// Kind of a job.
    enum JobKind {
        /// The work of an element.
        BpmnElement = "BPMN_ELEMENT",
        /// A listener at the begin or the end of an element.
        ExecutionListener = "EXECUTION_LISTENER",
        /// A listener of a human task.
        TaskListener = "TASK_LISTENER",
    }
}

words! {
    /// Moment at which a listener's job is made.
    enum JobListenerEventType {
        /// No listener's, or a moment that is not told.
        Unspecified = "UNSPECIFIED",
        /// Begin of an element.
        Start = "START",
        /// End of an element.
        End = "END",
    }
}

request! {
    /// Wish for jobs.
    #[schema(examples(json!({"type": "charge-card", "worker": "worker-1", "timeout": 60000, "maxJobsToActivate": 10})))]
    struct JobActivation {
        /// Type of the jobs.
        #[schema(min_length = 1, max_length = 200)]
        r#type: String,
        /// Name of the worker.
        #[schema(max_length = 200)]
        worker: Option<String>,
        /// Time that a job is held for, in milliseconds: up to a day.
        timeout: Int64,
        /// The most jobs.
        #[schema(minimum = 1, maximum = 1000000)]
        max_jobs_to_activate: i64,
        /// Names of the variables to give; all when there are none.
        #[schema(max_items = 1000)]
        fetch_variable: Option<Vec<String>>,
        /// The longest wait for the first job, in milliseconds; 0 is the service's own, less than that none.
        request_timeout: Option<Int64>,
        /// Tenants of the jobs: `<default>`, the token's organisation.
        #[schema(max_items = 100)]
        tenant_ids: Option<Vec<String>>,
        /// Whether jobs come with a token that only their present holder has.
        with_lease: Option<bool>,
    }

    /// Completion of a job.
    #[schema(examples(json!({"variables": {"paid": true}})))]
    struct JobCompletion {
        /// Variables for the output mapping, or the run.
        #[schema(value_type = Option<Object>)]
        variables: Option<JsonObject>,
        /// Token of the job; it must be the present one.
        #[schema(max_length = 100)]
        job_lease_token: Option<String>,
    }

    /// Failure of a job.
    #[schema(examples(json!({"retries": 2, "errorMessage": "The bank does not answer.", "retryBackOff": 60000})))]
    struct JobFailure {
        /// Further tries; none, and so when absent, make an incident.
        #[schema(minimum = 0, maximum = 1000000)]
        retries: Option<i64>,
        /// One sentence.
        #[schema(max_length = 100000)]
        error_message: Option<String>,
        /// Time before the next try, in milliseconds.
        retry_back_off: Option<Int64>,
        /// Token of the job; it must be the present one.
        #[schema(max_length = 100)]
        job_lease_token: Option<String>,
    }

    /// A BPMN error at a job.
    #[schema(examples(json!({"errorCode": "NO_FUNDS", "errorMessage": "The card is empty."})))]
    struct JobError {
        /// Code of the error, by which it is caught.
        #[schema(min_length = 1, max_length = 500)]
        error_code: String,
        /// One sentence.
        #[schema(max_length = 4000)]
        error_message: Option<String>,
        /// Variables that come with the error.
        #[schema(value_type = Option<Object>)]
        variables: Option<JsonObject>,
        /// Token of the job; it must be the present one.
        #[schema(max_length = 100)]
        job_lease_token: Option<String>,
    }

    /// Changes of a job; null leaves a member as it is.
    struct JobChangeset {
        /// Tries that are left.
        #[schema(minimum = 1, maximum = 1000000)]
        retries: Option<i64>,
        /// Time that the job is held for from now on, in milliseconds: up to a day.
        timeout: Option<Int64>,
    }

    /// Change of a job.
    #[schema(examples(json!({"changeset": {"timeout": 60000}})))]
    struct JobUpdate {
        /// The changes.
        changeset: JobChangeset,
        /// Token of the job; it must be the present one.
        #[schema(max_length = 100)]
        job_lease_token: Option<String>,
    }

    /// Element at which a run begins.
    struct StartInstruction {
        /// The start event.
        #[schema(min_length = 1, max_length = 500)]
        element_id: String,
    }

    /// Start of a run: by `processDefinitionId` or `processDefinitionKey`.
    #[schema(examples(json!({"processDefinitionId": "order", "variables": {"amount": 12}})))]
    struct InstanceCreation {
        /// The process: its id in the diagram.
        #[schema(min_length = 1, max_length = 500)]
        process_definition_id: Option<String>,
        /// Key of a version of the process.
        #[schema(pattern = "^[0-9]{1,19}$")]
        process_definition_key: Option<String>,
        /// The version; the active one when absent or -1. A key has its own.
        #[schema(minimum = -1)]
        process_definition_version: Option<i32>,
        /// The variables to start with.
        #[schema(value_type = Option<Object>)]
        variables: Option<JsonObject>,
        /// Tenant of the run: `<default>`, the token's organisation.
        #[schema(max_length = 200)]
        tenant_id: Option<String>,
        /// The start event, where there are several; at most one.
        start_instructions: Option<Vec<StartInstruction>>,
        /// Whether the answer waits for the end of the run.
        await_completion: Option<bool>,
        /// Names of the variables to answer with; all when there are none.
        #[schema(max_items = 1000)]
        fetch_variables: Option<Vec<String>>,
        /// The longest wait for the end, in milliseconds: up to a minute; 0 is the service's own.
        request_timeout: Option<Int64>,
        /// A name of the caller's own.
        #[schema(min_length = 1, max_length = 200)]
        business_id: Option<String>,
    }

    /// A message.
    #[schema(examples(json!({"name": "paid", "correlationKey": "order-1", "timeToLive": 60000})))]
    struct MessagePublication {
        /// Name of the message.
        #[schema(min_length = 1, max_length = 200)]
        name: String,
        /// Correlation key of its receiver; none when empty.
        #[schema(max_length = 200)]
        correlation_key: Option<String>,
        /// Time that the message is kept for while nobody waits for it, in milliseconds: up to a year; not at all when
        /// absent.
        time_to_live: Option<Int64>,
        /// The sender's own id: one message has it, its name and its key.
        #[schema(max_length = 200)]
        message_id: Option<String>,
        /// Variables that come with the message.
        #[schema(value_type = Option<Object>)]
        variables: Option<JsonObject>,
        /// Tenant of the receiver: `<default>`, the token's organisation.
        #[schema(max_length = 200)]
        tenant_id: Option<String>,
    }

    /// A message for who waits for it now.
    #[schema(examples(json!({"name": "paid", "correlationKey": "order-1", "variables": {"amount": 12}})))]
    struct MessageCorrelation {
        /// Name of the message.
        #[schema(min_length = 1, max_length = 200)]
        name: String,
        /// Correlation key of its receiver; none when empty.
        #[schema(max_length = 200)]
        correlation_key: Option<String>,
        /// Variables that come with the message.
        #[schema(value_type = Option<Object>)]
        variables: Option<JsonObject>,
        /// Tenant of the receiver: `<default>`, the token's organisation.
        #[schema(max_length = 200)]
        tenant_id: Option<String>,
    }

    /// A signal.
    #[schema(examples(json!({"signalName": "stock.changed", "variables": {}})))]
    struct SignalBroadcast {
        /// Name of the signal.
        #[schema(min_length = 1, max_length = 200)]
        signal_name: String,
        /// Variables that come with the signal.
        #[schema(value_type = Option<Object>)]
        variables: Option<JsonObject>,
        /// Tenant of the receivers: `<default>`, the token's organisation.
        #[schema(max_length = 200)]
        tenant_id: Option<String>,
    }
}

response! {
    /// A job that a worker holds.
    struct ActivatedJob {
        /// Type of the job.
        r#type: String,
        /// The process: its id in the diagram.
        process_definition_id: String,
        /// The version.
        process_definition_version: i32,
        /// The element.
        element_id: String,
        /// Headers of the element.
        #[schema(value_type = Object)]
        custom_headers: JsonObject,
        /// Name of the worker.
        worker: String,
        /// Tries that are left.
        retries: i64,
        /// End of the lock, in milliseconds since 1970.
        deadline: i64,
        /// Variables that were asked for.
        #[schema(value_type = Object)]
        variables: JsonObject,
        /// Always `<default>`: the organisation is the token's.
        tenant_id: &'static str,
        /// Always `<default>`.
        physical_tenant_id: &'static str,
        /// Key of the job.
        job_key: String,
        /// Key of the run.
        process_instance_key: String,
        /// Key of the process's version.
        process_definition_key: String,
        /// Key of the instance of the element.
        element_instance_key: String,
        /// Key of the run that no other one called, where it is known: null.
        #[schema(required = true)]
        root_process_instance_key: Option<String>,
        /// Kind of the job.
        kind: JobKind,
        /// Moment of a listener.
        listener_event_type: JobListenerEventType,
        /// Always null: a listener's task stands in the work list.
        #[schema(required = true, value_type = Option<Object>)]
        user_task: Option<Value>,
        /// Always empty.
        tags: Vec<String>,
        /// Business key of the run.
        #[schema(required = true)]
        business_id: Option<String>,
        /// Priority; a higher one comes first.
        priority: i64,
        /// Token that only the present holder has, if one was asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        job_lease_token: Option<String>,
    }

    /// Jobs for a worker.
    struct ActivatedJobs {
        /// The jobs.
        jobs: Vec<ActivatedJob>,
    }

    /// A run that was started.
    struct CreatedInstance {
        /// The process: its id in the diagram.
        process_definition_id: String,
        /// The version.
        process_definition_version: i32,
        /// Key of the process's version.
        process_definition_key: String,
        /// Key of the run.
        process_instance_key: String,
        /// Always `<default>`.
        tenant_id: &'static str,
        /// Output of the run, if its end was waited for.
        #[schema(value_type = Object)]
        variables: JsonObject,
        /// Always empty.
        tags: Vec<String>,
        /// Business key of the run.
        #[schema(required = true)]
        business_id: Option<String>,
    }

    /// A message that was published.
    struct PublishedMessage {
        /// Always `<default>`.
        tenant_id: &'static str,
        /// Key of the message.
        message_key: String,
    }

    /// A message that somebody took.
    struct CorrelatedMessage {
        /// Always `<default>`.
        tenant_id: &'static str,
        /// Key of the message.
        message_key: String,
        /// Key of the run that took it.
        process_instance_key: String,
    }

    /// A signal that was broadcast.
    struct BroadcastSignal {
        /// Always `<default>`.
        tenant_id: &'static str,
        /// Key of the signal.
        signal_key: String,
    }

    /// Part of a broker.
    struct Partition {
        /// Number of the partition.
        partition_id: i32,
        /// Role of the broker in it.
        role: &'static str,
        /// Whether it works.
        health: &'static str,
        /// Whether it takes part.
        state: &'static str,
    }

    /// Program that answers.
    struct Broker {
        /// Number of the program.
        node_id: i32,
        /// Id of the program.
        broker_id: String,
        /// Host that it listens on.
        host: String,
        /// Port that it listens on.
        port: i32,
        /// The parts of it.
        partitions: Vec<Partition>,
        /// Version of the interface that it speaks.
        version: String,
    }

    /// Programs that answer: one broker with one partition.
    struct Topology {
        /// The programs.
        brokers: Vec<Broker>,
        /// Always null.
        #[schema(required = true)]
        cluster_id: Option<String>,
        /// Number of programs.
        cluster_size: i32,
        /// Number of partitions.
        partitions_count: i32,
        /// Copies of a partition.
        replication_factor: i32,
        /// Version of the interface.
        gateway_version: String,
        /// Change of the programs, of which there is none.
        last_completed_change_id: String,
    }
}

json_bodies!(
    JobActivation,
    JobCompletion,
    JobFailure,
    JobError,
    JobUpdate,
    InstanceCreation,
    MessagePublication,
    MessageCorrelation,
    SignalBroadcast,
);
