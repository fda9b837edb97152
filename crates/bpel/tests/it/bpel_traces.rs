//! Whether an exported process does what its model does: the sets of traces of random graphs are compared
//! between a reference interpreter of BPMN and one of WS-BPEL that reads the exported file.

use heddle_bpel as bpel;
use heddle_bpmn::model::WorkflowDefinition;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Traces are followed to this many tasks.
const LONGEST: usize = 9;
/// States per side; a graph with more is left out.
const MOST_STATES: usize = 6_000;

/// The executed tasks, and how it ended: `done`, `fault`, `stuck`, or `more` at the longest.
type Traces = BTreeSet<(Vec<String>, &'static str)>;

/// What the conditions say: by their name alone, or also by how many tasks were executed.
#[derive(Clone, Copy)]
struct Oracle {
    seed: u64,
    by_history: bool,
}

impl Oracle {
    fn says(self, condition: &str, executed: usize) -> bool {
        let mut hash = self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for byte in condition.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        if self.by_history {
            hash = (hash ^ executed as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        }
        (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40 & 1 == 1
    }
}

// ---------------------------------------------------------------- the model's side

#[derive(Clone, Default)]
struct Net {
    /// Kind by node.
    kinds: Vec<&'static str>,
    names: Vec<String>,
    edges: Vec<(usize, usize)>,
    /// Condition by edge.
    conditions: Vec<Option<String>>,
    /// Whether the edge is its source's default.
    defaults: Vec<bool>,
}

impl Net {
    fn node(&mut self, kind: &'static str) -> usize {
        self.kinds.push(kind);
        self.names.push(format!("{}{}", &kind[..1], self.kinds.len()));
        self.kinds.len() - 1
    }

    fn edge(&mut self, from: usize, to: usize) -> usize {
        self.edges.push((from, to));
        self.conditions.push(None);
        self.defaults.push(false);
        self.edges.len() - 1
    }

    fn out(&self, node: usize) -> Vec<usize> {
        (0..self.edges.len()).filter(|at| self.edges[*at].0 == node).collect()
    }

    fn into(&self, node: usize) -> Vec<usize> {
        (0..self.edges.len()).filter(|at| self.edges[*at].1 == node).collect()
    }

    /// Gives the branches of the deciding gateways their conditions.
    fn decide(&mut self, random: &mut Random) {
        for node in 0..self.kinds.len() {
            let out = self.out(node);
            if !matches!(self.kinds[node], "exclusiveGateway" | "inclusiveGateway") || out.len() < 2 {
                continue;
            }
            let default = if random.below(4) == 0 { None } else { Some(out[random.below(out.len())]) };
            for edge in out {
                if Some(edge) == default {
                    self.defaults[edge] = true;
                } else {
                    self.conditions[edge] = Some(format!("c{edge}"));
                }
            }
        }
    }

    fn definition(&self) -> WorkflowDefinition {
        let nodes: Vec<Value> = (0..self.kinds.len())
            .map(|at| {
                let default = self.out(at).into_iter().find(|edge| self.defaults[*edge]);
                json!({"id": self.names[at], "type": self.kinds[at],
                    "bpmn": {"defaultFlow": default.map(|edge| format!("e{edge}"))}})
            })
            .collect();
        let edges: Vec<Value> = (0..self.edges.len())
            .map(|at| {
                let (from, to) = self.edges[at];
                json!({"id": format!("e{at}"), "source": self.names[from], "target": self.names[to],
                    "bpmn": {"conditionExpression": self.conditions[at]}})
            })
            .collect();
        serde_json::from_value(json!({"nodes": nodes, "edges": edges})).unwrap()
    }

    /// Edges from which one of the goals can be reached without passing the node.
    fn reaching(&self, goal: usize, avoid: usize) -> HashSet<usize> {
        let mut found = HashSet::from([goal]);
        let mut open = vec![goal];
        while let Some(edge) = open.pop() {
            let from = self.edges[edge].0;
            if from == avoid {
                continue;
            }
            open.extend(self.into(from).into_iter().filter(|before| found.insert(*before)));
        }
        found
    }

    fn ready(&self, node: usize, tokens: &[usize]) -> bool {
        let into = self.into(node);
        let filled = |edge: &usize| tokens[*edge] > 0;
        match self.kinds[node] {
            "parallelGateway" => into.iter().all(filled),
            "inclusiveGateway" if into.len() > 1 => {
                if !into.iter().any(filled) {
                    return false;
                }
                let to = |full: bool| -> HashSet<usize> {
                    let edges = into.iter().filter(|edge| filled(edge) == full);
                    edges.flat_map(|edge| self.reaching(*edge, node)).collect()
                };
                let (full, empty) = (to(true), to(false));
                (0..tokens.len())
                    .all(|edge| tokens[edge] == 0 || !empty.contains(&edge) || full.contains(&edge))
            }
            _ => into.iter().any(filled),
        }
    }

    /// The states after a node has fired; none of them when it faults.
    fn fire(
        &self,
        node: usize,
        tokens: &[usize],
        executed: usize,
        oracle: Oracle,
    ) -> Option<Vec<Vec<usize>>> {
        let into = self.into(node);
        let mut befores = Vec::new();
        match self.kinds[node] {
            "parallelGateway" => {
                let mut next = tokens.to_vec();
                into.iter().for_each(|edge| next[*edge] -= 1);
                befores.push(next);
            }
            "inclusiveGateway" => {
                let mut next = tokens.to_vec();
                into.iter().for_each(|edge| next[*edge] = next[*edge].saturating_sub(1));
                befores.push(next);
            }
            _ => {
                for edge in into.iter().filter(|edge| tokens[**edge] > 0) {
                    let mut next = tokens.to_vec();
                    next[*edge] -= 1;
                    befores.push(next);
                }
            }
        }
        let out = self.out(node);
        let holds = |edge: &usize| {
            self.conditions[*edge].as_ref().is_none_or(|own| oracle.says(own, executed))
                && !self.defaults[*edge]
        };
        let default = out.iter().copied().find(|edge| self.defaults[*edge]);
        let taken: Vec<usize> = match self.kinds[node] {
            "exclusiveGateway" => out.iter().copied().find(holds).or(default).into_iter().collect(),
            "inclusiveGateway" => {
                let some: Vec<usize> = out.iter().copied().filter(holds).collect();
                if some.is_empty() { default.into_iter().collect() } else { some }
            }
            _ => out.clone(),
        };
        if taken.is_empty() && !out.is_empty() {
            return None;
        }
        for next in &mut befores {
            taken.iter().for_each(|edge| next[*edge] += 1);
        }
        Some(befores)
    }

    fn traces(&self, oracle: Oracle) -> Option<Traces> {
        let mut first = vec![0; self.edges.len()];
        let start = self.kinds.iter().position(|kind| *kind == "startEvent").unwrap();
        self.out(start).into_iter().for_each(|edge| first[edge] = 1);
        let mut seen = HashSet::new();
        let mut open = vec![(first, Vec::<String>::new())];
        let mut found = Traces::new();
        while let Some((tokens, trace)) = open.pop() {
            if !seen.insert((tokens.clone(), trace.clone())) {
                continue;
            }
            if seen.len() > MOST_STATES {
                return None;
            }
            let ready: Vec<usize> = (0..self.kinds.len())
                .filter(|node| self.kinds[*node] != "startEvent" && self.ready(*node, &tokens))
                .collect();
            // What is neither a task nor an inclusive join, and does not fault, commutes with all the rest.
            let quiet = ready.iter().copied().find(|node| {
                let kind = self.kinds[*node];
                kind != "task"
                    && (kind != "inclusiveGateway" || self.into(*node).len() < 2)
                    && self.fire(*node, &tokens, trace.len(), oracle).is_some()
            });
            let chosen: Vec<usize> = quiet.map_or(ready, |node| vec![node]);
            if chosen.is_empty() {
                let end = if tokens.iter().all(|count| *count == 0) { "done" } else { "stuck" };
                found.insert((trace, end));
                continue;
            }
            for node in chosen {
                let mut trace = trace.clone();
                if self.kinds[node] == "task" {
                    if trace.len() == LONGEST {
                        found.insert((trace, "more"));
                        continue;
                    }
                    trace.push(self.names[node].clone());
                }
                match self.fire(node, &tokens, trace.len(), oracle) {
                    None => {
                        found.insert((trace, "fault"));
                    }
                    Some(list) => open.extend(list.into_iter().map(|tokens| (tokens, trace.clone()))),
                }
            }
        }
        Some(found)
    }
}

// ---------------------------------------------------------------- the export's side

#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    text: String,
    children: Vec<Element>,
}

impl Element {
    fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }
}

fn parse(xml: &str) -> Element {
    let mut reader = Reader::from_str(xml);
    let mut open = vec![Element::default()];
    let start = |tag: &BytesStart| Element {
        name: tag.name().as_ref().to_owned(),
        attributes: tag
            .attributes()
            .map(|found| {
                let found = found.unwrap();
                (found.key.as_ref().to_owned(), found.value.to_string())
            })
            .collect(),
        ..Element::default()
    };
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) => open.push(start(&tag)),
            Event::Empty(tag) => open.last_mut().unwrap().children.push(start(&tag)),
            Event::Text(text) => open.last_mut().unwrap().text.push_str(&text),
            Event::End(_) => {
                let done = open.pop().unwrap();
                open.last_mut().unwrap().children.push(done);
            }
            Event::Eof => return open.remove(0).children.remove(0),
            _ => {}
        }
    }
}

