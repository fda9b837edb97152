//! Shelf: the indexes under one root, of which it keeps as many open as fit into a budget of bytes.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::changes::{Changes, Passage};
use crate::dense::Dense;
use crate::index::{Index, remove, words_directory};
use crate::key::{Key, Settings};
use crate::keyword::{Keyword, Writing};
use crate::{AllowList, BuildError, Error};

const LOCK: &str = "in-use";
/// Passages that are built in at once.
const BATCH: usize = 1024;

/// All indexes under one root. The root is one process's alone.
#[derive(Debug)]
pub struct Shelf {
    root: PathBuf,
    budget: u64,
    slots: Mutex<HashMap<Key, Arc<Slot>>>,
    tick: AtomicU64,
    /// Held as long as the shelf.
    _lock: File,
}

/// The place of one index. Who opens, builds, replaces or closes it holds its lock.
#[derive(Debug, Default)]
struct Slot {
    index: Mutex<Option<Arc<Index>>>,
    /// Tick of the shelf at which it was asked for last.
    used: AtomicU64,
    /// Bytes of memory when it was asked for last.
    bytes: AtomicU64,
}

impl Shelf {
    /// The shelf of a directory, which is made where there is none; it keeps opened indexes of some `budget` bytes.
    ///
    /// # Errors
    /// [`Error::InUse`], [`Error::Io`].
    pub fn open(root: impl Into<PathBuf>, budget: u64) -> Result<Self, Error> {
        let root = root.into();
        fs::create_dir_all(&root)?;
        let lock = File::options().create(true).truncate(false).write(true).open(root.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::InUse),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        Ok(Self { root, budget, slots: Mutex::default(), tick: AtomicU64::new(0), _lock: lock })
    }

    /// The index of a key, opened if it isn't yet. Hold it for one call, and ask again for the next.
    ///
    /// # Errors
    /// [`Error::Rebuild`] where there is none that can serve; [`Error::Io`].
    pub fn index(&self, key: &Key, settings: Settings) -> Result<Arc<Index>, Error> {
        let slot = self.slot(key);
        let index = self.opened(key, settings, &slot);
        match &index {
            Ok(index) => self.used(&slot, index),
            Err(_) => self.forget(key, slot),
        }
        index
    }

    fn opened(&self, key: &Key, settings: Settings, slot: &Slot) -> Result<Arc<Index>, Error> {
        let mut opened = slot.index.lock();
        match opened.as_ref().filter(|index| !index.is_retired()) {
            Some(index) if index.settings() == settings => Ok(Arc::clone(index)),
            Some(_) => Err(crate::Rebuild::Settings.into()),
            None => {
                *opened = None;
                let index = Arc::new(Index::open(&key.directory(&self.root), key, settings)?);
                Ok(Arc::clone(opened.insert(index)))
            }
        }
    }

    /// Begins to build an index anew. The one that serves goes on until [`Self::install`]; what an earlier builder of
    /// this key left is removed. Of one key only one may be built at a time.
    ///
    /// # Errors
    /// [`Error::Engine`] for impossible dimensions, [`Error::Io`].
    pub fn build(&self, key: &Key, settings: Settings) -> Result<Builder, Error> {
        let directory = key.building(&self.root);
        remove(&directory)?;
        fs::create_dir_all(&directory)?;
        let keyword = Keyword::create(&words_directory(&directory), settings.language)?;
        let dense = settings.dims.map(|dims| Dense::create(&directory, 0, dims as usize)).transpose()?;
        let writing = keyword.write(true)?;
        let (seen, waiting) = (HashSet::new(), vec![]);
        Ok(Builder { key: key.clone(), settings, directory, writing, dense, seen, waiting })
    }

    /// Puts what was built, as of a change, in the place of the index that serves.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Engine`]; the index that served goes on then, unless it could not be put back.
    pub fn install(&self, builder: Builder, sequence: u64) -> Result<Arc<Index>, Error> {
        let (key, settings) = (builder.key.clone(), builder.settings);
        builder.seal(sequence)?;
        let slot = self.slot(&key);
        let index = {
            let mut opened = slot.index.lock();
            if let Some(index) = opened.take() {
                index.retire();
            }
            let (directory, replaced) = (key.directory(&self.root), key.replaced(&self.root));
            remove(&replaced)?;
            if directory.try_exists()? {
                fs::rename(&directory, &replaced)?;
            }
            fs::rename(key.building(&self.root), &directory)?;
            remove(&replaced)?;
            let index = Arc::new(Index::open(&directory, &key, settings)?);
            Arc::clone(opened.insert(index))
        };
        self.used(&slot, &index);
        Ok(index)
    }

    /// Builds an index anew from all its passages as of a change.
    ///
    /// # Errors
    /// Those of the index, and the first of the passages.
    pub fn rebuild<E>(
        &self,
        key: &Key,
        settings: Settings,
        sequence: u64,
        passages: impl IntoIterator<Item = Result<Passage, E>>,
    ) -> Result<Arc<Index>, BuildError<E>> {
        let mut builder = self.build(key, settings)?;
        for passage in passages {
            builder.push(passage.map_err(BuildError::Source)?)?;
        }
        Ok(self.install(builder, sequence)?)
    }

