//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::commands::backup::{BackUp, Restore};
use crate::commands::decision::DecisionCommand;
use crate::commands::man::WriteManual;

/// Workflows, cases, models and vector databases behind one API, in one program.
#[derive(Debug, Parser)]
#[command(name = "heddle", version, about, propagate_version = true)]
pub(crate) struct Cli {
    /// Configuration file to read instead of `heddle.toml` (also `HEDDLE_CONFIG`).
    #[arg(long, global = true, value_name = "FILE", env = "HEDDLE_CONFIG")]
    pub config: Option<PathBuf>,
    /// Print data as JSON.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(flatten)]
    pub settings: Settings,
    #[command(subcommand)]
    pub command: Command,
}

/// Settings that can also stand in the environment or the file.
#[derive(Debug, Default, Args)]
pub(crate) struct Settings {
    /// Directory of the database and the key file.
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<String>,
    /// Address and port to listen on; port 0 takes a free one.
    #[arg(long, global = true, value_name = "ADDRESS")]
    listen: Option<String>,
    /// `postgres://...` for PostgreSQL instead of SQLite.
    #[arg(long, global = true, value_name = "URL")]
    database_url: Option<String>,
    /// `full` or `process`.
    #[arg(long, global = true, value_name = "WORD")]
    durability: Option<String>,
    /// Serve plain HTTP beyond the loopback interface.
    #[arg(long, global = true)]
    insecure_http: bool,
}

impl Settings {
    /// The given ones by the configuration's keys.
    pub(crate) fn given(&self) -> Vec<(&'static str, String)> {
        let texts = [
            ("data_dir", &self.data_dir),
            ("listen", &self.listen),
            ("database_url", &self.database_url),
            ("durability", &self.durability),
        ];
        let mut given: Vec<_> =
            texts.into_iter().filter_map(|(name, text)| Some((name, text.clone()?))).collect();
        if self.insecure_http {
            given.push(("insecure_http", "true".to_owned()));
        }
        given
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the server.
    Serve(Serve),
    /// Print the effective configuration, secrets masked.
    Config,
    /// Bring the database up to date.
    Migrate,
    /// Check database, key, files, licence, rules, disk and clock.
    Doctor,
    /// Users.
    User {
        #[command(subcommand)]
        command: UserCommand,
    },
    /// The licence.
    Licence {
        #[command(subcommand)]
        command: LicenceCommand,
    },
    /// Workflows.
    Workflow {
        #[command(subcommand)]
        command: WorkflowCommand,
    },
    /// Runs.
    Run {
        #[command(subcommand)]
        command: RunCommand,
    },
    /// Background work that was set aside.
    DeadLetter {
        #[command(subcommand)]
        command: DeadLetterCommand,
    },
    /// Copy the SQLite database to a file, also while a server runs, and check the copy.
    Backup(BackUp),
    /// Put a backup into an empty data directory.
    Restore(Restore),
    /// Decisions, without a server.
    #[command(alias = "dmn")]
    Decision {
        #[command(subcommand)]
        command: DecisionCommand,
    },
    /// Write a manual page for each command.
    Man(WriteManual),
    /// Print a shell's completions.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// `heddle serve`.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Make the demo organisation, its administrator and workflows, if the database is new.
    #[arg(long)]
    pub demo: bool,
    /// Let callers move the clock: for tests.
    #[arg(long)]
    pub test_clock: bool,
    /// Do only what callers ask for: no timer fires and no message is delivered. For an installation that its own
    /// background work ends; archive, cancel or drop the cause, then start without this.
    #[arg(long)]
    pub no_background: bool,
    /// Write address, process id and first credentials to this file (mode 0600) when ready.
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
}

/// Organisation in which a command works, and account in whose name.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The e-mail address of an account of the organisation, in whose name it is done.
    #[arg(long = "as", value_name = "EMAIL")]
    pub account: Option<String>,
    /// The organisation's slug; the account's only one without it.
    #[arg(long, value_name = "SLUG")]
    pub organization: Option<String>,
}

/// `heddle user`.
#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Create a user; prints the password once. With `--role owner` it also sets a new installation up.
    Create(CreateUser),
    /// Forget the failed sign-ins of a user, so that the next is looked at without a wait.
    Unlock {
        /// The e-mail address that the user signs in with.
        email: String,
    },
}

/// `heddle user create`.
#[derive(Debug, Args)]
pub(crate) struct CreateUser {
    /// The e-mail address that the user signs in with.
    #[arg(long)]
    pub email: String,
    /// The name shown; the e-mail address without it.
    #[arg(long)]
    pub name: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
    /// The role's name.
    #[arg(long, default_value = "viewer")]
    pub role: String,
    /// Read the password from this file instead of making one.
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
}

/// `heddle licence`.
#[derive(Debug, Subcommand)]
pub(crate) enum LicenceCommand {
    /// Show the licence and its state.
    Show,
    /// Start the installation's own trial of 30 days, which it has once.
    Trial,
    /// Install a licence from a file.
    Install {
        /// The licence file.
        file: PathBuf,
        /// Install it although it was issued before the one installed.
        #[arg(long)]
        force: bool,
    },
}

/// `heddle workflow`.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    /// Write a workflow's BPMN to a file or standard output.
    Export(ExportWorkflow),
    /// Create workflows from BPMN files. A file's name becomes the slug.
    Import(ImportWorkflows),
    /// Archive a workflow: nothing starts it any more.
    Archive(ArchiveWorkflow),
}

/// `heddle workflow archive`.
#[derive(Debug, Args)]
pub(crate) struct ArchiveWorkflow {
    /// The workflow's slug or id.
    pub workflow: String,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle run`.
#[derive(Debug, Subcommand)]
pub(crate) enum RunCommand {
    /// Cancel a run.
    Cancel(CancelRun),
}

/// `heddle run cancel`.
#[derive(Debug, Args)]
pub(crate) struct CancelRun {
    /// The run's id.
    pub run: String,
    /// The place.
    #[command(flatten)]
    pub place: Place,
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
    /// Only those of this kind: message, signal, timer, timerStart, event or start.
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    /// The most to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub limit: u32,
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

/// `heddle workflow export`.
#[derive(Debug, Args)]
pub(crate) struct ExportWorkflow {
    /// The workflow's slug or id.
    pub workflow: String,
    /// The file; standard output without it.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// `draft`, `published` or a number.
    #[arg(long, value_name = "VERSION", default_value = "draft")]
    pub of: String,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle workflow import`.
#[derive(Debug, Args)]
pub(crate) struct ImportWorkflows {
    /// The files.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Publish them as well.
    #[arg(long)]
    pub publish: bool,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
