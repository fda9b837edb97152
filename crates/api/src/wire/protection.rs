//! Catalogue of protection.

use serde_json::Value;

use super::envelope::AnyJson;

words! {
    /// Stage at which a check is made.
    enum ProtectionStage {
        /// Before a node.
        Input = "input",
        /// After a node.
        Output = "output",
        /// Call of a tool.
        ToolCall = "toolCall",
        /// Result of a tool.
        ToolResult = "toolResult",
    }

    /// Action on a hit of a check.
    enum ProtectionAction {
        /// Note: the run goes on.
        Flag = "flag",
        /// Removal of what was found; the run goes on.
        Redact = "redact",
        /// Wait for somebody's decision.
        Review = "review",
        /// End of the node with the error `PROTECTION_VIOLATION`.
        Block = "block",
    }

    /// Engine of a check.
    enum ProtectionEngine {
        /// Rules alone.
        Deterministic = "deterministic",
        /// A model that is asked.
        Model = "model",
    }
}

response! {
    /// Protection that there is for the nodes of workflows.
    struct ProtectionCatalog {
        /// Presets, the mildest first.
        presets: Vec<ProtectionPreset>,
        /// Checks, in the order in which they are made.
        checks: Vec<ProtectionCheck>,
    }

    /// A preset.
    struct ProtectionPreset {
        /// Word in `protection.preset`.
        id: String,
        /// A sentence on it.
        description: String,
        /// Checks of the preset, in the order in which they are made.
        rules: Vec<ProtectionRule>,
    }

    /// Use that a preset makes of a check.
    struct ProtectionRule {
        /// The check.
        check_id: String,
        /// Stages at which it is made.
        stages: Vec<ProtectionStage>,
        /// Action on a hit.
        action: ProtectionAction,
    }

    /// A check.
    struct ProtectionCheck {
        /// Name of the check in `protection.customChecks` and in events.
        id: String,
        /// Title for people.
        title: String,
        /// A sentence on what it finds.
        description: String,
        /// Stages at which it can be made.
        stages: Vec<ProtectionStage>,
        /// Engine of the check.
        engine: ProtectionEngine,
        /// Actions that it can have.
        actions: Vec<ProtectionAction>,
        /// Weight, from 0 to 1, from which on a hit counts; null where the check has none.
        default_threshold: Option<f64>,
        /// JSON Schema of its `configuration`.
        #[schema(value_type = AnyJson)]
        configuration_schema: Value,
    }
}
