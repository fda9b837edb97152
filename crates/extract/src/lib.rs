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
    OptionError, ParentChild, Recursive, Sections, SentenceWindow, TableRows, TokenCounter, TooMuch,
    WholeDocument, chunk, chunk_within,
};
pub use document::{Attachment, Document, Heading, Markup, Part, PartKind};
pub use encoding::knows_charset;
pub use error::{ExtractError, Limit};
pub use kind::{FileKind, HEAD_BYTES, KINDS, KindInfo, can_be_read, classify};
pub use limits::{Limits, UNPACKED_FLOOR};
pub use ocr::{Ocr, OcrMode};
pub use parse::{Request, extract};
pub use workers::Workers;
