//! Key: whose index it is, and what it is made for.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Error, Language};

/// The longest name of a directory that a key gives.
const LONGEST: usize = 100;

/// One index: of one generation of one database of one organisation. Each has a directory of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    organisation: String,
    database: String,
    generation: u64,
}

/// Settings that an index is made for; others need another index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Dimensions of its vectors, 1 to 16,384; none for keywords only.
    pub dims: Option<u32>,
    /// The language whose words are reduced to their stems.
    pub language: Language,
}

impl Key {
    /// A key of ids, which are the names of directories: letters, digits, `-` and `_`.
    ///
    /// # Errors
    /// [`Error::BadKey`] for anything else, so that no name leads to another's directory.
    pub fn new(
        organisation: impl Into<String>,
        database: impl Into<String>,
        generation: u64,
    ) -> Result<Self, Error> {
        Ok(Self { organisation: part(organisation.into())?, database: part(database.into())?, generation })
    }

    /// The generation within the database.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether the index is of the database.
    #[must_use]
    pub fn is_of(&self, organisation: &str, database: &str) -> bool {
        self.organisation == organisation && self.database == database
    }

    /// The directory of all generations of the database.
    pub(crate) fn database_directory(&self, root: &Path) -> PathBuf {
        root.join(&self.organisation).join(&self.database)
    }

    /// The directory of this index.
    pub(crate) fn directory(&self, root: &Path) -> PathBuf {
        self.database_directory(root).join(self.generation.to_string())
    }

    /// The directory in which the index is built before it replaces the one that serves.
    pub(crate) fn building(&self, root: &Path) -> PathBuf {
        self.database_directory(root).join(format!("{}.building", self.generation))
    }

    /// The directory of an index that was replaced, until it is gone.
    pub(crate) fn replaced(&self, root: &Path) -> PathBuf {
        self.database_directory(root).join(format!("{}.replaced", self.generation))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}/{}", self.organisation, self.database, self.generation)
    }
}

fn part(text: String) -> Result<String, Error> {
    let fits = (1..=LONGEST).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if fits { Ok(text) } else { Err(Error::BadKey(text.chars().take(LONGEST).collect())) }
}
