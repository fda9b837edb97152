//! A definition as the document that it is exported as, with what rules ask of it.
//!
//! Rules read the document rather than the typed members, because they also speak of what has no member: lists of flows
//! as they were written, references between data, elements kept as fragments.

use crate::xml::Group;
use crate::xml::names::{Ns, element_row, row};
use crate::xml::tree::{El, Tree};
use std::borrow::Cow;
use std::collections::HashMap;

/// The document with its indexes.
pub(crate) struct Doc<'t> {
    tree: &'t Tree<'t>,
    parent: Vec<El>,
    ids: HashMap<Cow<'t, str>, El>,
    /// Elements whose id another one has already.
    pub repeated: Vec<El>,
    named: HashMap<&'t str, Vec<El>>,
    incoming: HashMap<El, Vec<El>>,
    outgoing: HashMap<El, Vec<El>>,
    messages: HashMap<El, [bool; 2]>,
}

const NOTHING: u32 = u32::MAX;

impl<'t> Doc<'t> {
    pub(crate) fn new(tree: &'t Tree<'t>) -> Self {
        let mut doc = Self {
            tree,
            parent: vec![NOTHING; tree.len()],
            ids: HashMap::with_capacity(tree.len()),
            repeated: Vec::new(),
            named: HashMap::new(),
            incoming: HashMap::new(),
            outgoing: HashMap::new(),
            messages: HashMap::new(),
        };
        doc.index();
        doc.connect();
        doc
    }

    fn index(&mut self) {
        let mut open = vec![0];
        while let Some(el) = open.pop() {
            let element = self.tree.get(el);
            if element.ns != Ns::Model {
                continue;
            }
            if element.local != "extensionElements" {
                let before = open.len();
                for child in self.tree.children(el) {
                    self.parent[child as usize] = el;
                    open.push(child);
                }
                open[before..].reverse();
            }
            self.named.entry(element.local).or_default().push(el);
            if let Some(id) = self.tree.attribute(el, "id")
                && self.ids.insert(id, el).is_some()
            {
                self.repeated.push(el);
            }
        }
    }

    fn connect(&mut self) {
        for flow in self.all("sequenceFlow").to_vec() {
            if let Some(source) = self.refers(flow, "sourceRef") {
                self.outgoing.entry(source).or_default().push(flow);
            }
            if let Some(target) = self.refers(flow, "targetRef") {
                self.incoming.entry(target).or_default().push(flow);
            }
        }
        for flow in self.all("messageFlow").to_vec() {
            for (place, end) in ["sourceRef", "targetRef"].into_iter().enumerate() {
                if let Some(end) = self.refers(flow, end) {
                    self.messages.entry(end).or_default()[place] = true;
                }
            }
        }
    }

    /// The elements of a name, in document order.
    pub(crate) fn all(&self, name: &str) -> &[El] {
        self.named.get(name).map_or(&[], Vec::as_slice)
    }

