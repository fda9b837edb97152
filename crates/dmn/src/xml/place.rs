//! Lines and columns of many places in one text, each found in constant time but for a binary search.

use crate::model::At;

/// Bytes between two counts of characters.
const STEP: usize = 512;

/// Where lines begin, and how many characters stand before every [`STEP`]th byte.
pub(super) struct Places<'s> {
    source: &'s str,
    lines: Vec<usize>,
    /// Empty for a text whose characters are bytes.
    characters: Vec<u32>,
}

fn characters(bytes: &[u8]) -> u32 {
    let count = bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl<'s> Places<'s> {
    pub fn new(source: &'s str) -> Self {
        let breaks = source.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(breaks).collect();
        let mut count = 0;
        let counted = if source.is_ascii() { &[] } else { source.as_bytes() };
        let characters = counted
            .chunks(STEP)
            .map(|chunk| {
                let before = count;
                count += characters(chunk);
                before
            })
            .collect();
        Self { source, lines, characters }
    }

    fn before(&self, offset: usize) -> u32 {
        if self.characters.is_empty() {
            return u32::try_from(offset).unwrap_or(u32::MAX);
        }
        let chunk = offset / STEP;
        let Some(&known) = self.characters.get(chunk) else { return 0 };
        known + characters(self.source.as_bytes().get(chunk * STEP..offset).unwrap_or_default())
    }

    /// The place of a byte offset.
    pub fn at(&self, offset: usize) -> At {
        let line = self.lines.partition_point(|&start| start <= offset);
        let start = line.checked_sub(1).and_then(|line| self.lines.get(line)).copied().unwrap_or(0);
        let column = self.before(offset).saturating_sub(self.before(start)) + 1;
        At { line: u32::try_from(line).unwrap_or(u32::MAX), column }
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
