//! Runs that were called and have not ended.

use crate::LocalId;
use heddle_kernel::RunId;
use serde::{Deserialize, Serialize};

/// A run that a node instance called and waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CallState {
    /// The called run.
    #[serde(rename = "r")]
    pub run: RunId,
    /// The node instance that waits for it.
    #[serde(rename = "w")]
    pub owner: LocalId,
}
