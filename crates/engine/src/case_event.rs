//! Data of events about the items of a case.

use crate::LocalId;
use heddle_cmmn::plan::{FileEvent, ItemEvent};
use heddle_kernel::UserId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// State of an instance of an item (clause 8.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ItemState {
    /// Wait for an entry criterion, or, of a listener, for its event.
    Available,
    /// Wait for somebody to start it.
    Enabled,
    /// Refusal by somebody: it is not to be started.
    Disabled,
    /// Work that is being done.
    Active,
    /// Suspension of it or of what is around it.
    Suspended,
    /// Failure of its work.
    Failed,
    /// Completion of its work, or occurrence.
    Completed,
    /// Termination before its end.
    Terminated,
    /// End of a case for good.
    Closed,
}

impl ItemState {
    /// The word of the standard.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Failed => "failed",
            Self::Completed => "completed",
            Self::Terminated => "terminated",
            Self::Closed => "closed",
        }
    }

    /// Whether nothing can happen to an item in it any more; that of a case may be reactivated still.
    #[must_use]
    pub const fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Terminated | Self::Closed)
    }
}

/// Type of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the words of the standard and of its extensions")]
pub enum ItemType {
    CasePlanModel,
    Stage,
    Milestone,
    TimerEventListener,
    UserEventListener,
    MessageEventListener,
    SignalEventListener,
    VariableEventListener,
    ReactivationEventListener,
    HumanTask,
    ProcessTask,
    CaseTask,
    DecisionTask,
    JobTask,
    ScriptTask,
    Task,
}

/// Data of `item.created`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemCreated {
    /// Type of the item.
    #[serde(rename = "type")]
    pub item_type: ItemType,
    /// Name of the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// Instance of the stage around it; absent for the case plan model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<LocalId>,
    /// Whether its stage cannot complete without it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// Whether it is there for the next time that an entry criterion is met, behind an instance before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
    /// Whether somebody planned it: it is a discretionary item.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub planned: bool,
    /// User who planned it; absent for what is in the plan from the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UserId>,
}

/// Part of a round that has yet to happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Pending {
    /// Entry of an instance without an entry criterion.
    Enter {
        /// The instance.
        id: LocalId,
    },
    /// Look at the if-parts of a new instance.
    Look {
        /// The instance.
        id: LocalId,
    },
    /// Work that ended while its instance was suspended, or has yet to begin.
    TakeUp {
        /// The instance.
        id: LocalId,
    },
    /// Standard event of an item.
    Moved {
        /// The instance.
        id: LocalId,
        /// Id of the item.
        item: Arc<str>,
        /// Transition of the standard.
        event: ItemEvent,
        /// Criterion by which it came.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        criterion: Option<Arc<str>>,
        /// Instance of the stage around it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<LocalId>,
    },
    /// Standard event of a case file item.
    Changed {
        /// Id of the case file item.
        item: Arc<str>,
        /// Transition of the standard.
        event: FileEvent,
    },
    /// A variable that got another value.
    Set {
        /// Name of the variable.
        name: String,
        /// Whether it was there before.
        before: bool,
        /// Whether it is there now.
        after: bool,
    },
}
