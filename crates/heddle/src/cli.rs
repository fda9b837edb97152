//! The command line. Each group of commands has its own file.

mod access;
mod audit;
mod case;
mod case_type;
mod connection;
mod group;
mod model;
mod models;
#[cfg(test)]
mod pages;
mod people;
mod place;
mod run;
mod tools;
mod vector;
mod work;
mod workflow;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

pub(crate) use access::{AccessCommand, ExplainAccess};
pub(crate) use audit::{AuditCommand, VerifyAudit};
pub(crate) use case::{CaseCommand, CaseEvents, CaseFile, ListCases, MoveCase, OneCase, StartCase};
pub(crate) use case_type::{
    CaseTypeCommand, CaseTypeFormat, ExportCaseType, ImportCaseTypes, ValidateCaseTypes,
};
pub(crate) use connection::{
    ConnectionCommand, ForgetKey, KeyCommand, ListConnections, RotateKey, TestConnection,
};
pub(crate) use group::{CreateGroup, GroupCommand, GroupUsers, ListGroups, OneGroup};
pub(crate) use model::{
    AskModel, ConnectProvider, EmbedTexts, ImportModels, ListDeployments, ListModelConnections, ListModels,
    ModelCommand, OneModelConnection, ShowUsage,
};
pub(crate) use models::{FetchModel, ModelPlace, ModelsCommand};
pub(crate) use people::{
    CreateToken, CreateUser, DeleteToken, InviteUsers, LicenceCommand, ListTokens, ListUsers, OneUser,
    SetPassword, TokenCommand, UnlinkUser, UserCommand,
};
pub(crate) use place::Place;
pub(crate) use run::{CancelRun, ExportRuns, ListRuns, OneRun, RetryRun, RunCommand, StartRun, TailRun};
pub(crate) use tools::{BackUp, CheckDecisions, DecisionCommand, EvaluateDecision, Restore, WriteManual};
pub(crate) use vector::{
    CreateVectorDatabase, FileCommand, IngestionJobCommand, ListFiles, ListIngestionJobs,
    ListVectorDatabases, OneFile, OneIngestionJob, OneVectorDatabase, QueryPassages, UpdateVectorDatabase,
    UploadFiles, VectorDatabaseCommand, VectorDatabaseMembers,
};
pub(crate) use work::{
    ActivateJobs, AssignTask, CompleteJob, CompleteTask, DeadLetterCommand, EventCommand, FailJob,
    JobCommand, ListJobs, ListLetters, ListTasks, OneLetter, Payload, SendEvent, SendSignal, TaskCommand,
};
pub(crate) use workflow::{
    ExportFormat, ExportWorkflow, ImportWorkflows, ListWorkflows, ValidateWorkflows, WorkflowCommand,
};

/// Runs BPMN workflows and DMN decisions behind an HTTP API: the server, and commands for it.
///
/// Commands speak to the server that runs on the data directory, to one elsewhere (--server, HEDDLE_TOKEN), or, where none
/// runs, do their work on the database themselves.
#[derive(Debug, Parser)]
#[command(name = "heddle", version, about, propagate_version = true)]
pub(crate) struct Cli {
    /// Print results, and errors too, as one line of JSON.
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub json: bool,
    /// Configuration file to read instead of `heddle.toml`.
    #[arg(long, global = true, value_name = "FILE", env = "HEDDLE_CONFIG", help_heading = "Everywhere")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub settings: Settings,
    #[command(subcommand)]
    pub command: Command,
}

/// Settings of the installation that can also stand in the environment or the file.
#[derive(Debug, Default, Args)]
pub(crate) struct Settings {
    /// Directory of the database and the key file.
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    data_dir: Option<String>,
    /// `postgres://...` for PostgreSQL instead of SQLite.
    #[arg(long, global = true, value_name = "URL", help_heading = "Everywhere")]
    database_url: Option<String>,
}

