//! Jobs for external workers.

use crate::LocalId;
use crate::event::JobKind;
use heddle_kernel::{JobId, Timestamp};
use heddle_settings::JobEnd;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// An open job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct JobState {
    #[serde(rename = "i")]
    pub id: JobId,
    /// The node instance that waits for it.
    #[serde(rename = "w")]
    pub owner: LocalId,
    #[serde(rename = "k", default, skip_serializing_if = "JobKind::is_task")]
    pub kind: JobKind,
    #[serde(rename = "t")]
    pub job_type: Arc<str>,
    /// Attempts that are left.
    #[serde(rename = "r")]
    pub retries: u32,
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    #[serde(rename = "h", default, skip_serializing_if = "Map::is_empty")]
    pub headers: Map<String, Value>,
    /// Instant before which no worker gets it.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    /// The attempt, from 1.
    #[serde(rename = "n", default = "super::first", skip_serializing_if = "super::is_first")]
    pub attempt: u32,
    #[serde(rename = "a")]
    pub created_at: Timestamp,
    /// End that came while the run was suspended.
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Box<JobEnd>>,
    /// Notes that a failed attempt left for the next one.
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<Value>,
}
