//! Lines and columns of many places in one text, each found by looking at a few hundred bytes.

use std::cell::{Cell, OnceCell};

use crate::model::At;

/// Bytes between two counts.
const STEP: usize = 256;

/// Line breaks, line start and characters before a [`STEP`]th byte.
#[derive(Clone, Copy)]
struct Mark {
    /// Line breaks.
    breaks: u32,
    /// Byte offset of the line that it lies in.
    line: usize,
    /// Characters.
    characters: u32,
}

/// The counts at every [`STEP`]th byte, and the place asked for last: mostly the next one stands soon after it.
pub(super) struct Places<'s> {
    source: &'s str,
    marks: OnceCell<Vec<Mark>>,
    /// Whether every character is one byte.
    ascii: bool,
    last: Cell<Last>,
}

/// A place that was asked for.
#[derive(Clone, Copy, Default)]
struct Last {
    offset: usize,
    /// Line breaks before it.
    breaks: u32,
    /// Byte offset of its line.
    line: usize,
}

fn count(bytes: &[u8], kind: impl Fn(u8) -> bool) -> u32 {
    // As many as a byte can count, so that blocks are counted at once.
    let blocks = bytes.chunks(usize::from(u8::MAX));
    blocks.map(|block| u32::from(block.iter().fold(0u8, |sum, &byte| sum + u8::from(kind(byte))))).sum()
}

fn characters(bytes: &[u8]) -> u32 {
    count(bytes, |byte| byte & 0xc0 != 0x80)
}

fn breaks(bytes: &[u8]) -> u32 {
    count(bytes, |byte| byte == b'\n')
}

/// Byte offset of the last line that begins within the bytes, if one does.
fn last_line(bytes: &[u8]) -> Option<usize> {
    bytes.iter().rposition(|&byte| byte == b'\n').map(|at| at + 1)
}

impl<'s> Places<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        Self { source, marks: OnceCell::new(), ascii: source.is_ascii(), last: Cell::default() }
    }

    fn marks(&self) -> &[Mark] {
        self.marks.get_or_init(|| {
            let mut mark = Mark { breaks: 0, line: 0, characters: 0 };
            let mut marks = Vec::with_capacity(self.source.len() / STEP + 1);
            for (at, chunk) in self.source.as_bytes().chunks(STEP).enumerate() {
                marks.push(mark);
                mark.breaks += breaks(chunk);
                if let Some(line) = last_line(chunk) {
                    mark.line = at * STEP + line;
                }
                if !self.ascii {
                    mark.characters += characters(chunk);
                }
            }
            marks.push(mark);
            marks
        })
    }

    fn mark(&self, offset: usize) -> (Mark, &'s [u8]) {
        let chunk = offset / STEP;
        let mark = self.marks().get(chunk).or(self.marks().last()).copied();
        let rest = self.source.as_bytes().get(chunk * STEP..offset).unwrap_or_default();
        (mark.unwrap_or(Mark { breaks: 0, line: 0, characters: 0 }), rest)
    }

    fn before(&self, offset: usize) -> u32 {
        if self.ascii {
            return u32::try_from(offset).unwrap_or(u32::MAX);
        }
        let (mark, rest) = self.mark(offset);
        mark.characters + characters(rest)
    }

    /// The place of a byte offset.
    pub(crate) fn at(&self, offset: usize) -> At {
        let last = self.last.get();
        let Last { breaks, line, .. } = match self.source.as_bytes().get(last.offset..offset) {
            // Soon after the last one, or within the same step.
            Some(between) if between.len() <= 2 * STEP => Last {
                offset,
                breaks: last.breaks + breaks(between),
                line: last_line(between).map_or(last.line, |line| last.offset + line),
            },
            _ => {
                let (mark, rest) = self.mark(offset);
                let line = last_line(rest).map_or(mark.line, |line| offset - rest.len() + line);
                Last { offset, breaks: mark.breaks + breaks(rest), line }
            }
        };
        self.last.set(Last { offset, breaks, line });
        At { line: breaks + 1, column: self.before(offset).saturating_sub(self.before(line)) + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_as_counting() {
        let source = "aé\n".repeat(400) + &"ü".repeat(3000) + "\nend";
        let places = Places::new(&source);
        for (offset, _) in source.char_indices().step_by(7) {
            let (line, column) = heddle_xml::decode::position(&source, offset);
            let at = places.at(offset);
            assert_eq!((at.line, at.column), (line, column), "{offset}");
        }
    }
}
