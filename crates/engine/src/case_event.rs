//! Data of events about the items of a case.

use crate::LocalId;
use heddle_cmmn::plan::{FileEvent, ItemEvent};
pub use heddle_cmmn::plan::{ItemState, ItemType};
use heddle_kernel::UserId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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
