//! Types of files: what is read, and by which names, media types and first bytes it is known.

use serde::{Deserialize, Serialize};

use crate::encoding;
use crate::error::ExtractError;

/// Types of files that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FileKind {
    /// Plain text.
    Text,
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
    /// Values separated by commas, semicolons, tabs or bars.
    Csv,
    /// JSON.
    Json,
    /// JSON, one value a line.
    JsonLines,
    /// Word document (OOXML).
    Docx,
    /// Excel workbook (OOXML).
    Xlsx,
    /// PowerPoint presentation (OOXML).
    Pptx,
    /// Word 97-2003 document.
    Doc,
    /// Excel 97-2003 workbook.
    Xls,
    /// PowerPoint 97-2003 presentation.
    Ppt,
    /// PDF.
    Pdf,
    /// E-mail (RFC 5322).
    Email,
    /// PNG image, read by OCR.
    Png,
    /// JPEG image, read by OCR.
    Jpeg,
    /// TIFF image, read by OCR.
    Tiff,
}

/// Row of the table of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindInfo {
    /// Type.
    pub kind: FileKind,
    /// Media type, the usual one first.
    pub media_types: &'static [&'static str],
    /// Extensions in lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Name of the parser.
    pub parser: &'static str,
    /// Whether its text is had by OCR alone.
    pub needs_ocr: bool,
}

const fn row(
    kind: FileKind,
    media_types: &'static [&'static str],
    extensions: &'static [&'static str],
    parser: &'static str,
) -> KindInfo {
    KindInfo { kind, media_types, extensions, parser, needs_ocr: false }
}

const fn image(
    kind: FileKind,
    media: &'static [&'static str],
    extensions: &'static [&'static str],
) -> KindInfo {
    KindInfo { kind, media_types: media, extensions, parser: "ocr", needs_ocr: true }
}

/// All types that are read.
pub const KINDS: &[KindInfo] = &[
    row(FileKind::Text, &["text/plain"], &["txt", "text", "log"], "text"),
    row(FileKind::Markdown, &["text/markdown", "text/x-markdown"], &["md", "markdown", "mdown"], "markdown"),
    row(FileKind::Html, &["text/html", "application/xhtml+xml"], &["html", "htm", "xhtml"], "html"),
    row(
        FileKind::Csv,
        &["text/csv", "text/tab-separated-values", "application/csv"],
        &["csv", "tsv", "tab"],
        "csv",
    ),
    row(FileKind::Json, &["application/json", "text/json"], &["json"], "json"),
    row(
        FileKind::JsonLines,
        &["application/x-ndjson", "application/jsonl", "application/x-jsonlines"],
        &["jsonl", "ndjson"],
        "json",
    ),
    row(
        FileKind::Docx,
        &["application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
        &["docx"],
        "office",
    ),
    row(
        FileKind::Xlsx,
        &["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
        &["xlsx"],
        "office",
    ),
    row(
        FileKind::Pptx,
        &["application/vnd.openxmlformats-officedocument.presentationml.presentation"],
        &["pptx"],
        "office",
    ),
    row(FileKind::Doc, &["application/msword"], &["doc"], "office"),
    row(FileKind::Xls, &["application/vnd.ms-excel"], &["xls"], "office"),
    row(FileKind::Ppt, &["application/vnd.ms-powerpoint"], &["ppt"], "office"),
    row(FileKind::Pdf, &["application/pdf"], &["pdf"], "pdf"),
    row(FileKind::Email, &["message/rfc822"], &["eml"], "email"),
    image(FileKind::Png, &["image/png"], &["png"]),
    image(FileKind::Jpeg, &["image/jpeg"], &["jpg", "jpeg"]),
    image(FileKind::Tiff, &["image/tiff"], &["tif", "tiff"]),
];

impl FileKind {
    /// Row of the table.
    #[must_use]
    pub fn info(self) -> Option<&'static KindInfo> {
        KINDS.iter().find(|row| row.kind == self)
    }

    /// Media type, the usual one.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        self.info().and_then(|row| row.media_types.first()).copied().unwrap_or("application/octet-stream")
    }

    /// Type a file name's extension stands for, if it is one of the table.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let extension = extension(name)?;
        KINDS.iter().find(|row| row.extensions.contains(&extension.as_str())).map(|row| row.kind)
    }

    /// Type a media type stands for, parameters aside, if it is one of the table.
    #[must_use]
    pub fn of_media_type(media_type: &str) -> Option<Self> {
        let bare = bare(media_type);
        KINDS.iter().find(|row| row.media_types.contains(&bare.as_str())).map(|row| row.kind)
    }

    /// Family that the first bytes of such a file tell.
    const fn looks(self) -> Looks {
        match self {
            Self::Text
            | Self::Markdown
            | Self::Html
            | Self::Csv
            | Self::Json
            | Self::JsonLines
            | Self::Email => Looks::Text,
            Self::Docx | Self::Xlsx | Self::Pptx => Looks::Zip,
            Self::Doc | Self::Xls | Self::Ppt => Looks::Compound,
            Self::Pdf => Looks::Pdf,
            Self::Png => Looks::Png,
            Self::Jpeg => Looks::Jpeg,
            Self::Tiff => Looks::Tiff,
        }
    }
}

