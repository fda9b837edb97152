//! What activities have beside their work: markers, mappings, data, listeners, jobs and calls.

use super::calculation::Target;
use super::settings::Setting;
use heddle_feel::Expression;
use serde_json::{Map, Value};
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
    /// Number of instances.
    pub cardinality: Option<Setting>,
    /// Collection with one item for each instance.
    pub collection: Option<Setting>,
    /// Variable of an instance that has its item.
    pub element_variable: Option<Arc<str>>,
    /// Variable of the scope around that gets the collection of what the instances gave.
    pub output_collection: Option<Arc<str>>,
    /// What an instance gives for it.
    pub output_element: Option<Setting>,
    /// Condition that ends the activity, asked when an instance completes.
    pub completion: Option<Expression>,
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
}

/// Values that go into an activity and come out of it by its settings: `inputs` and `outputs`.
#[derive(Debug, Clone, Default)]
pub struct Mappings {
    /// Variables of the activity alone, in order.
    pub inputs: Vec<(Target, Setting)>,
    /// Variables that it leaves behind, in order.
    pub outputs: Vec<(Target, Setting)>,
}

/// Data that go into an activity or event and come out of it as the standard says (clause 10.4.2).
#[derive(Debug, Clone, Default)]
pub struct NodeData {}

/// Listeners of a node.
#[derive(Debug, Clone, Default)]
pub struct Listeners {
    /// Listeners, in document order.
    pub all: Vec<Listener>,
}

impl Listeners {
    /// The listeners of a place, in order.
    pub fn at(&self, place: ListenerPlace) -> impl Iterator<Item = &Listener> {
        self.all.iter().filter(move |own| own.place == place)
    }
}

/// A listener.
#[derive(Debug, Clone)]
pub struct Listener {
    /// Place in the node's life.
    pub place: ListenerPlace,
    /// What it does.
    pub work: ListenerWork,
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
    /// Completion of a human task.
    Complete,
    /// Withdrawal of a human task.
    Delete,
}

/// What a listener does.
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

/// Work that external workers do.
#[derive(Debug, Clone)]
pub struct JobTask {
    /// Type of the job, by which workers ask for it.
    pub job_type: Setting,
    /// Attempts; absent is three.
    pub retries: Option<Setting>,
    /// Milliseconds before each further attempt, the last one for all that follow.
    pub back_off: Vec<u64>,
    /// The higher, the sooner.
    pub priority: Option<Setting>,
    /// Settings for the worker.
    pub headers: Map<String, Value>,
    /// Variable that takes all that the worker gives, as one.
    pub result_variable: Option<Arc<str>>,
}

/// What a call activity calls (clause 10.3.6).
#[derive(Debug, Clone)]
pub struct CallTask {
    /// Id or slug of a workflow, id of a process or of a global task.
    pub called: Setting,
    /// Version policy: `latest`, `deployment` or a number or tag.
    pub version: Option<Setting>,
    /// Variables that it begins with; with none and `all_in` all that the call sees.
    pub inputs: Vec<(Target, Setting)>,
    /// Whether it begins with all variables that the call sees.
    pub all_in: bool,
    /// Variables that it leaves behind.
    pub outputs: Vec<(Target, Setting)>,
    /// Whether it leaves all of its variables behind.
    pub all_out: bool,
    /// Its correlation key.
    pub correlation_key: Option<Setting>,
}
