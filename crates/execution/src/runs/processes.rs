//! Published processes by the names that clients of other products have for them: the process's id in the diagram, or a
//! number of one version of it.

use std::sync::Arc;
use std::time::Duration;

use heddle_kernel::{DefinitionKind, RunId, TenantId, WorkflowId};
use heddle_policy::capability::WorkflowRun;
use heddle_policy::{AccessFilter, Authorized, Key, resource};
use heddle_usecase::canonical_sha256;
use serde_json::json;

use super::Runs;
use crate::UseCaseError;
use crate::compiled::CompiledVersion;
use crate::ports::Standing;

/// The most names whose processes are remembered.
const CAPACITY: u64 = 10_000;
/// Time for which the process of a name is remembered: one that another workflow publishes meanwhile is found after it.
const REMEMBERED: Duration = Duration::from_secs(10);
/// The most versions of a workflow that are tried for a number, the newest first.
const VERSIONS: usize = 1_000;

/// Name of a published process.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ProcessName {
    /// Id of the process in the diagram.
    Id(String),
    /// Number of a version of the process, as [`process_number`] gives it.
    Number(i64),
}

/// A published process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedProcess {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The version that the name means: of an id the active one.
    pub version: i32,
    /// Id of the process in the diagram.
    pub process_id: String,
}

/// Number of a version of a process for clients that know things by numbers: positive, of 60 bits.
#[must_use]
pub fn process_number(workflow: WorkflowId, version: i32, process_id: &str) -> i64 {
    number(&canonical_sha256(&json!([workflow, version, process_id])))
}

/// Number of an instance of an element, as [`process_number`].
#[must_use]
pub fn instance_number(run: RunId, node_instance_id: &str) -> i64 {
    number(&canonical_sha256(&json!([run, node_instance_id])))
}

/// The first 60 bits of a digest in hex.
fn number(digest: &str) -> i64 {
    digest.get(..15).and_then(|digits| i64::from_str_radix(digits, 16).ok()).unwrap_or_default()
}

/// Processes that were found lately.
pub(super) struct Processes(moka::sync::Cache<(TenantId, ProcessName), Arc<PublishedProcess>>);

impl Default for Processes {
    fn default() -> Self {
        Self(moka::sync::Cache::builder().max_capacity(CAPACITY).time_to_live(REMEMBERED).build())
    }
}

impl Runs {
    /// The published process that a name means among the workflows that the caller may act on.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`ambiguous`) when several workflows have a process of this id.
    async fn process(
        &self,
        tenant: TenantId,
        access: &AccessFilter<resource::Workflow>,
        name: ProcessName,
    ) -> Result<PublishedProcess, UseCaseError> {
        let place = (tenant, name);
        if let Some(known) = self.processes.0.get(&place)
            && let Some(found) = self.named(tenant, known.workflow, &place.1).await?
        {
            return Ok(found);
        }
        let found = self.among(tenant, access, &place.1).await?.ok_or(UseCaseError::NotFound)?;
        // What only this caller's rights single out is not the same for everybody.
        if access.is_everything() {
            self.processes.0.insert(place, Arc::new(found.clone()));
        }
        Ok(found)
    }

    /// Key of the workflow of the process that a name means, for the gate.
    ///
    /// # Errors
    /// As [`Self::process`].
    pub async fn process_key(
        &self,
        tenant: TenantId,
        access: &AccessFilter<resource::Workflow>,
        name: ProcessName,
    ) -> Result<Key<resource::Workflow>, UseCaseError> {
        let found = self.process(tenant, access, name).await?;
        Ok(Key::of_stored(tenant, found.workflow, ()))
    }

    /// The process of a name in the workflow that the caller may start.
    ///
    /// # Errors
    /// `NotFound` when it has none of this name any more; `Unavailable`.
    pub async fn process_to_start(
        &self,
        authorized: &Authorized<WorkflowRun>,
        name: &ProcessName,
    ) -> Result<PublishedProcess, UseCaseError> {
        let found = self.named(authorized.tenant(), authorized.id(), name).await?;
        found.ok_or(UseCaseError::NotFound)
    }

    /// Looks for a process among the workflows that the store has under the name.
    async fn among(
        &self,
        tenant: TenantId,
        access: &AccessFilter<resource::Workflow>,
        name: &ProcessName,
    ) -> Result<Option<PublishedProcess>, UseCaseError> {
        let versions = self.ports.versions.of(DefinitionKind::Workflow)?;
        let candidates = match name {
            ProcessName::Id(id) => versions.callable(tenant, id).await?.processes,
            ProcessName::Number(number) => versions.numbered(tenant, *number).await?,
        };
        let mut found: Option<PublishedProcess> = None;
        for workflow in candidates {
            if !access.permits(&Key::of_stored(tenant, workflow, ())) {
                continue;
            }
            let Some(one) = self.named(tenant, workflow, name).await? else { continue };
            if let Some(other) = found.replace(one) {
                let message = format!(
                    "The workflows `{}` and `{workflow}` both have a process `{}`.",
                    other.workflow, other.process_id
                );
                return Err(UseCaseError::conflict("ambiguous", message));
            }
        }
        Ok(found)
    }

    /// The process of a name in a workflow, if it has one.
    async fn named(
        &self,
        tenant: TenantId,
        workflow: WorkflowId,
        name: &ProcessName,
    ) -> Result<Option<PublishedProcess>, UseCaseError> {
        let versions = self.ports.versions.of(DefinitionKind::Workflow)?;
        let standing = match versions.standing(tenant, workflow).await {
            Ok(standing) => standing,
            // It was deleted meanwhile.
            Err(heddle_usecase::StoreError::NotFound) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Standing { is_archived: false, latest: Some(latest) } = standing else { return Ok(None) };
        let compiled = match versions.plan(tenant, workflow, latest).await {
            Ok(compiled) => compiled,
            // One workflow that can't be read keeps nobody from the others.
            Err(UseCaseError::NotFound | UseCaseError::Internal(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(within(&compiled, workflow, latest, name))
    }
}

/// The process of a name among those of a workflow's active version; a number may be that of an earlier version.
fn within(
    compiled: &CompiledVersion,
    workflow: WorkflowId,
    latest: i32,
    name: &ProcessName,
) -> Option<PublishedProcess> {
    let found = |version: i32, id: &str| PublishedProcess { workflow, version, process_id: id.to_owned() };
    match name {
        // A global task is called, not started.
        ProcessName::Id(id) => {
            compiled.processes.iter().any(|process| *process.id == **id).then(|| found(latest, id))
        }
        ProcessName::Number(wanted) => {
            let versions = (1..=latest).rev().take(VERSIONS);
            let mut all = versions
                .flat_map(|version| compiled.processes.iter().map(move |process| (version, &*process.id)));
            all.find(|(version, id)| process_number(workflow, *version, id) == *wanted)
                .map(|(version, id)| found(version, id))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_number_is_positive_and_of_one_version() {
        let workflow = WorkflowId(Uuid::from_u128(7));
        let one = process_number(workflow, 1, "order");
        assert!(one > 0 && one < 1 << 60);
        assert_eq!(one, process_number(workflow, 1, "order"));
        for other in [
            process_number(workflow, 2, "order"),
            process_number(workflow, 1, "other"),
            process_number(WorkflowId(Uuid::from_u128(8)), 1, "order"),
            instance_number(RunId(Uuid::from_u128(7)), "order"),
        ] {
            assert_ne!(one, other);
        }
    }
}
