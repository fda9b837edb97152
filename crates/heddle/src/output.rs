//! Output of the program.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use heddle_server::StartError;
use serde_json::Value;

/// The program's own reasons to end without success; the number is the exit code.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The configuration is wrong.
    #[error("{0}")]
    Configuration(String),
    /// Something that was named is not there.
    #[error("{0}")]
    NotFound(String),
    /// `heddle doctor` found something.
    #[error("{0} of the checks failed")]
    Unhealthy(usize),
}

/// Prints a line to standard output.
pub(crate) fn line(text: &str) {
    // A closed pipe (`heddle ... | head`) is no fault.
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// Prints JSON on one line.
pub(crate) fn json(value: &Value) {
    line(&value.to_string());
}

/// Prints why the program ends.
pub(crate) fn problem(error: &anyhow::Error) {
    let _ = writeln!(io::stderr().lock(), "heddle: {}", sentence(error));
}

/// An error with its causes, each said once: many a sentence holds its cause already.
fn sentence(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let next = cause.to_string();
        if text.is_empty() {
            text = next;
        } else if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
    }
    text
}

/// Prints a sentence about what was done, which is no data, to standard error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// The exit code for an error: 2 configuration, 3 something not there, 4 in use, 5 dependency, 6 key or licence,
/// 7 failed checks, 1 anything else.
pub(crate) fn exit_code(error: &anyhow::Error) -> ExitCode {
    let failure = error.downcast_ref::<Failure>().map(|failure| match failure {
        Failure::Configuration(_) => 2,
        Failure::NotFound(_) => 3,
        Failure::Unhealthy(_) => 7,
    });
    let start = error.downcast_ref::<StartError>().map(StartError::exit_code);
    ExitCode::from(failure.or(start).or_else(|| missing_file(error)).unwrap_or(1))
}

/// The code of a file that was named and is not there.
fn missing_file(error: &anyhow::Error) -> Option<u8> {
    let file = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>())?;
    (file.kind() == io::ErrorKind::NotFound).then_some(3)
}

/// A bar over `steps` steps, or a spinner for one, that shows itself after a second, on a terminal only.
pub(crate) fn progress(what: &'static str, steps: u64) -> indicatif::ProgressBar {
    if !io::stderr().is_terminal() {
        return indicatif::ProgressBar::hidden();
    }
    let bar = indicatif::ProgressBar::with_draw_target(Some(steps), indicatif::ProgressDrawTarget::hidden());
    let template = if steps > 1 { "{msg} {wide_bar} {pos}/{len}" } else { "{spinner} {msg}" };
    if let Ok(style) = indicatif::ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(what);
    let shown = bar.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(1));
        if !shown.is_finished() {
            shown.set_draw_target(indicatif::ProgressDrawTarget::stderr());
            shown.enable_steady_tick(Duration::from_millis(120));
        }
    });
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context as _;

    #[test]
    fn a_cause_is_said_once_and_a_missing_file_has_its_code() {
        let taken = io::Error::new(io::ErrorKind::AddrInUse, "Address already in use (os error 98)");
        let address = "127.0.0.1:1".parse().unwrap();
        let error = anyhow::Error::from(StartError::Listen { address, source: taken });
        assert_eq!(sentence(&error), "cannot listen on 127.0.0.1:1: Address already in use (os error 98)");
        let missing = std::fs::read("no such file").context("`no such file`").unwrap_err();
        assert!(sentence(&missing).starts_with("`no such file`: No such file"));
        assert_eq!(missing_file(&missing), Some(3));
    }
}
