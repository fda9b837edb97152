//! Documents, workbooks and presentations of Office, old and new.

use std::collections::HashMap;

use undoc::model::{Block, HeadingLevel, Paragraph, Table};
use undoc::render::{RenderOptions, render_section_to_string, to_markdown};
use undoc::{ErrorKind, FormatType};

use super::archive::PART_RATIO;
use super::{Read, Source, archive};
use crate::builder::Builder;
use crate::document::{Markup, PartKind};
use crate::error::{ExtractError, Limit};
use crate::kind::{FileKind, Looks, looks};

pub(super) fn read(kind: FileKind, source: Source<'_>, builder: &mut Builder<'_>) -> Read {
    let (format, part) = match kind {
        FileKind::Docx => (FormatType::Docx, None),
        FileKind::Doc => (FormatType::Doc, None),
        FileKind::Xlsx => (FormatType::Xlsx, Some(PartKind::Sheet)),
        FileKind::Xls => (FormatType::Xls, Some(PartKind::Sheet)),
        FileKind::Pptx => (FormatType::Pptx, Some(PartKind::Slide)),
        FileKind::Ppt => (FormatType::Ppt, Some(PartKind::Slide)),
        FileKind::Text
        | FileKind::Markdown
        | FileKind::Html
        | FileKind::Csv
        | FileKind::Json
        | FileKind::JsonLines
        | FileKind::Pdf
        | FileKind::Email
        | FileKind::Png
        | FileKind::Jpeg
        | FileKind::Tiff => return Err(ExtractError::unsupported("not a document of Office")),
    };
    // One that needs a password is no archive, which is told below.
    if matches!(kind, FileKind::Docx | FileKind::Xlsx | FileKind::Pptx) && looks(source.content) == Looks::Zip
    {
        archive::check(kind, source.content, builder.limits)?;
    }
    match undoc::detect_format_from_bytes(source.content) {
        Ok(found) if found != format => {
            return Err(ExtractError::unsupported(format!(
                "the file is said to be `{}` and is a {found}",
                kind.media_type()
            )));
        }
        Ok(_) => {}
        Err(error) => return Err(failed(&error)),
    }
    let mut document = undoc::parse_bytes(source.content).map_err(|error| failed(&error))?;
    for section in &mut document.sections {
        if kind == FileKind::Xlsx {
            section.name = section.name.take().map(unescaped);
        }
        section.content.iter_mut().for_each(part_at_breaks);
        section.notes.iter_mut().flatten().for_each(part_runs);
    }
    describe(&document.metadata, builder);
    let options = options();
    match part {
        None => {
            let text = to_markdown(&document, &options).map_err(|error| failed(&error))?;
            builder.push(text.trim())?;
        }
        Some(part) => sections(part, &document, &options, builder)?,
    }
    Ok(Markup::Markdown)
}

fn options() -> RenderOptions {
    RenderOptions {
        include_images: false,
        max_heading_level: 6,
        preserve_line_breaks: true,
        ..RenderOptions::default()
    }
}

/// The name of a sheet as it is seen: it comes as it stands in the attribute.
fn unescaped(name: String) -> String {
    match quick_xml::escape::unescape(&name) {
        Ok(plain) => plain.into_owned(),
        Err(_) => name,
    }
}

/// Keeps words apart that stand on either side of a break: a page ends no less than a line does, and a heading, which has
/// one line in Markdown, has a space.
fn part_at_breaks(block: &mut Block) {
    match block {
        Block::Paragraph(paragraph) => part_runs(paragraph),
        Block::Table(table) => part_cells(table),
        Block::Note { content, .. } => content.iter_mut().for_each(part_runs),
        Block::PageBreak | Block::SectionBreak | Block::Image { .. } => {}
    }
}

fn part_cells(table: &mut Table) {
    for cell in table.rows.iter_mut().flat_map(|row| &mut row.cells) {
        cell.content.iter_mut().for_each(part_runs);
        cell.nested_tables.iter_mut().for_each(part_cells);
    }
}

fn part_runs(paragraph: &mut Paragraph) {
    let is_heading = paragraph.heading != HeadingLevel::None;
    for run in &mut paragraph.runs {
        let breaks = std::mem::take(&mut run.page_break) || run.line_break;
        run.line_break = breaks && !is_heading;
        if breaks && is_heading {
            run.text.push(' ');
        }
        // A vertical tab is the line break of a title in a presentation.
        if run.text.contains('\u{B}') {
            run.text = run.text.replace('\u{B}', " ");
        }
    }
}

fn sections(
    part: PartKind,
    document: &undoc::Document,
    options: &RenderOptions,
    builder: &mut Builder<'_>,
) -> Result<(), ExtractError> {
    let count = document.sections.len() as u64;
    if count > builder.limits.pages {
        return Err(ExtractError::limit(Limit::Pages, builder.limits.pages, count));
    }
    let names = HashMap::new();
    for (number, section) in (1..).zip(&document.sections) {
        // The name stands in the part, and the renderer's rule between two sections divides nothing here.
        let mut section = section.clone();
        let name = section.name.take().filter(|name| !name.trim().is_empty());
        let text = render_section_to_string(&section, 0, document.format, options, &names);
        builder.part(part, number, name, &text)?;
    }
    Ok(())
}

fn describe(metadata: &undoc::Metadata, builder: &mut Builder<'_>) {
    builder.titled(metadata.title.as_deref());
    builder.note("author", metadata.author.as_deref());
    builder.note("subject", metadata.subject.as_deref());
    builder.note("description", metadata.description.as_deref());
    builder.note("keywords", Some(&metadata.keywords.join(", ")));
    builder.note("created", metadata.created.as_deref());
    builder.note("modified", metadata.modified.as_deref());
    builder.note("application", metadata.application.as_deref());
}

fn failed(error: &undoc::Error) -> ExtractError {
    // An archive whose parts unpack to more than they say is told by this word alone.
    if error.to_string().contains("decompression bomb") {
        return ExtractError::LimitExceeded { limit: Limit::ArchiveRatio, allowed: PART_RATIO, value: None };
    }
    match error.kind() {
        ErrorKind::Encrypted => ExtractError::Encrypted,
        ErrorKind::UnsupportedFormat | ErrorKind::UnknownFormat => {
            ExtractError::unsupported(error.to_string())
        }
        // The rest tells which piece of the file is wrong; the list may grow.
        _piece => ExtractError::parse(error),
    }
}
