//! The checks of the code base, and the verbs that call the harness.

mod harness;
mod layers;
mod licence;
mod order;
mod supply;
mod test;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "xtask", about = "Checks, conformance runners and benchmarks")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Checks which crate knows which.
    Layers,
    /// Checks sizes, lints, names, white space, circles of modules and doubled dependencies.
    Tidy,
    /// Holds the packages of others against `deny.toml`: licences, bans, sources.
    Deny,
    /// Makes the keys of whoever distributes the program, issues licences, and looks into them.
    Licence(Box<licence::Options>),
    /// Writes the notices of the packages of others, `THIRD-PARTY.md`.
    Notices(supply::NoticesOptions),
    /// Writes the bill of materials of the program: CycloneDX in JSON.
    Sbom(supply::SbomOptions),
    /// Runs the whole test suite: nextest if it is installed, else `cargo test`.
    Test(test::Options),
    /// Measures which functions servers run, so that they lie side by side in the program.
    Order(order::Options),
    /// Runs a conformance suite against a started server.
    #[command(disable_help_flag = true)]
    Conformance(harness::Options),
    /// Kills the server under load and checks that nothing acknowledged is lost or doubled.
    #[command(disable_help_flag = true)]
    Crash(harness::Options),
    /// Attacks a started server and checks that it, and whoever is honest on it, takes no harm.
    #[command(disable_help_flag = true)]
    Attack(harness::Options),
    /// Runs workers that people have, unchanged, against a started server.
    #[command(disable_help_flag = true)]
    Clients(harness::Options),
    /// Tests connections of every type against services as people run them.
    #[command(disable_help_flag = true)]
    Connections(harness::Options),
    /// Calls real engines and faulty ones through the gateway, by the clients that people have.
    #[command(disable_help_flag = true)]
    Models(harness::Options),
    /// Makes real documents by pandoc, LibreOffice and TeX, where they are installed, and reads them.
    #[command(disable_help_flag = true)]
    Documents(harness::Options),
    /// Measures the checks of protection on a labelled set that it makes: precision and recall.
    #[command(disable_help_flag = true)]
    Guardrails(harness::Options),
    /// Signs in by a provider of npm, in a process of its own.
    #[command(disable_help_flag = true)]
    Oidc(harness::Options),
    /// Measures a started server.
    #[command(disable_help_flag = true)]
    Bench(harness::Options),
    /// Runs the scanners wapiti and sqlmap against a started server.
    #[command(disable_help_flag = true)]
    Scan(harness::Options),
    /// Runs schemathesis over both OpenAPI documents.
    #[command(disable_help_flag = true)]
    Schemathesis(harness::Options),
    /// Fetches what tests and measurements need: the built-in embedding model.
    #[command(disable_help_flag = true)]
    Setup(harness::Options),
    /// Makes real documents of each type and checks that text, headings, tables and pages are kept.
    ServedDocuments(harness::Options),
    /// Keeps the bytes of files in an S3 service and checks what is there.
    Blobs(harness::Options),
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs one task; it fails when it ran but what it checks does not hold.
fn run(task: Task) -> anyhow::Result<ExitCode> {
    let holds = match task {
        Task::Layers => layers::run()?,
        Task::Tidy => tidy::run()?,
        Task::Deny => supply::deny()?,
        Task::Licence(options) => licence::run(&options)?,
        Task::Notices(options) => supply::notices(&options)?,
        Task::Sbom(options) => supply::sbom(&options)?,
        Task::Test(options) => test::run(&options)?,
        Task::Order(options) => order::run(&options)?,
        Task::Conformance(options) => return harness::run("conformance", options),
        Task::Crash(options) => return harness::run("crash", options),
        Task::Attack(options) => return harness::run("attack", options),
        Task::Clients(options) => return harness::run("clients", options),
        Task::Connections(options) => return harness::run("connections", options),
        Task::Models(options) => return harness::run("models", options),
        Task::Documents(options) => return harness::run("documents", options),
        Task::Guardrails(options) => return harness::run("guardrails", options),
        Task::Oidc(options) => return harness::run("oidc", options),
        Task::Bench(options) => return harness::run("bench", options),
        Task::Scan(options) => return harness::run("scan", options),
        Task::Schemathesis(options) => return harness::run("schemathesis", options),
        Task::Setup(options) => return harness::run("setup", options),
        Task::ServedDocuments(options) => return harness::run("served-documents", options),
        Task::Blobs(options) => return harness::run("blobs", options),
    };
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
