//! Finds the structure of a scope's graph by folding it: steps into sequences, splits with their joins into
//! blocks, exclusive cycles into loops, and the smallest remaining regions with one entry and one exit into flows
//! with links. Every fold turns "one token in, one token out" of the graph into one activity, so that what stays
//! unfolded at the end is exactly what has no mapping.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::context::Context;
use super::expression::{Expr, xpath_text};
use super::graph::{Branch, END, Edge, Graph, Join, Kind, Outcome, START, Split, Way, content, own_variable};
use super::region::Regions;
use super::tree::{Activity, Copy, Fault, From, On, To, Trigger, What};
use super::{links, region};
use std::collections::VecDeque;

/// Activities nest at most this deep; the processors of XML stop at more.
const MAX_DEPTH: usize = 200;

/// The graph as one activity; what cannot be mapped is refused in the context.
pub(super) fn solve(context: &mut Context, graph: Graph) -> Activity {
    let work = (0..graph.nodes.len()).map(super::graph::place).collect();
    let mut folder = Folder { context, graph, work };
    let mut regions = Regions::default();
    loop {
        folder.drain();
        if let Some(edge) = folder.whole() {
            return content(folder.graph.remove(edge));
        }
        if folder.split_outcomes() || regions.fold(&mut folder) {
            continue;
        }
        region::refuse_the_rest(&mut folder);
        return Activity::default();
    }
}

pub(super) struct Folder<'c, 'd> {
    pub context: &'c mut Context<'d>,
    pub graph: Graph,
    pub work: VecDeque<u32>,
}

impl Folder<'_, '_> {
    pub(crate) fn drain(&mut self) {
        while let Some(node) = self.work.pop_front() {
            if self.graph.of(node).alive {
                self.visit(node);
            }
        }
    }

    /// The edge that is left when all is folded.
    fn whole(&self) -> Option<u32> {
        match self.graph.of(START).outgoing.as_slice() {
            [only]
                if self.graph.edges[*only as usize].to == END && self.graph.of(END).incoming.len() == 1 =>
            {
                Some(*only)
            }
            _ => None,
        }
    }

    fn visit(&mut self, node: u32) {
        let of = self.graph.of(node);
        match of.kind {
            Kind::Start | Kind::End => {}
            Kind::Step | Kind::Join(_) => {
                if let ([_], [_]) = (of.incoming.as_slice(), of.outgoing.as_slice()) {
                    self.series(node);
                } else if let (Kind::Join(Join::Exclusive), [out]) = (&of.kind, of.outgoing.as_slice()) {
                    let split = self.graph.edges[*out as usize].to;
                    self.cycle(node, split);
                }
            }
            Kind::Split(_) => self.split(node),
        }
    }

    fn series(&mut self, node: u32) {
        let (head, tail) = (self.graph.of(node).incoming[0], self.graph.of(node).outgoing[0]);
        if head == tail {
            return;
        }
        let tail = self.graph.remove(tail);
        let (target, source) = (tail.to, self.graph.edges[head as usize].from);
        let of = &mut self.graph.nodes[node as usize];
        let (activity, element) = (of.activity.take(), of.element);
        if let Some(activity) = activity {
            self.graph.push(head, activity);
        }
        self.graph.edges[head as usize].elements.extend(element);
        self.graph.append(head, tail);
        self.graph.retarget(head, target);
        self.graph.nodes[node as usize].alive = false;
        self.work.extend([source, target]);
    }

    fn split(&mut self, node: u32) {
        let [head] = self.graph.of(node).incoming[..] else { return };
        self.redirect_aborts(node, self.graph.edges[head as usize].from);
        if let Some(target) = self.graph.only_target(node) {
            if target != node && !matches!(self.graph.of(target).kind, Kind::Start) {
                self.block(node, head, target);
            }
        } else {
            let source = self.graph.edges[head as usize].from;
            self.cycle(source, node);
        }
    }

