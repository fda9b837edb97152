//! What holds for a document as a whole: prefixes, ids, the form of numbers.

use super::HEDDLE_NS;
use super::names::{self, Ns};
use super::prefixes::Prefixes;
use super::tree::{Tree, standard_namespaces};
use crate::hash::HashSet;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The prefixes of the root, and of the standard's namespaces that are bound further in.
pub(super) fn namespaces(tree: &Tree<'_>) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for (prefix, uri) in tree.root_bindings() {
        if uri != HEDDLE_NS {
            found.insert(prefix.to_owned(), uri.to_owned());
        }
    }
    for ns in standard_namespaces(tree) {
        let elsewhere =
            |prefix: &str| tree.all_declarations().iter().any(|own| own.prefix == prefix && own.ns != ns);
        let mut bound = found.iter().filter(|(_, uri)| *uri == names::uri(ns));
        if !bound.any(|(prefix, _)| prefix.is_empty() || !elsewhere(prefix)) {
            let prefix = Prefixes::free(&found, ns, elsewhere);
            found.insert(prefix, names::uri(ns).to_owned());
        }
    }
    found
}

/// The root's prefixes that mean something else further in; the writer must not use them there.
pub(super) fn rebound<'s>(tree: &'s Tree<'s>, namespaces: &BTreeMap<String, String>) -> Vec<&'s str> {
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
pub(super) fn decimals(tree: &Tree<'_>) -> bool {
    let points = tree.all().filter(|&el| matches!(tree.part(el).local(), "Bounds" | "waypoint"));
    let mut numbers = points.flat_map(|el| tree.attributes(el)).filter(|own| own.ns == Ns::NONE);
    let whole = numbers.find_map(|number| match number.raw.split_once('.') {
        None => Some(false),
        Some((_, "0")) => Some(true),
        Some(_) => None,
    });
    whole.unwrap_or(false)
}

/// The ids that more than one element has.
pub(super) fn shared_ids<'s>(tree: &'s Tree<'s>) -> HashSet<Cow<'s, str>> {
    let mut seen: HashSet<Cow<'s, str>> =
        HashSet::with_capacity_and_hasher(tree.len() / 2, Default::default());
    let mut shared = HashSet::default();
    if tree.attribute(0, "id").is_none() {
        // The address of a root without an id.
        seen.insert(Cow::Borrowed("definitions"));
    }
    for id in tree.ids() {
        if let Some(again) = seen.replace(id) {
            shared.insert(again);
        }
    }
    shared
}
