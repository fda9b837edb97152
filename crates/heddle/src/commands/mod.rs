//! The commands: each reads its options, calls the service, and prints.

mod access;
mod audit;
pub(crate) mod backup;
mod case;
mod case_type;
mod connection;
pub(crate) mod decision;
mod doctor;
mod drafted;
mod file;
mod given;
mod group;
mod import;
mod job;
mod key;
mod licence;
pub(crate) mod man;
mod migrate;
mod model;
mod models;
mod run;
mod serve;
mod token;
mod user;
mod vector;
mod work;
mod workflow;

use std::future::Future;
use std::io::IsTerminal as _;

use anyhow::{Context as _, Result};
use clap::CommandFactory as _;
use heddle_server::{Config, DATABASE_FILE, SOCKET_FILE, operator};
use serde_json::{Map, Value, json};
use tracing_subscriber::EnvFilter;

use crate::cli::{
    AccessCommand, AskModel, AuditCommand, CaseCommand, CaseTypeCommand, Cli, Command, ConnectionCommand,
    CreateUser, DeadLetterCommand, EmbedTexts, EventCommand, FileCommand, GroupCommand, IngestionJobCommand,
    JobCommand, KeyCommand, LicenceCommand, ModelCommand, Place, QueryPassages, RunCommand, ShowUsage,
    TaskCommand, TokenCommand, UserCommand, VectorDatabaseCommand, VerifyAudit, WorkflowCommand,
};
use crate::client::{Client, Need};
use crate::config::{Effective, Row};
use crate::failure::Failure;
use crate::output;

/// Runs what the command line says.
///
/// # Errors
/// What ended the program; [`output::exit_code`] tells the code.
pub(crate) fn run(cli: Cli) -> Result<()> {
    let given = cli.given();
    if let (Command::Completions { .. } | Command::Decision { .. } | Command::Man(_), Some((name, _))) =
        (&cli.command, given.first())
    {
        let option = name.replace('_', "-");
        let message = format!("--{option} has no meaning here: the command looks at no installation");
        return Err(Failure::Configuration(message).into());
    }
    if let Some(done) = without_installation(&cli) {
        return done;
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
        Command::Config { .. } => {
            show(&effective, json);
            Ok(())
        }
        Command::Migrate => block_on(migrate::run(config, json)),
        Command::Doctor => block_on(doctor::run(config, json)),
        Command::Backup(options) => block_on(backup::back_up(config, options, json)),
        Command::Restore(options) => block_on(backup::restore(config, options, json)),
        Command::User { command } => block_on(users(config, command, json)),
        Command::Group { command } => block_on(groups(config, command, json)),
        Command::Token { command } => block_on(tokens(config, command, json)),
        Command::Licence { command } => block_on(licences(config, command, json)),
        Command::Workflow { command } => block_on(workflows(config, command, json)),
        Command::CaseType { command } => block_on(case_types(config, command, json)),
        Command::Run { command } => block_on(runs(config, command, json)),
        Command::Case { command } => block_on(cases(config, command, json)),
        Command::Task { command } => block_on(tasks(config, command, json)),
        Command::Job { command } => block_on(jobs(config, command, json)),
        Command::Event { command } => block_on(events(config, command, json)),
        Command::DeadLetter { command } => block_on(letters(config, command, json)),
        Command::Access { command } => block_on(rights(config, command, json)),
        Command::Connection { command } => block_on(connections(config, command, json)),
        Command::VectorDatabase { command } => block_on(vector_databases(config, command, json)),
        Command::File { command } => block_on(files(config, command, json)),
        Command::Query(options) => block_on(query(config, options, json)),
        Command::IngestionJob { command } => block_on(ingestion_jobs(config, command, json)),
        Command::Model { command } => block_on(provided_models(config, command, json)),
        Command::Chat(options) => block_on(chat(config, options, json)),
        Command::Embed(options) => block_on(embed(config, options, json)),
        Command::Usage(options) => block_on(usage(config, options, json)),
        Command::Key { command } => block_on(keys(config, command, json)),
        Command::Audit { command: AuditCommand::Verify(options) } => {
            block_on(audit_verify(config, options, json))
        }
        Command::Models { command } => block_on(models::run(config, command, json)),
        Command::Decision { .. } | Command::Man(_) | Command::Completions { .. } | Command::ParseWorker => {
            Ok(())
        }
    }
}

