//! One command, run until nothing moves any more.

use crate::cases::CaseMachine;
use crate::core::Core;
use crate::event::Event;
use crate::state::{Life, State};
use crate::step::Machine;
use crate::{Command, Inline, Rejection, RunContext, size};
use heddle_bpmn_graph::Graph;
use heddle_cmmn::plan::CasePlan;
use heddle_feel::StepBudget;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Model that an instance runs by.
#[derive(Debug, Clone, Copy)]
pub enum Model<'m> {
    /// A process, of which a run is an instance.
    Process(&'m Graph),
    /// The plan of a case.
    Case(&'m CasePlan),
}

impl<'m> From<&'m Graph> for Model<'m> {
    fn from(graph: &'m Graph) -> Self {
        Self::Process(graph)
    }
}

impl<'m> From<&'m Arc<Graph>> for Model<'m> {
    fn from(graph: &'m Arc<Graph>) -> Self {
        Self::Process(graph)
    }
}

impl<'m> From<&'m CasePlan> for Model<'m> {
    fn from(plan: &'m CasePlan) -> Self {
        Self::Case(plan)
    }
}

impl<'m> From<&'m Arc<CasePlan>> for Model<'m> {
    fn from(plan: &'m Arc<CasePlan>) -> Self {
        Self::Case(plan)
    }
}

/// Result of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Events in order; appended to the run's history.
    pub events: Vec<Event>,
    /// The state after the events.
    pub state: State,
}

/// Runs a command until no token can move.
///
/// # Errors
/// A rejection: nothing happened.
pub fn step<'m>(
    model: impl Into<Model<'m>>,
    state: &State,
    command: Command,
    cx: &RunContext,
) -> Result<Step, Rejection> {
    admit(state, &command)?;
    let state = if state.life == Life::New { State::new() } else { state.clone() };
    let core = run(model.into(), Core::new(state, cx), command)?;
    Ok(Step { events: core.events, state: core.state })
}

/// Runs a command as [`step`] does on a state that nobody needs any more, until another thread sets the flag: then it is
/// given up, and nothing happened.
///
/// # Errors
/// A rejection: nothing happened.
pub fn step_until<'m>(
    model: impl Into<Model<'m>>,
    state: State,
    command: Command,
    cx: &RunContext,
    stop: &Arc<AtomicBool>,
) -> Result<Option<Step>, Rejection> {
    admit(&state, &command)?;
    let state = if state.life == Life::New { State::new() } else { state };
    let mut core = Core::new(state, cx);
    core.steps = StepBudget::new(cx.budget.steps).until(Arc::clone(stop));
    let core = run(model.into(), core, command)?;
    // What was met on the way may be of the flag's making.
    Ok((!core.steps.is_stopped()).then_some(Step { events: core.events, state: core.state }))
}

/// Result of a step that was expected to be small.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly every attempt is done, and the step moves on at once")]
pub enum Attempt {
    /// A small step: it is whole, and the same as [`step`] gives.
    Done(Step),
    /// A larger step: nothing happened, and [`step`] does it with the whole budget, elsewhere.
    Overrun,
}

/// Runs a command as [`step`] does, as long as it stays as small as `inline` says; otherwise gives it up undone.
/// Whether it does depends on the model and the data alone.
///
/// # Errors
/// A rejection: nothing happened.
pub fn step_inline<'m>(
    model: impl Into<Model<'m>>,
    state: &State,
    command: &Command,
    cx: &RunContext,
    inline: Inline,
) -> Result<Attempt, Rejection> {
    admit(state, command)?;
    let stores: u64 = cx.stores.values().map(heddle_feel::size_of_json).sum();
    if size::of_command(command) > inline.bytes
        || size::of_state(state) > inline.bytes
        || stores > inline.bytes
    {
        return Ok(Attempt::Overrun);
    }
    let within = RunContext { budget: cx.budget.at_most(inline), ..cx.clone() };
    let core = run(model.into(), Core::new(state.clone(), &within), command.clone())?;
    if core.halted {
        return Ok(Attempt::Overrun);
    }
    Ok(Attempt::Done(Step { events: core.events, state: core.state }))
}

/// Runs a command on the machine of its model.
fn run<'c>(model: Model<'c>, core: Core<'c>, command: Command) -> Result<Core<'c>, Rejection> {
    let begun = core.state.life != Life::New;
    match (model, core.state.case.is_some()) {
        (Model::Process(_), true) => Err(Rejection::OtherKind("a run of a process")),
        (Model::Case(_), false) if begun => Err(Rejection::OtherKind("a case")),
        (Model::Process(graph), false) => Machine::new(graph, core).finished(command),
        (Model::Case(plan), _) => CaseMachine::new(plan, core).finished(command),
    }
}

/// Whether the life of the instance allows the command.
fn admit(state: &State, command: &Command) -> Result<(), Rejection> {
    match (state.life, command) {
        (Life::New, Command::Start { .. }) => Ok(()),
        (Life::New, _) => Err(Rejection::NotStarted),
        // A case that has ended may go on, or be closed; its listeners for that may still occur.
        (
            Life::Completed | Life::Failed | Life::Cancelled,
            Command::ReactivateCase
            | Command::CloseCase
            | Command::Transition { .. }
            | Command::RaiseEvent { .. },
        ) if state.case.is_some() => Ok(()),
        (Life::Completed | Life::Failed | Life::Cancelled | Life::Closed, _) => Err(Rejection::AlreadyEnded),
        (_, Command::Start { .. }) => Err(Rejection::AlreadyStarted),
        (Life::Suspended, Command::ReactivateCase | Command::CloseCase) if state.case.is_some() => Ok(()),
        (Life::Suspended, Command::Resume | Command::Cancel { .. } | Command::EndJob { .. }) => Ok(()),
        (Life::Suspended, Command::Guarded { then, .. }) => admit(state, then),
        (Life::Suspended, _) => Err(Rejection::Suspended),
        (Life::Active, Command::Resume) => Err(Rejection::NotSuspended),
        (Life::Active, _) => Ok(()),
    }
}
