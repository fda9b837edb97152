//! Documents, workbooks and presentations of Office, old and new.

use std::collections::HashMap;

use undoc::render::{RenderOptions, render_section_to_string, to_markdown};
use undoc::{ErrorKind, FormatType};

use super::{Read, Source, archive};
use crate::builder::Builder;
use crate::document::{Markup, PartKind};
use crate::error::{ExtractError, Limit};
use crate::kind::FileKind;

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
    if matches!(kind, FileKind::Docx | FileKind::Xlsx | FileKind::Pptx) {
        archive::check(kind, source.content, builder.limits)?;
    }
    let document = undoc::parse_bytes(source.content).map_err(|error| failed(&error))?;
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
    RenderOptions { include_images: false, max_heading_level: 6, ..RenderOptions::default() }
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
    match error.kind() {
        ErrorKind::Encrypted => ExtractError::Encrypted,
        ErrorKind::UnsupportedFormat | ErrorKind::UnknownFormat => {
            ExtractError::unsupported(error.to_string())
        }
        // The rest tells which piece of the file is wrong; the list may grow.
        _piece => ExtractError::parse(error),
    }
}
