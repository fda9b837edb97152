//! The reading of files as ingestion asks for it: each by a process of its own, with limits of time, memory and output.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use bytes::{Buf as _, Bytes};
use futures::StreamExt as _;
use heddle_extract::{
    Document, ExtractError as Theirs, KINDS, Limits, Markup, Ocr, PartKind as TheirPart, Request, Workers,
};
use heddle_vectors::ports::{
    BlobError, Blobs, ByteStream, DocumentPart, DocumentText, ExtractError, Extractor, FileToExtract,
    Heading, PartKind, UploadType,
};
use heddle_vectors::records::FileFault;
use tokio::sync::mpsc;

/// Pieces of a file that wait to be read.
const PIECES: usize = 4;
/// Omissions of a file that are told one by one.
const WARNINGS: usize = 100;
/// Characters of one of them.
const WARNING: usize = 300;

/// Processes that read files.
pub(crate) struct ProcessExtractor {
    workers: Arc<Workers>,
    blobs: Arc<dyn Blobs>,
    limits: Limits,
    ocr: Ocr,
}

impl ProcessExtractor {
    /// Of the program itself, at most so many processes at once.
    pub(crate) fn new(
        program: PathBuf,
        many: usize,
        blobs: Arc<dyn Blobs>,
        limits: Limits,
        ocr: Ocr,
    ) -> Self {
        let workers = Arc::new(Workers::new(program, vec!["parse-worker".into()], many));
        Self { workers, blobs, limits, ocr }
    }
}

/// Cancellation of what nobody waits for any more.
struct Cancelling(Arc<AtomicBool>);

impl Drop for Cancelling {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Bytes of a stream, for a thread that reads them as a file.
struct Pieces {
    pieces: mpsc::Receiver<Result<Bytes, BlobError>>,
    rest: Bytes,
}

impl Pieces {
    /// Takes a stream in, no faster than it is read.
    fn of(mut stream: ByteStream) -> Self {
        let (sender, pieces) = mpsc::channel(PIECES);
        tokio::spawn(async move {
            while let Some(piece) = stream.next().await {
                // Whoever read has enough.
                if sender.send(piece).await.is_err() {
                    return;
                }
            }
        });
        Self { pieces, rest: Bytes::new() }
    }
}

impl Read for Pieces {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            match self.pieces.blocking_recv() {
                None => return Ok(0),
                Some(Ok(piece)) => self.rest = piece,
                Some(Err(error)) => return Err(io::Error::other(error)),
            }
        }
        let count = self.rest.len().min(to.len());
        if let Some(place) = to.get_mut(..count) {
            self.rest.copy_to_slice(place);
        }
        Ok(count)
    }
}

#[async_trait]
impl Extractor for ProcessExtractor {
    fn types(&self) -> Vec<UploadType> {
        let ocr = self.ocr.available();
        let rows = KINDS.iter().filter(|row| ocr || !row.needs_ocr);
        let types = rows.flat_map(|row| {
            row.media_types.iter().map(move |media_type| UploadType {
                media_type: (*media_type).to_owned(),
                extensions: row.extensions.iter().map(|one| (*one).to_owned()).collect(),
                parser: row.parser.to_owned(),
                ocr: ocr && (row.needs_ocr || row.parser == "pdf"),
            })
        });
        types.collect()
    }

    fn reads(&self, name: &str, declared: &str) -> bool {
        heddle_extract::can_be_read(declared, name)
    }

    fn knows_charset(&self, charset: &str) -> bool {
        heddle_extract::knows_charset(charset)
    }

    fn most_pages(&self) -> u32 {
        u32::try_from(self.limits.pages).unwrap_or(u32::MAX)
    }

    async fn extract(&self, file: &FileToExtract) -> Result<DocumentText, ExtractError> {
        let stream = self.blobs.get(file.tenant, &file.blob).await.map_err(|error| match error {
            BlobError::Missing => {
                let message = "the bytes of the file are not there any more; upload it again".to_owned();
                ExtractError::File { fault: FileFault::BytesMissing, message }
            }
            BlobError::TooLarge { .. } | BlobError::Interrupted(_) | BlobError::Unavailable(_) => {
                ExtractError::Unavailable(error.to_string())
            }
        })?;
        let media_type = Some(file.media_type.clone()).filter(|media_type| !media_type.is_empty());
        let request = Request {
            name: file.name.clone(),
            media_type,
            ocr: self.ocr.clone(),
            limits: self.limits.clone(),
        };
        let (workers, length, input) = (Arc::clone(&self.workers), file.bytes, Pieces::of(stream));
        let cancelled = Arc::new(AtomicBool::new(false));
        let _cancelling = Cancelling(Arc::clone(&cancelled));
        let reading =
            tokio::task::spawn_blocking(move || workers.extract(&request, input, length, &cancelled));
        match reading.await {
            Ok(Ok(document)) => Ok(text_of(document)),
            Ok(Err(error)) => Err(failed(error)),
            Err(error) => Err(ExtractError::Unavailable(error.to_string())),
        }
    }
}

