//! The executable graph of a process: what `engine` runs.
//!
//! [`compile`] turns each process of a definition into a [`Graph`] of dense indexes, or says for every element
//! that is not executed why not. A graph holds no state: runs of the same version share it.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

mod calculation;
mod compile;
mod condition;
mod element;
mod events;
mod expressions;
mod extensions;
mod items;
mod node;
mod rules;
mod settings;
#[cfg(test)]
mod tests;
mod timer;
mod unsupported;

pub use calculation::{DataMapping, DecisionTask, ResultMapping, ScriptTask, Target};
pub use compile::{Compiled, Lanes, compile, compile_with};
pub use condition::list as condition_list;
pub use condition::{Comparison, FlowCondition, Side, Test, follow};
pub use element::Element;
pub use expressions::expression_items;
pub use items::{lane_items, settle_items};
pub use rules::{Bits, JoinRule, SplitRule, Upstream};
pub use settings::{MessageSettings, Setting, UserTask};
pub use timer::{Period, Recurrence, Schedule, ScheduleFault, TimerDefinition, TimerError, TimerKind};
pub use unsupported::unknown_settings;

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// Index of a node in [`Graph::nodes`].
pub type NodeIx = u32;
/// Index of a flow in [`Graph::flows`].
pub type FlowIx = u32;
/// Index of a scope in [`Graph::scopes`].
pub type ScopeIx = u32;

/// Index of the process's own scope.
pub const ROOT: ScopeIx = 0;

/// One startable process, compiled.
#[derive(Debug)]
pub struct Graph {
    /// Id of the process; `main` for the top-level graph.
    pub id: Arc<str>,
    /// Name of the process.
    pub name: Option<String>,
    /// The process's scope, then the sub-processes', each after the scope around it.
    pub scopes: Vec<Scope>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) flows: Vec<Flow>,
    outgoing: Csr,
    incoming: Csr,
    node_ids: HashMap<Arc<str>, NodeIx>,
    flow_ids: HashMap<Arc<str>, FlowIx>,
    has_joins: bool,
}

/// A process's or sub-process's content.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The sub-process's node; none for the process.
    pub node: Option<NodeIx>,
    /// The scope around it.
    pub parent: Option<ScopeIx>,
    /// The nodes that a plain start activates: the none start event, or, where there is no start event at
    /// all, every node without an incoming flow (clause 13.2).
    pub starts: Vec<NodeIx>,
    /// The start events of the event sub-processes that listen while the scope is open.
    pub listeners: Vec<NodeIx>,
    /// Every start event that stands directly in the scope.
    pub start_events: Vec<NodeIx>,
}

/// A flow node.
#[derive(Debug, Clone)]
pub struct Node {
    /// The element's id.
    pub id: Arc<str>,
    /// The element's name.
    pub name: Option<Arc<str>>,
    /// BPMN element of the node.
    pub element: Element,
    /// Work of the node once it is activated.
    pub work: Work,
    /// Rule for tokens that arrive at it.
    pub join: JoinRule,
    /// Rule by which its outgoing flows take a token.
    pub split: SplitRule,
    /// The scope that it stands in.
    pub scope: ScopeIx,
    /// The default flow out of it.
    pub default_flow: Option<FlowIx>,
    /// The boundary events attached to it.
    pub boundary: Vec<NodeIx>,
}

/// Work of a node once it is activated; gateways do nothing but join and split.
#[derive(Debug, Clone)]
pub enum Work {
    /// A start event of a process or of an embedded or event sub-process.
    Start(Start),
    /// An end event.
    End(Throw),
    /// An intermediate throw event, or a send task with a message.
    Throw(Throw),
    /// An intermediate catch event.
    Catch(Trigger),
    /// A boundary event.
    Boundary {
        /// The activity it is attached to.
        host: NodeIx,
        /// Whether it cancels the activity.
        interrupting: bool,
        /// Trigger that it waits for.
        trigger: Trigger,
    },
    /// Nothing: a task that completes at once, or a gateway.
    Pass,
    /// A receive task; without a message it waits until it is told to go on.
    Receive(Option<Arc<MessageSettings>>),
    /// A human task.
    User(Arc<UserTask>),
    /// A business rule task with a decision.
    Decision(Arc<DecisionTask>),
    /// A script task with a script in FEEL.
    Script(Arc<ScriptTask>),
    /// An embedded sub-process.
    SubProcess(ScopeIx),
    /// An event sub-process.
    EventSubProcess {
        /// Scope of its content.
        scope: ScopeIx,
        /// Start event of the event sub-process.
        start: NodeIx,
    },
}

/// A start event.
#[derive(Debug, Clone)]
pub struct Start {
    /// Trigger of the start; none for a none start event.
    pub trigger: Option<Trigger>,
    /// Whether the event sub-process that it starts interrupts the scope around it.
    pub interrupting: bool,
    /// The event sub-process that it starts.
    pub event_sub_process: Option<NodeIx>,
}

