//! PDF, page by page.

use std::ops::ControlFlow;

use unpdf::render::to_markdown;
use unpdf::{
    ErrorKind, ErrorMode, PageSelection, PageStreamOptions, ParseEvent, ParseOptions, PdfParser,
    RenderOptions,
};

use super::{Read, Source};
use crate::builder::Builder;
use crate::document::{Markup, PartKind};
use crate::error::{ExtractError, Limit};
use crate::ocr::Engine;

/// Text of a page, and whether it shows an image and no text.
struct Page {
    number: u32,
    text: String,
    scanned: bool,
}

pub(super) fn read(source: Source<'_>, builder: &mut Builder<'_>) -> Read {
    let parser = PdfParser::from_bytes_with_options(source.content, ParseOptions::new().sequential())
        .map_err(|error| failed(&error))?;
    let count = u64::from(parser.page_count());
    if count > builder.limits.pages {
        return Err(ExtractError::limit(Limit::Pages, builder.limits.pages, count));
    }
    let mut pages = pages(&parser, builder)?;
    let scanned: Vec<u32> = pages.iter().filter(|page| page.scanned).map(|page| page.number).collect();
    if !scanned.is_empty() {
        recognise(&parser, source, &scanned, &mut pages, builder)?;
    }
    for page in &pages {
        builder.part(PartKind::Page, page.number, None, &page.text)?;
    }
    if !has_end(source.content) {
        let message =
            "the file ends without the table of its objects, as one that was cut off: pages may be missing";
        builder.warnings.push(message.to_owned());
    }
    builder.note("pages", Some(&count.to_string()));
    if pages.iter().all(|page| page.text.trim().is_empty()) {
        return Err(no_text(&scanned, count, source));
    }
    Ok(Markup::Markdown)
}

/// Bytes at the end of a file among which the place of its table stands (ISO 32000-1, 7.5.5; readers look at more than the
/// last line).
const END: usize = 2048;

/// Whether a file ends as a whole one does.
fn has_end(content: &[u8]) -> bool {
    let end = content.get(content.len().saturating_sub(END)..).unwrap_or(content);
    end.windows(9).any(|found| found == b"startxref")
}

fn no_text(scanned: &[u32], count: u64, source: Source<'_>) -> ExtractError {
    let hint = if count == 0 {
        Some("it has no pages that can be read; it may be cut off".to_owned())
    } else if scanned.is_empty() {
        None
    } else if Engine::find(&source.request.ocr).is_some() {
        Some("its pages are images in which OCR found no words".to_owned())
    } else {
        Some("its pages are images, and OCR is off or not installed".to_owned())
    };
    ExtractError::NoText { hint }
}

