//! The content of a process or sub-process: its nodes and flows as a graph, and the handlers around it.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

mod nodes;

use nodes::{Made, Starting};

use super::Chosen;
use super::context::{Context, Frame, Thrown};
use super::expression;
use super::graph::{Branch, END, Graph, Kind, START, Split};
use super::names::clean;
use super::tree::{Activity, Fault, On, Scope, Trigger, What};
use super::{data, events, handlers, structure};
use heddle_bpmn::element::{ElementKind as K, Splitting};
use heddle_bpmn::model::{Edge, Node, Process};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The nodes and edges of one level.
pub(super) struct Content<'d> {
    pub nodes: &'d [Node],
    pub edges: &'d [Edge],
    pub process: Option<&'d Process>,
    pub path: String,
}

/// Kind of container that holds a level of the flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Process,
    SubProcess,
    /// An event sub-process, whose start event the handler itself stands for.
    Handler,
}

/// A node with its place.
#[derive(Debug, Clone)]
pub(super) struct Info<'d> {
    pub node: &'d Node,
    pub id: &'d str,
    /// Name of the BPMN element.
    pub word: &'d str,
    /// The BPMN element; none for what is no element of the standard.
    pub kind: Option<K>,
    pub element: u32,
    pub path: String,
}

impl<'d> Info<'d> {
    pub(crate) fn new(context: &mut Context<'d>, node: &'d Node, path: String) -> Self {
        let id = node.element_id().unwrap_or_default();
        let element = context.element(id, path.clone());
        Self { node, id, word: node.element_type().unwrap_or_default(), kind: node.kind(), element, path }
    }

    /// The name for people, else the id.
    pub(crate) fn label(&self) -> &'d str {
        self.node.display_name.as_deref().filter(|name| !name.trim().is_empty()).unwrap_or(self.id)
    }

    /// An activity that stands for the node.
    pub(crate) fn activity(&self, context: &mut Context, what: What) -> Activity {
        Activity::new(what).named(context.names.unique(self.label())).of(self.id)
    }

    fn is_gateway(&self) -> bool {
        self.kind.is_some_and(K::is_gateway)
    }

    /// Which outgoing flows take a token.
    fn splitting(&self) -> Splitting {
        self.node.token_rules().1
    }

    fn bool(&self, of: impl Fn(&heddle_bpmn::model::NodeBpmn) -> Option<bool>) -> Option<bool> {
        self.node.bpmn.as_deref().and_then(of)
    }
}

/// The process with all that stands in it.
pub(super) fn process<'d>(context: &mut Context<'d>, chosen: &Chosen<'d>, name: &str) -> Scope {
    context.names.unique(name);
    let process = match &chosen.process {
        Cow::Borrowed(process) => Some(*process),
        Cow::Owned(_) => None,
    };
    let content = Content { nodes: chosen.nodes, edges: chosen.edges, process, path: chosen.path.clone() };
    if let Some(id) = process.and_then(|process| process.id.as_deref()) {
        context.calling.push(id);
    }
    let scope = scope(context, &content, Level::Process);
    context.calling.clear();
    scope
}

/// A level as a scope.
pub(super) fn scope<'d>(context: &mut Context<'d>, content: &Content<'d>, level: Level) -> Scope {
    let is_process = level == Level::Process;
    context.frames.push(Frame { is_process, ..Frame::default() });
    if let Some(process) = content.process {
        data::declare(context, process);
    }
    let mut scope = Scope::default();
    let mut body = Body::new(context, content, level);
    for at in body.of_role(Role::EventSubProcess) {
        let info = body.nodes[at].clone();
        handlers::event_sub_process(context, &info, &mut scope, is_process);
    }
    body.claim_side_paths(context);
    let graph = body.graph(context, Entry::Starts);
    let refused = context.regions.iter().any(|region| region.code == K::ComplexGateway.name());
    // Around a gateway without a mapping nothing can be said about the structure.
    let activity = if refused { Activity::default() } else { structure::solve(context, graph) };
    let thrown: Vec<Thrown> =
        context.frames.last_mut().map(|frame| std::mem::take(&mut frame.compensations)).unwrap_or_default();
    scope.body = handlers::compensations(context, activity, thrown);
    let frame = context.frames.pop().unwrap_or_default();
    scope.variables = frame.variables;
    if let Some(fault) = frame.terminate {
        scope.faults.push((Some(Fault::Own(fault)), Activity::default()));
    }
    scope
}

