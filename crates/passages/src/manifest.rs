//! Manifest: what a directory holds, up to which change, and what its files must add up to.
//!
//! It is written twice around each change: before, with what the files are about to become, and after. Who is killed in
//! between leaves a manifest that says so; the next to open it accepts files of either state, and answers nothing until
//! the same changes were applied once more. Nothing here waits for the disk: after a loss of power the sums don't agree,
//! and the index is built anew.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::key::{Key, Settings};
use crate::{Error, Rebuild};

/// The version of the files that this program writes.
pub(crate) const FORMAT: u32 = 4;

const NAME: &str = "manifest";

/// Contents of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    pub(crate) key: Key,
    pub(crate) settings: Settings,
    /// The change up to which everything is applied.
    pub(crate) sequence: u64,
    /// The change up to which parts are applied already, after a crash: until it is reached nothing is answered.
    pub(crate) owed: Option<u64>,
    /// The number of the commit of the words.
    pub(crate) keyword: u64,
    /// The vectors at that change; none in an index of keywords only.
    pub(crate) dense: Option<DenseMark>,
    /// The codes of the vectors as they lie on disk.
    pub(crate) codes: Option<Sum>,
    /// A change that was begun.
    pub(crate) next: Option<Next>,
}

/// The state that a begun change leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Next {
    pub(crate) sequence: u64,
    pub(crate) keyword: u64,
    pub(crate) dense: Option<DenseMark>,
}

/// Sums that the files of vectors must add up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DenseMark {
    /// Number in the files' names; another with each compaction.
    pub(crate) epoch: u32,
    /// Rows that were ever appended, those that were replaced or removed since included.
    pub(crate) rows: u64,
    /// CRC-32 of the ids of all rows.
    pub(crate) ids_crc: u32,
    /// Rows that count.
    pub(crate) live: u64,
    /// Sum over the numbers of the rows that count, in any order.
    pub(crate) digest: u64,
}

/// The length and the CRC-32 of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sum {
    pub(crate) bytes: u64,
    pub(crate) crc: u32,
}

impl Sum {
    /// The sum of a whole file, read in pieces.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let (mut hasher, mut bytes) = (crc32fast::Hasher::new(), 0_u64);
        let mut piece = vec![0_u8; 1 << 18];
        loop {
            let read = file.read(&mut piece)?;
            let Some(read) = piece.get(..read).filter(|read| !read.is_empty()) else { break };
            hasher.update(read);
            bytes += u64::try_from(read.len()).map_err(io::Error::other)?;
        }
        Ok(Self { bytes, crc: hasher.finalize() })
    }
}

impl Manifest {
    /// Reads and checks the manifest of a directory.
    pub(crate) fn read(directory: &Path, key: &Key, settings: &Settings) -> Result<Self, Error> {
        let bytes = match fs::read(directory.join(NAME)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Rebuild::Missing.into()),
            Err(error) => return Err(error.into()),
        };
        let manifest = Self::parse(&bytes)?;
        if manifest.key != *key {
            return Err(Rebuild::Foreign(manifest.key.to_string()).into());
        }
        if manifest.settings != *settings {
            return Err(Rebuild::Settings.into());
        }
        if manifest.dense.is_some() != settings.dims.is_some() {
            return Err(Error::damaged("the manifest contradicts itself"));
        }
        Ok(manifest)
    }

    /// The first line has the CRC-32 of what follows, and the format, which says whether the rest can be understood.
    fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let damaged = || Error::damaged("the manifest");
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(damaged)?;
        let (head, body) = (bytes.get(..end), bytes.get(end + 1..));
        let (head, body) = head.zip(body).ok_or_else(damaged)?;
        let head = str::from_utf8(head).map_err(|_error| damaged())?;
        let (format, crc) = head.split_once(' ').ok_or_else(damaged)?;
        let format: u32 = format.parse().map_err(|_error| damaged())?;
        if u32::from_str_radix(crc, 16).ok() != Some(crc32fast::hash(body)) {
            return Err(damaged());
        }
        if format != FORMAT {
            return Err(Rebuild::Format { found: format, expected: FORMAT }.into());
        }
        serde_json::from_slice(body).map_err(|_error| damaged())
    }

    /// Replaces the manifest of a directory at once.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), Error> {
        let body = serde_json::to_vec(self).map_err(io::Error::from)?;
        let mut bytes = format!("{} {:08x}\n", self.format, crc32fast::hash(&body)).into_bytes();
        bytes.extend(body);
        replace(&directory.join(NAME), &bytes)?;
        Ok(())
    }
}

/// Replaces a file at once: nobody sees half of it.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    fs::write(&beside, bytes)?;
    fs::rename(&beside, path)
}