    /// Removes one generation. One that isn't there is no fault.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn remove(&self, key: &Key) -> Result<(), Error> {
        let slot = self.slot(key);
        let mut opened = slot.index.lock();
        if let Some(index) = opened.take() {
            index.retire();
        }
        slot.bytes.store(0, Ordering::Relaxed);
        remove(&key.directory(&self.root))?;
        remove(&key.building(&self.root))?;
        remove(&key.replaced(&self.root))?;
        drop(opened);
        self.forget(key, slot);
        Ok(())
    }

    /// Removes all generations of a database, also such as were never opened.
    ///
    /// # Errors
    /// [`Error::BadKey`], [`Error::Io`].
    pub fn remove_database(&self, organisation: &str, database: &str) -> Result<(), Error> {
        let key = Key::new(organisation, database, 0)?;
        let opened: Vec<Key> = {
            let slots = self.slots.lock();
            slots.keys().filter(|key| key.is_of(organisation, database)).cloned().collect()
        };
        for key in opened {
            self.remove(&key)?;
        }
        remove(&key.database_directory(&self.root))
    }

    /// Bytes on disk of one generation.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn disk_bytes(&self, key: &Key) -> Result<u64, Error> {
        Ok(bytes_under(&key.directory(&self.root))?)
    }

    /// Bytes of memory that the opened indexes take, about.
    #[must_use]
    pub fn memory(&self) -> u64 {
        self.slots.lock().values().map(|slot| slot.bytes.load(Ordering::Relaxed)).sum()
    }

    fn slot(&self, key: &Key) -> Arc<Slot> {
        Arc::clone(self.slots.lock().entry(key.clone()).or_default())
    }

    /// Gives up a place that has no index, unless somebody else is about to put one there.
    fn forget(&self, key: &Key, slot: Arc<Slot>) {
        let mut slots = self.slots.lock();
        let empty = slot.index.try_lock().is_some_and(|opened| opened.is_none());
        // One is the map's, one this.
        if empty && Arc::strong_count(&slot) == 2 {
            slots.remove(key);
        }
    }

    /// Notes that an index is in use, and closes those that were not for longest until the rest fits.
    fn used(&self, slot: &Slot, index: &Index) {
        slot.used.store(self.tick.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        let bytes = index.memory();
        if slot.bytes.swap(bytes, Ordering::Relaxed) == bytes {
            return;
        }
        let mut slots = self.slots.lock();
        let mut total: u64 = slots.values().map(|slot| slot.bytes.load(Ordering::Relaxed)).sum();
        if total <= self.budget {
            return;
        }
        let mut oldest: Vec<(u64, Key)> =
            slots.iter().map(|(key, slot)| (slot.used.load(Ordering::Relaxed), key.clone())).collect();
        oldest.sort_unstable();
        // The one that is asked for now is the last of them, and stays.
        oldest.pop();
        for (_, key) in oldest {
            if total <= self.budget {
                break;
            }
            total -= close(&mut slots, &key);
        }
    }
}

/// Closes an index that nobody holds; tells how many bytes that gave back.
fn close(slots: &mut HashMap<Key, Arc<Slot>>, key: &Key) -> u64 {
    let Some(slot) = slots.get(key) else { return 0 };
    // Who opens or builds it holds the lock; who has it in use holds the index, and whoever asked for the slot, the slot.
    let Some(mut opened) = slot.index.try_lock() else { return 0 };
    if opened.as_ref().is_some_and(|index| Arc::strong_count(index) > 1) || Arc::strong_count(slot) > 1 {
        return 0;
    }
    *opened = None;
    let bytes = slot.bytes.swap(0, Ordering::Relaxed);
    drop(opened);
    slots.remove(key);
    bytes
}

/// An index that is being built, in a directory beside the one that serves.
#[derive(Debug)]
pub struct Builder {
    key: Key,
    settings: Settings,
    directory: PathBuf,
    writing: Writing,
    dense: Option<Dense>,
    seen: HashSet<u64>,
    waiting: Vec<Passage>,
}

impl Builder {
    /// Adds a passage.
    ///
    /// # Errors
    /// [`Error::Duplicate`], [`Error::BadVector`], [`Error::Io`]: what is built is of no use then.
    pub fn push(&mut self, passage: Passage) -> Result<(), Error> {
        if !self.seen.insert(passage.id) {
            return Err(Error::Duplicate(passage.id));
        }
        self.waiting.push(passage);
        if self.waiting.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let waiting = std::mem::take(&mut self.waiting);
        let changes = Changes::of(AllowList::default(), waiting, self.settings)?;
        for (id, text) in changes.puts.iter().zip(&changes.texts) {
            self.writing.add(*id, text)?;
        }
        self.dense.as_mut().map_or(Ok(()), |dense| dense.apply(&changes))
    }

    /// Writes all of it, the manifest last.
    fn seal(mut self, sequence: u64) -> Result<(), Error> {
        self.flush()?;
        self.writing.commit(0)?;
        if let Some(dense) = &mut self.dense {
            dense.sync()?;
        }
        Index::seal(&self.directory, &self.key, self.settings, sequence, self.dense.as_ref())
    }
}

/// Bytes of all files under a directory; none where there is none.
fn bytes_under(directory: &Path) -> io::Result<u64> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut bytes = 0;
    for entry in entries {
        let entry = entry?;
        bytes += match entry.metadata() {
            Ok(about) if about.is_dir() => bytes_under(&entry.path())?,
            Ok(about) => about.len(),
            // Gone since the directory was read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
    }
    Ok(bytes)
}
