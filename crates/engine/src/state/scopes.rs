//! Scopes with their variables.

use crate::LocalId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// An open scope: the process, or what a node instance holds of its own: the content of a sub-process, a multi-instance
/// body, one of its instances, or the variables of an activity with mappings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ScopeState {
    /// The node instance that it belongs to; [`LocalId::ROOT`] for the process.
    #[serde(rename = "i")]
    pub id: LocalId,
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Arc<str>>,
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<LocalId>,
    #[serde(rename = "v", default, skip_serializing_if = "Map::is_empty")]
    pub variables: Map<String, Value>,
}
