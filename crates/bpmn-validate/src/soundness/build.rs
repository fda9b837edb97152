//! From the flow between elements to the net.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::flow::{FlowGraph, Guard, Ix, NONE, Role, activity, index};
use super::net::{Kind, Net, NetEdge, NodeIx};

/// Course of a token that an element sends on.
#[derive(Debug)]
enum Plan {
    Flow(Ix),
    End,
    /// A boundary event and what follows it.
    Event(Ix),
    And(Vec<Plan>),
    Xor(Vec<Plan>),
    Or(Vec<Plan>),
}

impl Plan {
    fn of(kind: Kind, mut plans: Vec<Self>) -> Self {
        match (plans.len(), kind) {
            (0, _) => Self::End,
            (1, _) => plans.pop().unwrap_or(Self::End),
            (_, Kind::AndSplit) => Self::And(plans),
            (_, Kind::OrSplit) => Self::Or(plans),
            _ => Self::Xor(plans),
        }
    }
}

/// Makes the net of what is reached in a scope.
pub(super) fn build(graph: &FlowGraph<'_>) -> Net {
    let mut started = vec![false; graph.elements.len()];
    graph.starts.iter().for_each(|&start| started[start as usize] = true);
    let heads = vec![NONE; graph.elements.len()];
    let mut builder = Builder { graph, net: Net::new(), started, heads };
    for at in 0..graph.elements.len() {
        if graph.reached[at] {
            builder.heads[at] = builder.head(index(at));
        }
    }
    for at in 0..graph.elements.len() {
        // A boundary event is part of its activity's plan.
        let host = graph.elements[at].host;
        if graph.reached[at] && (host == NONE || !graph.reached[host as usize]) {
            builder.element(index(at));
        }
    }
    builder.dead_flows();
    builder.root();
    super::cycles::mark(&mut builder.net);
    builder.net
}

struct Builder<'g, 'a> {
    graph: &'g FlowGraph<'a>,
    net: Net,
    /// Whether each element is a start.
    started: Vec<bool>,
    /// The node that the flows into each element lead to.
    heads: Vec<NodeIx>,
}

impl Builder<'_, '_> {
    /// The flows into an element that can bear a token, and how many can never.
    fn inputs(&self, element: Ix) -> (usize, usize) {
        let flows = self.graph.incoming.of(element).iter().map(|&flow| self.graph.flow(flow));
        let live = flows.clone().filter(|flow| self.graph.is_live(flow)).count();
        (live, flows.count() - live)
    }

    fn head(&mut self, element: Ix) -> NodeIx {
        let own = self.graph.element(element);
        let (live, dead) = self.inputs(element);
        let started = usize::from(self.started[element as usize]) + usize::from(own.host != NONE);
        let kind = match own.role {
            Role::End { terminates: true } => Kind::Terminate,
            Role::Parallel if live + dead > 1 => Kind::AndJoin,
            _ if live + started < 2 => Kind::Pass,
            Role::Inclusive => Kind::OrJoin,
            _ => Kind::XorJoin,
        };
        self.net.add_node(kind, element)
    }

    /// The tokens that must arrive before an activity starts, and that it sends on.
    fn quantities(&self, element: Ix) -> (u32, u32) {
        let own = activity(self.graph.element(element).node);
        let count = |given: Option<i64>| u32::try_from(given.unwrap_or(1).clamp(1, 1_000)).unwrap_or(1);
        (count(own.and_then(|own| own.start_quantity)), count(own.and_then(|own| own.completion_quantity)))
    }

    fn element(&mut self, element: Ix) {
        let mut node = self.heads[element as usize];
        if self.net.node(node).kind == Kind::Terminate {
            return;
        }
        let (start, _) = self.quantities(element);
        if start > 1 {
            let take = self.net.add_node(Kind::Take(start), NONE);
            let edge = self.edge(node, take, element, element);
            self.net.edge_mut(edge).capacity = start;
            node = take;
        }
        let plan = self.plan(element);
        self.grow(node, plan, element);
    }

