//! The literals of the tables: what a column of text may hold.

use heddle_kernel::{DefinitionKind, literals};
use heddle_store::word;
use heddle_workflows::ports::Queue;
use heddle_workflows::records::{
    BindingKind, InboxState, JobKind, JobOutcome, JobState, RunState, SetAsideReason, TaskState, ThrownKind,
    WorkKind, WorkflowState,
};

word!(DefinitionKindWord of DefinitionKind, "the kind of a definition");
word!(WorkflowStateWord of WorkflowState, "the state of a workflow");
word!(RunStateWord of RunState, "the state of a run");
word!(TaskStateWord of TaskState, "the state of a task");
word!(JobStateWord of JobState, "the state of a job");
word!(JobKindWord of JobKind, "the kind of a job");
word!(JobOutcomeWord of JobOutcome, "the end of a job");
word!(InboxStateWord of InboxState, "the state of an event");
word!(KindWord of BindingKind, "the kind of a start or a subscription");
word!(ThrownWord of ThrownKind, "the kind of what a run sends");
word!(QueueWord of Queue, "a queue of background work");
word!(WorkKindWord of WorkKind, "the kind of a dead letter");
word!(ReasonWord of SetAsideReason, "the reason of a dead letter");
word!(CandidateWord of CandidateKind, "the kind of a candidate");
word!(StandingWord of Standing, "the standing of a candidate");

literals! {
    /// Kind of those who may take a task.
    pub(crate) enum CandidateKind {
        /// A user, by name.
        User = "user",
        /// A group, by name.
        Group = "group",
        /// Everyone: the task names nobody.
        Everyone = "everyone",
    }
}

/// Kind of those who have to do with a task whoever it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Involved {
    /// Starter of its run.
    Starter,
    /// User who completed it.
    Completer,
}

impl Involved {
    /// The column of a task that has their user.
    pub(crate) const fn column(self) -> &'static str {
        match self {
            Self::Starter => "started_by",
            Self::Completer => "completed_by",
        }
    }
}

literals! {
    /// Standing of those who may take a task.
    pub(crate) enum Standing {
        /// The task is open and nobody's.
        Open = "open",
        /// The task was completed, and was nobody's.
        Completed = "completed",
        /// The task was cancelled, and was nobody's.
        Cancelled = "cancelled",
        /// The task is, or was, somebody's.
        Assigned = "assigned",
    }
}

impl Standing {
    /// Standing of candidates for a task that is somebody's, or nobody's and in this state.
    pub(crate) const fn of(state: TaskState, assigned: bool) -> Self {
        match state {
            TaskState::Open | TaskState::Completed | TaskState::Cancelled if assigned => Self::Assigned,
            TaskState::Open => Self::Open,
            TaskState::Completed => Self::Completed,
            TaskState::Cancelled => Self::Cancelled,
        }
    }
}
