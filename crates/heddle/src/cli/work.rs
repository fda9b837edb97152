//! `heddle task`, `heddle job`, `heddle event` and `heddle dead-letter`.

use clap::{Args, Subcommand};

use super::Place;

/// `heddle task`.
#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// List human tasks; the open ones without --state.
    List(ListTasks),
    /// Assign a human task: to the account without a user.
    Assign(AssignTask),
    /// Complete a human task.
    Complete(CompleteTask),
}

/// `heddle task list`.
#[derive(Debug, Args)]
pub(crate) struct ListTasks {
    /// Only those assigned to the account.
    #[arg(long, conflicts_with = "candidate")]
    pub mine: bool,
    /// Only those that the account may take.
    #[arg(long)]
    pub candidate: bool,
    /// Those in this state: open, completed or cancelled.
    #[arg(long, value_name = "STATE", default_value = "open")]
    pub state: String,
    /// Only those of this workflow, by its slug or id.
    #[arg(long, value_name = "WORKFLOW")]
    pub workflow: Option<String>,
    /// Only those of this run.
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// The most to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub limit: usize,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle task assign`.
#[derive(Debug, Args)]
pub(crate) struct AssignTask {
    /// The task's id.
    pub task: String,
    /// User who is to work on it, by e-mail address or id; the account without it.
    pub user: Option<String>,
    /// Give it back: nobody is its assignee any more.
    #[arg(long, conflicts_with = "user")]
    pub nobody: bool,
    /// Id of its run, which saves the search over all open tasks.
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle task complete`.
#[derive(Debug, Args)]
pub(crate) struct CompleteTask {
    /// The task's id.
    pub task: String,
    /// Id of its run, which saves the search over all open tasks.
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// The outcome, such as `approve`.
    #[arg(long, value_name = "WORD")]
    pub outcome: Option<String>,
    /// The values of its form as a JSON object, `@FILE` with it, or `-` for standard input.
    #[arg(long, value_name = "JSON")]
    pub values: Option<String>,
    /// A comment.
    #[arg(long, value_name = "TEXT")]
    pub comment: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle job`.
#[derive(Debug, Subcommand)]
pub(crate) enum JobCommand {
    /// List open jobs for external workers, those of the oldest runs first.
    List(ListJobs),
    /// Take jobs as a worker does; each comes with the epoch under which it is held.
    Activate(ActivateJobs),
    /// Complete a job that is held.
    Complete(CompleteJob),
    /// Fail at a job that is held.
    Fail(FailJob),
}

/// `heddle job list`.
#[derive(Debug, Args)]
pub(crate) struct ListJobs {
    /// Only those of this type.
    #[arg(long = "type", value_name = "TYPE")]
    pub job_type: Option<String>,
    /// Those in this state: ready, locked, delayed, failed or suspended.
    #[arg(long, value_name = "STATE")]
    pub state: Option<String>,
    /// Only those of this workflow, by its slug or id.
    #[arg(long, value_name = "WORKFLOW")]
    pub workflow: Option<String>,
    /// Only those of this run.
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Only those that this worker holds.
    #[arg(long, value_name = "NAME")]
    pub worker: Option<String>,
    /// The most to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub limit: usize,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle job activate`.
#[derive(Debug, Args)]
pub(crate) struct ActivateJobs {
    /// Types of the jobs.
    #[arg(value_name = "TYPE", required = true)]
    pub types: Vec<String>,
    /// Name of the worker, for people.
    #[arg(long, value_name = "NAME", default_value = "heddle")]
    pub worker: String,
    /// The most jobs, 1 to 256.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub max_jobs: u32,
    /// Milliseconds for which they are held.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 300_000)]
    pub lock_ms: u32,
    /// Milliseconds to wait for the first job, up to a minute.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 0)]
    pub wait_ms: u32,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle job complete`.
#[derive(Debug, Args)]
pub(crate) struct CompleteJob {
    /// The job's id.
    pub job: String,
    /// Epoch under which it is held, as `job activate` told it.
    #[arg(long, value_name = "NUMBER")]
    pub epoch: i64,
    /// The variables as a JSON object, `@FILE` with it, or `-` for standard input.
    #[arg(long, value_name = "JSON")]
    pub variables: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle job fail`.
#[derive(Debug, Args)]
pub(crate) struct FailJob {
    /// The job's id.
    pub job: String,
    /// Epoch under which it is held, as `job activate` told it.
    #[arg(long, value_name = "NUMBER")]
    pub epoch: i64,
    /// Reason of the failure.
    #[arg(long, value_name = "TEXT")]
    pub message: String,
    /// More about it.
    #[arg(long, value_name = "TEXT")]
    pub details: Option<String>,
    /// Attempts that are left; one fewer than before without it.
    #[arg(long, value_name = "NUMBER")]
    pub retries: Option<u32>,
    /// Milliseconds until the next attempt; what the model says without it.
    #[arg(long, value_name = "MILLISECONDS")]
    pub retry_after_ms: Option<u32>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle event`.
#[derive(Debug, Subcommand)]
pub(crate) enum EventCommand {
    /// Send an event to the runs that wait for it with its correlation key; it starts those that start with it.
    Send(SendEvent),
    /// Send a signal to all that listen now.
    Signal(SendSignal),
}

/// `heddle event send`.
#[derive(Debug, Args)]
pub(crate) struct SendEvent {
    /// Type of the event: the name of the message.
    #[arg(value_name = "TYPE")]
    pub name: String,
    /// Key that tells which runs it is for.
    #[arg(long, value_name = "TEXT")]
    pub correlation_key: String,
    /// The payload.
    #[command(flatten)]
    pub payload: Payload,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle event signal`.
#[derive(Debug, Args)]
pub(crate) struct SendSignal {
    /// Name of the signal.
    pub name: String,
    /// The payload.
    #[command(flatten)]
    pub payload: Payload,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// Payload of an event or a signal.
#[derive(Debug, Args)]
pub(crate) struct Payload {
    /// The payload as JSON, `@FILE` with it, or `-` for standard input.
    #[arg(long, value_name = "JSON")]
    pub payload: Option<String>,
    /// Key under which a repeat is the same event; a random one without it.
    #[arg(long, value_name = "TEXT")]
    pub idempotency_key: Option<String>,
}

/// `heddle dead-letter`.
#[derive(Debug, Subcommand)]
pub(crate) enum DeadLetterCommand {
    /// List them, the newest first.
    List(ListLetters),
    /// Put one back, to be tried again as new.
    Retry(OneLetter),
    /// Drop one.
    Drop(OneLetter),
}

/// `heddle dead-letter list`.
#[derive(Debug, Args)]
pub(crate) struct ListLetters {
    /// Only those of this kind: message, signal, timer, timerStart, event, start, call, webhook, ingestion or service.
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    /// The most to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub limit: usize,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle dead-letter retry` and `heddle dead-letter drop`.
#[derive(Debug, Args)]
pub(crate) struct OneLetter {
    /// The dead letter's id.
    pub letter: String,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}
