//! The nodes and flows of a choreography with those of what it calls, read from the document (clauses 11.5 to 11.7).

use super::fault::ChoreographyFault as Fault;
use super::tree::Tree;
use heddle_bpmn::ElementKind as K;
use heddle_bpmn::elements::El;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Most nodes of a monitor, those of called choreographies among them.
const MAX_NODES: usize = 2_000;
/// Most flows of a monitor.
const MAX_FLOWS: usize = 8_000;
/// The deepest nesting of sub-choreographies and calls.
const MAX_DEPTH: usize = 32;
/// Most flows out of a node that takes any number of them.
const MAX_CHOICES: usize = 8;
/// Source of a flow that leads into a node from nowhere, where its scope begins.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Index of the choreography's own scope.
pub(super) const ROOT: u32 = 0;

/// A choreography as a net: its tokens are on flows, in tasks and in sub-choreographies.
#[derive(Debug, Default)]
pub(super) struct Net {
    pub nodes: Vec<Node>,
    pub flows: Vec<Flow>,
    pub scopes: Vec<Scope>,
    /// Whether a node waits for what can still arrive: then each move may matter to it.
    pub has_inclusive_joins: bool,
}

/// A sequence flow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flow {
    pub source: u32,
    pub target: u32,
    /// Whether an activity that it leaves may do without it: it has a condition, or is the default flow.
    pub optional: bool,
}

/// Content of the choreography or of a sub-choreography.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// The sub-choreography; none for the choreography itself.
    pub owner: Option<u32>,
    /// Flows from nowhere by which it begins.
    pub starts: Vec<u32>,
    /// Whether it begins at all of them, or at one.
    pub starts_all: bool,
    /// Nodes without outgoing flows: what arrives there is gone.
    pub ends: Vec<u32>,
}

/// A node.
#[derive(Debug)]
pub(super) struct Node {
    pub id: Arc<str>,
    pub name: Option<Arc<str>>,
    pub kind: Kind,
    pub scope: u32,
    pub incoming: Vec<u32>,
    pub outgoing: Vec<u32>,
    /// Events at its border.
    pub boundary: Vec<Boundary>,
    /// The activity at whose border it stands, for a boundary event.
    pub host: Option<u32>,
    /// The throwing links that lead to it, for a catching one.
    pub linked: Vec<u32>,
    /// Sets of flows of which it takes one.
    pub choices: Vec<Vec<u32>>,
    /// Nodes from which a token can still come to an inclusive join, by its incoming flows.
    pub upstream: Vec<HashSet<u32>>,
}

/// An event at the border of an activity.
#[derive(Debug, Clone, Copy)]
pub(super) struct Boundary {
    pub event: u32,
    pub interrupting: bool,
}

/// Kind of a node.
#[derive(Debug)]
pub(super) enum Kind {
    /// A choreography task, or a call of a global one.
    Task(Box<Task>),
    /// A sub-choreography, or a call of a choreography.
    Sub {
        /// Scope of its content.
        scope: u32,
        repeat: Repeat,
    },
    /// A node at which each token goes on at once: start and end events.
    Pass,
    /// An exclusive or event-based gateway.
    Choice,
    /// An intermediate event: a token goes on when something happens that no message tells.
    Event,
    /// A gateway that waits for all incoming flows.
    Parallel,
    /// An inclusive gateway with several incoming flows.
    InclusiveJoin,
    /// A complex gateway with several incoming flows.
    ComplexJoin,
    /// A throwing link.
    Link {
        /// The catching link.
        target: Option<u32>,
    },
    /// An end event that ends its scope.
    Terminate,
}

/// A choreography task (clause 11.5.1).
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub initial: Leg,
    pub reply: Option<Leg>,
    pub repeat: Repeat,
}

/// A message that one participant sends another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leg {
    pub from: Arc<str>,
    pub to: Arc<str>,
    /// Name of the message; absent is any.
    pub message: Option<Arc<str>>,
}

