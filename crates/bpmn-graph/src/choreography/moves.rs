//! Markings of a net, and how its tokens move: by themselves, or by a message that is seen.

use super::net::{Boundary, Kind, Leg, NOWHERE, Net, Node, ROOT, Repeat};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Most tokens of one marking.
const MAX_TOKENS: usize = 128;
/// Most moves of one token that need no choice, such as through gateways that lead in a circle.
const MAX_PASSES: usize = 4_096;

/// Tokens of a scope, and of the sub-choreographies that are open in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Marking {
    /// Places with a token, sorted; a place with several stands there several times.
    #[serde(rename = "t", default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<u32>,
    #[serde(rename = "s", default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<Open>,
}

/// An open sub-choreography.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Open {
    #[serde(rename = "n")]
    pub node: u32,
    #[serde(rename = "m")]
    pub content: Marking,
}

/// A place as a token's number says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A sequence flow.
    Flow(u32),
    /// A task whose reply is awaited.
    Await(u32),
    /// An activity that was done once and may be repeated, or has to choose its way out.
    Done(u32),
    /// The beginning of a scope, which is not decided yet.
    Begin(u32),
    /// A flow into a complex gateway that fired without it: what comes by it is taken.
    Late(u32),
}

/// A message that a net can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    /// The first message of a task.
    Initial(u32),
    /// The reply of a task.
    Reply(u32),
}

impl Sight {
    pub(super) const fn task(self) -> u32 {
        match self {
            Self::Initial(task) | Self::Reply(task) => task,
        }
    }
}

/// A bound was exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMany;

/// A net with the participant whose messages alone are seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'n> {
    pub net: &'n Net,
    /// None sees all messages.
    pub by: Option<&'n str>,
}

impl Leg {
    fn is_of(&self, participant: &str) -> bool {
        *self.from == *participant || *self.to == *participant
    }
}

impl Marking {
    fn add(&mut self, place: u32) {
        let at = self.tokens.partition_point(|own| *own < place);
        self.tokens.insert(at, place);
    }

    fn take(&mut self, place: u32) -> bool {
        match self.tokens.binary_search(&place) {
            Ok(at) => {
                self.tokens.remove(at);
                true
            }
            Err(_) => false,
        }
    }

    fn has(&self, place: u32) -> bool {
        self.tokens.binary_search(&place).is_ok()
    }

    /// Tokens of it and of what is open in it.
    pub(super) fn size(&self) -> usize {
        self.tokens.len() + self.open.iter().map(|own| 1 + own.content.size()).sum::<usize>()
    }

    fn distinct(&self) -> Vec<u32> {
        let mut places = self.tokens.clone();
        places.dedup();
        places
    }
}

