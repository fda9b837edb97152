//! Index: one directory with both legs, the changes that are applied to it, and the queries that it answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock, RwLockReadGuard};

use crate::changes::{Changes, Passage};
use crate::dense::Dense;
use crate::hit::single;
use crate::key::{Key, Settings};
use crate::keyword::{Keyword, View};
use crate::manifest::{DenseMark, FORMAT, Manifest, Next};
use crate::vector::unit;
use crate::{AllowList, Error, Hit};

/// The directory of the words within that of the index.
const WORDS: &str = "words";
/// Candidates of a leg however few hits are wanted: of vectors, those that are scored exactly.
const CANDIDATES: usize = 50;
/// Vectors that are scored exactly beyond those that [`Index::legs`] gives, at least: of 10 to 400 nearest of 100,000, one to
/// fourteen in a hundred are not among as many best by code, and all but a few in a thousand among half as many more.
const LEAST_BEYOND: usize = 64;
/// The most of them: each is read from its file.
const MOST_BEYOND: usize = 1_000;
/// Vectors that are few: the nearest of them are further apart, so that fewer hide among what their codes leave out.
const FEW: usize = 2_000;
/// Candidates among few vectors however few hits are wanted.
const CANDIDATES_OF_FEW: usize = 30;
/// Vectors beyond which what their codes leave out is worth more exact scores: of 400,000 some of the nearest are not among
/// the best 50 by code.
const MANY: usize = 200_000;
/// Vectors beyond them for each of which one more is scored exactly.
const VECTORS_PER_CANDIDATE: usize = 10_000;
/// The most candidates of a leg, and hits of a query.
const MOST: usize = 10_000;
/// The longest text of a query in bytes.
const LONGEST_QUERY: usize = 16_384;

/// The leg that a query asks; [`Index::legs`] asks both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape<'a> {
    /// Words alone, by BM25.
    Keyword(&'a str),
    /// Likeness alone, by cosine.
    Semantic(&'a [f32]),
}

/// A query.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// The leg.
    pub shape: Shape<'a>,
    /// Number of hits that are wanted.
    pub limit: usize,
    /// Candidates of each leg, at most 10,000; 50, or four times the limit where that is more, when it is none.
    pub candidates: Option<usize>,
    /// Passages that alone may be answered; all of them when it is none. It counts in both legs before the cut.
    pub allow: Option<&'a AllowList>,
}

impl<'a> Query<'a> {
    /// A query without a filter.
    #[must_use]
    pub fn new(shape: Shape<'a>, limit: usize) -> Self {
        Self { shape, limit, candidates: None, allow: None }
    }
}

/// An opened index. Searches go on while changes are applied, and see the state before them or after.
#[derive(Debug)]
pub struct Index {
    directory: PathBuf,
    settings: Settings,
    keyword: Keyword,
    manifest: Mutex<Manifest>,
    state: RwLock<State>,
    /// Bytes of memory, about, as of the last change.
    memory: AtomicU64,
    /// Set once the files are no longer what the memory says: replaced, removed, or half written.
    retired: AtomicBool,
}

#[derive(Debug)]
struct State {
    dense: Option<Dense>,
    words: View,
    sequence: u64,
    owed: Option<u64>,
}

impl Index {
    /// Writes the manifest of a directory whose files are written.
    pub(crate) fn seal(
        directory: &Path,
        key: &Key,
        settings: Settings,
        sequence: u64,
        dense: Option<&Dense>,
    ) -> Result<(), Error> {
        let manifest = Manifest {
            format: FORMAT,
            key: key.clone(),
            settings,
            sequence,
            owed: None,
            keyword: 0,
            dense: dense.map(Dense::mark),
            codes: dense.map(Dense::sum).transpose()?,
            next: None,
        };
        manifest.write(directory)
    }

