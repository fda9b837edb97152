//! Files in, text out, passages out of text.
//!
//! Files are read by a child process ([`Workers`]) with limits of time, memory and output ([`Limits`]); what it gives is a
//! [`Document`]: one text, in Markdown where the file has structure, with the offsets of its pages, sheets, slides and
//! headings. [`chunk()`] cuts such a text into passages by one of the [`METHODOLOGIES`]. All offsets count characters.

mod builder;
mod chunk;
mod document;
mod encoding;
mod error;
mod kind;
mod limits;
mod ocr;
mod offsets;
mod parse;
mod protocol;
mod structure;
pub mod worker;
mod workers;

pub use chunk::{
    Chunk, Context, EstimatedTokens, Field, Fixed, Locator, METHODOLOGIES, Methodology, MethodologyInfo,
    OptionError, ParentChild, Recursive, Sections, SentenceWindow, TableRows, TokenCounter, WholeDocument,
    chunk,
};
pub use document::{Attachment, Document, Heading, Markup, Part, PartKind};
pub use error::{ExtractError, Limit};
pub use kind::{FileKind, HEAD_BYTES, KINDS, KindInfo, classify};
pub use limits::{Limits, UNPACKED_FLOOR};
pub use ocr::{Ocr, OcrMode};
pub use parse::{Request, extract};
pub use workers::Workers;