    /// A way that ends the scope never arrives anywhere, so that it may as well lead where the others lead.
    fn redirect_aborts(&mut self, node: u32, source: u32) {
        let exclusive = matches!(
            self.graph.of(node).kind,
            Kind::Split(Split::Exclusive | Split::Event(_) | Split::Outcome(_))
        );
        let ending = self.graph.count_between(node, END);
        if !exclusive || ending == 0 || ending as usize == self.graph.of(node).outgoing.len() {
            return;
        }
        let (aborts, others): (Vec<u32>, Vec<u32>) =
            self.graph.of(node).outgoing.iter().partition(|edge| self.graph.edges[**edge as usize].to == END);
        let target = self.graph.edges[others[0] as usize].to;
        let one = others.iter().all(|edge| self.graph.edges[*edge as usize].to == target);
        if !one
            || target == source
            || !aborts.iter().all(|edge| ends_scope(&self.graph.edges[*edge as usize]))
        {
            return;
        }
        // A plain step or a split has one incoming edge.
        if matches!(self.graph.of(target).kind, Kind::Join(Join::Exclusive | Join::Inclusive)) {
            for edge in aborts {
                self.graph.retarget(edge, target);
            }
            self.work.push_back(END);
        }
    }

    fn block(&mut self, node: u32, head: u32, target: u32) {
        let kind = std::mem::replace(&mut self.graph.nodes[node as usize].kind, Kind::Step);
        let Kind::Split(split) = kind else { return };
        let join = match self.graph.of(target).kind {
            Kind::Join(join) => join,
            _ => Join::Inclusive,
        };
        let branches = self.graph.branches(node);
        // With one branch there is nothing to be taken beside it.
        let split = match split {
            Split::Inclusive if branches.len() == 1 => Split::Exclusive,
            split => split,
        };
        let fits = branches.len() < 2
            || match split {
                Split::Exclusive | Split::Event(_) | Split::Outcome(_) => join != Join::Parallel,
                Split::Parallel => join != Join::Exclusive,
                Split::Inclusive => join == Join::Inclusive,
            };
        if matches!(split, Split::Inclusive) && fits {
            self.graph.nodes[node as usize].kind = Kind::Split(split);
            links::fold(self, node, &[node], target);
            return;
        }
        let edges: Vec<Edge> = branches.iter().map(|edge| self.graph.remove(*edge)).collect();
        let mut elements: VecDeque<u32> = self.graph.of(node).element.into_iter().collect();
        for edge in &edges {
            elements.extend(&edge.elements);
        }
        let activity = if fits {
            self.make_block(split, node, edges)
        } else {
            let mut ids = elements.clone();
            ids.extend(self.graph.of(target).element);
            let (code, message) = mismatch(&split);
            self.context.refuse(ids, code, message);
            Activity::default()
        };
        self.fold(node, head, target, activity, elements);
    }

    /// Puts an activity in the place of a split whose edges are gone.
    pub(crate) fn fold(
        &mut self,
        node: u32,
        head: u32,
        target: u32,
        activity: Activity,
        elements: VecDeque<u32>,
    ) {
        let activity = self.shallow(activity, &elements);
        self.graph.push(head, activity);
        self.graph.append(head, Edge { elements, ..Edge::default() });
        self.graph.retarget(head, target);
        self.graph.nodes[node as usize].alive = false;
        self.work.extend([self.graph.edges[head as usize].from, target]);
    }

    fn shallow(&mut self, activity: Activity, elements: &VecDeque<u32>) -> Activity {
        if activity.depth <= MAX_DEPTH {
            return activity;
        }
        let message = format!("the blocks nest deeper than {MAX_DEPTH} levels");
        self.context.refuse(elements.clone(), "tooDeep", message);
        Activity::default()
    }

    fn id_of(&self, node: u32) -> Option<String> {
        self.context.gateway_id(self.graph.of(node).element)
    }

