//! Incidents.

use super::{first, is_first};
use crate::LocalId;
use crate::event::{IncidentCode, Phase};
use heddle_kernel::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// An open incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IncidentState {
    #[serde(rename = "i")]
    pub id: LocalId,
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Arc<str>>,
    #[serde(rename = "h", default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<LocalId>,
    #[serde(rename = "s")]
    pub scope: LocalId,
    #[serde(rename = "c")]
    pub code: IncidentCode,
    #[serde(rename = "m")]
    pub message: String,
    #[serde(rename = "p")]
    pub phase: Phase,
    #[serde(rename = "a")]
    pub at: Timestamp,
    #[serde(rename = "t", default = "first", skip_serializing_if = "is_first")]
    pub attempt: u32,
    /// Failure of the node for which its flow has been taken most often.
    #[serde(rename = "f", default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Value>,
}
