//! Extracted documents: one text, and where its parts and headings stand in it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::kind::FileKind;

/// Text of a file, with its structure. All offsets count characters (Unicode scalar values) of [`Document::text`], from
/// 0; an end is the offset after the last character.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// Type as which the file was read.
    pub kind: FileKind,
    /// Form of the text.
    pub markup: Markup,
    /// Title the file gives itself, or its first heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Language, as an ISO 639-1 code where there is one, else ISO 639-3; absent where nothing tells it reliably.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The text; never without a character that is not white space.
    pub text: String,
    /// Characters of the text.
    pub characters: u64,
    /// Pages, sheets, slides and sections, in their order; they do not overlap.
    pub parts: Vec<Part>,
    /// Headings, in their order.
    pub headings: Vec<Heading>,
    /// Statements of the file about itself: `author`, `subject`, `created`, `from`, `to` and such.
    pub metadata: BTreeMap<String, String>,
    /// Files inside the file, of an e-mail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Omissions and their reasons, one sentence each: a page that could not be read, an attachment of unknown type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Forms of an extracted text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Markup {
    /// Markdown (CommonMark with tables).
    Markdown,
    /// Text in which no character has a meaning of its own.
    Plain,
}

/// Part of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Kind of the part.
    pub kind: PartKind,
    /// Number among the parts of its kind, from 1; of a page its number in the file.
    pub number: u32,
    /// Name: of a sheet, a slide or an attachment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Offset of its first character.
    pub start_char: u32,
    /// Offset after its last character.
    pub end_char: u32,
}

/// Kinds of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PartKind {
    /// A page of a PDF or of a scan.
    Page,
    /// A sheet of a workbook.
    Sheet,
    /// A slide of a presentation.
    Slide,
    /// A record of a JSON file, or an attachment of an e-mail.
    Section,
}

/// Heading of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Heading {
    /// Level, from 1 to 6.
    pub level: u8,
    /// Text without its markup.
    pub text: String,
    /// Offset at which it begins.
    pub start_char: u32,
}

/// File inside a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// Name it was sent under.
    pub name: String,
    /// Media type it was sent as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Length in bytes.
    pub bytes: u64,
    /// Whether its text stands in the document.
    pub included: bool,
}
