//! Real documents, made by pandoc, LibreOffice and TeX where they are installed, and read.

use anyhow::{Context, Result};
use heddle_harness_kit::workspace;

/// Options of `documents`.
#[derive(clap::Args)]
pub(crate) struct Options {}

/// Makes and reads them; `false` when one lost something.
pub(crate) fn run(Options {}: Options) -> Result<bool> {
    let mut cargo = workspace::cargo();
    cargo.args(["run", "--quiet", "--release", "--package", "heddle-extract", "--example", "real-documents"]);
    let status = cargo.status().context("cargo cannot be started")?;
    Ok(status.success())
}