fn failed(error: Theirs) -> ExtractError {
    let message = error.to_string();
    let fault = match error {
        Theirs::NoText { .. } => FileFault::NoText,
        Theirs::Encrypted => FileFault::Encrypted,
        Theirs::UnsupportedType { .. } => FileFault::UnsupportedType,
        Theirs::ParseFailed { .. } => FileFault::ParseFailed,
        // A file that takes all the time it may take will do so again.
        Theirs::LimitExceeded { .. } | Theirs::Timeout { .. } => FileFault::LimitExceeded,
        Theirs::Killed { .. } | Theirs::Cancelled | Theirs::Unavailable { .. } => {
            return ExtractError::Unavailable(message);
        }
    };
    ExtractError::File { fault, message }
}

fn text_of(document: Document) -> DocumentText {
    let part = |part: heddle_extract::Part| DocumentPart {
        kind: match part.kind {
            TheirPart::Page => PartKind::Page,
            TheirPart::Sheet => PartKind::Sheet,
            TheirPart::Slide => PartKind::Slide,
            TheirPart::Section => PartKind::Section,
        },
        number: part.number,
        name: part.name,
        start: part.start_char.into(),
        end: part.end_char.into(),
    };
    let heading = |heading: heddle_extract::Heading| Heading {
        level: heading.level,
        text: heading.text,
        start: heading.start_char.into(),
    };
    DocumentText {
        title: document.title,
        language: document.language,
        text: document.text,
        is_markdown: document.markup == Markup::Markdown,
        parts: document.parts.into_iter().map(part).collect(),
        headings: document.headings.into_iter().map(heading).collect(),
        warnings: told(document.warnings),
    }
}

/// Omissions as they are told: of the first of many, and of no sentence more than its beginning.
fn told(warnings: Vec<String>) -> Vec<String> {
    let more = warnings.len().saturating_sub(WARNINGS);
    let short = |warning: String| match warning.char_indices().nth(WARNING) {
        None => warning,
        Some((end, _)) => format!("{}…", warning.get(..end).unwrap_or_default()),
    };
    let mut told: Vec<String> = warnings.into_iter().take(WARNINGS).map(short).collect();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stream_is_read_as_a_file_and_its_failure_is_told() {
        let good: ByteStream =
            Box::pin(futures::stream::iter([Ok(Bytes::from_static(b"ab")), Ok(Bytes::from_static(b"c"))]));
        let mut pieces = Pieces::of(good);
        let read = tokio::task::spawn_blocking(move || {
            let mut text = String::new();
            pieces.read_to_string(&mut text).map(|_| text)
        });
        assert_eq!(read.await.unwrap().unwrap(), "abc");
        let bad: ByteStream = Box::pin(futures::stream::iter([Err(BlobError::Missing)]));
        let mut pieces = Pieces::of(bad);
        let read = tokio::task::spawn_blocking(move || pieces.read_to_end(&mut Vec::new()));
        assert!(read.await.unwrap().is_err());
    }

    #[test]
    fn what_was_left_out_of_a_text_is_told_with_it_and_is_bounded() {
        let left = |warnings: Vec<String>| Document {
            kind: heddle_extract::FileKind::Pdf,
            markup: Markup::Plain,
            title: None,
            language: None,
            text: "a".to_owned(),
            characters: 1,
            parts: Vec::new(),
            headings: Vec::new(),
            metadata: std::collections::BTreeMap::new(),
            attachments: Vec::new(),
            warnings,
        };
        assert_eq!(text_of(left(vec!["page 3: damaged".to_owned()])).warnings, ["page 3: damaged"]);
        let many = (0..WARNINGS + 7).map(|page| format!("page {page}: {}", "é".repeat(WARNING))).collect();
        let told = text_of(left(many)).warnings;
        assert_eq!((told.len(), told[WARNINGS].as_str()), (WARNINGS + 1, "and 7 more"));
        assert!(told.iter().all(|one| one.chars().count() <= WARNING + 1));
    }

    #[test]
    fn what_a_file_is_at_fault_for_is_told_apart_from_what_may_pass() {
        let of = |error| match failed(error) {
            ExtractError::File { fault, .. } => Some(fault),
            ExtractError::Unavailable(_) => None,
        };
        assert_eq!(of(Theirs::Encrypted), Some(FileFault::Encrypted));
        assert_eq!(of(Theirs::Timeout { seconds: 1 }), Some(FileFault::LimitExceeded));
        assert_eq!(of(Theirs::Killed { reason: String::new() }), None);
    }
}
