//! Decisions that a case type names: a task whose decision nobody has published stops its case, which its author wants to
//! know.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use heddle_cmmn::plan::CasePlan;
use heddle_definitions::DefinitionKey;
use heddle_definitions::ports::DefinitionStore;
use heddle_execution::ports::decision_name;
use heddle_kernel::{DefinitionKind, Diagnostic, Severity, TenantId, WorkflowId};
use heddle_usecase::{StoreError, UseCaseError};

/// Most decisions of one definition that are looked up.
const MOST: usize = 200;

/// A warning for each decision that a task names and that no published workflow has, and for each task whose expression
/// names it only when a case comes to it.
///
/// # Errors
/// `Unavailable`.
pub(super) async fn findings(
    store: &dyn DefinitionStore,
    tenant: TenantId,
    cases: &[Arc<CasePlan>],
) -> Result<Vec<Diagnostic>, UseCaseError> {
    let (mut named, mut computed) = (BTreeMap::new(), BTreeSet::new());
    for (name, task) in cases.iter().flat_map(|plan| plan.named_decisions()) {
        match name {
            Some(name) => {
                named.entry(name).or_insert(task);
            }
            None => {
                computed.insert(task);
            }
        }
    }
    let mut found: Vec<Diagnostic> = computed.into_iter().take(MOST).map(by_expression).collect();
    for (name, task) in named.into_iter().take(MOST) {
        if !is_published(store, tenant, &name).await? {
            let message = format!("No published workflow has the id, a decision or the slug `{name}`.");
            let remedy = "Publish a workflow with this decision before a case comes to the task.";
            let one = Diagnostic::new(Severity::Warning, "unknownDecision", message);
            found.push(one.with_element(task).with_remedy(remedy).with_clause("5.4.10.4"));
        }
    }
    Ok(found)
}

/// Warning about a task of which nobody can tell before whether its decision is there.
fn by_expression(task: &str) -> Diagnostic {
    let message = "An expression names the decision: whether a published workflow has it shows when a case comes to the task.";
    let remedy = "Name the decision by a text, or publish each that the expression may name.";
    let one = Diagnostic::new(Severity::Warning, "decisionByExpression", message);
    one.with_element(task).with_remedy(remedy).with_clause("5.4.10.4")
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