/// Settings of a server that can also stand in the environment or the file.
#[derive(Debug, Default, Clone, Args)]
pub(crate) struct ServerSettings {
    /// Address and port to listen on; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Serve plain HTTP beyond the loopback interface.
    #[arg(long)]
    insecure_http: bool,
    /// File of the certificate with its chain, as PEM: with it and its key the server speaks TLS.
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<String>,
    /// File of the certificate's private key, as PEM.
    #[arg(long, value_name = "FILE")]
    tls_key: Option<String>,
    /// Durability of an answered write: `full` survives a loss of power, `process` only the end of the process.
    #[arg(long, value_name = "WORD")]
    durability: Option<String>,
    /// Private addresses that connections may lead to, with commas: `10.0.0.0/8:443`, `127.0.0.1:11434`.
    #[arg(long, value_name = "RULES")]
    egress_allow: Option<String>,
    /// Directory of the embedding models.
    #[arg(long, value_name = "DIR")]
    vectors_model_dir: Option<String>,
    /// Place of the bytes of files: a directory that all nodes share, or s3://BUCKET/FOLDER.
    #[arg(long, value_name = "PLACE")]
    vectors_files: Option<String>,
    /// The most megabytes of a file.
    #[arg(long, value_name = "NUMBER")]
    vectors_file_megabytes: Option<String>,
    /// Limits of the calls of models that one organisation makes on a server, name=number with commas: requestsPerMinute,
    /// tokensPerMinute, concurrency.
    #[arg(long, value_name = "LIMITS")]
    models_limits: Option<String>,
    /// The most that one organisation spends on models: `period=month,costMicros=5000000,tokens=1000000`.
    #[arg(long, value_name = "BUDGET")]
    models_budget: Option<String>,
}