/// Loop type of a choreography activity (clause 11.5.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// Once.
    Once,
    /// Any number of times from one on, one after another.
    InTurn,
    /// Any number of times from one on, in parallel.
    AtOnce,
}

/// Participants of a called choreography by the ids of those who play them.
type Played = HashMap<String, String>;

/// Way to where the reader is.
#[derive(Clone, Default)]
struct Place {
    scope: u32,
    depth: usize,
    played: Played,
    /// The choreographies around it, by their elements.
    around: Vec<El>,
}

/// Reads a choreography.
///
/// # Errors
/// What it may not hold, or a bound that it exceeds.
pub(super) fn read(tree: &Tree<'_>, choreography: El) -> Result<Net, Fault> {
    let mut net = Net { scopes: vec![Scope::default()], ..Net::default() };
    let place = Place { scope: ROOT, around: vec![choreography], ..Place::default() };
    net.content(tree, choreography, &place)?;
    net.choices()?;
    net.joins();
    Ok(net)
}

impl Net {
    pub(super) fn node(&self, ix: u32) -> &Node {
        &self.nodes[ix as usize]
    }

    pub(super) fn flow(&self, ix: u32) -> Flow {
        self.flows[ix as usize]
    }

    pub(super) fn scope(&self, ix: u32) -> &Scope {
        &self.scopes[ix as usize]
    }

    fn content(&mut self, tree: &Tree<'_>, around: El, place: &Place) -> Result<(), Fault> {
        let mut known: HashMap<String, u32> = HashMap::new();
        let mut own: BTreeMap<u32, El> = BTreeMap::new();
        for el in tree.children(around) {
            let Some(ix) = self.element(tree, el, place)? else { continue };
            known.insert(tree.id(el), ix);
            own.insert(ix, el);
        }
        for flow in tree.kids(around, K::SequenceFlow) {
            let end = |name: &str| tree.reference(flow, name).and_then(|id| known.get(&id).copied());
            let (Some(source), Some(target)) = (end("sourceRef"), end("targetRef")) else {
                let sentence = "a sequence flow does not connect two elements of one choreography";
                return Err(Fault::new(&tree.id(flow), sentence, "11.4.1"));
            };
            let id = tree.id(flow);
            let ix = self.connect(source, target, &id)?;
            let default = own.get(&source).and_then(|el| tree.reference(*el, "default"));
            self.flows[ix as usize].optional = default.is_some_and(|name| name == id)
                || tree.kids(flow, K::ConditionExpression).next().is_some();
        }
        for (&ix, &el) in &own {
            self.border(tree, el, ix, &known)?;
        }
        self.links(tree, &own)?;
        self.begin(tree, &own, place)
    }

    fn connect(&mut self, source: u32, target: u32, id: &str) -> Result<u32, Fault> {
        if self.flows.len() >= MAX_FLOWS {
            let sentence = format!("it has more than {MAX_FLOWS} sequence flows");
            return Err(Fault::new(id, sentence, "11"));
        }
        let flow = index(self.flows.len());
        self.flows.push(Flow { source, target, optional: false });
        if source != NOWHERE {
            self.nodes[source as usize].outgoing.push(flow);
        }
        self.nodes[target as usize].incoming.push(flow);
        Ok(flow)
    }

