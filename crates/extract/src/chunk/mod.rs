//! Passages out of text.

mod options;
mod place;
mod split;
mod tokens;

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::document::{Document, PartKind};
use crate::offsets::CharIndex;
use crate::structure::{Break, PART, Structure};

pub use options::{
    Field, Fixed, METHODOLOGIES, Methodology, MethodologyInfo, OptionError, ParentChild, Recursive, Sections,
    SentenceWindow, TableRows, WholeDocument,
};
use place::Places;
use split::{Cutter, cut};
use tokens::bounded;
pub use tokens::{EstimatedTokens, TokenCounter};

/// Passage of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Chunk {
    /// Place in the order of the passages, from 0.
    pub ordinal: u32,
    /// Text: the characters of the document that the locator names.
    pub text: String,
    /// Lines in front of the text when it is embedded: title, headings and the head of the table it begins in. Empty
    /// where there are none.
    pub prefix: String,
    /// Tokens of prefix and text.
    pub tokens: u32,
    /// Larger piece that is given instead of the text, where the methodology has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
    /// Place of the text in the document.
    pub locator: Locator,
}

impl Chunk {
    /// Text that is embedded: prefix and text.
    #[must_use]
    pub fn embedded(&self) -> String {
        if self.prefix.is_empty() { self.text.clone() } else { format!("{}\n{}", self.prefix, self.text) }
    }
}

/// Piece of a document around a passage. Passages of one parent share its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Context {
    /// Number of the piece among the pieces, from 0.
    pub ordinal: u32,
    /// Text: the characters of the document from the one offset to the other.
    pub text: Arc<str>,
    /// Offset of its first character.
    pub start_char: u64,
    /// Offset after its last character.
    pub end_char: u64,
}

/// Place of a passage. Offsets count characters of the document's text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Locator {
    /// Page on which it begins, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// Name of its sheet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// Number of its slide, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slide: Option<u32>,
    /// Headings it stands under, the outermost first; one it begins with is the last.
    pub heading_path: Vec<String>,
    /// Offset of its first character.
    pub start_char: u64,
    /// Offset after its last character.
    pub end_char: u64,
}

/// Passage while it is cut; in bytes.
struct Cut {
    /// Range of the passage's bytes.
    range: Range<usize>,
    /// Beginning of what it does not repeat of the passage before: its headings are those of this place.
    core: usize,
    /// Larger piece, and its number.
    context: Option<(u32, Range<usize>)>,
}

impl Cut {
    const fn plain(range: Range<usize>) -> Self {
        Self { core: range.start, range, context: None }
    }
}

/// Cuts a document into passages. None is empty, none reaches over the end of a sheet or a slide, their order is the
/// text's, and the text of each is the characters of the document between its offsets. Sizes are the counter's tokens of
/// the passage's own text; a prefix comes on top.
#[must_use]
pub fn chunk(document: &Document, methodology: &Methodology, counter: &dyn TokenCounter) -> Vec<Chunk> {
    let all = chunk_within(document, methodology, counter, u64::MAX, u64::MAX);
    // Nothing is more than that.
    all.unwrap_or_default()
}

/// Reason for which a document is not cut: it makes more than is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooMuch {
    /// Passages that it makes.
    Passages(u64),
    /// Bytes of their texts, with the larger piece around each; prefixes, which are short, are not among them.
    Bytes(u64),
}

/// Cuts a document as [`chunk`] does into at most so many passages, of at most so many bytes with their contexts: what is
/// more is told before it takes memory.
///
/// # Errors
/// [`TooMuch`].
pub fn chunk_within(
    document: &Document,
    methodology: &Methodology,
    counter: &dyn TokenCounter,
    most: u64,
    most_bytes: u64,
) -> Result<Vec<Chunk>, TooMuch> {
    let text = document.text.as_str();
    let index = CharIndex::new(text);
    let mut structure = Structure::of(text, document.markup);
    let segments = segments(document, &index, &mut structure);
    let cutter = Cutter { text, structure: &structure, tokens: bounded(text, counter.token_starts(text)) };
    let mut cuts = Vec::new();
    for segment in segments {
        cut_segment(&cutter, segment, methodology, &mut cuts);
    }
    cuts.retain(|cut| !cutter.is_blank(&cut.range));
    if cuts.len() as u64 > most {
        return Err(TooMuch::Passages(cuts.len() as u64));
    }
    let mut bytes = 0;
    for cut in &cuts {
        let around = cut.context.as_ref().map_or(0, |(_, range)| range.len());
        bytes += (cut.range.len() + around) as u64;
    }
    if bytes > most_bytes {
        return Err(TooMuch::Bytes(bytes));
    }
    let mut places = Places::new(document, &structure, &index, counter);
    let mut chunks = Vec::with_capacity(cuts.len());
    for cut in cuts {
        let range = cutter.trimmed(cut.range);
        let Some(own) = text.get(range.clone()).filter(|own| !own.is_empty()) else { continue };
        let (locator, prefix, prefix_tokens) = places.of(&range, cut.core.max(range.start));
        let context = cut.context.map(|(ordinal, range)| places.context(ordinal, &cutter.trimmed(range)));
        let tokens = cutter.size(&range) + prefix_tokens;
        chunks.push(Chunk {
            ordinal: u32::try_from(chunks.len()).unwrap_or(u32::MAX),
            text: own.to_owned(),
            prefix,
            tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
            context,
            locator,
        });
    }
    Ok(chunks)
}

