//! Conformance suites, run over HTTP against a started server.

mod canonical;
mod cases;
mod deployment;
mod execution;
mod judge;
mod language;
mod preview;
mod report;
mod roundtrip;
mod scene;
mod schema;
mod steps;

use anyhow::Result;
use clap::Subcommand;

/// A suite.
#[derive(Subcommand)]
#[expect(clippy::enum_variant_names, reason = "the variants are the commands' names")]
pub enum Suite {
    /// Executable BPMN models with expectations.json, searched recursively.
    BpmnExecution(execution::Options),
    /// Every file of a folder through transform/preview.
    BpmnPreview(preview::Options),
    /// Every BPMN file of a folder read, created, exported and compared with its source.
    BpmnRoundtrip(roundtrip::Options),
    /// Every export against the standard's schema and through bpmn-moddle.
    BpmnSchema(schema::Options),
}

/// Runs a suite.
pub async fn run(suite: Suite) -> Result<bool> {
    match suite {
        Suite::BpmnExecution(options) => execution::run(options).await,
        Suite::BpmnPreview(options) => preview::run(options).await,
        Suite::BpmnRoundtrip(options) => roundtrip::run(options).await,
        Suite::BpmnSchema(options) => schema::run(options).await,
    }
}
