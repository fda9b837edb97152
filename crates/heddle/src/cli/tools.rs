//! `heddle backup`, `restore`, `decision` and `man`: what needs no running server.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `heddle backup`.
#[derive(Debug, Args)]
pub(crate) struct BackUp {
    /// The file to write, which must not be there yet.
    #[arg(value_name = "FILE")]
    pub to: PathBuf,
    /// Also copy the key to this file. Whoever has both can read everything: keep them apart.
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// Also copy the keyring, which secrets of connections open with, to this file.
    #[arg(long, value_name = "FILE")]
    pub keyring_file: Option<PathBuf>,
}

/// `heddle restore`.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// The backup.
    #[arg(value_name = "FILE")]
    pub from: PathBuf,
    /// The backup of the key, which is put beside the database.
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// The backup of the keyring, which is put beside the database.
    #[arg(long, value_name = "FILE")]
    pub keyring_file: Option<PathBuf>,
}

/// `heddle decision`.
#[derive(Debug, Subcommand)]
pub(crate) enum DecisionCommand {
    /// Evaluate a decision of a DMN file and print its value as JSON.
    Eval(EvaluateDecision),
    /// Check a DMN file as the server does, and with --cases what its decisions give.
    Check(CheckDecisions),
}

/// `heddle decision eval`.
#[derive(Debug, Args)]
pub(crate) struct EvaluateDecision {
    /// The DMN file (`-` for standard input), then those that it imports.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Name or id of the decision or decision service; may be left out when there is but one decision.
    #[arg(long, value_name = "NAME")]
    pub decision: Option<String>,
    /// The inputs by name as a JSON object, `@FILE` with it, or `-` for standard input.
    #[arg(long, value_name = "JSON")]
    pub input: Option<String>,
    /// Print one JSON document that also tells which inputs each decision used, which rules matched, and what they gave.
    #[arg(long)]
    pub explain: bool,
    /// End with exit code 1 also when the value is null or a part of it was null for a reason.
    #[arg(long)]
    pub strict: bool,
}

/// `heddle decision check`.
#[derive(Debug, Args)]
pub(crate) struct CheckDecisions {
    /// The DMN file (`-` for standard input), then those that it imports.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// A JSON file with test cases: a list of `{"name", "decision", "input", "expected"}`; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    pub cases: Option<PathBuf>,
    /// End with exit code 1 also for warnings.
    #[arg(long)]
    pub strict: bool,
}

/// `heddle man`.
#[derive(Debug, Args)]
pub(crate) struct WriteManual {
    /// The directory for the pages, one for each command; made if it is not there.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}
