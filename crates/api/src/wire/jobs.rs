//! Jobs for external workers.

use heddle_kernel::{JobId, Timestamp};

use super::envelope::{Instant, JsonObject};
use crate::contract::{json_bodies, path_params};

words! {
    /// State of an open job.
    enum JobState {
        /// A worker may take it.
        Ready = "ready",
        /// A worker holds it.
        Locked = "locked",
        /// Wait for the time of the next attempt.
        Delayed = "delayed",
        /// No attempt is left; an incident of the run says why.
        Failed = "failed",
        /// Suspension of the run.
        Suspended = "suspended",
    }

    /// State of a job after its worker did something with it.
    enum SettledState {
        /// A worker may take it.
        Ready = "ready",
        /// A worker holds it.
        Locked = "locked",
        /// Wait for the time of the next attempt.
        Delayed = "delayed",
        /// No attempt is left; an incident of the run says why.
        Failed = "failed",
        /// Suspension of the run.
        Suspended = "suspended",
        /// Completion by the worker.
        Completed = "completed",
        /// BPMN error from the worker, which was caught.
        Error = "error",
        /// Withdrawal.
        Withdrawn = "withdrawn",
    }

    /// Part of its node that a job stands for.
    enum JobKind {
        /// The node's own work.
        Task = "task",
        /// A listener before it.
        StartListener = "startListener",
        /// A listener behind it.
        EndListener = "endListener",
        /// A listener of a human task.
        TaskListener = "taskListener",
    }
}

path_params! {
    /// Path of a job.
    JobPath { job_id "jobId": JobId }
}

response! {
    /// An open job.
    struct Job {
        /// Stable identifier.
        id: String,
        /// Type of the job, by which workers ask for it.
        r#type: String,
        /// Part of the node that it stands for.
        kind: JobKind,
        /// State of the job.
        state: JobState,
        /// Run that the job belongs to; absent for a job of a case.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        run_id: Option<String>,
        /// Workflow that the run is of; absent for a job of a case.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        workflow_id: Option<String>,
        /// Case that the job belongs to; absent for a job of a run.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        case_id: Option<String>,
        /// Case type that the case is of; absent for a job of a run.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        case_type_id: Option<String>,
        /// Version of the workflow.
        version: i32,
        /// The process within the definition.
        process_id: String,
        /// The element's id.
        node_id: String,
        /// The instance of the element.
        node_instance_id: String,
        /// Attempts that are left.
        #[schema(minimum = 0)]
        retries: u32,
        /// The attempt, from 1.
        #[schema(minimum = 1)]
        attempt: u32,
        /// The higher, the sooner.
        priority: i64,
        /// Settings of the model for the worker.
        #[schema(value_type = Object)]
        headers: JsonObject,
        /// Worker that holds it; null while nobody does.
        #[schema(required = true)]
        worker: Option<String>,
        /// End of the lock; null while nobody holds it.
        #[schema(required = true, value_type = Option<Instant>)]
        locked_until: Option<Timestamp>,
        /// Instant of the next attempt; null where it need not wait.
        #[schema(required = true, value_type = Option<Instant>)]
        not_before: Option<Timestamp>,
        /// Reason of the last failure, or null.
        #[schema(required = true)]
        message: Option<String>,
        /// Instant of creation.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
    }

    /// A job that the caller holds now.
    struct ActivatedJob {
        /// Stable identifier.
        id: String,
        /// Type of the job.
        r#type: String,
        /// Part of the node that it stands for.
        kind: JobKind,
        /// Run that the job belongs to; absent for a job of a case.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        run_id: Option<String>,
        /// Workflow that the run is of; absent for a job of a case.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        workflow_id: Option<String>,
        /// Case that the job belongs to; absent for a job of a run.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        case_id: Option<String>,
        /// Case type that the case is of; absent for a job of a run.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        case_type_id: Option<String>,
        /// Version of the workflow.
        version: i32,
        /// The process within the definition.
        process_id: String,
        /// The element's id.
        node_id: String,
        /// The instance of the element.
        node_instance_id: String,
        /// Number under which the job is held: what is done with it names it.
        #[schema(minimum = 1)]
        epoch: i64,
        /// Name of the worker, as it asked.
        worker: String,
        /// End of the lock.
        #[schema(value_type = Instant)]
        locked_until: Timestamp,
        /// Attempts that are left, this one among them.
        #[schema(minimum = 0)]
        retries: u32,
        /// The attempt, from 1.
        #[schema(minimum = 1)]
        attempt: u32,
        /// The higher, the sooner.
        priority: i64,
        /// Settings of the model for the worker.
        #[schema(value_type = Object)]
        headers: JsonObject,
        /// Variables that the element sees, or those of them that were asked for.
        #[schema(value_type = Object)]
        variables: JsonObject,
        /// Key by which messages find the run, or null.
        #[schema(required = true)]
        correlation_key: Option<String>,
        /// The caller's own name for the run, or null.
        #[schema(required = true)]
        business_key: Option<String>,
        /// Instant of creation.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
    }

    /// A job after its worker did something with it.
    struct SettledJob {
        /// Stable identifier.
        id: String,
        /// Type of the job.
        r#type: String,
        /// State of the job.
        state: SettledState,
        /// Run that the job belongs to; absent for a job of a case.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        run_id: Option<String>,
        /// Workflow that the run is of; absent for a job of a case.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        workflow_id: Option<String>,
        /// Case that the job belongs to; absent for a job of a run.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        case_id: Option<String>,
        /// Case type that the case is of; absent for a job of a run.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        case_type_id: Option<String>,
        /// The element's id.
        node_id: String,
        /// Attempts that are left; null when the job is over.
        #[schema(required = true, minimum = 0)]
        retries: Option<u32>,
        /// End of the lock; null while nobody holds it.
        #[schema(required = true, value_type = Option<Instant>)]
        locked_until: Option<Timestamp>,
        /// Instant of the next attempt; null where it need not wait.
        #[schema(required = true, value_type = Option<Instant>)]
        not_before: Option<Timestamp>,
    }
}

