//! Readers of each type of file.

mod archive;
mod csv;
mod email;
mod html;
mod image;
mod json;
mod office;
mod pdf;
mod text;

use serde::{Deserialize, Serialize};

use crate::builder::Builder;
use crate::document::{Document, Markup};
use crate::error::{ExtractError, Limit};
use crate::kind::{FileKind, classify};
use crate::limits::Limits;
use crate::ocr::Ocr;

/// Request for the text of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Request {
    /// Name of the file; its extension tells the type.
    pub name: String,
    /// Media type it was sent as.
    #[serde(default)]
    pub media_type: Option<String>,
    /// Whether images are read by OCR.
    #[serde(default)]
    pub ocr: Ocr,
    /// Limits.
    #[serde(default)]
    pub limits: Limits,
}

/// File that a reader is given, with what was asked for.
#[derive(Debug, Clone, Copy)]
struct Source<'a> {
    request: &'a Request,
    content: &'a [u8],
    /// Messages inside which the file stands.
    depth: u64,
}

/// Gives the text of a file, in the process that calls it: a hostile file can take all the time and memory the process
/// has, or end it. [`crate::Workers`] does the same in a child with limits.
///
/// # Errors
/// [`ExtractError`]; never `Timeout`, `Killed`, `Cancelled` or `Unavailable`.
pub fn extract(request: &Request, content: &[u8]) -> Result<Document, ExtractError> {
    nested(Source { request, content, depth: 0 })
}

fn nested(source: Source<'_>) -> Result<Document, ExtractError> {
    let Source { request, content, .. } = source;
    let bytes = content.len() as u64;
    if bytes > request.limits.file_bytes {
        return Err(ExtractError::limit(Limit::FileBytes, request.limits.file_bytes, bytes));
    }
    if content.is_empty() {
        return Err(ExtractError::NoText { hint: Some("it is empty".to_owned()) });
    }
    let kind = classify(&request.name, request.media_type.as_deref(), content)?;
    let mut builder = Builder::new(&request.limits);
    let markup = match kind {
        FileKind::Text => text::plain(source, &mut builder),
        FileKind::Markdown => text::markdown(source, &mut builder),
        FileKind::Html => html::read(source, &mut builder),
        FileKind::Csv => csv::read(source, &mut builder),
        FileKind::Json => json::read(source, &mut builder),
        FileKind::JsonLines => json::lines(source, &mut builder),
        FileKind::Docx | FileKind::Xlsx | FileKind::Pptx | FileKind::Doc | FileKind::Xls | FileKind::Ppt => {
            office::read(kind, source, &mut builder)
        }
        FileKind::Pdf => pdf::read(source, &mut builder),
        FileKind::Email => email::read(source, &mut builder),
        FileKind::Png | FileKind::Jpeg | FileKind::Tiff => image::read(source, &mut builder),
    }?;
    builder.finish(kind, markup)
}

/// Result of a reader: the form of the text it wrote.
type Read = Result<Markup, ExtractError>;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The text of a file with the default limits and without OCR.
    pub(crate) fn read(name: &str, content: &[u8]) -> Result<Document, ExtractError> {
        let request =
            Request { name: name.to_owned(), media_type: None, ocr: Ocr::off(), limits: Limits::default() };
        extract(&request, content)
    }

    /// The characters of a text from one offset to another.
    pub(crate) fn slice(text: &str, start: u32, end: u32) -> String {
        text.chars().skip(start as usize).take((end - start) as usize).collect()
    }

    #[test]
    fn a_file_without_a_letter_is_never_a_document() {
        for (name, content) in
            [("a.txt", " \n\t ".as_bytes()), ("a.txt", b""), ("a.html", b"<p> </p>"), ("a.md", b"\n")]
        {
            assert!(matches!(read(name, content), Err(ExtractError::NoText { .. })), "{name}");
        }
    }

    #[test]
    fn the_limits_of_bytes_and_characters_name_themselves() {
        let limits = Limits { file_bytes: 10, characters: 5, ..Limits::default() };
        let request = Request { name: "a.txt".to_owned(), media_type: None, ocr: Ocr::off(), limits };
        assert_eq!(extract(&request, b"12345678901"), Err(ExtractError::limit(Limit::FileBytes, 10, 11)));
        assert_eq!(extract(&request, b"123456"), Err(ExtractError::limit(Limit::Characters, 5, 6)));
    }
}
