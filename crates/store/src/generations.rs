//! Generations of what SQLite stores: this process alone writes the file, so that what it read of a thing stays as it
//! was for as long as the thing's generation stands still.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::sqlite::SqliteDb;

/// Number of counters. Things share them by their hash: what shares one is read anew once more than it has to be.
const COUNTERS: usize = 4096;

/// Counters of writes, shared by all clones of a database.
#[derive(Debug, Clone)]
pub(crate) struct Generations(Arc<[AtomicU64]>);

impl Default for Generations {
    fn default() -> Self {
        Self((0..COUNTERS).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Generations {
    fn place(thing: &impl Hash) -> usize {
        let mut hasher = DefaultHasher::new();
        thing.hash(&mut hasher);
        usize::try_from(hasher.finish() % COUNTERS as u64).unwrap_or_default()
    }

    fn raise(&self, places: &[usize]) {
        for place in places {
            if let Some(counter) = self.0.get(*place) {
                counter.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
}

impl SqliteDb {
    /// The generation of a thing. Looked at before a read, it says later whether what was read still holds.
    #[must_use]
    pub fn generation(&self, thing: &impl Hash) -> u64 {
        let counter = self.generations().0.get(Generations::place(thing));
        counter.map_or(0, |counter| counter.load(Ordering::SeqCst))
    }

    /// Raises the generations of things now and when the guard goes: to be held around whatever changes them.
    #[must_use]
    pub fn writing<T: Hash>(&self, things: impl IntoIterator<Item = T>) -> Writing {
        let mut places: Vec<usize> = things.into_iter().map(|thing| Generations::place(&thing)).collect();
        places.sort_unstable();
        places.dedup();
        self.generations().raise(&places);
        Writing { db: self.clone(), places, is_done: false }
    }
}

/// A write under way.
pub struct Writing {
    db: SqliteDb,
    places: Vec<usize>,
    is_done: bool,
}

impl std::fmt::Debug for Writing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writing").field("is_done", &self.is_done).finish_non_exhaustive()
    }
}

impl Writing {
    /// Ends the write, which succeeded or not.
    pub fn done(mut self) {
        self.is_done = true;
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.db.generations().raise(&self.places);
        if self.is_done {
            return;
        }
        // The caller went away in the middle: the commit may still be on its way to the database. Another writer's
        // turn comes after it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (db, places) = (self.db.clone(), std::mem::take(&mut self.places));
            runtime.spawn(async move {
                // Whatever becomes of the turn: the write before it has ended.
                let _ = db.batch(|_| Ok(())).await;
                db.generations().raise(&places);
            });
        }
    }
}
