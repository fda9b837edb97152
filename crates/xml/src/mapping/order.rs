//! The order of an element's children where it is not the order of their row.
//!
//! The reader notes it as `heddle:order`: one word for each child in turn, a run of one word as `word*N`; the
//! writer moves what it wrote into that order. A child that the note does not know goes behind the last one of
//! its own or a lower rank, so that a changed definition stays in the order of the schema where its source was.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::Vocabulary;
use super::row::Row;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// Rank of a child that the row does not have.
pub(super) const OTHER: u16 = u16::MAX;
const OTHER_WORD: &str = "other";

/// A rank in short.
pub(super) fn short(rank: usize) -> u16 {
    u16::try_from(rank).unwrap_or(OTHER)
}

fn word_of<V: Vocabulary, T>(row: &Row<V, T>, rank: u16) -> &'static str {
    row.words().nth(usize::from(rank)).flatten().unwrap_or(OTHER_WORD)
}

/// The note for children of these ranks; none when they stand in order.
pub(super) fn text<V: Vocabulary, T>(row: &Row<V, T>, ranks: &[u16]) -> Option<String> {
    if ranks.is_sorted() {
        return None;
    }
    let mut out = String::new();
    for run in ranks.chunk_by(|left, right| left == right) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(run.first().map_or(OTHER_WORD, |&rank| word_of(row, rank)));
        if run.len() > 1 {
            out.push('*');
            out.push_str(&run.len().to_string());
        }
    }
    Some(out)
}

/// The order in which children of these ranks are to stand, as indexes.
pub(super) fn arrange<V: Vocabulary, T>(row: &Row<V, T>, note: &str, ranks: &[u16]) -> Vec<usize> {
    let mut waiting: BTreeMap<u16, VecDeque<usize>> = BTreeMap::new();
    for (index, &rank) in ranks.iter().enumerate() {
        waiting.entry(rank).or_default().push_back(index);
    }
    let mut arranged = Vec::with_capacity(ranks.len());
    let words: Vec<Option<&str>> = row.words().collect();
    for entry in note.split_ascii_whitespace() {
        let (name, count) = entry.split_once('*').unwrap_or((entry, "1"));
        let rank = match words.iter().position(|word| *word == Some(name)) {
            Some(rank) => short(rank),
            None if name == OTHER_WORD => OTHER,
            None => continue,
        };
        let (Some(queue), Ok(count)) = (waiting.get_mut(&rank), count.parse::<usize>()) else { continue };
        let count = count.min(queue.len());
        arranged.extend(queue.drain(..count));
    }
    for (rank, queue) in waiting {
        let behind = arranged.iter().rposition(|&index| ranks[index] <= rank).map_or(0, |at| at + 1);
        arranged.splice(behind..behind, queue);
    }
    arranged
}

/// The text of the parts, put into another order.
pub(super) fn rearranged(text: &str, parts: &[Range<usize>], arranged: &[usize]) -> String {
    let mut out = String::with_capacity(text.len());
    arranged
        .iter()
        .filter_map(|&index| text.get(parts.get(index)?.clone()))
        .for_each(|part| out.push_str(part));
    out
}