    /// Adds a node with its content; none for what is no node.
    fn element(&mut self, tree: &Tree<'_>, el: El, place: &Place) -> Result<Option<u32>, Fault> {
        let Some(kind) = tree.kind(el) else { return Ok(None) };
        let group = kind.group();
        if !group.is_flow_node() && !kind.is_choreography() {
            return Ok(None);
        }
        if self.nodes.len() >= MAX_NODES {
            let sentence = format!("it has more than {MAX_NODES} activities, gateways and events");
            return Err(Fault::new(&tree.id(el), sentence, "11"));
        }
        let ix = index(self.nodes.len());
        self.nodes.push(Node {
            id: tree.id(el).into(),
            name: tree.attr(el, "name").map(Arc::from),
            kind: Kind::Pass,
            scope: place.scope,
            incoming: Vec::new(),
            outgoing: Vec::new(),
            boundary: Vec::new(),
            host: None,
            linked: Vec::new(),
            choices: Vec::new(),
            upstream: Vec::new(),
        });
        let kind = match kind {
            K::ChoreographyTask => Kind::Task(Box::new(task(tree, el, place)?)),
            K::SubChoreography => self.sub(tree, el, el, ix, place.clone())?,
            K::CallChoreography => self.call(tree, el, ix, place)?,
            K::StartEvent => Kind::Pass,
            K::ExclusiveGateway | K::EventBasedGateway => Kind::Choice,
            K::EndEvent if tree.kids(el, K::TerminateEventDefinition).next().is_some() => Kind::Terminate,
            K::EndEvent => Kind::Pass,
            K::ParallelGateway => Kind::Parallel,
            K::InclusiveGateway => Kind::InclusiveJoin,
            K::ComplexGateway => Kind::ComplexJoin,
            K::IntermediateThrowEvent if link(tree, el).is_some() => Kind::Link { target: None },
            K::IntermediateThrowEvent | K::IntermediateCatchEvent | K::BoundaryEvent => Kind::Event,
            _ => {
                let sentence = format!("a choreography holds no {}", tree.name(el));
                return Err(Fault::new(&tree.id(el), sentence, "11.4"));
            }
        };
        self.nodes[ix as usize].kind = kind;
        Ok(Some(ix))
    }

    /// A sub-choreography, or the choreography that a call calls, as a scope of its own.
    fn sub(
        &mut self,
        tree: &Tree<'_>,
        activity: El,
        content: El,
        ix: u32,
        around: Place,
    ) -> Result<Kind, Fault> {
        if around.depth >= MAX_DEPTH {
            let sentence = format!("choreographies nest deeper than {MAX_DEPTH}");
            return Err(Fault::new(&tree.id(activity), sentence, "11.5.2"));
        }
        let repeat = repeat(tree, activity)?;
        let scope = index(self.scopes.len());
        self.scopes.push(Scope { owner: Some(ix), ..Scope::default() });
        self.content(tree, content, &Place { scope, depth: around.depth + 1, ..around })?;
        Ok(Kind::Sub { scope, repeat })
    }

    fn call(&mut self, tree: &Tree<'_>, el: El, ix: u32, place: &Place) -> Result<Kind, Fault> {
        let id = tree.id(el);
        let called = tree.reference(el, "calledChoreographyRef");
        let Some(called) = called.as_deref().and_then(|name| tree.find(name)) else {
            return Err(Fault::new(&id, "it calls no choreography of this definition", "11.5.3"));
        };
        let mut played = Played::new();
        for association in tree.kids(el, K::ParticipantAssociation) {
            let inner = tree.texts(association, K::InnerParticipantRef).next();
            let outer = tree.texts(association, K::OuterParticipantRef).next();
            if let (Some(inner), Some(outer)) = (inner, outer) {
                let outer = place.played.get(&outer).cloned().unwrap_or(outer);
                played.insert(inner, outer);
            }
        }
        play_by_name(tree, el, called, place, &mut played);
        let mut inner = Place { played, ..place.clone() };
        if tree.is(called, K::GlobalChoreographyTask) {
            let repeat = repeat(tree, el)?;
            return Ok(Kind::Task(Box::new(Task { repeat, ..global_task(tree, called, &inner)? })));
        }
        if !tree.is(called, K::Choreography) {
            return Err(Fault::new(&id, "what it calls is no choreography", "11.5.3"));
        }
        if inner.around.contains(&called) {
            let sentence = "the choreography calls itself, directly or by another";
            return Err(Fault::new(&id, sentence, "11.5.3"));
        }
        inner.around.push(called);
        self.sub(tree, el, called, ix, inner)
    }