/// Role of a node in its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Node of the normal flow.
    Flow,
    Boundary,
    EventSubProcess,
    CompensationHandler,
    /// Node on the path of a non-interrupting boundary event, with the number of that event.
    Side(usize),
    Beside,
}

/// Entry point of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Starts,
    /// The boundary event of this number.
    Boundary(usize),
}

struct FlowAt<'d> {
    edge: Option<&'d Edge>,
    from: usize,
    to: usize,
}

struct Body<'d> {
    level: Level,
    nodes: Vec<Info<'d>>,
    roles: Vec<Role>,
    flows: Vec<FlowAt<'d>>,
    outgoing: Vec<Vec<usize>>,
    incoming: Vec<Vec<usize>>,
    /// Boundary events by the node they are attached to.
    boundaries: Vec<Vec<usize>>,
    /// Compensation handlers by the boundary event.
    compensates: HashMap<usize, usize>,
}

impl<'d> Body<'d> {
    fn new(context: &mut Context<'d>, content: &Content<'d>, level: Level) -> Self {
        let mut nodes = Vec::new();
        for (at, node) in content.nodes.iter().enumerate() {
            let path = heddle_bpmn::model::join(&content.path, &format!("nodes[{at}]"));
            nodes.push(Info::new(context, node, path));
        }
        let count = nodes.len();
        let mut body = Self {
            level,
            roles: nodes.iter().map(role).collect(),
            nodes,
            flows: Vec::new(),
            outgoing: vec![Vec::new(); count],
            incoming: vec![Vec::new(); count],
            boundaries: vec![Vec::new(); count],
            compensates: HashMap::new(),
        };
        let index: HashMap<&str, usize> =
            body.nodes.iter().enumerate().map(|(at, info)| (info.id, at)).collect();
        body.connect(context, content, &index);
        body.link(context);
        body.attach(context, &index);
        body.scope_names(context);
        body
    }

    fn of_role(&self, role: Role) -> Vec<usize> {
        (0..self.nodes.len()).filter(|at| self.roles[*at] == role).collect()
    }

    fn add_flow(&mut self, edge: Option<&'d Edge>, from: usize, to: usize) {
        let at = self.flows.len();
        self.flows.push(FlowAt { edge, from, to });
        self.outgoing[from].push(at);
        self.incoming[to].push(at);
    }