    /// Lets a plan grow out of a node.
    fn grow(&mut self, node: NodeIx, plan: Plan, from: Ix) {
        let (kind, parts) = match plan {
            Plan::And(parts) => (Kind::AndSplit, parts),
            Plan::Xor(parts) => (Kind::XorSplit, parts),
            Plan::Or(parts) => (Kind::OrSplit, parts),
            simple => return self.branch(node, simple, from),
        };
        let mut split = node;
        if self.net.node(node).kind == Kind::Pass {
            self.net.node_mut(node).kind = kind;
        } else {
            split = self.net.add_node(kind, NONE);
            self.edge(node, split, from, NONE);
        }
        for part in parts {
            self.branch(split, part, from);
        }
    }

    fn branch(&mut self, node: NodeIx, plan: Plan, from: Ix) {
        match plan {
            Plan::End => {
                let end = self.net.end;
                self.edge(node, end, from, NONE);
            }
            Plan::Flow(flow) => {
                let target = self.graph.flow(flow).target;
                let edge = self.edge(node, self.heads[target as usize], from, target);
                let (capacity, _) = self.quantities(target);
                let (_, weight) = self.quantities(from);
                let own = self.net.edge_mut(edge);
                (own.flow, own.capacity, own.weight) = (flow, capacity, weight);
            }
            Plan::Event(event) => {
                let head = self.heads[event as usize];
                self.edge(node, head, from, event);
                let plan = self.plan(event);
                self.grow(head, plan, event);
            }
            split => {
                let inner = self.net.add_node(Kind::Pass, NONE);
                self.edge(node, inner, from, NONE);
                self.grow(inner, split, from);
            }
        }
    }

    fn edge(&mut self, source: NodeIx, target: NodeIx, from: Ix, into: Ix) -> u32 {
        let (flow, via, rest, slot) = (NONE, NONE, NONE, NONE);
        let (weight, capacity) = (1, 1);
        self.net.add_edge(NetEdge { source, target, slot, from, into, flow, weight, capacity, via, rest })
    }

    /// Flows into a parallel gateway that never bear a token hold the gateway for ever.
    fn dead_flows(&mut self) {
        for (at, flow) in self.graph.flows.iter().enumerate() {
            let head = self.heads[flow.target as usize];
            if self.graph.is_live(flow) || head == NONE || self.net.node(head).kind != Kind::AndJoin {
                continue;
            }
            let edge = self.edge(NONE, head, flow.source, flow.target);
            self.net.edge_mut(edge).flow = index(at);
        }
    }

    fn root(&mut self) {
        let starts = &self.graph.starts;
        let parts: Vec<NodeIx> = starts.iter().map(|&start| self.heads[start as usize]).collect();
        let kind = if self.graph.together { Kind::AndSplit } else { Kind::XorSplit };
        if let [only] = parts[..] {
            self.net.root = self.edge(NONE, only, NONE, starts[0]);
            return;
        }
        let split = self.net.add_node(kind, NONE);
        for (part, start) in parts.into_iter().zip(starts) {
            self.edge(split, part, NONE, *start);
        }
        self.net.root = self.edge(NONE, split, NONE, NONE);
    }

    fn plan(&self, element: Ix) -> Plan {
        let own = self.graph.element(element);
        let flows: Vec<Ix> = self.graph.outgoing.of(element).to_vec();
        let flows: Vec<Ix> =
            flows.into_iter().filter(|&flow| self.graph.flow(flow).guard != Guard::False).collect();
        let normal = match own.role {
            Role::End { .. } => return Plan::End,
            Role::Parallel | Role::EventBased { parallel: true } => plain(Kind::AndSplit, flows),
            Role::Exclusive | Role::EventBased { parallel: false } => plain(Kind::XorSplit, flows),
            Role::Inclusive => self.inclusive(flows, true),
            Role::Start | Role::Activity | Role::Event => self.sides(&flows),
        };
        let events = self.graph.boundaries(element);
        if events.is_empty() {
            return normal;
        }
        let (interrupting, beside): (Vec<Ix>, Vec<Ix>) =
            events.iter().partition(|&&event| self.graph.element(event).interrupting);
        let mut ways = vec![normal];
        ways.extend(interrupting.into_iter().map(Plan::Event));
        let mut parts = vec![Plan::of(Kind::XorSplit, ways)];
        parts.extend(beside.into_iter().map(|event| Plan::Xor(vec![Plan::Event(event), Plan::End])));
        Plan::of(Kind::AndSplit, parts)
    }

