//! A definition as the document that it is exported as, with what rules ask of it.
//!
//! Rules read the document rather than the typed members, because they also speak of what has no member: lists of flows
//! as they were written, references between data, elements kept as fragments.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use crate::Map;
use heddle_bpmn::element::{ElementKind as K, Group};
use heddle_bpmn::elements::{El, Elements};
use heddle_bpmn::xml::element_rows;
use std::borrow::Cow;
use std::collections::hash_map::Entry;

/// The document with its indexes.
pub(crate) struct Doc<'t> {
    tree: &'t Elements<'t>,
    parent: Vec<El>,
    /// The process around each element, or the process itself.
    process: Vec<El>,
    ids: Map<Cow<'t, str>, El>,
    /// Elements whose id another one has already.
    pub repeated: Vec<El>,
    /// The model's elements by kind.
    kinds: Vec<El>,
    /// Index in `kinds` of the first element of each kind, and the end of the last kind.
    starts: Vec<u32>,
    incoming: Grouped,
    outgoing: Grouped,
    /// Boundary events by their host.
    attached: Grouped,
    /// Elements at the other end of the associations of an element.
    associated: Grouped,
    /// Of elements with many children, the first child of each kind.
    wide: Map<El, Map<K, El>>,
    /// Nodes with the incoming flows that they list, sorted.
    listed: Vec<(El, El)>,
    /// Source and target of each sequence flow, in the order of the flows.
    ends: Vec<[Option<El>; 2]>,
    messages: Map<El, [bool; 2]>,
    /// Whether start and end events stand directly in an element.
    bounds: Map<El, [bool; 2]>,
}

const NOTHING: u32 = u32::MAX;
/// From how many children on they are not searched one by one: what many elements refer to may have many.
const WIDE: usize = 64;

