//! Timers and subscriptions.

use crate::LocalId;
use crate::event::SubscriptionKind;
use heddle_bpmn_graph::Recurrence;
use heddle_kernel::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A timer that is set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TimerState {
    #[serde(rename = "i")]
    pub id: LocalId,
    /// The catch event, boundary event or start event.
    #[serde(rename = "n")]
    pub node: Arc<str>,
    /// The node instance, or the scope, for which it is set.
    #[serde(rename = "h")]
    pub host: LocalId,
    #[serde(rename = "d")]
    pub due_at: Timestamp,
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Box<Recurrence>>,
    /// Number of the trigger, of an event with several.
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<u32>,
}

/// An open subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SubscriptionState {
    #[serde(rename = "i")]
    pub id: LocalId,
    #[serde(rename = "n")]
    pub node: Arc<str>,
    #[serde(rename = "h")]
    pub host: LocalId,
    #[serde(rename = "t")]
    pub kind: SubscriptionKind,
    #[serde(rename = "m")]
    pub name: Arc<str>,
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Number of the trigger, of an event with several.
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<u32>,
    /// Whether the condition held when it was looked at last.
    #[serde(rename = "w", default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
}
