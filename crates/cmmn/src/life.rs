//! Life cycles of items (clause 8.4), as a table.

use crate::plan::{ItemEvent, ItemState, Work};

/// Life cycle that an item follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LifeCycle {
    /// Case plan model.
    Case,
    /// Stage or task.
    Work,
    /// Milestone or event listener.
    Occurrence,
}

/// Target of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// The state that is named.
    State(ItemState),
    /// The state before what is around it was suspended.
    Before,
}

/// Row of the table: a transition that leads from any of these states to another one.
#[derive(Debug, Clone, Copy)]
pub struct Transitions {
    /// Life cycle.
    pub of: LifeCycle,
    /// Transition of the standard.
    pub event: ItemEvent,
    /// States from which it is possible.
    pub from: &'static [ItemState],
    /// State to which it leads.
    pub to: To,
}

const fn row(of: LifeCycle, event: ItemEvent, from: &'static [ItemState], to: ItemState) -> Transitions {
    Transitions { of, event, from, to: To::State(to) }
}

/// The table of all transitions but `create`, which has no state before it.
pub const TRANSITIONS: &[Transitions] = {
    use ItemEvent as E;
    use ItemState::{Active, Available, Closed, Completed, Disabled, Enabled, Failed, Suspended, Terminated};
    use LifeCycle::{Case, Occurrence, Work};
    &[
        row(Case, E::Complete, &[Active], Completed),
        row(Case, E::Terminate, &[Active], Terminated),
        row(Case, E::Exit, &[Active], Terminated),
        row(Case, E::Fault, &[Active], Failed),
        row(Case, E::Suspend, &[Active], Suspended),
        row(Case, E::Resume, &[Suspended], Active),
        row(Case, E::Reactivate, &[Completed, Terminated, Failed, Suspended], Active),
        row(Case, E::Close, &[Completed, Terminated, Failed, Suspended], Closed),
        row(Work, E::Enable, &[Available], Enabled),
        row(Work, E::ManualStart, &[Enabled], Active),
        row(Work, E::Disable, &[Enabled], Disabled),
        row(Work, E::Reenable, &[Disabled], Enabled),
        row(Work, E::Start, &[Available], Active),
        row(Work, E::Complete, &[Active], Completed),
        row(Work, E::Terminate, &[Active], Terminated),
        row(Work, E::Exit, &[Available, Enabled, Disabled, Active, Failed, Suspended], Terminated),
        row(Work, E::Fault, &[Active], Failed),
        row(Work, E::Reactivate, &[Failed], Active),
        row(Work, E::Suspend, &[Active], Suspended),
        row(Work, E::Resume, &[Suspended], Active),
        row(Work, E::ParentSuspend, &[Available, Enabled, Disabled, Active, Failed], Suspended),
        Transitions { of: Work, event: E::ParentResume, from: &[Suspended], to: To::Before },
        row(Occurrence, E::Occur, &[Available], Completed),
        row(Occurrence, E::Terminate, &[Available], Terminated),
        row(Occurrence, E::ParentTerminate, &[Available, Suspended], Terminated),
        row(Occurrence, E::Suspend, &[Available], Suspended),
        row(Occurrence, E::Resume, &[Suspended], Available),
        row(Occurrence, E::ParentSuspend, &[Available], Suspended),
        Transitions { of: Occurrence, event: E::ParentResume, from: &[Suspended], to: To::Before },
    ]
};

impl LifeCycle {
    /// Life cycle of an item with this work; the case plan model has no stage around it.
    #[must_use]
    pub const fn of(work: &Work, is_plan_model: bool) -> Self {
        match work {
            Work::Stage { .. } if is_plan_model => Self::Case,
            Work::Stage { .. }
            | Work::Human { .. }
            | Work::Process { .. }
            | Work::Case { .. }
            | Work::Decision { .. }
            | Work::Job { .. }
            | Work::Script { .. }
            | Work::Task => Self::Work,
            Work::Milestone { .. }
            | Work::Timer { .. }
            | Work::UserEvent { .. }
            | Work::Message { .. }
            | Work::Signal { .. }
            | Work::Variable { .. }
            | Work::Reactivation { .. } => Self::Occurrence,
        }
    }
}

/// State to which a transition leads; none where it is not possible. `before` is the state before what is around the item
/// was suspended: what the parent suspended only the parent resumes, and the other way round.
#[must_use]
pub fn transition(
    of: LifeCycle,
    state: ItemState,
    before: Option<ItemState>,
    event: ItemEvent,
) -> Option<ItemState> {
    let row = TRANSITIONS.iter().find(|row| row.of == of && row.event == event && row.from.contains(&state));
    match row?.to {
        To::Before => before,
        To::State(_) if event == ItemEvent::Resume && before.is_some() => None,
        To::State(to) => Some(to),
    }
}

/// The word of the standard for a transition.
#[must_use]
pub fn word(event: ItemEvent) -> String {
    match serde_json::to_value(event) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(_) | Err(_) => String::new(),
    }
}
