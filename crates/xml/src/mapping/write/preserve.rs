//! Preserved content on its way out: put back where it was read.

use super::Writer;
use crate::Kind;
use crate::mapping::preserved::{Preserved, PreservedChild};
use crate::mapping::row::Match;
use crate::mapping::{TEXT, Vocabulary};
use crate::text::escape_attribute;

impl<'d, V: Vocabulary> Writer<'d, V> {
    /// Puts back a child.
    pub(super) fn kept(&mut self, child: &PreservedChild<'_>) {
        if child.kind == TEXT {
            self.start_child(TEXT);
            self.out.push_str(child.inner);
        } else {
            self.raw(child.kind, &child.xml);
        }
    }

    /// Whether the extension elements kept for the current element were written with its own data.
    pub(super) fn took_extensions(&self, matches: Match<V::Choice>) -> bool {
        matches == Match::Kind(V::EXTENSION_ELEMENTS)
            && self.frames.last().is_some_and(|frame| frame.extensions_taken)
    }

    /// Whether the reader left a note at the current element.
    #[must_use]
    pub fn marked(&self, name: &str) -> bool {
        self.preserved().is_some_and(|preserved| preserved.marker(name).is_some())
    }

    /// Puts back the attributes of an element that has no attributes of its own.
    pub fn kept_attributes(&mut self) {
        if let Some(preserved) = self.preserved().cloned() {
            self.preserved_attributes(&preserved, |_| false);
        }
    }

    pub(super) fn preserved_attributes(&mut self, preserved: &Preserved<'_>, own: impl Fn(&str) -> bool) {
        for (prefix, uri) in &preserved.declarations {
            self.attribute(&format!("xmlns:{prefix}"), uri);
        }
        for (name, raw) in &preserved.attributes {
            if !own(name) {
                self.raw_attribute(name, raw);
            }
        }
    }

    /// Appends the attributes that are put back at the current element.
    pub fn put_attributes(&self, out: &mut String) {
        if let Some(preserved) = self.preserved() {
            preserved.put_attributes(out);
        }
    }

    /// Preserved content that is put back at a child of the current element that will be written: by its id
    /// or, without one, as the first of its kind.
    #[must_use]
    pub fn preserved_below(&self, id: Option<&str>, kind: Kind) -> Option<&Preserved<'d>> {
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            return self.preserved_content.peek(id);
        }
        let (_, name) = V::element(kind)?;
        let place = self.preserved_content.below(self.frames.last()?.place?, name, 0)?;
        self.preserved_content.at(place)
    }
}

impl Preserved<'_> {
    /// Appends the attributes as they are put back, with the declarations that they need.
    pub fn put_attributes(&self, out: &mut String) {
        for (prefix, uri) in &self.declarations {
            out.push_str(&format!(" xmlns:{prefix}=\""));
            escape_attribute(uri, out);
            out.push('"');
        }
        for (name, raw) in &self.attributes {
            let quote = if raw.contains('"') { '\'' } else { '"' };
            out.push_str(&format!(" {name}={quote}{raw}{quote}"));
        }
    }
}