impl Cli {
    /// Settings that were given, by the configuration's keys.
    pub(crate) fn given(&self) -> Vec<(&'static str, String)> {
        let Settings { data_dir, database_url } = &self.settings;
        let none = ServerSettings::default();
        let server = match &self.command {
            Command::Serve(options) => &options.settings,
            Command::Config { settings } => settings,
            Command::Migrate
            | Command::Doctor
            | Command::User { .. }
            | Command::Group { .. }
            | Command::Token { .. }
            | Command::Licence { .. }
            | Command::Workflow { .. }
            | Command::CaseType { .. }
            | Command::Run { .. }
            | Command::Case { .. }
            | Command::Task { .. }
            | Command::Job { .. }
            | Command::Event { .. }
            | Command::DeadLetter { .. }
            | Command::Access { .. }
            | Command::Connection { .. }
            | Command::VectorDatabase { .. }
            | Command::File { .. }
            | Command::Query(_)
            | Command::IngestionJob { .. }
            | Command::Model { .. }
            | Command::Chat(_)
            | Command::Embed(_)
            | Command::Usage(_)
            | Command::ParseWorker
            | Command::Key { .. }
            | Command::Audit { .. }
            | Command::Backup(_)
            | Command::Restore(_)
            | Command::Models { .. }
            | Command::Decision { .. }
            | Command::Man(_)
            | Command::Completions { .. } => &none,
        };
        let insecure = server.insecure_http.then(|| "true".to_owned());
        let texts = [
            ("data_dir", data_dir),
            ("database_url", database_url),
            ("listen", &server.listen),
            ("durability", &server.durability),
            ("insecure_http", &insecure),
            ("tls_cert", &server.tls_cert),
            ("tls_key", &server.tls_key),
            ("egress_allow", &server.egress_allow),
            ("vectors_model_dir", &server.vectors_model_dir),
            ("vectors_files", &server.vectors_files),
            ("vectors_file_megabytes", &server.vectors_file_megabytes),
            ("models_limits", &server.models_limits),
            ("models_budget", &server.models_budget),
        ];
        texts.into_iter().filter_map(|(name, text)| Some((name, text.clone()?))).collect()
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the server.
    Serve(Serve),
    /// Print the effective configuration, secrets masked.
    Config {
        /// Settings that `serve` would be started with.
        #[command(flatten)]
        settings: ServerSettings,
    },
    /// Bring the database up to date.
    Migrate,
    /// Check database, key, files, licence, rules, disk and clock.
    Doctor,
    /// Users.
    User {
        #[command(subcommand)]
        command: UserCommand,
    },
    /// Groups of users.
    Group {
        #[command(subcommand)]
        command: GroupCommand,
    },
    /// API tokens, by which programs and other machines call.
    Token {
        #[command(subcommand)]
        command: TokenCommand,
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
    /// Case types.
    CaseType {
        #[command(subcommand)]
        command: CaseTypeCommand,
    },
    /// Runs.
    Run {
        #[command(subcommand)]
        command: RunCommand,
    },
    /// Cases.
    Case {
        #[command(subcommand)]
        command: CaseCommand,
    },
    /// Human tasks.
    Task {
        #[command(subcommand)]
        command: TaskCommand,
    },
    /// Jobs for external workers.
    Job {
        #[command(subcommand)]
        command: JobCommand,
    },
    /// Events and signals.
    Event {
        #[command(subcommand)]
        command: EventCommand,
    },
    /// Background work that was set aside.
    DeadLetter {
        #[command(subcommand)]
        command: DeadLetterCommand,
    },
    /// Rights: who may do what.
    Access {
        #[command(subcommand)]
        command: AccessCommand,
    },
    /// Connections to services outside.
    Connection {
        #[command(subcommand)]
        command: ConnectionCommand,
    },
    /// Vector databases.
    VectorDatabase {
        #[command(subcommand)]
        command: VectorDatabaseCommand,
    },
    /// Files of vector databases.
    File {
        #[command(subcommand)]
        command: FileCommand,
    },
    /// Find passages of a vector database, with their citations.
    Query(QueryPassages),
    /// Jobs that read files into vector databases.
    IngestionJob {
        #[command(subcommand)]
        command: IngestionJobCommand,
    },
    /// Models: providers, connections to them, deployments.
    Model {
        #[command(subcommand)]
        command: ModelCommand,
    },
    /// Ask a model.
    Chat(AskModel),
    /// Make vectors of texts.
    Embed(EmbedTexts),
    /// Show what calls of models have used.
    Usage(ShowUsage),
    /// Read one file, apart from the server that starts it.
    #[command(hide = true)]
    ParseWorker,
    /// Keys that secrets are sealed with.
    Key {
        #[command(subcommand)]
        command: KeyCommand,
    },
    /// The audit trail.
    Audit {
        #[command(subcommand)]
        command: AuditCommand,
    },
    /// Copy the SQLite database to a file, also while a server runs, and check the copy.
    Backup(BackUp),
    /// Put a backup into an empty data directory.
    Restore(Restore),
    /// Built-in embedding models, without a server.
    Models {
        #[command(subcommand)]
        command: ModelsCommand,
    },
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
    /// Settings that can also stand in the environment or the file.
    #[command(flatten)]
    pub settings: ServerSettings,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Adds the commands below one that have none below them, each with all its words.
    fn leaves(of: &clap::Command, words: &str, found: &mut Vec<String>) {
        for command in of.get_subcommands().filter(|command| !command.is_hide_set()) {
            let own = format!("{words} {}", command.get_name()).trim_start().to_owned();
            match command.has_subcommands() {
                true => leaves(command, &own, found),
                false => found.push(own),
            }
        }
    }

    #[test]
    fn every_command_stands_in_the_pages() {
        let pages =
            [include_str!("../../../docs/command-line.md"), include_str!("../../../docs/configuration.md")];
        let mut found = Vec::new();
        leaves(&Cli::command(), "", &mut found);
        assert!(found.len() > 100, "{found:?}");
        for command in found {
            let told = [format!("`{command}"), format!("heddle {command}")];
            let is_told = pages.iter().any(|page| told.iter().any(|own| page.contains(own.as_str())));
            assert!(is_told, "no page tells of `heddle {command}`");
        }
    }
}
