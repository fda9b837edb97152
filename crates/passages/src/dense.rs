//! Dense: the leg of vectors. Codes of four bits per dimension find candidates, exact vectors give the scores.
//!
//! The codes are turbovec's (<https://arxiv.org/abs/2504.19874>), under the numbers of rows as their ids. A row is
//! written once, so the set of the rows that count says which state the codes are in.

use std::io;
use std::path::{Path, PathBuf};

use turbovec::IdMapIndex;

use crate::changes::Changes;
use crate::manifest::{DenseMark, Sum};
use crate::places::Places;
use crate::rows::{Row, Rows, extend_crc};
use crate::vector::dot;
use crate::{AllowList, Error, Rebuild};

const BITS: usize = 4;
/// Divisor that the codes ask of the number of dimensions; what is missing is filled with zeros, which change no product.
const MULTIPLE: usize = 8;
/// Rows that are read and encoded at once.
const BATCH: usize = 1024;
/// Rows to look among that are few: the codes of each are compared, and not those of all rows first by their signs alone, when a
/// sixteenth of them is asked for, or all up to [`LEAST`] times 20. Up to twice what is told apart by the signs it is also quicker.
const LISTED: usize = 32 * LEAST_OF_LIST;
/// The least that the codes of few rows are asked for.
const LEAST: usize = 50;
/// The least that the codes are asked for among the rows of a longer list, of which the signs alone tell 16 times as many apart.
const LEAST_OF_LIST: usize = 100;
/// Dead rows that are never worth a compaction.
const DEAD: u64 = 4096;

/// The vectors of an index.
#[derive(Debug)]
pub(crate) struct Dense {
    dims: usize,
    directory: PathBuf,
    mark: DenseMark,
    rows: Rows,
    places: Places,
    codes: IdMapIndex,
}

/// A passage that was found, with its exact score.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Near {
    pub(crate) id: u64,
    pub(crate) score: f32,
}

impl Dense {
    /// No vectors yet, in the files of an epoch.
    pub(crate) fn create(directory: &Path, epoch: u32, dims: usize) -> Result<Self, Error> {
        let codes = IdMapIndex::new(dims.next_multiple_of(MULTIPLE), BITS).map_err(engine)?;
        Ok(Self {
            dims,
            directory: directory.to_owned(),
            mark: DenseMark { epoch, rows: 0, ids_crc: 0, live: 0, digest: 0 },
            rows: Rows::create(directory, epoch, dims)?,
            places: Places::default(),
            codes,
        })
    }

    /// The vectors in the state of one of the marks. Without a change under way the codes add up to `sum`.
    pub(crate) fn open(
        directory: &Path,
        dims: usize,
        marks: &[DenseMark],
        sum: Option<Sum>,
    ) -> Result<Self, Error> {
        let epoch = marks.first().map_or(0, |mark| mark.epoch);
        let path = codes_path(directory, epoch);
        if let Some(sum) = sum {
            let found = Sum::of(&path).map_err(|error| unreadable(&error))?;
            if found != sum {
                return Err(Error::damaged("the codes of the vectors"));
            }
        }
        let codes = IdMapIndex::load(&path).map_err(|error| unreadable(&error))?;
        if codes.dim_opt() != Some(dims.next_multiple_of(MULTIPLE)) || codes.bit_width() != BITS {
            return Err(Rebuild::Settings.into());
        }
        let digest = codes.iter_ids().fold(0, |digest: u64, row| digest.wrapping_add(scatter(row)));
        let live = codes.len() as u64;
        let mark = marks.iter().find(|mark| mark.digest == digest && mark.live == live);
        let mark = *mark.ok_or_else(|| Error::damaged("the codes are of another state"))?;
        let (rows, ids) = Rows::open(directory, &mark, dims)?;
        let pairs = codes.iter_ids().map(|row| Some((*ids.get(usize::try_from(row).ok()?)?, row)));
        let places = pairs.collect::<Option<Vec<_>>>().and_then(Places::of);
        let places = places.ok_or_else(|| Error::damaged("the codes name rows that are not there"))?;
        sweep(directory, epoch)?;
        Ok(Self { dims, directory: directory.to_owned(), mark, rows, places, codes })
    }

    /// The mark of the present state.
    pub(crate) fn mark(&self) -> DenseMark {
        self.mark
    }

