//! Filters of instances of one kind: a filter of runs or of cases with its kind, by which a list of rows of both is narrowed.

use std::ops::Deref;

use heddle_kernel::DefinitionKind;

use crate::filter::AccessFilter;
use crate::ownership::Ownership;
use crate::resource::{Case, Instance, InstanceKey, Run};

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
        self.kind == key.kind() && self.filter.permits_owned(key, ownership)
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
    use crate::resource::{CaseType, Definition};
    use heddle_kernel::{CaseTypeId, RunId, TenantId, WorkflowId};
    use uuid::Uuid;

    fn id(n: u128) -> Uuid {
        Uuid::from_u128(n)
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
