//! The case definition: the JSON document of a case type as types.
//!
//! Every member is optional, because a draft may be incomplete; an unknown member is refused. A JSON null
//! reads as an absent member: who must tell the two apart keeps the document itself.

/// Declares shapes of the definition: every member becomes an `Option` that is left out when absent.
macro_rules! shape {
    ($(
        $(#[$outer:meta])*
        struct $name:ident { $( $(#[$inner:meta])* $field:ident : $ty:ty, )* }
    )*) => { $(
        #[derive(Debug, Clone, PartialEq, Default, ::serde::Serialize, ::serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        $(#[$outer])*
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name {
            $( $(#[$inner])* #[serde(default, skip_serializing_if = "Option::is_none")] pub $field: Option<$ty>, )*
        }
    )* };
}

mod case;
mod definition;
mod diagram;
mod item;
mod layout;
mod sentry;

pub use case::{
    Callable, Case, CaseFile, CaseFileItem, CaseFileItemDefinition, CaseFileItemProperty, CaseRole,
    Parameter, ParameterMapping,
};
pub use definition::{Artifact, CaseDefinition, CmmnImport, Relationship};
pub use diagram::{
    Bounds, CaseDiagram, CaseDiagramEdge, CaseDiagramLabel, CaseDiagramShape, CaseDiagramStyle, Color,
    Dimension, Point,
};
pub use item::{
    ApplicabilityRule, DiscretionaryItem, Expression, ItemControl, PlanItem, PlanItemDefinition,
    PlanningTable, Rule, StartTrigger,
};
pub use layout::{Import, ImportItem, Layout, Note};
pub use sentry::{Criterion, IfPart, OnPart, Sentry};
