//! Human tasks.

use crate::LocalId;
use crate::event::OutcomeValues;
use heddle_kernel::{TaskId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An open human task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TaskState {
    #[serde(rename = "i")]
    pub id: TaskId,
    /// The node instance that waits for it.
    #[serde(rename = "w", default)]
    pub owner: LocalId,
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    #[serde(rename = "u", default, skip_serializing_if = "Vec::is_empty")]
    pub candidate_users: Vec<String>,
    #[serde(rename = "g", default, skip_serializing_if = "Vec::is_empty")]
    pub candidate_groups: Vec<String>,
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub follow_up_at: Option<Timestamp>,
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    #[serde(rename = "f", default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Arc<Value>>,
    #[serde(rename = "o", default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<Arc<str>>,
    #[serde(rename = "v", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outcome_values: OutcomeValues,
}
