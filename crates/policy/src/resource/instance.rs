//! Instances and definitions of either kind. Runs and cases stand in the same tables and are stepped by the same use
//! cases; what may be done to them is decided by rights of their own. A key or a filter of either becomes one of instances
//! here, and takes its kind along: what loads or lists by it filters by the kind.

use std::ops::Deref;

use heddle_kernel::{CaseId, CaseTypeId, DefinitionKind, RunId, TenantId, WorkflowId};

use super::{Case, In, Key, Resource, Run, Top, Within};
use crate::filter::AccessFilter;
use crate::ownership::Ownership;
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

/// The instances of one kind that a caller may act on.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceFilter {
    kind: DefinitionKind,
    filter: AccessFilter<Instance>,
}

impl InstanceFilter {
    /// Kind of the instances.
    #[must_use]
    pub const fn kind(&self) -> DefinitionKind {
        self.kind
    }

    /// The filter over instances, without the kind.
    #[must_use]
    pub const fn filter(&self) -> &AccessFilter<Instance> {
        &self.filter
    }

    /// Whether an instance is let through of which nobody looked whose it is; one of another kind never is.
    #[must_use]
    pub fn permits(&self, key: &InstanceKey) -> bool {
        self.permits_owned(key, Ownership::Unknown)
    }

    /// Whether an instance is let through that is or is not the caller's own; one of another kind never is.
    #[must_use]
    pub fn permits_owned(&self, key: &InstanceKey, ownership: Ownership) -> bool {
        self.kind == key.kind && self.filter.permits_owned(&key.key, ownership)
    }
}

impl Deref for InstanceFilter {
    type Target = AccessFilter<Instance>;

    fn deref(&self) -> &AccessFilter<Instance> {
        &self.filter
    }
}

impl From<&AccessFilter<Run>> for InstanceFilter {
    fn from(filter: &AccessFilter<Run>) -> Self {
        Self { kind: DefinitionKind::Workflow, filter: filter.of_instances() }
    }
}

impl From<&AccessFilter<Case>> for InstanceFilter {
    fn from(filter: &AccessFilter<Case>) -> Self {
        Self { kind: DefinitionKind::Case, filter: filter.of_instances() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::CaseType;
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

    #[test]
    fn a_filter_lets_nothing_of_another_kind_through() {
        let tenant = TenantId(id(1));
        let key = |kind| InstanceKey::of_stored(tenant, kind, RunId(id(2)), WorkflowId(id(3)));
        let (run, case) = (key(DefinitionKind::Workflow), key(DefinitionKind::Case));
        let cases = InstanceFilter::from(&AccessFilter::<Case>::everything());
        assert!(cases.permits(&case) && !cases.permits(&run));
        let denied = AccessFilter::<Case>::everything().but_within::<CaseType>([CaseTypeId(id(3))]);
        let denied = InstanceFilter::from(&denied);
        assert!(!denied.permits(&case), "what is denied within a case type stays so");
        assert_eq!(denied.denied_within::<Definition>(), [WorkflowId(id(3))]);
    }
}
