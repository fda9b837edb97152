//! Compilation of a definition to its graphs.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::bindings::Bindings;
use super::branch::Branched;
use super::calls;
use super::choreography;
use super::compensation;
use super::condition::{self, Comparison, FlowCondition, Side, Test, Wrong};
use super::correlation::{self, Correlations};
use super::data::{self, DataItems};
use super::extensions::Extensions;
use super::meaning::{Edition, Meaning};
use super::rules::{MAX_WORK, NoRule};
use super::{
    Continuations, Csr, Element, Flow, FlowIx, Graph, JoinRule, Node, NodeIx, Quantities, ROOT, Scope,
    ScopeIx, SplitRule, Work, node, unsupported,
};
use heddle_bpmn::diagnostic::{self, Diagnostic, ExpressionPosition};
use heddle_bpmn::element::ElementKind;
use heddle_bpmn::model::{
    self, Edge, EventReference, LaneSet, MAIN_PROCESS_ID, MessageFlow, Process, WorkflowDefinition,
};
use heddle_feel::Expression;
use heddle_guardrails::Policy;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Kinds of line by which editors draw a sequence flow.
const LINES: &[&str] = &["default", "conditional", "smoothstep", "bezier", "straight", "step"];

/// The deepest nesting of sub-processes.
const MAX_DEPTH: usize = 64;

/// The graphs of a definition, with what stands against their execution.
#[derive(Debug, Default)]
pub struct Compiled {
    /// The startable processes. With an error among the diagnostics some or all of them are missing.
    pub processes: Vec<Arc<Graph>>,
    /// The global tasks that can be called, each as a process of one task.
    pub global_tasks: Vec<Arc<Graph>>,
    /// Findings; an error means that the definition is not executable as it stands.
    pub diagnostics: Vec<Diagnostic>,
}

impl Compiled {
    /// Whether nothing stands against publishing.
    #[must_use]
    pub fn is_executable(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// The process of this id.
    #[must_use]
    pub fn process(&self, id: &str) -> Option<&Arc<Graph>> {
        self.processes.iter().find(|graph| &*graph.id == id)
    }
}

/// Compiles every startable process of a definition: the top-level graph, and each process that is not marked
/// as not executable, as it is published now.
#[must_use]
pub fn compile(definition: &WorkflowDefinition) -> Compiled {
    compile_with(definition, Meaning::NOW)
}

/// The same by the meaning that a version has.
#[must_use]
pub fn compile_with(definition: &WorkflowDefinition, meaning: Meaning) -> Compiled {
    let mut compiled = Compiled::default();
    let mut extensions = Extensions::of(definition.bpmn.as_deref());
    if meaning.edition == Edition::Second {
        match Bindings::of(definition) {
            Ok(bindings) => extensions.bindings = bindings,
            Err(told) => {
                compiled.diagnostics.push(diagnostic::error("wrongSetting", told).with_clause("10.3.1"));
            }
        }
    }
    let correlations = Correlations::of(definition.bpmn.as_deref());
    let mut seen = false;
    if definition.nodes.as_ref().is_some_and(|nodes| !nodes.is_empty()) {
        seen = true;
        let top = Process {
            nodes: definition.nodes.clone(),
            edges: definition.edges.clone(),
            ..Process::default()
        };
        let name = definition.bpmn.as_ref().and_then(|bpmn| bpmn.name.clone());
        let builder = Builder::new(definition, &extensions, &correlations, meaning);
        build(builder, &top, MAIN_PROCESS_ID, name, &mut compiled);
    }
    let processes = definition.bpmn.as_ref().and_then(|bpmn| bpmn.processes.as_deref()).unwrap_or_default();
    for process in processes {
        let id = process.id.as_deref().unwrap_or_default();
        // A participant may stand for a process of which nothing is shown.
        if process.nodes.as_ref().is_none_or(Vec::is_empty) {
            continue;
        }
        if process.executable == Some(false) {
            let sentence = "the process is marked as not executable and cannot be started";
            compiled.diagnostics.push(diagnostic::info("processNotExecutable", sentence).with_element(id));
            continue;
        }
        seen = true;
        let builder = Builder::new(definition, &extensions, &correlations, meaning);
        build(builder, process, id, process.name.clone(), &mut compiled);
    }
    if let Some(bpmn) = definition.bpmn.as_deref() {
        global_tasks(
            Parts { definition, bpmn, extensions: &extensions, correlations: &correlations, meaning },
            &mut compiled,
        );
    }
    if seen && let Some(bpmn) = definition.bpmn.as_deref() {
        compiled.diagnostics.extend(unsupported::correlation_keys(bpmn, &correlations));
    }
    choreography::attach(definition, &mut compiled);
    if !seen {
        let sentence = "the definition holds no executable process with nodes";
        compiled.diagnostics.push(diagnostic::error("noExecutableProcess", sentence).with_clause("10.2"));
    }
    compiled
}

fn build<'d>(
    mut builder: Builder<'d>,
    process: &'d Process,
    id: &str,
    name: Option<String>,
    compiled: &mut Compiled,
) {
    if id.is_empty() {
        builder.refuse("", "missingId", "a process has no id".to_owned(), "8.3.1");
    }
    if compiled.processes.iter().any(|other| &*other.id == id) {
        builder.refuse(id, "duplicateId", format!("two processes have the id `{id}`"), "8.3.1");
    }
    let graph = builder.graph(id, name, process);
    let executable = !builder.diagnostics.iter().any(Diagnostic::is_error);
    compiled.diagnostics.append(&mut builder.diagnostics);
    if executable {
        compiled.processes.push(Arc::new(graph));
    }
}

