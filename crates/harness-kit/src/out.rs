//! Standard output for the results; progress and complaints go to standard error.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

/// Writes one line of a result. A reader that went away ends nothing.
pub fn line(text: impl Display) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = writeln!(out, "{text}")
        && error.kind() != ErrorKind::BrokenPipe
    {
        eprintln!("cannot write to standard output: {error}");
    }
}

/// Writes one line of progress.
pub fn note(text: impl Display) {
    eprintln!("{text}");
}