    /// The mark of the state that changes lead to.
    pub(crate) fn after(&self, changes: &Changes) -> DenseMark {
        let mut mark = self.mark;
        for (_, row) in self.leaving(changes) {
            mark.live -= 1;
            mark.digest = mark.digest.wrapping_sub(scatter(row));
        }
        let puts = changes.puts.len() as u64;
        for row in mark.rows..mark.rows + puts {
            mark.live += 1;
            mark.digest = mark.digest.wrapping_add(scatter(row));
        }
        mark.ids_crc = extend_crc(mark.ids_crc, mark.rows, &changes.puts);
        mark.rows += puts;
        mark
    }

    /// Applies changes in memory; the rows go to disk, the codes wait for [`Self::sync`].
    pub(crate) fn apply(&mut self, changes: &Changes) -> Result<(), Error> {
        let after = self.after(changes);
        let first = self.mark.rows;
        self.rows.append(first, &changes.puts, &changes.vectors)?;
        for (id, row) in self.leaving(changes) {
            self.codes.remove(row);
            self.places.set(id, None);
        }
        let numbers: Vec<u64> = (first..after.rows).collect();
        if !numbers.is_empty() {
            self.codes.add_with_ids(&self.padded(&changes.vectors), &numbers).map_err(engine)?;
        }
        changes.puts.iter().zip(&numbers).for_each(|(id, row)| self.places.set(*id, Some(*row)));
        self.mark = after;
        Ok(())
    }

    /// The pairs of passage and row that changes put an end to.
    fn leaving(&self, changes: &Changes) -> Vec<(u64, u64)> {
        let mut leaving = self.places.among(&changes.removed);
        let replaced = changes.puts.iter().filter(|id| !changes.removed.contains(**id));
        leaving.extend(replaced.filter_map(|id| Some((*id, self.places.get(*id)?))));
        leaving
    }

    /// Writes the changes of the codes.
    pub(crate) fn sync(&mut self) -> Result<(), Error> {
        Ok(self.codes.sync(codes_path(&self.directory, self.mark.epoch))?)
    }

    /// The sum of the codes as they lie on disk.
    pub(crate) fn sum(&self) -> Result<Sum, Error> {
        Ok(Sum::of(&codes_path(&self.directory, self.mark.epoch))?)
    }

    /// Whether a passage has a vector.
    pub(crate) fn contains(&self, id: u64) -> bool {
        self.places.get(id).is_some()
    }

    /// Number of passages that have a vector.
    pub(crate) fn len(&self) -> u64 {
        self.mark.live
    }

    /// The passages that are nearest to a unit vector, best first: the best by code, in the order of their exact cosines; of
    /// few rows, simply the nearest. A filter counts before the cut. `wanted` tells how many, by the number of passages that
    /// are looked among.
    pub(crate) fn search(
        &self,
        query: &[f32],
        wanted: impl FnOnce(usize) -> usize,
        allow: Option<&AllowList>,
    ) -> Result<Vec<Near>, Error> {
        let rows =
            allow.map(|allow| self.places.among(allow).into_iter().map(|(_, row)| row).collect::<Vec<_>>());
        let among = rows.as_ref().map_or(self.codes.len(), Vec::len);
        let wanted = wanted(among);
        let rows = match rows {
            Some(rows) if rows.len() <= wanted => rows,
            None if self.codes.len() <= wanted => self.codes.iter_ids().collect(),
            rows => {
                let asked = match (among <= LISTED, &rows) {
                    (true, _) => wanted.max(LEAST).max(among.div_ceil(16)),
                    (false, Some(_)) => wanted.max(LEAST_OF_LIST),
                    (false, None) => wanted,
                };
                let query = self.padded(query);
                let found = self.codes.try_search_with_allowlist(&query, asked, rows.as_deref());
                let mut ids = found.map_err(engine)?.ids;
                ids.truncate(wanted);
                ids
            }
        };
        let mut row = Row::default();
        let mut found = Vec::with_capacity(rows.len());
        for number in rows {
            self.rows.read(number, &mut row)?;
            found.push(Near { id: row.id, score: dot(query, &row.vector) });
        }
        found.sort_unstable_by(|one, other| other.score.total_cmp(&one.score).then(one.id.cmp(&other.id)));
        Ok(found)
    }