    fn make_block(&mut self, split: Split, node: u32, edges: Vec<Edge>) -> Activity {
        let id = self.id_of(node);
        let mut activity = match split {
            Split::Outcome(outcome) => return self.outcome(*outcome, edges),
            Split::Exclusive => choose(edges),
            Split::Event(create) => self.pick(node, create, edges),
            Split::Parallel | Split::Inclusive => {
                let mut branches: Vec<Activity> =
                    edges.into_iter().map(content).filter(|one| !one.is_nothing()).collect();
                match (branches.pop(), branches.is_empty()) {
                    (None, _) => return Activity::default(),
                    (Some(only), true) => return only,
                    (Some(last), false) => branches.push(last),
                }
                Activity::new(What::Flow(Vec::new(), branches))
            }
        };
        if let Some(id) = id {
            activity.name = self.context.names.unique(&id);
            activity.element = Some(id);
        }
        activity
    }

    pub(crate) fn pick(&mut self, node: u32, create: bool, edges: Vec<Edge>) -> Activity {
        let mut branches = Vec::new();
        for mut edge in edges {
            let Some(trigger) = edge.branch.trigger.take() else { continue };
            branches.push((trigger, content(edge)));
        }
        self.check_pick(node, &branches);
        Activity::new(What::Pick(create, branches))
    }

    /// A pick must wait for a message at least.
    fn check_pick(&mut self, node: u32, branches: &[(Trigger, Activity)]) {
        if branches.iter().any(|(trigger, _)| matches!(trigger.on, On::Message(_))) {
            return;
        }
        let message = "WS-BPEL has no choice among times alone: one of the events must be a message";
        self.context.refuse(self.graph.of(node).element, "noMessage", message);
    }

    /// An activity whose boundary events all lead to the same place as its normal end.
    fn outcome(&mut self, outcome: Outcome, edges: Vec<Edge>) -> Activity {
        let mut contents = edges.into_iter().map(content);
        let normal = contents.next().unwrap_or_default();
        let needs_mark = !normal.is_nothing();
        let handlers: Vec<Activity> = contents
            .map(|handler| {
                let mark = needs_mark.then(|| assign(&outcome.variable, "false()"));
                Activity::sequence([handler].into_iter().chain(mark))
            })
            .collect();
        let mut list = Vec::new();
        if needs_mark {
            self.context.declare(own_variable(&outcome.variable, "xsd:boolean"));
            list.push(assign(&outcome.variable, "true()"));
        }
        let variable = outcome.variable.clone();
        list.push(self.guarded(outcome, handlers));
        if needs_mark {
            let test = Expr::xpath(format!("${variable}"));
            list.push(Activity::new(What::If(vec![(test, normal)], None)));
        }
        Activity::sequence(list)
    }

    /// The scope of an activity with the handlers of its boundary events.
    fn guarded(&mut self, outcome: Outcome, handlers: Vec<Activity>) -> Activity {
        let Outcome { mut scope, name, element, ways, .. } = outcome;
        for (way, handler) in ways.into_iter().zip(handlers) {
            let Way { element, fault, trigger } = way;
            if let (Some(trigger), Some(fault)) = (trigger, fault.clone()) {
                let throw = Activity::new(What::Throw(fault)).of(&element);
                scope.events.push((trigger, throw.in_scope()));
            }
            scope.faults.push((fault, handler));
        }
        Activity::new(What::Scope(Box::new(scope))).named(name).of(&element)
    }

    /// Parts each activity with interrupting boundary events from the choice among the ways on which it ended.
    fn split_outcomes(&mut self) -> bool {
        let mut found = false;
        for node in 0..super::graph::place(self.graph.nodes.len()) {
            let of = &mut self.graph.nodes[node as usize];
            if !of.alive || !matches!(of.kind, Kind::Split(Split::Outcome(_))) {
                continue;
            }
            let [head] = of.incoming[..] else { continue };
            let kind = std::mem::replace(&mut of.kind, Kind::Split(Split::Exclusive));
            let Kind::Split(Split::Outcome(outcome)) = kind else { continue };
            found = true;
            self.part(node, head, *outcome);
        }
        found
    }