/// Does what looks at no installation; none for what does.
fn without_installation(cli: &Cli) -> Option<Result<()>> {
    if let Command::Completions { shell } = cli.command {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "heddle", &mut text);
        output::line(String::from_utf8_lossy(&text).trim_end());
        return Some(Ok(()));
    }
    if matches!(cli.command, Command::ParseWorker) {
        return Some(parse_worker());
    }
    if let Command::Man(options) = &cli.command {
        return Some(man::write(options, cli.json));
    }
    if let Command::Decision { command } = &cli.command {
        let logs = log("warn").map_err(anyhow::Error::from);
        return Some(logs.and_then(|()| decision::run(command, cli.json)));
    }
    None
}

/// Reads one file for a server, which started this process for it alone.
fn parse_worker() -> Result<()> {
    heddle_server::read_one_file().context("the file can't be read apart from the server")
}

/// Does something with a client, which ends in order whatever becomes of it.
async fn with<T>(
    config: Config,
    place: &Place,
    need: Need,
    work: impl AsyncFnOnce(&Client) -> Result<T>,
) -> Result<T> {
    let bar = output::progress("opening the installation", 1);
    let client = Client::open(config, place, need).await;
    bar.finish_and_clear();
    let client = client?;
    let done = work(&client).await;
    client.close().await;
    done
}

async fn users(config: Config, command: UserCommand, json: bool) -> Result<()> {
    let own = Need::Account;
    match &command {
        UserCommand::List(options) => {
            with(config, &options.place, own, async |client| user::list(client, options, json).await).await
        }
        UserCommand::Create(options) => {
            look_before_beginning(&config, options)?;
            let beginning = options.place.server.is_none().then(|| operator::Beginning::of(&config));
            let work = async |client: &Client| user::create(client, options, json).await;
            let made = with(config, &options.place, Need::Nothing, work).await;
            // A failed set-up leaves no installation that nobody asked for.
            if let (Err(error), Some(beginning)) = (&made, beginning) {
                beginning.take_back(error.downcast_ref());
            }
            made
        }
        UserCommand::Invite(options) => {
            with(config, &options.place, own, async |client| user::invite(client, options, json).await).await
        }
        UserCommand::SetPassword(options) => {
            let place = &options.user.place;
            with(config, place, own, async |client| user::set_password(client, options, json).await).await
        }
        UserCommand::Disable(options) => {
            let work = async |client: &Client| user::switch(client, options, false, json).await;
            with(config, &options.place, own, work).await
        }
        UserCommand::Enable(options) => {
            let work = async |client: &Client| user::switch(client, options, true, json).await;
            with(config, &options.place, own, work).await
        }
        UserCommand::ResetSecondFactor(options) => {
            let work = async |client: &Client| user::reset_second_factor(client, options, json).await;
            with(config, &options.place, own, work).await
        }
        UserCommand::Unlink(options) => {
            with(config, &options.place, own, async |client| user::unlink(client, options, json).await).await
        }
        UserCommand::Unlock { email } => {
            let work = async |client: &Client| user::unlock(client, email, json).await;
            with(config, &Place::default(), Need::Installation, work).await
        }
    }
}

async fn groups(config: Config, command: GroupCommand, json: bool) -> Result<()> {
    let own = Need::Account;
    match &command {
        GroupCommand::List(options) => {
            with(config, &options.place, own, async |client| group::list(client, options, json).await).await
        }
        GroupCommand::Create(options) => {
            with(config, &options.place, own, async |client| group::create(client, options, json).await).await
        }
        GroupCommand::Members(options) => {
            with(config, &options.place, own, async |client| group::members(client, options, json).await)
                .await
        }
        GroupCommand::Add(options) => {
            let work = async |client: &Client| group::change(client, options, "addMembers", json).await;
            with(config, &options.place, own, work).await
        }
        GroupCommand::Remove(options) => {
            let work = async |client: &Client| group::change(client, options, "removeMembers", json).await;
            with(config, &options.place, own, work).await
        }
        GroupCommand::Delete(options) => {
            with(config, &options.place, own, async |client| group::delete(client, options, json).await).await
        }
    }
}

