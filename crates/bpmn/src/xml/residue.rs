//! Residue fragments: what the definition's members have no place for, by element.

use super::names::{self, Kind, Ns, TEXT, ns};
use super::tree::{LIMITS, Tree};
use super::{HEDDLE_NS, MODEL_NS, XmlError};
use crate::hash::HashMap;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What is to be put back at one element.
#[derive(Debug, Default, Clone)]
pub(super) struct Residue<'d> {
    /// Attributes as in the source: name, raw value.
    pub attributes: Vec<(&'d str, &'d str)>,
    /// Declarations that the attributes need: prefix, URI.
    pub declarations: Vec<(String, String)>,
    /// Children.
    pub children: Vec<ResidueChild<'d>>,
    /// Notes of the reader to the writer: name, value.
    pub markers: Vec<(&'d str, Cow<'d, str>)>,
    /// Everything between the tags.
    pub inner: Cow<'d, str>,
}

/// A child to be put back.
#[derive(Debug, Clone)]
pub(super) struct ResidueChild<'d> {
    pub kind: Kind,
    /// The element as in the source.
    pub xml: Cow<'d, str>,
    /// Its content as in the source.
    pub inner: &'d str,
    /// Its id, if it has one.
    pub id: Option<String>,
}

impl Residue<'_> {
    pub(super) fn marker(&self, name: &str) -> Option<&str> {
        self.markers.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_ref())
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| *own == name).map(|(_, raw)| *raw)
    }
}

/// Index of a place that residue is kept for.
pub(super) type Place = u32;

/// A place with the places below it.
#[derive(Debug, Default)]
struct Held<'d> {
    address: String,
    residue: Option<Rc<Residue<'d>>>,
    below: HashMap<(String, u32), Place>,
    reached: bool,
}

/// The residues of a definition by address: an element's id, or a path below the nearest element with one.
#[derive(Debug, Default)]
pub(super) struct Residues<'d> {
    held: Vec<Held<'d>>,
    by_id: HashMap<String, Place>,
}

impl<'d> Residues<'d> {
    /// The place of an element by its id.
    pub(super) fn of_id(&self, id: &str) -> Option<Place> {
        if self.held.is_empty() { None } else { self.by_id.get(id).copied() }
    }

    /// Whether anything is kept below a place.
    pub(super) fn has_below(&self, place: Place) -> bool {
        self.held.get(place as usize).is_some_and(|held| !held.below.is_empty())
    }

    /// The place of an element below another.
    pub(super) fn below(&self, place: Place, local: &str, ordinal: u32) -> Option<Place> {
        self.held.get(place as usize)?.below.get(&(local.to_owned(), ordinal)).copied()
    }

    /// What is kept for a place that the writer has come to.
    pub(super) fn take(&mut self, place: Place) -> Option<Rc<Residue<'d>>> {
        let held = self.held.get_mut(place as usize)?;
        held.reached = true;
        held.residue.take()
    }

    /// What is kept for an element with this id.
    pub(super) fn peek(&self, id: &str) -> Option<&Residue<'d>> {
        self.held.get(self.of_id(id)? as usize)?.residue.as_deref()
    }

    /// What is kept for a place that the writer has not come to.
    pub(super) fn at(&self, place: Place) -> Option<&Residue<'d>> {
        self.held.get(place as usize)?.residue.as_deref()
    }

    /// The addresses that nothing was written for, sorted.
    pub(super) fn lost(&self) -> Vec<&str> {
        let lost = self.held.iter().filter(|held| !held.reached && held.residue.is_some());
        let mut lost: Vec<&str> = lost.map(|held| held.address.as_str()).collect();
        lost.sort_unstable();
        lost
    }

    /// The place of an address, made when there is none.
    fn place(&mut self, address: &str) -> Option<&mut Held<'d>> {
        let mut steps = address.split('/');
        let base = steps.next().unwrap_or_default();
        let mut place = match self.by_id.get(base) {
            Some(&place) => place,
            None => {
                let place = self.add(base.to_owned());
                self.by_id.insert(base.to_owned(), place);
                place
            }
        };
        let mut length = base.len();
        for step in steps {
            length += 1 + step.len();
            let (local, number) = step.strip_suffix(']').and_then(|step| step.rsplit_once('['))?;
            let key = (local.to_owned(), number.parse().ok()?);
            place = match self.held[place as usize].below.get(&key) {
                Some(&below) => below,
                None => {
                    let below = self.add(address[..length].to_owned());
                    self.held[place as usize].below.insert(key, below);
                    below
                }
            };
        }
        self.held.get_mut(place as usize)
    }

    fn add(&mut self, address: String) -> Place {
        self.held.push(Held { address, ..Held::default() });
        Place::try_from(self.held.len() - 1).unwrap_or(Place::MAX)
    }
}

/// The prefixes around the fragments of a definition: those of the definition, and `heddle`.
pub(super) fn surroundings(namespaces: &BTreeMap<String, String>) -> Vec<(&str, &str)> {
    let mut around: Vec<(&str, &str)> = Vec::with_capacity(namespaces.len() + 2);
    if !namespaces.values().any(|uri| uri == MODEL_NS) {
        around.push((names::usual_prefix(ns::MODEL), MODEL_NS));
    }
    around.extend(namespaces.iter().map(|(prefix, uri)| (prefix.as_str(), uri.as_str())));
    around.push((names::usual_prefix(ns::HEDDLE), HEDDLE_NS));
    around
}

/// Sorts the fragments of a definition into residues by address and plain fragments.
pub(super) fn collect<'d>(
    fragments: &'d [String],
    around: &[(&'d str, &'d str)],
) -> Result<(Residues<'d>, Vec<&'d str>), XmlError> {
    let mut residues = Residues::default();
    let mut plain = Vec::new();
    let mut tree = Tree::within(around, LIMITS)?;
    for fragment in fragments {
        tree.reparse(fragment)?;
        let root = tree.part(0);
        if root.ns != ns::HEDDLE || root.local() != "residue" {
            plain.push(fragment.as_str());
            continue;
        }
        let address = tree.attribute(0, "for");
        let Some(held) = address.as_deref().and_then(|address| residues.place(address)) else { continue };
        add(Rc::make_mut(held.residue.get_or_insert_default()), &tree);
    }
    Ok((residues, plain))
}

fn add<'d>(residue: &mut Residue<'d>, tree: &Tree<'d>) {
    for own in tree.declarations(0) {
        residue.declarations.push((own.prefix.to_owned(), tree.uri(own.ns).to_owned()));
    }
    for attribute in tree.attributes(0) {
        match attribute.ns {
            Ns::NONE if attribute.local() == "for" => {}
            Ns::NONE if attribute.local().starts_with("for.") => {
                residue.attributes.push((&attribute.local()[4..], attribute.raw));
            }
            ns::HEDDLE if attribute.local() != "data" => {
                residue.markers.push((attribute.local(), attribute.value()))
            }
            _ => residue.attributes.push((attribute.name, attribute.raw)),
        }
    }
    for child in tree.parts_of(0) {
        let element = tree.part(child);
        let text = element.ns == ns::HEDDLE && element.local() == "text";
        residue.children.push(ResidueChild {
            kind: if text { TEXT } else { element.kind },
            xml: tree.fragment(child),
            inner: tree.inner(child),
            id: tree.attribute(child, "id").map(Cow::into_owned),
        });
    }
    let inner = tree.inner(0);
    if residue.inner.is_empty() {
        residue.inner = Cow::Borrowed(inner);
    } else {
        residue.inner.to_mut().push_str(inner);
    }
}