    /// All unconditional flows, and some of the conditional ones. A gateway on whose flows no condition stands
    /// is a drawing: some of its flows are taken.
    fn inclusive(&self, flows: Vec<Ix>, gateway: bool) -> Plan {
        let own = |flow: &Ix| self.graph.flow(*flow);
        let (default, flows): (Vec<Ix>, Vec<Ix>) = flows.into_iter().partition(|flow| own(flow).default);
        let bare = gateway && flows.iter().all(|flow| own(flow).guard == Guard::Free);
        let always = |flow: &Ix| !bare && matches!(own(flow).guard, Guard::Free | Guard::True);
        let (always, some): (Vec<Ix>, Vec<Ix>) = flows.into_iter().partition(always);
        let mut ways = Vec::new();
        if !some.is_empty() {
            ways.push(plain(Kind::OrSplit, some));
        }
        if let Some(&default) = default.first() {
            ways.push(Plan::Flow(default));
        } else if !always.is_empty() && !ways.is_empty() {
            ways.push(Plan::End);
        }
        let mut parts: Vec<Plan> = always.into_iter().map(Plan::Flow).collect();
        if !ways.is_empty() {
            parts.push(Plan::of(Kind::XorSplit, ways));
        }
        Plan::of(Kind::AndSplit, parts)
    }

    /// Course after an activity or an event: the flows for its outcome, its failure, or a bounded way back
    /// exclude one another.
    fn sides(&self, flows: &[Ix]) -> Plan {
        let guard = |flow: &Ix| self.graph.flow(*flow).guard;
        let mut outcomes: Vec<&str> = Vec::new();
        for flow in flows {
            if let Guard::Outcome(outcome) = guard(flow)
                && !outcomes.contains(&outcome)
                && outcomes.len() < 100
            {
                outcomes.push(outcome);
            }
        }
        let common = |flow: &Ix| !matches!(guard(flow), Guard::Outcome(_) | Guard::Failure | Guard::Loop);
        let shared: Vec<Ix> = flows.iter().copied().filter(common).collect();
        let mut ways = Vec::new();
        for outcome in &outcomes {
            let of = flows.iter().copied().filter(|flow| guard(flow) == Guard::Outcome(outcome));
            let mut parts: Vec<Plan> = of.map(Plan::Flow).collect();
            let others: Vec<Ix> =
                shared.iter().copied().filter(|&flow| !self.graph.flow(flow).default).collect();
            if !others.is_empty() {
                parts.push(self.inclusive(others, false));
            }
            ways.push(Plan::of(Kind::AndSplit, parts));
        }
        if !shared.is_empty() || outcomes.is_empty() {
            ways.push(self.inclusive(shared, false));
        }
        let of = |wanted: Guard<'static>| flows.iter().copied().filter(move |flow| guard(flow) == wanted);
        let failure: Vec<Ix> = of(Guard::Failure).collect();
        if !failure.is_empty() {
            ways.push(plain(Kind::AndSplit, failure));
        }
        ways.extend(of(Guard::Loop).map(Plan::Flow));
        Plan::of(Kind::XorSplit, ways)
    }
}

fn plain(kind: Kind, flows: Vec<Ix>) -> Plan {
    Plan::of(kind, flows.into_iter().map(Plan::Flow).collect())
}