/// Looks at the first user of what would be a new installation before anything is made for it.
fn look_before_beginning(config: &Config, options: &CreateUser) -> Result<()> {
    let directory = &config.data_dir;
    let is_there = options.place.server.is_some()
        || config.database_url.is_some()
        || directory.join(DATABASE_FILE).exists()
        || directory.join(SOCKET_FILE).exists();
    if is_there {
        return Ok(());
    }
    if options.place.organization.is_none() {
        let message = format!(
            "there is no installation in `{}`; `--role owner --organization SLUG` makes one with its first organisation",
            directory.display()
        );
        return Err(Failure::Configuration(message).into());
    }
    user::may_begin(options)
}

async fn tokens(config: Config, command: TokenCommand, json: bool) -> Result<()> {
    let own = Need::Account;
    match &command {
        TokenCommand::Create(options) => {
            with(config, &options.place, own, async |client| token::create(client, options, json).await).await
        }
        TokenCommand::List(options) => {
            with(config, &options.place, own, async |client| token::list(client, options, json).await).await
        }
        TokenCommand::Delete(options) => {
            with(config, &options.place, own, async |client| token::delete(client, options, json).await).await
        }
    }
}

async fn licences(config: Config, command: LicenceCommand, json: bool) -> Result<()> {
    let need = Need::Installation;
    match &command {
        LicenceCommand::Show { place } => {
            with(config, place, need, async |client| licence::show(client, json).await).await
        }
        LicenceCommand::Request { place } => {
            with(config, place, need, async |client| licence::request(client).await).await
        }
        LicenceCommand::Keys => {
            licence::keys(json);
            Ok(())
        }
        LicenceCommand::Trial { place } => {
            with(config, place, need, async |client| licence::trial(client, json).await).await
        }
        LicenceCommand::Install { file, force, place } => {
            let work = async |client: &Client| licence::install(client, file, *force, json).await;
            with(config, place, need, work).await
        }
    }
}

async fn rights(config: Config, command: AccessCommand, json: bool) -> Result<()> {
    let AccessCommand::Explain(options) = &command;
    let work = async |client: &Client| access::explain(client, options, json).await;
    with(config, &options.place, Need::Account, work).await
}

async fn connections(config: Config, command: ConnectionCommand, json: bool) -> Result<()> {
    let own = Need::Account;
    match &command {
        ConnectionCommand::List(options) => {
            let work = async |client: &Client| connection::list(client, options, json).await;
            with(config, &options.place, own, work).await
        }
        ConnectionCommand::Test(options) => {
            let work = async |client: &Client| connection::test(client, options, json).await;
            with(config, &options.place, own, work).await
        }
    }
}

async fn vector_databases(config: Config, command: VectorDatabaseCommand, json: bool) -> Result<()> {
    let own = Need::Account;
    match &command {
        VectorDatabaseCommand::List(options) => {
            with(config, &options.place, own, async |client| vector::list(client, options, json).await).await
        }
        VectorDatabaseCommand::Create(options) => {
            with(config, &options.place, own, async |client| vector::create(client, options, json).await)
                .await
        }
        VectorDatabaseCommand::Get(options) => {
            with(config, &options.place, own, async |client| vector::get(client, options, json).await).await
        }
        VectorDatabaseCommand::Update(options) => {
            with(config, &options.place, own, async |client| vector::update(client, options, json).await)
                .await
        }
        VectorDatabaseCommand::Delete(options) => {
            with(config, &options.place, own, async |client| vector::delete(client, options, json).await)
                .await
        }
    }
}

