//! Places of passages: pages, sheets, slides, headings, and the prefixes these give.

use std::ops::Range;
use std::sync::Arc;

use super::{Context, Locator, TokenCounter};
use crate::document::{Document, Part, PartKind};
use crate::offsets::CharIndex;
use crate::structure::{Structure, TableAt};

/// Characters of a heading, or of a table's head, in a prefix.
const LONGEST_LINE: usize = 160;
/// Characters of a prefix.
const LONGEST_PREFIX: usize = 480;

/// Places of a document, asked for passages in their order.
pub(super) struct Places<'d> {
    document: &'d Document,
    structure: &'d Structure,
    index: &'d CharIndex<'d>,
    counter: &'d dyn TokenCounter,
    /// Headings that were passed.
    passed: usize,
    /// Open headings: level and text.
    path: Vec<(u8, &'d str)>,
    prefix: (String, usize),
    context: Option<Context>,
}

impl<'d> Places<'d> {
    pub(super) fn new(
        document: &'d Document,
        structure: &'d Structure,
        index: &'d CharIndex<'d>,
        counter: &'d dyn TokenCounter,
    ) -> Self {
        Self {
            document,
            structure,
            index,
            counter,
            passed: 0,
            path: Vec::new(),
            prefix: (String::new(), 0),
            context: None,
        }
    }

    /// Locator of a range whose own text begins at `core`, its prefix and the tokens of that. Cores ascend from call
    /// to call.
    pub(super) fn of(&mut self, range: &Range<usize>, core: usize) -> (Locator, String, usize) {
        while let Some(heading) =
            self.structure.headings.get(self.passed).filter(|next| next.range.start <= core)
        {
            self.path.retain(|(level, _)| *level < heading.level);
            if !heading.text.is_empty() {
                self.path.push((heading.level, heading.text.as_str()));
            }
            self.passed += 1;
        }
        let (start_char, end_char) = (self.index.at(range.start), self.index.at(range.end));
        let part = self.part(start_char);
        let of = |kind: PartKind| part.filter(|part| part.kind == kind);
        let locator = Locator {
            page: of(PartKind::Page).map(|part| part.number),
            sheet: of(PartKind::Sheet)
                .map(|part| part.name.clone().unwrap_or_else(|| part.number.to_string())),
            slide: of(PartKind::Slide).map(|part| part.number),
            heading_path: self.path.iter().map(|(_, text)| (*text).to_owned()).collect(),
            start_char,
            end_char,
        };
        let prefix = self.prefix(range.start);
        if prefix != self.prefix.0 {
            let tokens = self.counter.count(&prefix);
            self.prefix = (prefix, tokens);
        }
        (locator, self.prefix.0.clone(), self.prefix.1)
    }

    /// Context of a range; the one of the passage before, where it is the same.
    pub(super) fn context(&mut self, ordinal: u32, range: &Range<usize>) -> Context {
        if let Some(context) = self.context.as_ref().filter(|context| context.ordinal == ordinal) {
            return context.clone();
        }
        let context = Context {
            ordinal,
            text: Arc::from(self.document.text.get(range.clone()).unwrap_or_default()),
            start_char: self.index.at(range.start),
            end_char: self.index.at(range.end),
        };
        self.context = Some(context.clone());
        context
    }

    /// The part in which a character stands.
    fn part(&self, at: u64) -> Option<&'d Part> {
        let parts = &self.document.parts;
        let after = parts.partition_point(|part| u64::from(part.start_char) <= at);
        let part = parts.get(after.checked_sub(1)?)?;
        (at < u64::from(part.end_char)).then_some(part)
    }

    /// Title, headings and the head of the table in which a passage begins.
    fn prefix(&self, at: usize) -> String {
        let mut lines: Vec<String> = Vec::new();
        let title = self.document.title.as_deref().map(shortened);
        lines.extend(title.filter(|title| self.path.first().is_none_or(|(_, first)| *first != title)));
        // A heading with which the passage begins stands in its text.
        let begun = self
            .structure
            .headings
            .get(self.passed.wrapping_sub(1))
            .is_some_and(|last| last.range.start >= at);
        let above = self.path.len() - usize::from(begun && !self.path.is_empty());
        let path: Vec<String> = self.path.iter().take(above).map(|(_, text)| shortened(text)).collect();
        if !path.is_empty() {
            lines.push(path.join(" > "));
        }
        if let Some(table) = self.table(at) {
            lines.push(shortened(self.document.text.get(table.head.clone()).unwrap_or_default().trim()));
        }
        lines.retain(|line| !line.is_empty());
        lines.join("\n").chars().take(LONGEST_PREFIX).collect()
    }

    /// The table behind whose head a byte stands.
    fn table(&self, at: usize) -> Option<&'d TableAt> {
        let tables = &self.structure.tables;
        let after = tables.partition_point(|table| table.range.start <= at);
        let table = tables.get(after.checked_sub(1)?)?;
        (at >= table.head.end && at < table.range.end).then_some(table)
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(LONGEST_LINE).collect()
}
