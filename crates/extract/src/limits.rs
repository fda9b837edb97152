//! Limits of one extraction.

use serde::{Deserialize, Serialize};

/// Limits of one extraction. What the parser can count it counts itself; time and memory are the operating system's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Limits {
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Pages of a PDF or slides of a presentation, and sheets of a workbook.
    pub pages: u64,
    /// Characters of the text.
    pub characters: u64,
    /// Growth of an archive when it is unpacked, as a multiple of its bytes; asked of archives that grow beyond
    /// [`UNPACKED_FLOOR`] bytes.
    pub archive_ratio: u64,
    /// Entries of an archive.
    pub archive_entries: u64,
    /// Bytes of an archive, unpacked.
    pub archive_bytes: u64,
    /// Depth to which elements, values or messages may stand in each other.
    pub nesting: u64,
    /// Attachments of an e-mail whose text is taken.
    pub attachments: u64,
    /// Pages of one file that are read by OCR.
    pub ocr_pages: u64,
    /// Bytes of address space of the child.
    pub memory_bytes: u64,
    /// Seconds of processor time of the child.
    pub cpu_seconds: u64,
    /// Seconds by the clock.
    pub wall_seconds: u64,
    /// Bytes the child may write to any one file: it writes none, and programs it calls only pass ones.
    pub written_bytes: u64,
    /// Files the child may hold open.
    pub open_files: u64,
    /// Bytes of the child's answer.
    pub output_bytes: u64,
}

/// Unpacked bytes below which no archive is refused for its ratio.
pub const UNPACKED_FLOOR: u64 = 10 << 20;

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 256 << 20,
            pages: 5_000,
            characters: 20_000_000,
            archive_ratio: 100,
            archive_entries: 10_000,
            archive_bytes: 1 << 30,
            nesting: 400,
            attachments: 50,
            ocr_pages: 200,
            memory_bytes: 1 << 30,
            cpu_seconds: 60,
            wall_seconds: 120,
            written_bytes: 16 << 20,
            open_files: 64,
            output_bytes: 192 << 20,
        }
    }
}
