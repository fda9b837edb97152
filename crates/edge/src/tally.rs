//! Counts of what is open, and of bytes that are held, by who holds them.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;

/// Counts of open things by holder; a holder without any is forgotten.
#[derive(Debug)]
pub(crate) struct Tally<K>(Mutex<HashMap<K, usize>>);

impl<K> Default for Tally<K> {
    fn default() -> Self {
        Self(Mutex::new(HashMap::new()))
    }
}

/// Place of an open thing in the count, given back when it is dropped.
#[derive(Debug)]
pub struct Place<K: Eq + Hash> {
    tally: Arc<Tally<K>>,
    holder: K,
    count: usize,
}

impl<K: Eq + Hash + Copy> Tally<K> {
    /// One more for the holder; none when they have as many as they may.
    pub(crate) fn enter(self: &Arc<Self>, holder: K, most: usize) -> Option<Place<K>> {
        let mut place = Place { tally: Arc::clone(self), holder, count: 0 };
        place.grow(1, most).then_some(place)
    }

    /// Place of nothing yet.
    pub(crate) fn begin(self: &Arc<Self>, holder: K) -> Place<K> {
        Place { tally: Arc::clone(self), holder, count: 0 }
    }

    /// Number of open things of the holder.
    pub(crate) fn of(&self, holder: K) -> usize {
        self.0.lock().get(&holder).copied().unwrap_or(0)
    }
}

impl<K: Eq + Hash + Copy> Place<K> {
    /// So many more for the holder of the place; whether they may have them.
    pub(crate) fn grow(&mut self, by: usize, most: usize) -> bool {
        let mut counts = self.tally.0.lock();
        let present = counts.get(&self.holder).copied().unwrap_or(0);
        let allowed = present.saturating_add(by) <= most;
        if allowed {
            counts.insert(self.holder, present + by);
            self.count += by;
        }
        allowed
    }
}

impl<K: Eq + Hash> Drop for Place<K> {
    fn drop(&mut self) {
        if self.count == 0 {
            return;
        }
        let mut counts = self.tally.0.lock();
        match counts.get_mut(&self.holder) {
            Some(count) if *count > self.count => *count -= self.count,
            Some(_) | None => {
                counts.remove(&self.holder);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_when_it_is_given_back() {
        let tally = Arc::new(Tally::default());
        let first = tally.enter('a', 2).unwrap();
        let second = tally.enter('a', 2).unwrap();
        assert!(tally.enter('a', 2).is_none() && tally.enter('b', 2).is_some());
        assert_eq!((tally.of('a'), tally.of('b')), (2, 0));
        drop(first);
        assert!(tally.enter('a', 2).is_some());
        drop(second);
        let mut bytes = tally.begin('c');
        assert!(bytes.grow(60, 100) && bytes.grow(40, 100) && !bytes.grow(1, 100));
        assert!(!tally.begin('c').grow(1, 100));
        drop(bytes);
        assert!(tally.0.lock().is_empty(), "nobody is remembered without a place");
    }
}
