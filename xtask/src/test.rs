//! The whole test suite.

use anyhow::{Context, Result};

use heddle_harness_kit::{out, workspace};

/// Options of `test`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Profile of .config/nextest.toml.
    #[arg(long, default_value = "default")]
    profile: String,
    /// Passed on to the test runner.
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Runs nextest if it is installed, else cargo's own runner.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let installed = workspace::cargo()
        .args(["nextest", "--version"])
        .output()
        .is_ok_and(|output| output.status.success());
    let mut command = workspace::cargo();
    if installed {
        command.args(["nextest", "run", "--workspace", "--profile", &options.profile]);
    } else {
        out::note("cargo-nextest is not installed: cargo test it is");
        command.args(["test", "--workspace"]);
    }
    let status = command.args(&options.rest).status().context("cargo cannot be started")?;
    Ok(status.success())
}