impl Seen<'_> {
    fn flows(&self) -> u32 {
        u32::try_from(self.net.flows.len()).unwrap_or(NOWHERE)
    }

    fn place_await(&self, node: u32) -> u32 {
        self.flows() + 3 * node
    }

    fn place_done(&self, node: u32) -> u32 {
        self.flows() + 3 * node + 1
    }

    /// The beginning of a scope has the number of its owner's third place, that of the choreography the one behind all nodes.
    fn place_begin(&self, scope: u32) -> u32 {
        let nodes = u32::try_from(self.net.nodes.len()).unwrap_or(NOWHERE / 8);
        match self.net.scope(scope).owner {
            Some(owner) => self.flows() + 3 * owner + 2,
            None => self.flows() + 3 * nodes,
        }
    }

    fn place_late(&self, flow: u32) -> u32 {
        self.place_begin(ROOT) + 1 + flow
    }

    /// The place of a token's number; none for a number of another net.
    fn place(&self, token: u32) -> Option<Place> {
        let flows = self.flows();
        if token < flows {
            return Some(Place::Flow(token));
        }
        let root = self.place_begin(ROOT);
        if token > root {
            let flow = token - root - 1;
            return (flow < flows).then_some(Place::Late(flow));
        }
        if token == root {
            return Some(Place::Begin(ROOT));
        }
        let (node, part) = ((token - flows) / 3, (token - flows) % 3);
        match (part, &self.net.node(node).kind) {
            (0, _) => Some(Place::Await(node)),
            (1, _) => Some(Place::Done(node)),
            (_, Kind::Sub { scope, .. }) => Some(Place::Begin(*scope)),
            (_, _) => None,
        }
    }

    /// The marking of a scope that begins.
    pub(super) fn beginning(&self, scope: u32) -> Marking {
        Marking { tokens: vec![self.place_begin(scope)], open: Vec::new() }
    }

    /// Whether all numbers of a marking are places of this net.
    pub(super) fn knows(&self, marking: &Marking) -> bool {
        marking.tokens.iter().all(|token| self.place(*token).is_some())
            && marking.open.iter().all(|own| {
                let is_sub = self.net.nodes.get(own.node as usize);
                is_sub.is_some_and(|node| matches!(node.kind, Kind::Sub { .. })) && self.knows(&own.content)
            })
    }

    /// Whether a task's messages are seen.
    pub(super) fn sees(&self, node: &Node) -> bool {
        match (&node.kind, self.by) {
            (Kind::Task(task), Some(participant)) => task.initial.is_of(participant),
            (Kind::Task(_), None) => true,
            (
                Kind::Sub { .. }
                | Kind::Pass
                | Kind::Choice
                | Kind::Event
                | Kind::Parallel
                | Kind::InclusiveJoin
                | Kind::ComplexJoin
                | Kind::Link { .. }
                | Kind::Terminate,
                _,
            ) => false,
        }
    }

    /// Lets all tokens move that have no choice.
    pub(super) fn settle(&self, marking: &mut Marking) -> Result<(), TooMany> {
        let mut passes = 0;
        self.settle_scope(marking, &mut passes)?;
        if marking.size() > MAX_TOKENS { Err(TooMany) } else { Ok(()) }
    }

    fn settle_scope(&self, marking: &mut Marking, passes: &mut usize) -> Result<(), TooMany> {
        loop {
            *passes += 1;
            if *passes > MAX_PASSES || marking.tokens.len() > 2 * MAX_TOKENS {
                return Err(TooMany);
            }
            let mut moved = false;
            for own in &mut marking.open {
                self.settle_scope(&mut own.content, passes)?;
            }
            let over = |own: &Open| {
                own.content.open.is_empty()
                    && own
                        .content
                        .tokens
                        .iter()
                        .all(|token| matches!(self.place(*token), Some(Place::Late(_))))
            };
            while let Some(at) = marking.open.iter().position(over) {
                let node = marking.open.remove(at).node;
                if matches!(self.net.node(node).kind, Kind::Sub { repeat: Repeat::Once, .. }) {
                    self.complete(marking, node);
                }
                moved = true;
            }
            for token in marking.distinct() {
                if self.pass(marking, token) {
                    moved = true;
                    break;
                }
            }
            if !moved {
                marking.open.sort();
                return Ok(());
            }
        }
    }

    /// Moves a token that has no choice.
    fn pass(&self, marking: &mut Marking, token: u32) -> bool {
        match self.place(token) {
            Some(Place::Begin(scope)) => {
                let own = self.net.scope(scope);
                if own.starts.len() > 1 && !own.starts_all {
                    return false;
                }
                marking.take(token);
                own.starts.iter().for_each(|flow| marking.add(*flow));
                true
            }
            Some(Place::Flow(flow)) => self.pass_flow(marking, flow),
            Some(Place::Await(_) | Place::Done(_) | Place::Late(_)) | None => false,
        }
    }

    fn pass_flow(&self, marking: &mut Marking, flow: u32) -> bool {
        let ix = self.net.flow(flow).target;
        let node = self.net.node(ix);
        match &node.kind {
            Kind::Task(_) | Kind::Event | Kind::InclusiveJoin | Kind::ComplexJoin => false,
            Kind::Pass | Kind::Choice => {
                let [only] = node.choices.as_slice() else { return false };
                marking.take(flow);
                only.iter().for_each(|flow| marking.add(*flow));
                true
            }
            Kind::Parallel => {
                if !node.incoming.iter().all(|flow| marking.has(*flow)) {
                    return false;
                }
                for own in &node.incoming {
                    marking.take(*own);
                }
                node.outgoing.iter().for_each(|flow| marking.add(*flow));
                true
            }
            Kind::Link { target } => {
                marking.take(flow);
                if let Some(target) = target {
                    self.net.node(*target).outgoing.iter().for_each(|flow| marking.add(*flow));
                }
                true
            }
            Kind::Terminate => {
                *marking = Marking::default();
                true
            }
            Kind::Sub { scope, repeat } => {
                marking.take(flow);
                if *repeat != Repeat::Once {
                    marking.add(self.place_done(ix));
                }
                marking.open.push(Open { node: ix, content: self.beginning(*scope) });
                true
            }
        }
    }

    /// An activity that is not repeated is done: it takes its outgoing flows, or has to choose among them.
    fn complete(&self, marking: &mut Marking, node: u32) {
        match self.net.node(node).choices.as_slice() {
            [only] => only.iter().for_each(|flow| marking.add(*flow)),
            _ => marking.add(self.place_done(node)),
        }
    }

    /// The markings after each move of a marking that nobody sees and that can lead to what is looked for.
    pub(super) fn silent(&self, marking: &Marking, aim: &Aim) -> Vec<Marking> {
        let mut found = Vec::new();
        for token in marking.distinct() {
            match self.place(token) {
                Some(Place::Flow(flow)) => self.silent_flow(marking, flow, aim, &mut found),
                Some(Place::Await(node)) => self.interrupt(marking, node, token, aim, &mut found),
                Some(Place::Done(node)) => self.silent_done(marking, node, aim, &mut found),
                Some(Place::Begin(scope)) => {
                    for &start in &self.net.scope(scope).starts {
                        if aim.wants_flow(self.net, start) {
                            found.push(moved(marking, token, &[start]));
                        }
                    }
                }
                Some(Place::Late(_)) | None => {}
            }
        }
        for (at, own) in marking.open.iter().enumerate() {
            if marking.open[..at].contains(own) {
                continue;
            }
            for content in self.silent(&own.content, aim) {
                let mut next = marking.clone();
                next.open[at].content = content;
                found.push(next);
            }
            if !marking.has(self.place_done(own.node)) {
                self.interrupt(marking, own.node, NOWHERE, aim, &mut found);
            }
        }
        found
    }

    fn silent_flow(&self, marking: &Marking, flow: u32, aim: &Aim, found: &mut Vec<Marking>) {
        let ix = self.net.flow(flow).target;
        let node = self.net.node(ix);
        match &node.kind {
            Kind::Task(_) => {
                self.interrupt(marking, ix, flow, aim, found);
                if !self.sees(node) {
                    self.take_choices(&moved(marking, flow, &[]), node, aim, found);
                }
            }
            Kind::Event | Kind::Choice | Kind::Pass => {
                self.take_choices(&moved(marking, flow, &[]), node, aim, found);
            }
            Kind::InclusiveJoin => {
                if self.may_join(marking, ix, node) {
                    let mut next = marking.clone();
                    for own in &node.incoming {
                        next.take(*own);
                    }
                    self.take_choices(&next, node, aim, found);
                }
            }
            Kind::ComplexJoin => self.complex(marking, flow, node, aim, found),
            // These have moved as far as they can.
            Kind::Parallel | Kind::Link { .. } | Kind::Terminate | Kind::Sub { .. } => {}
        }
    }

    /// A complex gateway goes on with what has come; its expression is not evaluated, so that any of it may be enough.
    fn complex(&self, marking: &Marking, flow: u32, node: &Node, aim: &Aim, found: &mut Vec<Marking>) {
        let late = self.place_late(flow);
        if marking.has(late) {
            let mut next = marking.clone();
            next.take(late);
            next.take(flow);
            found.push(next);
        }
        let mut next = marking.clone();
        for &own in &node.incoming {
            if !next.take(own) && !next.has(self.place_late(own)) {
                next.add(self.place_late(own));
            }
        }
        self.take_choices(&next, node, aim, found);
    }

    fn take_choices(&self, taken: &Marking, node: &Node, aim: &Aim, found: &mut Vec<Marking>) {
        for set in &node.choices {
            if aim.wants_any(self.net, node, set) {
                let mut next = taken.clone();
                set.iter().for_each(|flow| next.add(*flow));
                found.push(next);
            }
        }
    }

    /// An activity that was done goes on, or another instance of a sub-choreography begins.
    fn silent_done(&self, marking: &Marking, ix: u32, aim: &Aim, found: &mut Vec<Marking>) {
        let node = self.net.node(ix);
        let done = self.place_done(ix);
        let is_open = marking.has(self.place_await(ix)) || marking.open.iter().any(|own| own.node == ix);
        if !is_open {
            self.take_choices(&moved(marking, done, &[]), node, aim, found);
        }
        if let Kind::Sub { scope, repeat } = &node.kind {
            let content = self.beginning(*scope);
            let again = match repeat {
                Repeat::Once => false,
                Repeat::InTurn => !is_open,
                // One that waits for its first message is enough.
                Repeat::AtOnce => {
                    let mut fresh = content.clone();
                    self.settle(&mut fresh).is_ok()
                        && !marking.open.iter().any(|own| own.node == ix && own.content == fresh)
                }
            };
            if again && aim.wants_within(self.net, *scope) {
                let mut next = marking.clone();
                next.open.push(Open { node: ix, content });
                found.push(next);
            }
        }
        self.interrupt(marking, ix, done, aim, found);
    }

    /// The events at the border of an activity that waits at a token, or is open.
    fn interrupt(&self, marking: &Marking, ix: u32, token: u32, aim: &Aim, found: &mut Vec<Marking>) {
        for Boundary { event, interrupting } in &self.net.node(ix).boundary {
            let node = self.net.node(*event);
            let mut next = marking.clone();
            if *interrupting {
                next.take(token);
                let (waits, done) = (self.place_await(ix), self.place_done(ix));
                if token == waits || token == done || token == NOWHERE {
                    next.tokens.retain(|own| *own != waits && *own != done);
                    next.open.retain(|own| own.node != ix);
                }
            } else if node.outgoing.iter().any(|flow| marking.has(*flow)) {
                // Once more would change nothing but the number of tokens that wait there.
                continue;
            }
            self.take_choices(&next, node, aim, found);
        }
    }

    /// Whether an inclusive join goes on (clause 13.4.3): nothing can still come by a flow that has no token, unless it can
    /// come by one that has.
    fn may_join(&self, marking: &Marking, ix: u32, node: &Node) -> bool {
        let mut at: HashSet<u32> = marking.open.iter().map(|own| own.node).collect();
        for token in &marking.tokens {
            match self.place(*token) {
                Some(Place::Flow(flow)) => {
                    at.insert(self.net.flow(flow).target);
                }
                Some(Place::Await(other) | Place::Done(other)) => {
                    at.insert(other);
                }
                Some(Place::Begin(scope)) => {
                    at.extend(self.net.scope(scope).starts.iter().map(|flow| self.net.flow(*flow).target));
                }
                Some(Place::Late(_)) | None => {}
            }
        }
        at.remove(&ix);
        let (mut full, mut empty) = (Vec::new(), Vec::new());
        for (flow, upstream) in node.incoming.iter().zip(&node.upstream) {
            if marking.has(*flow) { full.push(upstream) } else { empty.push(upstream) }
        }
        let comes = |from: &u32, by: &[&HashSet<u32>]| by.iter().any(|upstream| upstream.contains(from));
        !at.iter().any(|from| comes(from, &empty) && !comes(from, &full))
    }

    /// The markings after a message that is seen.
    pub(super) fn fire(&self, marking: &Marking, sight: Sight) -> Vec<Marking> {
        let mut found = Vec::new();
        let ix = sight.task();
        if let Kind::Task(task) = &self.net.node(ix).kind {
            match sight {
                Sight::Initial(_) => {
                    self.fire_initial(marking, ix, task.reply.is_some(), task.repeat, &mut found)
                }
                Sight::Reply(_) => {
                    let mut next = marking.clone();
                    if next.take(self.place_await(ix)) {
                        if task.repeat == Repeat::Once {
                            self.complete(&mut next, ix);
                        }
                        found.push(next);
                    }
                }
            }
        }
        for (at, own) in marking.open.iter().enumerate() {
            if marking.open[..at].contains(own) {
                continue;
            }
            for content in self.fire(&own.content, sight) {
                let mut next = marking.clone();
                next.open[at].content = content;
                found.push(next);
            }
        }
        found
    }

    fn fire_initial(
        &self,
        marking: &Marking,
        ix: u32,
        has_reply: bool,
        repeat: Repeat,
        found: &mut Vec<Marking>,
    ) {
        let (waits, done) = (self.place_await(ix), self.place_done(ix));
        let begun = |mut next: Marking, first: bool| {
            if repeat != Repeat::Once && first {
                next.add(done);
            }
            if has_reply {
                next.add(waits);
            } else if repeat == Repeat::Once {
                self.complete(&mut next, ix);
            }
            next
        };
        for flow in &self.net.node(ix).incoming {
            if marking.has(*flow) {
                found.push(begun(moved(marking, *flow, &[]), true));
            }
        }
        let again = match repeat {
            Repeat::Once => false,
            Repeat::InTurn => !marking.has(waits),
            Repeat::AtOnce => true,
        };
        if again && marking.has(done) {
            found.push(begun(marking.clone(), false));
        }
    }
}

