//! Checks, conformance runners and benchmarks of the project.
//!
//! Everything that needs a server speaks to a started one over HTTP and knows nothing of its inside.

mod bench;
mod client;
mod conformance;
mod crash;
mod layers;
mod npm;
mod out;
mod postgres;
mod prepare;
mod random;
mod schemathesis;
mod server;
mod test;
mod tidy;
mod workspace;

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
    /// Checks sizes, lints, names and white space.
    Tidy,
    /// Runs the whole test suite: nextest if it is installed, else `cargo test`.
    Test(test::Options),
    /// Runs a conformance suite against a started server.
    Conformance(conformance::Options),
    /// Kills the server under load and checks that nothing acknowledged is lost or doubled.
    Crash(crash::Options),
    /// Measures a started server.
    #[command(subcommand)]
    Bench(bench::Subject),
    /// Runs schemathesis over both OpenAPI documents.
    Schemathesis(schemathesis::Options),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(Arguments::parse().task).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs one task; `false` when it ran but what it checks does not hold.
async fn run(task: Task) -> anyhow::Result<bool> {
    match task {
        Task::Layers => layers::run(),
        Task::Tidy => tidy::run(),
        Task::Test(options) => test::run(&options),
        Task::Conformance(options) => conformance::run(options).await,
        Task::Crash(options) => crash::run(options).await,
        Task::Bench(subject) => bench::run(subject).await,
        Task::Schemathesis(options) => schemathesis::run(options).await,
    }
}
