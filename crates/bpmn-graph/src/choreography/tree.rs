//! The exported document as choreographies ask for it.

use heddle_bpmn::ElementKind as K;
use heddle_bpmn::elements::{El, Elements};
use std::collections::HashMap;
use std::sync::Arc;

/// A document with its ids.
pub(super) struct Tree<'t> {
    elements: &'t Elements<'t>,
    ids: HashMap<String, El>,
    parents: HashMap<El, El>,
}

impl<'t> Tree<'t> {
    pub(super) fn new(elements: &'t Elements<'t>) -> Self {
        let mut tree = Self { elements, ids: HashMap::new(), parents: HashMap::new() };
        for el in elements.all() {
            if !elements.is_of_the_model(el) {
                continue;
            }
            if let Some(id) = elements.attribute(el, "id") {
                tree.ids.entry(id.into_owned()).or_insert(el);
            }
            for child in elements.children(el) {
                tree.parents.insert(child, el);
            }
        }
        tree
    }

    pub(super) fn kind(&self, el: El) -> Option<K> {
        self.elements.kind(el)
    }

    pub(super) fn name(&self, el: El) -> &'t str {
        self.elements.name(el)
    }

    pub(super) fn is(&self, el: El, kind: K) -> bool {
        self.kind(el) == Some(kind)
    }

    pub(super) fn attr(&self, el: El, name: &str) -> Option<String> {
        let value = self.elements.attribute(el, name)?;
        let value = value.trim();
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// The id of an element; empty for one without.
    pub(super) fn id(&self, el: El) -> String {
        self.attr(el, "id").unwrap_or_default()
    }

    pub(super) fn parent(&self, el: El) -> Option<El> {
        self.parents.get(&el).copied()
    }

    pub(super) fn children(&self, el: El) -> impl Iterator<Item = El> + '_ {
        self.elements.children(el).filter(|child| self.elements.is_of_the_model(*child))
    }

    pub(super) fn kids(&self, el: El, kind: K) -> impl Iterator<Item = El> + '_ {
        self.children(el).filter(move |child| self.is(*child, kind))
    }

    /// The texts of the children of a kind, without white space around them and without prefixes that stand for no id.
    pub(super) fn texts(&self, el: El, kind: K) -> impl Iterator<Item = String> + '_ {
        self.kids(el, kind).map(|kid| self.local(self.elements.text(kid).trim()))
    }

    /// Id that an attribute refers to.
    pub(super) fn reference(&self, el: El, attribute: &str) -> Option<String> {
        self.attr(el, attribute).map(|name| self.local(&name))
    }

    /// The id that a qualified name stands for.
    fn local(&self, name: &str) -> String {
        match name.split_once(':') {
            Some((_, local)) if !self.ids.contains_key(name) => local.to_owned(),
            _ => name.to_owned(),
        }
    }

    pub(super) fn find(&self, id: &str) -> Option<El> {
        self.ids.get(id).copied()
    }

    /// The choreographies of the document.
    pub(super) fn choreographies(&self) -> impl Iterator<Item = El> + '_ {
        self.all(K::Choreography)
    }

    /// The elements of a kind, in document order.
    pub(super) fn all(&self, kind: K) -> impl Iterator<Item = El> + '_ {
        self.elements.all().filter(move |el| self.elements.is_of_the_model(*el) && self.is(*el, kind))
    }

    /// Name of the message of a message flow: its name, else its id.
    pub(super) fn message(&self, flow: El) -> Option<Arc<str>> {
        let id = self.reference(flow, "messageRef")?;
        let named = self.find(&id).and_then(|message| self.attr(message, "name"));
        Some(named.unwrap_or(id).into())
    }

    /// The process around an element, or the element itself.
    pub(super) fn process(&self, el: El) -> Option<El> {
        std::iter::successors(Some(el), |el| self.parent(*el)).find(|el| self.is(*el, K::Process))
    }
}
