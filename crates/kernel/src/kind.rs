//! Kinds of definitions, and of their instances.

crate::literals! {
    /// Kind of a definition and of its instances: both stand in the same tables, told apart by it.
    pub enum DefinitionKind {
        /// Workflows and their runs.
        Workflow = "workflow",
        /// Case types and their cases.
        Case = "case",
    }
}

impl DefinitionKind {
    /// The kind of what was written before there were others.
    #[must_use]
    pub const fn workflow() -> Self {
        Self::Workflow
    }
}
