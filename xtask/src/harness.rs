//! The runners, which are a program of their own, so that a check of the code base waits for none of what they need.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use heddle_harness_kit::workspace;

/// Verbs that measure: their callers share the processors with what they measure, so that a slow caller would hide it.
const MEASURES: [&str; 1] = ["bench"];

/// Arguments for a runner.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Passed on to the runner; `--help` lists what it takes.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

/// Builds the harness and runs a verb of it where we were called; gives its exit code.
pub(crate) fn run(verb: &str, options: Options) -> Result<ExitCode> {
    let mut command =
        Command::new(std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from));
    command.args(["run", "--quiet", "--package", "heddle-harness", "--manifest-path"]);
    let manifest = workspace::root().join("Cargo.toml");
    command.arg(manifest);
    if MEASURES.contains(&verb) {
        command.arg("--release");
    }
    command.args(["--", verb]).args(options.rest);
    let status = command.status().context("cargo cannot be started")?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
