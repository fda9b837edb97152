//! Stages of a node instance.

use serde::{Deserialize, Serialize};

/// Stage of a node instance's life at which it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stage {
    /// Asynchronous continuation before it.
    Before,
    /// Job of the start listener at this place.
    StartListener(u32),
    /// Work of the node itself.
    #[default]
    Work,
    /// Job of the end listener at this place.
    EndListener(u32),
    /// Asynchronous continuation after it.
    After,
    /// Choice of the flows: all else is done.
    Depart,
    /// Pause before the flow that leads back, at this place among the flows out of the node, is taken for the time of this
    /// number.
    Delay(u32, u32),
    /// Review by a human, since the flow at this place has been taken most often.
    Review(u32),
}

impl Stage {
    /// Whether nothing is left before the choice of the flows.
    pub(crate) const fn is_done_or_work(self) -> bool {
        matches!(self, Self::Work | Self::Depart)
    }

    /// Whether it is the node's own work.
    pub(crate) const fn is_work(&self) -> bool {
        matches!(self, Self::Work)
    }
}
