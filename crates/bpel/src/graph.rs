//! The graph of one scope with every node either a split, a join or a plain step, on which the structure is found.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::expression::Expr;
use super::tree::{Activity, Scope, Trigger, Variable};
use std::collections::{HashMap, VecDeque};

/// Splitting behaviour of a node: the branches that its token goes to.
#[derive(Debug, Clone)]
pub(super) enum Split {
    /// To the first branch whose condition holds.
    Exclusive,
    /// To all branches.
    Parallel,
    /// To all branches whose condition holds.
    Inclusive,
    /// To the branch whose event comes first; true when the event creates the instance.
    Event(bool),
    /// To the way on which the activity in it ended.
    Outcome(Box<Outcome>),
}

/// Joining behaviour of a node: the tokens that it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    /// Each goes on by itself.
    Exclusive,
    /// All are waited for.
    Parallel,
    /// All that can still come are waited for.
    Inclusive,
}

/// An activity that ends in the normal way or by one of its interrupting boundary events.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    /// The scope of the activity, without the handlers for the branches.
    pub scope: Scope,
    /// Name of the scope.
    pub name: String,
    /// Id of the activity.
    pub element: String,
    /// Boundary events, one for each branch after the first, which is the normal one.
    pub ways: Vec<Way>,
    /// Variable that says on which way the activity ended.
    pub variable: String,
}

/// An interrupting boundary event.
#[derive(Debug, Clone)]
pub(super) struct Way {
    /// Id of the event.
    pub element: String,
    /// The fault that is caught; none catches all.
    pub fault: Option<super::tree::Fault>,
    /// Message or timer that raises the fault; none for an error, which the activity itself throws.
    pub trigger: Option<Trigger>,
}

/// The kind of a node.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Start,
    End,
    Step,
    Split(Split),
    Join(Join),
}

/// A node.
#[derive(Debug)]
pub(super) struct Node {
    pub kind: Kind,
    /// Number of the BPMN element.
    pub element: Option<u32>,
    /// The activity, for a step.
    pub activity: Option<Activity>,
    pub incoming: Vec<u32>,
    pub outgoing: Vec<u32>,
    pub alive: bool,
}

/// Condition, default mark or event that selects a branch out of a split.
#[derive(Debug, Clone, Default)]
pub(super) struct Branch {
    pub condition: Option<Expr>,
    pub is_default: bool,
    pub trigger: Option<Trigger>,
    /// Place among the branches.
    pub order: u32,
}

/// An edge with the activities that are done along it.
#[derive(Debug, Default)]
pub(super) struct Edge {
    pub from: u32,
    pub to: u32,
    pub branch: Branch,
    pub content: VecDeque<Activity>,
    /// Numbers of the BPMN elements in the content.
    pub elements: VecDeque<u32>,
    pub alive: bool,
    pub at_from: usize,
    pub at_to: usize,
}

/// The graph.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// Number of edges from one node to another, for splits.
    between: HashMap<(u32, u32), u32>,
    /// Number of distinct targets of each node.
    targets: Vec<u32>,
}

pub(super) const START: u32 = 0;
pub(super) const END: u32 = 1;

impl Graph {
    pub(crate) fn new() -> Self {
        let mut graph = Self::default();
        graph.node(Kind::Start, None, None);
        graph.node(Kind::End, None, None);
        graph
    }

    pub(crate) fn node(&mut self, kind: Kind, element: Option<u32>, activity: Option<Activity>) -> u32 {
        let at = place(self.nodes.len());
        let (incoming, outgoing) = (Vec::new(), Vec::new());
        self.nodes.push(Node { kind, element, activity, incoming, outgoing, alive: true });
        self.targets.push(0);
        at
    }

    pub(crate) fn edge(&mut self, from: u32, to: u32, mut branch: Branch) -> u32 {
        let at = place(self.edges.len());
        branch.order = place(self.nodes[from as usize].outgoing.len());
        self.edges.push(Edge { from, to, branch, alive: true, ..Edge::default() });
        self.attach_from(at);
        self.attach_to(at);
        at
    }

    pub(crate) fn of(&self, at: u32) -> &Node {
        &self.nodes[at as usize]
    }

