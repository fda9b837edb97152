//! The tree of a BPMN document: the shared one, with the kinds and namespaces of BPMN.

use super::names::{Bpmn, Kind, Ns, ns};
use super::{MAX_DEPTH, MAX_ELEMENTS, XmlError};
use heddle_xml::{Document, Limits, Names as _};

pub(crate) use heddle_xml::El;

/// A parsed document.
pub(crate) type Tree<'s> = Document<'s, Bpmn>;

pub(crate) const LIMITS: Limits = Limits { depth: MAX_DEPTH, elements: MAX_ELEMENTS };

/// Parses a document whose surroundings bind these prefixes.
pub(crate) fn parse<'s>(source: &'s str, around: &[(&'s str, &'s str)]) -> Result<Tree<'s>, XmlError> {
    Tree::parse_within(source, around, LIMITS)
}

/// Whether the document holds an element of the kind.
pub(super) fn has(tree: &Tree<'_>, kind: Kind) -> bool {
    tree.all().any(|el| tree.part(el).kind == kind)
}

/// The namespaces of the standard that are bound anywhere.
pub(super) fn standard_namespaces(tree: &Tree<'_>) -> Vec<Ns> {
    let bound = tree.all_declarations().iter().map(|declaration| declaration.ns);
    let mut found: Vec<Ns> = bound.filter(|&ns| Bpmn::knows(ns) && ns != ns::HEDDLE).collect();
    found.sort_unstable();
    found.dedup();
    found
}
