//! The parent: starts a child for each file, and ends it in time.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::document::Document;
use crate::error::{ExtractError, Limit};
use crate::limits::Limits;
use crate::parse::Request;
use crate::protocol::{answer, write_frame};

/// Time between two looks of a waiting parent whether it is cancelled.
const LOOK: Duration = Duration::from_millis(50);

/// Time in which a child whose output has ended must end itself.
const GRACE: Duration = Duration::from_secs(2);

/// Bytes of the child's messages that are kept.
const MESSAGES: usize = 4 << 10;

/// Environment that children keep: where OCR is found, and its data.
const KEPT: &[&str] = &["PATH", "TESSDATA_PREFIX"];

/// Children that read files, so many at once and no more. Each reads one file and ends.
#[derive(Debug)]
pub struct Workers {
    program: PathBuf,
    arguments: Vec<OsString>,
    free: Mutex<usize>,
    freed: Condvar,
}

impl Workers {
    /// Children of a program that runs [`crate::worker::stdio`] when it is called with the arguments; at most `many`
    /// (at least one) at once.
    #[must_use]
    pub const fn new(program: PathBuf, arguments: Vec<OsString>, many: usize) -> Self {
        let many = if many == 0 { 1 } else { many };
        Self { program, arguments, free: Mutex::new(many), freed: Condvar::new() }
    }

    /// Gives the text of a file of `length` bytes, read by a child. The calling thread waits: for a free place among
    /// the children, then at most the wall-clock seconds of the limits. Set `cancelled` to give it up.
    ///
    /// # Errors
    /// Every kind of [`ExtractError`].
    pub fn extract(
        &self,
        request: &Request,
        input: impl Read + Send + 'static,
        length: u64,
        cancelled: &AtomicBool,
    ) -> Result<Document, ExtractError> {
        let _place = self.place(cancelled)?;
        let header = serde_json::to_vec(request).map_err(|error| unavailable(&error))?;
        let mut running = Running::start(&self.program, &self.arguments, &request.limits)?;
        let fed = running.feed(header, input, length);
        let output = running.output(&request.limits, cancelled);
        let result = match output {
            Ok(output) => running.result(&output, &request.limits),
            Err(error) => Err(error),
        };
        let _status = running.end();
        let messages = running.messages();
        match (result, fed.and_then(settled)) {
            // What the child made of a file it got only part of is not the file's error.
            (_, Some(Feed::Input(reason))) => Err(ExtractError::Unavailable { reason }),
            (Err(error), _) => Err(told(error, &messages, &request.limits)),
            (Ok(document), _) => Ok(document),
        }
    }

    /// Waits for a place among the children.
    fn place(&self, cancelled: &AtomicBool) -> Result<Place<'_>, ExtractError> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            if cancelled.load(Ordering::Relaxed) {
                return Err(ExtractError::Cancelled);
            }
            free = self.freed.wait_timeout(free, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        *free -= 1;
        Ok(Place(self))
    }
}

/// A place among the children, given back when it is dropped.
struct Place<'w>(&'w Workers);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

/// Reason for which the child did not get the whole file.
enum Feed {
    /// The input failed or ended early.
    Input(String),
    /// The child stopped reading.
    Child,
}

/// A child that was started; it is killed when this is dropped.
struct Running {
    child: Child,
    received: Receiver<io::Result<Vec<u8>>>,
    messages: Arc<Mutex<Vec<u8>>>,
    listening: Option<JoinHandle<()>>,
    /// Whether it was killed, or waited for.
    ended: bool,
}