    fn part(&mut self, node: u32, head: u32, outcome: Outcome) {
        let variable = outcome.variable.clone();
        self.context.declare(own_variable(&variable, "xsd:string"));
        let mut handlers = Vec::new();
        for (at, edge) in self.graph.branches(node).into_iter().enumerate() {
            let branch = &mut self.graph.edges[edge as usize].branch;
            branch.is_default = at == 0;
            if let Some(way) = at.checked_sub(1).and_then(|at| outcome.ways.get(at)) {
                let word = xpath_text(&way.element);
                branch.condition = Some(Expr::xpath(format!("${variable} = {word}")));
                handlers.push(assign(&variable, &word));
            }
        }
        let scope = self.guarded(outcome, handlers);
        self.graph.push(head, assign(&variable, "''"));
        self.graph.push(head, scope);
        self.work.extend(self.graph.of(node).outgoing.iter().map(|edge| self.graph.edges[*edge as usize].to));
        self.work.extend([node, self.graph.edges[head as usize].from]);
    }

    /// Folds a cycle from an exclusive join over one split back to the join.
    fn cycle(&mut self, join: u32, split: u32) {
        let of = self.graph.of(join);
        let ([body], [_]) = (&of.outgoing[..], &self.graph.of(split).incoming[..]) else { return };
        let fits = matches!(of.kind, Kind::Join(Join::Exclusive))
            && matches!(self.graph.of(split).kind, Kind::Split(Split::Exclusive | Split::Event(false)))
            && self.graph.edges[*body as usize].to == split;
        let back = self.graph.count_between(split, join) as usize;
        if !fits || back == 0 || back == self.graph.of(split).outgoing.len() {
            return;
        }
        let body = *body;
        let branches = self.graph.branches(split);
        let exits = branches.len() - back;
        let simple = if back == 1 && exits == 1 { self.simple_loop(body, &branches, join) } else { None };
        let mut elements = VecDeque::new();
        let looped = match simple {
            Some((activity, used)) => {
                elements = used;
                activity
            }
            None => self.general_loop(body, &branches, join, split, &mut elements),
        };
        elements.extend(self.graph.of(split).element);
        elements.extend(self.graph.of(join).element);
        let looped = self.shallow(looped, &elements);
        self.graph.push(body, looped);
        self.graph.append(body, Edge { elements, ..Edge::default() });
        let kind = if exits == 1 { Kind::Step } else { Kind::Split(Split::Exclusive) };
        self.graph.nodes[split as usize].kind = kind;
        self.work.extend([join, split]);
    }

    /// `while` or `repeatUntil`, where one condition decides and there is no more than one body.
    fn simple_loop(&mut self, body: u32, branches: &[u32], join: u32) -> Option<(Activity, VecDeque<u32>)> {
        let of = |edge: u32| &self.graph.edges[edge as usize];
        if matches!(self.graph.of(of(branches[0]).from).kind, Kind::Split(Split::Event(_))) {
            return None;
        }
        let (back, exit) =
            if of(branches[0]).to == join { (branches[0], branches[1]) } else { (branches[1], branches[0]) };
        let goes_on = decides(&of(back).branch, &of(exit).branch)?;
        let (again, stop) = match goes_on {
            Goes::While(condition) => (condition.clone(), condition.negated()?),
            Goes::Until(condition) => (condition.negated()?, condition),
        };
        let nothing = |edge: u32| of(edge).content.is_empty();
        let used;
        let activity = if nothing(body) {
            let mut edge = self.graph.remove(back);
            used = std::mem::take(&mut edge.elements);
            self.forget(exit);
            Activity::new(What::While(again, Box::new(content(edge))))
        } else if nothing(back) {
            used = self.graph.remove(back).elements;
            self.forget(exit);
            let done = Activity::sequence(std::mem::take(&mut self.graph.edges[body as usize].content));
            Activity::new(What::RepeatUntil(Box::new(done), stop))
        } else {
            return None;
        };
        Some((activity, used))
    }

    /// A branch that is no choice any more.
    fn forget(&mut self, edge: u32) {
        let order = self.graph.edges[edge as usize].branch.order;
        self.graph.edges[edge as usize].branch = Branch { order, ..Branch::default() };
    }

