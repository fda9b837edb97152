//! Measurements of a started server.

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
}

/// Measures a subject.
pub async fn run(subject: Subject) -> Result<bool> {
    match subject {
        Subject::Http(options) => http::run(options).await,
    }
}
