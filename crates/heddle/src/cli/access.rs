//! `heddle access`.

use clap::{Args, Subcommand};

use super::Place;

/// `heddle access`.
#[derive(Debug, Subcommand)]
pub(crate) enum AccessCommand {
    /// Tell whether somebody may do something, and each reason; exit code 1 when they may not.
    Explain(ExplainAccess),
}

/// `heddle access explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainAccess {
    /// The user, by their e-mail address or id; `me` for the account in whose name it is asked.
    pub user: String,
    /// The action, such as `read`.
    pub action: String,
    /// The thing: `TYPE/ID`, or `TYPE` for all of a type; a workflow also by its slug.
    pub resource: String,
    /// Things within which it stands, such as `workflow/ID` for a run.
    #[arg(long, value_name = "TYPE/ID")]
    pub within: Vec<String>,
    /// Permissions of which one is needed; those of the operations that do the action without it.
    #[arg(long = "permission", value_name = "NAME")]
    pub permissions: Vec<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}
