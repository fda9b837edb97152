//! The ports of this area. Each method is one atomic unit; every query is held to the tenant that it is given.

mod background;
mod runs;
mod workflows;

pub use background::{Committer, Notifier};
pub use runs::{
    BindingAdvance, DueTimer, EventSlice, InboxWrite, MatchedSubscription, RunFilter, RunSort, RunStore,
    RunWrite, TaskChange, TaskFilter, Transaction,
};
pub use workflows::{Deleted, PublishWrite, WorkflowFilter, WorkflowSort, WorkflowStore, WorkflowWrite};

#[cfg(any(test, feature = "mock"))]
pub use background::{MockCommitter, MockNotifier};
#[cfg(any(test, feature = "mock"))]
pub use runs::MockRunStore;
#[cfg(any(test, feature = "mock"))]
pub use workflows::MockWorkflowStore;
