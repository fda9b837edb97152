//! The records of this area as the domain sees them: those of definitions are of the crate of definitions, those of what
//! runs of the crate of execution. Rows and wire types are made from these by plain functions.

pub use heddle_definitions::records::{
    Definition as Workflow, DefinitionState as WorkflowState, DefinitionView as WorkflowView, Draft,
    ImportSource, InstanceCounts as RunCounts, ShownDefinition as ShownWorkflow, Version, VersionChoice,
};
pub use heddle_execution::records::*;
