//! The runners: conformance suites, kills under load, attacks, clients of other products, measurements and fuzzing,
//! each against a started server, of whose inside they know nothing. `cargo xtask` calls them.

mod attack;
mod bench;
mod clients;
mod connections;
mod crash;
mod documents;
mod guardrails;
mod licence;
mod oidc;
mod scan;
mod schemathesis;
mod setup;
mod vectors;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "heddle-harness",
    bin_name = "cargo xtask",
    about = "Conformance suites, kills under load, attacks, measurements and fuzzing"
)]
struct Arguments {
    #[command(subcommand)]
    runner: Runner,
}

#[derive(Subcommand)]
enum Runner {
    /// Runs a conformance suite against a started server.
    Conformance(heddle_harness_conformance::Options),
    /// Kills the server under load and checks that nothing acknowledged is lost or doubled.
    Crash(crash::Options),
    /// Attacks a started server and checks that it, and whoever is honest on it, takes no harm.
    Attack(attack::Options),
    /// Runs workers that people have, unchanged, against a started server.
    Clients(clients::Options),
    /// Tests connections of every type against services as people run them.
    Connections(connections::Options),
    /// Calls real engines and faulty ones through the gateway, by the clients that people have.
    Models(heddle_harness_models::engines::Options),
    /// Makes real documents by the programs people make them with, and reads them.
    Documents(documents::Options),
    /// Measures the checks of protection on a labelled set that it makes: precision and recall.
    Guardrails(guardrails::Options),
    /// Signs in by a provider of npm, in a process of its own.
    Oidc(oidc::Options),
    /// Measures a started server.
    #[command(subcommand)]
    Bench(bench::Subject),
    /// Runs the scanners wapiti and sqlmap against a started server.
    Scan(scan::Options),
    /// Runs schemathesis over both OpenAPI documents.
    Schemathesis(schemathesis::Options),
    /// Fetches what tests and measurements need: the built-in embedding model.
    Setup(setup::Options),
    /// Makes real documents of each type and checks that text, headings, tables and pages are kept.
    ServedDocuments(vectors::documents::Options),
    /// Keeps the bytes of files in an S3 service and checks what is there.
    Blobs(vectors::blobs::Options),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(Arguments::parse().runner).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs one of them; `false` when it ran but what it checks does not hold.
async fn run(runner: Runner) -> anyhow::Result<bool> {
    match runner {
        Runner::Conformance(options) => heddle_harness_conformance::run(options).await,
        Runner::Crash(options) => crash::run(options).await,
        Runner::Attack(options) => attack::run(options).await,
        Runner::Clients(options) => clients::run(options).await,
        Runner::Connections(options) => connections::run(options).await,
        Runner::Models(options) => heddle_harness_models::engines::run(options).await,
        Runner::Documents(options) => documents::run(options),
        Runner::Guardrails(options) => guardrails::run(&options),
        Runner::Oidc(options) => oidc::run(options).await,
        Runner::Bench(subject) => bench::run(subject).await,
        Runner::Scan(options) => scan::run(options).await,
        Runner::Schemathesis(options) => schemathesis::run(options).await,
        Runner::Setup(options) => setup::run(&options),
        Runner::ServedDocuments(options) => vectors::documents::run(options).await,
        Runner::Blobs(options) => vectors::blobs::run(options).await,
    }
}
