//! Execution of BPMN: commands in, events out.
//!
//! [`step`] takes a graph, a run's state and a command, runs until no token can move, and gives back what
//! happened and the state after it. It is a pure function: time and ids come in with the [`RunContext`], ids of
//! its own are counted per run. What it may do is bounded by the context's [`Budget`]; what exceeds that is an incident
//! `LIMIT`, behind which the tokens stand still. [`step_inline`] tries a step that is expected to be small. The events are the run's history; the state is their fold by [`apply`].

mod apply;
mod budget;
mod command;
mod event;
mod id;
mod size;
mod stage;
mod state;
mod step;
mod view;
mod work;

pub use apply::apply;
pub use budget::{Budget, Inline};
pub use command::{Actor, Command, Rejection, RejectionKind, Remark, RunContext, SkipTarget};
pub use event::{
    BodyKind, CalledVersion, CancelReason, ChoreographyViolated, CompensationStep, Event, EventKind,
    IncidentCode, JobCreated, JobKind, OutcomeValues, Phase, Resolution, RunCalled, RunError, RunStarted,
    SubscriptionKind, TaskCreated, Trigger,
};
pub use id::{LocalId, LocalIdError};
pub use stage::Stage;
pub use state::{STATE_VERSION, State, Status};
pub use step::{Attempt, Step, step, step_inline, step_until, store_signal};
pub use view::{
    ActiveNode, Incident, NodeState, OpenCall, OpenJob, OpenSubscription, OpenTask, OpenTimer, WaitKind,
    WaitingFor, outcome_of,
};
