//! A document from its declaration to its end.

use super::{WriteError, Writer};
use crate::mapping::document::root_name;
use crate::mapping::prefixes::{Prefixes, qualified};
use crate::mapping::preserved::{Preserved, PreservedContent};
use crate::mapping::row::Row;
use crate::mapping::{Vocabulary, uri};
use crate::text::{control, expressible};
use std::collections::BTreeMap;

/// Origin of a document, beside its model: prefixes, preserved content, the root's id.
#[derive(Debug)]
pub struct Origin<'d> {
    /// The prefixes that the root binds.
    pub namespaces: &'d BTreeMap<String, String>,
    /// The prefixes around fragments, from [`surroundings`](crate::mapping::surroundings).
    pub around: Vec<(&'d str, &'d str)>,
    /// The preserved content, from [`collect`](crate::mapping::collect).
    pub preserved: PreservedContent<'d>,
    /// The model's own namespace, whose prefixes references may have.
    pub target_namespace: &'d str,
    /// The root's id.
    pub id: Option<&'d str>,
}

impl<'d> Origin<'d> {
    /// The value of a note that the reader left at the root.
    #[must_use]
    pub fn marker<V: Vocabulary>(&self, name: &str) -> Option<&str> {
        self.root::<V>()?.marker(name)
    }

    /// Preserved content that is put back at the root.
    #[must_use]
    pub fn root<V: Vocabulary>(&self) -> Option<&Preserved<'d>> {
        self.preserved.peek(self.address::<V>())
    }

    /// The address of the root's preserved content.
    fn address<V: Vocabulary>(&self) -> &'d str {
        self.id.filter(|id| !id.is_empty()).unwrap_or(root_name::<V>())
    }
}

/// A model as a document.
#[derive(Debug)]
pub struct Written<W> {
    /// The document, with its declaration, for UTF-8.
    pub xml: String,
    /// The addresses of preserved content that no element was written for, sorted.
    pub orphaned: Vec<String>,
    /// Notes of the format.
    pub state: W,
}

impl<'d, V: Vocabulary> Writer<'d, V> {
    /// Writes a model as a document; `own` writes the product's own attributes of the root.
    ///
    /// # Errors
    ///
    /// When the model holds XML fragments that are not well-formed, or characters that XML cannot express.
    pub fn document<T: Default>(
        origin: Origin<'d>,
        state: V::Writing<'d>,
        row: &'static Row<V, T>,
        model: &T,
        own: impl FnOnce(&mut Self),
    ) -> Result<Written<V::Writing<'d>>, WriteError> {
        let note = |name: &str| origin.marker::<V>(name).map(str::to_owned);
        let (prolog, epilog) = (note("prolog"), note("epilog"));
        let (namespaces, address) = (origin.namespaces, origin.address::<V>());
        let mut writer = Self::new(origin, state);
        writer.out.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
        writer.misc(prolog);
        writer.enter(V::ROOT, Some(address));
        for (prefix, uri) in namespaces {
            writer.out.push_str(if prefix.is_empty() { " xmlns" } else { " xmlns:" });
            writer.raw_attribute_tail(prefix, uri);
        }
        let declarations_at = writer.out.len();
        own(&mut writer);
        writer.contents(row, model);
        writer.leave();
        writer.misc(epilog);
        writer.out.push('\n');
        writer.finish(declarations_at)
    }

    fn new(origin: Origin<'d>, state: V::Writing<'d>) -> Self {
        let marker = |name: &str| origin.marker::<V>(name);
        let rebound: Vec<&str> = marker("rebound").unwrap_or_default().split_ascii_whitespace().collect();
        let prefixes = Prefixes::new::<V>(origin.namespaces, &rebound);
        let shared_ids = marker("sharedIds").and_then(|ids| serde_json::from_str(ids).ok());
        let decimals = marker("decimals").is_some();
        let target = origin.target_namespace;
        let own = origin.namespaces.iter().filter(|(prefix, uri)| !prefix.is_empty() && *uri == target);
        Self {
            state,
            out: String::with_capacity(64 * 1024),
            prefixes,
            target_prefixes: own.map(|(prefix, _)| prefix.clone()).collect(),
            shared_ids: shared_ids.unwrap_or_default(),
            decimals,
            around: origin.around,
            preserved_content: origin.preserved,
            frames: Vec::new(),
            open: false,
            used: Vec::new(),
            error: None,
        }
    }

    fn finish(mut self, declarations_at: usize) -> Result<Written<V::Writing<'d>>, WriteError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if !all_expressible(&self.out) {
            return Err(WriteError::Character { path: "definition".to_owned() });
        }
        let mut declarations = String::new();
        for (ns, element, attribute, missing) in &self.prefixes.known {
            if *missing && self.used.contains(ns) {
                let prefix = if *ns == V::XSI { attribute } else { element };
                declarations.push_str(&format!(" xmlns:{prefix}=\"{}\"", uri::<V>(*ns)));
            }
        }
        if !declarations.is_empty() {
            self.out.insert_str(declarations_at, &declarations);
        }
        let orphaned = self.preserved_content.orphaned().into_iter().map(str::to_owned).collect();
        Ok(Written { xml: self.out, orphaned, state: self.state })
    }

    /// Comments and instructions outside the root.
    fn misc(&mut self, text: Option<String>) {
        if let Some(text) = text {
            self.out.push('\n');
            self.out.push_str(&text);
        }
    }

    /// Writes an attribute of the product's own namespace.
    pub fn own_attribute(&mut self, local: &str, value: &str) {
        self.use_ns(V::OWN);
        let name = qualified(self.prefixes.attribute(V::OWN), local);
        self.attribute(&name, value);
    }
}

/// Whether XML 1.0 can express every character.
fn all_expressible(text: &str) -> bool {
    // The other characters that it cannot express start with this byte.
    let beyond =
        text.as_bytes().chunks(256).any(|block| block.iter().fold(false, |any, &byte| any | (byte == 0xEF)));
    control(text).is_none() && (!beyond || text.chars().all(expressible))
}
