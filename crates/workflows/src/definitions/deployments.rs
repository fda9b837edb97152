//! Deployments of models that a definition names: one that is not there yet is told of, and nothing more, for it may be
//! there when a run asks.

use std::collections::BTreeMap;

use async_trait::async_trait;
use heddle_bpmn::diagnostic;
use heddle_bpmn::model::{WorkflowDefinition, nodes};
use heddle_kernel::{Diagnostic, TenantId};
use heddle_settings::service::deployment_of;
use heddle_usecase::StoreError;

use crate::UseCaseError;

/// Most names of one definition that are looked up.
const MOST_NAMES: usize = 50;

/// Knows which deployments of models an organisation has.
#[async_trait]
pub trait KnownDeployments: Send + Sync {
    /// Whether there is a deployment of this alias or id.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn is_known(&self, tenant: TenantId, name: &str) -> Result<bool, StoreError>;
}

/// Warnings of names of deployments that are not there.
pub(super) async fn findings(
    known: Option<&dyn KnownDeployments>,
    tenant: TenantId,
    definition: &WorkflowDefinition,
) -> Result<Vec<Diagnostic>, UseCaseError> {
    let Some(known) = known else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let mut looked: BTreeMap<String, bool> = BTreeMap::new();
    for at in nodes(definition) {
        let Some(settings) = &at.node.configuration else { continue };
        // What is computed is known when it is asked.
        let Some(name) = deployment_of(settings) else { continue };
        let is_known = match looked.get(name) {
            Some(is_known) => *is_known,
            None if looked.len() >= MOST_NAMES => continue,
            None => {
                let is_known = known.is_known(tenant, name).await?;
                looked.insert(name.to_owned(), is_known);
                is_known
            }
        };
        if !is_known {
            let sentence =
                format!("model: the organisation has no deployment `{}`", heddle_kernel::shortened(name));
            let one = diagnostic::warning("unknownDeployment", sentence).with_clause("10.3.3.1");
            let one = one.with_element(at.node.element_id().unwrap_or_default());
            found.push(one.with_path(format!("{}.configuration.model", at.path)));
        }
    }
    Ok(found)
}