/// A marking with a token less, and others more.
fn moved(marking: &Marking, from: u32, to: &[u32]) -> Marking {
    let mut next = marking.clone();
    next.take(from);
    to.iter().for_each(|place| next.add(*place));
    next
}

/// Nodes from which tokens can come, unseen, to where a message is looked for: only moves towards it matter, so that choices
/// stay open until a message shows them.
#[derive(Debug)]
pub(super) struct Aim {
    /// Nodes to arrive at.
    inward: HashSet<u32>,
    /// Nodes to leave.
    outward: HashSet<u32>,
}

impl Aim {
    /// The aim of a message.
    pub(super) fn of(seen: Seen<'_>, sights: &[Sight]) -> Self {
        let net = seen.net;
        let mut aim = Self { inward: HashSet::new(), outward: HashSet::new() };
        let initial = sights.iter().filter(|sight| matches!(sight, Sight::Initial(_)));
        let mut open: Vec<Step> = initial.map(|sight| Step::In(sight.task())).collect();
        while let Some(step) = open.pop() {
            match step {
                Step::In(ix) => {
                    if aim.inward.insert(ix) {
                        before(net, ix, &mut open);
                    }
                }
                Step::Out(ix) => {
                    if aim.outward.insert(ix) {
                        within(seen, ix, &mut open);
                    }
                }
            }
        }
        aim
    }