/// Families that the first bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looks {
    Text,
    Zip,
    Compound,
    Pdf,
    Png,
    Jpeg,
    Tiff,
    Other(&'static str),
    Unknown,
}

impl Looks {
    const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Zip => "a ZIP archive",
            Self::Compound => "an OLE compound file",
            Self::Pdf => "a PDF",
            Self::Png => "a PNG image",
            Self::Jpeg => "a JPEG image",
            Self::Tiff => "a TIFF image",
            Self::Other(name) => name,
            Self::Unknown => "binary data of no known type",
        }
    }
}

/// Bytes at the start of a file that [`classify`] looks at.
pub const HEAD_BYTES: usize = 8 << 10;

/// Bytes among which a PDF's signature may stand; readers accept some before it.
const PDF_HEAD: usize = 1024;

/// Tells what a file is from its name, the media type it was sent as, and its first bytes ([`HEAD_BYTES`] of them do).
/// The three must not contradict each other; a media type that says nothing (`application/octet-stream`) or that clients
/// give to many types (`text/plain`, `application/zip`) contradicts none of those.
///
/// # Errors
/// [`ExtractError::UnsupportedType`] with what disagrees or is not read.
pub fn classify(name: &str, declared: Option<&str>, content: &[u8]) -> Result<FileKind, ExtractError> {
    let named = FileKind::of_name(name);
    let declared = declared.map(bare).filter(|media| !media.is_empty());
    let told = declared.as_deref().and_then(FileKind::of_media_type);
    let looks = looks(content);
    let kind = match (named, told) {
        (Some(named), Some(told)) if named != told && !vague(told, named, declared.as_deref()) => {
            return Err(ExtractError::unsupported(format!(
                "the name `{name}` and the media type `{}` disagree",
                declared.unwrap_or_default()
            )));
        }
        (Some(named), _) => {
            if let Some(declared) = declared.as_deref().filter(|_| told.is_none())
                && !says_nothing(declared)
            {
                return Err(ExtractError::unsupported(format!(
                    "the name `{name}` and the media type `{declared}` disagree"
                )));
            }
            named
        }
        (None, Some(told)) => told,
        (None, None) => unnamed(name, declared.as_deref(), looks)?,
    };
    // With a password an Office document is a compound file around its encrypted archive; its reader says so.
    let locked = kind.looks() == Looks::Zip && looks == Looks::Compound;
    if kind.looks() != looks && !locked {
        return Err(ExtractError::unsupported(format!(
            "the file is said to be `{}` and is {}",
            kind.media_type(),
            looks.name()
        )));
    }
    Ok(kind)
}

/// Whether a file of a name that was declared to be of a media type can be read, as far as the two say.
#[must_use]
pub fn can_be_read(declared: &str, name: &str) -> bool {
    let declared = bare(declared);
    let told = FileKind::of_media_type(&declared);
    match (FileKind::of_name(name), told) {
        (Some(named), Some(told)) => named == told || vague(told, named, Some(&declared)),
        (Some(_), None) => declared.is_empty() || says_nothing(&declared),
        // An extension that nobody knows contradicts any type.
        (None, Some(_)) => extension(name).is_none(),
        (None, None) => false,
    }
}

/// Type of a file that neither a known extension nor a known media type names: its bytes tell, if it has no extension
/// and no media type at all.
fn unnamed(name: &str, declared: Option<&str>, looks: Looks) -> Result<FileKind, ExtractError> {
    if let Some(declared) = declared.filter(|declared| !says_nothing(declared)) {
        return Err(ExtractError::unsupported(format!("files of the media type `{declared}` are not read")));
    }
    if let Some(extension) = extension(name) {
        return Err(ExtractError::unsupported(format!("files of the extension `{extension}` are not read")));
    }
    match looks {
        Looks::Text => Ok(FileKind::Text),
        Looks::Pdf => Ok(FileKind::Pdf),
        Looks::Png => Ok(FileKind::Png),
        Looks::Jpeg => Ok(FileKind::Jpeg),
        Looks::Tiff => Ok(FileKind::Tiff),
        Looks::Zip | Looks::Compound | Looks::Other(_) | Looks::Unknown => Err(ExtractError::unsupported(
            format!("`{name}` has no extension, came without a media type, and is {}", looks.name()),
        )),
    }
}

/// Whether a media type is one that clients give to files of the other type, too.
fn vague(told: FileKind, named: FileKind, declared: Option<&str>) -> bool {
    match told {
        // Browsers send what the system's registry says: text for anything of letters, Excel for tables.
        FileKind::Text => named.looks() == Looks::Text,
        FileKind::Xls => named == FileKind::Csv && declared == Some("application/vnd.ms-excel"),
        FileKind::Json => named == FileKind::JsonLines,
        FileKind::Markdown
        | FileKind::Html
        | FileKind::Csv
        | FileKind::JsonLines
        | FileKind::Docx
        | FileKind::Xlsx
        | FileKind::Pptx
        | FileKind::Doc
        | FileKind::Ppt
        | FileKind::Pdf
        | FileKind::Email
        | FileKind::Png
        | FileKind::Jpeg
        | FileKind::Tiff => false,
    }
}

