//! The tree of a BPMN document: the shared one, with the kinds and namespaces of BPMN.

use super::names::Bpmn;
use super::{MAX_DEPTH, MAX_ELEMENTS, XmlError};
use heddle_xml::{Document, Limits};

pub(crate) use heddle_xml::El;

/// A parsed document.
pub(crate) type Tree<'s> = Document<'s, Bpmn>;

pub(crate) const LIMITS: Limits = Limits { depth: MAX_DEPTH, elements: MAX_ELEMENTS };

/// Parses a document whose surroundings bind these prefixes.
pub(crate) fn parse<'s>(source: &'s str, around: &[(&'s str, &'s str)]) -> Result<Tree<'s>, XmlError> {
    Tree::parse_within(source, around, LIMITS)
}
