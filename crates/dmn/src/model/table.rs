//! Decision tables (DMN 1.5, clause 8).

use serde::{Deserialize, Serialize};

use super::LiteralExpression;

/// Which of the rules that match give the result (DMN 1.5, 8.2.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum HitPolicy {
    /// At most one rule matches.
    #[default]
    #[serde(rename = "UNIQUE")]
    Unique,
    /// The first rule in order.
    #[serde(rename = "FIRST")]
    First,
    /// The rule whose output comes first in the output values.
    #[serde(rename = "PRIORITY")]
    Priority,
    /// All rules that match give the same.
    #[serde(rename = "ANY")]
    Any,
    /// All, in no order, or aggregated.
    #[serde(rename = "COLLECT")]
    Collect,
    /// All, in the order of rules.
    #[serde(rename = "RULE ORDER")]
    RuleOrder,
    /// All, in the order of output values.
    #[serde(rename = "OUTPUT ORDER")]
    OutputOrder,
}

/// Aggregation that `COLLECT` applies to the outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Aggregation {
    /// Sum of the outputs.
    Sum,
    /// Number of the outputs.
    Count,
    /// Least of the outputs.
    Min,
    /// Greatest of the outputs.
    Max,
}

/// Orientation of a table's drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Orientation {
    /// Rules are rows.
    #[serde(rename = "Rule-as-Row")]
    RuleAsRow,
    /// Rules are columns.
    #[serde(rename = "Rule-as-Column")]
    RuleAsColumn,
    /// Rules are cells.
    #[serde(rename = "CrossTable")]
    CrossTable,
}

shape! {
    /// A decision table.
    struct DecisionTable {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Type of the result.
        type_ref: String,
        /// Hit policy; unique when absent.
        hit_policy: HitPolicy,
        /// Aggregation of `COLLECT`.
        aggregation: Aggregation,
        /// Orientation of the table's drawing.
        preferred_orientation: Orientation,
        /// Heading of the outputs.
        output_label: String,
        + lists {
            /// Inputs.
            inputs: InputClause,
            /// Outputs.
            outputs: OutputClause,
            /// Headings of the annotations.
            annotations: RuleAnnotationClause,
            /// Rules in order.
            rules: DecisionRule,
        }
        @ at
    }

    /// An input of a table.
    struct InputClause {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Expression whose value the rules test.
        input_expression: LiteralExpression,
        /// Tests that every input passes.
        input_values: UnaryTestsText,
        @ at
    }

    /// An output of a table.
    struct OutputClause {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Name in the result; needed when there are several outputs.
        name: String,
        /// Type.
        type_ref: String,
        /// The values possible, by priority.
        output_values: UnaryTestsText,
        /// The output when no rule matches.
        default_output_entry: LiteralExpression,
        @ at
    }

    /// A heading of annotations.
    struct RuleAnnotationClause {
        /// Name.
        name: String,
    }

    /// A rule of a table.
    struct DecisionRule {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        + lists {
            /// Tests in the order of the inputs.
            input_entries: UnaryTestsText,
            /// Results in the order of the outputs.
            output_entries: LiteralExpression,
            /// Annotations in the order of their headings.
            annotation_entries: String,
        }
        @ at
    }

    /// Unary tests as a text.
    struct UnaryTestsText {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Type.
        type_ref: String,
        /// Language.
        expression_language: String,
        /// The text.
        text: String,
        @ at
    }
}
