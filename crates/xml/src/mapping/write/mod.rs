//! The writer: model types as elements by their rows, with their preserved content put back.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::prefixes::{Prefixes, own_name};
use super::preserved::{Place, Preserved, PreservedChild, PreservedContent};
use super::row::{Attr, Leaf, Lexis, Row};
use super::{Vocabulary, order};
use crate::hash::HashSet;
use crate::text::{attribute_value, content_text, escape_attribute, escape_text};
use crate::{Document, Kind, Ns, XmlError};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

mod document;
mod extensions;
mod preserve;

pub use document::{Origin, Written};

/// Error of a model that cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// A fragment of XML text within the model is not well-formed.
    #[error("{path} is not well-formed XML: {source}")]
    Fragment {
        /// The element or member that holds the fragment.
        path: String,
        /// Error of the fragment's parser.
        source: XmlError,
    },
    /// A member that becomes an XML name or character data holds what XML cannot express.
    #[error("{path} holds a character that XML 1.0 cannot express")]
    Character {
        /// The element that holds it.
        path: String,
    },
}

#[derive(Debug)]
struct Frame<'d> {
    kind: Kind,
    place: Option<Place>,
    /// Children by name, where anything is kept below the place.
    counts: Vec<(&'static str, u32)>,
    preserved: Option<Rc<Preserved<'d>>>,
    /// Whether the kept extension elements were written with the product's own data.
    extensions_taken: bool,
    /// Start and kind of each child, where the children are to be put into another order.
    children: Option<Vec<(usize, Kind)>>,
}

/// Writes one model.
pub struct Writer<'d, V: Vocabulary> {
    /// Notes of the format.
    pub state: V::Writing<'d>,
    out: String,
    prefixes: Prefixes,
    around: Vec<(&'d str, &'d str)>,
    target_prefixes: Vec<String>,
    preserved_content: PreservedContent<'d>,
    /// Ids that several elements have, so that they are no addresses.
    shared_ids: HashSet<String>,
    frames: Vec<Frame<'d>>,
    open: bool,
    used: Vec<Ns>,
    /// Whether whole numbers of the diagrams are written with a fraction.
    decimals: bool,
    error: Option<WriteError>,
}

impl<V: Vocabulary> fmt::Debug for Writer<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("frames", &self.frames).finish_non_exhaustive()
    }
}

impl<'d, V: Vocabulary> Writer<'d, V> {
    fn use_ns(&mut self, ns: Ns) {
        if !self.used.contains(&ns) {
            self.used.push(ns);
        }
    }

    /// Writes a model type as an element of this kind.
    pub fn element<T: Default>(&mut self, kind: Kind, row: &'static Row<V, T>, model: &T) {
        let id = row.id(model);
        self.enter(kind, id.as_deref());
        self.contents(row, model);
        self.leave();
    }

    /// Starts an element; its attributes may follow.
    pub fn enter(&mut self, kind: Kind, id: Option<&str>) {
        self.start_child(kind);
        self.out.push('<');
        self.push_name(kind);
        self.open = true;
        let place = self.place(kind, id);
        let preserved = place.and_then(|place| self.preserved_content.take(place));
        let children = preserved.as_ref().and_then(|preserved| preserved.marker("order")).map(|_| Vec::new());
        self.frames.push(Frame {
            kind,
            place,
            counts: Vec::new(),
            preserved,
            extensions_taken: false,
            children,
        });
    }

    /// Appends the name of an element with its prefix.
    fn push_name(&mut self, kind: Kind) {
        let Some((ns, name)) = V::element(kind) else { return };
        let ns = V::written_as(&self.state, ns);
        if !self.used.contains(&ns) {
            self.used.push(ns);
        }
        let prefix = self.prefixes.element(ns);
        if !prefix.is_empty() {
            self.out.push_str(prefix);
            self.out.push(':');
        }
        self.out.push_str(name);
    }

    /// Place under which preserved content of an element would be kept.
    fn place(&mut self, kind: Kind, id: Option<&str>) -> Option<Place> {
        // Counted whether the element has an id or not.
        let below = match self.frames.last_mut() {
            Some(Frame { place: Some(place), counts, .. }) if self.preserved_content.has_below(*place) => {
                let local = V::element(kind).map_or("", |(_, name)| name);
                let ordinal = match counts.iter_mut().find(|(own, _)| *own == local) {
                    Some((_, count)) => {
                        *count += 1;
                        *count - 1
                    }
                    None => {
                        counts.push((local, 1));
                        0
                    }
                };
                self.preserved_content.below(*place, local, ordinal)
            }
            _ => None,
        };
        match id {
            Some(id) if !id.contains('/') && (self.frames.is_empty() || !self.shared_ids.contains(id)) => {
                self.preserved_content.of_id(id)
            }
            _ => below,
        }
    }

