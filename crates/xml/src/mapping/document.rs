//! Properties of a document as a whole: prefixes, ids, the form of numbers.

use super::Vocabulary;
use super::prefixes::Prefixes;
use crate::hash::HashSet;
use crate::{Document, Ns};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The prefixes of a document.
#[derive(Debug, Clone)]
pub struct Bindings<'s> {
    /// The prefixes of the root, and of the format's namespaces that are bound further in.
    pub namespaces: BTreeMap<String, String>,
    /// The root's prefixes that mean something else further in; the writer must not use them there.
    pub rebound: Vec<&'s str>,
}

impl<'s> Bindings<'s> {
    /// The prefixes of a document that was parsed.
    #[must_use]
    pub fn of<V: Vocabulary>(tree: &'s Document<'s, V>) -> Self {
        let namespaces = namespaces(tree);
        let rebound = rebound(tree, &namespaces);
        Self { namespaces, rebound }
    }
}

fn namespaces<V: Vocabulary>(tree: &Document<'_, V>) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for (prefix, uri) in tree.root_bindings() {
        if uri != super::uri::<V>(V::OWN) {
            found.insert(prefix.to_owned(), uri.to_owned());
        }
    }
    for ns in format_namespaces(tree) {
        let elsewhere =
            |prefix: &str| tree.all_declarations().iter().any(|own| own.prefix == prefix && own.ns != ns);
        let mut bound = found.iter().filter(|(_, uri)| *uri == super::uri::<V>(ns));
        if !bound.any(|(prefix, _)| prefix.is_empty() || !elsewhere(prefix)) {
            let prefix = Prefixes::free::<V>(&found, ns, elsewhere);
            found.insert(prefix, super::uri::<V>(ns).to_owned());
        }
    }
    found
}

/// The format's namespaces that are bound anywhere.
fn format_namespaces<V: Vocabulary>(tree: &Document<'_, V>) -> Vec<Ns> {
    let bound = tree.all_declarations().iter().map(|declaration| declaration.ns);
    let mut found: Vec<Ns> = bound.filter(|&ns| V::knows(ns) && ns != V::OWN).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn rebound<'s, V: Vocabulary>(
    tree: &'s Document<'s, V>,
    namespaces: &BTreeMap<String, String>,
) -> Vec<&'s str> {
    let mut found: Vec<&str> = tree
        .all_declarations()
        .iter()
        .filter(|own| !own.prefix.is_empty())
        .filter(|own| namespaces.get(own.prefix).is_some_and(|uri| uri != tree.uri(own.ns)))
        .map(|own| own.prefix)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether the first whole number of the document's diagrams is written with a fraction.
pub(super) fn decimals<V: Vocabulary>(tree: &Document<'_, V>) -> bool {
    let points = tree.all().filter(|&el| V::is_measured(tree.part(el).local()));
    let mut numbers = points.flat_map(|el| tree.attributes(el)).filter(|own| own.ns == Ns::NONE);
    let whole = numbers.find_map(|number| match number.raw.split_once('.') {
        None => Some(false),
        Some((_, "0")) => Some(true),
        Some(_) => None,
    });
    whole.unwrap_or(false)
}

/// The ids that more than one element has.
pub(super) fn shared_ids<'s, V: Vocabulary>(tree: &'s Document<'s, V>) -> HashSet<Cow<'s, str>> {
    let mut seen: HashSet<Cow<'s, str>> =
        HashSet::with_capacity_and_hasher(tree.len() / 2, Default::default());
    let mut shared = HashSet::default();
    if tree.attribute(0, "id").is_none() {
        // The address of a root without an id.
        seen.insert(Cow::Borrowed(root_name::<V>()));
    }
    for id in tree.ids() {
        if let Some(again) = seen.replace(id) {
            shared.insert(again);
        }
    }
    shared
}

/// The address of a root without an id.
pub(super) fn root_name<V: Vocabulary>() -> &'static str {
    V::element(V::ROOT).map_or("", |(_, name)| name)
}