/// Protection of a definition; none where it does not read, or the version was published when nothing was protected.
fn policy(definition: &WorkflowDefinition, meaning: Meaning) -> Policy {
    let protection = definition.protection.as_ref().filter(|_| meaning.edition == Edition::Second);
    let Some(protection) = protection else { return Policy::default() };
    let checks = protection.custom_checks.as_deref().unwrap_or_default();
    Policy::read(protection.preset.as_deref(), checks).unwrap_or_default()
}

/// Parts of a definition beside its processes.
#[derive(Clone, Copy)]
struct Parts<'d> {
    definition: &'d WorkflowDefinition,
    bpmn: &'d model::Bpmn,
    extensions: &'d Extensions<'d>,
    correlations: &'d Correlations,
    meaning: Meaning,
}

/// Compiles the global tasks. What cannot be executed stands against its call alone: it is a warning here.
fn global_tasks(parts: Parts<'_>, compiled: &mut Compiled) {
    let Parts { definition, bpmn, extensions, correlations, meaning } = parts;
    let (processes, unread) = calls::global_tasks(bpmn);
    compiled.diagnostics.extend(unread);
    for process in &processes {
        let id = process.id.as_deref().unwrap_or_default();
        if compiled.process(id).is_some() || compiled.global_tasks.iter().any(|other| &*other.id == id) {
            let sentence = format!("two callable elements have the id `{id}`: the global task is not called");
            compiled.diagnostics.push(diagnostic::warning("duplicateId", sentence).with_element(id));
            continue;
        }
        let mut own = Compiled::default();
        let builder = Builder::new(definition, extensions, correlations, meaning);
        build(builder, process, id, process.name.clone(), &mut own);
        compiled.global_tasks.append(&mut own.processes);
        let told = own.diagnostics.into_iter().map(|mut found| {
            if found.is_error() {
                found.severity = diagnostic::Severity::Warning;
            }
            found
        });
        compiled.diagnostics.extend(told);
    }
}

/// A node of the model with its place in the graph.
pub(super) struct Raw<'d> {
    pub node: &'d model::Node,
    pub scope: ScopeIx,
    /// The scope of its content, for a sub-process.
    pub content: Option<ScopeIx>,
    /// The event sub-process that it starts, for a start event.
    pub event_sub_process: Option<NodeIx>,
    /// Name of its innermost lane.
    pub lane: Option<&'d str>,
}

