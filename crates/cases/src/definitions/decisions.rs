//! Decisions that a case type names: a task whose decision nobody has published stops its case, which its author wants to
//! know.

use std::collections::BTreeMap;
use std::sync::Arc;

use heddle_cmmn::plan::CasePlan;
use heddle_definitions::DefinitionKey;
use heddle_definitions::ports::DefinitionStore;
use heddle_execution::ports::decision_name;
use heddle_kernel::{DefinitionKind, Diagnostic, Severity, TenantId, WorkflowId};
use heddle_usecase::{StoreError, UseCaseError};

/// Most decisions of one definition that are looked up.
const MOST: usize = 200;

/// A warning for each decision that a task names by a text and that no published workflow has. What an expression names is
/// known when the task is done.
///
/// # Errors
/// `Unavailable`.
pub(super) async fn findings(
    store: &dyn DefinitionStore,
    tenant: TenantId,
    cases: &[Arc<CasePlan>],
) -> Result<Vec<Diagnostic>, UseCaseError> {
    let mut named = BTreeMap::new();
    for (name, task) in cases.iter().flat_map(|plan| plan.named_decisions()) {
        named.entry(name).or_insert(task);
    }
    let mut found = Vec::new();
    for (name, task) in named.into_iter().take(MOST) {
        if !is_published(store, tenant, name).await? {
            let message = format!("No published workflow has the id, a decision or the slug `{name}`.");
            let remedy = "Publish a workflow with this decision before a case comes to the task.";
            let one = Diagnostic::new(Severity::Warning, "unknownDecision", message);
            found.push(one.with_element(task).with_remedy(remedy).with_clause("5.4.10.4"));
        }
    }
    Ok(found)
}

/// Whether a task of this name has something to evaluate, as far as names tell.
async fn is_published(
    store: &dyn DefinitionStore,
    tenant: TenantId,
    name: &str,
) -> Result<bool, UseCaseError> {
    let kind = DefinitionKind::Workflow;
    if !store.callable(tenant, kind, &decision_name(name)).await?.processes.is_empty() {
        return Ok(true);
    }
    let Ok(id) = name.parse::<WorkflowId>() else {
        return Ok(store.callable(tenant, kind, name).await?.slug.is_some());
    };
    match store.standing(DefinitionKey::of_stored(tenant, kind, id)).await {
        Ok((_, latest)) => Ok(latest.is_some()),
        Err(StoreError::NotFound) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
