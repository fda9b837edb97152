//! The words of the tables: what a column of text may hold.

use heddle_store::word;
use heddle_workflows::records::{BindingKind, InboxState, RunState, TaskState};

word!(RunStateWord of RunState, "the state of a run");
word!(TaskStateWord of TaskState, "the state of a task");
word!(InboxStateWord of InboxState, "the state of an event");
word!(KindWord of BindingKind, "the kind of a start or a subscription");
word!(CandidateWord of CandidateKind, "the kind of a candidate");

/// Who may take a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CandidateKind {
    /// A user, by name.
    User,
    /// A group, by name.
    Group,
}

impl CandidateKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Group => "group",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        [Self::User, Self::Group].into_iter().find(|kind| kind.as_str() == word)
    }
}
