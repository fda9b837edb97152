//! The findings about one scope.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::cycles::{Cycle, livelocks};
use super::explore::{Budget, Space, explore};
use super::flow::{FlowGraph, Ix, NONE};
use super::net::{EdgeIx, Kind, Net};
use super::{Finding, Soundness, Unjudged, build, reduce};
use heddle_bpmn::element::ElementKind;
use heddle_bpmn::model::{GraphRef, join};
use std::collections::HashSet;

/// Longest witness; a longer one loses its middle no more than its end is worth.
const MAX_WITNESS: usize = 1_000;
/// Most ids that a message names.
const MAX_NAMED: usize = 8;

/// One scope.
pub(super) struct Scope<'s, 'a> {
    pub graph: &'s GraphRef<'a>,
    pub flow: &'s FlowGraph<'a>,
    /// Id of the process around it.
    pub process: Option<&'a str>,
    /// Whether something outside the flow can end it.
    pub escapes: bool,
}

/// Judges a scope.
pub(super) fn judge(scope: &Scope<'_, '_>, budget: &mut Budget, reduced: bool, found: &mut Soundness) {
    for region in scope.apart() {
        Soundness::add(&mut found.unreachable, &mut found.more, || scope.unreachable(&region, None));
    }
    // The activities of an ad-hoc sub-process start as people like.
    let ad_hoc = scope.graph.owner.is_some_and(|owner| owner.is(ElementKind::AdHocSubProcess));
    let judged = !ad_hoc && !scope.flow.starts.is_empty();
    let missed = if judged { tokens(scope, budget, reduced, found) } else { HashSet::new() };
    for cycle in livelocks(scope.flow) {
        if !cycle.elements.iter().all(|element| missed.contains(element)) {
            Soundness::add(&mut found.unbounded_cycles, &mut found.more, || scope.cycle(&cycle));
        }
    }
}

/// Judges what tokens do; answers with the elements that no run fires though a path leads to them.
fn tokens(scope: &Scope<'_, '_>, budget: &mut Budget, reduced: bool, found: &mut Soundness) -> HashSet<Ix> {
    let mut net = build::build(scope.flow);
    if reduced {
        reduce::reduce(&mut net);
    }
    let space = explore(&net, budget);
    if !space.complete {
        found.complete = false;
        found.unjudged.push(Unjudged {
            process_id: scope.process.map(str::to_owned),
            element_id: scope.graph.id.map(str::to_owned),
            path: scope.graph.path.clone(),
        });
    }
    let view = View { scope, net: &net, space: &space };
    view.deadlocks(found);
    view.trap(found);
    view.unsafe_edges(found);
    view.never_fired(found)
}

impl Scope<'_, '_> {
    fn id(&self, element: Ix) -> &str {
        self.flow.elements.get(element as usize).map_or("", |own| own.id)
    }

    fn ids(&self, elements: &[Ix]) -> Vec<String> {
        elements.iter().map(|&element| self.id(element).to_owned()).collect()
    }

    /// A finding without its sentences.
    fn finding(&self, elements: &[Ix], message: String, remedy: &str) -> Finding {
        let first = elements.first().and_then(|first| self.flow.elements.get(*first as usize));
        let place = first.map(|own| format!("nodes[{}]", own.place)).unwrap_or_default();
        Finding {
            element_ids: self.ids(elements),
            process_id: self.process.map(str::to_owned),
            path: join(&self.graph.path, &place),
            message,
            remedy: remedy.to_owned(),
            witness: Vec::new(),
        }
    }

    /// The elements to which no path leads from a start, by connected region.
    fn apart(&self) -> Vec<Vec<Ix>> {
        let apart = |ix: Ix| !self.flow.reached[ix as usize];
        let mut seen = vec![false; self.flow.elements.len()];
        let mut regions = Vec::new();
        for ix in 0..super::flow::index(seen.len()) {
            let (mut open, mut region) = (vec![ix], Vec::new());
            while let Some(ix) = open.pop() {
                if !apart(ix) || std::mem::replace(&mut seen[ix as usize], true) {
                    continue;
                }
                region.push(ix);
                let incoming = self.flow.incoming.of(ix).iter().map(|&flow| self.flow.flow(flow).source);
                open.extend(self.flow.next(ix).chain(incoming));
                let host = self.flow.element(ix).host;
                if host != NONE {
                    open.push(host);
                }
            }
            if !region.is_empty() {
                region.sort_unstable();
                regions.push(region);
            }
        }
        regions
    }