    /// The edges out of a node, in the order of the model.
    pub(crate) fn branches(&self, node: u32) -> Vec<u32> {
        let mut list = self.of(node).outgoing.clone();
        list.sort_by_key(|edge| self.edges[*edge as usize].branch.order);
        list
    }

    /// The one target of all edges out of a node.
    pub(crate) fn only_target(&self, node: u32) -> Option<u32> {
        let first = self.of(node).outgoing.first()?;
        (self.targets[node as usize] == 1).then(|| self.edges[*first as usize].to)
    }

    pub(crate) fn count_between(&self, from: u32, to: u32) -> u32 {
        self.between.get(&(from, to)).copied().unwrap_or(0)
    }

    fn attach_from(&mut self, at: u32) {
        let from = self.edges[at as usize].from;
        let list = &mut self.nodes[from as usize].outgoing;
        self.edges[at as usize].at_from = list.len();
        list.push(at);
        self.count(from, self.edges[at as usize].to, true);
    }

    fn attach_to(&mut self, at: u32) {
        let to = self.edges[at as usize].to;
        let list = &mut self.nodes[to as usize].incoming;
        self.edges[at as usize].at_to = list.len();
        list.push(at);
    }

    fn count(&mut self, from: u32, to: u32, more: bool) {
        let count = self.between.entry((from, to)).or_insert(0);
        if more {
            *count += 1;
            if *count == 1 {
                self.targets[from as usize] += 1;
            }
        } else {
            *count -= 1;
            if *count == 0 {
                self.between.remove(&(from, to));
                self.targets[from as usize] -= 1;
            }
        }
    }

    fn detach_from(&mut self, at: u32) {
        let (from, to, place) = {
            let edge = &self.edges[at as usize];
            (edge.from, edge.to, edge.at_from)
        };
        let list = &mut self.nodes[from as usize].outgoing;
        list.swap_remove(place);
        if let Some(moved) = list.get(place) {
            self.edges[*moved as usize].at_from = place;
        }
        self.count(from, to, false);
    }

    fn detach_to(&mut self, at: u32) {
        let (to, place) = (self.edges[at as usize].to, self.edges[at as usize].at_to);
        let list = &mut self.nodes[to as usize].incoming;
        list.swap_remove(place);
        if let Some(moved) = list.get(place) {
            self.edges[*moved as usize].at_to = place;
        }
    }

    /// Takes an edge away.
    pub(crate) fn remove(&mut self, at: u32) -> Edge {
        self.detach_from(at);
        self.detach_to(at);
        std::mem::take(&mut self.edges[at as usize])
    }

    /// Lets an edge end elsewhere.
    pub(crate) fn retarget(&mut self, at: u32, to: u32) {
        self.detach_from(at);
        self.detach_to(at);
        self.edges[at as usize].to = to;
        self.attach_from(at);
        self.attach_to(at);
    }

    /// Appends what is done along one edge to another.
    pub(crate) fn append(&mut self, at: u32, mut tail: Edge) {
        let edge = &mut self.edges[at as usize];
        join(&mut edge.content, &mut tail.content);
        join(&mut edge.elements, &mut tail.elements);
    }

    /// Appends an activity to what is done along an edge.
    pub(crate) fn push(&mut self, at: u32, activity: Activity) {
        if !activity.is_nothing() {
            self.edges[at as usize].content.push_back(activity);
        }
    }
}

/// Appends a list to another, moving the shorter one.
pub(super) fn join<T>(head: &mut VecDeque<T>, tail: &mut VecDeque<T>) {
    if head.len() >= tail.len() {
        head.append(tail);
        return;
    }
    while let Some(last) = head.pop_back() {
        tail.push_front(last);
    }
    std::mem::swap(head, tail);
}

/// Content of an edge as one activity.
pub(super) fn content(edge: Edge) -> Activity {
    Activity::sequence(edge.content)
}

pub(super) fn place(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// A variable of the mapping's own.
pub(super) fn own_variable(name: &str, of: &str) -> Variable {
    Variable { name: name.to_owned(), of: ("type", of.to_owned()) }
}