    /// The best by code alone, with the scores of the codes: what exact scoring is measured against.
    pub(crate) fn rough(&self, query: &[f32], wanted: usize) -> Result<Vec<Near>, Error> {
        let found = self.codes.try_search(&self.padded(query), wanted).map_err(engine)?;
        let mut row = Row::default();
        let mut near = Vec::with_capacity(found.ids.len());
        for (number, score) in found.ids.into_iter().zip(found.scores) {
            self.rows.read(number, &mut row)?;
            near.push(Near { id: row.id, score });
        }
        Ok(near)
    }

    /// The unit vector of a passage.
    pub(crate) fn vector(&self, id: u64) -> Result<Option<Vec<f32>>, Error> {
        let Some(number) = self.places.get(id) else { return Ok(None) };
        let mut row = Row::default();
        self.rows.read(number, &mut row)?;
        if row.id != id {
            return Err(Error::damaged(format!("row {number} is another passage's")));
        }
        Ok(Some(row.vector))
    }

    /// Whether more than half of the rows are dead weight.
    pub(crate) fn wants_compaction(&self) -> bool {
        let dead = self.mark.rows - self.mark.live;
        dead > self.mark.live.max(DEAD)
    }

    /// The same vectors in the files of the next epoch, without what is dead.
    pub(crate) fn compacted(&self) -> Result<Self, Error> {
        let mut fresh = Self::create(&self.directory, self.mark.epoch.wrapping_add(1), self.dims)?;
        let mut numbers: Vec<u64> = self.places.iter().map(|(_, row)| row).collect();
        numbers.sort_unstable();
        let mut row = Row::default();
        for numbers in numbers.chunks(BATCH) {
            let mut batch = Changes::default();
            for number in numbers {
                self.rows.read(*number, &mut row)?;
                batch.puts.push(row.id);
                batch.vectors.extend_from_slice(&row.vector);
            }
            fresh.apply(&batch)?;
        }
        fresh.sync()?;
        Ok(fresh)
    }

    /// Removes the files of this epoch, which no manifest names any more.
    pub(crate) fn remove_files(&self) -> io::Result<()> {
        let epoch = self.mark.epoch;
        std::fs::remove_file(codes_path(&self.directory, epoch))?;
        std::fs::remove_file(Rows::ids_path(&self.directory, epoch))?;
        std::fs::remove_file(Rows::vectors_path(&self.directory, epoch))
    }

    /// Bytes of memory, about: the codes with their tables, and the places.
    pub(crate) fn memory(&self) -> u64 {
        let code = (self.dims.next_multiple_of(MULTIPLE) * BITS / 8) as u64;
        self.mark.live * (code + 64)
    }

    /// Vectors with the dimensions that the codes have.
    fn padded(&self, vectors: &[f32]) -> Vec<f32> {
        let padded = self.dims.next_multiple_of(MULTIPLE);
        let mut wide = Vec::with_capacity(vectors.len() / self.dims * padded);
        for vector in vectors.chunks(self.dims) {
            wide.extend_from_slice(vector);
            wide.resize(wide.len() + padded - self.dims, 0.0);
        }
        wide
    }
}

/// Removes files of other epochs: of a compaction that was cut short, or that could not clear up behind it.
fn sweep(directory: &Path, epoch: u32) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let parts = name.to_str().and_then(|name| name.split_once('-'));
        let other = |number: &str| number.parse::<u32>().is_ok_and(|number| number != epoch);
        if parts.is_some_and(|(kind, number)| matches!(kind, "codes" | "ids" | "vectors") && other(number)) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn codes_path(directory: &Path, epoch: u32) -> PathBuf {
    directory.join(format!("codes-{epoch}"))
}

fn engine(error: impl std::error::Error) -> Error {
    Error::Engine(error.to_string())
}

/// Meaning of a file of codes that cannot be read: nothing that the machine lacks now, so it is the file.
fn unreadable(error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::OutOfMemory | io::ErrorKind::ResourceBusy => {
            io::Error::new(error.kind(), error.to_string()).into()
        }
        kind => Error::damaged(format!("the codes of the vectors ({kind})")),
    }
}

/// Spreads a number over all bits (the finalizer of splitmix64), so that sums of different sets differ.
fn scatter(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
