//! Members of a definition that BPMN has no place for.

use crate::model::{Conversation, Layout, Protection};
use serde::{Deserialize, Serialize};

/// Members of a definition that BPMN has no place for; they stand in `heddle:data` of the root.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct DefinitionData {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conformance_profile: Option<String>,
    /// Conversations outside a collaboration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversations: Option<Vec<Conversation>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_process_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protection: Option<Protection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<i64>,
}