/// Nodes, edges and lanes of the process and its sub-processes.
#[derive(Default)]
struct Found<'d> {
    raws: Vec<Raw<'d>>,
    edges: Vec<(&'d Edge, ScopeIx)>,
    /// Innermost lane by node.
    lanes: HashMap<&'d str, &'d str>,
}

/// Compiler's state for one process.
pub(super) struct Builder<'d> {
    pub messages: HashMap<&'d str, &'d EventReference>,
    pub signals: HashMap<&'d str, &'d EventReference>,
    pub errors: HashMap<&'d str, &'d EventReference>,
    pub escalations: HashMap<&'d str, &'d EventReference>,
    /// Both ends of each association, by either of them.
    pub associations: HashMap<&'d str, Vec<&'d str>>,
    /// Data elements.
    pub data: DataItems,
    pub resources: &'d [model::Resource],
    /// Message flows by the nodes at their ends.
    pub message_flows: MessageFlows<'d>,
    /// Id of the definition.
    pub definition_id: Option<&'d str>,
    /// Decisions by the node that uses them.
    pub decisions: HashMap<&'d str, &'d str>,
    pub extensions: &'d Extensions<'d>,
    pub correlations: &'d Correlations,
    /// Paths of the process's correlation subscriptions, by the ids of key and property.
    pub data_paths: HashMap<(&'d str, &'d str), &'d str>,
    pub meaning: Meaning,
    /// Protection of the definition; what is wrong with it is told elsewhere.
    pub(super) policy: Policy,
    pub diagnostics: Vec<Diagnostic>,
    pub nodes: Vec<Node>,
    pub node_ids: HashMap<Arc<str>, NodeIx>,
    /// Nodes that have no place in the graph, by their ids, with their scopes. They are refused themselves, so that what
    /// refers to them is not.
    pub refused: HashMap<&'d str, ScopeIx>,
    /// Nodes whose work was refused, and those that lost a flow to a refused node.
    pub broken: HashSet<NodeIx>,
    /// Contents of refused sub-processes.
    pub(super) closed: HashSet<ScopeIx>,
    /// Flows that are not part of the graph although their ends may be there.
    pub(super) dropped: HashSet<Arc<str>>,
    pub language: Option<&'d str>,
    pub definition: &'d WorkflowDefinition,
    pub(super) flows: Vec<Flow>,
    pub(super) flow_ids: HashMap<Arc<str>, FlowIx>,
    /// Flows with a branch.
    pub(super) branched: Vec<Branched<'d>>,
    pub(super) scopes: Vec<Scope>,
}

