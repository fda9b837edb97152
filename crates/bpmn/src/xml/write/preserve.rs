//! Preserved content on its way out: put back where it was read.

use super::Writer;
use crate::model::Node;
use crate::xml::names::{TEXT, kind};
use crate::xml::preserved::{Preserved, PreservedChild};
use crate::xml::row::Match;
use crate::xml::text::escape_attribute;

impl Writer<'_> {
    /// Puts back a child.
    pub(in crate::xml) fn kept(&mut self, child: &PreservedChild<'_>) {
        if child.kind == TEXT {
            self.start_child(TEXT);
            self.out.push_str(child.inner);
        } else {
            self.raw(child.kind, &child.xml);
        }
    }

    /// Whether the extension elements kept for the current element were written with its own data.
    pub(in crate::xml) fn took_extensions(&self, matches: Match) -> bool {
        matches == Match::Kind(const { kind("extensionElements") })
            && self.frames.last().is_some_and(|frame| frame.extensions_taken)
    }

    /// Whether the reader left a note at the current element.
    pub(in crate::xml) fn marked(&self, name: &str) -> bool {
        self.preserved().is_some_and(|preserved| preserved.marker(name).is_some())
    }

    /// Puts back the attributes of an element that has no attributes of its own.
    pub(in crate::xml) fn kept_attributes(&mut self) {
        if let Some(preserved) = self.preserved().cloned() {
            self.preserved_attributes(&preserved, |_| false);
        }
    }

    pub(in crate::xml) fn preserved_attributes(
        &mut self,
        preserved: &Preserved<'_>,
        own: impl Fn(&str) -> bool,
    ) {
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
    pub(in crate::xml) fn put_attributes(&self, out: &mut String) {
        if let Some(preserved) = self.preserved() {
            put_back(preserved, out);
        }
    }

    /// Appends what is put back at the loop marker of the node that is being written, as an element `marker`.
    pub(in crate::xml) fn put_marker(&self, node: &Node, out: &mut String) {
        let activity = node.bpmn.as_ref().and_then(|bpmn| bpmn.activity.as_ref());
        let Some(own) = activity.and_then(|activity| activity.r#loop.as_deref()) else { return };
        let preserved = match (own.id.as_deref().filter(|id| !id.is_empty()), self.frames.last()) {
            (Some(id), _) => self.preserved_content.peek(id),
            (None, Some(frame)) => {
                let below =
                    |place| self.preserved_content.below(place, "multiInstanceLoopCharacteristics", 0);
                frame.place.and_then(below).and_then(|place| self.preserved_content.at(place))
            }
            (None, None) => None,
        };
        let Some(preserved) = preserved else { return };
        out.push_str("<marker");
        put_back(preserved, out);
        out.push('>');
        for child in preserved.children.iter().filter(|child| child.kind == kind("extensionElements")) {
            out.push_str(&child.xml);
        }
        out.push_str("</marker>");
    }
}

fn put_back(preserved: &Preserved, out: &mut String) {
    for (prefix, uri) in &preserved.declarations {
        out.push_str(&format!(" xmlns:{prefix}=\""));
        escape_attribute(uri, out);
        out.push('"');
    }
    for (name, raw) in &preserved.attributes {
        let quote = if raw.contains('"') { '\'' } else { '"' };
        out.push_str(&format!(" {name}={quote}{raw}{quote}"));
    }
}
