//! The workflow definition: the JSON document of the API as types.
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

mod collaboration;
mod data;
mod definitions;
mod diagram;
mod dmn;
mod event;
mod layout;
mod node;
mod process;
mod walk;

pub use collaboration::{
    Choreography, ChoreographyActivity, Collaboration, Conversation, ConversationLink, CorrelationKey,
    MessageFlow, Participant,
};
pub use data::{
    AssignmentExpression, DataAssociation, DataItem, InputSet, OutputSet, Property, ResourceRole,
};
pub use definitions::{
    Bpmn, BpmnImport, Category, CategoryValue, EventReference, Interface, ItemDefinition, Operation,
    Relationship, Resource, ResourceParameter,
};
pub use diagram::{Bounds, Diagram, DiagramEdge, DiagramLabel, DiagramShape, Point};
pub use dmn::{Dmn, DmnElement, DmnImportedDocument, DmnRequirement};
pub use event::{ComplexBehaviorDefinition, EventDefinition, LoopCharacteristics};
pub use layout::{Import, ImportItem, Layout, Note, Protection};
pub use node::{Activity, Condition, Edge, EdgeBpmn, EdgeLoop, LoopCarry, LoopLimitAction, Node, NodeBpmn};
pub use process::{Artifact, Correlation, Lane, LaneSet, Process};
pub use walk::{GraphRef, MAIN_PROCESS_ID, NodeAt, graphs, join, node_and_edge_ids, nodes};

shape! {
    /// A whole workflow definition: `WorkflowDefinitionRequest` of the API.
    #[cfg_attr(feature = "schema", schema(as = WorkflowDefinitionRequest))]
    struct WorkflowDefinition {
        /// The BPMN model.
        bpmn: Box<Bpmn>,
        /// The DMN model.
        dmn: Box<Dmn>,
        /// Top-level edges.
        edges: Vec<Edge>,
        /// Sources from which the definition, or parts of it, were imported.
        imports: Vec<Import>,
        /// Editor layout of the top-level graph.
        layout: Layout,
        /// Top-level nodes; with the edges they form the startable process `main`.
        nodes: Vec<Node>,
        /// Protection checks.
        protection: Protection,
        /// Definition schema version.
        schema_version: i64,
    }
}