#[derive(Debug)]
enum Kind {
    Quiet,
    Task(String),
    Sequence(Vec<usize>),
    /// The last without a condition.
    If(Vec<(Option<String>, usize)>),
    While(String, usize),
    Repeat(usize, String),
    Flow(Vec<usize>),
    Assign(String, String),
    Throw,
}

#[derive(Debug)]
struct Activity {
    kind: Kind,
    targets: Vec<String>,
    join: Option<String>,
    sources: Vec<(String, Option<String>)>,
}

#[derive(Debug, Default)]
struct Program {
    activities: Vec<Activity>,
}

const NO_ACTIVITY: &[&str] =
    &["targets", "sources", "condition", "links", "variables", "import", "partnerLinks", "extensions"];

impl Program {
    fn read(&mut self, element: &Element) -> usize {
        let inner = |of: &Element| -> Vec<usize> {
            (0..of.children.len())
                .filter(|at| !NO_ACTIVITY.contains(&of.children[*at].name.as_str()))
                .collect()
        };
        let condition =
            |of: &Element| of.child("condition").map(|found| found.text.clone()).unwrap_or_default();
        let kind = match element.name.as_str() {
            "empty" => match element.attributes.get("hd:element").filter(|id| id.starts_with('t')) {
                Some(id) => Kind::Task(id.clone()),
                None => Kind::Quiet,
            },
            "receive" => Kind::Quiet,
            "sequence" => Kind::Sequence(
                inner(element).into_iter().map(|at| self.read(&element.children[at])).collect(),
            ),
            "flow" => {
                Kind::Flow(inner(element).into_iter().map(|at| self.read(&element.children[at])).collect())
            }
            "while" => Kind::While(condition(element), self.read(&element.children[inner(element)[0]])),
            "repeatUntil" => {
                Kind::Repeat(self.read(&element.children[inner(element)[0]]), condition(element))
            }
            "if" => {
                let mut branches = Vec::new();
                for at in inner(element) {
                    let child = &element.children[at];
                    match child.name.as_str() {
                        "elseif" => branches
                            .push((Some(condition(child)), self.read(&child.children[inner(child)[0]]))),
                        "else" => branches.push((None, self.read(&child.children[0]))),
                        _ => branches.push((Some(condition(element)), self.read(child))),
                    }
                }
                Kind::If(branches)
            }
            "assign" => {
                let copy = element.child("copy").unwrap();
                let to = copy.child("to").unwrap().attributes["variable"].clone();
                Kind::Assign(to, copy.child("from").unwrap().text.clone())
            }
            "throw" => Kind::Throw,
            other => panic!("{other}"),
        };
        let links = |of: Option<&Element>| -> Vec<(String, Option<String>)> {
            let all = of.into_iter().flat_map(|of| &of.children);
            all.filter(|one| one.name != "joinCondition")
                .map(|one| {
                    let condition = one.child("transitionCondition").map(|found| found.text.clone());
                    (one.attributes["linkName"].clone(), condition)
                })
                .collect()
        };
        let targets = element.child("targets");
        self.activities.push(Activity {
            kind,
            targets: links(targets).into_iter().map(|(name, _)| name).collect(),
            join: targets.and_then(|own| own.child("joinCondition")).map(|own| own.text.clone()),
            sources: links(element.child("sources")),
        });
        self.activities.len() - 1
    }