impl Running {
    fn start(program: &Path, arguments: &[OsString], limits: &Limits) -> Result<Self, ExtractError> {
        let mut command = Command::new(program);
        command.args(arguments).current_dir("/").process_group(0).env_clear();
        command.envs(KEPT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.env("LC_ALL", "C.UTF-8");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| unavailable(&error))?;
        let (sender, received) = channel();
        let most = limits.output_bytes.saturating_add(5);
        if let Some(stdout) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut output = Vec::new();
                let read = stdout.take(most).read_to_end(&mut output).map(|_count| output);
                // Nobody listens any more to a child that was given up.
                let _gone = sender.send(read);
            });
        }
        let messages = Arc::new(Mutex::new(Vec::new()));
        let listening = child.stderr.take().map(|stderr| {
            let messages = Arc::clone(&messages);
            std::thread::spawn(move || listen(stderr, &messages))
        });
        Ok(Self { child, received, messages, listening, ended: false })
    }

    /// Sends the request and the file, on a thread: a child that does not read must not hold the parent up.
    fn feed(
        &mut self,
        header: Vec<u8>,
        input: impl Read + Send + 'static,
        length: u64,
    ) -> Option<JoinHandle<Result<(), Feed>>> {
        let mut stdin = self.child.stdin.take()?;
        Some(std::thread::spawn(move || {
            let begun =
                write_frame(&mut stdin, &header).and_then(|()| stdin.write_all(&length.to_le_bytes()));
            begun.map_err(|_closed| Feed::Child)?;
            copy(input.take(length), &mut stdin, length)
        }))
    }

    /// Waits for the end of the child's output.
    fn output(&self, limits: &Limits, cancelled: &AtomicBool) -> Result<Vec<u8>, ExtractError> {
        let end = Instant::now() + Duration::from_secs(limits.wall_seconds);
        loop {
            match self.received.recv_timeout(LOOK) {
                Ok(Ok(output)) if output.len() as u64 > limits.output_bytes.saturating_add(4) => {
                    let (limit, allowed) = (Limit::OutputBytes, limits.output_bytes);
                    return Err(ExtractError::LimitExceeded { limit, allowed, value: None });
                }
                Ok(output) => return output.map_err(|error| unavailable(&error)),
                Err(RecvTimeoutError::Disconnected) => return Err(unavailable(&"it has no output")),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if cancelled.load(Ordering::Relaxed) {
                return Err(ExtractError::Cancelled);
            }
            if Instant::now() >= end {
                return Err(ExtractError::Timeout { seconds: limits.wall_seconds });
            }
        }
    }

    /// Answer of the child, or the reason for which there is none.
    fn result(&mut self, output: &[u8], limits: &Limits) -> Result<Document, ExtractError> {
        if let Some(content) = answer(output) {
            let result: Result<Document, ExtractError> =
                serde_json::from_slice(content).map_err(|error| unavailable(&error))?;
            return result;
        }
        let end = Instant::now() + GRACE;
        while Instant::now() < end {
            if !self.has_ended() {
                std::thread::sleep(Duration::from_millis(5));
                continue;
            }
            return Err(match self.end() {
                Ok(status) => ended(status, limits),
                Err(error) => unavailable(&error),
            });
        }
        Err(ExtractError::Killed { reason: "it closed its output and went on".to_owned() })
    }

    /// Whether the child has ended by itself; it is not waited for.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(Pid::from_child(&self.child)), options), Ok(None))
    }

    /// Ends the child and all it started, and waits for it. Until it is waited for its number, and so its group, is its
    /// own.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.ended {
            self.ended = true;
            if kill_process_group(Pid::from_child(&self.child), Signal::KILL).is_err() {
                let _gone = self.child.kill();
            }
        }
        self.child.wait()
    }

    /// Beginning of what the child wrote to its standard error.
    fn messages(&mut self) -> String {
        if let Some(listening) = self.listening.take() {
            let _panic = listening.join();
        }
        let kept = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _status = self.end();
    }
}

/// Reason for which a file was not sent as a whole, if it is known within [`GRACE`]. An input that does not answer is not
/// waited for: its thread ends when it does.
fn settled(feeding: JoinHandle<Result<(), Feed>>) -> Option<Feed> {
    let end = Instant::now() + GRACE;
    while !feeding.is_finished() {
        if Instant::now() >= end {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    feeding.join().ok().and_then(Result::err)
}

/// Keeps the beginning of what a child says, and reads the rest, so that it is not held up.
fn listen(mut from: impl Read, to: &Mutex<Vec<u8>>) {
    let mut block = [0; 1024];
    while let Ok(count) = from.read(&mut block) {
        if count == 0 {
            return;
        }
        let mut kept = to.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MESSAGES.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(block.get(..room).unwrap_or_default());
    }
}

/// Sends a file to a child.
fn copy(mut from: impl Read, to: &mut impl Write, length: u64) -> Result<(), Feed> {
    let mut block = vec![0; 64 << 10];
    let mut sent = 0;
    loop {
        let count = match from.read(&mut block) {
            Ok(0) if sent < length => return Err(Feed::Input(format!("the file ended after {sent} bytes"))),
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Feed::Input(error.to_string())),
        };
        to.write_all(block.get(..count).unwrap_or_default()).map_err(|_closed| Feed::Child)?;
        sent += count as u64;
    }
}

/// Signal of exceeded processor time (signal(7), Linux).
const SIGXCPU: i32 = 24;
/// Signal of an exceeded size of a file.
const SIGXFSZ: i32 = 25;
/// Signals by which a process ends that did something wrong: ILL, TRAP, ABRT, BUS, FPE, SEGV, SYS.
const CRASHES: &[i32] = &[4, 5, 6, 7, 8, 11, 31];

/// Reason for which a child ended without an answer.
fn ended(status: ExitStatus, limits: &Limits) -> ExtractError {
    match status.signal() {
        Some(SIGXCPU) => {
            let (limit, allowed) = (Limit::CpuSeconds, limits.cpu_seconds);
            ExtractError::LimitExceeded { limit, allowed, value: None }
        }
        Some(SIGXFSZ) => {
            let (limit, allowed) = (Limit::WrittenBytes, limits.written_bytes);
            ExtractError::LimitExceeded { limit, allowed, value: None }
        }
        Some(signal) if CRASHES.contains(&signal) => {
            ExtractError::parse(format_args!("its reader crashed (signal {signal})"))
        }
        Some(signal) => ExtractError::Killed { reason: format!("signal {signal}") },
        None => ExtractError::Killed { reason: status.to_string() },
    }
}

/// An error in the light of what the child said: memory that was not to be had ends it like a crash.
fn told(error: ExtractError, messages: &str, limits: &Limits) -> ExtractError {
    let crash = matches!(error, ExtractError::ParseFailed { .. } | ExtractError::Killed { .. });
    if crash && messages.contains("memory allocation of") {
        let (limit, allowed) = (Limit::MemoryBytes, limits.memory_bytes);
        return ExtractError::LimitExceeded { limit, allowed, value: None };
    }
    if crash && messages.contains("has overflowed its stack") {
        return ExtractError::parse("what it holds stands too deep inside each other");
    }
    error
}

fn unavailable(error: &impl std::fmt::Display) -> ExtractError {
    ExtractError::Unavailable { reason: error.to_string() }
}
