//! Names found without looking through all of them, once there are more than a few.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::lexer;

/// Up to so many names are looked through; most expressions have no more.
const FEW: usize = 16;
/// Parts of the longest name that is found as one of several words.
const MAX_PARTS: usize = 64;

/// Names each of which stands once.
#[derive(Default)]
pub(super) struct Names {
    list: Vec<Arc<str>>,
    places: HashMap<Arc<str>, u32>,
}

impl Names {
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        if self.places.is_empty() {
            return self.list.iter().position(|known| &**known == name).and_then(|at| u32::try_from(at).ok());
        }
        self.places.get(name).copied()
    }

    /// The name's place, and whether it is new.
    pub(super) fn add(&mut self, name: &str) -> (u32, bool) {
        if let Some(at) = self.find(name) {
            return (at, false);
        }
        let name: Arc<str> = name.into();
        let at = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.push(name.clone());
        if self.list.len() == FEW {
            self.places = self.list.iter().cloned().zip(0..).collect();
        } else if self.list.len() > FEW {
            self.places.insert(name, at);
        }
        (at, true)
    }

    pub(super) fn into_list(self) -> Vec<Arc<str>> {
        self.list
    }
}

fn part_end(text: &str, at: usize) -> usize {
    let identifier = lexer::identifier_end(text, at);
    match text.get(at..).and_then(|rest| rest.chars().next()) {
        _ if identifier > at => identifier,
        Some(c) if c.is_ascii_digit() => {
            at + text.bytes().skip(at).take_while(|b| b.is_ascii_alphanumeric()).count()
        }
        Some(c) => at + c.len_utf8(),
        None => at,
    }
}

fn parts(name: &str) -> Vec<Box<str>> {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < name.len() {
        let end = part_end(name, at);
        let part = name.get(at..end).unwrap_or_default();
        if !part.chars().all(char::is_whitespace) {
            parts.push(part.into());
        }
        at = end;
    }
    parts
}

/// A name of several words or with operators in it.
struct Spaced {
    name: Arc<str>,
    parts: Vec<Box<str>>,
}

impl Spaced {
    /// The name when it is more than one identifier and can be told from other text.
    fn new(name: &str) -> Option<Self> {
        // Most names are plain ones.
        if lexer::identifier_end(name, 0) == name.len() {
            return None;
        }
        let parts = parts(name);
        let begins = name.chars().next().is_some_and(lexer::is_name_start);
        (begins && (2..=MAX_PARTS).contains(&parts.len())).then(|| Self { name: name.into(), parts })
    }

    /// End of the name that the text at `at` begins with.
    fn matches(&self, source: &str, at: usize) -> Option<usize> {
        let mut end = at;
        for (index, part) in self.parts.iter().enumerate() {
            let from = if index == 0 { end } else { lexer::skip_space(source, end).ok()? };
            if !source.get(from..)?.starts_with(&**part) {
                return None;
            }
            end = part_end(source, from);
            if end != from + part.len() {
                return None;
            }
        }
        Some(end)
    }

    fn key(&self) -> Box<str> {
        self.parts.join("\0").into()
    }
}

/// Names of several words or with operators in them, found by longest match.
#[derive(Default)]
pub(super) struct SpacedNames {
    list: Vec<Spaced>,
    /// Names by their parts, and the number of each.
    places: HashMap<Box<str>, (Arc<str>, u32)>,
    /// Parts of the longest name that has been there.
    longest: usize,
}

impl SpacedNames {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    fn index(&mut self, from: usize) {
        for spaced in self.list.iter().skip(from) {
            self.places.entry(spaced.key()).or_insert_with(|| (spaced.name.clone(), 0)).1 += 1;
        }
    }

    /// Adds the name if it is of more than one word.
    pub(super) fn push(&mut self, name: &str) {
        let Some(spaced) = Spaced::new(name) else { return };
        self.longest = self.longest.max(spaced.parts.len());
        self.list.push(spaced);
        if self.list.len() == FEW {
            self.index(0);
        } else if self.list.len() > FEW {
            self.index(self.list.len() - 1);
        }
    }

    pub(super) fn truncate(&mut self, len: usize) {
        while self.list.len() > len {
            let indexed = self.list.len() >= FEW;
            let Some(spaced) = self.list.pop() else { return };
            if !indexed {
                continue;
            }
            if self.list.len() < FEW {
                self.places.clear();
            } else if let Some(place) = self.places.get_mut(&spaced.key()) {
                place.1 -= 1;
                if place.1 == 0 {
                    self.places.remove(&spaced.key());
                }
            }
        }
    }

    /// The longest name that the text at `at` begins with, and where it ends.
    pub(super) fn longest(&self, source: &str, at: usize) -> Option<(Arc<str>, usize)> {
        if self.list.len() < FEW {
            let found = self.list.iter().filter_map(|n| n.matches(source, at).map(|end| (&n.name, end)));
            return found.max_by_key(|(_, end)| *end).map(|(name, end)| (name.clone(), end));
        }
        let (mut key, mut from, mut best) = (String::new(), at, None);
        for index in 0..self.longest {
            if index > 0 {
                from = lexer::skip_space(source, from).ok()?;
                key.push('\0');
            }
            let end = part_end(source, from);
            if end == from {
                break;
            }
            key.push_str(source.get(from..end).unwrap_or_default());
            from = end;
            if let Some((name, _)) = self.places.get(key.as_str()) {
                best = Some((name.clone(), end));
            }
        }
        best
    }
}

/// Whether a name is new among those seen.
#[derive(Default)]
pub(super) struct Seen(HashSet<Arc<str>>);

impl Seen {
    pub(super) fn add(&mut self, name: &Arc<str>) -> bool {
        self.0.insert(name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_is_found_among_few_and_many() {
        for extra in [0, 100] {
            let mut names = SpacedNames::default();
            for name in ["a b", "a b c", "a-b", "a+b", "rate (%)"] {
                names.push(name);
            }
            for n in 0..extra {
                names.push(&format!("other {n}"));
            }
            let find = |names: &SpacedNames, source: &str| {
                names.longest(source, 0).map(|(name, end)| (name.to_string(), end))
            };
            let found = |name: &str, end| Some((name.to_owned(), end));
            assert_eq!(find(&names, "a  b + 1"), found("a b", 4));
            assert_eq!(find(&names, "a b c"), found("a b c", 5));
            assert_eq!(find(&names, "a b cd"), found("a b", 3));
            assert_eq!(find(&names, "a - b"), found("a-b", 5));
            assert_eq!(find(&names, "rate(%) * 2"), found("rate (%)", 7));
            assert_eq!(find(&names, "ab"), None);
            names.truncate(2);
            assert_eq!(find(&names, "a-b"), None);
            assert_eq!(find(&names, "a b"), found("a b", 3));
        }
    }

    #[test]
    fn places_stay_the_same() {
        let mut names = Names::default();
        for round in 0..2 {
            for n in 0..100_u32 {
                assert_eq!(names.add(&format!("n{n}")), (n, round == 0));
            }
        }
    }
}