    fn inside(&self, at: usize) -> Vec<usize> {
        match &self.activities[at].kind {
            Kind::Sequence(list) | Kind::Flow(list) => list.clone(),
            Kind::If(branches) => branches.iter().map(|(_, one)| *one).collect(),
            Kind::While(_, one) | Kind::Repeat(one, _) => vec![*one],
            _ => Vec::new(),
        }
    }

    fn traces(&self, root: usize, oracle: Oracle) -> Option<Traces> {
        let mut first = State { status: vec![Status::Idle; self.activities.len()], ..State::default() };
        first.status[root] = Status::Waiting;
        let mut open = vec![first];
        let mut seen = HashSet::new();
        let mut found = Traces::new();
        while let Some(mut state) = open.pop() {
            if matches!(self.settle(&mut state, oracle), Settled::Diverges) {
                continue;
            }
            if !seen.insert(state.clone()) {
                continue;
            }
            if seen.len() > MOST_STATES {
                return None;
            }
            if state.status[root] == Status::Done {
                found.insert((state.trace, "done"));
                continue;
            }
            let mut any = false;
            for (at, activity) in self.activities.iter().enumerate() {
                if state.status[at] != Status::Running {
                    continue;
                }
                let id = match &activity.kind {
                    Kind::Task(id) => id,
                    Kind::Throw => {
                        any = true;
                        found.insert((state.trace.clone(), "fault"));
                        continue;
                    }
                    _ => continue,
                };
                any = true;
                if state.trace.len() == LONGEST {
                    found.insert((state.trace.clone(), "more"));
                    continue;
                }
                let mut next = state.clone();
                next.trace.push(id.clone());
                self.complete(&mut next, at, oracle);
                open.push(next);
            }
            if !any {
                found.insert((state.trace, "stuck"));
            }
        }
        Some(found)
    }