    fn unreachable(&self, elements: &[Ix], because: Option<&str>) -> Finding {
        let names = named(self.ids(elements));
        let message = match because {
            None => format!("No path leads from a start to {names}."),
            Some("") => format!("No run reaches {names}: the tokens that it needs never come together."),
            Some(join) => format!("No run reaches {names}: `{join}` never gets all the tokens it waits for."),
        };
        let remedy = match because {
            None => "Connect it with a sequence flow that can be taken, or remove it.",
            Some("") => "Join with the kind of gateway that split the flow.",
            Some(_) => "Solve the deadlock before it.",
        };
        self.finding(elements, message, remedy)
    }

    fn cycle(&self, cycle: &Cycle) -> Finding {
        let names = named(self.ids(&cycle.elements));
        let message = if cycle.exit {
            format!(
                "Livelock: the cycle through {names} has neither a wait state nor a bound, so that only its conditions end it."
            )
        } else {
            format!(
                "Livelock: the cycle through {names} has neither a wait state nor a bound, and nothing leads out of it."
            )
        };
        let remedy = "Give the way back a maximum of iterations, or let the cycle wait for a task, a message or a timer.";
        let mut finding = self.finding(&cycle.elements, message, remedy);
        finding.witness = self.ids(&cycle.witness[..cycle.witness.len().min(MAX_WITNESS)]);
        finding
    }
}

/// A scope's net with its state space.
struct View<'v, 's, 'a> {
    scope: &'v Scope<'s, 'a>,
    net: &'v Net,
    space: &'v Space,
}

