//! The executable graph of a process: what `engine` runs.
//!
//! [`compile`] turns each process of a definition into a [`Graph`] of dense indexes, or says for every element
//! that is not executed why not. A graph holds no state: runs of the same version share it.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

mod activity;
mod adhoc;
mod bindings;
mod branch;
mod calls;
pub mod choreography;
mod compensation;
mod compile;
mod condition;
mod correlation;
mod data;
mod element;
mod events;
mod expressions;
mod extensions;
mod inside;
mod items;
mod links;
mod loops;
mod meaning;
mod node;
mod resources;
mod rules;
mod scopes;
mod settings;
#[cfg(test)]
mod tests;
mod unsupported;
mod words;

pub use activity::{
    AdHoc, Assignment, Association, Behavior, CallTask, CallVersion, Collection, ComplexBehavior, DataStore,
    ImplicitThrow, JobTask, Listener, ListenerPlace, ListenerWork, Listeners, Mappings, Marker,
    MultiInstance, NodeData, Place, ProcessSets, StandardLoop,
};
pub use calls::{version_number, version_tags};
pub use compile::{Compiled, compile, compile_with, lane_names};
pub use condition::list as condition_list;
pub use condition::{Comparison, FlowCondition, Side, Test, follow};
pub use correlation::MessageKey;
pub use element::Element;
pub use expressions::expression_items;
pub use heddle_settings::{DataMapping, DecisionTask, ResultMapping, ScriptError, ScriptTask, Target};
pub use inside::service_settings;
pub use items::{lane_items, settle_items};
pub use loops::{AtMaximum, BackEdge, Carry};
pub use meaning::{Edition, Lanes, Meaning};
pub use rules::{Bits, JoinRule, SplitRule, Upstream};
pub use settings::{MessageSettings, Setting, UserTask};
pub use timer::{Period, Recurrence, Schedule, ScheduleFault, TimerDefinition, TimerError, TimerKind};
pub use unsupported::{CallElsewhere, calls_elsewhere, depends_on_edition, unknown_settings};

use heddle_settings::{calculation, timer};
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
    /// Catching link by throwing link.
    links: HashMap<NodeIx, NodeIx>,
    has_joins: bool,
    waits_for_data: bool,
    stores: Vec<activity::DataStore>,
    sets: activity::ProcessSets,
    has_conditions: bool,
    pub(crate) choreographies: Vec<Arc<choreography::Participation>>,
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
    /// Variables that a sub-process's content has of its own: its data objects and properties.
    pub data: Vec<Arc<str>>,
    /// The receive tasks and event-based gateways of a process that start an instance (clauses 10.3.3.1 and 10.6.6).
    pub instantiating: Vec<NodeIx>,
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
    /// Tokens that it takes and gives.
    pub quantities: Quantities,
    /// Loop or multi-instance marker.
    pub marker: Option<Arc<Marker>>,
    /// Values that go in and come out by mappings of its settings.
    pub mappings: Option<Arc<Mappings>>,
    /// Data that go in and come out as the standard says.
    pub data: Option<Arc<NodeData>>,
    /// Listeners before and behind its work.
    pub listeners: Option<Arc<Listeners>>,
    /// Commit points before and behind it.
    pub continuations: Continuations,
    /// Whether it runs for compensation alone.
    pub for_compensation: bool,
    /// Handler of its compensation: an activity or an event sub-process.
    pub compensation: Option<NodeIx>,
    /// Variables in which it tells of the error or escalation that it catches; absent is the default ones.
    pub caught: Option<Arc<CaughtVariables>>,
    /// Activation condition of a complex gateway; without one the first token activates it.
    pub activation: Option<Arc<Condition>>,
    /// Events of a receive task or event-based gateway by which an instance starts.
    pub instantiates: Option<Instantiates>,
}

/// Variables in which a catching event tells of the error or escalation that it caught.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaughtVariables {
    /// Variable for the code.
    pub code: Option<Arc<str>>,
    /// Variable for the message.
    pub message: Option<Arc<str>>,
}

/// Events that an instance needs which a receive task or an event-based gateway starts (clause 13.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instantiates {
    /// The first one alone.
    First,
    /// The first one starts it, and it waits for all others.
    All,
}

impl Node {
    /// Whether nothing stands around its work: no mappings, data, listeners or continuations.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        self.mappings.is_none()
            && self.data.is_none()
            && self.listeners.is_none()
            && !self.continuations.before
            && !self.continuations.after
    }
}

/// Tokens that an activity takes and gives (clause 13.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantities {
    /// Tokens that must have arrived before it starts.
    pub start: u32,
    /// Tokens that each of its outgoing flows gets.
    pub completion: u32,
}

impl Default for Quantities {
    fn default() -> Self {
        Self { start: 1, completion: 1 }
    }
}

