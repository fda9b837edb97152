//! The commands: each reads its options, calls the service, and prints.

pub(crate) mod backup;
pub(crate) mod decision;
mod doctor;
mod licence;
pub(crate) mod man;
mod migrate;
mod remedy;
mod serve;
mod user;
mod workflow;

use std::future::Future;
use std::io::IsTerminal as _;

use anyhow::{Context as _, Result};
use clap::CommandFactory as _;
use heddle_server::acting::Acting;
use heddle_server::{Composition, Config};
use serde_json::{Map, Value, json};
use tracing_subscriber::EnvFilter;

use crate::cli::{
    Cli, Command, DeadLetterCommand, LicenceCommand, Place, RunCommand, UserCommand, WorkflowCommand,
};
use crate::config::{Effective, Row};
use crate::output::{self, Failure};

/// Runs what the command line says.
///
/// # Errors
/// What ended the program; [`output::exit_code`] tells the code.
pub(crate) fn run(cli: Cli) -> Result<()> {
    if let Command::Completions { shell } = cli.command {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "heddle", &mut text);
        output::line(String::from_utf8_lossy(&text).trim_end());
        return Ok(());
    }
    if let Command::Man(options) = &cli.command {
        return man::write(options, cli.json);
    }
    if let Command::Decision { command } = &cli.command {
        log("warn")?;
        return decision::run(command, cli.json);
    }
    let effective = configuration(&cli).map_err(|error| Failure::Configuration(format!("{error:#}")))?;
    let serves = matches!(cli.command, Command::Serve(_));
    log(if serves { "info,actix_server=warn" } else { "warn" })?;
    if !effective.unknown.is_empty() {
        let variables = effective.unknown.join(", ");
        tracing::warn!(
            variables,
            "environment variables that are no keys of the configuration are left alone"
        );
    }
    let json = cli.json;
    let config = effective.config.clone();
    match cli.command {
        Command::Serve(options) => block_on(serve::run(config, options, json)),
        Command::Config => {
            show(&effective, json);
            Ok(())
        }
        Command::Migrate => block_on(migrate::run(config, json)),
        Command::Doctor => block_on(doctor::run(config, json)),
        Command::Backup(options) => block_on(backup::back_up(config, options, json)),
        Command::Restore(options) => block_on(backup::restore(config, options, json)),
        Command::User { command: UserCommand::Create(options) } => {
            block_on(user::create(config, options, json))
        }
        Command::User { command: UserCommand::Unlock { email } } => {
            block_on(user::unlock(config, &email, json))
        }
        Command::Licence { command } => match command {
            LicenceCommand::Show => block_on(licence::show(config, json)),
            LicenceCommand::Trial => block_on(licence::trial(config, json)),
            LicenceCommand::Install { file, force } => block_on(licence::install(config, &file, force, json)),
        },
        Command::Workflow { command: WorkflowCommand::Export(options) } => {
            block_on(workflow::export(config, options, json))
        }
        Command::Workflow { command: WorkflowCommand::Import(options) } => {
            block_on(workflow::import(config, options, json))
        }
        Command::Workflow { command: WorkflowCommand::Archive(options) } => {
            block_on(remedy::archive(config, options, json))
        }
        Command::Run { command: RunCommand::Cancel(options) } => {
            block_on(remedy::cancel(config, options, json))
        }
        Command::DeadLetter { command } => match command {
            DeadLetterCommand::List(options) => block_on(remedy::letters(config, options, json)),
            DeadLetterCommand::Retry(options) => block_on(remedy::retry(config, options, json)),
            DeadLetterCommand::Drop(options) => block_on(remedy::discard(config, options, json)),
        },
        Command::Decision { .. } | Command::Man(_) | Command::Completions { .. } => Ok(()),
    }
}

fn configuration(cli: &Cli) -> Result<Effective> {
    // A variable whose value is not UTF-8 is no value of ours.
    let environment: Vec<_> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    Effective::load(cli.config.as_deref(), &environment, &cli.settings.given())
}

fn block_on(work: impl Future<Output = Result<()>>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.context("the threads of the program can't be started")?;
    let done = runtime.block_on(work);
    // A blocking call that hangs must not keep the program.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    done
}

/// Logs to standard error: what `HEDDLE_LOG` says, in the form that `HEDDLE_LOG_FORMAT` says.
fn log(fallback: &str) -> Result<(), Failure> {
    let wanted = std::env::var("HEDDLE_LOG").unwrap_or_else(|_| fallback.to_owned());
    let filter = EnvFilter::try_new(wanted)
        .map_err(|error| Failure::Configuration(format!("the environment variable `HEDDLE_LOG`: {error}")))?;
    let base = tracing_subscriber::fmt().with_env_filter(filter).with_writer(crate::log::start());
    match std::env::var("HEDDLE_LOG_FORMAT").as_deref() {
        Ok("json") => base.json().init(),
        Ok("text") | Err(_) => base.with_ansi(std::io::stderr().is_terminal()).init(),
        Ok(_) => {
            let message = "the environment variable `HEDDLE_LOG_FORMAT`: `json` or `text` is needed";
            return Err(Failure::Configuration(message.to_owned()));
        }
    }
    Ok(())
}

fn show(effective: &Effective, as_json: bool) {
    let rows = effective.rows();
    if as_json {
        let member = |row: &Row| {
            let shown = json!({ "value": row.value, "source": row.source.as_str(), "help": row.help });
            (row.name.to_owned(), shown)
        };
        return output::json(&Value::Object(rows.iter().map(member).collect::<Map<_, _>>()));
    }
    for Row { name, value, source, help } in rows {
        output::line(&format!("{name:<22}{value:<32}{:<14}{help}", source.as_str()));
    }
}

/// Opens the service for one command, beside which no server uses the same SQLite database.
async fn operate(config: Config) -> Result<Composition> {
    Ok(Composition::operate(config).await?)
}

/// Organisation and account that a command acts with.
async fn acting(core: &Composition, place: &Place) -> Result<Acting> {
    let Some(email) = place.account.as_deref() else {
        let message = "`--as EMAIL` is needed: an account of the organisation, in whose name it is done";
        return Err(Failure::Configuration(message.to_owned()).into());
    };
    Ok(Acting::find(&core.app, email, place.organization.as_deref()).await?)
}
