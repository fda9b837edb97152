//! The `heddle` program: command line, configuration and wiring. Exit codes are documented in `docs/configuration.md`.

mod cli;
mod commands;
mod config;
mod output;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    // Whatever is written from here on is nobody else's: the database and what SQLite puts beside it, keys, exports.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    match commands::run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::problem(&error);
            output::exit_code(&error)
        }
    }
}
