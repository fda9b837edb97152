//! Residue fragments: what the definition's members have no place for, by element.

use super::names::{Kind, Ns};
use super::tree::Tree;
use super::{MODEL_NS, XmlError};
use std::collections::{BTreeMap, HashMap};

/// What is to be put back at one element.
#[derive(Debug, Default, Clone)]
pub(super) struct Residue {
    /// Attributes as in the source: name, raw value.
    pub attributes: Vec<(String, String)>,
    /// Declarations that the attributes need: prefix, URI.
    pub declarations: Vec<(String, String)>,
    /// Children.
    pub children: Vec<ResidueChild>,
    /// Notes of the reader to the writer: name, value.
    pub markers: Vec<(String, String)>,
    /// Everything between the tags.
    pub inner: String,
    /// Whether the writer has used it.
    pub used: bool,
}

/// A child to be put back.
#[derive(Debug, Clone)]
pub(super) struct ResidueChild {
    pub kind: Kind,
    /// The element as in the source.
    pub xml: String,
    /// Its content as in the source.
    pub inner: String,
    /// Its id, if it has one.
    pub id: Option<String>,
}

impl Residue {
    pub(super) fn marker(&self, name: &str) -> Option<&str> {
        self.markers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, raw)| raw.as_str())
    }
}

/// The prefixes around the fragments of a definition: those of the definition, and `heddle`.
pub(super) fn surroundings(namespaces: &BTreeMap<String, String>) -> Vec<(&str, &str)> {
    let mut around: Vec<(&str, &str)> = Vec::with_capacity(namespaces.len() + 2);
    if !namespaces.values().any(|uri| uri == MODEL_NS) {
        around.push((Ns::Model.usual_prefix(), MODEL_NS));
    }
    around.extend(namespaces.iter().map(|(prefix, uri)| (prefix.as_str(), uri.as_str())));
    around.push((Ns::Heddle.usual_prefix(), Ns::Heddle.uri()));
    around
}

/// Sorts the fragments of a definition into residues by address and plain fragments.
pub(super) fn collect<'d>(
    fragments: &'d [String],
    around: &[(&'d str, &'d str)],
) -> Result<(HashMap<String, Residue>, Vec<&'d str>), XmlError> {
    let mut residues: HashMap<String, Residue> = HashMap::new();
    let mut plain = Vec::new();
    for fragment in fragments {
        let tree = Tree::parse(fragment, around)?;
        let root = tree.get(0);
        if root.ns != Ns::Heddle || root.local != "residue" {
            plain.push(fragment.as_str());
            continue;
        }
        let Some(address) = tree.attribute(0, "for") else { continue };
        let residue = residues.entry(address.into_owned()).or_default();
        for (prefix, uri) in tree.root_bindings().into_iter().skip(around.len()) {
            residue.declarations.push((prefix.to_owned(), uri.to_owned()));
        }
        for attribute in tree.attributes(0) {
            match attribute.ns {
                Ns::None if attribute.local == "for" => {}
                Ns::None if attribute.local.starts_with("for.") => {
                    residue.attributes.push((attribute.local[4..].to_owned(), attribute.raw.to_owned()));
                }
                Ns::Heddle if attribute.local != "data" => {
                    residue.markers.push((attribute.local.to_owned(), attribute.value().into_owned()));
                }
                _ => residue.attributes.push((attribute.name.to_owned(), attribute.raw.to_owned())),
            }
        }
        for child in tree.children(0) {
            let element = tree.get(child);
            residue.children.push(ResidueChild {
                kind: element.kind,
                xml: tree.fragment(child).into_owned(),
                inner: tree.inner(child).to_owned(),
                id: tree.attribute(child, "id").map(|id| id.into_owned()),
            });
        }
        residue.inner.push_str(tree.inner(0));
    }
    Ok((residues, plain))
}
