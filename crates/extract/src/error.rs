//! Errors of extraction.

use serde::{Deserialize, Serialize};

/// Limits that an extraction can meet; the names are those of [`crate::Limits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Limit {
    /// Bytes of the file.
    FileBytes,
    /// Pages, sheets or slides.
    Pages,
    /// Characters of the text.
    Characters,
    /// Growth of an archive.
    ArchiveRatio,
    /// Entries of an archive.
    ArchiveEntries,
    /// Unpacked bytes of an archive.
    ArchiveBytes,
    /// Depth.
    Nesting,
    /// Address space of the child.
    MemoryBytes,
    /// Processor time of the child.
    CpuSeconds,
    /// Bytes written to a file.
    WrittenBytes,
    /// Bytes of the child's answer.
    OutputBytes,
}

impl Limit {
    /// Name, as it stands in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FileBytes => "fileBytes",
            Self::Pages => "pages",
            Self::Characters => "characters",
            Self::ArchiveRatio => "archiveRatio",
            Self::ArchiveEntries => "archiveEntries",
            Self::ArchiveBytes => "archiveBytes",
            Self::Nesting => "nesting",
            Self::MemoryBytes => "memoryBytes",
            Self::CpuSeconds => "cpuSeconds",
            Self::WrittenBytes => "writtenBytes",
            Self::OutputBytes => "outputBytes",
        }
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Reason for which a file gave no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ExtractError {
    /// The file was read and holds no text; the hint says what may help.
    #[error("the file holds no text{}", hint.as_ref().map(|hint| format!(": {hint}")).unwrap_or_default())]
    NoText {
        /// Advice that may help: OCR for a scan.
        hint: Option<String>,
    },
    /// The file is encrypted.
    #[error("the file is encrypted: upload it without a password")]
    Encrypted,
    /// The type is not read, or name, declaration and content disagree.
    #[error("{reason}")]
    UnsupportedType {
        /// Contradiction between type and bytes, or the type that is not read, in words.
        reason: String,
    },
    /// The file is damaged, or not what its type asks for.
    #[error("the file can't be read: {reason}")]
    ParseFailed {
        /// Fault of the file, in words.
        reason: String,
    },
    /// A limit is exceeded.
    #[error(
        "the file exceeds the limit `{limit}` of {allowed}{}",
        value.map(|value| format!(": {value}")).unwrap_or_default()
    )]
    LimitExceeded {
        /// The limit.
        limit: Limit,
        /// Greatest value that the limit allows, in its own unit.
        allowed: u64,
        /// Value of the file in the same unit, where it is known.
        value: Option<u64>,
    },
    /// The clock ran out.
    #[error("reading the file took longer than {seconds} s")]
    Timeout {
        /// Seconds allowed.
        seconds: u64,
    },
    /// The child ended without an answer.
    #[error("the process that read the file ended without an answer: {reason}")]
    Killed {
        /// Signal or exit status.
        reason: String,
    },
    /// The caller gave the extraction up.
    #[error("reading the file was cancelled")]
    Cancelled,
    /// The child can't be started, or the file's bytes not be had. Nothing is known of the file.
    #[error("the process that reads files can't be used: {reason}")]
    Unavailable {
        /// Message of the operating system.
        reason: String,
    },
}

impl ExtractError {
    /// Code, as it stands in answers.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoText { .. } => "noText",
            Self::Encrypted => "encrypted",
            Self::UnsupportedType { .. } => "unsupportedType",
            Self::ParseFailed { .. } => "parseFailed",
            Self::LimitExceeded { .. } => "limitExceeded",
            Self::Timeout { .. } => "timeout",
            Self::Killed { .. } => "killed",
            Self::Cancelled => "cancelled",
            Self::Unavailable { .. } => "unavailable",
        }
    }

    /// Whether another try can succeed: what was found in the file will be found again, what befell the process may
    /// not.
    #[must_use]
    pub const fn retryable(&self) -> bool {
        match self {
            Self::Killed { .. } | Self::Unavailable { .. } | Self::Timeout { .. } => true,
            Self::NoText { .. }
            | Self::Encrypted
            | Self::UnsupportedType { .. }
            | Self::ParseFailed { .. }
            | Self::LimitExceeded { .. }
            | Self::Cancelled => false,
        }
    }

    /// Error of a file that can't be read.
    pub(crate) fn parse(reason: impl std::fmt::Display) -> Self {
        let mut reason = reason.to_string();
        if let Some((end, _)) = reason.char_indices().nth(LONGEST_REASON) {
            reason.truncate(end);
            reason.push('…');
        }
        Self::ParseFailed { reason }
    }

    /// Error of a type that is not read.
    pub(crate) fn unsupported(reason: impl Into<String>) -> Self {
        Self::UnsupportedType { reason: reason.into() }
    }

    /// Error of an exceeded limit.
    pub(crate) const fn limit(limit: Limit, allowed: u64, value: u64) -> Self {
        Self::LimitExceeded { limit, allowed, value: Some(value) }
    }
}

/// Characters of a reason; a parser's message may quote the file.
const LONGEST_REASON: usize = 300;
