//! Setup: what tests and measurements need and the sources do not hold, the built-in embedding model.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;

use heddle_harness_kit::server::{Build, binary};
use heddle_harness_kit::workspace;

/// Options of the setup.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Directory of the models, instead of `models` below the target folder.
    #[arg(long, value_name = "DIR")]
    model_dir: Option<PathBuf>,
    /// Take the model from this package or directory, for a machine without a way out.
    #[arg(long, value_name = "FILE|DIR")]
    from: Option<PathBuf>,
}

/// Has the program fetch the model, which tells what it did; `false` when it could not.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let models = match &options.model_dir {
        Some(models) => models.clone(),
        None => workspace::target_dir()?.join("models"),
    };
    let mut command = Command::new(binary(Build::Debug)?);
    command.args(["models", "fetch", "--model-dir"]).arg(models);
    if let Some(from) = &options.from {
        command.arg("--from").arg(from);
    }
    Ok(command.status().context("heddle cannot be started")?.success())
}