async fn files(config: Config, command: FileCommand, json: bool) -> Result<()> {
    let own = Need::Account;
    match &command {
        FileCommand::Upload(options) => {
            with(config, &options.place, own, async |client| file::upload(client, options, json).await).await
        }
        FileCommand::List(options) => {
            with(config, &options.place, own, async |client| file::list(client, options, json).await).await
        }
        FileCommand::Show(options) => {
            with(config, &options.place, own, async |client| file::show(client, options, json).await).await
        }
        FileCommand::Delete(options) => {
            with(config, &options.place, own, async |client| file::delete(client, options, json).await).await
        }
    }
}

async fn provided_models(config: Config, command: ModelCommand, json: bool) -> Result<()> {
    let own = Need::Account;
    match &command {
        ModelCommand::Types(options) => {
            with(config, &options.place, own, async |client| model::types(client, json).await).await
        }
        ModelCommand::Connections(options) => {
            let work = async |client: &Client| model::connections(client, options, json).await;
            with(config, &options.place, own, work).await
        }
        ModelCommand::Connect(options) => {
            with(config, &options.place, own, async |client| model::connect(client, options, json).await)
                .await
        }
        ModelCommand::Discover(options) => {
            with(config, &options.place, own, async |client| model::discover(client, options, json).await)
                .await
        }
        ModelCommand::Import(options) => {
            with(config, &options.place, own, async |client| model::import(client, options, json).await).await
        }
        ModelCommand::Deployments(options) => {
            let work = async |client: &Client| model::deployments(client, options, json).await;
            with(config, &options.place, own, work).await
        }
        ModelCommand::List(options) => {
            with(config, &options.place, own, async |client| model::list(client, options, json).await).await
        }
    }
}

async fn chat(config: Config, options: AskModel, json: bool) -> Result<()> {
    let work = async |client: &Client| model::chat(client, &options, json).await;
    with(config, &options.place, Need::Account, work).await
}

async fn embed(config: Config, options: EmbedTexts, json: bool) -> Result<()> {
    let work = async |client: &Client| model::embed(client, &options, json).await;
    with(config, &options.place, Need::Account, work).await
}

async fn usage(config: Config, options: ShowUsage, json: bool) -> Result<()> {
    let work = async |client: &Client| model::usage(client, &options, json).await;
    with(config, &options.place, Need::Account, work).await
}

async fn query(config: Config, options: QueryPassages, json: bool) -> Result<()> {
    let work = async |client: &Client| vector::query(client, &options, json).await;
    with(config, &options.place, Need::Account, work).await
}

async fn ingestion_jobs(config: Config, command: IngestionJobCommand, json: bool) -> Result<()> {
    let own = Need::Account;
    match &command {
        IngestionJobCommand::List(options) => {
            with(config, &options.place, own, async |client| file::list_jobs(client, options, json).await)
                .await
        }
        IngestionJobCommand::Get(options) => {
            with(config, &options.place, own, async |client| file::get_job(client, options, json).await).await
        }
        IngestionJobCommand::Cancel(options) => {
            with(config, &options.place, own, async |client| file::cancel_job(client, options, json).await)
                .await
        }
    }
}

async fn keys(config: Config, command: KeyCommand, json: bool) -> Result<()> {
    let work = async |client: &Client| match &command {
        KeyCommand::Rotate(options) => key::rotate(client, options, json).await,
        KeyCommand::List => key::list(client, json).await,
        KeyCommand::Forget(options) => key::forget(client, options, json).await,
    };
    with(config, &Place::default(), Need::Installation, work).await
}

async fn audit_verify(config: Config, options: VerifyAudit, json: bool) -> Result<()> {
    if options.file.is_some() || options.database.is_some() {
        return audit::elsewhere(&config, &options, json).await;
    }
    if options.public_key.is_some() || options.anchors.is_some() {
        let message = "--public-key and --anchors go with --file or --database: an installation has its own";
        return Err(Failure::Configuration(message.to_owned()).into());
    }
    let work = async |client: &Client| audit::verify(client, json).await;
    with(config, &options.place, Need::Account, work).await
}

