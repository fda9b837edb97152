//! One graph of a definition as the flow between its elements.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use heddle_bpmn::element::{ElementKind as K, Splitting};
use heddle_bpmn::model::{Activity, Edge, GraphRef, LoopCharacteristics, Node};
use heddle_bpmn_graph::Csr;
use std::collections::{HashMap, HashSet};

/// Index of an element in [`FlowGraph::elements`], or of a flow in [`FlowGraph::flows`].
pub(super) type Ix = u32;

/// No element, no flow, no edge.
pub(super) const NONE: Ix = Ix::MAX;

/// Token behaviour of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A start event.
    Start,
    /// An end event; one that terminates takes the other tokens of its scope with it.
    End {
        terminates: bool,
    },
    /// An activity.
    Activity,
    /// An intermediate event, or a boundary event once it has occurred.
    Event,
    Exclusive,
    Parallel,
    /// An inclusive gateway, or a complex gateway, whose expression is not judged.
    Inclusive,
    /// An event-based gateway; a parallel one waits for all its events.
    EventBased {
        parallel: bool,
    },
}

/// One flow node.
#[derive(Debug)]
pub(super) struct Element<'a> {
    pub id: &'a str,
    /// Index in the graph's nodes.
    pub place: usize,
    pub node: &'a Node,
    pub role: Role,
    /// The activity that a boundary event stands on.
    pub host: Ix,
    /// Whether a boundary event ends its activity.
    pub interrupting: bool,
    /// Whether a run rests here until something happens outside.
    pub waits: bool,
    /// Whether the element starts an instance without an incoming flow.
    pub instantiates: bool,
}

/// Guard of a sequence flow, as far as no data is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guard<'a> {
    /// No condition.
    Free,
    /// The condition is the literal true.
    True,
    /// The condition is the literal false.
    False,
    /// The data decide.
    Data,
    /// The outcome of the human task decides.
    Outcome(&'a str),
    /// The failure of the source decides.
    Failure,
    /// A bounded way back.
    Loop,
}

/// One sequence flow.
#[derive(Debug)]
pub(super) struct Flow<'a> {
    pub id: Option<&'a str>,
    pub source: Ix,
    pub target: Ix,
    pub guard: Guard<'a>,
    pub default: bool,
}

/// The flow nodes and sequence flows of one scope.
#[derive(Debug)]
pub(super) struct FlowGraph<'a> {
    pub elements: Vec<Element<'a>>,
    pub flows: Vec<Flow<'a>>,
    pub outgoing: Csr,
    pub incoming: Csr,
    /// The boundary events of each activity that has some.
    pub boundaries: HashMap<Ix, Vec<Ix>>,
    /// The elements that a run begins with: one of them, or, without a start event, all of them.
    pub starts: Vec<Ix>,
    pub together: bool,
    /// Which elements a path from a start leads to.
    pub reached: Vec<bool>,
}

impl<'a> FlowGraph<'a> {
    /// The flow of a graph; `resting` says in which sub-processes a run can rest.
    pub(crate) fn new(graph: &GraphRef<'a>, resting: &HashSet<*const Node>) -> Self {
        let (elements, mut boundaries) = elements(graph, resting);
        let mut by_id = HashMap::with_capacity(elements.len());
        for (at, element) in elements.iter().enumerate() {
            by_id.entry(element.id).or_insert(index(at));
        }
        let mut found = Self {
            elements,
            flows: Vec::with_capacity(graph.edges.len()),
            outgoing: Csr::default(),
            incoming: Csr::default(),
            boundaries: HashMap::new(),
            starts: Vec::new(),
            together: false,
            reached: Vec::new(),
        };
        for (event, host) in boundaries.drain(..) {
            let Some(&host) = by_id.get(host) else { continue };
            if found.element(host).role != Role::Activity {
                continue;
            }
            found.elements[event as usize].host = host;
            found.boundaries.entry(host).or_default().push(event);
        }
        for edge in graph.edges {
            found.add_flow(edge, &by_id);
        }
        found.add_links();
        let ends = |of: fn(&Flow<'a>) -> Ix| {
            found.flows.iter().enumerate().map(move |(at, flow)| (of(flow), index(at)))
        };
        found.outgoing = Csr::new(found.elements.len(), ends(|flow| flow.source));
        found.incoming = Csr::new(found.elements.len(), ends(|flow| flow.target));
        for element in 0..found.elements.len() {
            found.settle(index(element));
        }
        found.find_starts();
        found.reach();
        found
    }

