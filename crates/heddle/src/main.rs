//! The `heddle` program: command line, configuration and wiring. Exit codes are documented in `docs/configuration.md`.

mod cli;
mod commands;
mod config;
mod output;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match commands::run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::problem(&error);
            output::exit_code(&error)
        }
    }
}
