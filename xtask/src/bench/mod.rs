//! Measurements: of a started server, and of parts of it.

mod definitions;
mod figures;
mod http;
mod http1;
mod process;

use anyhow::Result;
use clap::Subcommand;

/// What is measured.
#[derive(Subcommand)]
pub enum Subject {
    /// Requests, durable starts and round trips over HTTP.
    Http(http::Options),
    /// Reading, writing, validating and compiling BPMN on one core, beside bpmn-moddle.
    Bpmn(definitions::Options),
}

/// Measures a subject.
pub async fn run(subject: Subject) -> Result<bool> {
    match subject {
        Subject::Http(options) => http::run(options).await,
        Subject::Bpmn(options) => definitions::run(options),
    }
}
