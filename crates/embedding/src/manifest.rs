//! The manifest of a model's directory: its id, and the SHA-256 of each of its files.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::ModelError;
use crate::catalogue::{self, CONFIG, Known, KnownFile, TOKENIZER, WEIGHTS};

/// Name of the manifest.
pub const MANIFEST: &str = "manifest.json";

/// Size up to which a file of a model is read, in bytes.
const LARGEST: u64 = 4 << 30;

/// The manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    /// Id of the model. Under one of the catalogue only its very files are taken.
    pub id: String,
    /// Name for people.
    pub display_name: String,
    /// Licence of the weights, as SPDX has it.
    pub licence: String,
    /// Most tokens of a text, with those at the beginning and the end; more is cut off.
    pub max_tokens: usize,
    /// The files: weights, tokenizer and configuration, each once.
    pub files: Vec<FileSum>,
}

/// A file and its sum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileSum {
    /// Name in the directory.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 in 64 hexadecimal digits.
    pub sha256: String,
}

impl Manifest {
    /// Reads the manifest of a directory, and holds it against the catalogue.
    ///
    /// # Errors
    /// `Missing`, `Damaged`, `Unreadable`.
    pub fn read(directory: &Path) -> Result<Self, ModelError> {
        let file = directory.join(MANIFEST);
        let bytes = bytes_of(&file, 1 << 20)?;
        let damaged = |reason: String| ModelError::Damaged { file: file.clone(), reason };
        let manifest: Self = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        let mut names: Vec<&str> = manifest.files.iter().map(|file| file.name.as_str()).collect();
        names.sort_unstable();
        if names != [CONFIG, WEIGHTS, TOKENIZER] {
            return Err(damaged(format!("its files are not {CONFIG}, {WEIGHTS} and {TOKENIZER}")));
        }
        if catalogue::find(&manifest.id).is_some_and(|known| known.manifest() != manifest) {
            return Err(damaged(format!("it is not that of `{}`", manifest.id)));
        }
        Ok(manifest)
    }

    /// SHA-256 of the weights in 64 hexadecimal digits: the model's revision.
    #[must_use]
    pub fn revision(&self) -> &str {
        self.files.iter().find(|file| file.name == WEIGHTS).map_or("", |file| &file.sha256)
    }

    /// Reads a file of the directory whole, and holds it against its sum.
    ///
    /// # Errors
    /// `Missing`, `Damaged`, `Unreadable`.
    pub(crate) fn checked(&self, directory: &Path, name: &str) -> Result<Vec<u8>, ModelError> {
        let file = directory.join(name);
        let damaged = |reason: String| ModelError::Damaged { file: file.clone(), reason };
        let Some(sum) = self.files.iter().find(|file| file.name == name) else {
            return Err(damaged("the manifest does not tell of it".to_owned()));
        };
        let bytes = bytes_of(&file, sum.bytes.min(LARGEST))?;
        if bytes.len() as u64 != sum.bytes {
            return Err(damaged(format!("it has {} bytes and should have {}", bytes.len(), sum.bytes)));
        }
        let found = hex(&Sha256::digest(&bytes));
        if found != sum.sha256 {
            return Err(damaged(format!("its SHA-256 is {found} and should be {}", sum.sha256)));
        }
        Ok(bytes)
    }
}

impl Known {
    /// The manifest of its directory.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        let sum = |file: &KnownFile| FileSum {
            name: file.name.to_owned(),
            bytes: file.bytes,
            sha256: file.sha256.to_owned(),
        };
        Manifest {
            id: self.id.to_owned(),
            display_name: self.display_name.to_owned(),
            licence: self.licence.to_owned(),
            max_tokens: self.max_tokens,
            files: self.files.iter().map(sum).collect(),
        }
    }
}

/// Reads a file, of which at most one byte more than `most`.
fn bytes_of(file: &Path, most: u64) -> Result<Vec<u8>, ModelError> {
    let read = File::open(file).and_then(|opened| {
        let size = opened.metadata()?.len().min(most + 1);
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        opened.take(most + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    });
    read.map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => ModelError::Missing { file: file.to_owned() },
        _ => ModelError::Unreadable { file: file.to_owned(), source },
    })
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // A string takes whatever is written to it.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