    pub(crate) fn element(&self, ix: Ix) -> &Element<'a> {
        &self.elements[ix as usize]
    }

    pub(crate) fn flow(&self, ix: Ix) -> &Flow<'a> {
        &self.flows[ix as usize]
    }

    pub(crate) fn boundaries(&self, host: Ix) -> &[Ix] {
        self.boundaries.get(&host).map_or(&[], Vec::as_slice)
    }

    fn add_flow(&mut self, edge: &'a Edge, by_id: &HashMap<&str, Ix>) {
        if edge.is_no_flow() {
            return;
        }
        let end = |end: &Option<String>| end.as_deref().and_then(|id| by_id.get(id)).copied();
        let (Some(source), Some(target)) = (end(&edge.source), end(&edge.target)) else { return };
        let default = edge.id.as_deref().is_some_and(|id| is_default(self.element(source).node, id));
        let guard = guard(edge);
        self.flows.push(Flow { id: edge.id.as_deref(), source, target, guard, default });
        // What a bounded loop leads to when it has run its most iterations.
        let after = edge.r#loop.as_ref().and_then(|own| own.on_maximum.as_ref());
        if let Some(target) = after.and_then(|after| end(&after.target)) {
            self.flows.push(Flow { id: None, source, target, guard: Guard::Loop, default: false });
        }
    }

    /// A throwing link leads to the catching link of its name.
    fn add_links(&mut self) {
        let mut catching: HashMap<&str, Ix> = HashMap::new();
        let mut throwing = Vec::new();
        for (at, element) in self.elements.iter().enumerate() {
            let Some(name) = link(element.node) else { continue };
            if element.node.is(K::IntermediateCatchEvent) {
                catching.entry(name).or_insert(index(at));
            } else {
                throwing.push((index(at), name));
            }
        }
        for (source, name) in throwing {
            let Some(&target) = catching.get(name) else { continue };
            self.flows.push(Flow { id: None, source, target, guard: Guard::Free, default: false });
        }
    }

    /// Marks the flows out of an element that are never taken, as far as literal conditions tell.
    fn settle(&mut self, element: Ix) {
        let role = self.element(element).role;
        let flows = self.outgoing.of(element);
        match role {
            Role::Parallel | Role::EventBased { .. } => {
                flows.iter().for_each(|&flow| self.flows[flow as usize].guard = Guard::Free);
            }
            Role::End { .. } => {
                flows.iter().for_each(|&flow| self.flows[flow as usize].guard = Guard::False);
            }
            Role::Exclusive => {
                let certain = |flow: &Ix| {
                    let own = self.flow(*flow);
                    own.guard == Guard::True && !own.default
                };
                let Some(last) = flows.iter().position(certain) else { return };
                for (at, &flow) in flows.iter().enumerate() {
                    let own = &mut self.flows[flow as usize];
                    if at > last || own.default {
                        own.guard = Guard::False;
                    }
                }
            }
            Role::Inclusive | Role::Start | Role::Activity | Role::Event => {
                let others = || flows.iter().map(|&flow| self.flow(flow)).filter(|own| !own.default);
                let certain = others().any(|own| own.guard == Guard::True);
                let mixed = role == Role::Inclusive
                    && others().any(|own| own.guard == Guard::Free)
                    && others().any(|own| own.guard != Guard::Free);
                if !certain && !mixed {
                    return;
                }
                for &flow in flows {
                    let own = &mut self.flows[flow as usize];
                    if own.default {
                        own.guard = Guard::False;
                    }
                }
            }
        }
    }

    fn find_starts(&mut self) {
        let all = || self.elements.iter().enumerate();
        self.starts = all().filter(|(_, own)| own.instantiates).map(|(at, _)| index(at)).collect();
        if self.starts.is_empty() {
            let fed = |own: &Element<'_>| match own.node.kind() {
                Some(K::BoundaryEvent) => true,
                Some(K::IntermediateCatchEvent) => link(own.node).is_some(),
                _ => false,
            };
            let free = all().filter(|&(at, own)| self.incoming.of(index(at)).is_empty() && !fed(own));
            self.starts = free.map(|(at, _)| index(at)).collect();
            self.together = true;
        }
    }

    fn reach(&mut self) {
        self.reached = vec![false; self.elements.len()];
        let mut open = self.starts.clone();
        while let Some(ix) = open.pop() {
            if std::mem::replace(&mut self.reached[ix as usize], true) {
                continue;
            }
            open.extend(self.next(ix));
        }
    }

    /// Whether a token can come along the flow, as far as paths tell.
    pub(crate) fn is_live(&self, flow: &Flow<'_>) -> bool {
        self.reached[flow.source as usize] && flow.guard != Guard::False
    }

    /// The elements that may follow an element.
    pub(crate) fn next(&self, ix: Ix) -> impl Iterator<Item = Ix> + '_ {
        let flows = self.outgoing.of(ix).iter().map(|&flow| self.flow(flow));
        let flows = flows.filter(|flow| flow.guard != Guard::False).map(|flow| flow.target);
        flows.chain(self.boundaries(ix).iter().copied())
    }
}

