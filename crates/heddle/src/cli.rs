//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

/// Workflows, cases, models and vector databases behind one API, in one program.
#[derive(Debug, Parser)]
#[command(name = "heddle", version, about, propagate_version = true)]
pub struct Cli {
    /// Where the configuration is read from instead of `heddle.toml` (also `HEDDLE_CONFIG`).
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
pub struct Settings {
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
    pub fn given(&self) -> Vec<(&'static str, String)> {
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
pub enum Command {
    /// Start the server.
    Serve(Serve),
    /// Print the effective configuration, secrets masked.
    Config,
    /// Bring the database up to date.
    Migrate,
    /// Check database, key, licence, disk and clock.
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
    /// Print a shell's completions.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// `heddle serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// Make the demo organisation, its administrator and workflows, if the database is new.
    #[arg(long)]
    pub demo: bool,
    /// Let callers move the clock: for tests.
    #[arg(long)]
    pub test_clock: bool,
    /// Write address, process id and first credentials to this file (mode 0600) when ready.
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
}

/// `heddle user`.
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Create a user, or print a new password for one with `--reset`. Run it while the server is stopped.
    Create {
        /// The e-mail address that the user signs in with.
        #[arg(long)]
        email: String,
        /// The name shown.
        #[arg(long)]
        name: Option<String>,
        /// The organisation's slug; the only one if there is only one.
        #[arg(long)]
        organization: Option<String>,
        /// The role's name.
        #[arg(long, default_value = "viewer")]
        role: String,
        /// Read the password from this file instead of making one.
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
    },
}

/// `heddle licence`.
#[derive(Debug, Subcommand)]
pub enum LicenceCommand {
    /// Show the licence and its state.
    Show,
}

/// `heddle workflow`.
#[derive(Debug, Subcommand)]
pub enum WorkflowCommand {
    /// Write a workflow's BPMN to a file or standard output.
    Export {
        /// The workflow's slug or id.
        workflow: String,
        /// The file; standard output without it.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// `draft`, `published` or a number.
        #[arg(long, default_value = "draft")]
        version: String,
        /// The organisation's slug; the only one if there is only one.
        #[arg(long)]
        organization: Option<String>,
    },
    /// Create workflows from BPMN files.
    Import {
        /// The files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Publish them as well.
        #[arg(long)]
        publish: bool,
        /// The organisation's slug; the only one if there is only one.
        #[arg(long)]
        organization: Option<String>,
    },
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
