//! The `heddle` program: command line, configuration and wiring. Exit codes are documented in `docs/configuration.md`.

mod cli;
mod client;
mod commands;
mod config;
mod failure;
mod log;
mod output;

use std::process::ExitCode;

use clap::Parser as _;

/// Allocator of the program. After a flood it gives the memory back by itself, from threads of its own, while the
/// threads that took it go on; that of the system keeps a third of it, others all of it. SQLite calls it by its own names:
/// in the place of the C library's it would hang under libraries that are put before the program, such as libfaketime.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return output::misused(&error),
    };
    let as_json = cli.json;
    // Whatever is written from here on is nobody else's: the database and what SQLite puts beside it, keys, exports.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    let done = commands::run(cli);
    log::finish();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::problem(&error, as_json);
            output::exit_code(&error)
        }
    }
}