    fn connect(&mut self, context: &mut Context<'d>, content: &Content<'d>, index: &HashMap<&str, usize>) {
        let mut handlers: Vec<(&str, &str)> = Vec::new();
        for artifact in content.process.iter().flat_map(|process| process.artifacts.iter().flatten()) {
            if let (Some(source), Some(target)) = (&artifact.source_ref, &artifact.target_ref) {
                handlers.push((source, target));
            }
        }
        for (at, edge) in content.edges.iter().enumerate() {
            let ends = [edge.source.as_deref(), edge.target.as_deref()];
            if edge.is_no_flow() {
                if let [Some(source), Some(target)] = ends {
                    handlers.push((source, target));
                }
                continue;
            }
            let found = ends.map(|end| end.and_then(|end| index.get(end)).copied());
            let path = heddle_bpmn::model::join(&content.path, &format!("edges[{at}]"));
            let id = edge.id.as_deref().unwrap_or_default();
            let [Some(from), Some(to)] = found else {
                let element = context.element(id, path);
                let message = "the flow does not connect two nodes of its own level";
                context.refuse([element], "danglingReference", message);
                continue;
            };
            if edge.r#loop.is_some() {
                let element = context.element(id, path);
                let message = "a bounded loop along an edge has no mapping to WS-BPEL";
                context.refuse([element], "edgeLoop", message);
            }
            self.add_flow(Some(edge), from, to);
        }
        for (source, target) in handlers {
            if let (Some(source), Some(target)) = (index.get(source), index.get(target))
                && self.roles[*source] == Role::Boundary
                && self.roles[*target] == Role::CompensationHandler
            {
                self.compensates.insert(*source, *target);
            }
        }
    }

    /// Links of the same name on one level are flows.
    fn link(&mut self, context: &mut Context<'d>) {
        let mut catching: HashMap<&str, usize> = HashMap::new();
        let mut throwing: Vec<(&str, usize)> = Vec::new();
        for (at, info) in self.nodes.iter().enumerate() {
            let Some(name) = link_name(info) else { continue };
            match info.kind {
                Some(K::IntermediateCatchEvent) => {
                    catching.insert(name, at);
                }
                _ => throwing.push((name, at)),
            }
        }
        let mut used = HashSet::new();
        for (name, at) in throwing {
            match catching.get(name) {
                Some(to) => {
                    used.insert(*to);
                    self.add_flow(None, at, *to);
                }
                None => self.refuse_link(context, at),
            }
        }
        for at in catching.into_values().filter(|at| !used.contains(at)) {
            self.refuse_link(context, at);
        }
    }

    fn refuse_link(&self, context: &mut Context<'d>, at: usize) {
        let message = "the link has no other end on its own level; WS-BPEL has no jump to another one";
        context.refuse([self.nodes[at].element], "linkToAnotherLevel", message);
    }

    fn attach(&mut self, context: &mut Context<'d>, index: &HashMap<&str, usize>) {
        for at in self.of_role(Role::Boundary) {
            let info = &self.nodes[at];
            let to = info.node.bpmn.as_deref().and_then(|bpmn| bpmn.attached_to_ref.as_deref());
            match to.and_then(|to| index.get(to)) {
                Some(to) => self.boundaries[*to].push(at),
                None => {
                    let message = "the boundary event is attached to nothing on its level";
                    context.refuse([info.element], "danglingReference", message);
                }
            }
        }
    }

    /// Names the scopes of the activities that a compensation can name.
    fn scope_names(&self, context: &mut Context<'d>) {
        for (at, info) in self.nodes.iter().enumerate() {
            let handled = self.boundaries[at].iter().any(|boundary| self.compensates.contains_key(boundary));
            let inner = info.node.bpmn.as_deref().and_then(|bpmn| bpmn.sub_process.as_deref());
            let inner = inner.and_then(|process| process.nodes.as_deref()).unwrap_or_default();
            let own = inner
                .iter()
                .any(|node| node.bpmn.as_deref().is_some_and(|bpmn| bpmn.triggered_by_event == Some(true)));
            if handled || own {
                let name = context.names.unique(&format!("{}_scope", clean(info.id)));
                context.scopes.insert(info.id, name);
            }
        }
    }

    fn is_interrupting(&self, boundary: usize) -> bool {
        self.nodes[boundary].bool(|bpmn| bpmn.cancel_activity) != Some(false)
            || matches!(self.kind(boundary), Some("error"))
    }

    fn kind(&self, at: usize) -> Option<&'d str> {
        match events::definitions(&self.nodes[at]) {
            [only] => only.kind(),
            _ => None,
        }
    }

    fn is_compensation(&self, boundary: usize) -> bool {
        matches!(self.kind(boundary), Some("compensate" | "compensation"))
    }

    /// Takes the paths of boundary events that do not interrupt out of the flow.
    fn claim_side_paths(&mut self, context: &mut Context<'d>) {
        for boundary in self.of_role(Role::Boundary) {
            if self.is_interrupting(boundary) || self.is_compensation(boundary) {
                continue;
            }
            let mut next: Vec<usize> =
                self.outgoing[boundary].iter().map(|flow| self.flows[*flow].to).collect();
            let mut claimed = vec![boundary];
            self.roles[boundary] = Role::Side(boundary);
            while let Some(at) = next.pop() {
                if !matches!(self.roles[at], Role::Flow | Role::Boundary) {
                    continue;
                }
                self.roles[at] = Role::Side(boundary);
                claimed.push(at);
                next.extend(self.outgoing[at].iter().map(|flow| self.flows[*flow].to));
                next.extend(self.boundaries[at].iter().copied().filter(|inner| self.is_interrupting(*inner)));
            }
            let enters = claimed.iter().any(|at| {
                let foreign = |flow: &&usize| self.roles[self.flows[**flow].from] != Role::Side(boundary);
                self.incoming[*at].iter().find(foreign).is_some()
            });
            if enters {
                let elements: Vec<u32> = claimed.iter().map(|at| self.nodes[*at].element).collect();
                let message = "the path of a boundary event that does not interrupt meets the flow of its level; an event handler cannot";
                context.refuse(elements, "sidePath", message);
            }
        }
    }

    fn graph(&mut self, context: &mut Context<'d>, entry: Entry) -> Graph {
        let role = match entry {
            Entry::Starts => Role::Flow,
            Entry::Boundary(at) => Role::Side(at),
        };
        let members = self.of_role(role);
        let mut made = Made { graph: Graph::new(), entry: HashMap::new(), exit: HashMap::new() };
        let mut starts = Vec::new();
        match entry {
            Entry::Starts => starts = self.starts(context, &members),
            Entry::Boundary(at) => starts.push(at),
        }
        // Of several starts, each is a branch of one pick.
        let creating = entry == Entry::Starts && self.level == Level::Process;
        let orphans = entry == Entry::Starts && starts.iter().all(|at| !self.is_start(*at));
        let pick = creating && starts.len() > 1 && !orphans;
        let firsts: HashSet<usize> = starts.iter().copied().collect();
        for &at in &members {
            let starting = firsts.contains(&at);
            self.add(context, &mut made, at, Starting { starting, creating: creating && !orphans, pick });
        }
        self.connect_starts(context, &mut made, &starts, pick, creating && orphans);
        for at in 0..self.flows.len() {
            self.connect_flow(context, &mut made, at);
        }
        for at in &members {
            if let Some(exit) = made.exit.get(at).copied()
                && made.graph.of(exit).outgoing.is_empty()
            {
                made.graph.edge(exit, END, Branch::default());
            }
        }
        // Interrupting boundary events have exits of their own.
        let exits: Vec<u32> = made.exit.values().copied().collect();
        for exit in exits {
            if made.graph.of(exit).outgoing.is_empty() {
                made.graph.edge(exit, END, Branch::default());
            }
        }
        made.graph
    }

    fn is_start(&self, at: usize) -> bool {
        let info = &self.nodes[at];
        info.kind == Some(K::StartEvent)
            || (self.level == Level::Process
                && matches!(info.kind, Some(K::ReceiveTask | K::EventBasedGateway))
                && info.bool(|bpmn| bpmn.instantiate) == Some(true))
    }

    /// The nodes at which a token begins.
    fn starts(&self, context: &mut Context<'d>, members: &[usize]) -> Vec<usize> {
        let first: Vec<usize> = members.iter().copied().filter(|at| self.incoming[*at].is_empty()).collect();
        let (starts, orphans): (Vec<usize>, Vec<usize>) =
            first.into_iter().partition(|at| self.is_start(*at));
        if starts.is_empty() {
            return orphans;
        }
        if !orphans.is_empty() {
            let elements: Vec<u32> = orphans.iter().map(|at| self.nodes[*at].element).collect();
            let message =
                "beside a start event these have no incoming flow, so that no token ever gets there";
            context.refuse(elements, "unreachable", message);
        }
        let elements: Vec<u32> = starts.iter().map(|at| self.nodes[*at].element).collect();
        if self.level != Level::Process && starts.len() > 1 {
            let message = "a sub-process with several start events has no mapping";
            context.refuse(elements.clone(), "severalStarts", message);
        }
        let gateway = |at: &usize| self.nodes[*at].is_gateway();
        if starts.len() > 1 && starts.iter().any(gateway) {
            let message = "an event-based gateway that creates an instance can be mapped as the only start";
            context.refuse(elements, "severalStarts", message);
        }
        starts
    }

    fn connect_starts(
        &mut self,
        context: &mut Context<'d>,
        made: &mut Made,
        starts: &[usize],
        pick: bool,
        generated: bool,
    ) {
        let mut from = START;
        if generated && let Some(first) = starts.first() {
            let info = self.nodes[*first].clone();
            let trigger = events::generated_start(context, &info, true);
            if let On::Message(call) = trigger.on {
                let receive = Activity::new(What::Receive(call, true)).named(context.names.unique("start"));
                from = made.graph.node(Kind::Step, None, Some(receive));
                made.graph.edge(START, from, Branch::default());
            }
        }
        if starts.len() > 1 {
            let split = if pick { Split::Event(true) } else { Split::Parallel };
            let node = made.graph.node(Kind::Split(split), None, None);
            made.graph.edge(from, node, Branch::default());
            from = node;
        }
        for at in starts {
            let Some(entry) = made.entry.get(at).copied() else { continue };
            let trigger = if pick { self.start_trigger(context, *at) } else { None };
            made.graph.edge(from, entry, Branch { trigger, ..Branch::default() });
        }
        if starts.is_empty() {
            made.graph.edge(START, END, Branch::default());
        }
    }

    /// The one message that a start among several waits for.
    fn start_trigger(&self, context: &mut Context<'d>, at: usize) -> Option<Trigger> {
        let info = &self.nodes[at];
        let bpmn = info.node.bpmn.as_deref();
        if info.kind == Some(K::ReceiveTask) {
            let operation = bpmn.and_then(|bpmn| bpmn.operation_ref.as_deref());
            let message = bpmn.and_then(|bpmn| bpmn.message_ref.as_deref());
            let call = events::receive(context, info, operation, message);
            return Some(Trigger { element: Some(info.id.to_owned()), on: On::Message(call) });
        }
        match events::definitions(info) {
            [] => Some(events::generated_start(context, info, false)),
            [only] if only.kind() == Some("message") => match events::trigger(context, info, only, false) {
                Ok(trigger) => Some(trigger),
                Err((code, message)) => {
                    context.refuse([info.element], code, message);
                    None
                }
            },
            _ => {
                self.refuse_start(context, info);
                None
            }
        }
    }

    fn refuse_start(&self, context: &mut Context<'d>, info: &Info<'d>) {
        let (code, message) = match events::definitions(info) {
            [only] => match only.kind() {
                Some("timer") => {
                    ("timerStart", "WS-BPEL creates an instance for a message only, never at a time")
                }
                Some("signal") => ("signal", "a signal has no mapping: WS-BPEL has no broadcast"),
                Some("conditional") => {
                    ("conditional", "a conditional event has no mapping: WS-BPEL watches no data")
                }
                _ => ("startEvent", "this start event has no mapping here"),
            },
            _ => ("multipleEvent", "one of several start events cannot wait for several events itself"),
        };
        context.refuse([info.element], code, message);
    }

    fn connect_flow(&mut self, context: &mut Context<'d>, made: &mut Made, at: usize) {
        let FlowAt { edge, from, to } = self.flows[at];
        let (Some(exit), Some(entry)) = (made.exit.get(&from).copied(), made.entry.get(&to).copied()) else {
            return;
        };
        let info = &self.nodes[from];
        let mut branch = Branch::default();
        if let Some(edge) = edge {
            match expression::of_edge(edge, context.language()) {
                Ok(condition) => branch.condition = condition,
                Err(message) => {
                    let id = edge.id.as_deref().unwrap_or_default();
                    let element = context.element(id, info.path.clone());
                    context.refuse([info.element, element], "condition", message);
                }
            }
            branch.is_default = edge.id.is_some() && default_flow(info) == edge.id.as_deref();
        }
        match info.splitting() {
            Splitting::Events => branch.trigger = self.gateway_trigger(context, to),
            Splitting::First if self.outgoing[from].len() > 1 => {
                if branch.condition.is_none() && !branch.is_default {
                    let message = "a branch has neither a condition nor is it the default: it is taken whenever it is asked";
                    context.warn(info.element, "missingCondition", message);
                }
            }
            Splitting::All if branch.condition.take().is_some() => {
                let message = "a parallel gateway asks for no condition; the condition was left out";
                context.warn(info.element, "conditionIgnored", message);
            }
            Splitting::All | Splitting::First | Splitting::Every | Splitting::Complex | Splitting::Direct => {
            }
        }
        made.graph.edge(exit, entry, branch);
    }

    fn gateway_trigger(&self, context: &mut Context<'d>, at: usize) -> Option<Trigger> {
        let info = &self.nodes[at];
        let refuse = |context: &mut Context<'d>, message: &str| {
            context.refuse([info.element], "eventGateway", message);
            None
        };
        if self.incoming[at].len() > 1 || !self.boundaries[at].is_empty() {
            return refuse(
                context,
                "an event after an event-based gateway with other incoming flows or boundary events has no mapping",
            );
        }
        let bpmn = info.node.bpmn.as_deref();
        match (info.kind, events::definitions(info)) {
            (Some(K::ReceiveTask), _) => {
                let looped =
                    bpmn.and_then(|bpmn| bpmn.activity.as_ref()).is_some_and(|own| own.r#loop.is_some());
                if looped {
                    return refuse(context, "a repeated task after an event-based gateway has no mapping");
                }
                let operation = bpmn.and_then(|bpmn| bpmn.operation_ref.as_deref());
                let message = bpmn.and_then(|bpmn| bpmn.message_ref.as_deref());
                let call = events::receive(context, info, operation, message);
                Some(Trigger { element: Some(info.id.to_owned()), on: On::Message(call) })
            }
            (Some(K::IntermediateCatchEvent), [only]) => match events::trigger(context, info, only, false) {
                Ok(trigger) => Some(trigger),
                Err((code, message)) => {
                    context.refuse([info.element], code, message);
                    None
                }
            },
            _ => refuse(context, "only one message or one time can follow an event-based gateway"),
        }
    }
}