    /// Starts a child of this kind on a line of its own.
    fn start_child(&mut self, kind: Kind) {
        self.end_start_tag();
        if let Some(Frame { children: Some(children), .. }) = self.frames.last_mut() {
            children.push((self.out.len(), kind));
        }
        self.indent();
    }

    fn end_start_tag(&mut self) {
        if self.open {
            self.out.push('>');
            self.open = false;
        }
    }

    fn indent(&mut self) {
        const SPACES: &str = "\n                                ";
        let depth = self.frames.len();
        let end = SPACES.len().min(1 + 2 * depth);
        self.out.push_str(&SPACES[..end]);
        for _ in end..1 + 2 * depth {
            self.out.push(' ');
        }
    }

    /// Ends the element.
    pub fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        if self.open {
            self.out.push_str("/>");
            self.open = false;
            return;
        }
        self.indent();
        self.end_tag(frame.kind);
    }

    fn end_tag(&mut self, kind: Kind) {
        self.out.push_str("</");
        self.push_name(kind);
        self.out.push('>');
    }

    /// Preserved content that is put back at the current element.
    #[must_use]
    pub fn preserved(&self) -> Option<&Rc<Preserved<'d>>> {
        self.frames.last().and_then(|frame| frame.preserved.as_ref())
    }

    fn raw_attribute_tail(&mut self, name: &str, value: &str) {
        self.out.push_str(name);
        self.out.push_str("=\"");
        escape_attribute(value, &mut self.out);
        self.out.push('"');
    }

    /// Writes an attribute.
    pub fn attribute(&mut self, name: &str, value: &str) {
        self.out.push(' ');
        self.raw_attribute_tail(name, value);
    }

    /// Writes the attribute `xsi:type`, unless it is put back.
    pub fn instance_type(&mut self, value: &str) {
        let name = self.prefixes.xsi_type().to_owned();
        if self.preserved().is_none_or(|preserved| preserved.attribute(&name).is_none()) {
            self.use_ns(V::XSI);
            self.attribute(&name, value);
        }
    }

    /// Writes an attribute whose value is escaped already.
    fn raw_attribute(&mut self, name: &str, raw: &str) {
        let quote = if raw.contains('"') { '\'' } else { '"' };
        self.out.push(' ');
        self.out.push_str(name);
        self.out.push('=');
        self.out.push(quote);
        self.out.push_str(raw);
        self.out.push(quote);
    }

    /// Writes the attributes and children of a model type within its element.
    pub fn contents<T: Default>(&mut self, row: &'static Row<V, T>, model: &T) {
        let Some(preserved) = self.preserved().cloned() else {
            for spec in row.attributes.iter().flat_map(|part| part.iter()) {
                if let Some(value) = (spec.get)(model) {
                    self.spec_attribute(spec, &value);
                }
            }
            for child in row.children.iter().flat_map(|part| part.iter()) {
                if let Some(write) = child.write {
                    write(self, model);
                }
            }
            return;
        };
        for spec in row.attributes.iter().flat_map(|part| part.iter()) {
            let value = (spec.get)(model);
            match preserved.attribute(spec.name) {
                Some(raw) if self.same(spec, raw, value.as_deref()) => self.raw_attribute(spec.name, raw),
                _ => {
                    if let Some(value) = value {
                        self.spec_attribute(spec, &value);
                    }
                }
            }
        }
        self.preserved_attributes(&preserved, |name| row.attribute(name).is_some());
        let mut ranked: Vec<(u16, &PreservedChild<'_>)> =
            preserved.children.iter().map(|child| (row.rank(child.kind), child)).collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        let mut rest = ranked.as_slice();
        for (rank, child) in row.children.iter().flat_map(|part| part.iter()).enumerate() {
            if let Some(write) = child.write {
                write(self, model);
            }
            while let Some((own, kept)) = rest.first()
                && *own <= order::short(rank)
            {
                rest = &rest[1..];
                if !self.took_extensions(child.matches) {
                    self.kept(kept);
                }
            }
        }
        for (_, kept) in rest {
            self.kept(kept);
        }
        if let Some(note) = preserved.marker("order") {
            self.arrange(row, note);
        }
    }

    /// Writes an attribute of a row.
    fn spec_attribute<T>(&mut self, spec: &Attr<T>, value: &str) {
        self.out.push(' ');
        self.out.push_str(spec.name);
        self.out.push_str("=\"");
        match spec.lexis {
            Lexis::Text | Lexis::Reference => escape_attribute(value, &mut self.out),
            Lexis::Typed => self.out.push_str(value),
            Lexis::Number => {
                self.out.push_str(value);
                if self.decimals && !value.contains('.') {
                    self.out.push_str(".0");
                }
            }
        }
        self.out.push('"');
    }

    /// Puts the children of the current element into the order that the reader noted.
    fn arrange<T>(&mut self, row: &Row<V, T>, note: &str) {
        let end = self.out.len();
        let children = self.frames.last_mut().and_then(|frame| frame.children.as_mut()).map(std::mem::take);
        let Some(children) = children.filter(|children| !children.is_empty()) else { return };
        let ranks: Vec<u16> = children.iter().map(|(_, kind)| row.rank(*kind)).collect();
        let starts = children.iter().map(|(start, _)| *start);
        let ends = children.iter().skip(1).map(|(start, _)| *start).chain([end]);
        let parts: Vec<Range<usize>> = starts.zip(ends).map(|(start, end)| start..end).collect();
        let first = parts.first().map_or(end, |part| part.start);
        let arranged = order::rearranged(&self.out, &parts, &order::arrange(row, note, &ranks));
        self.out.truncate(first);
        self.out.push_str(&arranged);
    }

    fn same<T: Default>(&self, spec: &Attr<T>, raw: &str, value: Option<&str>) -> bool {
        let text = attribute_value(raw);
        let text = if spec.lexis == Lexis::Reference { self.own_name(text) } else { text };
        let mut probe = T::default();
        (spec.set)(&mut probe, text);
        (spec.get)(&probe).as_deref() == value
    }

    fn own_name<'v>(&self, value: Cow<'v, str>) -> Cow<'v, str> {
        own_name(value, |prefix| self.target_prefixes.iter().any(|own| own == prefix))
    }

    /// Writes XML text that is known to be well-formed on a line of its own.
    pub fn raw(&mut self, kind: Kind, xml: &str) {
        self.start_child(kind);
        self.out.push_str(xml);
    }

    /// Writes XML text of a member, after a look at its form.
    pub fn fragment(&mut self, kind: Kind, xml: &str) {
        if let Err(source) = Document::<V>::parse_within(xml, &self.around, V::LIMITS) {
            let path = self.frames.last().and_then(|frame| V::element(frame.kind));
            let path = path.map(|(_, name)| name.to_owned()).unwrap_or_default();
            self.error.get_or_insert(WriteError::Fragment { path, source });
            return;
        }
        self.raw(kind, xml);
    }

    /// Writes an element with character data.
    pub fn leaf(&mut self, kind: Kind, style: Leaf, text: &str, language: Option<&str>) {
        self.enter(kind, None);
        let preserved = self.preserved().cloned();
        let marker =
            |name: &str| preserved.as_ref().is_some_and(|preserved| preserved.marker(name).is_some());
        if style == Leaf::Expression && V::EXPRESSION_TYPE.is_some() && !marker("plain") {
            let known =
                preserved.as_ref().and_then(|preserved| preserved.attribute(self.prefixes.xsi_type()));
            if known.is_none() {
                self.use_ns(V::XSI);
                self.out.push(' ');
                self.out.push_str(&self.prefixes.xsi_type);
                self.out.push_str("=\"");
                self.out.push_str(&self.prefixes.expression_type);
                self.out.push('"');
            }
        }
        if let Some(language) = language {
            self.attribute("language", language);
        }
        if let Some(preserved) = &preserved {
            self.preserved_attributes(preserved, |name| name == "language" && language.is_some());
        }
        let kept = preserved.as_ref().filter(|preserved| preserved.marker("content").is_some());
        let kept = kept.map(|preserved| preserved.inner.as_ref()).filter(|inner| {
            let value = content_text(inner);
            match style {
                Leaf::Reference => self.own_name(Cow::Borrowed(value.trim())) == text,
                Leaf::Text | Leaf::Expression => value == text,
            }
        });
        if text.is_empty() && kept.is_none() {
            self.leave();
            return;
        }
        self.end_start_tag();
        match kept {
            Some(inner) => self.out.push_str(inner),
            None => escape_text(text, &mut self.out),
        }
        self.frames.pop();
        self.end_tag(kind);
    }

    /// The prefixes around fragments.
    #[must_use]
    pub fn around(&self) -> &[(&'d str, &'d str)] {
        &self.around
    }
}