pub(super) fn index(at: usize) -> Ix {
    Ix::try_from(at).unwrap_or(NONE)
}

/// The elements that take part in the flow, and each boundary event with the id of its activity.
fn elements<'a>(
    graph: &GraphRef<'a>,
    resting: &HashSet<*const Node>,
) -> (Vec<Element<'a>>, Vec<(Ix, &'a str)>) {
    let mut elements = Vec::with_capacity(graph.nodes.len());
    let mut boundaries = Vec::new();
    for (place, node) in graph.nodes.iter().enumerate() {
        let (kind, bpmn) = (node.kind(), node.bpmn.as_deref());
        let id = node.element_id().unwrap_or_default();
        let handler = activity(node).and_then(|own| own.for_compensation) == Some(true);
        let event_sub_process = bpmn.and_then(|own| own.triggered_by_event) == Some(true);
        if id.is_empty() || node.is_beside_the_flow() || handler || event_sub_process {
            continue;
        }
        if kind == Some(K::BoundaryEvent) {
            // A compensation event leads to its handler, which stands beside the flow.
            if has_definition(node, &["compensate"]) {
                continue;
            }
            let host = bpmn.and_then(|own| own.attached_to_ref.as_deref());
            boundaries.push((index(elements.len()), host.unwrap_or_default()));
        }
        let interrupting = bpmn.and_then(|own| own.cancel_activity) != Some(false);
        let role = role(kind, node);
        let starts = bpmn.and_then(|own| own.instantiate) == Some(true)
            && matches!(kind, Some(K::ReceiveTask | K::EventBasedGateway));
        let waits = waits(node) || resting.contains(&std::ptr::from_ref(node));
        let instantiates = role == Role::Start || starts;
        elements.push(Element { id, place, node, role, host: NONE, interrupting, waits, instantiates });
    }
    (elements, boundaries)
}

/// Token behaviour of an element: a gateway's by its split, any other's by its group.
fn role(kind: Option<K>, node: &Node) -> Role {
    match node.token_rules().1 {
        Splitting::First => Role::Exclusive,
        Splitting::All => Role::Parallel,
        Splitting::Every | Splitting::Complex => Role::Inclusive,
        Splitting::Events => {
            let bpmn = node.bpmn.as_deref();
            let kind = bpmn.and_then(|own| own.event_gateway_type.as_deref());
            Role::EventBased { parallel: kind.is_some_and(|kind| kind.eq_ignore_ascii_case("parallel")) }
        }
        Splitting::Direct => match kind {
            Some(K::StartEvent) => Role::Start,
            Some(K::EndEvent) => {
                Role::End { terminates: has_definition(node, &["terminate", "error", "cancel"]) }
            }
            Some(K::Event) => Role::Event,
            Some(kind) if kind.is_event() => Role::Event,
            _ => Role::Activity,
        },
    }
}

