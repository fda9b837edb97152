//! The order of an element's children where it is not the order of their row.
//!
//! The reader notes it as `heddle:order`: one word for each child in turn, a run of one word as `word*N`; the
//! writer moves what it wrote into that order. A child that the note does not know goes behind the last one of
//! its own or a lower rank, so that a changed definition stays in the order of the schema where its source was.

use super::names::{Group, Kind, kind, row};
use super::read::group;
use super::row::{Match, Row};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// Rank of a child that the row does not have.
const OTHER: u16 = u16::MAX;
const OTHER_WORD: &str = "other";

/// A rank in short.
pub(super) fn short(rank: usize) -> u16 {
    u16::try_from(rank).unwrap_or(OTHER)
}

/// The rank of an element among the children of a row.
pub(super) fn rank<T>(row: &Row<T>, kind: Kind) -> u16 {
    row.child(kind, group(kind)).map_or(OTHER, |(rank, _)| short(rank))
}

/// The word of a child; flow nodes, sequence flows, shapes and edges are many, so that theirs are short.
fn word(matches: Match) -> &'static str {
    match matches {
        Match::FlowNode => "n",
        Match::Group(Group::SequenceFlow) => "f",
        Match::Kind(own) if own == const { kind("BPMNShape") } => "s",
        Match::Kind(own) if own == const { kind("BPMNEdge") } => "e",
        Match::Kind(own) => row(own).map_or(OTHER_WORD, |row| row.name),
        Match::Group(Group::DataObject) => "data",
        Match::Group(Group::Artifact) => "artifact",
        Match::Group(Group::EventDefinition) => "definition",
        Match::Group(Group::ResourceRole) => "role",
        Match::Group(Group::LoopCharacteristics) => "loop",
        Match::Group(Group::Conversation) => "conversations",
        Match::Group(Group::ChoreographyActivity) => "activity",
        Match::Group(Group::DataStoreReference) => "store",
        Match::Group(Group::Root) => "root",
        Match::Group(_) => OTHER_WORD,
    }
}

fn word_of<T>(row: &Row<T>, rank: u16) -> &'static str {
    let child = row.children.iter().flat_map(|part| part.iter()).nth(usize::from(rank));
    child.map_or(OTHER_WORD, |child| word(child.matches))
}

/// The note for children of these ranks; none when they stand in order.
pub(super) fn text<T>(row: &Row<T>, ranks: &[u16]) -> Option<String> {
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
pub(super) fn arrange<T>(row: &Row<T>, note: &str, ranks: &[u16]) -> Vec<usize> {
    let mut waiting: BTreeMap<u16, VecDeque<usize>> = BTreeMap::new();
    for (index, &rank) in ranks.iter().enumerate() {
        waiting.entry(rank).or_default().push_back(index);
    }
    let mut arranged = Vec::with_capacity(ranks.len());
    let words: Vec<&str> =
        row.children.iter().flat_map(|part| part.iter()).map(|child| word(child.matches)).collect();
    for entry in note.split_ascii_whitespace() {
        let (name, count) = entry.split_once('*').unwrap_or((entry, "1"));
        let rank = match words.iter().position(|word| *word == name) {
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

#[cfg(test)]
mod tests {
    use super::*;

    static ROW: Row<()> = Row {
        attributes: &[],
        children: &[&[
            kept!("documentation"),
            kept!("laneSet"),
            super::super::row::Child { matches: Match::FlowNode, read: None, write: None },
            super::super::row::Child { matches: Match::Group(Group::SequenceFlow), read: None, write: None },
        ]],
    };

    #[test]
    fn an_order_is_noted_and_restored() {
        assert_eq!(text(&ROW, &[0, 1, 2, 2, 3, OTHER]), None);
        let source = [2, 3, 3, 0, OTHER, 2];
        let note = text(&ROW, &source).unwrap();
        assert_eq!(note, "n f*2 documentation other n");
        let mut written = source;
        written.sort_unstable();
        let arranged = arrange(&ROW, &note, &written);
        assert_eq!(arranged.iter().map(|&index| written[index]).collect::<Vec<_>>(), source);
    }

    #[test]
    fn what_is_new_stands_behind_its_like() {
        let arranged = arrange(&ROW, "f n wish*7", &[0, 2, 2, 3]);
        assert_eq!(arranged, [0, 3, 1, 2], "the node behind the node, the documentation first");
        assert_eq!(arrange(&ROW, "f*99999999999 n", &[2]), [0]);
        assert_eq!(rearranged("aabbc", &[0..2, 2..4, 4..5], &[2, 0, 1]), "caabb");
    }
}
