//! Rows: the exact vectors in a file that only grows, and the ids of its rows in another.
//!
//! A row is `id: u64 | crc32: u32 | coordinates: f32 × dims`, all least significant byte first; the sum covers the row's
//! number, its id and its coordinates, so that a row that is cut, altered or at another's place is never scored. Rows
//! that were replaced or removed stay until a compaction; which count is known from the codes. Read by position, never
//! mapped: a file that somebody cuts short is an error of one query, not the end of the process.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::manifest::DenseMark;
use crate::vector;

const HEAD: usize = 12;

/// The rows of one epoch.
#[derive(Debug)]
pub(crate) struct Rows {
    dims: usize,
    vectors: File,
    ids: File,
}

/// One row, read and checked.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) id: u64,
    pub(crate) vector: Vec<f32>,
    bytes: Vec<u8>,
}

impl Rows {
    /// The file of the vectors of an epoch.
    pub(crate) fn vectors_path(directory: &Path, epoch: u32) -> PathBuf {
        directory.join(format!("vectors-{epoch}"))
    }

    /// The file of the ids of an epoch.
    pub(crate) fn ids_path(directory: &Path, epoch: u32) -> PathBuf {
        directory.join(format!("ids-{epoch}"))
    }

    /// New, empty files of an epoch.
    pub(crate) fn create(directory: &Path, epoch: u32, dims: usize) -> io::Result<Self> {
        let new = |path| OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path);
        let vectors = new(Self::vectors_path(directory, epoch))?;
        Ok(Self { dims, vectors, ids: new(Self::ids_path(directory, epoch))? })
    }

    /// The files of an epoch, and the ids of the rows that the mark counts. What stands behind them is of a change that
    /// never came to its end, and is cut off.
    pub(crate) fn open(directory: &Path, mark: &DenseMark, dims: usize) -> Result<(Self, Vec<u64>), Error> {
        let open = |path: PathBuf| match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => Ok(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(Error::damaged(format!("{} is missing", path.display())))
            }
            Err(error) => Err(error.into()),
        };
        let rows = Self {
            dims,
            vectors: open(Self::vectors_path(directory, mark.epoch))?,
            ids: open(Self::ids_path(directory, mark.epoch))?,
        };
        let short = || Error::damaged("the rows are cut short");
        let vector_bytes = mark.rows.checked_mul(rows.stride()).ok_or_else(short)?;
        let id_bytes = mark.rows.checked_mul(8).ok_or_else(short)?;
        if rows.vectors.metadata()?.len() < vector_bytes || rows.ids.metadata()?.len() < id_bytes {
            return Err(short());
        }
        let mut bytes = vec![0; usize::try_from(id_bytes).map_err(|_error| short())?];
        rows.ids.read_exact_at(&mut bytes, 0)?;
        if crc32fast::hash(&bytes) != mark.ids_crc {
            return Err(Error::damaged("the ids of the rows"));
        }
        rows.vectors.set_len(vector_bytes)?;
        rows.ids.set_len(id_bytes)?;
        Ok((rows, bytes.as_chunks::<8>().0.iter().map(|id| u64::from_le_bytes(*id)).collect()))
    }

    /// Writes rows behind the first `first`; `vectors` are their unit vectors, one after the other.
    pub(crate) fn append(&self, first: u64, ids: &[u64], vectors: &[f32]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(ids.len() * (HEAD + 4 * self.dims));
        let mut coordinates = Vec::with_capacity(4 * self.dims);
        for ((number, id), vector) in (first..).zip(ids).zip(vectors.chunks(self.dims)) {
            coordinates.clear();
            vector::encode(vector, &mut coordinates);
            bytes.extend_from_slice(&id.to_le_bytes());
            bytes.extend_from_slice(&sum(number, *id, &coordinates).to_le_bytes());
            bytes.extend_from_slice(&coordinates);
        }
        self.vectors.write_all_at(&bytes, first * self.stride())?;
        self.ids.write_all_at(&id_bytes(ids), first * 8)
    }

    /// Reads a row into `row`.
    pub(crate) fn read(&self, number: u64, row: &mut Row) -> Result<(), Error> {
        row.bytes.resize(HEAD + 4 * self.dims, 0);
        let place = number.checked_mul(self.stride()).ok_or_else(|| Error::damaged("a row's number"))?;
        match self.vectors.read_exact_at(&mut row.bytes, place) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(Error::damaged("the rows are cut short"));
            }
            Err(error) => return Err(error.into()),
        }
        let damaged = || Error::damaged(format!("row {number} of the vectors"));
        let (id, rest) = row.bytes.split_first_chunk::<8>().ok_or_else(damaged)?;
        let (crc, coordinates) = rest.split_first_chunk::<4>().ok_or_else(damaged)?;
        let id = u64::from_le_bytes(*id);
        if sum(number, id, coordinates) != u32::from_le_bytes(*crc) {
            return Err(damaged());
        }
        row.id = id;
        vector::decode(coordinates, &mut row.vector);
        Ok(())
    }

    fn stride(&self) -> u64 {
        (HEAD + 4 * self.dims) as u64
    }
}

/// The CRC-32 of the ids of all rows, once more rows are appended.
pub(crate) fn extend_crc(crc: u32, rows: u64, ids: &[u64]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial_len(crc, rows * 8);
    hasher.update(&id_bytes(ids));
    hasher.finalize()
}

fn id_bytes(ids: &[u64]) -> Vec<u8> {
    ids.iter().flat_map(|id| id.to_le_bytes()).collect()
}

fn sum(number: u64, id: u64, coordinates: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&number.to_le_bytes());
    hasher.update(&id.to_le_bytes());
    hasher.update(coordinates);
    hasher.finalize()
}