/// Trigger that a catching event waits for.
#[derive(Debug, Clone)]
pub enum Trigger {
    /// A message.
    Message(Arc<MessageSettings>),
    /// A timer.
    Timer(Arc<TimerDefinition>),
    /// The signal of this name.
    Signal(Arc<str>),
    /// The error of this code, or, without one, any error.
    Error(Option<Arc<str>>),
}

/// Effect of a throwing event.
#[derive(Debug, Clone)]
pub enum Throw {
    /// Nothing.
    None,
    /// Sends a message.
    Message(Arc<MessageSettings>),
    /// Broadcasts a signal.
    Signal(Arc<MessageSettings>),
    /// Ends everything in its scope.
    Terminate,
    /// Throws an error.
    Error(Arc<ErrorReference>),
}

/// An error that is thrown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorReference {
    /// Error code: `errorCode`, else the name, else the id.
    pub code: Arc<str>,
    /// Name of the error.
    pub name: Option<Arc<str>>,
}

/// A sequence flow.
#[derive(Debug, Clone)]
pub struct Flow {
    /// The edge's id.
    pub id: Arc<str>,
    /// Source node.
    pub source: NodeIx,
    /// Target node.
    pub target: NodeIx,
    /// Condition of the flow; absent for an unconditional one.
    pub condition: Option<FlowCondition>,
}

/// Lists of flows by node, in document order, as one array.
#[derive(Debug, Default)]
pub struct Csr {
    starts: Vec<u32>,
    items: Vec<FlowIx>,
}

impl Csr {
    /// The lists of as many nodes.
    pub fn new(nodes: usize, flows: impl Iterator<Item = (NodeIx, FlowIx)> + Clone) -> Self {
        let mut starts = vec![0u32; nodes + 1];
        for (node, _) in flows.clone() {
            starts[node as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut items = vec![0; starts.last().copied().unwrap_or(0) as usize];
        for (node, flow) in flows {
            let place = &mut next[node as usize];
            items[*place as usize] = flow;
            *place += 1;
        }
        Self { starts, items }
    }

    /// The list of a node.
    #[must_use]
    pub fn of(&self, node: NodeIx) -> &[FlowIx] {
        let node = node as usize;
        &self.items[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

/// An event that starts the process from outside.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartBinding {
    /// Kind of event that starts it.
    pub kind: StartKind,
    /// Name of the message or signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// Id of the start event.
    pub node_id: Arc<str>,
    /// The timer of a timer start event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer: Option<TimerDefinition>,
}

/// Kind of event that starts a process from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StartKind {
    /// A message.
    Message,
    /// A signal.
    Signal,
    /// A timer.
    Timer,
}

impl Graph {
    /// The node at an index of this graph.
    #[must_use]
    pub fn node(&self, ix: NodeIx) -> &Node {
        &self.nodes[ix as usize]
    }

    /// The flow at an index of this graph.
    #[must_use]
    pub fn flow(&self, ix: FlowIx) -> &Flow {
        &self.flows[ix as usize]
    }

    /// The scope at an index of this graph.
    #[must_use]
    pub fn scope(&self, ix: ScopeIx) -> &Scope {
        &self.scopes[ix as usize]
    }

    /// All nodes; a [`NodeIx`] is a place in it.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All sequence flows; a [`FlowIx`] is a place in it.
    #[must_use]
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// The node of this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<NodeIx> {
        self.node_ids.get(id).copied()
    }

    /// The flow of this id.
    #[must_use]
    pub fn find_flow(&self, id: &str) -> Option<FlowIx> {
        self.flow_ids.get(id).copied()
    }

    /// The flows out of a node, in document order.
    #[must_use]
    pub fn outgoing(&self, node: NodeIx) -> &[FlowIx] {
        self.outgoing.of(node)
    }

    /// The flows into a node, in document order.
    #[must_use]
    pub fn incoming(&self, node: NodeIx) -> &[FlowIx] {
        self.incoming.of(node)
    }

    /// Whether tokens can be held at joins of this graph.
    #[must_use]
    pub fn has_joins(&self) -> bool {
        self.has_joins
    }

    /// The events that start the process from outside.
    #[must_use]
    pub fn start_bindings(&self) -> Vec<StartBinding> {
        let bind = |&ix: &NodeIx| {
            let node = self.node(ix);
            let Work::Start(Start { trigger: Some(trigger), .. }) = &node.work else { return None };
            let (kind, name, timer) = match trigger {
                Trigger::Message(message) => (StartKind::Message, Some(message.name.clone()), None),
                Trigger::Signal(name) => (StartKind::Signal, Some(name.clone()), None),
                Trigger::Timer(timer) => (StartKind::Timer, None, Some(TimerDefinition::clone(timer))),
                Trigger::Error(_) => return None,
            };
            Some(StartBinding { kind, name, node_id: node.id.clone(), timer })
        };
        self.scope(ROOT).start_events.iter().filter_map(bind).collect()
    }
}
