//! Parts of activities beside their work: markers, mappings, data, listeners, jobs and calls.

use super::calculation::Target;
use super::settings::Setting;
use super::timer::TimerDefinition;
use heddle_feel::Expression;
pub use heddle_settings::{CallTask, CallVersion, JobTask, Mappings};
use std::sync::Arc;

/// Loop or multi-instance marker of an activity (clause 10.3.8).
#[derive(Debug, Clone)]
pub enum Marker {
    /// Standard loop: again and again, one after another.
    Standard(StandardLoop),
    /// Multi-instance: one instance for each item.
    Multi(Box<MultiInstance>),
}

/// A standard loop (clause 13.3.6).
#[derive(Debug, Clone)]
pub struct StandardLoop {
    /// Condition of going on; absent is always.
    pub condition: Option<Expression>,
    /// Whether the condition is asked before each instance rather than behind it.
    pub test_before: bool,
    /// Most instances; absent is any number.
    pub maximum: Option<u64>,
}

/// A multi-instance activity (clause 13.3.7).
#[derive(Debug, Clone, Default)]
pub struct MultiInstance {
    /// Whether each instance begins when the one before has ended.
    pub sequential: bool,
    /// Number of instances; of those of a collection as many as that, from the first on.
    pub cardinality: Option<Setting>,
    /// Collection with one item for each instance.
    pub collection: Option<Collection>,
    /// Variable of an instance that has its item.
    pub element_variable: Option<Arc<str>>,
    /// Variable of the scope around that gets the collection of what the instances gave.
    pub output_collection: Option<Arc<str>>,
    /// Value that an instance gives for it.
    pub output_element: Option<Setting>,
    /// Condition that ends the activity, asked when an instance completes.
    pub completion: Option<Expression>,
    /// Events that its instances throw.
    pub behavior: Behavior,
}

/// Collection of a multi-instance activity.
#[derive(Debug, Clone)]
pub enum Collection {
    /// A list, or the expression that gives it.
    Setting(Setting),
    /// Names under which a data input may be known, nearest first: the variable of the first one that there is.
    Variable(Vec<Arc<str>>),
}

/// Events that the instances of a multi-instance activity throw for its boundary events when they complete (clause
/// 10.3.8).
#[derive(Debug, Clone, Default)]
pub enum Behavior {
    /// None: the activity goes on when all instances have ended.
    #[default]
    All,
    /// An event with every instance.
    None(ImplicitThrow),
    /// An event with the first instance.
    One(ImplicitThrow),
    /// Events by conditions. A condition that holds ends the activity, too.
    Complex(Vec<ComplexBehavior>),
}

/// An event that a multi-instance activity throws when a condition holds (clause 10.3.8).
#[derive(Debug, Clone)]
pub struct ComplexBehavior {
    /// Condition, asked when an instance completes.
    pub condition: Expression,
    /// Events that are thrown.
    pub events: Vec<ImplicitThrow>,
}

/// Event that is thrown for the boundary events of an activity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImplicitThrow {
    /// The signal of this name; without one the default signal, which every signal boundary event catches.
    Signal(Option<Arc<str>>),
    /// The message of this name.
    Message(Arc<str>),
    /// The escalation of this code; without one any boundary event for escalations catches it.
    Escalation(Option<Arc<str>>),
}

/// Order and end of an ad-hoc sub-process (clause 13.3.5).
#[derive(Debug, Clone)]
pub struct AdHoc {
    /// Whether one activity runs at a time.
    pub sequential: bool,
    /// Condition that ends it, asked when an inner activity completes.
    pub completion: Option<Expression>,
    /// Whether its end withdraws what still runs.
    pub cancel_remaining: bool,
    /// Ids of the inner activities that begin with it, given as a list; absent is all without an incoming flow.
    pub active: Option<Setting>,
    /// Turns of the agent that begins its activities; absent where no agent does.
    pub agent: Option<Arc<JobTask>>,
}

/// Data that go into an activity or event and come out of it as the standard says (clause 10.4.2).
#[derive(Debug, Clone, Default)]
pub struct NodeData {
    /// Variables of the activity alone: its data inputs and outputs and its properties.
    pub own: Vec<Arc<str>>,
    /// Data input associations, in document order.
    pub inputs: Vec<Association>,
    /// Data output associations, in document order.
    pub outputs: Vec<Association>,
    /// Input sets, in document order: the variables of the inputs that each needs.
    pub input_sets: Vec<Vec<Arc<str>>>,
}

