//! Reading runs and their history.

use std::borrow::Cow;
use std::sync::Arc;

use heddle_bpmn_graph::Graph;
use heddle_kernel::{CaseId, Cursor, DefinitionKind, Page, PageRequest, RunId, TenantId};
use heddle_policy::capability::{CaseRead, RunList, RunRead, WorkflowRun};
use heddle_policy::{
    Authorized, AuthorizedList, AuthorizedListWithin, Capability, InstanceFilter, InstanceKey, Key,
    Ownership, RequestContext, Snapshot, resource,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Runs;
use super::advance::lost;
use crate::UseCaseError;
use crate::compiled::Plan;
use crate::ports::RunFilter;
use crate::records::{CalledRun, Progress, Run};

/// Most stored slices that are read at once.
const SLICES: i64 = 64;
/// Most bytes of a page of events; one event is on it whatever its size.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// A run with the model it follows.
#[derive(Debug, Clone)]
pub struct RunView {
    /// The run.
    pub run: Run,
    /// Graph of its process.
    pub graph: Arc<Graph>,
}

/// A run of a list over all workflows.
#[derive(Debug, Clone)]
pub struct ListedRun {
    /// The run.
    pub run: Run,
    /// Graph of its process; none when its version does not read.
    pub graph: Option<Arc<Graph>>,
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
    fn wants(&self, event: &Head<'_>) -> bool {
        event.sequence > self.after
            && (self.types.is_empty() || self.types.iter().any(|wanted| *wanted == event.kind))
            && self.node_id.as_ref().is_none_or(|node| event.node_id.as_ref() == Some(&Cow::from(node)))
    }
}

/// An event of a run as it is stored, without a look into its data.
#[derive(Debug, Clone)]
pub struct StoredEvent {
    /// Sequence number within the run.
    pub sequence: u64,
    /// Type of the event, such as `node.activated`.
    pub kind: String,
    /// The element, where the event is about one.
    pub node_id: Option<String>,
    /// All of the event.
    pub json: Box<RawValue>,
}

/// Members of a stored event by which it is chosen.
#[derive(Deserialize)]
pub(super) struct Head<'a> {
    /// Sequence number within the run.
    pub sequence: u64,
    /// Type of the event.
    #[serde(rename = "type", borrow)]
    pub kind: Cow<'a, str>,
    #[serde(rename = "nodeId", borrow, default)]
    node_id: Option<Cow<'a, str>>,
}

/// Events that are read until there are enough of them.
struct Reading<'a> {
    filter: &'a EventFilter,
    most: usize,
    most_bytes: usize,
    bytes: usize,
    events: Vec<StoredEvent>,
}

impl Reading<'_> {
    /// Takes the wanted events of a slice; whether there was room for all of them.
    fn take(&mut self, slice: &[u8]) -> serde_json::Result<bool> {
        for event in serde_json::from_slice::<Vec<&RawValue>>(slice)? {
            let head: Head<'_> = serde_json::from_str(event.get())?;
            if !self.filter.wants(&head) {
                continue;
            }
            let bytes = self.bytes + event.get().len();
            if self.events.len() >= self.most || (bytes > self.most_bytes && !self.events.is_empty()) {
                return Ok(false);
            }
            self.bytes = bytes;
            self.events.push(StoredEvent {
                sequence: head.sequence,
                kind: head.kind.into_owned(),
                node_id: head.node_id.map(Cow::into_owned),
                json: event.to_owned(),
            });
        }
        Ok(true)
    }
}

