//! Processes and cases of other definitions that a workflow calls: one that is not published yet is told of, and nothing more, for it
//! may be when the activity is reached.

use std::collections::BTreeMap;

use heddle_bpmn::diagnostic;
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn_graph::{CallElsewhere, calls_elsewhere};
use heddle_definitions::DefinitionKey;
use heddle_definitions::records::DefinitionState;
use heddle_kernel::{DefinitionKind, Diagnostic, TenantId, UserId, WorkflowId};
use heddle_usecase::StoreError;

use crate::UseCaseError;
use crate::ports::DefinitionStore;

/// Most names of one definition that are looked up.
const MOST_NAMES: usize = 50;

/// Kinds of definitions that a call activity may mean, in the order in which they are looked up.
const KINDS: [DefinitionKind; 2] = [DefinitionKind::Workflow, DefinitionKind::Case];

/// Warnings of calls that would find nothing, or not one thing alone, if they were reached once the definition is published;
/// `own` is the workflow whose definition it is, where there is one already.
pub(super) async fn findings(
    store: &dyn DefinitionStore,
    tenant: TenantId,
    own: Option<DefinitionKey>,
    definition: &WorkflowDefinition,
) -> Result<Vec<Diagnostic>, UseCaseError> {
    let mut found = Vec::new();
    let mut looked: BTreeMap<String, Option<String>> = BTreeMap::new();
    for CallElsewhere { name, element_id, path } in calls_elsewhere(definition) {
        if !looked.contains_key(&name) {
            if looked.len() >= MOST_NAMES {
                continue;
            }
            looked.insert(name.clone(), problem(store, tenant, own, &name).await?);
        }
        if let Some(Some(sentence)) = looked.get(&name) {
            let one = diagnostic::warning("calledElsewhere", sentence.clone()).with_clause("10.3.6");
            found.push(one.with_element(element_id).with_path(path));
        }
    }
    Ok(found)
}

/// A sentence that says what is wrong with a name, as a call looks it up; none where it means one published definition.
async fn problem(
    store: &dyn DefinitionStore,
    tenant: TenantId,
    own: Option<DefinitionKey>,
    name: &str,
) -> Result<Option<String>, UseCaseError> {
    let shown = heddle_kernel::shortened(name);
    let is_own = |id: WorkflowId| own.is_some_and(|own| own.id() == id);
    if let Ok(id) = name.parse::<WorkflowId>() {
        if is_own(id) {
            return Ok(None);
        }
        for kind in KINDS {
            match store.standing(DefinitionKey::of_stored(tenant, kind, id)).await {
                Ok((DefinitionState::Published, _)) => return Ok(None),
                Ok(_) | Err(StoreError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let sentence = format!(
            "neither a workflow nor a case type `{shown}` is published: it must be when the activity is reached"
        );
        return Ok(Some(sentence));
    }
    for kind in KINDS {
        let mut named = store.callable(tenant, kind, name).await?;
        // A process of an earlier version of its own is gone once this one is published.
        named.processes.retain(|id| !is_own(*id));
        match (named.processes.len(), named.slug) {
            (1, _) | (0, Some(_)) => return Ok(None),
            (0, None) => {}
            (several, _) => {
                let sentence = format!(
                    "{several} published definitions have a process or case `{shown}`: the call needs the slug or the \
                     id of one of them"
                );
                return Ok(Some(sentence));
            }
        }
    }
    if let Some(own) = own
        && store.get(own, UserId(uuid::Uuid::nil())).await?.definition.slug == name
    {
        return Ok(None);
    }
    let sentence = format!(
        "neither this definition nor a published one has the process `{shown}`: it must be published when the activity \
         is reached"
    );
    Ok(Some(sentence))
}
