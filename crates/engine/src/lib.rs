//! Execution of BPMN and CMMN: commands in, events out.
//!
//! [`step`] takes a [`Model`] (the graph of a process or the plan of a case), the state of an instance and a command, runs
//! until nothing can move, and gives back what happened and the state after it. It is a pure function: time and ids come in
//! with the [`RunContext`], ids of its own are counted per instance. What it may do is bounded by the context's [`Budget`];
//! what exceeds that is an incident `LIMIT`, behind which everything stands still. [`step_inline`] tries a step that is
//! expected to be small. The events are the history; the state is their fold by [`apply`].

mod apply;
mod case_event;
mod cases;
mod command;
mod core;
mod event;
mod event_data;
mod id;
mod run;
mod size;
mod stage;
mod state;
mod step;
mod view;
mod work;

pub use apply::apply;
pub use cases::{
    CaseView, CriterionView, FileView, ItemView, LifeCycle, MissingPart, PartSource, PlanningView,
    TRANSITIONS, To, Transitions, case_view, transition,
};
pub use command::{
    Actor, Command, DecisionElsewhere, ItemTarget, Rejection, RejectionKind, Remark, RunContext, SkipTarget,
};
pub use event::{
    BodyKind, CalledVersion, CancelReason, ChoreographyViolated, CompensationStep, DecisionEvaluated, Event,
    EventKind, IncidentCode, ItemCreated, ItemState, ItemType, JobCreated, JobKind, OutcomeValues, Pending,
    Phase, ProtectionViolated, Resolution, RunCalled, RunError, RunStarted, SubscriptionKind, TaskCreated,
    Trigger,
};
pub use heddle_kernel::{Budget, Inline};
pub use id::{LocalId, LocalIdError};
pub use run::{Attempt, Model, Step, step, step_inline, step_until};
pub use stage::Stage;
pub use state::{STATE_VERSION, State, Status};
pub use step::store_signal;
pub use view::{
    ActiveNode, Incident, NodeState, OpenCall, OpenJob, OpenSubscription, OpenTask, OpenTimer, WaitKind,
    WaitingFor, outcome_of,
};