    /// Opens a directory, and checks every file of it.
    pub(crate) fn open(directory: &Path, key: &Key, settings: Settings) -> Result<Self, Error> {
        let mut manifest = Manifest::read(directory, key, &settings)?;
        let (keyword, number) = Keyword::open(&directory.join(WORDS), settings.language)?;
        if number != manifest.keyword && manifest.next.as_ref().is_none_or(|next| next.keyword != number) {
            return Err(Error::damaged("the words are of another state"));
        }
        let dense = match (settings.dims, manifest.dense) {
            (Some(dims), Some(mark)) => {
                let next = manifest.next.as_ref().and_then(|next| next.dense);
                let marks: Vec<DenseMark> = [Some(mark), next].into_iter().flatten().collect();
                let sum = manifest.codes.filter(|_| manifest.next.is_none());
                Some(Dense::open(directory, dims as usize, &marks, sum)?)
            }
            (_, _) => None,
        };
        if let Some(next) = manifest.next.take() {
            // A change was cut short. What there is, is written down; the change has to be made once more.
            manifest.owed = manifest.owed.max(Some(next.sequence));
            manifest.keyword = number;
            manifest.dense = dense.as_ref().map(Dense::mark);
            manifest.codes = dense.as_ref().map(Dense::sum).transpose()?;
            manifest.write(directory)?;
        }
        let words = keyword.view()?;
        let state = State { dense, words, sequence: manifest.sequence, owed: manifest.owed };
        let index = Self {
            directory: directory.to_owned(),
            settings,
            keyword,
            manifest: Mutex::new(manifest),
            state: RwLock::new(state),
            memory: AtomicU64::new(0),
            retired: AtomicBool::new(false),
        };
        index.weigh();
        Ok(index)
    }

