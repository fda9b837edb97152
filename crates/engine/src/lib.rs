//! Execution of BPMN: commands in, events out.
//!
//! [`step`] takes a graph, a run's state and a command, runs until no token can move, and gives back what
//! happened and the state after it. It is a pure function: time and ids come in with the [`RunContext`], ids of
//! its own are counted per run. The events are the run's history; the state is their fold by [`apply`].

mod apply;
mod command;
mod event;
mod id;
mod state;
mod step;
mod view;

pub use apply::apply;
pub use command::{Actor, Command, Rejection, RejectionKind, RunContext, SkipTarget};
pub use event::{
    CancelReason, Event, EventKind, IncidentCode, Phase, Resolution, RunError, RunStarted, SubscriptionKind,
    TaskCreated, Trigger,
};
pub use id::{LocalId, LocalIdError};
pub use state::{STATE_VERSION, State, Status};
pub use step::{MAX_ACTIVATIONS, Step, step};
pub use view::{
    ActiveNode, Incident, NodeState, OpenSubscription, OpenTask, OpenTimer, WaitKind, WaitingFor,
};