    /// The elements of several names.
    pub(crate) fn each<'d>(&'d self, names: &'d [&'d str]) -> impl Iterator<Item = El> + 'd {
        names.iter().flat_map(|name| self.all(name)).copied()
    }

    pub(crate) fn name(&self, el: El) -> &'t str {
        self.tree.get(el).local
    }

    pub(crate) fn is(&self, el: El, names: &[&str]) -> bool {
        names.contains(&self.name(el))
    }

    pub(crate) fn attr(&self, el: El, name: &str) -> Option<Cow<'t, str>> {
        self.tree.attribute(el, name)
    }

    pub(crate) fn truth(&self, el: El, name: &str) -> bool {
        self.attr(el, name).is_some_and(|value| matches!(value.trim(), "true" | "1"))
    }

    pub(crate) fn id(&self, el: El) -> Option<Cow<'t, str>> {
        self.attr(el, "id")
    }

    /// The element's id, else that of the nearest element around it.
    pub(crate) fn near_id(&self, el: El) -> Option<String> {
        let around = std::iter::successors(Some(el), |el| self.parent(*el));
        around.filter_map(|el| self.id(el)).next().map(Cow::into_owned)
    }

    pub(crate) fn parent(&self, el: El) -> Option<El> {
        Some(self.parent[el as usize]).filter(|el| *el != NOTHING)
    }

    pub(crate) fn around(&self, el: El) -> impl Iterator<Item = El> + '_ {
        std::iter::successors(self.parent(el), |el| self.parent(*el))
    }

    pub(crate) fn kids<'d>(&'d self, el: El, name: &'d str) -> impl Iterator<Item = El> + 'd {
        self.children(el).filter(move |kid| self.name(*kid) == name)
    }

    pub(crate) fn children(&self, el: El) -> impl Iterator<Item = El> + '_ {
        self.tree.children(el).filter(|kid| self.tree.get(*kid).ns == Ns::Model)
    }

    pub(crate) fn kid(&self, el: El, name: &str) -> Option<El> {
        self.children(el).find(|kid| self.name(*kid) == name)
    }

    pub(crate) fn text(&self, el: El) -> String {
        self.tree.text(el).trim().to_owned()
    }

    /// Whether the element says by `xsi:type` that it is a formal expression.
    pub(crate) fn formal(&self, el: El) -> bool {
        let mut types =
            self.tree.attributes(el).iter().filter(|own| own.ns == Ns::Xsi && own.local == "type");
        types.any(|own| own.value().ends_with("tFormalExpression"))
    }

    /// The element of an id, which may carry a prefix.
    pub(crate) fn find(&self, id: &str) -> Option<El> {
        let id = id.trim();
        let found = self.ids.get(id).or_else(|| self.ids.get(id.split_once(':')?.1));
        found.copied()
    }

    /// What an attribute refers to.
    pub(crate) fn refers(&self, el: El, attribute: &str) -> Option<El> {
        self.find(&self.attr(el, attribute)?)
    }

    /// What children of a name refer to; nothing in the place of what does not exist.
    pub(crate) fn referred<'d>(&'d self, el: El, name: &'d str) -> impl Iterator<Item = Option<El>> + 'd {
        self.kids(el, name).map(|kid| self.find(&self.text(kid)))
    }

    pub(crate) fn incoming(&self, el: El) -> &[El] {
        self.incoming.get(&el).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn outgoing(&self, el: El) -> &[El] {
        self.outgoing.get(&el).map_or(&[], Vec::as_slice)
    }

    /// Whether message flows leave and reach the element.
    pub(crate) fn messages(&self, el: El) -> [bool; 2] {
        self.messages.get(&el).copied().unwrap_or_default()
    }

    pub(crate) fn group(&self, el: El) -> Option<Group> {
        row(self.tree.get(el).kind).map(|row| row.group)
    }

    pub(crate) fn is_flow_node(&self, el: El) -> bool {
        self.group(el).is_some_and(|group| group.is_flow_node() || group == Group::ChoreographyActivity)
    }

    pub(crate) fn is_activity(&self, el: El) -> bool {
        self.group(el).is_some_and(|group| matches!(group, Group::Activity | Group::SubProcess))
    }

    pub(crate) fn is_event_sub_process(&self, el: El) -> bool {
        self.name(el) == "subProcess" && self.truth(el, "triggeredByEvent")
    }

    /// All flow nodes.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = El> + '_ {
        let groups = self.named.iter().filter(|(name, _)| {
            element_row(name).is_some_and(|row| row.group.is_flow_node() && row.name != "implicitThrowEvent")
        });
        groups.flat_map(|(_, all)| all).copied()
    }

    /// The process around an element.
    pub(crate) fn process(&self, el: El) -> Option<El> {
        self.around(el).find(|around| self.name(*around) == "process")
    }

    pub(crate) fn executable(&self, el: El) -> bool {
        let process = if self.name(el) == "process" { Some(el) } else { self.process(el) };
        process.is_some_and(|process| self.truth(process, "isExecutable"))
    }

    /// The event definitions of an event, its own and those it refers to.
    pub(crate) fn definitions(&self, event: El) -> Vec<El> {
        let own = self.children(event).filter(|kid| self.group(*kid) == Some(Group::EventDefinition));
        let referred = self.referred(event, "eventDefinitionRef").flatten();
        own.chain(referred.filter(|el| self.group(*el) == Some(Group::EventDefinition))).collect()
    }

    /// Whether all event definitions of an event are of these names.
    pub(crate) fn defines_only(&self, event: El, names: &[&str]) -> bool {
        self.definitions(event).iter().all(|definition| self.is(*definition, names))
    }

    pub(crate) fn defines(&self, event: El, name: &str) -> bool {
        self.definitions(event).iter().any(|definition| self.name(*definition) == name)
    }

    /// What people call the element.
    pub(crate) fn label(&self, el: El) -> String {
        match (self.id(el), self.attr(el, "name").filter(|name| !name.is_empty())) {
            (Some(id), Some(name)) => format!("{} {id:?} ({name})", self.name(el)),
            (Some(id), None) => format!("{} {id:?}", self.name(el)),
            (None, _) => match self.near_id(el) {
                Some(id) => format!("{} of {id:?}", self.name(el)),
                None => self.name(el).to_owned(),
            },
        }
    }
}