    fn wants_flow(&self, net: &Net, flow: u32) -> bool {
        self.inward.contains(&net.flow(flow).target)
    }

    /// Whether a node's outgoing flows lead there. Where a join waits for what can come, what goes elsewhere matters, too;
    /// where nothing leaves the node, its scope may end by it.
    fn wants_any(&self, net: &Net, node: &Node, flows: &[u32]) -> bool {
        if flows.is_empty() || net.has_inclusive_joins {
            return true;
        }
        flows.iter().any(|flow| self.wants_flow(net, *flow))
            // A flow that leads to no end of the scope keeps it from ending.
            || net.scope(node.scope).owner.is_some_and(|owner| self.outward.contains(&owner))
    }

    fn wants_within(&self, net: &Net, scope: u32) -> bool {
        net.has_inclusive_joins || net.scope(scope).starts.iter().any(|flow| self.wants_flow(net, *flow))
    }
}

/// Arrival at a node, or departure from it.
#[derive(Debug, Clone, Copy)]
enum Step {
    In(u32),
    Out(u32),
}

/// Steps that can come before an arrival at a node.
fn before(net: &Net, ix: u32, open: &mut Vec<Step>) {
    let node = net.node(ix);
    for flow in &node.incoming {
        match net.flow(*flow).source {
            NOWHERE => {
                let scope = net.scope(node.scope);
                let Some(owner) = scope.owner else { continue };
                open.push(Step::In(owner));
                if matches!(net.node(owner).kind, Kind::Sub { repeat: Repeat::InTurn | Repeat::AtOnce, .. }) {
                    open.extend(scope.ends.iter().map(|end| Step::Out(*end)));
                }
            }
            source => open.push(Step::Out(source)),
        }
    }
    // What leads to the event behind a link, or at a border, leads on from there.
    open.extend(node.linked.iter().chain(&node.host).map(|from| Step::In(*from)));
}

/// Steps that can come before a departure from a node.
fn within(seen: Seen<'_>, ix: u32, open: &mut Vec<Step>) {
    let node = seen.net.node(ix);
    match &node.kind {
        Kind::Sub { scope, .. } => {
            open.push(Step::In(ix));
            open.extend(seen.net.scope(*scope).ends.iter().map(|end| Step::Out(*end)));
        }
        Kind::Task(_) if seen.sees(node) => {}
        Kind::Task(_)
        | Kind::Pass
        | Kind::Choice
        | Kind::Event
        | Kind::Parallel
        | Kind::InclusiveJoin
        | Kind::ComplexJoin
        | Kind::Link { .. }
        | Kind::Terminate => open.push(Step::In(ix)),
    }
}