    /// The change up to which the index is whole.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.state.read().sequence
    }

    /// The change that has to be reached before the index answers, after a crash.
    #[must_use]
    pub fn owed(&self) -> Option<u64> {
        self.state.read().owed
    }

    /// Number of vectors; none in an index of words.
    #[must_use]
    pub fn vectors(&self) -> Option<u64> {
        self.state.read().dense.as_ref().map(Dense::len)
    }

    /// Bytes of memory that it takes while it is open, about.
    #[must_use]
    pub fn memory(&self) -> u64 {
        self.memory.load(Ordering::Relaxed)
    }

    fn weigh(&self) {
        let bytes = self.keyword.memory() + self.state.read().dense.as_ref().map_or(0, Dense::memory);
        self.memory.store(bytes, Ordering::Relaxed);
    }

    /// Settings that it is made for.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Whether it has to be opened again.
    #[must_use]
    pub fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Acquire)
    }

    /// Lets nobody use it any more, once the change under way is done.
    pub(crate) fn retire(&self) {
        let _writing = self.manifest.lock();
        self.retired.store(true, Ordering::Release);
    }

    /// Applies what changed between `since` and `until`: removes the ids of `removed`, then adds `puts`, each of which
    /// takes the place of what has its id. The same changes may be applied again, and more than is missing; changes that
    /// are in already are passed over. Where both are the number that the index has, they are a part of what comes next,
    /// and are applied under that number. When the process ends within, the next to open the index is owed them.
    ///
    /// # Errors
    /// [`Error::Gap`] where changes before `since` are missing, [`Error::BadVector`] with nothing changed,
    /// [`Error::Reopen`], or a failure after which it has to be opened again.
    pub fn apply(&self, since: u64, until: u64, removed: AllowList, puts: Vec<Passage>) -> Result<(), Error> {
        let mut manifest = self.manifest.lock();
        self.usable()?;
        if since > manifest.sequence {
            return Err(Error::Gap { at: manifest.sequence, since });
        }
        let is_part = since == until;
        if until < manifest.sequence || (until == manifest.sequence && manifest.owed.is_none() && !is_part) {
            return Ok(());
        }
        let changes = Changes::of(removed, puts, self.settings)?;
        let done = if changes.is_empty() {
            self.pass(&mut manifest, until)
        } else {
            self.write(&mut manifest, &changes, until)
        };
        if done.is_err() {
            self.retired.store(true, Ordering::Release);
        }
        done
    }

    /// Notes that a change is reached that changes nothing here.
    fn pass(&self, manifest: &mut Manifest, until: u64) -> Result<(), Error> {
        let owed = manifest.owed.filter(|owed| *owed > until);
        *manifest = Manifest { sequence: until, owed, ..manifest.clone() };
        manifest.write(&self.directory)?;
        let mut state = self.state.write();
        state.sequence = until;
        state.owed = owed;
        Ok(())
    }

    /// Says what is about to come, writes it, shows it, and says that it is done.
    fn write(&self, manifest: &mut Manifest, changes: &Changes, until: u64) -> Result<(), Error> {
        let keyword = manifest.keyword + 1;
        let after = self.state.read().dense.as_ref().map(|dense| dense.after(changes));
        manifest.next = Some(Next { sequence: until, keyword, dense: after });
        manifest.write(&self.directory)?;
        let mut writing = self.keyword.write(false)?;
        writing.apply(changes)?;
        writing.commit(keyword)?;
        let words = self.keyword.view()?;
        let owed = manifest.owed.filter(|owed| *owed > until);
        {
            let mut state = self.state.write();
            if let Some(dense) = &mut state.dense {
                dense.apply(changes)?;
                dense.sync()?;
            }
            state.words = words;
            state.sequence = until;
            state.owed = owed;
        }
        let (mark, codes) = self.sums()?;
        *manifest =
            Manifest { sequence: until, owed, keyword, dense: mark, codes, next: None, ..manifest.clone() };
        manifest.write(&self.directory)?;
        self.compact(manifest)?;
        self.weigh();
        Ok(())
    }

    fn sums(&self) -> Result<(Option<DenseMark>, Option<crate::manifest::Sum>), Error> {
        let state = self.state.read();
        Ok((state.dense.as_ref().map(Dense::mark), state.dense.as_ref().map(Dense::sum).transpose()?))
    }

    /// Leaves the dead rows behind once they are more than the live ones.
    fn compact(&self, manifest: &mut Manifest) -> Result<(), Error> {
        let fresh = {
            let state = self.state.read();
            match &state.dense {
                Some(dense) if dense.wants_compaction() => dense.compacted()?,
                Some(_) | None => return Ok(()),
            }
        };
        manifest.dense = Some(fresh.mark());
        manifest.codes = Some(fresh.sum()?);
        manifest.write(&self.directory)?;
        let before = self.state.write().dense.replace(fresh);
        if let Some(before) = before {
            before.remove_files()?;
        }
        Ok(())
    }

    /// The hits of a query, best first.
    ///
    /// # Errors
    /// [`Error::BadVector`], [`Error::BadQuery`], [`Error::Behind`], [`Error::Rebuild`], [`Error::Reopen`].
    pub fn search(&self, query: &Query<'_>) -> Result<Vec<Hit>, Error> {
        let wanted = query.candidates.unwrap_or_else(|| candidates(query.limit)).max(query.limit);
        few(wanted)?;
        let state = self.current()?;
        let mut hits = match query.shape {
            Shape::Keyword(text) => {
                short(text)?;
                self.words(&state, text, wanted, query.allow)?
            }
            Shape::Semantic(vector) => {
                let scored = |among: usize| match query.candidates {
                    None if among <= FEW => candidates_of_few(query.limit),
                    None | Some(_) => wanted,
                };
                self.near(&state, vector, query.limit, scored, query.allow)?
            }
        };
        hits.truncate(query.limit);
        Ok(hits)
    }

    /// The candidates of both legs, each at most `candidates`, for whoever fuses them himself: first those near to the
    /// vector, then those that fit the words. All of them may count, so more vectors than these are scored exactly: the last
    /// of them are as right as the first.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub fn legs(
        &self,
        vector: Option<&[f32]>,
        text: Option<&str>,
        candidates: usize,
        allow: Option<&AllowList>,
    ) -> Result<(Vec<Hit>, Vec<Hit>), Error> {
        text.map_or(Ok(()), short)?;
        few(candidates)?;
        let state = self.current()?;
        let scored = candidates.saturating_add(beyond(candidates));
        let near =
            vector.map(|vector| self.near(&state, vector, candidates, |_| scored, allow)).transpose()?;
        let words = text.map(|text| self.words(&state, text, candidates, allow)).transpose()?;
        Ok((near.unwrap_or_default(), words.unwrap_or_default()))
    }

    /// The unit vectors of passages, in their order; none for one that isn't there.
    ///
    /// # Errors
    /// [`Error::BadQuery`] in an index of words; as [`Self::search`].
    pub fn unit_vectors(&self, ids: &[u64]) -> Result<Vec<Option<Vec<f32>>>, Error> {
        let state = self.current()?;
        let dense = state.dense.as_ref().ok_or(NO_VECTORS)?;
        ids.iter().map(|id| dense.vector(*id)).collect()
    }

    /// The nearest by their codes alone, which is what exact scoring is measured against.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub fn nearest_by_code(&self, vector: &[f32], limit: usize) -> Result<Vec<(u64, f32)>, Error> {
        let state = self.current()?;
        let dense = state.dense.as_ref().ok_or(NO_VECTORS)?;
        let found = dense.rough(&self.direction(vector)?, limit)?;
        Ok(found.into_iter().map(|near| (near.id, near.score)).collect())
    }

    /// The nearest, `wanted` of those that are scored exactly: so many as `scored` tells by the number of vectors that are
    /// looked among.
    fn near(
        &self,
        state: &State,
        vector: &[f32],
        wanted: usize,
        scored: impl Fn(usize) -> usize,
        allow: Option<&AllowList>,
    ) -> Result<Vec<Hit>, Error> {
        let dense = state.dense.as_ref().ok_or(NO_VECTORS)?;
        // The more vectors there are, the more of them lie between one of the nearest and its code.
        let more = |among: usize| among.saturating_sub(MANY) / VECTORS_PER_CANDIDATE;
        let scored = |among: usize| scored(among).saturating_add(more(among)).min(2 * MOST);
        let mut found = dense.search(&self.direction(vector)?, scored, allow)?;
        if found.iter().any(|near| !dense.contains(near.id)) {
            return Err(lost());
        }
        found.truncate(wanted);
        Ok(single(found.into_iter().map(|near| (near.id, near.score)), true))
    }

    fn words(
        &self,
        state: &State,
        text: &str,
        wanted: usize,
        allow: Option<&AllowList>,
    ) -> Result<Vec<Hit>, Error> {
        let found = self.keyword.search(&state.words, text, wanted, allow)?;
        Ok(single(found.into_iter().map(|worded| (worded.id, worded.score)), false))
    }

    fn direction(&self, vector: &[f32]) -> Result<Vec<f32>, Error> {
        let dims = self.settings.dims.ok_or(NO_VECTORS)?;
        unit(vector, dims as usize, || "the query".to_owned())
    }

    /// The state that queries may see.
    fn current(&self) -> Result<RwLockReadGuard<'_, State>, Error> {
        self.usable()?;
        let state = self.state.read();
        match state.owed {
            Some(until) => Err(Error::Behind { at: state.sequence, until }),
            None => Ok(state),
        }
    }

    fn usable(&self) -> Result<(), Error> {
        if self.is_retired() { Err(Error::Reopen) } else { Ok(()) }
    }
}

