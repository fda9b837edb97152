//! Preserved content on its way in: what an element has that its model type has no member for.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::Reader;
use crate::mapping::document::root_name;
use crate::mapping::{Vocabulary, order, preserved, usual_prefix};
use crate::text::escape_attribute;
use crate::{Attribute, COMMENT, El, Ns};
use std::borrow::Cow;

/// Unmapped content kept for one element.
#[derive(Debug, Default)]
pub(super) struct Unmapped<'s> {
    pub(super) attributes: Vec<(usize, &'s str, &'s str)>,
    pub(super) declarations: Vec<(&'s str, String)>,
    pub(super) children: Vec<(usize, Cow<'s, str>)>,
    pub(super) markers: Vec<(&'static str, String)>,
    pub(super) inner: Option<&'s str>,
}

impl Unmapped<'_> {
    /// Text alone is kept with the mark that says so.
    pub(super) fn is_empty(&self) -> bool {
        self.attributes.is_empty()
            && self.children.is_empty()
            && self.markers.is_empty()
            && self.declarations.is_empty()
    }
}

impl<'s, V: Vocabulary> Reader<'s, V> {
    /// Keeps character data where the standard has none.
    pub(super) fn keep_stray(&mut self, text: &str) {
        self.ranks.push(order::OTHER);
        let own = usual_prefix::<V>(V::OWN);
        self.keep_xml(usize::MAX, Cow::Owned(format!("<{own}:text>{}</{own}:text>", text.trim())));
    }

    /// Preserves an attribute of the element that is being read.
    pub fn keep_attribute(&mut self, attribute: &Attribute<'s>) {
        self.keep_ranked(usize::MAX, attribute);
        let ns = attribute.ns;
        if self.muted == 0 && ns != Ns::NONE && ns != Ns::XML && !V::knows(ns) {
            V::preserves_attribute(self, attribute.name);
        }
    }

    /// Preserves an attribute at its place among those of the row.
    pub(super) fn keep_ranked(&mut self, rank: usize, attribute: &Attribute<'s>) {
        let Attribute { name, raw, ns, .. } = *attribute;
        let prefix = name.split_once(':').map_or("", |(prefix, _)| prefix);
        let uri = self.tree.uri(ns);
        let bound =
            prefix.is_empty() || prefix == "xml" || self.bound.get(prefix).is_some_and(|own| own == uri);
        let declaration = (!bound).then(|| (prefix, uri.to_owned()));
        if let Some(frame) = self.frames.last_mut() {
            let keep = frame.keep.get_or_insert_default();
            keep.attributes.push((rank, name, raw));
            if let Some(declaration) = declaration
                && !keep.declarations.contains(&declaration)
            {
                keep.declarations.push(declaration);
            }
        }
    }

    /// Preserves a child at its place among those of the row.
    pub(super) fn keep_child(&mut self, rank: usize, child: El) {
        let fragment = self.tree.fragment(child);
        self.keep_xml(rank, fragment);
        if self.muted == 0 && self.tree.part(child).kind != COMMENT {
            V::preserves_child(self, child);
        }
    }

    /// Keeps XML text as a child of the element that is being read.
    pub fn keep_xml(&mut self, rank: usize, xml: Cow<'s, str>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.keep.get_or_insert_default().children.push((rank, xml));
        }
    }

    /// Leaves a note for the writer at the element that is being read.
    pub fn mark(&mut self, name: &'static str, value: String) {
        if let Some(frame) = self.frames.last_mut() {
            frame.keep.get_or_insert_default().markers.push((name, value));
        }
    }

    /// Ends an element: what was kept of it becomes a fragment.
    pub fn leave(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        if frame.keep.as_ref().is_none_or(|keep| keep.is_empty()) || self.muted > 0 {
            self.frames.pop();
            return;
        }
        let address = self.address();
        if let Some(keep) = self.frames.pop().and_then(|frame| frame.keep) {
            let fragment = fragment(usual_prefix::<V>(V::OWN), &address, *keep);
            self.preserved_content.push((address, fragment));
        }
    }

    /// Address for the preserved content of the element that is being read.
    fn address(&mut self) -> String {
        let with_id = self.frames.iter().rposition(|frame| frame.addressable);
        let mut address = match with_id {
            Some(index) => self.frames[index].id.as_deref().unwrap_or_default().to_owned(),
            None => root_name::<V>().to_owned(),
        };
        for index in with_id.unwrap_or(0) + 1..self.frames.len() {
            let (parent, el) = (self.frames[index - 1].el, self.frames[index].el);
            let local = self.tree.part(el).local();
            let ordinal = self.ordinal(parent, el, local);
            address.push('/');
            address.push_str(local);
            address.push('[');
            address.push_str(itoa::Buffer::new().format(ordinal));
            address.push(']');
        }
        address
    }

    /// Number of entered siblings of the same name before the element. Elements are left in document order,
    /// so that counting goes on from the last one asked for.
    fn ordinal(&mut self, parent: El, el: El, local: &'s str) -> u32 {
        let first = parent + 1;
        let (mut at, mut count) = self.ordinals.get(&(parent, local)).copied().unwrap_or((first, 0));
        if at > el {
            (at, count) = (first, 0);
        }
        while at != el {
            let entered = self.entered.get(at as usize).copied().unwrap_or_default();
            count += u32::from(entered && self.tree.local(at) == local);
            let Some(next) = self.tree.next(at) else { break };
            at = next;
        }
        self.ordinals.insert((parent, local), (el, count));
        count
    }
}

/// The fragment of one element's preserved content.
fn fragment(own: &str, address: &str, mut keep: Unmapped<'_>) -> String {
    keep.attributes.sort_by_key(|(rank, ..)| *rank);
    keep.children.sort_by_key(|(rank, _)| *rank);
    let mut out = String::with_capacity(128);
    for part in ["<", own, ":", preserved::ELEMENT, " for=\""] {
        out.push_str(part);
    }
    escape_attribute(address, &mut out);
    out.push('"');
    for (prefix, uri) in &keep.declarations {
        for part in [" xmlns:", prefix, "=\""] {
            out.push_str(part);
        }
        escape_attribute(uri, &mut out);
        out.push('"');
    }
    for (name, value) in &keep.markers {
        for part in [" ", own, ":", name, "=\""] {
            out.push_str(part);
        }
        escape_attribute(value, &mut out);
        out.push('"');
    }
    for (_, name, raw) in &keep.attributes {
        let escaped = if *name == "for" || name.starts_with("for.") { "for." } else { "" };
        let quote = if raw.contains('"') { "'" } else { "\"" };
        for part in [" ", escaped, name, "=", quote, raw, quote] {
            out.push_str(part);
        }
    }
    if keep.inner.is_none() && keep.children.is_empty() {
        out.push_str("/>");
        return out;
    }
    out.push('>');
    match keep.inner {
        Some(inner) => out.push_str(inner),
        None => keep.children.iter().for_each(|(_, child)| out.push_str(child)),
    }
    for part in ["</", own, ":", preserved::ELEMENT, ">"] {
        out.push_str(part);
    }
    out
}
