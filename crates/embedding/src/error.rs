//! Errors of models and of their use.

use std::path::PathBuf;

/// Reason for which a model can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A file of the model is not there.
    #[error("`{}` is not there", .file.display())]
    Missing {
        /// The file.
        file: PathBuf,
    },
    /// A file of the model is not the one that its manifest tells of, or can't be read as what it should be.
    #[error("`{}` is damaged: {reason}", .file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Fault of the file, in words.
        reason: String,
    },
    /// The model is whole, and of a kind that is not run here.
    #[error("the model is not supported: {0}")]
    Unsupported(String),
    /// A file is there and can't be read.
    #[error("`{}` can't be read", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The reason.
        #[source]
        source: std::io::Error,
    },
}

/// Reason for which a model was not put in its place.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// The package can't be read.
    #[error("`{}` can't be read", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The reason.
        #[source]
        source: std::io::Error,
    },
    /// The package is no archive.
    #[error("`{}` is no archive: {reason}", .file.display())]
    NoArchive {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The package does not hold a file of the model with the size and the SHA-256 that it must have.
    #[error("`{}` holds no `{name}` with the SHA-256 {sha256}", .file.display())]
    NotInside {
        /// The package.
        file: PathBuf,
        /// Name of the file that is looked for.
        name: &'static str,
        /// SHA-256 that it must have, in hexadecimal digits.
        sha256: &'static str,
    },
    /// The directory can't be written.
    #[error("`{}` can't be written", .directory.display())]
    Unwritable {
        /// The directory.
        directory: PathBuf,
        /// The reason.
        #[source]
        source: std::io::Error,
    },
}

/// Reason for which a text was not embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// As many callers wait as may: try again later.
    #[error("too many texts wait to be embedded")]
    Busy,
    /// The service is ending.
    #[error("the embedding service is closed")]
    Closed,
    /// The tokenizer refused the text.
    #[error("the text can't be cut into tokens")]
    Untokenizable,
    /// The computation broke off, or gave no finite numbers: a fault of the program or of the weights.
    #[error("the computation of an embedding failed")]
    Failed,
}