async fn workflows(config: Config, command: WorkflowCommand, json: bool) -> Result<()> {
    let (own, all) = (Need::Account, &drafted::WORKFLOWS);
    match &command {
        WorkflowCommand::List(options) => {
            let work = async |client: &Client| drafted::list(client, all, options, json).await;
            with(config, &options.place, own, work).await
        }
        WorkflowCommand::Get(options) => {
            let work = async |client: &Client| drafted::get(client, all, &options.workflow, json).await;
            with(config, &options.place, own, work).await
        }
        WorkflowCommand::Validate(options) => {
            with(config, &options.place, own, async |client| workflow::validate(client, options, json).await)
                .await
        }
        WorkflowCommand::Import(options) => {
            with(config, &options.place, own, async |client| import::import(client, options, json).await)
                .await
        }
        WorkflowCommand::Publish(options) => {
            let (name, note) = (&options.workflow, options.note.as_deref());
            let work = async |client: &Client| drafted::publish(client, all, name, note, json).await;
            with(config, &options.place, own, work).await
        }
        WorkflowCommand::Export(options) => {
            with(config, &options.place, own, async |client| workflow::export(client, options, json).await)
                .await
        }
        WorkflowCommand::Archive(options) => {
            let work = async |client: &Client| drafted::archive(client, all, &options.workflow, json).await;
            with(config, &options.place, own, work).await
        }
        WorkflowCommand::Delete(options) => {
            let work = async |client: &Client| drafted::delete(client, all, &options.workflow, json).await;
            with(config, &options.place, own, work).await
        }
    }
}

async fn case_types(config: Config, command: CaseTypeCommand, json: bool) -> Result<()> {
    let (own, all) = (Need::Account, &drafted::CASE_TYPES);
    match &command {
        CaseTypeCommand::List(options) => {
            let work = async |client: &Client| drafted::list(client, all, options, json).await;
            with(config, &options.place, own, work).await
        }
        CaseTypeCommand::Get(options) => {
            let work = async |client: &Client| drafted::get(client, all, &options.case_type, json).await;
            with(config, &options.place, own, work).await
        }
        CaseTypeCommand::Validate(options) => {
            let work = async |client: &Client| case_type::validate(client, options, json).await;
            with(config, &options.place, own, work).await
        }
        CaseTypeCommand::Import(options) => {
            let work = async |client: &Client| case_type::import(client, options, json).await;
            with(config, &options.place, own, work).await
        }
        CaseTypeCommand::Publish(options) => {
            let (name, note) = (&options.case_type, options.note.as_deref());
            let work = async |client: &Client| drafted::publish(client, all, name, note, json).await;
            with(config, &options.place, own, work).await
        }
        CaseTypeCommand::Export(options) => {
            let work = async |client: &Client| case_type::export(client, options, json).await;
            with(config, &options.place, own, work).await
        }
        CaseTypeCommand::Archive(options) => {
            let work = async |client: &Client| drafted::archive(client, all, &options.case_type, json).await;
            with(config, &options.place, own, work).await
        }
        CaseTypeCommand::Delete(options) => {
            let work = async |client: &Client| drafted::delete(client, all, &options.case_type, json).await;
            with(config, &options.place, own, work).await
        }
    }
}

async fn runs(config: Config, command: RunCommand, json: bool) -> Result<()> {
    let own = Need::Account;
    match &command {
        RunCommand::Start(options) => {
            with(config, &options.place, own, async |client| run::start(client, options, json).await).await
        }
        RunCommand::List(options) => {
            with(config, &options.place, own, async |client| run::list(client, options, json).await).await
        }
        RunCommand::Get(options) => {
            with(config, &options.place, own, async |client| run::get(client, options, json).await).await
        }
        RunCommand::Export(options) => {
            with(config, &options.place, own, async |client| run::export(client, options, json).await).await
        }
        RunCommand::Tail(options) => {
            with(config, &options.run.place, own, async |client| run::tail(client, options, json).await).await
        }
        RunCommand::Retry(options) => {
            with(config, &options.run.place, own, async |client| run::retry(client, options, json).await)
                .await
        }
        RunCommand::Cancel(options) => {
            with(config, &options.run.place, own, async |client| run::cancel(client, options, json).await)
                .await
        }
    }
}