/// Input and output sets of a process (clauses 10.4.1 and 13.3.2): the variables that each needs.
#[derive(Debug, Clone, Default)]
pub struct ProcessSets {
    /// Input sets, of which one must be whole when the process is started without an event; empty when it needs nothing.
    pub inputs: Vec<Vec<Arc<str>>>,
    /// Output sets, of which one must be whole at its end; empty when it need give nothing.
    pub outputs: Vec<Vec<Arc<str>>>,
}

impl ProcessSets {
    /// The variables that are missing in the set that lacks the fewest of them; none where a set is whole, or there is none.
    #[must_use]
    pub fn missing<'s>(sets: &'s [Vec<Arc<str>>], is_there: impl Fn(&str) -> bool) -> Vec<&'s str> {
        let lacks = |set: &'s Vec<Arc<str>>| -> Vec<&'s str> {
            set.iter().map(|name| &**name).filter(|name| !is_there(name)).collect()
        };
        sets.iter().map(lacks).min_by_key(Vec::len).unwrap_or_default()
    }
}

/// A data association (clause 10.4.2).
#[derive(Debug, Clone)]
pub struct Association {
    /// Places that it reads.
    pub sources: Vec<Place>,
    /// Place that it writes; absent where its assignments name theirs.
    pub target: Option<Place>,
    /// Expression of the value that it writes; absent is the value of its only source.
    pub transformation: Option<Expression>,
    /// Assignments, in document order.
    pub assignments: Vec<Assignment>,
}

/// An assignment of a data association.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// Expression of the value.
    pub from: Expression,
    /// Place that gets it: of the target, or a variable.
    pub to: Target,
}

/// A place that has data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Variable of the place.
    pub variable: Arc<str>,
    /// State in which the data are read or written; absent is any.
    pub state: Option<Arc<str>>,
    /// Whether another node, or another run, may write it before the node that reads it, so that that one waits for it.
    pub written: bool,
    /// Name of the data store that it is; absent for what lives as long as the run.
    pub store: Option<Arc<str>>,
}

/// A data store of the organisation, which outlives the run (clause 10.4.1).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DataStore {
    /// Name of the store.
    pub name: Arc<str>,
    /// Variable of the process in which its value stands.
    pub variable: Arc<str>,
}

/// Listeners of a node.
#[derive(Debug, Clone, Default)]
pub struct Listeners {
    /// Listeners, in document order.
    pub all: Vec<Listener>,
}

impl Listeners {
    /// The listeners of a place, in order. Those of a human task's creation come behind those before the work, and those of
    /// its completion before those behind the work.
    pub fn at(&self, place: ListenerPlace) -> impl Iterator<Item = &Listener> {
        let (first, second) = match place {
            ListenerPlace::Start => (ListenerPlace::Start, Some(ListenerPlace::Create)),
            ListenerPlace::End => (ListenerPlace::Complete, Some(ListenerPlace::End)),
            ListenerPlace::Create
            | ListenerPlace::Assignment
            | ListenerPlace::Update
            | ListenerPlace::Timeout
            | ListenerPlace::Complete
            | ListenerPlace::Delete => (place, None),
        };
        let second = self.all.iter().filter(move |own| Some(own.place) == second);
        self.all.iter().filter(move |own| own.place == first).chain(second)
    }
}

/// A listener.
#[derive(Debug, Clone)]
pub struct Listener {
    /// Place in the node's life.
    pub place: ListenerPlace,
    /// Work that it does.
    pub work: ListenerWork,
    /// Time from the creation of a human task on at which it is told; that of a timeout, and of no other.
    pub timer: Option<Arc<TimerDefinition>>,
}

/// Place of a listener in a node's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListenerPlace {
    /// Before the work.
    Start,
    /// Behind the work.
    End,
    /// Creation of a human task.
    Create,
    /// Assignment of a human task.
    Assignment,
    /// Change of an open human task: of its assignee, or of a variable of its own.
    Update,
    /// Time that has passed while a human task is open.
    Timeout,
    /// Completion of a human task.
    Complete,
    /// Withdrawal of an open human task.
    Delete,
}

/// Work of a listener.
#[derive(Debug, Clone)]
pub enum ListenerWork {
    /// A job for external workers.
    Job(Arc<JobTask>),
    /// An expression whose value goes into a variable.
    Script {
        /// The expression.
        source: Expression,
        /// Variable for its value; a context without one sets its members.
        variable: Option<Arc<str>>,
    },
}