/// A qualified name without its prefix.
pub(crate) fn local_name(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// The flow nodes of a process, activities first.
pub(crate) const FLOW_NODES: &[K] = &[
    K::Task,
    K::UserTask,
    K::ServiceTask,
    K::ScriptTask,
    K::BusinessRuleTask,
    K::SendTask,
    K::ReceiveTask,
    K::ManualTask,
    K::CallActivity,
    K::SubProcess,
    K::AdHocSubProcess,
    K::Transaction,
    K::ExclusiveGateway,
    K::ParallelGateway,
    K::InclusiveGateway,
    K::ComplexGateway,
    K::EventBasedGateway,
    K::StartEvent,
    K::IntermediateCatchEvent,
    K::BoundaryEvent,
    K::EndEvent,
    K::IntermediateThrowEvent,
];

/// Number of activities at the head of [`FLOW_NODES`].
const ACTIVITIES: usize = 12;

/// Elements by a key, in the order in which they came.
#[derive(Default)]
struct Grouped {
    keys: Vec<u32>,
    values: Vec<El>,
}

impl Grouped {
    fn new(mut pairs: Vec<(u32, El)>) -> Self {
        pairs.sort_by_key(|(key, _)| *key);
        let (keys, values) = pairs.into_iter().unzip();
        Self { keys, values }
    }

    fn get(&self, key: u32) -> &[El] {
        let from = self.keys.partition_point(|own| *own < key);
        let to = from + self.keys[from..].partition_point(|own| *own == key);
        &self.values[from..to]
    }
}

impl<'t> Doc<'t> {
    pub(crate) fn new(tree: &'t Elements<'t>) -> Self {
        let mut doc = Self {
            tree,
            parent: vec![NOTHING; tree.count()],
            process: vec![NOTHING; tree.count()],
            ids: Map::with_capacity_and_hasher(tree.count() / 4, Default::default()),
            repeated: Vec::new(),
            kinds: Vec::new(),
            starts: vec![0; element_rows().len() + 1],
            incoming: Grouped::default(),
            outgoing: Grouped::default(),
            attached: Grouped::default(),
            associated: Grouped::default(),
            wide: Map::default(),
            listed: Vec::new(),
            ends: Vec::new(),
            messages: Map::default(),
            bounds: Map::default(),
        };
        doc.index();
        doc.connect();
        doc.flows();
        doc
    }

    /// Elements stand in document order, so that each comes after the one around it.
    fn index(&mut self) {
        let tree = self.tree;
        let mut known = Vec::with_capacity(tree.count());
        for el in tree.all() {
            let kind = self.kind(el);
            let around = self.parent[el as usize];
            if !tree.is_of_the_model(el) || (el != 0 && around == NOTHING) {
                continue;
            }
            self.process[el as usize] = match around {
                _ if kind == Some(K::Process) => el,
                NOTHING => NOTHING,
                around => self.process[around as usize],
            };
            if kind != Some(K::ExtensionElements) {
                let mut count = 0;
                for child in tree.children(el) {
                    self.parent[child as usize] = el;
                    count += 1;
                }
                if count > WIDE {
                    let mut first = Map::default();
                    for child in self.children(el) {
                        if let Some(kind) = self.kind(child) {
                            first.entry(kind).or_insert(child);
                        }
                    }
                    self.wide.insert(el, first);
                }
            }
            // Counts first; the places follow from them.
            if let Some(kind) = kind
                && let Some(count) = self.starts.get_mut(kind as usize)
            {
                *count += 1;
                known.push((kind as usize, el));
            }
            if let Some(id) = tree.attribute(el, "id") {
                match self.ids.entry(id) {
                    Entry::Vacant(free) => {
                        free.insert(el);
                    }
                    Entry::Occupied(_) => self.repeated.push(el),
                }
            }
        }
        let mut before = 0;
        for start in &mut self.starts {
            before += std::mem::replace(start, before);
        }
        let mut next = self.starts.clone();
        self.kinds = vec![0; known.len()];
        for (kind, el) in known {
            let place = &mut next[kind];
            self.kinds[*place as usize] = el;
            *place += 1;
        }
    }

    fn connect(&mut self) {
        let mut attached = Vec::new();
        for &event in self.all(K::BoundaryEvent) {
            attached.extend(self.refers(event, "attachedToRef").map(|host| (host, event)));
        }
        let mut associated = Vec::new();
        for &association in self.all(K::Association) {
            let ends = (self.refers(association, "sourceRef"), self.refers(association, "targetRef"));
            if let (Some(source), Some(target)) = ends {
                associated.extend([(source, target), (target, source)]);
            }
        }
        let mut messages: Map<El, [bool; 2]> = Map::default();
        for &flow in self.all(K::MessageFlow) {
            for (place, end) in ["sourceRef", "targetRef"].into_iter().enumerate() {
                if let Some(end) = self.refers(flow, end) {
                    messages.entry(end).or_default()[place] = true;
                }
            }
        }
        let mut bounds: Map<El, [bool; 2]> = Map::default();
        for (place, kind) in [K::StartEvent, K::EndEvent].into_iter().enumerate() {
            for around in self.all(kind).iter().filter_map(|event| self.parent(*event)) {
                bounds.entry(around).or_default()[place] = true;
            }
        }
        (self.attached, self.associated) = (Grouped::new(attached), Grouped::new(associated));
        (self.messages, self.bounds) = (messages, bounds);
    }

    fn flows(&mut self) {
        let mut ends = Vec::with_capacity(self.all(K::SequenceFlow).len());
        let (mut incoming, mut outgoing, mut listed) = (Vec::new(), Vec::new(), Vec::new());
        for &flow in self.all(K::SequenceFlow) {
            let (source, target) = (self.refers(flow, "sourceRef"), self.refers(flow, "targetRef"));
            outgoing.extend(source.map(|source| (source, flow)));
            incoming.extend(target.map(|target| (target, flow)));
            ends.push([source, target]);
        }
        for &kid in self.all(K::Incoming) {
            if let (Some(node), Some(flow)) = (self.parent(kid), self.find(&self.text(kid))) {
                listed.push((node, flow));
            }
        }
        listed.sort_unstable();
        self.listed = listed;
        (self.incoming, self.outgoing, self.ends) = (Grouped::new(incoming), Grouped::new(outgoing), ends);
    }

    /// The elements of a kind, in document order.
    pub(crate) fn all(&self, kind: K) -> &[El] {
        let kind = kind as usize;
        match self.starts.get(kind..kind + 2) {
            Some(&[from, to]) => &self.kinds[from as usize..to as usize],
            _ => &[],
        }
    }

    /// The elements of several kinds.
    pub(crate) fn each<'d>(&'d self, kinds: &'d [K]) -> impl Iterator<Item = El> + 'd {
        kinds.iter().flat_map(|kind| self.all(*kind)).copied()
    }

    /// Source and target of a sequence flow, as far as they exist.
    pub(crate) fn ends(&self, flow: El) -> [Option<El>; 2] {
        let place = self.all(K::SequenceFlow).binary_search(&flow);
        place.ok().and_then(|place| self.ends.get(place)).copied().unwrap_or_default()
    }

    /// The boundary events of an activity.
    pub(crate) fn attached(&self, host: El) -> &[El] {
        self.attached.get(host)
    }

    /// Elements at the other end of the associations of an element.
    pub(crate) fn associated(&self, el: El) -> &[El] {
        self.associated.get(el)
    }

    /// Whether a start event and an end event stand directly in the element.
    pub(crate) fn bounds(&self, container: El) -> [bool; 2] {
        self.bounds.get(&container).copied().unwrap_or_default()
    }

    pub(crate) fn name(&self, el: El) -> &'t str {
        self.tree.name(el)
    }

    /// The kind of an element; none for one that the standard does not know.
    pub(crate) fn kind(&self, el: El) -> Option<K> {
        self.tree.kind(el)
    }

    pub(crate) fn is_a(&self, el: El, kind: K) -> bool {
        self.kind(el) == Some(kind)
    }

    pub(crate) fn is(&self, el: El, kinds: &[K]) -> bool {
        self.kind(el).is_some_and(|kind| kinds.contains(&kind))
    }

    pub(crate) fn attr(&self, el: El, name: &str) -> Option<Cow<'t, str>> {
        self.tree.attribute(el, name)
    }

    pub(crate) fn truth(&self, el: El, name: &str) -> bool {
        self.attr(el, name).is_some_and(|value| matches!(value.trim(), "true" | "1"))
    }

    /// Whether an attribute is there and says no, in either of the two spellings of `xsd:boolean`.
    pub(crate) fn untrue(&self, el: El, name: &str) -> bool {
        self.attr(el, name).is_some_and(|value| matches!(value.trim(), "false" | "0"))
    }

    pub(crate) fn id(&self, el: El) -> Option<Cow<'t, str>> {
        self.attr(el, "id")
    }

    /// The element's id, else that of the nearest element around it.
    pub(crate) fn near_id(&self, el: El) -> Option<String> {
        let around = std::iter::successors(Some(el), |el| self.parent(*el));
        around.filter_map(|el| self.id(el)).next().map(Cow::into_owned)
    }

    /// The element's id, where it has one, and those of the elements around it.
    pub(crate) fn ids_around(&self, el: El) -> Vec<Cow<'t, str>> {
        std::iter::successors(Some(el), |el| self.parent(*el)).filter_map(|el| self.id(el)).collect()
    }

    pub(crate) fn parent(&self, el: El) -> Option<El> {
        Some(self.parent[el as usize]).filter(|el| *el != NOTHING)
    }

    pub(crate) fn kids(&self, el: El, kind: K) -> impl Iterator<Item = El> + '_ {
        self.children(el).filter(move |kid| self.is_a(*kid, kind))
    }

    pub(crate) fn children(&self, el: El) -> impl Iterator<Item = El> + '_ {
        self.tree.children(el).filter(|kid| self.tree.is_of_the_model(*kid))
    }

    /// The first child of a kind.
    pub(crate) fn kid(&self, el: El, kind: K) -> Option<El> {
        if !self.wide.is_empty()
            && let Some(first) = self.wide.get(&el)
        {
            return first.get(&kind).copied();
        }
        self.children(el).find(|kid| self.is_a(*kid, kind))
    }

    /// The character data of an element, without white space around it.
    pub(crate) fn text(&self, el: El) -> Cow<'t, str> {
        match self.tree.text(el) {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
            Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
        }
    }

    /// Whether the element says by `xsi:type` that it is a formal expression.
    pub(crate) fn formal(&self, el: El) -> bool {
        self.tree.instance_type(el).is_some_and(|own| local_name(own.trim()) == "tFormalExpression")
    }

    /// The element of an id, which may carry a prefix.
    pub(crate) fn find(&self, id: &str) -> Option<El> {
        let id = id.trim();
        let found = self.ids.get(id).or_else(|| self.ids.get(id.split_once(':')?.1));
        found.copied()
    }

    /// Element that an attribute refers to.
    pub(crate) fn refers(&self, el: El, attribute: &str) -> Option<El> {
        self.find(&self.attr(el, attribute)?)
    }

    /// Elements that the children of a kind refer to; none in the place of one that does not exist.
    pub(crate) fn referred(&self, el: El, kind: K) -> impl Iterator<Item = Option<El>> + '_ {
        self.kids(el, kind).map(|kid| self.find(&self.text(kid)))
    }

    /// Element that the first child of a kind refers to.
    pub(crate) fn names(&self, el: El, kind: K) -> Option<El> {
        self.find(&self.text(self.kid(el, kind)?))
    }

    /// Whether the flow stands among the incoming flows that a node lists.
    pub(crate) fn lists(&self, node: El, flow: El) -> bool {
        self.listed.binary_search(&(node, flow)).is_ok()
    }

    pub(crate) fn incoming(&self, el: El) -> &[El] {
        self.incoming.get(el)
    }

    pub(crate) fn outgoing(&self, el: El) -> &[El] {
        self.outgoing.get(el)
    }

    /// Whether message flows leave and reach the element.
    pub(crate) fn messages(&self, el: El) -> [bool; 2] {
        self.messages.get(&el).copied().unwrap_or_default()
    }

    pub(crate) fn group(&self, el: El) -> Option<Group> {
        self.kind(el).map(K::group)
    }

    pub(crate) fn is_flow_node(&self, el: El) -> bool {
        self.group(el).is_some_and(|group| group.is_flow_node() || group == Group::ChoreographyActivity)
    }

    pub(crate) fn is_activity(&self, el: El) -> bool {
        self.kind(el).is_some_and(K::is_activity)
    }

    pub(crate) fn is_event_sub_process(&self, el: El) -> bool {
        self.is_a(el, K::SubProcess) && self.truth(el, "triggeredByEvent")
    }

    /// All flow nodes.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = El> + '_ {
        self.each(FLOW_NODES)
    }

    /// All activities.
    pub(crate) fn activities(&self) -> impl Iterator<Item = El> + '_ {
        self.each(&FLOW_NODES[..ACTIVITIES])
    }

    /// The process around an element.
    pub(crate) fn process(&self, el: El) -> Option<El> {
        Some(self.process[el as usize]).filter(|process| *process != NOTHING)
    }

    pub(crate) fn executable(&self, el: El) -> bool {
        self.process(el).is_some_and(|process| self.truth(process, "isExecutable"))
    }

    /// The event definitions of an event, its own and those it refers to.
    pub(crate) fn definitions(&self, event: El) -> impl Iterator<Item = El> + '_ {
        let is_definition = |el: &El| self.group(*el) == Some(Group::EventDefinition);
        let own = self.children(event).filter(is_definition);
        own.chain(self.referred(event, K::EventDefinitionRef).flatten().filter(is_definition))
    }

    /// Whether all event definitions of an event are of these kinds.
    pub(crate) fn defines_only(&self, event: El, kinds: &[K]) -> bool {
        self.definitions(event).all(|definition| self.is(definition, kinds))
    }

    pub(crate) fn defines(&self, event: El, kind: K) -> bool {
        self.definitions(event).any(|definition| self.is_a(definition, kind))
    }

    /// Whether the event has an event definition.
    pub(crate) fn has_definition(&self, event: El) -> bool {
        self.definitions(event).next().is_some()
    }

    /// Label of the element in messages for people: its kind, id and name.
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
