//! Structure of a text: headings, blocks and tables with their places in bytes.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::document::Markup;

/// Strength of a break at the beginning of a page, a sheet or a slide.
pub(crate) const PART: u8 = 0;
/// Strength of a break before a block; those before headings are their levels, 1 to 6.
pub(crate) const BLOCK: u8 = 7;
/// Strength of a break before an item of a list, a row of a table or a block inside a block.
pub(crate) const ITEM: u8 = 8;

/// Place before which a text may be cut; the smaller its strength, the better the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Break {
    pub(crate) at: usize,
    pub(crate) strength: u8,
}

/// Heading and the bytes it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeadingAt {
    pub(crate) level: u8,
    pub(crate) text: String,
    pub(crate) range: Range<usize>,
}

/// Table and the bytes it, its head and its rows stand in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableAt {
    pub(crate) range: Range<usize>,
    pub(crate) head: Range<usize>,
    pub(crate) rows: Vec<Range<usize>>,
}

/// Structure of a text; all lists are in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct Structure {
    pub(crate) headings: Vec<HeadingAt>,
    pub(crate) breaks: Vec<Break>,
    pub(crate) tables: Vec<TableAt>,
}

impl Structure {
    /// The structure of a text.
    pub(crate) fn of(text: &str, markup: Markup) -> Self {
        let mut structure = match markup {
            Markup::Markdown => Scan::default().run(text),
            Markup::Plain => paragraphs(text),
        };
        structure.breaks.sort_unstable();
        structure.breaks.dedup_by_key(|found| found.at);
        structure
    }
}

/// Paragraphs of plain text: what empty lines divide.
fn paragraphs(text: &str) -> Structure {
    let mut structure = Structure::default();
    let (mut at, mut empty) = (0, true);
    for line in text.split_inclusive('\n') {
        let blank = line.trim().is_empty();
        if empty && !blank {
            structure.breaks.push(Break { at, strength: BLOCK });
        }
        empty = blank;
        at += line.len();
    }
    structure
}

/// State of a pass over Markdown.
#[derive(Default)]
struct Scan {
    found: Structure,
    depth: usize,
    heading: Option<HeadingAt>,
    table: Option<TableAt>,
}

impl Scan {
    fn run(mut self, text: &str) -> Structure {
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(tag) => self.start(&tag, range),
                Event::End(tag) => self.end(tag),
                Event::Text(piece) | Event::Code(piece) => self.piece(&piece),
                Event::SoftBreak | Event::HardBreak => self.piece(" "),
                Event::Rule => self.at(range.start),
                Event::Html(_)
                | Event::InlineHtml(_)
                | Event::InlineMath(_)
                | Event::DisplayMath(_)
                | Event::FootnoteReference(_)
                | Event::TaskListMarker(_) => {}
            }
        }
        self.found
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => {
                let level = number(*level);
                self.found.breaks.push(Break { at: range.start, strength: level });
                self.heading = Some(HeadingAt { level, text: String::new(), range });
            }
            Tag::Table(_) => {
                self.at(range.start);
                self.table = Some(TableAt { head: range.start..range.start, range, rows: vec![] });
            }
            Tag::TableHead => {
                if let Some(table) = &mut self.table {
                    table.head = range;
                }
            }
            Tag::TableRow => {
                self.found.breaks.push(Break { at: range.start, strength: ITEM });
                if let Some(table) = &mut self.table {
                    table.rows.push(range);
                }
            }
            Tag::Item => self.found.breaks.push(Break { at: range.start, strength: ITEM }),
            Tag::Paragraph
            | Tag::BlockQuote(_)
            | Tag::CodeBlock(_)
            | Tag::HtmlBlock
            | Tag::List(_)
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_) => self.at(range.start),
            // Inside a line nothing is cut by its markup.
            Tag::TableCell
            | Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::Link { .. }
            | Tag::Image { .. } => {}
        }
        self.depth += 1;
    }

    fn end(&mut self, tag: TagEnd) {
        self.depth = self.depth.saturating_sub(1);
        if matches!(tag, TagEnd::Heading(_))
            && let Some(mut heading) = self.heading.take()
        {
            heading.text = heading.text.trim().to_owned();
            self.found.headings.push(heading);
        }
        if matches!(tag, TagEnd::Table)
            && let Some(table) = self.table.take()
        {
            self.found.tables.push(table);
        }
    }

    fn piece(&mut self, piece: &str) {
        if let Some(heading) = &mut self.heading {
            heading.text.push_str(piece);
        }
    }

    /// A block begins.
    fn at(&mut self, at: usize) {
        let strength = if self.depth == 0 { BLOCK } else { ITEM };
        self.found.breaks.push(Break { at, strength });
    }
}

const fn number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_blocks_and_tables_are_found_where_they_stand() {
        let text =
            "# One *two*\n\nWords.\n\n| a | b |\n|---|---|\n| 1 | `2` |\n| 3 | 4 |\n\n## Three\n\n- x\n- y\n";
        let structure = Structure::of(text, Markup::Markdown);
        let headings: Vec<_> =
            structure.headings.iter().map(|found| (found.level, found.text.as_str())).collect();
        assert_eq!(headings, [(1, "One two"), (2, "Three")]);
        let table = &structure.tables[0];
        assert_eq!(text[table.head.clone()].trim(), "| a | b |");
        assert_eq!(text[table.rows[1].clone()].trim(), "| 3 | 4 |");
        let cut: Vec<_> =
            structure.breaks.iter().map(|found| (&text[found.at..found.at + 1], found.strength)).collect();
        assert_eq!(
            cut,
            [
                ("#", 1),
                ("W", BLOCK),
                ("|", BLOCK),
                ("|", ITEM),
                ("|", ITEM),
                ("#", 2),
                ("-", BLOCK),
                ("-", ITEM)
            ]
        );
    }

    #[test]
    fn paragraphs_of_plain_text_are_divided_by_empty_lines() {
        let structure = Structure::of("a\nb\n\n \nc\n", Markup::Plain);
        assert_eq!(structure.breaks.iter().map(|found| found.at).collect::<Vec<_>>(), [0, 7]);
    }
}
