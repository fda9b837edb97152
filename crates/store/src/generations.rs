//! Generations of what SQLite stores: this process alone writes the file, so that what it read of a thing stays as it
//! was for as long as the thing's generation stands still.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::BoxFuture;

/// Number of counters. Things share them by their hash: what shares one is read anew once more than it has to be.
const COUNTERS: usize = 4096;

/// Turn of another writer, which comes after all that is under way.
type Turn = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

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

    /// The generation of a thing.
    pub(crate) fn of(&self, thing: &impl Hash) -> u64 {
        let counter = self.0.get(Self::place(thing));
        counter.map_or(0, |counter| counter.load(Ordering::SeqCst))
    }

    /// Raises the generations of things now and when the guard goes.
    pub(crate) fn writing<T: Hash>(&self, things: impl IntoIterator<Item = T>, after: Turn) -> Writing {
        let mut places: Vec<usize> = things.into_iter().map(|thing| Self::place(&thing)).collect();
        places.sort_unstable();
        places.dedup();
        self.raise(&places);
        Writing { generations: self.clone(), places, after: Some(after) }
    }
}

/// A write under way.
pub struct Writing {
    generations: Generations,
    places: Vec<usize>,
    after: Option<Turn>,
}

impl std::fmt::Debug for Writing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writing").finish_non_exhaustive()
    }
}

impl Writing {
    /// Ends the write, which succeeded or not.
    pub fn done(mut self) {
        self.after = None;
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.generations.raise(&self.places);
        // The caller went away in the middle: the commit may still be on its way to the database.
        if let (Some(turn), Ok(runtime)) = (self.after.take(), tokio::runtime::Handle::try_current()) {
            let (generations, places) = (self.generations.clone(), std::mem::take(&mut self.places));
            runtime.spawn(async move {
                turn().await;
                generations.raise(&places);
            });
        }
    }
}