/// Ranges over which no passage reaches: sheets and slides. Pages and sections become breaks, the strongest.
fn segments(document: &Document, index: &CharIndex<'_>, structure: &mut Structure) -> Vec<Range<usize>> {
    let mut hard = Vec::new();
    for part in &document.parts {
        let at = index.byte(u64::from(part.start_char));
        match part.kind {
            PartKind::Sheet | PartKind::Slide => hard.push(at),
            PartKind::Page | PartKind::Section => structure.breaks.push(Break { at, strength: PART }),
        }
    }
    structure.breaks.sort_unstable();
    structure.breaks.dedup_by_key(|found| found.at);
    cut(&(0..document.text.len()), hard.into_iter())
}

fn cut_segment(cutter: &Cutter<'_>, segment: Range<usize>, methodology: &Methodology, to: &mut Vec<Cut>) {
    match *methodology {
        Methodology::Recursive(options) => {
            for section in sections(cutter, &segment, DEEPEST) {
                overlapping(cutter, section, size(options.max_tokens), size(options.overlap_tokens), to);
            }
        }
        Methodology::Markdown(options) => {
            for section in sections(cutter, &segment, options.heading_level) {
                overlapping(cutter, section, size(options.max_tokens), size(options.overlap_tokens), to);
            }
        }
        Methodology::SentenceWindow(options) => {
            windows(cutter, &segment, size(options.max_tokens), size(options.window_sentences), to);
        }
        Methodology::ParentChild(options) => children(cutter, segment, options, to),
        Methodology::Fixed(options) => {
            let overlap = size(options.overlap_tokens);
            let windows = cutter.windows(&segment, size(options.tokens).saturating_sub(overlap).max(1));
            repeat(cutter, windows, overlap, to);
        }
        Methodology::WholeDocument(options) => {
            to.extend(cutter.split(segment, size(options.max_tokens)).into_iter().map(Cut::plain));
        }
        Methodology::TableRows(options) => {
            rows(cutter, &segment, size(options.rows), size(options.max_tokens), to);
        }
    }
}

/// Level of the deepest headings.
const DEEPEST: u32 = 6;

fn size(option: u32) -> usize {
    usize::try_from(option).unwrap_or(usize::MAX)
}

/// Pieces of a range at their best places, each but the first with the end of the one before.
fn overlapping(cutter: &Cutter<'_>, range: Range<usize>, most: usize, overlap: usize, to: &mut Vec<Cut>) {
    if cutter.size(&range) <= most {
        to.push(Cut::plain(range));
        return;
    }
    let pieces = cutter.split(range, most.saturating_sub(overlap).max(1));
    repeat(cutter, pieces, overlap, to);
}

/// Lets each piece but the first begin earlier by at most so many tokens, not before the piece before it begins. White
/// space that stands alone, as in front of a word that is too long for a piece, would only repeat what is before it.
fn repeat(cutter: &Cutter<'_>, pieces: Vec<Range<usize>>, overlap: usize, to: &mut Vec<Cut>) {
    let mut floor = None;
    for piece in pieces.into_iter().filter(|piece| !cutter.is_blank(piece)) {
        let start = match floor {
            Some(floor) if overlap > 0 => cutter.overlapped(piece.start, floor, overlap),
            Some(_) | None => piece.start,
        };
        floor = Some(piece.start);
        to.push(Cut { range: start..piece.end, core: piece.start, context: None });
    }
}