request! {
    /// A worker's request for jobs.
    #[schema(examples(json!({"types": ["ship"], "worker": "w1", "maxJobs": 8, "lockMs": 60000, "waitMs": 20000})))]
    struct ActivateJobs {
        /// Types of the jobs, up to 64; one that there is no job of gives nothing.
        #[schema(min_items = 1, max_items = 64)]
        types: Vec<String>,
        /// Name of the worker, for people.
        #[schema(min_length = 1, max_length = 200)]
        worker: String,
        /// The most jobs; 1 when absent.
        #[schema(nullable = false, minimum = 1, maximum = 256)]
        max_jobs: Option<u32>,
        /// Milliseconds for which they are held; 300,000 when absent.
        #[schema(nullable = false, minimum = 1, maximum = 86400000)]
        lock_ms: Option<u32>,
        /// Milliseconds to wait for the first job; 0 when absent.
        #[schema(nullable = false, minimum = 0, maximum = 60000)]
        wait_ms: Option<u32>,
        /// Names of the variables that are wanted; all when absent.
        #[schema(nullable = false, max_items = 1000)]
        variables: Option<Vec<String>>,
    }

    /// A completion.
    #[schema(examples(json!({"epoch": 1, "variables": {"shipped": true}})))]
    struct CompleteJob {
        /// Number under which the job is held.
        #[schema(minimum = 1)]
        epoch: i64,
        /// Variables from the worker: through the output mapping of the element, else merged into the variables.
        #[schema(value_type = Object, nullable = false, required = false)]
        variables: Option<JsonObject>,
    }

    /// A failure.
    #[schema(examples(json!({"epoch": 1, "message": "the carrier does not answer", "retryAfterMs": 10000})))]
    struct FailJob {
        /// Number under which the job is held.
        #[schema(minimum = 1)]
        epoch: i64,
        /// Reason of the failure.
        #[schema(max_length = 4000)]
        message: String,
        /// More about it, such as a stack trace.
        #[schema(nullable = false, max_length = 100000)]
        details: Option<String>,
        /// Attempts that are left; one fewer than before when absent. None ends the job in an incident.
        #[schema(nullable = false, minimum = 0, maximum = 1000000)]
        retries: Option<u32>,
        /// Milliseconds until the next attempt; what the model says when absent.
        #[schema(nullable = false, minimum = 0, maximum = 2_592_000_000_u64)]
        retry_after_ms: Option<u32>,
    }

    /// A BPMN error.
    #[schema(examples(json!({"epoch": 1, "code": "OUT_OF_STOCK"})))]
    struct ThrowJobError {
        /// Number under which the job is held.
        #[schema(minimum = 1)]
        epoch: i64,
        /// Code of the error.
        #[schema(min_length = 1, max_length = 200)]
        code: String,
        /// Message of the error.
        #[schema(nullable = false, max_length = 4000)]
        message: Option<String>,
        /// Variables for whoever catches it.
        #[schema(value_type = Object, nullable = false, required = false)]
        variables: Option<JsonObject>,
    }

    /// A longer lock.
    #[schema(examples(json!({"epoch": 1, "lockMs": 60000})))]
    struct ExtendJob {
        /// Number under which the job is held.
        #[schema(minimum = 1)]
        epoch: i64,
        /// Milliseconds from now for which it is held.
        #[schema(minimum = 1, maximum = 86400000)]
        lock_ms: u32,
    }

    /// Which open jobs.
    struct JobListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Only those of this type.
        #[schema(min_length = 1, max_length = 200)]
        r#type: Option<String>,
        /// Only those in this state.
        state: Option<JobState>,
        /// Only those of this run.
        #[schema(min_length = 1, max_length = 200)]
        run_id: Option<String>,
        /// Only those of this workflow.
        #[schema(min_length = 1, max_length = 200)]
        workflow_id: Option<String>,
        /// Only those of this case.
        #[schema(min_length = 1, max_length = 200)]
        case_id: Option<String>,
        /// Only those of this case type.
        #[schema(min_length = 1, max_length = 200)]
        case_type_id: Option<String>,
        /// Only those that a worker of this name holds.
        #[schema(min_length = 1, max_length = 200)]
        worker: Option<String>,
    }
}

json_bodies!(ActivateJobs, CompleteJob, FailJob, ThrowJobError, ExtendJob);
