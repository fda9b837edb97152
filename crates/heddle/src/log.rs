//! Log lines on their way to standard error. A thread of its own writes them, some together: whoever serves a request
//! neither makes a system call for its line nor waits for a reader of the log that stands still.

use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

/// Longest time that a line waits for others.
const GATHER: Duration = Duration::from_millis(100);
/// Bytes that are written without waiting for more.
const ENOUGH: usize = 32 * 1024;
/// Bytes beyond which lines are counted and not kept: the reader stands still.
const MOST: usize = 1024 * 1024;

/// Lines of the process.
static LOG: OnceLock<Log> = OnceLock::new();

struct Log {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    writer: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// Lines that were not kept.
    lost: u64,
    /// Whether there is something that must not wait.
    urgent: bool,
    ended: bool,
}

impl Log {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, line: &[u8], urgent: bool) {
        let mut waiting = self.waiting();
        if waiting.ended {
            drop(waiting);
            // Nobody is there any more to write it.
            let _ = io::stderr().lock().write_all(line);
            return;
        }
        let was_empty = waiting.bytes.is_empty();
        if waiting.bytes.len() + line.len() > MOST {
            waiting.lost += 1;
        } else {
            waiting.bytes.extend_from_slice(line);
        }
        waiting.urgent |= urgent;
        if was_empty || urgent || waiting.bytes.len() >= ENOUGH {
            self.changed.notify_one();
        }
    }

    /// Next lines to write, once there are some; none when it has ended.
    fn next(&self) -> Option<Vec<u8>> {
        let mut waiting = self.waiting();
        while waiting.bytes.is_empty() && !waiting.ended {
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        let gather =
            |waiting: &mut Waiting| !waiting.urgent && !waiting.ended && waiting.bytes.len() < ENOUGH;
        let gathered = self.changed.wait_timeout_while(waiting, GATHER, gather);
        let (mut waiting, _) = gathered.unwrap_or_else(PoisonError::into_inner);
        waiting.urgent = false;
        let mut bytes = std::mem::take(&mut waiting.bytes);
        let lost = std::mem::take(&mut waiting.lost);
        if lost > 0 {
            bytes.extend_from_slice(format!("heddle: {lost} lines of the log were lost\n").as_bytes());
        }
        (!bytes.is_empty()).then_some(bytes)
    }
}

/// Writer of the log for the subscriber.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lines;

/// Line that is being written; warnings and errors don't wait.
#[derive(Debug)]
pub(crate) struct Line {
    urgent: bool,
}

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match LOG.get() {
            Some(log) => log.add(line, self.urgent),
            None => io::stderr().lock().write_all(line)?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line { urgent: true }
    }

    fn make_writer_for(&'a self, meta: &Metadata<'_>) -> Line {
        Line { urgent: *meta.level() <= Level::WARN }
    }
}

/// Starts the thread that writes. Without a thread each line is written where it is made.
pub(crate) fn start() -> Lines {
    let log = Log { waiting: Mutex::default(), changed: Condvar::new(), writer: Mutex::new(None) };
    let log = LOG.get_or_init(|| log);
    let started = std::thread::Builder::new().name("heddle-log".to_owned()).spawn(|| {
        let lines = || LOG.get().and_then(Log::next);
        while let Some(bytes) = lines() {
            // A closed standard error is no reason to end.
            let _ = io::stderr().lock().write_all(&bytes);
        }
    });
    match started {
        Ok(thread) => {
            *log.writer.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        }
        Err(_) => log.waiting().ended = true,
    }
    Lines
}

/// Writes what still waits, unless the reader stands still; for the end of the program.
pub(crate) fn finish() {
    let Some(log) = LOG.get() else { return };
    log.waiting().ended = true;
    log.changed.notify_one();
    let thread = log.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(thread) = thread else { return };
    let begin = std::time::Instant::now();
    while !thread.is_finished() && begin.elapsed() < Duration::from_secs(1) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> Log {
        Log { waiting: Mutex::default(), changed: Condvar::new(), writer: Mutex::new(None) }
    }

    #[test]
    fn lines_are_written_together_in_their_order() {
        let log = log();
        log.add(b"one\n", false);
        log.add(b"two\n", false);
        log.add(b"three\n", true);
        assert_eq!(log.next().unwrap(), b"one\ntwo\nthree\n");
        log.waiting().ended = true;
        assert_eq!(log.next(), None);
    }

    #[test]
    fn a_reader_that_stands_still_costs_lines_and_no_memory() {
        let log = log();
        let line = [b'x'; 1024];
        for _ in 0..2000 {
            log.add(&line, false);
        }
        assert!(log.waiting().bytes.len() <= MOST);
        let text = String::from_utf8(log.next().unwrap()).unwrap();
        assert!(text.ends_with("heddle: 976 lines of the log were lost\n"), "{}", &text[text.len() - 60..]);
    }
}
