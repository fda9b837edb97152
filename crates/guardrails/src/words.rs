//! Words of protection: stages, actions and engines, as they stand in definitions and in answers.

use serde::{Deserialize, Serialize};

/// Stage at which a check is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stage {
    /// Before a node: what goes into it.
    Input,
    /// After a node: what comes out of it.
    Output,
    /// Call of a tool that a model asks for: its arguments.
    ToolCall,
    /// Result of a tool, before a model sees it.
    ToolResult,
}

impl Stage {
    /// Every stage, in the order of a node's life.
    pub const ALL: [Self; 4] = [Self::Input, Self::Output, Self::ToolCall, Self::ToolResult];

    /// The word in definitions and events.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::ToolCall => "toolCall",
            Self::ToolResult => "toolResult",
        }
    }

    /// The stage of this word; none for another one.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|own| own.as_str() == word)
    }
}

/// Action on a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// Note: the hit is an event, and the run goes on.
    Flag,
    /// Removal of what was found; the run goes on with the rest.
    Redact,
    /// Wait of the run for somebody's decision.
    Review,
    /// End of the node with the error `PROTECTION_VIOLATION`.
    Block,
}

impl Action {
    /// Every action, the mildest first.
    pub const ALL: [Self; 4] = [Self::Flag, Self::Redact, Self::Review, Self::Block];

    /// The word in definitions and events.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Redact => "redact",
            Self::Review => "review",
            Self::Block => "block",
        }
    }

    /// The action of this word; none for another one.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|own| own.as_str() == word)
    }
}

/// Engine of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Engine {
    /// Rules alone: the same text gives the same result.
    Deterministic,
    /// A model that is asked.
    Model,
}
