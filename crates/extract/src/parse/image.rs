//! Images, read by OCR.

use super::{Read, Source};
use crate::builder::Builder;
use crate::document::{Markup, PartKind};
use crate::error::ExtractError;
use crate::ocr::Engine;

pub(super) fn read(source: Source<'_>, builder: &mut Builder<'_>) -> Read {
    let Some(engine) = Engine::find(&source.request.ocr) else {
        return Err(ExtractError::unsupported("images are read by OCR, which is off or not installed"));
    };
    let text = engine.read(source.content).map_err(ExtractError::parse)?;
    if text.trim().is_empty() {
        return Err(ExtractError::NoText { hint: Some("OCR found no words in the image".to_owned()) });
    }
    // A file of several images has a form feed after each.
    for (number, page) in (1..).zip(text.split('\u{c}')) {
        builder.part(PartKind::Page, number, None, page)?;
    }
    Ok(Markup::Plain)
}