impl<'d> Builder<'d> {
    fn new(
        definition: &'d WorkflowDefinition,
        extensions: &'d Extensions<'d>,
        correlations: &'d Correlations,
        meaning: Meaning,
    ) -> Self {
        let bpmn = definition.bpmn.as_deref();
        let by_id = |list: Option<&'d Vec<EventReference>>| {
            list.into_iter().flatten().filter_map(|item| Some((item.id.as_deref()?, item))).collect()
        };
        Self {
            messages: by_id(bpmn.and_then(|bpmn| bpmn.messages.as_ref())),
            signals: by_id(bpmn.and_then(|bpmn| bpmn.signals.as_ref())),
            errors: by_id(bpmn.and_then(|bpmn| bpmn.errors.as_ref())),
            escalations: by_id(bpmn.and_then(|bpmn| bpmn.escalations.as_ref())),
            associations: compensation::collaboration_associations(bpmn),
            data: DataItems::of(definition, meaning.edition),
            resources: bpmn.and_then(|bpmn| bpmn.resources.as_deref()).unwrap_or_default(),
            message_flows: MessageFlows::of(definition),
            definition_id: bpmn.and_then(|bpmn| bpmn.id.as_deref()).filter(|id| !id.is_empty()),
            decisions: decisions(definition),
            extensions,
            correlations,
            data_paths: HashMap::new(),
            meaning,
            policy: policy(definition, meaning),
            diagnostics: Vec::new(),
            nodes: Vec::new(),
            node_ids: HashMap::new(),
            refused: HashMap::new(),
            broken: HashSet::new(),
            closed: HashSet::new(),
            dropped: HashSet::new(),
            language: bpmn.and_then(|bpmn| bpmn.expression_language.as_deref()),
            definition,
            flows: Vec::new(),
            flow_ids: HashMap::new(),
            branched: Vec::new(),
            scopes: Vec::new(),
        }
    }

    pub(super) fn refuse(&mut self, id: &str, code: &str, sentence: String, clause: &str) {
        let diagnostic = diagnostic::error(code, sentence).with_clause(clause);
        self.diagnostics.push(if id.is_empty() { diagnostic } else { diagnostic.with_element(id) });
    }

    /// The same with a remedy of its own.
    pub(super) fn refuse_with(&mut self, id: &str, code: &str, sentence: String, clause: &str, remedy: &str) {
        self.refuse(id, code, sentence, clause);
        if let Some(found) = self.diagnostics.last_mut() {
            found.remedy = Some(remedy.to_owned());
        }
    }

    pub(super) fn warn(&mut self, id: &str, code: &str, sentence: &str, clause: &str) {
        self.diagnostics.push(diagnostic::warning(code, sentence).with_element(id).with_clause(clause));
    }

    fn graph(&mut self, id: &str, name: Option<String>, process: &'d Process) -> Graph {
        let mut found = Found::default();
        self.scopes.push(Scope::default());
        self.data_paths = correlation::data_paths(process);
        self.collect(process, ROOT, None, 0, &mut found);
        let Found { raws, edges, .. } = found;
        for (ix, raw) in raws.iter().enumerate() {
            let data = self.node_data(raw.node);
            self.nodes[ix].data = data;
            match self.work(index(ix), raw) {
                Some(work) => self.nodes[ix].work = work,
                None => {
                    self.broken.insert(index(ix));
                }
            }
        }
        for (edge, scope) in edges {
            self.edge(edge, scope);
        }
        for (ix, raw) in raws.iter().enumerate() {
            self.default_flow(index(ix), raw);
        }
        self.branches();
        let count = self.nodes.len();
        let by_source = self.flows.iter().enumerate().map(|(ix, flow)| (flow.source, index(ix)));
        let by_target = self.flows.iter().enumerate().map(|(ix, flow)| (flow.target, index(ix)));
        let (outgoing, incoming) = (Csr::new(count, by_source), Csr::new(count, by_target));
        let mut graph = Graph {
            id: id.into(),
            name,
            scopes: std::mem::take(&mut self.scopes),
            nodes: std::mem::take(&mut self.nodes),
            flows: std::mem::take(&mut self.flows),
            outgoing,
            incoming,
            node_ids: std::mem::take(&mut self.node_ids),
            flow_ids: std::mem::take(&mut self.flow_ids),
            links: HashMap::new(),
            has_joins: false,
            waits_for_data: false,
            stores: Vec::new(),
            sets: self.sets_of_process(process),
            has_conditions: false,
            choreographies: Vec::new(),
        };
        self.links(&mut graph, &raws);
        self.starts(&mut graph, &raws, id);
        self.gateways(&graph);
        self.compensations(&mut graph);
        self.joins(&mut graph);
        self.check_exits(&graph);
        data::mark_written(&mut graph);
        graph.stores = data::stores(&graph);
        self.check_stores(&graph);
        graph.waits_for_data =
            graph.nodes.iter().filter_map(|node| node.data.as_ref()).any(|data| !data.input_sets.is_empty());
        graph.has_conditions = graph.nodes.iter().any(|node| node.work.has_condition());
        graph
    }

    /// Gives the nodes their join rules, which need the flows.
    fn joins(&mut self, graph: &mut Graph) {
        let mut work = MAX_WORK;
        let nodes = 0..index(graph.nodes.len());
        let rules: Vec<_> = nodes.map(|ix| JoinRule::of(graph, ix, &mut work)).collect();
        let mut told = false;
        for (node, rule) in graph.nodes.iter_mut().zip(rules) {
            match rule {
                Ok(rule) => node.join = rule,
                // One finding is enough: it is about all that stands before the join.
                Err(NoRule::TooMuchWork) if std::mem::replace(&mut told, true) => {}
                Err(NoRule::TooMuchWork) => {
                    let sentence = format!(
                        "the process has too many joins with too many nodes before them: more than {MAX_WORK} steps to find the paths into all of them"
                    );
                    self.refuse(&node.id, "tooManyPaths", sentence, "13.4");
                }
            }
        }
        graph.has_joins = graph.nodes.iter().any(|node| node.join.upstream().is_some());
    }

    /// Gives every flow node of a scope and of the scopes in it an index. The scope may be that of an event
    /// sub-process.
    fn collect(
        &mut self,
        content: &'d Process,
        scope: ScopeIx,
        event_sub_process: Option<NodeIx>,
        depth: usize,
        found: &mut Found<'d>,
    ) {
        self.check_content_extensions(scope == ROOT, content);
        self.check_content_data(scope == ROOT, content);
        lanes_of(content.lane_sets.as_deref().unwrap_or_default(), &mut found.lanes);
        found.edges.extend(content.edges.iter().flatten().map(|edge| (edge, scope)));
        let drawn = content.artifacts.iter().flatten();
        compensation::associate(&mut self.associations, drawn.map(compensation::ends_of_artifact));
        let edges = content.edges.iter().flatten();
        compensation::associate(&mut self.associations, edges.map(compensation::ends_of_edge));
        for node in content.nodes.iter().flatten() {
            let Some((ix, element)) = self.add(node, scope) else {
                self.collect_refused(node, scope, depth, found);
                continue;
            };
            let starts = element == Element::StartEvent;
            let lane = found.lanes.get(&*self.nodes[ix as usize].id).copied();
            let event_sub_process = event_sub_process.filter(|_| starts);
            found.raws.push(Raw { node, scope, content: None, event_sub_process, lane });
            if starts {
                self.scopes[scope as usize].start_events.push(ix);
            }
            if !element.is_sub_process() {
                continue;
            }
            if depth == MAX_DEPTH {
                let id = self.nodes[ix as usize].id.clone();
                self.refuse(&id, "tooDeep", format!("sub-processes nest deeper than {MAX_DEPTH}"), "10.3.5");
                continue;
            }
            let inner = index(self.scopes.len());
            self.scopes.push(Scope { node: Some(ix), parent: Some(scope), ..Scope::default() });
            found.raws[ix as usize].content = Some(inner);
            let bpmn = node.bpmn.as_deref();
            if let Some(content) = bpmn.and_then(|bpmn| bpmn.sub_process.as_deref()) {
                let event = bpmn.and_then(|bpmn| bpmn.triggered_by_event) == Some(true);
                self.scopes[inner as usize].data = self.data_of_content(content, Some(node));
                self.collect(content, inner, event.then_some(ix), depth + 1, found);
            }
        }
    }

    /// Content of a sub-process that is refused itself: what stands against it is told all the same.
    fn collect_refused(
        &mut self,
        node: &'d model::Node,
        scope: ScopeIx,
        depth: usize,
        found: &mut Found<'d>,
    ) {
        let bpmn = node.bpmn.as_deref();
        let content = bpmn.and_then(|bpmn| bpmn.sub_process.as_deref());
        let Some(content) = content.filter(|_| depth < MAX_DEPTH && !node.is_beside_the_flow()) else {
            return;
        };
        let inner = index(self.scopes.len());
        self.scopes.push(Scope { parent: Some(scope), ..Scope::default() });
        self.closed.insert(inner);
        self.collect(content, inner, None, depth + 1, found);
    }

    /// Adds a node, unless it stands beside the flow or is not executed.
    fn add(&mut self, node: &'d model::Node, scope: ScopeIx) -> Option<(NodeIx, Element)> {
        if node.is_beside_the_flow() {
            return None;
        }
        let id = node.element_id().unwrap_or_default();
        let executed = |kind: ElementKind| Some((Element::of(kind)?, SplitRule::of(kind.token_rules().1)));
        let Some((element, split)) = node.kind().and_then(executed) else {
            let (code, sentence) = node::unknown(node);
            self.refuse(id, code, sentence, "13");
            if !id.is_empty() {
                self.refused.insert(id, scope);
            }
            return None;
        };
        let ix = index(self.nodes.len());
        // The schema allows elements without an id; such a node is named after its kind and its place.
        let key: Arc<str> =
            if id.is_empty() { format!("{}_{}", element.name(), ix + 1).into() } else { id.into() };
        let named = Arc::clone(&key);
        let id: &str = &named;
        if self.node_ids.insert(key.clone(), ix).is_some() {
            self.refuse(id, "duplicateId", format!("two nodes have the id `{id}`"), "8.3.1");
        }
        let name = node.display_name.as_deref().filter(|name| !name.is_empty()).map(Arc::from);
        let (work, join, boundary) = (Work::Pass, JoinRule::Pass, Vec::new());
        let node = Node {
            id: key,
            name,
            element,
            work,
            join,
            split,
            scope,
            default_flow: None,
            boundary,
            quantities: Quantities::default(),
            marker: None,
            mappings: None,
            data: None,
            listeners: None,
            continuations: Continuations::default(),
            for_compensation: false,
            compensation: None,
            caught: None,
            activation: None,
            instantiates: None,
        };
        self.nodes.push(node);
        Some((ix, element))
    }

    fn edge(&mut self, edge: &'d Edge, scope: ScopeIx) {
        if edge.is_no_flow() {
            return;
        }
        let id: Arc<str> = match edge.id.as_deref() {
            Some(id) if !id.is_empty() => id.into(),
            _ => format!("flow-{}", self.flows.len() + 1).into(),
        };
        // Editors name the kind of line in `type`; only what is known to be no flow is left out above.
        let word = edge.element_type();
        if edge.kind() != Some(ElementKind::SequenceFlow) && !LINES.contains(&word) {
            self.refuse(&id, "unknownElement", format!("`{word}` is no edge that can be executed"), "8.4.13");
            self.dropped.insert(id);
            return;
        }
        let ends = [edge.source.as_deref(), edge.target.as_deref()].map(|end| self.end(end, scope));
        for (name, end) in [("source", ends[0]), ("target", ends[1])] {
            let (code, reason, remedy) = match end {
                End::Node(_) | End::Refused => continue,
                End::Elsewhere => (
                    "flowCrossesBorder",
                    "lies in another sub-process",
                    "Connect nodes of one process or sub-process.",
                ),
                End::Missing => (
                    "danglingReference",
                    "is no node of the process",
                    "Let the flow lead from one node of the process to another.",
                ),
            };
            self.refuse_with(&id, code, format!("the {name} of the flow {reason}"), "8.4.13", remedy);
        }
        if ends.iter().any(|end| matches!(end, End::Missing | End::Elsewhere)) {
            self.dropped.insert(id);
            return;
        }
        let [source, target] = ends.map(End::node);
        self.check_flow_extensions(&id);
        let back = match self.back_edge(edge, scope) {
            Ok(back) => back.map(Arc::new),
            Err(sentence) => {
                self.refuse(&id, "wrongLoop", format!("loop.{sentence}"), "8.4.13");
                None
            }
        };
        let condition = match self.condition(edge, source) {
            Ok(condition) => condition,
            Err(wrong) => {
                self.refuse(&id, wrong.code, wrong.sentence, "8.4.13");
                if let (Some((line, column)), Some(found)) = (wrong.place, self.diagnostics.last_mut()) {
                    found.expression = Some(ExpressionPosition { line, column });
                }
                None
            }
        };
        let (Some(source), Some(target)) = (source, target) else {
            self.broken.extend(source.into_iter().chain(target));
            self.dropped.insert(id);
            return;
        };
        let ix = index(self.flows.len());
        if self.flow_ids.insert(id.clone(), ix).is_some() {
            self.refuse(&id, "duplicateId", format!("two flows have the id `{id}`"), "8.3.1");
        }
        self.note_branch(edge, ix);
        self.flows.push(Flow { id, source, target, condition, back });
    }

    /// The node that an end of a flow leads to.
    fn end(&self, id: Option<&str>, scope: ScopeIx) -> End {
        let Some(id) = id else { return End::Missing };
        let (at, end) = match (self.node_ids.get(id), self.refused.get(id)) {
            (Some(ix), _) => (self.nodes[*ix as usize].scope, End::Node(*ix)),
            (None, Some(at)) => (*at, End::Refused),
            (None, None) => return End::Missing,
        };
        if at == scope { end } else { End::Elsewhere }
    }

    /// The condition of a flow; a source that is refused itself has any outcome.
    fn condition(&mut self, edge: &Edge, source: Option<NodeIx>) -> Result<Option<FlowCondition>, Wrong> {
        let bpmn = edge.bpmn.as_deref();
        let expression = bpmn.and_then(|bpmn| bpmn.condition_expression.as_deref());
        let comparison = edge.condition.as_ref().filter(|own| {
            own.left.is_some() || own.operator.is_some() || own.value.is_some() || own.on.is_some()
        });
        let Some(own) = comparison else {
            let Some(text) = expression else { return Ok(None) };
            let own = bpmn.and_then(|bpmn| bpmn.condition_language.as_deref());
            let test = Some(Test::Feel(self.feel(edge, text, own)?));
            return Ok(Some(FlowCondition { side: Side::Success, test }));
        };
        let side = match own.on.as_deref() {
            None | Some("" | "success") => Side::Success,
            Some("failure") => {
                if source.is_some_and(|source| !self.nodes[source as usize].element.is_activity()) {
                    let sentence = "only an activity can fail: `on` cannot be `failure` here";
                    return Err(Wrong::new("wrongCondition", sentence));
                }
                Side::Failure
            }
            Some("always") => Side::Always,
            Some(on) => match on.strip_prefix("outcome:") {
                Some(outcome)
                    if source
                        .is_none_or(|source| self.nodes[source as usize].element == Element::UserTask) =>
                {
                    Side::Outcome(outcome.trim().into())
                }
                Some(_) => return Err(Wrong::new("wrongCondition", "only a human task has an outcome")),
                None => return Err(Wrong::new("wrongCondition", format!("`on` cannot be `{on}`"))),
            },
        };
        let left = own.left.as_deref().filter(|left| !left.trim().is_empty());
        let test = match (left, own.operator.as_deref()) {
            (None, None) => match expression {
                None => None,
                Some(text) => Some(Test::Feel(self.feel(edge, text, None)?)),
            },
            (Some(left), Some(operator)) => {
                let compiled = Comparison::compile(left, operator, own.value.as_deref());
                Some(Test::Compare(compiled.map_err(|sentence| Wrong::new("wrongCondition", sentence))?))
            }
            _ => return Err(Wrong::new("wrongCondition", "a condition needs both `left` and `operator`")),
        };
        let plain = side == Side::Success && test.is_none();
        Ok((!plain).then_some(FlowCondition { side, test }))
    }

    /// A condition's text as FEEL; JUEL is translated.
    fn feel(&mut self, edge: &Edge, text: &str, own: Option<&str>) -> Result<Expression, Wrong> {
        let text = text.trim();
        let Some(translated) = condition::juel(text, own)? else {
            return condition::feel(text, own.or(self.language));
        };
        let sentence = format!("the condition `{text}` is evaluated as the FEEL expression `{translated}`");
        let info = diagnostic::info("translatedCondition", sentence).with_clause("8.4.6");
        self.diagnostics.push(info.with_element(edge.id.as_deref().unwrap_or_default()));
        // A place in the translation is none that the author knows.
        condition::feel(&translated, None).map_err(|wrong| Wrong { place: None, ..wrong })
    }

    fn default_flow(&mut self, ix: NodeIx, raw: &Raw<'_>) {
        let Some(bpmn) = raw.node.bpmn.as_deref() else { return };
        let of_activity = bpmn.activity.as_ref().and_then(|activity| activity.default_flow.as_deref());
        let Some(wanted) = bpmn.default_flow.as_deref().or(of_activity).filter(|id| !id.is_empty()) else {
            return;
        };
        if self.dropped.contains(wanted) {
            return;
        }
        let flow = self.flow_ids.get(wanted).copied();
        match flow.filter(|flow| self.flows[*flow as usize].source == ix) {
            Some(flow) => self.nodes[ix as usize].default_flow = Some(flow),
            None => {
                let id = self.nodes[ix as usize].id.clone();
                let sentence = format!("the default flow `{wanted}` does not leave the node");
                self.refuse(&id, "danglingReference", sentence, "8.4.13");
            }
        }
    }
}