    /// Attaches a boundary event to its activity.
    fn border(
        &mut self,
        tree: &Tree<'_>,
        el: El,
        ix: u32,
        known: &HashMap<String, u32>,
    ) -> Result<(), Fault> {
        if !tree.is(el, K::BoundaryEvent) {
            return Ok(());
        }
        let host = tree.reference(el, "attachedToRef").and_then(|id| known.get(&id).copied());
        let host = host.filter(|host| matches!(self.node(*host).kind, Kind::Task(_) | Kind::Sub { .. }));
        let Some(host) = host else {
            let sentence = "the event stands at no choreography activity";
            return Err(Fault::new(&tree.id(el), sentence, "11.6.2"));
        };
        let interrupting = tree.attr(el, "cancelActivity").is_none_or(|own| own != "false" && own != "0");
        self.nodes[host as usize].boundary.push(Boundary { event: ix, interrupting });
        self.nodes[ix as usize].host = Some(host);
        Ok(())
    }

    /// Lets throwing links lead to the catching one of their name.
    fn links(&mut self, tree: &Tree<'_>, own: &BTreeMap<u32, El>) -> Result<(), Fault> {
        let catching: HashMap<String, u32> = own
            .iter()
            .filter(|(_, el)| tree.is(**el, K::IntermediateCatchEvent))
            .filter_map(|(ix, el)| Some((link(tree, *el)?, *ix)))
            .collect();
        for (&ix, &el) in own {
            if !matches!(self.node(ix).kind, Kind::Link { .. }) {
                continue;
            }
            let target = link(tree, el).and_then(|name| catching.get(&name).copied());
            let Some(target) = target else {
                return Err(Fault::new(&tree.id(el), "no event catches the link", "11.6.2"));
            };
            self.nodes[ix as usize].kind = Kind::Link { target: Some(target) };
            self.nodes[target as usize].linked.push(ix);
        }
        Ok(())
    }

    /// Finds where a scope begins: one of its start events, or, without any, all that no flow leads to.
    fn begin(&mut self, tree: &Tree<'_>, own: &BTreeMap<u32, El>, place: &Place) -> Result<(), Fault> {
        let events: Vec<u32> =
            own.iter().filter(|(_, el)| tree.is(**el, K::StartEvent)).map(|(ix, _)| *ix).collect();
        let free = |ix: &&u32| {
            let node = self.node(**ix);
            node.incoming.is_empty() && node.host.is_none() && node.linked.is_empty()
        };
        let first: Vec<u32> =
            if events.is_empty() { own.keys().filter(free).copied().collect() } else { events.clone() };
        let ends = |ix: &&u32| {
            let node = self.node(**ix);
            node.outgoing.is_empty() && !matches!(node.kind, Kind::Link { .. })
        };
        let ends: Vec<u32> = own.keys().filter(ends).copied().collect();
        let mut starts = Vec::with_capacity(first.len());
        for ix in first {
            let id = self.node(ix).id.clone();
            starts.push(self.connect(NOWHERE, ix, &id)?);
        }
        let scope = &mut self.scopes[place.scope as usize];
        (scope.starts, scope.starts_all, scope.ends) = (starts, events.is_empty(), ends);
        Ok(())
    }

    /// The sets of outgoing flows of which each node takes one.
    fn choices(&mut self) -> Result<(), Fault> {
        for ix in 0..self.nodes.len() {
            let choices = self.choices_of(&self.nodes[ix])?;
            self.nodes[ix].choices = choices;
        }
        Ok(())
    }

