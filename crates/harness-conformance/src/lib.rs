//! Conformance suites, run over HTTP against a started server, of which they know the API alone.

mod canonical;
mod case_language;
mod case_steps;
mod cases;
mod cmmn_roundtrip;
mod constraints;
mod deployment;
mod dmn_http;
mod dmn_tck;
mod execution;
mod judge;
mod language;
mod models;
mod preview;
mod record;
mod report;
mod roundtrip;
mod scene;
mod schema;
mod steps;
mod vendor;

use anyhow::{Result, bail};
use clap::Subcommand;

/// Options of `conformance`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Options {
    /// Runs every recorded suite and writes its results into the committed files that the program embeds.
    #[arg(long, conflicts_with = "check")]
    record: bool,
    /// Runs every recorded suite and fails when a case ends other than it was recorded.
    #[arg(long)]
    check: bool,
    /// Names of the recorded suites to run; all without any.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    #[command(subcommand)]
    suite: Option<Suite>,
}

/// A suite.
#[derive(Debug, Subcommand)]
enum Suite {
    /// Executable BPMN models with expectations.json, searched recursively.
    BpmnExecution(execution::Options),
    /// Executable CMMN models with expectations.json, searched recursively.
    CmmnExecution(execution::Options),
    /// Every CMMN file of a folder read, written, read again and compared with its source.
    CmmnRoundtrip(cmmn_roundtrip::Options),
    /// Models as modelers export them, run from start to end with people, messages and a worker.
    Models(models::Options),
    /// Every file of a folder imported with `isExecutable` set and published.
    BpmnVendor(vendor::Options),
    /// Every file of a folder through transform/preview.
    BpmnPreview(preview::Options),
    /// Models that each break one rule, and models that break none, through validate.
    BpmnConstraints(constraints::Options),
    /// Every BPMN file of a folder read, created, exported and compared with its source.
    BpmnRoundtrip(roundtrip::Options),
    /// The DMN Technology Compatibility Kit, or any folder in its form.
    DmnTck(dmn_tck::Options),
    /// Every export against the standard's schema and through bpmn-moddle.
    BpmnSchema(schema::Options),
}

/// Runs a suite, or all that are recorded; `false` when a case did not end as it must.
///
/// # Errors
/// When a suite can't be run: no server, no files, no place for results.
pub async fn run(options: Options) -> Result<bool> {
    let Some(suite) = options.suite else {
        return match (options.record, options.check) {
            (true, _) => record::record(&options.only).await,
            (_, true) => record::check(&options.only).await,
            _ => bail!("name a suite, or --record or --check"),
        };
    };
    match suite {
        Suite::BpmnExecution(options) => execution::run("bpmn-execution", options).await,
        Suite::CmmnExecution(options) => execution::run("cmmn-execution", options).await,
        Suite::CmmnRoundtrip(options) => cmmn_roundtrip::run(&options),
        Suite::Models(options) => models::run(options).await,
        Suite::BpmnVendor(options) => vendor::run(options).await,
        Suite::BpmnPreview(options) => preview::run(options).await,
        Suite::BpmnConstraints(options) => constraints::run(options).await,
        Suite::BpmnRoundtrip(options) => roundtrip::run(options).await,
        Suite::BpmnSchema(options) => schema::run(options).await,
        Suite::DmnTck(options) => dmn_tck::run(options).await,
    }
}
