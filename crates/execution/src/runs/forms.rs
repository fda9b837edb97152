//! Forms of human tasks, ready to check values: a version is frozen, so that its node's form stays.

use std::sync::Arc;

use heddle_kernel::{TenantId, WorkflowId};

use crate::records::{HumanTask, Run};
use crate::schema::Checker;

/// The most forms that are kept ready.
const CAPACITY: u64 = 2_000;

/// Node of a version whose tasks have a form. Ids of definitions are apart whatever their kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    tenant: TenantId,
    definition: WorkflowId,
    version: i32,
    process: String,
    node: String,
}

/// Forms that were used lately.
pub(super) struct Forms(moka::sync::Cache<Key, Arc<Checker>>);

impl Default for Forms {
    fn default() -> Self {
        Self(moka::sync::Cache::new(CAPACITY))
    }
}

impl Forms {
    /// The form of a task of the instance; none where it has none.
    pub(super) fn of(&self, run: &Run, task: &HumanTask) -> Option<Arc<Checker>> {
        let form = task.form.as_ref()?;
        let key = Key {
            tenant: run.tenant,
            definition: run.workflow,
            version: run.version,
            process: run.process_id.clone(),
            node: task.node_id.clone(),
        };
        Some(self.0.get_with(key, || Arc::new(Checker::new(form))))
    }
}