/// Whether a media type says nothing of the content.
fn says_nothing(media_type: &str) -> bool {
    matches!(media_type, "application/octet-stream" | "binary/octet-stream" | "application/zip")
}

fn bare(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn extension(name: &str) -> Option<String> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let (stem, extension) = last.rsplit_once('.')?;
    (!stem.is_empty() && !extension.is_empty()).then(|| extension.to_ascii_lowercase())
}

/// Family of some first bytes.
pub(crate) fn looks(content: &[u8]) -> Looks {
    let head = content.get(..HEAD_BYTES).unwrap_or(content);
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return Looks::Zip;
    }
    if head.starts_with(&[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]) {
        return Looks::Compound;
    }
    if head.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Looks::Png;
    }
    if head.starts_with(&[0xFF, 0xD8, 0xFF]) {
        return Looks::Jpeg;
    }
    if head.starts_with(b"II*\0") || head.starts_with(b"MM\0*") {
        return Looks::Tiff;
    }
    let early = head.get(..PDF_HEAD).unwrap_or(head);
    if early.windows(5).any(|window| window == b"%PDF-") && (early.starts_with(b"%PDF-") || !is_text(head)) {
        return Looks::Pdf;
    }
    if is_text(head) {
        return Looks::Text;
    }
    infer::get(head).map_or(Looks::Unknown, |kind| Looks::Other(kind.mime_type()))
}

/// Whether bytes can be text: UTF-16 with or without its mark, or no control characters but white space.
fn is_text(head: &[u8]) -> bool {
    if head.starts_with(&[0xFF, 0xFE]) || head.starts_with(&[0xFE, 0xFF]) || encoding::wide(head).is_some() {
        return true;
    }
    // DOS ends texts by a mark.
    let end = head.iter().rposition(|byte| *byte != 0x1A).map_or(0, |last| last + 1);
    let odd = head
        .get(..end)
        .unwrap_or(head)
        .iter()
        .filter(|byte| **byte < 0x20 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x0B | 0x0C | 0x1B | 0x08))
        .count();
    odd == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_declaration_and_content_agree_or_the_file_is_refused() {
        assert_eq!(classify("a.PDF", Some("application/pdf"), b"%PDF-1.7\n"), Ok(FileKind::Pdf));
        assert_eq!(classify("a.md", Some("text/plain; charset=utf-8"), b"# x"), Ok(FileKind::Markdown));
        assert_eq!(classify("a.csv", Some("application/vnd.ms-excel"), b"a,b"), Ok(FileKind::Csv));
        assert_eq!(classify("notes", None, b"some words"), Ok(FileKind::Text));
        assert_eq!(classify("a.txt", Some("application/octet-stream"), b"x"), Ok(FileKind::Text));
        assert_eq!(classify("a.txt", None, b"words\r\n\x1a"), Ok(FileKind::Text));
        let lies: [(&str, Option<&str>, &[u8]); 9] = [
            ("a.pdf", None, b"PK\x03\x04"),
            ("a.txt", None, b"%PDF-1.7\n"),
            ("a.txt", Some("application/pdf"), b"words"),
            ("a.txt", None, b"\x7fELF\x02\x01\x01\0\0\0\0"),
            ("a.docx", None, b"words"),
            ("a.exe", None, b"MZ\x90\0"),
            ("a.png", None, &[0xFF, 0xD8, 0xFF, 0xE0]),
            ("a.pdf", Some("video/mp4"), b"%PDF-1.7\n"),
            ("a", Some("video/mp4"), b"words"),
        ];
        for (name, declared, content) in lies {
            let answer = classify(name, declared, content);
            assert!(matches!(answer, Err(ExtractError::UnsupportedType { .. })), "{name}: {answer:?}");
        }
    }

    #[test]
    fn what_clients_declare_of_a_name_can_be_read() {
        for (declared, name, can) in [
            ("application/vnd.ms-excel", "a.csv", true),
            ("text/plain", "a.eml", true),
            ("Application/JSON; charset=utf-8", "a.jsonl", true),
            ("application/json", "a.ndjson", true),
            ("application/zip", "a.docx", true),
            ("application/octet-stream", "a.pdf", true),
            ("", "a.pdf", true),
            ("text/markdown", "README", true),
            ("application/pdf", "a.txt", false),
            ("video/mp4", "a.txt", false),
            ("text/plain", "a.exe", false),
            ("application/x-msdownload", "a.exe", false),
            ("video/mp4", "a", false),
            ("", "a", false),
        ] {
            assert_eq!(can_be_read(declared, name), can, "{declared} {name}");
        }
    }

    #[test]
    fn every_kind_has_one_row_and_no_extension_is_said_twice() {
        let mut extensions: Vec<_> = KINDS.iter().flat_map(|row| row.extensions).collect();
        let count = extensions.len();
        extensions.sort();
        extensions.dedup();
        assert_eq!(extensions.len(), count);
        for row in KINDS {
            assert_eq!(row.kind.info(), Some(row));
        }
    }
}