/// The node that an end of a flow leads to.
#[derive(Debug, Clone, Copy)]
enum End {
    /// A node of the flow's scope.
    Node(NodeIx),
    /// A node of the flow's scope that is refused itself.
    Refused,
    /// A node of another scope.
    Elsewhere,
    /// No node of the process.
    Missing,
}

impl End {
    const fn node(self) -> Option<NodeIx> {
        match self {
            Self::Node(ix) => Some(ix),
            Self::Refused | Self::Elsewhere | Self::Missing => None,
        }
    }
}

/// The message flows of a definition by the nodes at their ends; of several at one end the first.
#[derive(Default)]
pub(super) struct MessageFlows<'d> {
    pub from: HashMap<&'d str, &'d MessageFlow>,
    pub to: HashMap<&'d str, &'d MessageFlow>,
}

impl<'d> MessageFlows<'d> {
    fn of(definition: &'d WorkflowDefinition) -> Self {
        let mut found = Self::default();
        let collaborations = definition.bpmn.iter().flat_map(|bpmn| bpmn.collaborations.iter().flatten());
        for flow in collaborations.flat_map(|own| own.message_flows.iter().flatten()) {
            if let Some(source) = flow.source_ref.as_deref() {
                found.from.entry(source).or_insert(flow);
            }
            if let Some(target) = flow.target_ref.as_deref() {
                found.to.entry(target).or_insert(flow);
            }
        }
        found
    }
}

