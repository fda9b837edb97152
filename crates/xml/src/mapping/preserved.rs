//! Preserved fragments: what the model's members have no place for, by element.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::{TEXT, Vocabulary, uri, usual_prefix};
use crate::hash::HashMap;
use crate::{Document, Kind, Ns, XmlError};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Local name of the elements that hold preserved content. It stands in stored definitions, whose hashes count it, so
/// that it is written and read for ever.
pub(super) const ELEMENT: &str = "residue";

/// Whether a fragment holds preserved content.
#[must_use]
pub fn is_preserved<V: Vocabulary>(tree: &Document<'_, V>) -> bool {
    let root = tree.part(0);
    root.ns == V::OWN && root.local() == ELEMENT
}

/// Preserved content to be put back at one element.
#[derive(Debug, Default, Clone)]
pub struct Preserved<'d> {
    /// Attributes as in the source: name, raw value.
    pub attributes: Vec<(&'d str, &'d str)>,
    /// Declarations that the attributes need: prefix, URI.
    pub declarations: Vec<(String, String)>,
    /// Children.
    pub children: Vec<PreservedChild<'d>>,
    /// Notes of the reader to the writer: name, value.
    pub markers: Vec<(&'d str, Cow<'d, str>)>,
    /// Everything between the tags.
    pub inner: Cow<'d, str>,
}

/// A child to be put back.
#[derive(Debug, Clone)]
pub struct PreservedChild<'d> {
    /// Kind of the child.
    pub kind: Kind,
    /// The element as in the source.
    pub xml: Cow<'d, str>,
    /// Content of the element as in the source.
    pub inner: &'d str,
    /// Id of the element, if it has one.
    pub id: Option<String>,
}

impl Preserved<'_> {
    /// The value of a note of the reader.
    #[must_use]
    pub fn marker(&self, name: &str) -> Option<&str> {
        self.markers.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_ref())
    }

    /// The raw value of an attribute.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| *own == name).map(|(_, raw)| *raw)
    }
}

/// Index of a place that preserved content is kept for.
pub(super) type Place = u32;

/// A place with the places below it.
#[derive(Debug, Default)]
struct ContentAt<'d> {
    address: String,
    preserved: Option<Rc<Preserved<'d>>>,
    below: HashMap<(String, u32), Place>,
    reached: bool,
}

/// The preserved content of a document by address: an element's id, or a path below the nearest element with one.
#[derive(Debug, Default)]
pub struct PreservedContent<'d> {
    held: Vec<ContentAt<'d>>,
    by_id: HashMap<String, Place>,
}

impl<'d> PreservedContent<'d> {
    /// The place of an element by its id.
    #[inline]
    pub(super) fn of_id(&self, id: &str) -> Option<Place> {
        if self.held.is_empty() { None } else { self.by_id.get(id).copied() }
    }

    /// Whether anything is kept below a place.
    #[inline]
    pub(super) fn has_below(&self, place: Place) -> bool {
        self.held.get(place as usize).is_some_and(|held| !held.below.is_empty())
    }

    /// The place of an element below another.
    #[inline]
    pub(super) fn below(&self, place: Place, local: &str, ordinal: u32) -> Option<Place> {
        self.held.get(place as usize)?.below.get(&(local.to_owned(), ordinal)).copied()
    }