/// Text of every page, in order.
fn pages(parser: &PdfParser, builder: &mut Builder<'_>) -> Result<Vec<Page>, ExtractError> {
    let options = RenderOptions::default();
    let limit = builder.limits.characters;
    let (mut pages, mut characters, mut problem) = (Vec::new(), 0_u64, None);
    let streamed = parser.for_each_page(stream(PageSelection::All, false), |event| {
        match event {
            ParseEvent::DocumentStart { metadata, .. } => describe(&metadata, builder),
            ParseEvent::PageParsed(page) => {
                if page.undecodable_content_streams > 0 || page.suppressed_text_runs > 0 {
                    builder.warnings.push(format!("page {}: some of its text can't be decoded", page.number));
                }
                match render(page, &options) {
                    Ok(page) => {
                        characters += page.text.chars().count() as u64;
                        pages.push(page);
                    }
                    Err(error) => problem = Some(error),
                }
                if characters > limit {
                    problem = Some(ExtractError::limit(Limit::Characters, limit, characters));
                }
            }
            ParseEvent::PageFailed { page, error } => {
                builder.warnings.push(format!("page {page}: {error}"));
            }
            ParseEvent::Progress { .. } | ParseEvent::DocumentEnd { .. } => {}
        }
        if problem.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if let Some(problem) = problem {
        return Err(problem);
    }
    streamed.map_err(|error| failed(&error))?;
    Ok(pages)
}

fn render(page: unpdf::Page, options: &RenderOptions) -> Result<Page, ExtractError> {
    let number = page.number;
    let images = page.image_op_count > 0;
    let mut document = unpdf::Document::new();
    document.add_page(page);
    let rendered = to_markdown(&document, options).map_err(|error| failed(&error))?;
    let text = without_images(rendered.trim());
    let scanned = images && text.trim().is_empty();
    Ok(Page { number, text, scanned })
}

/// A text without the lines that are references to images, which nobody wrote to files.
fn without_images(text: &str) -> String {
    if !text.contains("![") {
        return text.to_owned();
    }
    let lines = text.lines().filter(|line| {
        let line = line.trim();
        !(line.starts_with("![") && line.ends_with(')') && !line.contains(") "))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Reads the pages that are images, where OCR is to be had.
fn recognise(
    parser: &PdfParser,
    source: Source<'_>,
    scanned: &[u32],
    pages: &mut [Page],
    builder: &mut Builder<'_>,
) -> Result<(), ExtractError> {
    let Some(engine) = Engine::find(&source.request.ocr) else {
        builder
            .warnings
            .push(format!("{} pages are images and were not read: there is no OCR", scanned.len()));
        return Ok(());
    };
    let most = usize::try_from(builder.limits.ocr_pages).unwrap_or(usize::MAX);
    if scanned.len() > most {
        let left = scanned.len() - most;
        builder.warnings.push(format!("{left} pages are images beyond the {most} that OCR reads"));
    }
    let chosen: Vec<u32> = scanned.iter().copied().take(most).collect();
    let streamed = parser.for_each_page(stream(PageSelection::Pages(chosen), true), |event| {
        match event {
            ParseEvent::PageParsed(page) => {
                if let Some(target) = pages.iter_mut().find(|target| target.number == page.number) {
                    target.text = words(&engine, &page, builder);
                }
            }
            ParseEvent::PageFailed { page, error } => {
                builder.warnings.push(format!("page {page}: its images can't be read: {error}"));
            }
            ParseEvent::DocumentStart { .. }
            | ParseEvent::Progress { .. }
            | ParseEvent::DocumentEnd { .. } => {}
        }
        ControlFlow::Continue(())
    });
    streamed.map(|_quality| ()).map_err(|error| failed(&error))
}

/// Words that OCR reads in the images of a page.
fn words(engine: &Engine, page: &unpdf::Page, builder: &mut Builder<'_>) -> String {
    let mut found = Vec::new();
    let unread = page.images.iter().find(|(_, image)| !Engine::reads(&image.mime_type));
    if let Some((_, image)) = unread {
        let (number, kind) = (page.number, &image.mime_type);
        builder.warnings.push(format!("page {number}: OCR does not read images of the type `{kind}`"));
    }
    for (_, image) in page.images.iter().filter(|(_, image)| Engine::reads(&image.mime_type)) {
        match engine.read(&image.data) {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => found.push(text.trim().to_owned()),
            Err(reason) => builder.warnings.push(format!("page {}: OCR failed: {reason}", page.number)),
        }
    }
    found.join("\n\n")
}

fn stream(pages: PageSelection, images: bool) -> PageStreamOptions {
    PageStreamOptions {
        error_mode: ErrorMode::Lenient,
        extract_text: true,
        extract_resources: images,
        pages,
        parallel: false,
        window_size: 1,
        ..PageStreamOptions::default()
    }
}

fn describe(metadata: &unpdf::Metadata, builder: &mut Builder<'_>) {
    builder.titled(metadata.title.as_deref());
    builder.note("author", metadata.author.as_deref());
    builder.note("subject", metadata.subject.as_deref());
    builder.note("keywords", metadata.keywords.as_deref());
    builder.note("application", metadata.creator.as_deref());
    builder.note("created", metadata.created.map(|at| at.to_rfc3339()).as_deref());
    builder.note("modified", metadata.modified.map(|at| at.to_rfc3339()).as_deref());
}

fn failed(error: &unpdf::Error) -> ExtractError {
    match error.kind() {
        ErrorKind::Encrypted | ErrorKind::InvalidPassword => ExtractError::Encrypted,
        ErrorKind::UnknownFormat | ErrorKind::UnsupportedVersion => {
            ExtractError::unsupported(error.to_string())
        }
        ErrorKind::Other
        | ErrorKind::Io
        | ErrorKind::PdfParse
        | ErrorKind::Corrupted
        | ErrorKind::MissingObject
        | ErrorKind::FontDecode
        | ErrorKind::ImageExtract
        | ErrorKind::Render
        | ErrorKind::TextExtract
        | ErrorKind::PageOutOfRange
        | ErrorKind::InvalidPageRange
        | ErrorKind::ResourceNotFound
        | ErrorKind::Encoding
        | ErrorKind::RasterStopped => ExtractError::parse(error),
    }
}
