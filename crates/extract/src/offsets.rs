//! Offsets in characters of places in a text.

/// Bytes between two marks.
const STEP: usize = 1024;

/// Table that tells the character at a byte of a text: one mark for each KiB, so that an answer counts at most that
/// many bytes.
#[derive(Debug)]
pub(crate) struct CharIndex<'t> {
    text: &'t str,
    /// Characters that begin before byte `n * STEP`.
    marks: Vec<u64>,
}

impl<'t> CharIndex<'t> {
    /// The table of a text.
    pub(crate) fn new(text: &'t str) -> Self {
        let mut marks = Vec::with_capacity(text.len() / STEP + 1);
        let mut before = 0;
        for block in text.as_bytes().chunks(STEP) {
            marks.push(before);
            before += begun(block);
        }
        Self { text, marks }
    }

    /// Characters before a byte, which must be a boundary of characters or the end.
    pub(crate) fn at(&self, byte: usize) -> u64 {
        let byte = byte.min(self.text.len());
        let block = (byte / STEP).min(self.marks.len().saturating_sub(1));
        let mark = self.marks.get(block).copied().unwrap_or_default();
        mark + self.text.as_bytes().get(block * STEP..byte).map_or(0, begun)
    }

    /// Byte at which a character begins; the end of the text for one that is not there.
    pub(crate) fn byte(&self, character: u64) -> usize {
        let block = self.marks.partition_point(|mark| *mark <= character).saturating_sub(1);
        let mark = self.marks.get(block).copied().unwrap_or_default();
        let mut at = (block * STEP).min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at += 1;
        }
        let missing = usize::try_from(character.saturating_sub(mark)).unwrap_or(usize::MAX);
        let rest = self.text.get(at..).unwrap_or_default();
        rest.char_indices().nth(missing).map_or(self.text.len(), |(further, _)| at + further)
    }
}

/// Characters that begin in some bytes of UTF-8.
fn begun(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_boundary_has_the_offset_that_counting_gives() {
        for text in [String::new(), "x".repeat(STEP), "aäß漢🦀\n".repeat(700)] {
            let index = CharIndex::new(&text);
            for (count, (byte, _)) in text.char_indices().enumerate() {
                assert_eq!(index.at(byte), count as u64);
                assert_eq!(index.byte(count as u64), byte);
            }
            assert_eq!(index.at(text.len()), text.chars().count() as u64);
        }
    }
}