    fn settle(&self, state: &mut State, oracle: Oracle) -> Settled {
        for _ in 0..2_000 {
            let mut changed = false;
            for at in 0..self.activities.len() {
                let before = state.status[at];
                match before {
                    Status::Waiting => changed |= self.enter(state, at, oracle),
                    Status::Running => changed |= self.step(state, at, oracle),
                    _ => {}
                }
            }
            if !changed {
                return Settled::Waits;
            }
        }
        Settled::Diverges
    }

    fn enter(&self, state: &mut State, at: usize, oracle: Oracle) -> bool {
        let activity = &self.activities[at];
        if activity.targets.iter().any(|link| !state.links.contains_key(link)) {
            return false;
        }
        let joined = match &activity.join {
            Some(join) => state.holds(join, oracle),
            None => activity.targets.is_empty() || activity.targets.iter().any(|link| state.links[link]),
        };
        if joined {
            state.status[at] = Status::Running;
            match &activity.kind {
                Kind::Sequence(list) => state.status[list[0]] = Status::Waiting,
                Kind::Flow(list) => list.iter().for_each(|one| state.status[*one] = Status::Waiting),
                Kind::Repeat(one, _) => state.status[*one] = Status::Waiting,
                _ => {}
            }
        } else {
            self.skip(state, at);
        }
        true
    }

