//! Keys of definitions, and what a caller may see of them, of whatever kind.

use heddle_kernel::{DefinitionKind, TenantId, WorkflowId};
use heddle_policy::resource::Top;
use heddle_policy::{AccessFilter, Key, Resource, resource};

/// Kind of things that are definitions.
pub trait Defines: Resource<Parent = Top> {
    /// The kind of the definitions.
    const KIND: DefinitionKind;

    /// The id under which a definition is stored.
    fn stored_id(id: &Self::Id) -> WorkflowId;

    /// A filter of this kind as a list of definitions takes it.
    fn access(filter: &AccessFilter<Self>) -> DefinitionAccess<'_>;
}

impl Defines for resource::Workflow {
    const KIND: DefinitionKind = DefinitionKind::Workflow;

    fn stored_id(id: &Self::Id) -> WorkflowId {
        *id
    }

    fn access(filter: &AccessFilter<Self>) -> DefinitionAccess<'_> {
        DefinitionAccess::Workflows(filter)
    }
}

impl Defines for resource::CaseType {
    const KIND: DefinitionKind = DefinitionKind::Case;

    fn stored_id(id: &Self::Id) -> WorkflowId {
        (*id).into()
    }

    fn access(filter: &AccessFilter<Self>) -> DefinitionAccess<'_> {
        DefinitionAccess::CaseTypes(filter)
    }
}

/// Extent of a list of definitions: of one kind, and of that what the caller may read.
#[derive(Debug, Clone, Copy)]
pub enum DefinitionAccess<'a> {
    /// Workflows.
    Workflows(&'a AccessFilter<resource::Workflow>),
    /// Case types.
    CaseTypes(&'a AccessFilter<resource::CaseType>),
}

impl DefinitionAccess<'_> {
    /// The kind of the definitions.
    #[must_use]
    pub const fn kind(&self) -> DefinitionKind {
        match self {
            Self::Workflows(_) => DefinitionKind::Workflow,
            Self::CaseTypes(_) => DefinitionKind::Case,
        }
    }

    /// Whether surely nothing is let through.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Workflows(filter) => filter.is_empty(),
            Self::CaseTypes(filter) => filter.is_empty(),
        }
    }
}

/// Key of a definition: its organisation, its kind and its id. All three are part of every look for it, so that the
/// rights on a workflow never reach a case type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DefinitionKey {
    tenant: TenantId,
    kind: DefinitionKind,
    id: WorkflowId,
}

impl DefinitionKey {
    /// The definition that a proof is about.
    #[must_use]
    pub fn of<R: Defines>(key: &Key<R>) -> Self {
        Self { tenant: key.tenant(), kind: R::KIND, id: R::stored_id(&key.id()) }
    }

    /// The key of a definition that was loaded, or that a loaded row names: for stores, and for work that nobody asked
    /// for.
    #[must_use]
    pub const fn of_stored(tenant: TenantId, kind: DefinitionKind, id: WorkflowId) -> Self {
        Self { tenant, kind, id }
    }

    /// The organisation.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// The kind.
    #[must_use]
    pub const fn kind(&self) -> DefinitionKind {
        self.kind
    }

    /// The id.
    #[must_use]
    pub const fn id(&self) -> WorkflowId {
        self.id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_kernel::CaseTypeId;
    use heddle_policy::PlaceOf;

    #[test]
    fn the_key_of_a_case_type_is_none_of_a_workflow_with_the_same_id() {
        let (tenant, id) = ("01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac96-774b-bcce-b302099a8058");
        let (tenant, id): (TenantId, WorkflowId) = (tenant.parse().unwrap(), id.parse().unwrap());
        let place: PlaceOf<resource::Workflow> = ();
        let workflow = DefinitionKey::of(&Key::<resource::Workflow>::of_stored(tenant, id, place));
        let case_type =
            DefinitionKey::of(&Key::<resource::CaseType>::of_stored(tenant, CaseTypeId::from(id), ()));
        assert_eq!((workflow.id(), workflow.tenant()), (case_type.id(), case_type.tenant()));
        assert_ne!(workflow, case_type);
        assert_eq!(workflow, DefinitionKey::of_stored(tenant, DefinitionKind::Workflow, id));
    }
}
