//! Workflows as a kind of definitions: BPMN, with DMN beside it.

use std::sync::Arc;

use async_trait::async_trait;
use heddle_bpmn_graph::{self as graph, Edition};
use heddle_bpmn_validate as validate;
use heddle_definitions::is_error;
use heddle_definitions::kind::{Entries, Examination, Imported, Kind, Written};
use heddle_definitions::records::{Start, StartKind};
use heddle_definitions::{Alarm, DefinitionKey};
use heddle_engine::Budget;
use heddle_kernel::{DefinitionKind, Diagnostic, Timestamp};
use serde_json::Value;

use super::deployments::KnownDeployments;
use super::transform::{SourceFormat, read, write_bpmn};
use super::{calls, deployments, people, publish};
use crate::UseCaseError;
use crate::models::{callable_names, compiled, meaning_of, typed};
use crate::ports::{DefinitionStore, Directory, Notifier};
use crate::records::Version;

/// Bell of the hub that wakes those who wait for timers.
pub struct TimerBell(Arc<dyn Notifier>);

impl std::fmt::Debug for TimerBell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TimerBell").finish_non_exhaustive()
    }
}

impl TimerBell {
    /// The bell of a hub.
    #[must_use]
    pub const fn new(hub: Arc<dyn Notifier>) -> Self {
        Self(hub)
    }
}

impl Alarm for TimerBell {
    fn timer_set(&self, due_at: Timestamp) {
        self.0.timer_set(due_at);
    }
}

/// The kind of workflows.
pub struct WorkflowKind {
    store: Arc<dyn DefinitionStore>,
    directory: Arc<dyn Directory>,
    budget: Budget,
    deployments: Option<Arc<dyn KnownDeployments>>,
}

impl std::fmt::Debug for WorkflowKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkflowKind").field("budget", &self.budget).finish_non_exhaustive()
    }
}

impl WorkflowKind {
    /// The kind, with the definitions that one may call, those who may be named in it, what a run may do, and which
    /// deployments of models there are, where somebody knows.
    #[must_use]
    pub const fn new(
        store: Arc<dyn DefinitionStore>,
        directory: Arc<dyn Directory>,
        budget: Budget,
        deployments: Option<Arc<dyn KnownDeployments>>,
    ) -> Self {
        Self { store, directory, budget, deployments }
    }
}

#[async_trait]
impl Kind for WorkflowKind {
    fn kind(&self) -> DefinitionKind {
        DefinitionKind::Workflow
    }

    fn edition(&self) -> i32 {
        Edition::NOW.number()
    }

    fn structure(&self, document: &Value) -> Result<Vec<Diagnostic>, UseCaseError> {
        Ok(validate::structure(&typed(document)?))
    }

    async fn examine(&self, key: DefinitionKey, document: &Value) -> Result<Examination, UseCaseError> {
        let definition = typed(document)?;
        let (mut diagnostics, executable) = publish::examine(&definition, &self.budget);
        // Who is named matters once the rest stands.
        if !diagnostics.iter().any(is_error) {
            let tenant = key.tenant();
            diagnostics.extend(people::findings(&*self.directory, tenant, &definition).await?);
            let known = self.deployments.as_deref();
            diagnostics.extend(deployments::findings(known, tenant, &definition).await?);
            diagnostics.extend(calls::findings(&*self.store, tenant, Some(key), &definition).await?);
        }
        Ok(Examination { diagnostics, executable })
    }

    fn entries(&self, document: &Value, version: &Version, now: Timestamp) -> Result<Entries, UseCaseError> {
        let compiled = compiled(&typed(document)?, meaning_of(version));
        let mut starts = Vec::new();
        for process in &compiled.processes {
            for start in process.start_bindings() {
                let kind = match start.kind {
                    graph::StartKind::Message => StartKind::Message,
                    graph::StartKind::Signal => StartKind::Signal,
                    graph::StartKind::Timer => StartKind::Timer,
                };
                // A start timer sees no variables; one that needs some was refused before.
                let schedule =
                    start.timer.and_then(|timer| timer.schedule(now, &serde_json::Map::new()).ok());
                starts.push(Start {
                    entry: process.id.to_string(),
                    node_id: start.node_id.to_string(),
                    kind,
                    name: start.name.map(|name| name.to_string()).unwrap_or_default(),
                    next_due_at: schedule.as_ref().map(|schedule| schedule.due_at),
                    timer: schedule.and_then(|schedule| serde_json::to_value(schedule).ok()),
                });
            }
        }
        Ok(Entries { starts, callable: callable_names(document) })
    }

    fn has_changed_meaning(
        &self,
        document: &Value,
        version: &Version,
        diagnostics: &[Diagnostic],
    ) -> Result<bool, UseCaseError> {
        // Lanes of an older version are candidate groups: the same text opens their tasks by now, as a new version.
        if version.lane_groups && diagnostics.iter().any(|one| one.code == "laneNotCandidates") {
            return Ok(true);
        }
        // So does what has got a meaning since.
        Ok(Edition::of(version.edition) != Edition::NOW && graph::depends_on_edition(&typed(document)?))
    }

    fn import(&self, bytes: &[u8]) -> Result<Imported, UseCaseError> {
        let read = read(SourceFormat::of_xml(bytes), bytes, None)?;
        let document = serde_json::to_value(&read.definition)
            .map_err(|error| UseCaseError::Internal(error.to_string()))?;
        let name = document.get("name").and_then(Value::as_str).map(str::to_owned);
        Ok(Imported { document, name, diagnostics: read.diagnostics })
    }

    fn export(&self, document: &Value) -> Result<Written, UseCaseError> {
        let mut diagnostics = Vec::new();
        let content = write_bpmn(&typed(document)?, &mut diagnostics)?;
        Ok(Written { content, media_type: "application/xml", diagnostics })
    }
}