impl View<'_, '_, '_> {
    /// The elements that fire until a marking is reached, in which the tokens of one edge may still rest at its
    /// beginning.
    fn witness(&self, state: u32, resting: EdgeIx) -> Vec<String> {
        let mut found = Vec::new();
        let steps = self.space.steps_to(state);
        let on = |edges: &[EdgeIx]| edges.iter().filter(|edge| **edge == resting).count();
        let mut passing: usize = steps.iter().map(|(_, edges)| on(edges)).sum::<usize>();
        passing = passing.saturating_sub(on(self.space.marking(state)));
        for (node, edges) in steps {
            if found.len() >= MAX_WITNESS {
                break;
            }
            if let Some(own) = self.net.nodes.get(node as usize)
                && own.element != NONE
            {
                found.push(own.element);
            }
            for edge in edges {
                if edge == resting {
                    if passing == 0 {
                        continue;
                    }
                    passing -= 1;
                }
                self.net.ropes.append(self.net.edge(edge).via, MAX_WITNESS, &mut found);
            }
        }
        self.scope.ids(&found)
    }

    /// The joins at which tokens wait in markings where nothing can move.
    fn stuck(&self) -> Vec<(Ix, EdgeIx, u32)> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for &state in &self.space.dead {
            for &edge in self.space.marking(state) {
                let own = self.net.edge(edge);
                if seen.insert(own.into) {
                    found.push((own.into, edge, state));
                }
            }
        }
        found
    }

    fn deadlocks(&self, found: &mut Soundness) {
        let certain = self.space.complete && !self.space.ends() && self.space.unsafe_edges.is_empty();
        for (element, edge, state) in self.stuck() {
            Soundness::add(&mut found.deadlocks, &mut found.more, || {
                let mut message = self.why_stuck(element, edge, state);
                if certain {
                    message.push_str(" No run can complete.");
                }
                let remedy = match self.net.node(self.net.edge(edge).target).kind {
                    Kind::Take(_) => "Let as many tokens arrive as the start quantity asks for.",
                    _ => {
                        "Join with the kind of gateway that split the flow, or let every branch lead to the join."
                    }
                };
                let mut finding = self.scope.finding(&[element], message, remedy);
                finding.witness = self.witness(state, NONE);
                finding
            });
        }
    }

    fn why_stuck(&self, element: Ix, edge: EdgeIx, state: u32) -> String {
        let id = self.scope.id(element);
        let node = self.net.node(self.net.edge(edge).target);
        if let Kind::Take(count) = node.kind {
            let marking = self.space.marking(state);
            let there = marking.iter().filter(|other| **other == edge).count();
            return format!("`{id}` starts with {count} tokens, and no more than {there} may arrive.");
        }
        let full = |edge: &&EdgeIx| self.space.marking(state).binary_search(edge).is_ok();
        let (there, missing): (Vec<&EdgeIx>, Vec<&EdgeIx>) = node.input.iter().partition(full);
        let flows = |edges: Vec<&EdgeIx>| {
            let of = |edge: &EdgeIx| {
                let own = self.net.edge(*edge);
                let flow = self.scope.flow.flows.get(own.flow as usize).and_then(|flow| flow.id);
                flow.unwrap_or_else(|| self.scope.id(own.from)).to_owned()
            };
            named(edges.into_iter().map(of).collect())
        };
        format!(
            "A token can wait at `{id}` for ever: it came by {}, and by {} none can come any more.",
            flows(there),
            flows(missing)
        )
    }

    /// Runs that go on for ever but can no longer end. What interrupts the scope from outside may be meant to
    /// end them.
    fn trap(&self, found: &mut Soundness) {
        let Some(&state) = self.space.trapped.first().filter(|_| !self.scope.escapes) else { return };
        let mut elements = Vec::new();
        let mut seen = vec![false; self.net.ropes.len()];
        let mut edges: Vec<EdgeIx> =
            self.space.trapped.iter().flat_map(|&state| self.space.marking(state)).copied().collect();
        edges.sort_unstable();
        edges.dedup();
        let circles = |edge: &EdgeIx| self.space.circling.binary_search(&self.net.edge(*edge).target).is_ok();
        for edge in edges.into_iter().filter(circles) {
            let own = self.net.edge(edge);
            self.net.ropes.visit(own.via, &mut seen, |element| elements.push(element));
            self.net.ropes.visit(own.rest, &mut seen, |element| elements.push(element));
            elements.extend(Some(self.net.node(own.target).element).filter(|element| *element != NONE));
        }
        elements.sort_unstable();
        elements.dedup();
        Soundness::add(&mut found.deadlocks, &mut found.more, || {
            let names = named(self.scope.ids(&elements));
            let message = format!("From {names} no end can be reached: the flow goes round for ever.");
            let mut finding =
                self.scope.finding(&elements, message, "Let a flow lead out of the cycle to an end event.");
            finding.witness = self.witness(state, NONE);
            finding
        });
    }

    /// The merges behind which two tokens meet. What lies behind such a flow repeats the finding and is left
    /// out.
    fn unsafe_edges(&self, found: &mut Soundness) {
        let mut earlier = HashSet::new();
        let mut told = HashSet::new();
        for &(edge, state) in &self.space.unsafe_edges {
            earlier.insert(edge);
            let own = self.net.edge(edge);
            let node = self.net.nodes.get(own.source as usize);
            if node
                .is_some_and(|node| node.input.iter().any(|input| *input != edge && earlier.contains(input)))
                || !told.insert(own.from)
            {
                continue;
            }
            Soundness::add(&mut found.lack_of_synchronization, &mut found.more, || {
                let id = self.scope.id(own.from);
                let message = format!(
                    "Two tokens can meet behind `{id}`, so that what follows it runs more than once."
                );
                let remedy =
                    "Join the branches that run at the same time with a parallel or an inclusive gateway.";
                let mut finding = self.scope.finding(&[own.from], message, remedy);
                finding.witness = self.witness(state, edge);
                finding
            });
        }
    }

    /// Elements that a path leads to but that no run fires, because a join before them never does.
    fn never_fired(&self, found: &mut Soundness) -> HashSet<Ix> {
        if !self.space.complete || !self.space.unsafe_edges.is_empty() {
            return HashSet::new();
        }
        let mut fired = vec![false; self.scope.flow.elements.len()];
        let mut seen = vec![false; self.net.ropes.len()];
        for (edge, _) in self.net.edges.iter().zip(&self.space.marked).filter(|(_, marked)| **marked) {
            self.net.ropes.visit(edge.via, &mut seen, |element| fired[element as usize] = true);
            self.net.ropes.visit(edge.rest, &mut seen, |element| fired[element as usize] = true);
        }
        for (node, _) in self.net.nodes.iter().zip(&self.space.fired).filter(|(_, fired)| **fired) {
            if node.element != NONE {
                fired[node.element as usize] = true;
            }
        }
        let missed = (0..super::flow::index(fired.len()))
            .filter(|&ix| self.scope.flow.reached[ix as usize] && !fired[ix as usize]);
        let missed: Vec<Ix> = missed.collect();
        if missed.is_empty() {
            return HashSet::new();
        }
        let stuck = self.stuck();
        let because = stuck.first().map_or("", |(element, ..)| self.scope.id(*element));
        Soundness::add(&mut found.unreachable, &mut found.more, || {
            self.scope.unreachable(&missed, Some(because))
        });
        missed.into_iter().collect()
    }
}

/// Ids as a list for people.
fn named(ids: Vec<String>) -> String {
    let more = ids.len().saturating_sub(MAX_NAMED);
    let mut names: Vec<String> = ids.into_iter().take(MAX_NAMED).map(|id| format!("`{id}`")).collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    match names.pop() {
        Some(last) if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        Some(last) => last,
        None => "nothing".to_owned(),
    }
}
