//! `heddle run`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Place;

/// `heddle run`.
#[derive(Debug, Subcommand)]
pub(crate) enum RunCommand {
    /// Start a run of a workflow.
    Start(StartRun),
    /// List the runs of a workflow, the newest first.
    List(ListRuns),
    /// Show a run with its variables, tasks and incidents.
    Get(OneRun),
    /// Write the runs of a workflow with their variables and events, a line of JSON for each; whatever the licence says.
    Export(ExportRuns),
    /// Follow the events of a run until it ends.
    Tail(TailRun),
    /// Try what failed in a run again: its incidents.
    Retry(RetryRun),
    /// Cancel a run.
    Cancel(CancelRun),
}

/// `heddle run start`.
#[derive(Debug, Args)]
pub(crate) struct StartRun {
    /// The workflow's slug or id.
    pub workflow: String,
    /// The input as a JSON object, `@FILE` with it, or `-` for standard input.
    #[arg(long, value_name = "JSON")]
    pub input: Option<String>,
    /// The version; the published one without it.
    #[arg(long, value_name = "NUMBER")]
    pub of: Option<i32>,
    /// Id of the process, where the definition has several.
    #[arg(long, value_name = "ID")]
    pub process: Option<String>,
    /// Id of the start event at which it starts, where the process has several or waits for an event.
    #[arg(long, value_name = "ID")]
    pub start_node: Option<String>,
    /// Key by which people know the run.
    #[arg(long, value_name = "TEXT")]
    pub business_key: Option<String>,
    /// Key by which events find the run.
    #[arg(long, value_name = "TEXT")]
    pub correlation_key: Option<String>,
    /// Wait until the run waits or ends (`firstWait`), or ends (`completion`).
    #[arg(long, value_name = "FOR")]
    pub wait: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle run list`.
#[derive(Debug, Args)]
pub(crate) struct ListRuns {
    /// The workflow's slug or id.
    pub workflow: String,
    /// Only those in this state: queued, running, waiting, completed, failed, cancelled or suspended.
    #[arg(long, value_name = "STATE")]
    pub state: Option<String>,
    /// Only those with an incident.
    #[arg(long)]
    pub incidents: bool,
    /// The most to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub limit: usize,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle run get`.
#[derive(Debug, Args)]
pub(crate) struct OneRun {
    /// The run's id.
    pub run: String,
    /// Slug or id of its workflow, which saves the search over all of them.
    #[arg(long, value_name = "WORKFLOW")]
    pub workflow: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle run export`.
#[derive(Debug, Args)]
pub(crate) struct ExportRuns {
    /// The workflow's slug or id.
    pub workflow: String,
    /// The file; standard output without it.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Only those in this state: queued, running, waiting, completed, failed, cancelled or suspended.
    #[arg(long, value_name = "STATE")]
    pub state: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle run tail`.
#[derive(Debug, Args)]
pub(crate) struct TailRun {
    /// The run.
    #[command(flatten)]
    pub run: OneRun,
    /// Only events behind the one with this number.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub after: u64,
}

/// `heddle run retry`.
#[derive(Debug, Args)]
pub(crate) struct RetryRun {
    /// The run.
    #[command(flatten)]
    pub run: OneRun,
    /// Only this incident.
    #[arg(long, value_name = "ID")]
    pub incident: Option<String>,
    /// Variables to set before, as a JSON object, `@FILE` with it, or `-` for standard input.
    #[arg(long, value_name = "JSON")]
    pub variables: Option<String>,
}

/// `heddle run cancel`.
#[derive(Debug, Args)]
pub(crate) struct CancelRun {
    /// The run.
    #[command(flatten)]
    pub run: OneRun,
    /// The reason, for the audit trail.
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Remove the run, which has ended, with its history.
    #[arg(long)]
    pub purge: bool,
}
