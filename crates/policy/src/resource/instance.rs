//! Instances and definitions of either kind. Runs and cases stand in the same tables and are stepped by the same use
//! cases; what may be done to them is decided by rights of their own. A key of either becomes one of instances here, and takes
//! its kind along: what loads by it filters by the kind.

use std::ops::Deref;

use heddle_kernel::{CaseId, CaseTypeId, DefinitionKind, RunId, TenantId, WorkflowId};

use super::{Case, In, Key, Resource, Run, Top, Within};
use crate::permission::ResourceType;

/// A definition of either kind: a workflow or a case type. No rule is about it by this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Definition {}

impl Resource for Definition {
    const TYPE: ResourceType = ResourceType::Workflow;
    type Id = WorkflowId;
    type Parent = Top;
}

/// An instance of either kind: a run or a case. No rule is about it by this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instance {}

impl Resource for Instance {
    const TYPE: ResourceType = ResourceType::Run;
    type Id = RunId;
    type Parent = Definition;
}

impl In<Definition> for Instance {}

/// Key of an instance with its kind: of a proof about a run or a case, or of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceKey {
    kind: DefinitionKind,
    key: Key<Instance>,
}

impl InstanceKey {
    /// The key of an instance that was loaded: for stores, and for work that nobody asked for.
    #[must_use]
    pub const fn of_stored(
        tenant: TenantId,
        kind: DefinitionKind,
        id: RunId,
        definition: WorkflowId,
    ) -> Self {
        Self { kind, key: Key::of_stored(tenant, id, Within::of(definition)) }
    }

    /// Kind of the instance.
    #[must_use]
    pub const fn kind(&self) -> DefinitionKind {
        self.kind
    }

    /// The key as that of a run; none for a case.
    #[must_use]
    pub fn run(&self) -> Option<Key<Run>> {
        let of = |key: &Key<Instance>| Key {
            tenant: key.tenant,
            id: key.id,
            place: Within::of(key.within()),
            owner: key.owner.clone(),
        };
        (self.kind == DefinitionKind::Workflow).then(|| of(&self.key))
    }

    /// The key as that of a case; none for a run.
    #[must_use]
    pub fn case(&self) -> Option<Key<Case>> {
        let of = |key: &Key<Instance>| Key {
            tenant: key.tenant,
            id: CaseId::from(key.id),
            place: Within::of(CaseTypeId::from(key.within())),
            owner: key.owner.clone(),
        };
        (self.kind == DefinitionKind::Case).then(|| of(&self.key))
    }
}

impl Deref for InstanceKey {
    type Target = Key<Instance>;

    fn deref(&self) -> &Key<Instance> {
        &self.key
    }
}

impl From<&Key<Run>> for InstanceKey {
    fn from(key: &Key<Run>) -> Self {
        let own =
            Key { tenant: key.tenant, id: key.id, place: Within::of(key.within()), owner: key.owner.clone() };
        Self { kind: DefinitionKind::Workflow, key: own }
    }
}

impl From<&Key<Case>> for InstanceKey {
    fn from(key: &Key<Case>) -> Self {
        let own = Key {
            tenant: key.tenant,
            id: RunId::from(key.id),
            place: Within::of(WorkflowId::from(key.within())),
            owner: key.owner.clone(),
        };
        Self { kind: DefinitionKind::Case, key: own }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn id(n: u128) -> Uuid {
        Uuid::from_u128(n)
    }

    #[test]
    fn a_key_keeps_its_kind() {
        let tenant = TenantId(id(1));
        let run = Key::<Run>::of_stored(tenant, RunId(id(2)), Within::of(WorkflowId(id(3))));
        let case = Key::<Case>::of_stored(tenant, CaseId(id(2)), Within::of(CaseTypeId(id(3))));
        let (of_run, of_case) = (InstanceKey::from(&run), InstanceKey::from(&case));
        assert_ne!(of_run, of_case, "the same ids of another kind are another instance");
        assert_eq!((of_run.run(), of_run.case()), (Some(run), None));
        assert_eq!((of_case.run(), of_case.case()), (None, Some(case)));
    }
}