    fn choices_of(&self, node: &Node) -> Result<Vec<Vec<u32>>, Fault> {
        let all = node.outgoing.clone();
        if all.len() < 2 {
            return Ok(vec![all]);
        }
        let optional = all.iter().filter(|flow| self.flow(**flow).optional).count();
        let any = match &node.kind {
            Kind::Choice => return Ok(all.into_iter().map(|flow| vec![flow]).collect()),
            Kind::InclusiveJoin | Kind::ComplexJoin => all.len(),
            Kind::Task(_) | Kind::Sub { .. } => optional,
            Kind::Pass | Kind::Event | Kind::Parallel | Kind::Link { .. } | Kind::Terminate => 0,
        };
        if any == 0 {
            return Ok(vec![all]);
        }
        if all.len() > MAX_CHOICES {
            let sentence =
                format!("more than {MAX_CHOICES} flows leave a node that takes any number of them");
            return Err(Fault::new(&node.id, sentence, "11.7.3"));
        }
        let mut found = subsets(&all);
        if any < all.len() {
            let needed: Vec<u32> = all.into_iter().filter(|flow| !self.flow(*flow).optional).collect();
            found.retain(|set| needed.iter().all(|flow| set.contains(flow)));
        }
        Ok(found)
    }

    /// Gives inclusive joins what is upstream of them; gateways with one incoming flow wait for nothing.
    fn joins(&mut self) {
        for ix in 0..self.nodes.len() {
            let node = &self.nodes[ix];
            if node.incoming.len() > 1 {
                if !matches!(node.kind, Kind::InclusiveJoin) {
                    continue;
                }
                self.has_inclusive_joins = true;
                let at = index(ix);
                let upstream = node.incoming.iter().map(|flow| self.upstream(at, *flow)).collect();
                self.nodes[ix].upstream = upstream;
            } else if matches!(node.kind, Kind::InclusiveJoin | Kind::ComplexJoin) {
                self.nodes[ix].kind = Kind::Choice;
            }
        }
    }

    /// The nodes from which a token can come by a flow into a join without passing the join.
    fn upstream(&self, join: u32, flow: u32) -> HashSet<u32> {
        let mut found = HashSet::new();
        let mut open = vec![self.flow(flow).source];
        while let Some(ix) = open.pop() {
            if ix == NOWHERE || ix == join || !found.insert(ix) {
                continue;
            }
            let node = self.node(ix);
            open.extend(node.incoming.iter().map(|flow| self.flow(*flow).source));
            open.extend(node.linked.iter().chain(&node.host));
        }
        found
    }
}

/// All sets of these flows but the empty one; callers bound their number.
fn subsets(flows: &[u32]) -> Vec<Vec<u32>> {
    let pick = |set: u32| {
        let chosen = flows.iter().enumerate().filter(|(place, _)| set & (1 << place) != 0);
        chosen.map(|(_, flow)| *flow).collect()
    };
    (1..1_u32 << flows.len()).map(pick).collect()
}

/// A place in a list as an index; the lists are bounded.
fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(NOWHERE)
}

/// Participants of a called choreography that no association names are those of the same name.
fn play_by_name(tree: &Tree<'_>, call: El, called: El, place: &Place, played: &mut Played) {
    let callers: Vec<(String, Option<String>)> = tree
        .texts(call, K::ParticipantRef)
        .map(|id| {
            let name = tree.find(&id).and_then(|el| tree.attr(el, "name"));
            (id, name)
        })
        .collect();
    for own in tree.kids(called, K::Participant) {
        let (id, name) = (tree.id(own), tree.attr(own, "name"));
        if name.is_none() || played.contains_key(&id) {
            continue;
        }
        if let Some((outer, _)) = callers.iter().find(|(_, other)| *other == name) {
            let outer = place.played.get(outer).cloned().unwrap_or_else(|| outer.clone());
            played.insert(id, outer);
        }
    }
}

/// Name of the link that an event throws or catches.
fn link(tree: &Tree<'_>, event: El) -> Option<String> {
    let definition = tree.kids(event, K::LinkEventDefinition).next()?;
    tree.attr(definition, "name")
}

