//! The child: confines itself, reads one file, answers, ends.

use std::io::{self, Read, Write};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use nix::sched::{CloneFlags, unshare};
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};

use crate::document::Document;
use crate::error::{ExtractError, Limit};
use crate::limits::Limits;
use crate::parse::{Request, extract};
use crate::protocol::{read_exactly, read_length, read_request, write_frame};

/// Bytes of stack of the thread that reads the file; parsers call themselves for what stands inside each other.
const STACK: usize = 64 << 20;

/// Runs the child over standard input and output: one request, one file, one answer (`protocol`). It takes its limits
/// from the request and sets them before it reads the first byte of the file; no network is left to it where the
/// operating system lets it give it up.
///
/// # Errors
/// What the operating system says, where the parent is gone or the limits can't be set.
pub fn stdio() -> io::Result<()> {
    run(&mut io::stdin().lock(), &mut io::stdout().lock())
}

/// Runs the child over any input and output; see [`stdio`]. The limits are the calling process's.
///
/// # Errors
/// As those of [`stdio`].
pub fn run(input: &mut impl Read, output: &mut impl Write) -> io::Result<()> {
    let request: Request = serde_json::from_slice(&read_request(input)?)?;
    confine(&request.limits)?;
    let reader = Reader::start()?;
    let length = read_length(input)?;
    let (limit, allowed) = (Limit::MemoryBytes, request.limits.memory_bytes);
    let result = if length > request.limits.file_bytes {
        Err(ExtractError::limit(Limit::FileBytes, request.limits.file_bytes, length))
    } else {
        match read_exactly(input, length) {
            Ok(content) => reader.read(request, content),
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                Err(ExtractError::LimitExceeded { limit, allowed, value: None })
            }
            Err(error) => return Err(error),
        }
    };
    write_frame(output, &serde_json::to_vec(&result)?)?;
    output.flush()
}

/// Thread that reads the file, with stack enough. It is started before the file takes the memory.
struct Reader {
    sender: Sender<(Request, Vec<u8>)>,
    thread: JoinHandle<Option<Result<Document, ExtractError>>>,
}

impl Reader {
    fn start() -> io::Result<Self> {
        let (sender, receiver) = channel::<(Request, Vec<u8>)>();
        let work = move || receiver.recv().ok().map(|(request, content)| extract(&request, &content));
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(work)?;
        Ok(Self { sender, thread })
    }

    /// Content of the file; a panic of a parser is the file's error.
    fn read(self, request: Request, content: Vec<u8>) -> Result<Document, ExtractError> {
        let sent = self.sender.send((request, content));
        drop(self.sender);
        match (sent, self.thread.join()) {
            (Ok(()), Ok(Some(result))) => result,
            (Ok(()) | Err(_), _) => Err(ExtractError::parse("the reader failed on it")),
        }
    }
}

/// Sets the limits of this process and of all it starts.
fn confine(limits: &Limits) -> io::Result<()> {
    // The signal comes when the thread ends that started the child; that thread waits for the answer.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    set(Resource::Core, 0, 0)?;
    set(Resource::As, limits.memory_bytes, limits.memory_bytes)?;
    // The soft limit ends it by a signal that tells the reason, the hard one by force.
    set(Resource::Cpu, limits.cpu_seconds, limits.cpu_seconds.saturating_add(2))?;
    set(Resource::Fsize, limits.written_bytes, limits.written_bytes)?;
    set(Resource::Nofile, limits.open_files, limits.open_files)?;
    // A network of its own is an empty one. Not every user may ask for it; the parsers open no connection in any case.
    if unshare(CloneFlags::CLONE_NEWNET).is_err() {
        let _refused = unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET);
    }
    Ok(())
}

fn set(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(soft), maximum: Some(hard) })?)
}