/// Commit points of an activity: the step ends there, and another one goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Continuations {
    /// Before it.
    pub before: bool,
    /// Behind it.
    pub after: bool,
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
    /// Work that external workers do.
    Job(Arc<JobTask>),
    /// A call activity.
    Call(Arc<CallTask>),
    /// An embedded sub-process.
    SubProcess(ScopeIx),
    /// A transaction.
    Transaction(ScopeIx),
    /// An ad-hoc sub-process.
    AdHoc {
        /// Scope of its content.
        scope: ScopeIx,
        /// Order and end of its content.
        rules: Arc<AdHoc>,
    },
    /// An event sub-process.
    EventSubProcess {
        /// Scope of its content.
        scope: ScopeIx,
        /// Start event of the event sub-process.
        start: NodeIx,
    },
}

impl Work {
    /// Turns of the agent that it is; none for other work.
    #[must_use]
    pub fn agent(&self) -> Option<&Arc<JobTask>> {
        if let Self::AdHoc { rules, .. } = self { rules.agent.as_ref() } else { None }
    }

    /// Scope of the node's content, for a sub-process of any form.
    #[must_use]
    pub const fn content(&self) -> Option<ScopeIx> {
        match self {
            Self::SubProcess(scope)
            | Self::Transaction(scope)
            | Self::AdHoc { scope, .. }
            | Self::EventSubProcess { scope, .. } => Some(*scope),
            Self::Start(_)
            | Self::End(_)
            | Self::Throw(_)
            | Self::Catch(_)
            | Self::Boundary { .. }
            | Self::Pass
            | Self::Receive(_)
            | Self::User(_)
            | Self::Decision(_)
            | Self::Script(_)
            | Self::Job(_)
            | Self::Call(_) => None,
        }
    }

    /// Whether it is an event that waits for a condition on the data.
    pub(crate) fn has_condition(&self) -> bool {
        if let Self::Start(Start { trigger: Some(trigger), .. })
        | Self::Catch(trigger)
        | Self::Boundary { trigger, .. } = self
        {
            trigger.has_condition()
        } else {
            false
        }
    }
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
    /// Variable that takes who started the run.
    pub initiator: Option<Arc<str>>,
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
    /// The escalation of this code, or, without one, any escalation.
    Escalation(Option<Arc<str>>),
    /// A condition on the data that becomes true.
    Conditional(Arc<Condition>),
    /// Compensation of the activity, or of the scope of an event sub-process.
    Compensation,
    /// Cancellation of the transaction.
    Cancel,
    /// The link of this name.
    Link(Arc<str>),
    /// Several triggers.
    Several(Arc<Several>),
}

impl Trigger {
    /// The triggers of a multiple event, else the one.
    #[must_use]
    pub fn parts(&self) -> &[Self] {
        match self {
            Self::Several(several) => &several.triggers,
            Self::Message(_)
            | Self::Timer(_)
            | Self::Signal(_)
            | Self::Error(_)
            | Self::Escalation(_)
            | Self::Conditional(_)
            | Self::Compensation
            | Self::Cancel
            | Self::Link(_) => std::slice::from_ref(self),
        }
    }

    /// Whether all of several triggers must have come.
    #[must_use]
    pub fn needs_all(&self) -> bool {
        matches!(self, Self::Several(several) if several.parallel)
    }

    /// Whether a condition on the data is among its triggers.
    #[must_use]
    pub fn has_condition(&self) -> bool {
        self.parts().iter().any(|part| matches!(part, Self::Conditional(_)))
    }
}

/// A condition that an event waits for (clause 10.5.5.2).
#[derive(Debug, Clone)]
pub struct Condition {
    /// The expression; true occurs.
    pub expression: heddle_feel::Expression,
}

/// Triggers of a multiple or parallel multiple event (clause 10.5.5).
#[derive(Debug, Clone)]
pub struct Several {
    /// The triggers, in document order.
    pub triggers: Vec<Trigger>,
    /// Whether all of them must have occurred.
    pub parallel: bool,
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
    /// Throws an escalation.
    Escalation(Arc<ErrorReference>),
    /// Compensates an activity, or all of the scope.
    Compensation(Arc<Compensate>),
    /// Cancels the transaction.
    Cancel,
    /// Goes on at the catching link of this name in the same scope.
    Link(Arc<str>),
    /// Work that external workers do in place of sending something.
    Job(Arc<JobTask>),
    /// Several effects, in document order.
    Several(Vec<Throw>),
}

/// Compensation that an event throws (clause 10.5.5.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compensate {
    /// Id of the activity; absent for all of the scope.
    pub activity: Option<Arc<str>>,
    /// Whether the event waits until the compensation is done.
    pub wait: bool,
}

/// An error or escalation that is thrown.
#[derive(Debug, Clone)]
pub struct ErrorReference {
    /// Code: `errorCode` or `escalationCode`, else the name, else the id.
    pub code: Arc<str>,
    /// Name of the error or escalation.
    pub name: Option<Arc<str>>,
    /// Message of the error; absent is its name.
    pub message: Option<Setting>,
    /// Context of variables for whoever catches it.
    pub payload: Option<Setting>,
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
    /// Bounds of a flow that leads back.
    pub back: Option<Arc<BackEdge>>,
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

