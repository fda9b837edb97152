//! Cutting a text at its best places.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::structure::{Break, Structure};

/// A text, its structure and its tokens.
pub(super) struct Cutter<'t> {
    pub(super) text: &'t str,
    pub(super) structure: &'t Structure,
    /// Bytes at which tokens begin, ascending.
    pub(super) tokens: Vec<u32>,
}

/// A byte as a place in a text.
fn place(start: u32) -> usize {
    usize::try_from(start).unwrap_or(usize::MAX)
}

impl Cutter<'_> {
    /// Tokens that begin in a range.
    pub(super) fn size(&self, range: &Range<usize>) -> usize {
        self.token_at(range.end).saturating_sub(self.token_at(range.start))
    }

    /// Tokens that begin before a byte.
    pub(super) fn token_at(&self, byte: usize) -> usize {
        self.tokens.partition_point(|start| place(*start) < byte)
    }

    /// Byte at which a token begins.
    fn start(&self, token: usize) -> Option<usize> {
        self.tokens.get(token).copied().map(place)
    }

    /// Cuts a range into pieces of at most `most` tokens: at the strongest breaks it holds, each piece that is still too
    /// large at the next ones, and neighbours that fit together are one. The pieces are the range, without a gap.
    /// What can't be cut (many tokens of one character) stays larger.
    pub(super) fn split(&self, range: Range<usize>, most: usize) -> Vec<Range<usize>> {
        if self.size(&range) <= most {
            return vec![range];
        }
        let cut = self.pieces(&range, most);
        if cut.len() < 2 {
            return vec![range];
        }
        let mut pieces: Vec<Range<usize>> = Vec::new();
        let mut open: Option<Range<usize>> = None;
        for piece in cut {
            let joined = open.as_ref().map_or(piece.start, |open| open.start)..piece.end;
            if self.size(&joined) <= most {
                open = Some(joined);
                continue;
            }
            pieces.extend(open.take());
            if self.size(&piece) <= most {
                open = Some(piece);
            } else {
                // The end of a piece that was cut is a neighbour like any other.
                pieces.extend(self.split(piece, most));
                open = pieces.pop();
            }
        }
        pieces.extend(open);
        pieces
    }

    /// Cuts a range at all breaks of the strongest kind inside it. At least one cut is made.
    fn pieces(&self, range: &Range<usize>, most: usize) -> Vec<Range<usize>> {
        let inside = self.breaks(range);
        if let Some(strength) = inside.iter().map(|found| found.strength).min() {
            let cuts = inside.iter().filter(|found| found.strength == strength).map(|found| found.at);
            return cut(range, cuts);
        }
        let text = self.text.get(range.clone()).unwrap_or_default();
        let lines = text.match_indices('\n').map(|(at, _)| range.start + at + 1);
        let pieces = cut(range, lines);
        if pieces.len() > 1 {
            return pieces;
        }
        let pieces = cut(range, text.split_sentence_bound_indices().map(|(at, _)| range.start + at));
        if pieces.len() > 1 {
            return pieces;
        }
        let pieces = cut(range, self.words(range));
        if pieces.len() > 1 {
            return pieces;
        }
        let first = self.token_at(range.start);
        let last = self.token_at(range.end);
        let cuts = (first..last).step_by(most.max(1)).skip(1).filter_map(|token| self.start(token));
        cut(range, cuts.filter(|at| self.text.is_char_boundary(*at)))
    }

    /// Breaks strictly inside a range.
    pub(super) fn breaks(&self, range: &Range<usize>) -> &[Break] {
        let breaks = &self.structure.breaks;
        let from = breaks.partition_point(|found| found.at <= range.start);
        let to = breaks.partition_point(|found| found.at < range.end);
        breaks.get(from..to).unwrap_or_default()
    }

    /// Bytes in a range at which a token begins behind white space.
    fn words(&self, range: &Range<usize>) -> impl Iterator<Item = usize> {
        let tokens =
            self.tokens.get(self.token_at(range.start)..self.token_at(range.end)).unwrap_or_default();
        tokens.iter().copied().map(place).filter(|at| self.begins_word(*at))
    }

    fn begins_word(&self, at: usize) -> bool {
        self.text.get(..at).is_some_and(|before| before.ends_with(char::is_whitespace))
    }

    /// Beginning of a piece that repeats at most `overlap` tokens before `at`: at a word, not before `floor`; `at` itself
    /// where there is no such place.
    pub(super) fn overlapped(&self, at: usize, floor: usize, overlap: usize) -> usize {
        let here = self.token_at(at);
        let earliest = here.saturating_sub(overlap);
        (earliest..here)
            .filter_map(|token| self.start(token))
            .find(|start| *start >= floor && self.begins_word(*start))
            .unwrap_or(at)
    }

    /// Windows of `most` tokens over a range, each beginning at a word where there is one.
    pub(super) fn windows(&self, range: &Range<usize>, most: usize) -> Vec<Range<usize>> {
        let mut windows = Vec::new();
        let mut start = range.start;
        let last = self.token_at(range.end);
        loop {
            let first = self.token_at(start);
            if first + most >= last {
                windows.push(start..range.end);
                return windows;
            }
            let end = (first + 1..=first + most)
                .rev()
                .filter_map(|token| self.start(token))
                .find(|at| *at > start && self.begins_word(*at))
                .or_else(|| {
                    let tokens = self.tokens.get(first + most..).unwrap_or_default();
                    tokens
                        .iter()
                        .copied()
                        .map(place)
                        .find(|at| *at > start && self.text.is_char_boundary(*at))
                })
                .unwrap_or(range.end)
                .min(range.end);
            windows.push(start..end);
            if end >= range.end {
                return windows;
            }
            start = end;
        }
    }

    /// Sentences of a range: of each block, list item and row its own; a heading stands with what follows it.
    pub(super) fn sentences(&self, range: &Range<usize>, most: usize) -> Vec<Range<usize>> {
        let cuts = self.breaks(range).iter().map(|found| found.at);
        let mut sentences = Vec::new();
        let mut heading: Option<usize> = None;
        for block in cut(range, cuts) {
            if self.is_heading(block.start) {
                heading = heading.or(Some(block.start));
                continue;
            }
            let text = self.text.get(block.clone()).unwrap_or_default();
            let starts = text.split_sentence_bound_indices().map(|(at, _)| block.start + at);
            for mut sentence in cut(&block, starts) {
                sentence.start = heading.take().unwrap_or(sentence.start);
                sentences.extend(self.split(sentence, most));
            }
        }
        if let Some(start) = heading {
            sentences.extend(self.split(start..range.end, most));
        }
        sentences.retain(|sentence| !self.is_blank(sentence));
        sentences
    }

    fn is_heading(&self, at: usize) -> bool {
        self.structure.headings.binary_search_by_key(&at, |heading| heading.range.start).is_ok()
    }

    /// Whether a range holds white space alone.
    pub(super) fn is_blank(&self, range: &Range<usize>) -> bool {
        self.text.get(range.clone()).is_none_or(|text| text.trim().is_empty())
    }

    /// A range without the white space around it.
    pub(super) fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let Some(text) = self.text.get(range.clone()) else { return range };
        let start = range.start + (text.len() - text.trim_start().len());
        let end = range.end - (text.len() - text.trim_end().len());
        start..end.max(start)
    }
}

/// Cuts a range at ascending places; those not strictly inside it, or said twice, are left out.
pub(super) fn cut(range: &Range<usize>, places: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = range.start;
    for place in places.filter(|place| *place < range.end) {
        if place > start {
            pieces.push(start..place);
            start = place;
        }
    }
    pieces.push(start..range.end);
    pieces
}