/// The decisions whose elements name a node that uses them.
fn decisions(definition: &WorkflowDefinition) -> HashMap<&str, &str> {
    let elements = definition.dmn.iter().flat_map(|dmn| dmn.elements.iter().flatten());
    elements
        .filter(|element| matches!(element.r#type.as_deref(), None | Some("decision" | "decisionService")))
        .filter_map(|element| Some((element.node_id.as_deref()?, element.id.as_deref()?)))
        .collect()
}

/// The name of the innermost lane of each node that stands in one with a name, by the node's id: the group that
/// `laneCandidates` takes.
#[must_use]
pub fn lane_names(definition: &WorkflowDefinition) -> HashMap<&str, &str> {
    let mut found = HashMap::new();
    for process in model::graphs(definition).iter().filter_map(|graph| graph.process) {
        lanes_of(process.lane_sets.as_deref().unwrap_or_default(), &mut found);
    }
    found
}

/// The innermost lane of each node.
fn lanes_of<'d>(sets: &'d [LaneSet], found: &mut HashMap<&'d str, &'d str>) {
    for lane in sets.iter().filter_map(|set| set.lanes.as_deref()).flatten() {
        if let Some(name) = lane.name.as_deref().filter(|name| !name.is_empty()) {
            found.extend(lane.flow_node_refs.iter().flatten().map(|id| (id.as_str(), name)));
        }
        if let Some(inner) = lane.child_lane_set.as_deref() {
            lanes_of(std::slice::from_ref(inner), found);
        }
    }
}

/// A place in a list as an index; a definition is far smaller than 4 Gi elements.
pub(super) fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