/// Whether a run rests at the element. What an editor's own kind or a call does is not known here, so that it
/// counts as waiting.
pub(super) fn waits(node: &Node) -> bool {
    let Some(kind) = node.kind() else { return true };
    match kind {
        K::UserTask | K::ReceiveTask | K::CallActivity | K::AdHocSubProcess => true,
        K::BoundaryEvent | K::StartEvent | K::EndEvent | K::IntermediateThrowEvent => false,
        K::IntermediateCatchEvent => link(node).is_none(),
        // Its content is judged on its own.
        K::SubProcess | K::Transaction => false,
        K::ServiceTask | K::SendTask => calls(node) || has_executor(node),
        K::BusinessRuleTask | K::ScriptTask | K::Task | K::ManualTask => has_executor(node),
        kind => !kind.is_gateway(),
    }
}

/// Whether the configuration of a task names an executor.
fn has_executor(node: &Node) -> bool {
    node.configuration.as_ref().is_some_and(|own| own.contains_key("kind"))
}

/// Whether a task calls something outside.
fn calls(node: &Node) -> bool {
    let Some(bpmn) = node.bpmn.as_deref() else { return false };
    let extended = bpmn.extension_xml.as_ref().is_some_and(|own| !own.is_empty());
    let named = bpmn.implementation.as_deref();
    bpmn.operation_ref.is_some()
        || extended
        || named.is_some_and(|own| !own.is_empty() && !own.starts_with("##"))
}

pub(super) fn activity(node: &Node) -> Option<&Activity> {
    node.bpmn.as_deref().and_then(|own| own.activity.as_ref())
}

/// The standard loop of an activity, where it has one.
pub(super) fn standard_loop(node: &Node) -> Option<&LoopCharacteristics> {
    let own = activity(node)?.r#loop.as_deref()?;
    own.kind.as_deref().is_some_and(|kind| kind.to_ascii_lowercase().contains("standard")).then_some(own)
}

fn has_definition(node: &Node, kinds: &[&str]) -> bool {
    let definitions = node.bpmn.as_deref().and_then(|own| own.event_definitions.as_deref());
    definitions.unwrap_or_default().iter().any(|own| own.kind().is_some_and(|kind| kinds.contains(&kind)))
}

/// The name of a link event.
fn link(node: &Node) -> Option<&str> {
    let definitions = node.bpmn.as_deref().and_then(|own| own.event_definitions.as_deref());
    let link = definitions?.iter().find(|own| own.kind() == Some("link"))?;
    Some(link.reference.as_deref().or(node.display_name.as_deref()).unwrap_or_default())
}

fn is_default(node: &Node, flow: &str) -> bool {
    let own = node.bpmn.as_deref().and_then(|own| own.default_flow.as_deref());
    own.or_else(|| activity(node)?.default_flow.as_deref()) == Some(flow)
}

fn guard(edge: &Edge) -> Guard<'_> {
    let maximum = edge.r#loop.as_ref().and_then(|own| own.maximum_iterations);
    if maximum.is_some_and(|maximum| maximum >= 0) {
        return Guard::Loop;
    }
    let on = edge.condition.as_ref().and_then(|own| own.on.as_deref()).unwrap_or_default();
    if on == "failure" {
        return Guard::Failure;
    }
    if let Some(outcome) = on.strip_prefix("outcome:") {
        return Guard::Outcome(outcome.trim());
    }
    if edge
        .condition
        .as_ref()
        .is_some_and(|own| own.left.as_deref().is_some_and(|left| !left.trim().is_empty()))
    {
        return Guard::Data;
    }
    match edge.bpmn.as_deref().and_then(|own| own.condition_expression.as_deref()) {
        None => Guard::Free,
        Some(text) => literal(text),
    }
}

/// Whether a condition is one of the literals, in FEEL, JUEL or XPath.
pub(super) fn literal(text: &str) -> Guard<'static> {
    let text = text.trim();
    let bare =
        text.strip_prefix("${").or_else(|| text.strip_prefix("#{")).and_then(|own| own.strip_suffix('}'));
    let bare = bare.or_else(|| text.strip_prefix('=')).unwrap_or(text).trim();
    match bare {
        "true" | "true()" => Guard::True,
        "false" | "false()" => Guard::False,
        "" => Guard::Free,
        _ => Guard::Data,
    }
}