    /// One quiet step, if there is one.
    fn step(&self, state: &mut State, at: usize, oracle: Oracle) -> bool {
        let is = |state: &State, one: usize, status: Status| state.status[one] == status;
        match &self.activities[at].kind {
            Kind::Task(_) | Kind::Throw => return false,
            Kind::Quiet => self.complete(state, at, oracle),
            Kind::Assign(to, value) => {
                let value = value.trim_matches('\'').to_owned();
                state.variables.insert(to.clone(), value);
                self.complete(state, at, oracle);
            }
            Kind::Sequence(list) => match list.iter().find(|one| !is(state, **one, Status::Done)) {
                None => self.complete(state, at, oracle),
                Some(one) if is(state, *one, Status::Idle) => state.status[*one] = Status::Waiting,
                Some(_) => return false,
            },
            Kind::Flow(list) => {
                if !list.iter().all(|one| is(state, *one, Status::Done)) {
                    return false;
                }
                self.complete(state, at, oracle);
            }
            Kind::If(branches) => {
                if branches.iter().all(|(_, one)| is(state, *one, Status::Idle)) {
                    let chosen = branches.iter().position(|(condition, _)| {
                        condition.as_ref().is_none_or(|condition| state.holds(condition, oracle))
                    });
                    for (number, (_, one)) in branches.iter().enumerate() {
                        if Some(number) == chosen {
                            state.status[*one] = Status::Waiting;
                        } else {
                            self.skip(state, *one);
                        }
                    }
                } else if branches.iter().all(|(_, one)| is(state, *one, Status::Done)) {
                    self.complete(state, at, oracle);
                } else {
                    return false;
                }
            }
            Kind::While(condition, one) => {
                if !matches!(state.status[*one], Status::Idle | Status::Done) {
                    return false;
                }
                if state.holds(condition, oracle) {
                    self.reset(state, *one);
                    state.status[*one] = Status::Waiting;
                } else {
                    self.complete(state, at, oracle);
                }
            }
            Kind::Repeat(one, condition) => {
                if !is(state, *one, Status::Done) {
                    return false;
                }
                if state.holds(condition, oracle) {
                    self.complete(state, at, oracle);
                } else {
                    self.reset(state, *one);
                    state.status[*one] = Status::Waiting;
                }
            }
        }
        true
    }

    fn complete(&self, state: &mut State, at: usize, oracle: Oracle) {
        state.status[at] = Status::Done;
        for (link, condition) in &self.activities[at].sources {
            let holds = condition.as_ref().is_none_or(|condition| state.holds(condition, oracle));
            state.links.insert(link.clone(), holds);
        }
    }

    fn skip(&self, state: &mut State, at: usize) {
        state.status[at] = Status::Done;
        for (link, _) in &self.activities[at].sources {
            state.links.insert(link.clone(), false);
        }
        self.inside(at).into_iter().for_each(|one| self.skip(state, one));
    }

    fn reset(&self, state: &mut State, at: usize) {
        state.status[at] = Status::Idle;
        for (link, _) in &self.activities[at].sources {
            state.links.remove(link);
        }
        self.inside(at).into_iter().for_each(|one| self.reset(state, one));
    }
}

