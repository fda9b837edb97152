//! Criteria and sentries.

use super::Expression;
use serde_json::{Map, Value};

shape! {
    /// An entry or an exit criterion (clause 5.4.3).
    struct Criterion {
        /// Settings of the criterion.
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
        configuration: Map<String, Value>,
        /// Documentation texts.
        documentation: Vec<String>,
        /// Extension elements, each as XML text.
        extension_xml: Vec<String>,
        /// Id; a criterion of CMMN 1.0 has none.
        id: String,
        /// Name.
        name: String,
        /// Id of the sentry.
        sentry_ref: String,
    }

    /// A sentry (clause 5.4.7): it is satisfied when all of its parts are.
    struct Sentry {
        /// Settings of the sentry.
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
        configuration: Map<String, Value>,
        /// Description, of CMMN 1.0.
        description: String,
        /// Documentation texts.
        documentation: Vec<String>,
        /// Extension elements, each as XML text.
        extension_xml: Vec<String>,
        /// Id.
        id: String,
        /// If-part.
        if_part: IfPart,
        /// Name.
        name: String,
        /// On-parts.
        on_parts: Vec<OnPart>,
    }

    /// An on-part of a sentry (clause 5.4.7.1).
    struct OnPart {
        /// Settings of the on-part.
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
        configuration: Map<String, Value>,
        /// Description, of CMMN 1.0.
        description: String,
        /// Id of the exit criterion by which the plan item must have ended.
        exit_criterion_ref: String,
        /// Extension elements, each as XML text.
        extension_xml: Vec<String>,
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Id of the sentry by which the plan item must have ended, of CMMN 1.0.
        sentry_ref: String,
        /// Id of the plan item or of the case file item.
        source_ref: String,
        /// Standard event.
        standard_event: String,
        /// `planItemOnPart` or `caseFileItemOnPart`.
        r#type: String,
    }

    /// The if-part of a sentry (clause 5.4.7.2).
    struct IfPart {
        /// Condition.
        condition: Expression,
        /// Id of the case file item that the condition is about.
        context_ref: String,
        /// Description, of CMMN 1.0.
        description: String,
        /// Id.
        id: String,
    }
}
