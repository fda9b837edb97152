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
    let _ = writeln!(io::stderr().lock(), "heddle: {error:#}");
}

/// The exit code for an error: 2 configuration, 3 something not there, 4 in use, 5 dependency, 6 key or licence,
/// 7 failed checks, 1 anything else.
pub(crate) fn exit_code(error: &anyhow::Error) -> ExitCode {
    let failure = error.downcast_ref::<Failure>().map(|failure| match failure {
        Failure::Configuration(_) => 2,
        Failure::Unhealthy(_) => 7,
    });
    let start = error.downcast_ref::<StartError>().map(StartError::exit_code);
    ExitCode::from(failure.or(start).unwrap_or(1))
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