/// Sections of a range: each begins at a heading of at most the level, or with a page, so that the place of a passage is
/// that of all its text. A heading with nothing but deeper headings below it stands with the first of them.
fn sections(cutter: &Cutter<'_>, range: &Range<usize>, level: u32) -> Vec<Range<usize>> {
    let headings = cutter.structure.headings.iter().filter(|heading| {
        u32::from(heading.level) <= level
            && heading.range.start >= range.start
            && heading.range.start < range.end
    });
    let headings: Vec<_> = headings.collect();
    let mut begins = Vec::new();
    for (heading, above) in headings.iter().zip(std::iter::once(None).chain(headings.iter().map(Some))) {
        let bare = above.is_some_and(|above| {
            above.level < heading.level && cutter.is_blank(&(above.range.end..heading.range.start))
        });
        if !bare {
            begins.push(heading.range.start);
        }
    }
    let pages = cutter.breaks(range).iter().filter(|found| found.strength == PART).map(|found| found.at);
    begins.extend(pages);
    begins.sort_unstable();
    cut(range, begins.into_iter())
}

/// Sentences of a range, each with its neighbours as context.
fn windows(cutter: &Cutter<'_>, range: &Range<usize>, most: usize, window: usize, to: &mut Vec<Cut>) {
    let sentences = cutter.sentences(range, most);
    let before = to.len();
    for (number, sentence) in sentences.iter().enumerate() {
        let first = sentences.get(number.saturating_sub(window)).unwrap_or(sentence);
        let last = sentences.get(number + window).or(sentences.last()).unwrap_or(sentence);
        let context = (u32::try_from(before + number).unwrap_or(u32::MAX), first.start..last.end);
        to.push(Cut { context: Some(context), ..Cut::plain(sentence.clone()) });
    }
}

/// Children of a range's parents.
fn children(cutter: &Cutter<'_>, range: Range<usize>, options: ParentChild, to: &mut Vec<Cut>) {
    let next = to.last().and_then(|last| last.context.as_ref()).map_or(0, |(number, _)| number + 1);
    for (number, parent) in (next..).zip(cutter.split(range, size(options.parent_tokens))) {
        let from = to.len();
        let (most, overlap) = (size(options.child_tokens), size(options.overlap_tokens));
        for section in sections(cutter, &parent, DEEPEST) {
            overlapping(cutter, section, most, overlap, to);
        }
        for child in to.iter_mut().skip(from) {
            child.context = Some((number, parent.clone()));
        }
    }
}

/// Rows of a range's tables, so many together as are asked for and fit; what stands around them by the best places.
fn rows(cutter: &Cutter<'_>, range: &Range<usize>, many: usize, most: usize, to: &mut Vec<Cut>) {
    let mut at = range.start;
    let inside =
        |table: &&crate::structure::TableAt| table.range.start >= range.start && table.range.end <= range.end;
    for table in cutter.structure.tables.iter().filter(inside) {
        // A table without rows is its head, and that is text.
        let Some(first) = table.rows.first() else { continue };
        if table.range.start < at {
            continue;
        }
        around(cutter, at..table.range.start, most, to);
        let (mut open, mut held) = (first.start..first.start, 0);
        for row in &table.rows {
            if held > 0 && (held == many || cutter.size(&(open.start..row.end)) > most) {
                to.extend(cutter.split(open, most).into_iter().map(Cut::plain));
                (open, held) = (row.start..row.start, 0);
            }
            open.end = row.end;
            held += 1;
        }
        to.extend(cutter.split(open, most).into_iter().map(Cut::plain));
        at = table.range.end;
    }
    around(cutter, at..range.end, most, to);
}

/// Text outside of tables; headings alone are no passage, they stand in the prefixes of the rows below them.
fn around(cutter: &Cutter<'_>, range: Range<usize>, most: usize, to: &mut Vec<Cut>) {
    let headings = &cutter.structure.headings;
    let from = headings.partition_point(|heading| heading.range.start < range.start);
    let mut at = range.start;
    let mut bare = true;
    for heading in headings.iter().skip(from).take_while(|heading| heading.range.start < range.end) {
        bare &= cutter.is_blank(&(at..heading.range.start));
        at = heading.range.end.max(at);
    }
    let ends = range.end >= cutter.text.len();
    if bare && cutter.is_blank(&(at..range.end)) && !ends {
        return;
    }
    to.extend(cutter.split(range, most).into_iter().map(Cut::plain));
}

#[cfg(test)]
mod tests;