impl Runs {
    /// Key of a run, for work that names nothing else.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn key_of(&self, tenant: TenantId, run: RunId) -> Result<Key<resource::Run>, UseCaseError> {
        let run = self.ports.runs.load(tenant, DefinitionKind::Workflow, run).await?;
        run.key().run().ok_or(UseCaseError::NotFound)
    }

    /// Key of a case, for work that names nothing else.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn key_of_case(
        &self,
        tenant: TenantId,
        case: CaseId,
    ) -> Result<Key<resource::Case>, UseCaseError> {
        let case = self.ports.runs.load(tenant, DefinitionKind::Case, case.into()).await?;
        case.key().case().ok_or(UseCaseError::NotFound)
    }

    /// Whether a run is the caller's own, where a rule about `C` asks for that; else nobody looks.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn ownership<C>(&self, caller: &Snapshot, run: RunId) -> Result<Ownership, UseCaseError>
    where
        C: Capability<On = resource::Run>,
    {
        if !caller.asks_ownership::<C>() {
            return Ok(Ownership::Unknown);
        }
        self.owned(caller, run).await
    }

    /// Whether a run is the caller's own. One that is not there is nobody's.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn owned(&self, caller: &Snapshot, run: RunId) -> Result<Ownership, UseCaseError> {
        let own = self.ports.runs.own_among(caller.tenant(), caller.person(), &[run]).await?;
        Ok(Ownership::of(own.contains(&run)))
    }

    /// The runs that were called, without those that the caller may not read.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn readable(
        &self,
        caller: &Snapshot,
        mut called: Vec<CalledRun>,
    ) -> Result<Vec<CalledRun>, UseCaseError> {
        let own = match caller.asks_ownership::<RunRead>() {
            true => {
                let ids: Vec<RunId> = called.iter().map(|child| child.id).collect();
                Some(self.ports.runs.own_among(caller.tenant(), caller.person(), &ids).await?)
            }
            false => None,
        };
        called.retain(|child| {
            let ownership =
                own.as_ref().map_or(Ownership::Unknown, |own| Ownership::of(own.contains(&child.id)));
            let key = InstanceKey::of_stored(caller.tenant(), child.kind, child.id, child.workflow);
            // Of cases nobody asks whose they are: a rule about one's own gives nothing there, and takes all.
            key.run().is_some_and(|key| caller.authorize_owned::<RunRead>(key, ownership).is_ok())
                || key.case().is_some_and(|key| caller.authorize_key::<CaseRead>(key).is_ok())
        });
        Ok(called)
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
        let (workflow, access) = (authorized.place().id(), InstanceFilter::from(authorized.filter()));
        let found = self.ports.runs.list(context.tenant(), workflow, filter, &access, page).await?;
        let mut items = Vec::with_capacity(found.items.len());
        for run in found.items {
            items.push(self.view(run).await?);
        }
        Ok(Page { items, next: found.next })
    }

    /// A page of the runs of all workflows that the caller may read, each with its model where that is at hand: a run whose
    /// version does not read is shown without the tokens that wait at joins, and hides no other.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn list_all(
        &self,
        authorized: &AuthorizedList<RunList>,
        context: &RequestContext,
        filter: &RunFilter,
        page: &PageRequest,
    ) -> Result<Page<ListedRun>, UseCaseError> {
        let access = InstanceFilter::from(authorized.filter());
        let found = self.ports.runs.list_all(context.tenant(), filter, &access, page).await?;
        let mut items = Vec::with_capacity(found.items.len());
        for run in found.items {
            let graph = match self.graph_of(&run).await {
                Ok(graph) => Some(graph),
                Err(UseCaseError::Unavailable(error)) => return Err(UseCaseError::Unavailable(error)),
                Err(error) => {
                    tracing::warn!(%error, run = %run.id, "the model of a run does not read");
                    None
                }
            };
            items.push(ListedRun { run, graph });
        }
        Ok(Page { items, next: found.next })
    }

    /// One run.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn get(&self, authorized: &Authorized<RunRead>) -> Result<RunView, UseCaseError> {
        self.view(self.load(&authorized.key().into()).await?).await
    }

    /// Progress of a run: for whoever follows its events, and does not want its state.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn progress(&self, authorized: &Authorized<RunRead>) -> Result<Progress, UseCaseError> {
        Ok(self.ports.runs.progress(&authorized.key().into()).await?)
    }

    /// The process that a run follows.
    async fn graph_of(&self, run: &Run) -> Result<Arc<Graph>, UseCaseError> {
        self.plan_of(run).await?.process().cloned().ok_or_else(|| lost(run))
    }

    /// A run with the model it follows.
    ///
    /// # Errors
    /// `Unavailable`; `Internal` when the stored version lacks the process.
    pub async fn view(&self, run: Run) -> Result<RunView, UseCaseError> {
        let graph = self.graph_of(&run).await?;
        Ok(RunView { run, graph })
    }

    /// The model of a run whose model was just used.
    #[must_use]
    pub fn model_now(&self, run: &Run) -> Option<Arc<Graph>> {
        let versions = self.ports.versions.of(run.kind).ok()?;
        versions.known(run.tenant, run.workflow, run.version)?.process(&run.process_id).cloned()
    }

    /// The compiled model of an instance whose model was just used.
    #[must_use]
    pub fn plan_now(&self, run: &Run) -> Option<Plan> {
        let versions = self.ports.versions.of(run.kind).ok()?;
        versions.known(run.tenant, run.workflow, run.version)?.plan(&run.process_id)
    }

    /// A run of the workflow that the caller may start runs of: for the repeat of the call that started it.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn started(
        &self,
        authorized: &Authorized<WorkflowRun>,
        run: RunId,
    ) -> Result<Run, UseCaseError> {
        let run = self.ports.runs.load(authorized.tenant(), DefinitionKind::Workflow, run).await?;
        if run.workflow == authorized.id() { Ok(run) } else { Err(UseCaseError::NotFound) }
    }

    /// The same run as it is now.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn reload(&self, run: &Run) -> Result<Run, UseCaseError> {
        Ok(self.ports.runs.load(run.tenant, run.kind, run.id).await?)
    }

    /// A page of a run's events, in order; the cursor is the last sequence number seen. A page has fewer events than
    /// asked for when they are large.
    ///
    /// # Errors
    /// `NotFound`, `Invalid` for a foreign cursor.
    pub async fn events(
        &self,
        authorized: &Authorized<RunRead>,
        filter: &EventFilter,
        page: &PageRequest,
    ) -> Result<Page<StoredEvent>, UseCaseError> {
        self.instance_events(&authorized.key().into(), filter, page).await
    }

    /// The same of an instance of either kind.
    ///
    /// # Errors
    /// As [`Self::events`].
    pub async fn instance_events(
        &self,
        key: &InstanceKey,
        filter: &EventFilter,
        page: &PageRequest,
    ) -> Result<Page<StoredEvent>, UseCaseError> {
        self.load(key).await?;
        let mut after = filter.after;
        if let Some(cursor) = &page.cursor {
            let foreign =
                |_| UseCaseError::invalid("cursor", "notAllowed", "The cursor is not one of this list.");
            after = after.max(cursor.key::<u64>().map_err(foreign)?);
        }
        let wanted = EventFilter { after, ..filter.clone() };
        let most = page.limit as usize;
        let mut reading =
            Reading { filter: &wanted, most, most_bytes: PAGE_BYTES, bytes: 0, events: Vec::new() };
        let whole = self.read_events(key, &mut reading, Until::End).await?;
        let next = reading.events.last().filter(|_| !whole).map(|event| Cursor::after(&event.sequence));
        Ok(Page { items: reading.events, next })
    }

    /// The next stored events behind a sequence number, of so many bytes or a single larger one: empty at the end. For
    /// the stream, which keeps its own place.
    ///
    /// # Errors
    /// `Unavailable`; `Internal` when a slice does not read.
    pub async fn events_behind(
        &self,
        key: &InstanceKey,
        after: u64,
        bytes: usize,
    ) -> Result<Vec<StoredEvent>, UseCaseError> {
        let filter = EventFilter { after, ..EventFilter::default() };
        let mut reading =
            Reading { filter: &filter, most: usize::MAX, most_bytes: bytes, bytes: 0, events: Vec::new() };
        self.read_events(key, &mut reading, Until::FirstLot).await?;
        Ok(reading.events)
    }

    /// Reads stored slices one lot after the other; whether all that was wanted had room.
    async fn read_events(
        &self,
        key: &InstanceKey,
        reading: &mut Reading<'_>,
        until: Until,
    ) -> Result<bool, UseCaseError> {
        let mut after = reading.filter.after;
        loop {
            let slices = self.ports.runs.events(key, after, SLICES).await?;
            let Some(last) = slices.last() else { return Ok(true) };
            after = last.last_sequence;
            for slice in &slices {
                let room = reading.take(&slice.events).map_err(|error| {
                    UseCaseError::Internal(format!("events of {} do not read: {error}", key.id()))
                })?;
                if !room {
                    return Ok(false);
                }
            }
            if matches!(until, Until::FirstLot) {
                return Ok(true);
            }
        }
    }
}

/// Point at which a reading of slices ends by itself.
#[derive(Clone, Copy)]
enum Until {
    /// The first lot.
    FirstLot,
    /// The last slice of the run.
    End,
}
