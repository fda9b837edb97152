//! Errors of the index, and the reasons for which it has to be built anew.

use std::io;

/// A refusal or a failure of the index.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The cache on disk cannot serve: the rows have to be read again. Nothing of it is ever answered from.
    #[error("the index has to be built anew: {0}")]
    Rebuild(#[from] Rebuild),
    /// A crash cut a change short: queries wait until the changes up to `until` are applied once more.
    #[error("the index stands at change {at} and is owed the changes up to {until}")]
    Behind {
        /// Change up to which the index is whole.
        at: u64,
        /// Change up to which parts of it already are.
        until: u64,
    },
    /// Changes between what is applied and what was given are missing.
    #[error("changes from {since} on cannot follow on change {at}")]
    Gap {
        /// Change up to which the index is whole.
        at: u64,
        /// First change that was left out by the caller.
        since: u64,
    },
    /// The opened index was replaced, removed, or given up after a failed write: it has to be opened again.
    #[error("the index has to be opened again")]
    Reopen,
    /// A vector of another length, with something that is no number, or without a direction.
    #[error("the vector of {subject} is of no use: {why}")]
    BadVector {
        /// `passage 7` or `the query`.
        subject: String,
        /// Words for what is wrong.
        why: &'static str,
    },
    /// A vector is asked for, and the index holds keywords only; or a mode's text or vector is missing.
    #[error("{0}")]
    BadQuery(&'static str),
    /// The same passage twice in what an index is built from.
    #[error("passage {0} comes twice")]
    Duplicate(u64),
    /// A part of a key that could be no name of a directory.
    #[error("`{0}` cannot be part of the name of an index")]
    BadKey(String),
    /// Another process serves from the same directory.
    #[error("another process uses this directory of indexes")]
    InUse,
    /// The disk failed or is full.
    #[error("the index could not be read or written: {0}")]
    Io(#[from] io::Error),
    /// The keyword or the vector engine failed otherwise.
    #[error("the index failed: {0}")]
    Engine(String),
}

/// Reason for which an index has to be built anew.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rebuild {
    /// There is none yet, or it was deleted.
    #[error("there is none")]
    Missing,
    /// Another version of the program wrote it.
    #[error("it has format {found}, this program writes {expected}")]
    Format {
        /// Version in the manifest.
        found: u32,
        /// Version of this program.
        expected: u32,
    },
    /// Another organisation, database or generation wrote it.
    #[error("it is another's: {0}")]
    Foreign(String),
    /// Another length of vectors or another language is what it was made for.
    #[error("it was made for other settings")]
    Settings,
    /// A file is missing, cut short or altered.
    #[error("damaged: {0}")]
    Damaged(String),
}

impl Error {
    /// Damage with its place.
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Rebuild(Rebuild::Damaged(what.into()))
    }

    /// The reason, where building anew is what helps.
    #[must_use]
    pub fn rebuild(&self) -> Option<&Rebuild> {
        if let Self::Rebuild(reason) = self { Some(reason) } else { None }
    }
}

impl From<tantivy::TantivyError> for Error {
    fn from(error: tantivy::TantivyError) -> Self {
        match error {
            tantivy::TantivyError::IoError(error) => {
                Self::Io(io::Error::new(error.kind(), error.to_string()))
            }
            other => Self::Engine(other.to_string()),
        }
    }
}

/// A failure of building from rows that somebody else reads.
#[derive(Debug, thiserror::Error)]
pub enum BuildError<E> {
    /// The index failed.
    #[error(transparent)]
    Index(#[from] Error),
    /// The rows could not be read; what was built of them is removed.
    #[error("the rows could not be read")]
    Source(E),
}
