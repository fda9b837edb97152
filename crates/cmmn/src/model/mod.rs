//! The case definition: the JSON document of a case type as types.
//!
//! Every member is optional, because a draft may be incomplete; an unknown member is refused. A JSON null
//! reads as an absent member: who must tell the two apart keeps the document itself.
//!
//! Members `configuration` hold what CMMN has no place for, and what vendors' words say, by Heddle's names. A text in
//! them that begins with `=` is FEEL; a text with `${..}` or `#{..}` is JUEL as the vendor's model has it, and is
//! translated when the case is compiled; any other text is itself. What may stand where:
//!
//! | element | members |
//! |---|---|
//! | case | `initiator`, `startEvents: [{eventType}]`, `listeners` |
//! | definition of any kind | `listeners` |
//! | stage, case plan model | `autoCompleteCondition`, `businessStatus` |
//! | human task | `assignee`, `candidateUsers`, `candidateGroups`, `dueDate`, `followUpDate`, `priority`, `form`, `outcomes` |
//! | process task, case task | `versionPolicy`, `version`, `businessKey`, `inheritBusinessKey`, `inputs`, `outputs`, `propagateAllInputs`, `propagateAllOutputs` |
//! | decision task | `decisionRef`, `versionPolicy`, `version`, `resultMapping`, `resultVariable`, `inputs`, `outputs` |
//! | task | `jobType`, `headers`, `inputs`, `outputs`, `retry`, `priority`, `resultVariable`, or `script` with `scriptFormat` |
//! | any task | `blockingCondition` |
//! | milestone | `milestoneVariable`, `businessStatus` |
//! | event listener | `listenerType: signal, variable, reactivate`, `eventType`, `correlationKey`, `outputs`, `signalName`, `variableName`, `variableChangeType`, `availableCondition`; `reactivation` of one with `reactivate` |
//! | item control | `completionNeutral: true` or a condition, `parentCompletion`, `reactivation: {activateCondition, ignoreCondition, defaultCondition}` |
//! | repetition rule | `maxInstanceCount`, `collection`, `elementVariable`, `elementIndexVariable`, `counterVariable`, `repeatOnStandardEvent` |
//! | exit criterion | `exitType`, `exitEventType` |
//! | sentry | `triggerMode`, `variableOnParts: [{variableName, variableEvents}]` |
//!
//! A listener is `{on}` with the standard event (of a human task `create` is its start, and `delete` its end without
//! completion), or `{from, to}` with states, either of which may be absent, and one of `source` with an optional
//! `resultVariable`, or `script` with `scriptFormat`. One with a `jobType` and `headers`, as vendors' code becomes, is
//! read and written, but not published: a worker cannot be waited for in a transition.

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
