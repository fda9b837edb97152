//! Measurements: of a started server, and of parts of it.

mod cases;
mod decisions;
mod definitions;
mod egress;
mod growth;
mod http;
mod jobs;
mod policy;
mod questions;
mod retrieval;
mod searching;
mod stored;
mod vectors;

use std::ffi::OsStr;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Subcommand;

use heddle_harness_kit::workspace;

/// Subject of a benchmark.
#[derive(Subcommand)]
pub(crate) enum Subject {
    /// Requests, durable starts and round trips over HTTP.
    Http(http::Options),
    /// Reads, starts and completions with few runs and tasks stored, and with many.
    Growth(growth::Options),
    /// Calls of a model through the gateway beside direct ones: what it adds in time, processor time and memory.
    Gateway(heddle_harness_models::gateway::Options),
    /// Events that are correlated to one of many open cases, over HTTP and in memory.
    Cases(cases::Options),
    /// Reading, writing, validating and compiling BPMN on one core, beside bpmn-moddle.
    Bpmn(definitions::Options),
    /// Expressions and decisions on one core, beside feelin.
    Dmn(decisions::Options),
    /// CPU time of a request through the guarded way out beside a bare one, and of opening a sealed secret.
    Egress,
    /// CPU time of decisions and listings with few grants and with many, of sign-ins, and of a caller who is known.
    Policy(policy::Options),
    /// Quality of retrieval on judged questions, through the library and over HTTP.
    Retrieval(retrieval::Options),
    /// Vector search beside hnswlib and faiss, queries over HTTP beside the search within them, and ingestion.
    Vectors(vectors::Options),
}

/// Measures a subject.
pub(crate) async fn run(subject: Subject) -> Result<bool> {
    match subject {
        Subject::Http(options) => http::run(options).await,
        Subject::Growth(options) => growth::run(options).await,
        Subject::Gateway(options) => heddle_harness_models::gateway::run(options).await,
        Subject::Cases(options) => cases::run(options).await,
        Subject::Bpmn(options) => definitions::run(options),
        Subject::Dmn(options) => decisions::run(options),
        Subject::Egress => egress::run(),
        Subject::Policy(options) => policy::run(options).await,
        Subject::Retrieval(options) => retrieval::run(options).await,
        Subject::Vectors(options) => vectors::run(options).await,
    }
}

/// Standard output of an example, which is built as a release is.
fn example(package: &str, name: &str, features: &[&str], arguments: &[&OsStr]) -> Result<String> {
    let mut cargo = workspace::cargo();
    cargo.args(["run", "--quiet", "--release", "--package", package, "--example", name]);
    features.iter().for_each(|feature| {
        cargo.args(["--features", feature]);
    });
    output(cargo.arg("--").args(arguments))
}

/// The standard output of a command that must succeed.
fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?} cannot be started"))?;
    if !output.status.success() {
        bail!("{command:?} {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).context("a benchmark printed no text")
}