    /// Variables that take who started a run, of one start event or of all of the process's.
    pub fn initiators(&self, start: Option<&str>) -> impl Iterator<Item = &Arc<str>> {
        let events = self.scope(ROOT).start_events.iter().map(|&ix| self.node(ix));
        events.filter(move |node| start.is_none_or(|id| *node.id == *id)).filter_map(|node| {
            if let Work::Start(start) = &node.work { start.initiator.as_ref() } else { None }
        })
    }

    /// Input and output sets of the process itself.
    #[must_use]
    pub const fn sets(&self) -> &ProcessSets {
        &self.sets
    }

    /// The data stores of the organisation that its nodes read or write.
    #[must_use]
    pub fn stores(&self) -> &[DataStore] {
        &self.stores
    }

    /// Whether a node of this graph may wait for its data.
    #[must_use]
    pub const fn waits_for_data(&self) -> bool {
        self.waits_for_data
    }

    /// The choreographies in which the process plays a participant.
    #[must_use]
    pub fn choreographies(&self) -> &[Arc<choreography::Participation>] {
        &self.choreographies
    }

    /// Whether an event of this graph waits for a condition on the data.
    #[must_use]
    pub const fn has_conditions(&self) -> bool {
        self.has_conditions
    }

    /// The catching link at which a throwing one goes on.
    #[must_use]
    pub fn link_target(&self, throw: NodeIx) -> Option<NodeIx> {
        self.links.get(&throw).copied()
    }

    /// The throwing links that lead to a catching one.
    pub fn link_sources(&self, catch: NodeIx) -> impl Iterator<Item = NodeIx> {
        self.links.iter().filter(move |(_, to)| **to == catch).map(|(from, _)| *from)
    }

    /// The event-based gateway before an event that starts an instance.
    #[must_use]
    pub fn instantiating_gateway(&self, event: NodeIx) -> Option<NodeIx> {
        let mut sources = self.incoming(event).iter().map(|flow| self.flow(*flow).source);
        sources.find(|&ix| self.node(ix).instantiates.is_some() && self.node(ix).split.waits())
    }

    /// Trigger of an event or receive task that starts an instance; none for one that starts none by itself.
    #[must_use]
    pub fn start_trigger(&self, ix: NodeIx) -> Option<Trigger> {
        let root = self.scope(ROOT);
        let node = self.node(ix);
        let starts = root.start_events.contains(&ix)
            || root.instantiating.contains(&ix)
            || self.instantiating_gateway(ix).is_some();
        if !starts {
            return None;
        }
        if let Work::Start(Start { trigger, .. }) = &node.work {
            trigger.clone()
        } else if let Work::Catch(trigger) = &node.work {
            Some(trigger.clone())
        } else if let Work::Receive(Some(message)) = &node.work {
            Some(Trigger::Message(Arc::clone(message)))
        } else {
            None
        }
    }

    /// The start events, and the receive tasks and events behind gateways that start an instance, in that order.
    #[must_use]
    pub fn start_nodes(&self) -> Vec<NodeIx> {
        let root = self.scope(ROOT);
        let mut found = root.start_events.clone();
        for &ix in &root.instantiating {
            if self.node(ix).split.waits() {
                found.extend(self.outgoing(ix).iter().map(|flow| self.flow(*flow).target));
            } else {
                found.push(ix);
            }
        }
        found
    }

    /// The events that start the process from outside. An event with several triggers has a binding for each; one that
    /// needs all of them waits for the others in the run that the first one starts.
    #[must_use]
    pub fn start_bindings(&self) -> Vec<StartBinding> {
        let mut found: Vec<StartBinding> = Vec::new();
        for ix in self.start_nodes() {
            let Some(trigger) = self.start_trigger(ix) else { continue };
            let mut timers = 0;
            for part in trigger.parts() {
                let (kind, name, timer) = match part {
                    Trigger::Message(message) => (StartKind::Message, Some(message.name.clone()), None),
                    Trigger::Signal(name) => (StartKind::Signal, Some(name.clone()), None),
                    Trigger::Timer(timer) => {
                        timers += 1;
                        // Timers of one event are told apart by their numbers.
                        let name = (timers > 1).then(|| timers.to_string().into());
                        (StartKind::Timer, name, Some(TimerDefinition::clone(timer)))
                    }
                    // Conditions start a run that is asked for; what else there is starts none.
                    Trigger::Conditional(_)
                    | Trigger::Error(_)
                    | Trigger::Escalation(_)
                    | Trigger::Compensation
                    | Trigger::Cancel
                    | Trigger::Link(_)
                    | Trigger::Several(_) => continue,
                };
                let node_id = self.node(ix).id.clone();
                let same =
                    |own: &StartBinding| own.kind == kind && own.name == name && own.node_id == node_id;
                if !found.iter().any(same) {
                    found.push(StartBinding { kind, name, node_id, timer });
                }
            }
        }
        found
    }
}