    /// Preserved content of a place that the writer has come to, removed from the store.
    #[inline]
    pub(super) fn take(&mut self, place: Place) -> Option<Rc<Preserved<'d>>> {
        let held = self.held.get_mut(place as usize)?;
        held.reached = true;
        held.preserved.take()
    }

    /// Preserved content of the element with this id.
    #[must_use]
    pub fn peek(&self, id: &str) -> Option<&Preserved<'d>> {
        self.held.get(self.of_id(id)? as usize)?.preserved.as_deref()
    }

    /// Preserved content of a place that the writer has not come to.
    pub(super) fn at(&self, place: Place) -> Option<&Preserved<'d>> {
        self.held.get(place as usize)?.preserved.as_deref()
    }

    /// The addresses that nothing was written for, sorted.
    #[must_use]
    pub fn orphaned(&self) -> Vec<&str> {
        let orphaned = self.held.iter().filter(|held| !held.reached && held.preserved.is_some());
        let mut orphaned: Vec<&str> = orphaned.map(|held| held.address.as_str()).collect();
        orphaned.sort_unstable();
        orphaned
    }

    /// The place of an address, made when there is none.
    fn place(&mut self, address: &str) -> Option<&mut ContentAt<'d>> {
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
        self.held.push(ContentAt { address, ..ContentAt::default() });
        Place::try_from(self.held.len() - 1).unwrap_or(Place::MAX)
    }
}

/// The prefixes around the fragments of a document: those of the document, and the product's own.
#[must_use]
pub fn surroundings<V: Vocabulary>(namespaces: &BTreeMap<String, String>) -> Vec<(&str, &str)> {
    let mut around: Vec<(&str, &str)> = Vec::with_capacity(namespaces.len() + 2);
    let model = uri::<V>(V::MODEL);
    if !namespaces.values().any(|uri| uri == model) {
        around.push((usual_prefix::<V>(V::MODEL), model));
    }
    around.extend(namespaces.iter().map(|(prefix, uri)| (prefix.as_str(), uri.as_str())));
    around.push((usual_prefix::<V>(V::OWN), uri::<V>(V::OWN)));
    around
}

/// Sorts the fragments of a document into preserved content by address and plain fragments.
///
/// # Errors
///
/// When a fragment is not well-formed.
pub fn collect<'d, V: Vocabulary>(
    fragments: &'d [String],
    around: &[(&'d str, &'d str)],
) -> Result<(PreservedContent<'d>, Vec<&'d str>), XmlError> {
    let mut preserved_content = PreservedContent::default();
    let mut plain = Vec::new();
    let mut tree = Document::<V>::within(around, V::LIMITS)?;
    for fragment in fragments {
        tree.reparse(fragment)?;
        if !is_preserved(&tree) {
            plain.push(fragment.as_str());
            continue;
        }
        let address = tree.attribute(0, "for");
        let Some(held) = address.as_deref().and_then(|address| preserved_content.place(address)) else {
            continue;
        };
        add(Rc::make_mut(held.preserved.get_or_insert_default()), &tree);
    }
    Ok((preserved_content, plain))
}

fn add<'d, V: Vocabulary>(preserved: &mut Preserved<'d>, tree: &Document<'d, V>) {
    for own in tree.declarations(0) {
        preserved.declarations.push((own.prefix.to_owned(), tree.uri(own.ns).to_owned()));
    }
    for attribute in tree.attributes(0) {
        match attribute.ns {
            Ns::NONE if attribute.local() == "for" => {}
            Ns::NONE if attribute.local().starts_with("for.") => {
                preserved.attributes.push((&attribute.local()[4..], attribute.raw));
            }
            ns if ns == V::OWN && attribute.local() != "data" => {
                preserved.markers.push((attribute.local(), attribute.value()))
            }
            _ => preserved.attributes.push((attribute.name, attribute.raw)),
        }
    }
    for child in tree.parts_of(0) {
        let element = tree.part(child);
        let text = element.ns == V::OWN && element.local() == "text";
        preserved.children.push(PreservedChild {
            kind: if text { TEXT } else { element.kind },
            xml: tree.fragment(child),
            inner: tree.inner(child),
            id: tree.attribute(child, "id").map(Cow::into_owned),
        });
    }
    let inner = tree.inner(0);
    if preserved.inner.is_empty() {
        preserved.inner = Cow::Borrowed(inner);
    } else {
        preserved.inner.to_mut().push_str(inner);
    }
}