async fn cases(config: Config, command: CaseCommand, json: bool) -> Result<()> {
    let own = Need::Account;
    match &command {
        CaseCommand::Start(options) => {
            with(config, &options.place, own, async |client| case::start(client, options, json).await).await
        }
        CaseCommand::List(options) => {
            with(config, &options.place, own, async |client| case::list(client, options, json).await).await
        }
        CaseCommand::Get(options) => {
            with(config, &options.place, own, async |client| case::get(client, options, json).await).await
        }
        CaseCommand::Transition(options) => {
            with(config, &options.place, own, async |client| case::transition(client, options, json).await)
                .await
        }
        CaseCommand::File(options) => {
            with(config, &options.place, own, async |client| case::file(client, options, json).await).await
        }
        CaseCommand::Events(options) => {
            with(config, &options.place, own, async |client| case::events(client, options, json).await).await
        }
    }
}

async fn tasks(config: Config, command: TaskCommand, json: bool) -> Result<()> {
    let own = Need::Account;
    match &command {
        TaskCommand::List(options) => {
            with(config, &options.place, own, async |client| work::tasks(client, options, json).await).await
        }
        TaskCommand::Assign(options) => {
            with(config, &options.place, own, async |client| work::assign(client, options, json).await).await
        }
        TaskCommand::Complete(options) => {
            with(config, &options.place, own, async |client| work::complete(client, options, json).await)
                .await
        }
    }
}

async fn jobs(config: Config, command: JobCommand, json: bool) -> Result<()> {
    let own = Need::Account;
    match &command {
        JobCommand::List(options) => {
            with(config, &options.place, own, async |client| job::list(client, options, json).await).await
        }
        JobCommand::Activate(options) => {
            with(config, &options.place, own, async |client| job::activate(client, options, json).await).await
        }
        JobCommand::Complete(options) => {
            with(config, &options.place, own, async |client| job::complete(client, options, json).await).await
        }
        JobCommand::Fail(options) => {
            with(config, &options.place, own, async |client| job::fail(client, options, json).await).await
        }
    }
}

async fn events(config: Config, command: EventCommand, json: bool) -> Result<()> {
    let own = Need::Account;
    match &command {
        EventCommand::Send(options) => {
            with(config, &options.place, own, async |client| work::send(client, options, json).await).await
        }
        EventCommand::Signal(options) => {
            with(config, &options.place, own, async |client| work::signal(client, options, json).await).await
        }
    }
}

async fn letters(config: Config, command: DeadLetterCommand, json: bool) -> Result<()> {
    let own = Need::Account;
    match &command {
        DeadLetterCommand::List(options) => {
            with(config, &options.place, own, async |client| work::letters(client, options, json).await).await
        }
        DeadLetterCommand::Retry(options) => {
            with(config, &options.place, own, async |client| work::retry(client, options, json).await).await
        }
        DeadLetterCommand::Drop(options) => {
            with(config, &options.place, own, async |client| work::discard(client, options, json).await).await
        }
    }
}

/// End of a command that does several things: without success when one failed, with the exit code that those that failed
/// have in common, or 1.
fn several(codes: impl Iterator<Item = u8>, all: usize) -> Result<()> {
    several_of(codes, all, &[])
}

/// The same with the names of those that failed.
fn several_of(codes: impl Iterator<Item = u8>, all: usize, names: &[String]) -> Result<()> {
    let codes: Vec<u8> = codes.collect();
    let Some(first) = codes.first().copied() else { return Ok(()) };
    let code = if codes.iter().all(|code| *code == first) { first } else { 1 };
    let which = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
    Err(Failure::Several { failed: codes.len(), all, which, code }.into())
}

fn configuration(cli: &Cli) -> Result<Effective> {
    // A variable whose value is not UTF-8 is no value of ours.
    let environment: Vec<_> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    Effective::load(cli.config.as_deref(), &environment, &cli.given())
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
    let cells =
        |row: Row| [row.name.to_owned(), row.value, row.source.as_str().to_owned(), row.help.to_owned()];
    let rows: Vec<_> = rows.into_iter().map(cells).collect();
    output::aligned(&rows.iter().collect::<Vec<_>>()).iter().for_each(|row| output::line(row));
}