enum Settled {
    Waits,
    /// It goes round without ever executing a task.
    Diverges,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Status {
    Idle,
    Waiting,
    Running,
    Done,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct State {
    status: Vec<Status>,
    links: BTreeMap<String, bool>,
    variables: BTreeMap<String, String>,
    trace: Vec<String>,
}

impl State {
    fn holds(&self, text: &str, oracle: Oracle) -> bool {
        let mut reader = Expression { text: text.trim(), state: self, oracle };
        let value = reader.either();
        assert!(reader.text.is_empty(), "{text}: {}", reader.text);
        value == "true"
    }
}

/// The few operators that the export writes, in XPath and in FEEL.
struct Expression<'a> {
    text: &'a str,
    state: &'a State,
    oracle: Oracle,
}

impl Expression<'_> {
    fn eat(&mut self, word: &str) -> bool {
        match self.text.strip_prefix(word) {
            Some(rest) => {
                self.text = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn either(&mut self) -> String {
        let mut value = self.both();
        while self.eat("or ") {
            let right = self.both();
            value = (value == "true" || right == "true").to_string();
        }
        value
    }

    fn both(&mut self) -> String {
        let mut value = self.compared();
        while self.eat("and ") {
            let right = self.compared();
            value = (value == "true" && right == "true").to_string();
        }
        value
    }

    fn compared(&mut self) -> String {
        let left = self.single();
        if self.eat("!=") {
            return (left != self.single()).to_string();
        }
        if self.eat("=") {
            return (left == self.single()).to_string();
        }
        left
    }

    fn single(&mut self) -> String {
        if self.eat("not(") {
            let value = self.either();
            assert!(self.eat(")"));
            return (value != "true").to_string();
        }
        if self.eat("(") {
            let value = self.either();
            assert!(self.eat(")"));
            return value;
        }
        if self.eat("'") {
            let (value, rest) = self.text.split_once('\'').unwrap();
            self.text = rest.trim_start();
            return value.to_owned();
        }
        let variable = self.eat("$");
        let end = self
            .text
            .find(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .unwrap_or(self.text.len());
        let (name, rest) = self.text.split_at(end);
        self.text = rest.trim_start();
        if variable {
            let link = self.state.links.get(name).map(ToString::to_string);
            return link.or_else(|| self.state.variables.get(name).cloned()).unwrap();
        }
        self.eat("()");
        if matches!(name, "true" | "false") {
            return name.to_owned();
        }
        self.oracle.says(name, self.state.trace.len()).to_string()
    }
}

// ---------------------------------------------------------------- random graphs

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }
}

const GATEWAYS: [&str; 3] = ["exclusiveGateway", "parallelGateway", "inclusiveGateway"];

/// A block between the two nodes.
fn block(net: &mut Net, random: &mut Random, from: usize, to: usize, size: usize, kinds: usize) {
    match (size, random.below(5)) {
        (0 | 1, _) => {
            if random.below(6) == 0 {
                net.edge(from, to);
            } else {
                let task = net.node("task");
                net.edge(from, task);
                net.edge(task, to);
            }
        }
        (_, 0 | 1) => {
            let middle = net.node("task");
            block(net, random, from, middle, size / 2, kinds);
            block(net, random, middle, to, size / 2, kinds);
        }
        (_, 2) => {
            // A loop: once, or again and again with something on the way back.
            let (join, split) = (net.node("exclusiveGateway"), net.node("exclusiveGateway"));
            net.edge(from, join);
            block(net, random, join, split, size / 2, kinds);
            net.edge(split, to);
            for _ in 0..=random.below(2) {
                block(net, random, split, join, size / 3, kinds);
            }
        }
        _ => {
            let kind = GATEWAYS[random.below(kinds)];
            let (split, join) = (net.node(kind), net.node(kind));
            net.edge(from, split);
            for _ in 0..2 + random.below(2) {
                block(net, random, split, join, size / 2, kinds);
            }
            net.edge(join, to);
        }
    }
}

fn structured(random: &mut Random, kinds: usize) -> Net {
    let mut net = Net::default();
    let (start, end) = (net.node("startEvent"), net.node("endEvent"));
    let size = 2 + random.below(6);
    block(&mut net, random, start, end, size, kinds);
    // Some flows take another way.
    for _ in 0..random.below(3) {
        let edge = random.below(net.edges.len());
        if random.below(2) == 0 && kinds == 3 {
            continue;
        }
        let other = random.below(net.edges.len());
        if net.kinds[net.edges[other].1] != "startEvent" && net.edges[edge].0 != start {
            net.edges[edge].1 = net.edges[other].1;
        }
    }
    net.decide(random);
    net
}

/// Gateways and tasks in a row, with flows that only lead on.
fn acyclic(random: &mut Random) -> Net {
    let mut net = Net::default();
    let start = net.node("startEvent");
    let count = 4 + random.below(6);
    let nodes: Vec<usize> = (0..count)
        .map(|_| {
            let kind = if random.below(5) < 2 { "task" } else { GATEWAYS[random.below(3)] };
            net.node(kind)
        })
        .collect();
    let end = net.node("endEvent");
    net.edge(start, nodes[0]);
    for at in 1..count {
        let from = nodes[at - 1 - random.below(at.min(3))];
        net.edge(from, nodes[at]);
    }
    for _ in 0..random.below(5) {
        let from = random.below(count - 1);
        let to = from + 1 + random.below(count - from - 1);
        net.edge(nodes[from], nodes[to]);
    }
    for node in nodes {
        if net.out(node).is_empty() {
            let last = if random.below(3) == 0 { net.node("endEvent") } else { end };
            net.edge(node, last);
        }
    }
    net.decide(random);
    net
}

#[derive(Debug, Default)]
struct Tally {
    same: usize,
    refused: usize,
    too_large: usize,
    links: usize,
    loops: usize,
}

fn compare(net: &Net, by_history: bool, tally: &mut Tally) {
    let exported = match bpel::export(&net.definition(), None) {
        Ok(exported) => exported,
        Err(_) => {
            tally.refused += 1;
            return;
        }
    };
    let text = &exported.processes[0].bpel;
    let document = parse(text);
    let body = document.children.iter().rfind(|child| !NO_ACTIVITY.contains(&child.name.as_str())).unwrap();
    let mut program = Program::default();
    let root = program.read(body);
    tally.links += usize::from(text.contains("<links>"));
    tally.loops += usize::from(text.contains("<while>") || text.contains("<repeatUntil>"));
    for seed in 0..24 {
        let oracle = Oracle { seed, by_history };
        let (Some(model), Some(made)) = (net.traces(oracle), program.traces(root, oracle)) else {
            tally.too_large += 1;
            return;
        };
        if model != made {
            let only_model: Vec<_> = model.difference(&made).take(3).collect();
            let only_made: Vec<_> = made.difference(&model).take(3).collect();
            let model = serde_json::to_string(&net.definition()).unwrap();
            panic!("seed {seed}\n{model}\n{text}\nonly BPMN: {only_model:?}\nonly WS-BPEL: {only_made:?}");
        }
    }
    tally.same += 1;
}

#[test]
fn exclusive_graphs_with_loops_have_the_same_traces() {
    let mut tally = Tally::default();
    for seed in 0..600 {
        compare(&structured(&mut Random(seed), 1), true, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.same > 200 && tally.loops > 80, "{tally:?}");
}

#[test]
fn parallel_and_inclusive_graphs_have_the_same_traces() {
    let mut tally = Tally::default();
    for seed in 0..600 {
        compare(&structured(&mut Random(seed), 3), false, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.same > 150 && tally.links > 30, "{tally:?}");
}

#[test]
fn acyclic_graphs_without_blocks_have_the_same_traces() {
    let mut tally = Tally::default();
    for seed in 0..3_000 {
        compare(&acyclic(&mut Random(seed)), false, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.same > 300 && tally.links > 100, "{tally:?}");
}