fn role(info: &Info) -> Role {
    let bpmn = info.node.bpmn.as_deref();
    if info.node.is_beside_the_flow() {
        Role::Beside
    } else if info.kind == Some(K::BoundaryEvent) {
        Role::Boundary
    } else if bpmn.and_then(|bpmn| bpmn.triggered_by_event) == Some(true) {
        Role::EventSubProcess
    } else if bpmn.and_then(|bpmn| bpmn.activity.as_ref()).and_then(|own| own.for_compensation) == Some(true)
    {
        Role::CompensationHandler
    } else {
        Role::Flow
    }
}

fn link_name<'d>(info: &Info<'d>) -> Option<&'d str> {
    match events::definitions(info) {
        [only] if only.kind() == Some("link") => only.reference.as_deref().or(Some("")),
        _ => None,
    }
}

fn default_flow<'d>(info: &Info<'d>) -> Option<&'d str> {
    let bpmn = info.node.bpmn.as_deref()?;
    bpmn.default_flow.as_deref().or_else(|| bpmn.activity.as_ref()?.default_flow.as_deref())
}

fn has_condition(edge: Option<&Edge>) -> bool {
    edge.is_some_and(|edge| {
        let own = edge.condition.as_ref().is_some_and(|own| {
            own.left.is_some() || own.operator.is_some() || own.value.is_some() || own.on.is_some()
        });
        own || edge.bpmn.as_deref().is_some_and(|bpmn| bpmn.condition_expression.is_some())
    })
}
