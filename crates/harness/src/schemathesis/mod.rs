//! Schemathesis over both OpenAPI documents: no server error, no undocumented status, no answer that breaks its
//! schema, and at least one success of every operation.

pub(crate) mod apart;
pub(crate) mod document;
pub(crate) mod fixtures;
mod models;
mod report;
mod tool;
mod vector;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use heddle_harness_kit::client::Client;
use heddle_harness_kit::out;
use heddle_harness_kit::postgres::Postgres;
use heddle_harness_kit::random;
use heddle_harness_kit::server::{self, Backend, Build, Mode, Server, Surroundings};

use document::{Document, Operation};
use fixtures::{Fixtures, Maker};
use report::Seen;
use tool::{Start, Tool};

/// Options of `schemathesis`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Generated calls for each operation.
    #[arg(long, default_value_t = 25)]
    max_examples: u32,
    /// The tool's phases.
    #[arg(long, default_value = "examples,coverage,fuzzing")]
    phases: String,
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
    /// Repeats an earlier run.
    #[arg(long)]
    seed: Option<u64>,
    /// Document that is asked alone; both where none is named.
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(DOCUMENTS))]
    document: Option<String>,
    /// Only operations whose name contains this text, such as `/api/workflows`.
    #[arg(long)]
    only: Option<String>,
}

/// The documents by the name of their place.
const DOCUMENTS: [&str; 2] = ["openapi", "openapi-platform"];

/// Setting that all starts of the tool share.
pub(crate) struct Setting<'a> {
    options: &'a Options,
    tool: Tool,
    binary: PathBuf,
    postgres: Option<Postgres>,
    seed: u64,
}

/// Runs the tool over both documents; `false` when it found something or an operation never succeeded.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let tool = Tool::install()?;
    let binary = server::binary(Build::Debug)?;
    let postgres = server::postgres_for(options.backend)?;
    let seed = options.seed.unwrap_or_else(random::seed);
    let setting = Setting { options: &options, tool, binary, postgres, seed };
    let mut seen = Seen::default();
    let mut all = BTreeSet::new();
    let mut clean = true;
    let named = |name: &&str| options.document.as_deref().is_none_or(|only| only == *name);
    for name in DOCUMENTS.into_iter().filter(named) {
        clean &= setting.document(name, &mut all, &mut seen).await?;
    }
    let without = seen.without_success(&all);
    for line in &without {
        out::line(format_args!("NO SUCCESS {line}"));
    }
    out::line(format_args!(
        "schemathesis operations={} calls={} without_success={} clean={clean} seed={seed}",
        all.len(),
        seen.calls(),
        without.len()
    ));
    Ok(clean && without.is_empty())
}

impl Setting<'_> {
    /// One document: everything that can share a session at once, then the others one by one.
    async fn document(&self, name: &str, all: &mut BTreeSet<String>, seen: &mut Seen) -> Result<bool> {
        let mode = Mode { demo: true, test_clock: true };
        let mut server = self.server(mode, Surroundings::default()).await?;
        let client = sign_in(&server).await?;
        let document = fetch(&client, name).await?;
        let mut operations = document.operations();
        if let Some(only) = &self.options.only {
            operations.retain(|operation| operation.label().contains(only.as_str()));
        }
        all.extend(operations.iter().map(Operation::label));
        let (alone, shared): (Vec<_>, Vec<_>) = operations.into_iter().partition(apart::is_apart);
        let mut clean = true;
        if !shared.is_empty() {
            let fixtures = make(&client, &document, &shared).await?;
            let labels: Vec<String> = shared.iter().map(Operation::label).collect();
            let address = format!("{}/{name}.json", client.address());
            // The structure of a decision model lies within itself: trying each of its members takes ten minutes, and its
            // cases are those of one schema again and again.
            let (deep, others): (Vec<String>, Vec<String>) =
                labels.into_iter().partition(|label| label == "PUT /api/workflows/{workflowId}/dmn/logic");
            for (name, labels, phases) in [
                (name.to_owned(), others, self.options.phases.clone()),
                (format!("{name}-deep"), deep, self.options.phases.replace("coverage,", "")),
            ] {
                if !labels.is_empty() {
                    let token = client.token();
                    let start = Start {
                        name: &name,
                        document: address.clone(),
                        token: Some(&token),
                        only: &labels,
                        fixtures: &fixtures,
                        max_examples: self.options.max_examples,
                        phases: &phases,
                        seed: self.seed,
                    };
                    clean &= self.start(&start, seen)?;
                }
            }
            if let Err(error) = alive(&client.address()).await {
                bail!("the server did not survive: {error:#}\n{}", server.log_tail());
            }
        }
        server.stop().await?;
        for operation in &alone {
            clean &= apart::run(self, name, operation, seen).await?;
        }
        Ok(clean)
    }

    /// A server of its own.
    async fn server(&self, mode: Mode, around: Surroundings) -> Result<Server> {
        Server::start_in(Path::new(&self.binary), mode, around, self.postgres.as_ref()).await
    }

    /// One start of the tool, whose report is read.
    fn start(&self, start: &Start<'_>, seen: &mut Seen) -> Result<bool> {
        let (clean, report) = self.tool.run(start)?;
        seen.read(&report)?;
        Ok(clean)
    }
}

/// Checks that a server answers, over a connection of its own: one that waited meanwhile may have been closed.
async fn alive(address: &str) -> Result<()> {
    let answer = Client::with_token(address, "")?.get("/health/live").await?;
    if !answer.ok() {
        bail!("GET /health/live: {}", answer.refusal());
    }
    Ok(())
}

pub(crate) async fn sign_in(server: &Server) -> Result<Client> {
    let facts = server.facts();
    let email = facts.email.as_deref().context("the ready file names no administrator")?;
    let password = facts.password.as_deref().context("the ready file names no password")?;
    Client::sign_in(&facts.address, email, password).await
}

/// Reads a document from its place.
pub(crate) async fn fetch(client: &Client, name: &str) -> Result<Document> {
    let answer = client.get(&format!("/{name}.json")).await?;
    if !answer.ok() {
        bail!("GET /{name}.json: {}", answer.refusal());
    }
    Ok(Document(answer.body))
}

pub(crate) async fn make(client: &Client, document: &Document, operations: &[Operation]) -> Result<Fixtures> {
    let maker = Maker::new(client, document).await.context("the fixtures")?;
    let mut fixtures = Fixtures { organization: client.organization().await?, ..Fixtures::default() };
    for operation in operations {
        maker.add(operation, &mut fixtures).await.with_context(|| operation.label())?;
    }
    Ok(fixtures)
}
