//! A look at an archive before it is unpacked.

use std::io::Cursor;

use zip::ZipArchive;

use crate::error::{ExtractError, Limit};
use crate::kind::FileKind;
use crate::limits::{Limits, UNPACKED_FLOOR};

/// Growth of a part of markup when it is unpacked, as a multiple of its bytes, beyond which no reader takes it (Apache POI's
/// `ZipSecureFile`): markup grows twentyfold.
pub(super) const PART_RATIO: u64 = 100;

/// Unpacked bytes below which no part is refused for its ratio.
const PART_FLOOR: u64 = 100 << 10;

/// Checks that an archive is the document it is said to be, that it is not encrypted, and that what it says it unpacks
/// to stands within the limits.
pub(super) fn check(kind: FileKind, content: &[u8], limits: &Limits) -> Result<(), ExtractError> {
    let mut archive = ZipArchive::new(Cursor::new(content)).map_err(ExtractError::parse)?;
    let entries = archive.len() as u64;
    if entries > limits.archive_entries {
        return Err(ExtractError::limit(Limit::ArchiveEntries, limits.archive_entries, entries));
    }
    let (mut unpacked, mut main, mut bomb) = (0_u64, false, None);
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(ExtractError::parse)?;
        if entry.encrypted() {
            return Err(ExtractError::Encrypted);
        }
        unpacked = unpacked.saturating_add(entry.size());
        let is_markup = entry.name().is_ok_and(|name| name.ends_with(".xml") || name.ends_with(".rels"));
        let growth = entry.size() / entry.compressed_size().max(1);
        if is_markup && entry.size() > PART_FLOOR && growth > PART_RATIO {
            bomb = Some(growth.max(bomb.unwrap_or_default()));
        }
        main |= folder(kind).is_some_and(|folder| entry.name().is_ok_and(|name| name.starts_with(folder)));
    }
    if unpacked > limits.archive_bytes {
        return Err(ExtractError::limit(Limit::ArchiveBytes, limits.archive_bytes, unpacked));
    }
    let ratio = unpacked / (content.len() as u64).max(1);
    if unpacked > UNPACKED_FLOOR && ratio > limits.archive_ratio {
        return Err(ExtractError::limit(Limit::ArchiveRatio, limits.archive_ratio, ratio));
    }
    if let Some(growth) = bomb {
        return Err(ExtractError::limit(Limit::ArchiveRatio, PART_RATIO, growth));
    }
    if !main {
        return Err(ExtractError::unsupported(format!(
            "the file is said to be `{}` and is another ZIP archive",
            kind.media_type()
        )));
    }
    Ok(())
}

/// Folder that holds the content of such a document.
const fn folder(kind: FileKind) -> Option<&'static str> {
    match kind {
        FileKind::Docx => Some("word/"),
        FileKind::Xlsx => Some("xl/"),
        FileKind::Pptx => Some("ppt/"),
        FileKind::Text
        | FileKind::Markdown
        | FileKind::Html
        | FileKind::Csv
        | FileKind::Json
        | FileKind::JsonLines
        | FileKind::Doc
        | FileKind::Xls
        | FileKind::Ppt
        | FileKind::Pdf
        | FileKind::Email
        | FileKind::Png
        | FileKind::Jpeg
        | FileKind::Tiff => None,
    }
}