const NO_VECTORS: Error = Error::BadQuery("the index is of words alone: it has no vectors");

/// A row or a document whose passage is not there.
fn lost() -> Error {
    Error::damaged("the legs hold other passages")
}

/// The directory of the words.
pub(crate) fn words_directory(directory: &Path) -> PathBuf {
    directory.join(WORDS)
}

/// Removes a directory with all that is in it; one that isn't there is no fault.
pub(crate) fn remove(directory: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(directory) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn short(text: &str) -> Result<(), Error> {
    if text.len() <= LONGEST_QUERY {
        Ok(())
    } else {
        Err(Error::BadQuery("the text of the query is too long"))
    }
}

/// Candidates for so many hits.
fn candidates(limit: usize) -> usize {
    CANDIDATES.max(limit.saturating_mul(4))
}

/// Candidates for so many hits among few vectors. The tenth and the fiftieth nearest of 100,000 are as far apart as the tenth
/// and the thirtieth of 1,000 (in deviations of what is normally distributed).
fn candidates_of_few(limit: usize) -> usize {
    CANDIDATES_OF_FEW.max(limit.saturating_mul(3))
}

/// Vectors to score exactly beyond so many that are given.
fn beyond(given: usize) -> usize {
    (given / 2).clamp(LEAST_BEYOND, MOST_BEYOND)
}

fn few(wanted: usize) -> Result<(), Error> {
    if wanted <= MOST { Ok(()) } else { Err(Error::BadQuery("too many passages are asked for at once")) }
}
