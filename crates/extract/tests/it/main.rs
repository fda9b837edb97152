//! Files through the child process: documents made here, and hostile ones.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail the test")]

mod documents;
mod hostile;
mod made;
mod ocr;

use std::io::Cursor;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use heddle_extract::{Document, ExtractError, Limits, Ocr, Request, Workers};

/// Children as the service starts them.
fn workers() -> Workers {
    Workers::new(PathBuf::from(env!("CARGO_BIN_EXE_parse-worker")), Vec::new(), 2)
}

fn request(name: &str, limits: Limits) -> Request {
    Request { name: name.to_owned(), media_type: None, ocr: Ocr::off(), limits }
}

/// The text of a file, read by a child within limits.
fn read_within(name: &str, content: Vec<u8>, limits: Limits) -> Result<Document, ExtractError> {
    let length = content.len() as u64;
    workers().extract(&request(name, limits), Cursor::new(content), length, &AtomicBool::new(false))
}

/// The text of a file, read by a child within the default limits.
fn read(name: &str, content: Vec<u8>) -> Result<Document, ExtractError> {
    read_within(name, content, Limits::default())
}

/// The characters of a document's part.
fn part(document: &Document, number: usize) -> String {
    let part = &document.parts[number];
    let (start, end) = (part.start_char as usize, part.end_char as usize);
    document.text.chars().skip(start).take(end - start).collect()
}
