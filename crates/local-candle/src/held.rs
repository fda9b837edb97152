//! Models in memory, within a budget of bytes: the one that was asked longest ago goes first, and none that is at work.

use std::sync::Arc;

use crate::ChatError;

/// Things held within a budget.
#[derive(Debug)]
pub struct Held<T> {
    budget: u64,
    /// The one that was asked longest ago comes first.
    entries: Vec<Entry<T>>,
}

#[derive(Debug)]
struct Entry<T> {
    name: String,
    bytes: u64,
    value: Arc<T>,
}

impl<T> Held<T> {
    /// Nothing yet, within so many bytes.
    #[must_use]
    pub const fn new(budget: u64) -> Self {
        Self { budget, entries: Vec::new() }
    }

    /// A held thing, which was asked last from then on.
    pub fn get(&mut self, name: &str) -> Option<Arc<T>> {
        let at = self.entries.iter().position(|entry| entry.name == name)?;
        let entry = self.entries.remove(at);
        let value = Arc::clone(&entry.value);
        self.entries.push(entry);
        Some(value)
    }

    /// Makes room for so many bytes; gives the names of what had to go.
    ///
    /// # Errors
    /// `TooLarge` when the budget is smaller; `Busy` when what would have to go is at work. Nothing goes then.
    pub fn make_room(&mut self, bytes: u64) -> Result<Vec<String>, ChatError> {
        if bytes > self.budget {
            return Err(ChatError::TooLarge { needed: bytes, budget: self.budget });
        }
        let idle = |entry: &&Entry<T>| Arc::strong_count(&entry.value) == 1;
        let mut left = self.bytes();
        let mut going = Vec::new();
        for entry in self.entries.iter().filter(idle) {
            if left + bytes <= self.budget {
                break;
            }
            left -= entry.bytes;
            going.push(entry.name.clone());
        }
        if left + bytes > self.budget {
            return Err(ChatError::Busy);
        }
        self.entries.retain(|entry| !going.contains(&entry.name));
        Ok(going)
    }

    /// Holds a thing; one of the same name goes. Make room for it first.
    pub fn put(&mut self, name: &str, bytes: u64, value: Arc<T>) {
        self.remove(name);
        self.entries.push(Entry { name: name.to_owned(), bytes, value });
    }

    /// Lets a thing go; whoever works with it keeps it until they are done. False when it was not there.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.name != name);
        self.entries.len() < before
    }

    /// Bytes of a held thing.
    #[must_use]
    pub fn bytes_of(&self, name: &str) -> Option<u64> {
        self.entries.iter().find(|entry| entry.name == name).map(|entry| entry.bytes)
    }

    /// Bytes of all.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_asked_longest_ago_makes_room() {
        let mut held = Held::new(10);
        for name in ["a", "b", "c"] {
            assert_eq!(held.make_room(3).unwrap(), [""; 0]);
            held.put(name, 3, Arc::new(name));
        }
        assert_eq!(held.get("a").as_deref(), Some(&"a"));
        assert_eq!(held.make_room(6).unwrap(), ["b", "c"]);
        assert_eq!((held.bytes(), held.bytes_of("a"), held.bytes_of("b")), (3, Some(3), None));
    }

    #[test]
    fn what_is_at_work_stays_and_what_is_too_large_is_told() {
        let mut held = Held::new(10);
        held.put("a", 6, Arc::new(1));
        let at_work = held.get("a");
        assert!(matches!(held.make_room(6), Err(ChatError::Busy)));
        assert!(matches!(held.make_room(11), Err(ChatError::TooLarge { needed: 11, budget: 10 })));
        drop(at_work);
        assert_eq!(held.make_room(6).unwrap(), ["a"]);
        assert!(!held.remove("a"));
    }
}