fn repeat(tree: &Tree<'_>, activity: El) -> Result<Repeat, Fault> {
    match tree.attr(activity, "loopType").as_deref() {
        None | Some("None") => Ok(Repeat::Once),
        Some("Standard" | "MultiInstanceSequential") => Ok(Repeat::InTurn),
        Some("MultiInstanceParallel") => Ok(Repeat::AtOnce),
        Some(other) => {
            let sentence = format!("`{other}` is no loop type of a choreography activity");
            Err(Fault::new(&tree.id(activity), sentence, "11.5.5"))
        }
    }
}

/// A choreography task with its messages: the first goes out from the initiating participant, the other one back.
fn task(tree: &Tree<'_>, el: El, place: &Place) -> Result<Task, Fault> {
    let wrong = |sentence: &str| Fault::new(&tree.id(el), sentence, "11.5.1");
    let participants: Vec<String> = tree.texts(el, K::ParticipantRef).collect();
    let initiator = tree.reference(el, "initiatingParticipantRef");
    let initiator = initiator.ok_or_else(|| wrong("the task names no initiating participant"))?;
    let flows = tree
        .texts(el, K::MessageFlowRef)
        .map(|id| tree.find(&id).filter(|flow| tree.is(*flow, K::MessageFlow)))
        .collect::<Option<Vec<El>>>()
        .ok_or_else(|| wrong("the task refers to a message flow that is not there"))?;
    let repeat = repeat(tree, el)?;
    if flows.is_empty() {
        let other = participants.iter().find(|id| **id != initiator);
        let other =
            other.ok_or_else(|| wrong("the task has no other participant than its initiating one"))?;
        let initial = Leg { from: place.player(&initiator), to: place.player(other), message: None };
        return Ok(Task { initial, reply: None, repeat });
    }
    let task = exchange(tree, &flows, &initiator, place).map_err(wrong)?;
    Ok(Task { repeat, ..task })
}

/// A global choreography task, which has its message flows itself (clause 11.5.4).
fn global_task(tree: &Tree<'_>, el: El, place: &Place) -> Result<Task, Fault> {
    let wrong = |sentence: &str| Fault::new(&tree.id(el), sentence, "11.5.4");
    let flows: Vec<El> = tree.kids(el, K::MessageFlow).collect();
    let initiator = tree.reference(el, "initiatingParticipantRef");
    let initiator = initiator.ok_or_else(|| wrong("the task names no initiating participant"))?;
    if flows.is_empty() {
        let mut others = tree.kids(el, K::Participant).map(|own| tree.id(own));
        let other = others.find(|id| *id != initiator);
        let other =
            other.ok_or_else(|| wrong("the task has no other participant than its initiating one"))?;
        let initial = Leg { from: place.player(&initiator), to: place.player(&other), message: None };
        return Ok(Task { initial, reply: None, repeat: Repeat::Once });
    }
    exchange(tree, &flows, &initiator, place).map_err(wrong)
}

/// The messages of a task's one or two message flows.
fn exchange(tree: &Tree<'_>, flows: &[El], initiator: &str, place: &Place) -> Result<Task, &'static str> {
    let mut initial = None;
    let mut reply = None;
    for &flow in flows {
        let ends = (tree.reference(flow, "sourceRef"), tree.reference(flow, "targetRef"));
        let (Some(from), Some(to)) = ends else {
            return Err("a message flow of the task has no source or target");
        };
        let side = if from == initiator { &mut initial } else { &mut reply };
        if side.is_some() {
            return Err("two messages of the task go the same way");
        }
        *side = Some(Leg { from: place.player(&from), to: place.player(&to), message: tree.message(flow) });
    }
    let Some(initial) = initial else { return Err("the initiating participant sends no message") };
    if reply.as_ref().is_some_and(|back| back.from != initial.to || back.to != initial.from) {
        return Err("the messages of the task are not between the same two participants");
    }
    Ok(Task { initial, reply, repeat: Repeat::Once })
}

impl Place {
    /// The outermost participant that plays one.
    fn player(&self, id: &str) -> Arc<str> {
        self.played.get(id).map_or(id, String::as_str).into()
    }
}
