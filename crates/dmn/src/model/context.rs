//! Around the decisions: who makes them, what they serve, collections and artifacts (DMN 1.5, 6.3.4, 6.3.6 and 6.3.8).
//! References are `#id`, or a namespace and `#id`.

use serde::{Deserialize, Serialize};

/// Which way an association points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = DmnAssociationDirection))]
pub enum AssociationDirection {
    /// No way.
    None,
    /// From its source to its target.
    One,
    /// Both ways.
    Both,
}

shape! {
    /// Organisational unit that makes or owns decisions.
    struct OrganizationUnit {
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// URI of its description.
        #[serde(rename = "URI")]
        uri: String,
        + lists {
            /// References to decisions that it makes.
            decisions_made: String,
            /// References to decisions that it owns.
            decisions_owned: String,
        }
        @ at
    }

    /// Measure of business performance that decisions affect.
    struct PerformanceIndicator {
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// URI of its description.
        #[serde(rename = "URI")]
        uri: String,
        + lists {
            /// References to decisions that change it.
            impacting_decisions: String,
        }
        @ at
    }

    /// Elements by a common name.
    struct ElementCollection {
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        + lists {
            /// References to its elements.
            drg_elements: String,
        }
        @ at
    }

    /// A note in a diagram.
    #[cfg_attr(feature = "schema", schema(as = DmnTextAnnotation))]
    struct TextAnnotation {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Media type of the text; `text/plain` when absent.
        text_format: String,
        /// The text.
        text: String,
        @ at
    }

    /// A line between an artifact and an element.
    #[cfg_attr(feature = "schema", schema(as = DmnAssociation))]
    struct Association {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Which way it points; no way when absent.
        association_direction: AssociationDirection,
        /// Reference to its source.
        source_ref: String,
        /// Reference to its target.
        target_ref: String,
        @ at
    }

    /// A frame around elements.
    #[cfg_attr(feature = "schema", schema(as = DmnGroup))]
    struct Group {
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        @ at
    }
}
