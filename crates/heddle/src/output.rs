//! Output of the program.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::failure::{Refusal, code, sentence};

/// Whether a command has printed its JSON: an error that comes after it adds no second document.
static TOLD: AtomicBool = AtomicBool::new(false);

/// Prints a line to standard output.
pub(crate) fn line(text: &str) {
    // A closed pipe (`heddle ... | head`) is no fault.
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// Prints a line to standard error: what is no result.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints JSON on one line.
pub(crate) fn json(value: &Value) {
    TOLD.store(true, Ordering::Relaxed);
    line(&value.to_string());
}

/// Prints rows as a table: the first one is its head. Nothing that steers a terminal comes through.
pub(crate) fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) {
    let head = head.map(str::to_owned);
    let all: Vec<_> = std::iter::once(&head).chain(rows).collect();
    aligned(&all).iter().for_each(|row| line(row));
}

/// Lines of rows: each column has the width of its longest cell, and two spaces behind it. Nothing that steers a terminal
/// comes through.
pub(crate) fn aligned<const N: usize>(rows: &[&[String; N]]) -> Vec<String> {
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..N).map(|at| width(at).unwrap_or(0)).collect();
    let shown = |row: &&[String; N]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| {
            let gap = width.saturating_sub(cell.chars().count());
            plain(cell) + &" ".repeat(gap)
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(shown).collect()
}

/// A text without what steers a terminal.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}

/// Prints why the program ends: for people, and with `--json` also as JSON, where the command has not told it already.
pub(crate) fn problem(error: &anyhow::Error, as_json: bool) {
    if as_json && !TOLD.load(Ordering::Relaxed) {
        json(&described(error));
    }
    note(&format!("heddle: {}", sentence(error)));
}

/// Tells what is wrong with the command line, or what help it asks for.
pub(crate) fn misused(error: &clap::Error) -> ExitCode {
    let wants_json = std::env::args_os().any(|argument| argument == "--json");
    if error.use_stderr() && wants_json {
        let message = error.render().to_string();
        json(&json!({ "error": { "message": message.trim(), "exitCode": error.exit_code() } }));
    }
    // Nothing can be told where nothing can be written.
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// An error as JSON: `{"error": {"message", "exitCode", "code"?, "details"?, "requestId"?}}`.
pub(crate) fn described(error: &anyhow::Error) -> Value {
    let mut members = json!({ "message": sentence(error), "exitCode": code(error) });
    if let (Some(refusal), Some(members)) = (error.downcast_ref::<Refusal>(), members.as_object_mut()) {
        members.insert("code".to_owned(), json!(refusal.code));
        members.insert("details".to_owned(), json!(refusal.details));
        members.insert("requestId".to_owned(), json!(refusal.request_id));
    }
    json!({ "error": members })
}

/// The exit code for an error.
pub(crate) fn exit_code(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(code(error))
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

    #[test]
    fn columns_never_run_into_each_other() {
        let long = ["anonymous_requests_per_second", "100", "file"].map(str::to_owned);
        let short = ["log", "a value that is longer than most\n", "default"].map(str::to_owned);
        let lines = aligned(&[&long, &short]);
        let (name, value) = (" ".repeat(26), " ".repeat(30));
        assert_eq!(lines[0], format!("anonymous_requests_per_second  100{value}  file"));
        assert_eq!(lines[1], format!("log{name}  a value that is longer than most\u{fffd}  default"));
        assert!(aligned::<2>(&[]).is_empty());
    }

    #[test]
    fn a_text_steers_no_terminal() {
        assert_eq!(plain("a\u{1b}[2Jb\n"), "a\u{fffd}[2Jb\u{fffd}");
    }
}
