//! Reading runs and their history.

use std::sync::Arc;

use heddle_bpmn_graph::Graph;
use heddle_kernel::{Cursor, Page, PageRequest, RunId, TenantId};
use heddle_policy::capability::{RunList, RunRead};
use heddle_policy::{Authorized, AuthorizedListWithin, Key, RequestContext, resource};
use serde_json::Value;

use super::Runs;
use crate::UseCaseError;
use crate::ports::RunFilter;
use crate::records::Run;

/// Most stored slices that are read at once.
const SLICES: i64 = 64;

/// A run with the model it follows.
#[derive(Debug, Clone)]
pub struct RunView {
    /// The run.
    pub run: Run,
    /// Graph of its process.
    pub graph: Arc<Graph>,
}

/// Filter for the events of a run.
#[derive(Debug, Clone, Default)]
pub struct EventFilter {
    /// Sequence number behind which the events lie.
    pub after: u64,
    /// Types of the events; all when empty.
    pub types: Vec<String>,
    /// Node of the events.
    pub node_id: Option<String>,
}

impl EventFilter {
    fn wants(&self, event: &Value) -> bool {
        let is = |name: &str, wanted: &str| event.get(name).and_then(Value::as_str) == Some(wanted);
        sequence(event) > self.after
            && (self.types.is_empty() || self.types.iter().any(|wanted| is("type", wanted)))
            && self.node_id.as_ref().is_none_or(|node| is("nodeId", node))
    }
}

fn sequence(event: &Value) -> u64 {
    event.get("sequence").and_then(Value::as_u64).unwrap_or(0)
}

impl Runs {
    /// Key of a run, for work that names nothing else.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn key_of(&self, tenant: TenantId, run: RunId) -> Result<Key<resource::Run>, UseCaseError> {
        Ok(self.ports.runs.load(tenant, run).await?.key())
    }

    /// A page of a workflow's runs that the caller may read.
    ///
    /// # Errors
    /// `NotFound` for the workflow, `Invalid` for a foreign cursor.
    pub async fn list(
        &self,
        authorized: &AuthorizedListWithin<RunList>,
        context: &RequestContext,
        filter: &RunFilter,
        page: &PageRequest,
    ) -> Result<Page<RunView>, UseCaseError> {
        let (workflow, access) = (authorized.place().id(), authorized.filter());
        let found = self.ports.runs.list(context.tenant(), workflow, filter, access, page).await?;
        let mut items = Vec::with_capacity(found.items.len());
        for run in found.items {
            items.push(self.view(run).await?);
        }
        Ok(Page { items, next: found.next })
    }

    /// One run.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn get(&self, authorized: &Authorized<RunRead>) -> Result<RunView, UseCaseError> {
        self.view(self.load(authorized.key()).await?).await
    }

    /// A run with the model it follows.
    ///
    /// # Errors
    /// `Unavailable`; `Internal` when the stored version lacks the process.
    pub async fn view(&self, run: Run) -> Result<RunView, UseCaseError> {
        let graph = self.ports.models.process(run.tenant, run.workflow, run.version, &run.process_id).await?;
        Ok(RunView { run, graph })
    }

    /// The model of a run whose model was just used.
    #[must_use]
    pub fn model_now(&self, run: &Run) -> Option<Arc<Graph>> {
        self.ports.models.known(run.tenant, run.workflow, run.version, &run.process_id)
    }

    /// The same run as it is now.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn reload(&self, run: &Run) -> Result<Run, UseCaseError> {
        Ok(self.ports.runs.load(run.tenant, run.id).await?)
    }

    /// A page of a run's events, in order; the cursor is the last sequence number seen.
    ///
    /// # Errors
    /// `NotFound`, `Invalid` for a foreign cursor.
    pub async fn events(
        &self,
        authorized: &Authorized<RunRead>,
        filter: &EventFilter,
        page: &PageRequest,
    ) -> Result<Page<Value>, UseCaseError> {
        self.load(authorized.key()).await?;
        let mut after = filter.after;
        if let Some(cursor) = &page.cursor {
            let foreign =
                |_| UseCaseError::invalid("cursor", "notAllowed", "The cursor is not one of this list.");
            after = after.max(cursor.key::<u64>().map_err(foreign)?);
        }
        let wanted = EventFilter { after, ..filter.clone() };
        let limit = page.limit as usize;
        let mut items: Vec<Value> = Vec::new();
        loop {
            let events = self.events_behind(authorized.key(), after).await?;
            let Some(last) = events.last() else { return Ok(Page { items, next: None }) };
            after = sequence(last);
            items.extend(events.into_iter().filter(|event| wanted.wants(event)));
            if items.len() > limit {
                items.truncate(limit);
                let next = items.last().map(|event| Cursor::after(&sequence(event)));
                return Ok(Page { items, next });
            }
        }
    }

    /// The next stored events behind a sequence number: empty at the end. For the stream, which keeps its own place.
    ///
    /// # Errors
    /// `Unavailable`; `Internal` when a slice does not read.
    pub async fn events_behind(
        &self,
        key: &Key<resource::Run>,
        after: u64,
    ) -> Result<Vec<Value>, UseCaseError> {
        let run = key.id();
        let slices = self.ports.runs.events(key.tenant(), run, after, SLICES).await?;
        let mut events = Vec::new();
        for slice in slices {
            let read: Vec<Value> = serde_json::from_slice(&slice.events)
                .map_err(|error| UseCaseError::Internal(format!("events of {run} do not read: {error}")))?;
            events.extend(read.into_iter().filter(|event| sequence(event) > after));
        }
        Ok(events)
    }
}