    /// A loop with a variable that says whether, and on which way, it was left.
    fn general_loop(
        &mut self,
        body: u32,
        branches: &[u32],
        join: u32,
        split: u32,
        elements: &mut VecDeque<u32>,
    ) -> Activity {
        let way = self.context.names.unique("leave");
        self.context.declare(own_variable(&way, "xsd:string"));
        let exits = branches.iter().filter(|edge| self.graph.edges[**edge as usize].to != join).count();
        let mut inner = Vec::new();
        let mut exit = 0;
        for &at in branches {
            if self.graph.edges[at as usize].to == join {
                let edge = self.graph.remove(at);
                elements.extend(&edge.elements);
                inner.push(edge);
                continue;
            }
            exit += 1;
            let branch = std::mem::take(&mut self.graph.edges[at as usize].branch);
            let mut left = Edge { branch, ..Edge::default() };
            left.content.push_back(assign(&way, &format!("'{exit}'")));
            let order = left.branch.order;
            let own = &mut self.graph.edges[at as usize].branch;
            own.order = order;
            if exits > 1 {
                own.is_default = exit == exits;
                own.condition = (exit < exits).then(|| Expr::xpath(format!("${way} = '{exit}'")));
            }
            inner.push(left);
        }
        let choice = match self.graph.of(split).kind {
            Kind::Split(Split::Event(create)) => self.pick(split, create, inner),
            _ => choose(inner),
        };
        let done = std::mem::take(&mut self.graph.edges[body as usize].content);
        let done = Activity::sequence(done.into_iter().chain([choice]));
        let until = Expr::xpath(format!("${way} != ''"));
        let looped = Activity::new(What::RepeatUntil(Box::new(done), until));
        Activity::sequence([assign(&way, "''"), looped])
    }
}

/// Condition of a loop with one way back and one way out.
enum Goes {
    While(Expr),
    Until(Expr),
}

fn decides(back: &Branch, exit: &Branch) -> Option<Goes> {
    let otherwise = |branch: &Branch, other: &Branch| {
        branch.is_default || (branch.condition.is_none() && branch.order > other.order)
    };
    if otherwise(exit, back) && !back.is_default {
        return back.condition.clone().map(Goes::While);
    }
    if otherwise(back, exit) && !exit.is_default {
        return exit.condition.clone().map(Goes::Until);
    }
    None
}

/// An exclusive choice: the first branch whose condition holds, else the default, else a fault, as BPMN has it.
fn choose(edges: Vec<Edge>) -> Activity {
    let mut branches = Vec::new();
    let mut otherwise = None;
    let mut certain = None;
    for mut edge in edges {
        let branch = std::mem::take(&mut edge.branch);
        if branch.is_default {
            otherwise = Some(content(edge));
        } else if certain.is_none() {
            match branch.condition {
                Some(condition) => branches.push((condition, content(edge))),
                // What follows a branch without a condition is never reached.
                None => certain = Some(content(edge)),
            }
        }
    }
    let last = certain.or(otherwise).unwrap_or_else(no_flow);
    if branches.is_empty() {
        return last;
    }
    let last = (!last.is_nothing()).then(|| Box::new(last));
    Activity::new(What::If(branches, last))
}

/// The fault of a gateway none of whose flows can be taken.
pub(super) fn no_flow() -> Activity {
    Activity::new(What::Throw(Fault::Own("noMatchingFlow".to_owned())))
}

/// Gives a variable a value in XPath.
pub(super) fn assign(variable: &str, value: &str) -> Activity {
    let copy = Copy { from: From::Expr(Expr::xpath(value)), to: To::Variable(variable.to_owned()) };
    Activity::new(What::Assign(vec![copy]))
}

/// Whether nothing follows what is done along the edge, because it ends the scope or the process.
pub(super) fn ends_scope(edge: &Edge) -> bool {
    edge.content.back().is_some_and(|last| matches!(last.what, What::Throw(_) | What::Exit))
}

fn mismatch(split: &Split) -> (&'static str, &'static str) {
    match split {
        Split::Parallel => (
            "lackOfSynchronization",
            "parallel branches meet without being put together: what follows would run once per branch",
        ),
        Split::Inclusive => (
            "lackOfSynchronization",
            "inclusive branches meet at a gateway that is not inclusive: what follows would run several times, or never",
        ),
        _ => ("deadlock", "a parallel gateway waits for branches of which only one is ever taken"),
    }
}
