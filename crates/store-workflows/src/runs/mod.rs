//! Runs: their rows, events, waits, tasks and the inbox.

mod called;
mod events;
mod feed;
mod inbox;
mod jobs;
pub(crate) use inbox::is_kept;
mod list;
mod own;
mod purge;
pub(crate) use purge::remove_runs;
pub(crate) mod tasks;
mod waits;
mod work_list;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::schema::runs;
use async_trait::async_trait;
use diesel::{ExpressionMethods, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_engine::State;
use heddle_kernel::{
    DefinitionKind, EventId, Page, PageRequest, RunId, TaskId, TenantId, Timestamp, WorkflowId,
};
use heddle_policy::{InstanceFilter, InstanceKey, Person};
use heddle_store::document::{decode, encode};
use heddle_store::tombstone::{self, Tombstone};
use heddle_store::{Db, Id, read};
use heddle_usecase::{Admission, Compute, InPlace, Journal, StoreError, computed};
use heddle_workflows::ports::{
    EventSlice, FeedEnd, FeedPosition, FeedRead, MatchedSubscription, RunFilter, RunStore, TaskFilter,
    Transaction, WriteTurn,
};
use heddle_workflows::quotas::QuotaSource;
use heddle_workflows::records::{BindingKind, CalledRun, HumanTask, InboxEvent, Progress, Run, StartBinding};
use serde_json::Value;

use crate::quotas::Guard;
use crate::rows::counted;
use crate::schema::{DataStoreRow, RunDbRow, data_stores};
use crate::words::{DefinitionKindWord, RunStateWord};
use crate::{commit, tomb};

/// Most instances that one query asks for by their ids.
const KEYS_AT_ONCE: usize = 500;

diesel::define_sql_function! {
    /// Number of bytes of a column, which are not read for it.
    fn octet_length(bytes: diesel::sql_types::Binary) -> diesel::sql_types::Integer;
}

/// Runs in the database.
#[derive(Clone)]
pub struct SqlRunStore {
    db: Db,
    guard: Guard,
    compute: Arc<dyn Compute>,
}

/// Bytes of a stored state from which on it is read on the threads that compute.
const LARGE: usize = 16 << 10;

impl std::fmt::Debug for SqlRunStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlRunStore").finish_non_exhaustive()
    }
}

impl SqlRunStore {
    /// Store in this database, whose schema is up to date.
    #[must_use]
    pub fn new(db: Db) -> Self {
        Self { db, guard: Guard::default(), compute: Arc::new(InPlace) }
    }

    /// The same with quotas of their own, which may change from one commit to the next.
    #[must_use]
    pub fn with_quotas(self, quotas: Arc<dyn QuotaSource>) -> Self {
        Self { guard: Guard::new(quotas), ..self }
    }

    /// The same with threads on which large states are read.
    #[must_use]
    pub fn with_compute(self, compute: Arc<dyn Compute>) -> Self {
        Self { compute, ..self }
    }

    /// Has the numbers of commits go on behind those that are stored: for the start, before anything is written. On
    /// PostgreSQL a database that was put back into a new cluster would begin with small ones again.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn go_on(&self) -> Result<(), StoreError> {
        feed::go_on(&self.db).await
    }

    /// The database.
    pub(crate) const fn db(&self) -> &Db {
        &self.db
    }

    /// The run of a row: a large one is made in its organisation's turn.
    async fn record(&self, tenant: TenantId, row: RunDbRow) -> Result<Run, StoreError> {
        if row.snapshot.len() + row.input.len() < LARGE {
            return Ok(row.record()?);
        }
        let read = computed(&*self.compute, tenant, Admission::Take, move || row.record());
        // Only a panic or the end of the program gives no result.
        Ok(read.await.map_err(|error| StoreError::Unavailable(error.to_string()))??)
    }
}

/// Refuses a run that is not the owner's, where the key names one. Looked up behind the run's row: what was read is not newer
/// than whose it is.
macro_rules! only_own {
    ($conn:expr, $key:expr) => {
        if let Some(person) = $key.owner() {
            let own = own::among($key.tenant(), person, &[Id::from($key.id())]);
            let own: Vec<(Id,)> = own.load($conn).await?;
            if own.is_empty() {
                return Err(StoreError::NotFound.into());
            }
        }
    };
}

#[async_trait]
impl RunStore for SqlRunStore {
    async fn commit(&self, units: Vec<Transaction>) -> Vec<Result<(), StoreError>> {
        commit::commit(&self.db, &self.guard, units, None).await
    }

    async fn commit_in_turn(&self, units: Vec<Transaction>, turn: WriteTurn) -> Vec<Result<(), StoreError>> {
        commit::commit(&self.db, &self.guard, units, Some(turn)).await
    }

    fn pack(&self, state: &State) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(Some(encode(state)?))
    }

    async fn find(&self, key: &InstanceKey) -> Result<Run, StoreError> {
        let row = read!(&self.db, |conn| {
            let row: RunDbRow = runs::table
                .find((Id::from(key.tenant()), Id::from(key.id())))
                .filter(runs::kind.eq(DefinitionKindWord(key.kind())))
                .filter(runs::workflow_id.eq(Id::from(key.within())))
                .select(RunDbRow::as_select())
                .first(conn)
                .await?;
            only_own!(conn, key);
            Ok(row)
        })?;
        self.record(key.tenant(), row).await
    }

    async fn progress(&self, key: &InstanceKey) -> Result<Progress, StoreError> {
        read!(&self.db, |conn| {
            let (state, last_sequence): (RunStateWord, i64) = runs::table
                .find((Id::from(key.tenant()), Id::from(key.id())))
                .filter(runs::kind.eq(DefinitionKindWord(key.kind())))
                .filter(runs::workflow_id.eq(Id::from(key.within())))
                .select((runs::state, runs::last_sequence))
                .first(conn)
                .await?;
            only_own!(conn, key);
            Ok(Progress { state: state.0, last_sequence: counted(last_sequence) })
        })
    }

    async fn data_stores(
        &self,
        tenant: TenantId,
        names: &[String],
    ) -> Result<BTreeMap<String, Value>, StoreError> {
        read!(&self.db, |conn| {
            let rows: Vec<DataStoreRow> = data_stores::table
                .filter(data_stores::organization_id.eq(Id::from(tenant)))
                .filter(data_stores::name.eq_any(names))
                .select(DataStoreRow::as_select())
                .load(conn)
                .await?;
            let values: Result<BTreeMap<String, Value>, heddle_store::Error> =
                rows.into_iter().map(|row| Ok((row.name, decode(&row.value)?))).collect();
            values
        })
    }

    async fn own_among(
        &self,
        tenant: TenantId,
        person: &Person,
        runs: &[RunId],
    ) -> Result<HashSet<RunId>, StoreError> {
        own::of(&self.db, tenant, person, runs).await
    }

    async fn instance_keys(&self, tenant: TenantId, ids: &[RunId]) -> Result<Vec<InstanceKey>, StoreError> {
        let mut found = Vec::new();
        for some in ids.chunks(KEYS_AT_ONCE) {
            let rows = read!(&self.db, |conn| {
                let rows: Vec<(Id, DefinitionKindWord, Id)> = runs::table
                    .filter(runs::organization_id.eq(Id::from(tenant)))
                    .filter(runs::id.eq_any(some.iter().copied().map(Id::from)))
                    .select((runs::id, runs::kind, runs::workflow_id))
                    .load(conn)
                    .await?;
                Ok(rows)
            })?;
            let key = |(id, kind, of): (Id, DefinitionKindWord, Id)| {
                InstanceKey::of_stored(tenant, kind.0, id.into(), of.into())
            };
            found.extend(rows.into_iter().map(key));
        }
        Ok(found)
    }

    async fn load(&self, tenant: TenantId, kind: DefinitionKind, run: RunId) -> Result<Run, StoreError> {
        let row = read!(&self.db, |conn| {
            let row: RunDbRow = runs::table
                .find((Id::from(tenant), Id::from(run)))
                .filter(runs::kind.eq(DefinitionKindWord(kind)))
                .select(RunDbRow::as_select())
                .first(conn)
                .await?;
            Ok(row)
        })?;
        self.record(tenant, row).await
    }

    async fn load_any(&self, tenant: TenantId, run: RunId) -> Result<Run, StoreError> {
        let row = read!(&self.db, |conn| {
            let row: RunDbRow = runs::table
                .find((Id::from(tenant), Id::from(run)))
                .select(RunDbRow::as_select())
                .first(conn)
                .await?;
            Ok(row)
        })?;
        self.record(tenant, row).await
    }

    async fn list(
        &self,
        tenant: TenantId,
        workflow: WorkflowId,
        filter: &RunFilter,
        access: &InstanceFilter,
        page: &PageRequest,
    ) -> Result<Page<Run>, StoreError> {
        list::list(&self.db, tenant, workflow, filter, access, page).await
    }

    async fn list_all(
        &self,
        tenant: TenantId,
        filter: &RunFilter,
        access: &InstanceFilter,
        page: &PageRequest,
    ) -> Result<Page<Run>, StoreError> {
        list::all(&self.db, tenant, filter, access, page).await
    }

    async fn feed_end(&self, tenant: TenantId) -> Result<FeedEnd, StoreError> {
        feed::end(&self.db, tenant).await
    }

    async fn feed(
        &self,
        tenant: TenantId,
        workflow: Option<WorkflowId>,
        access: &[InstanceFilter],
        after: FeedPosition,
        bytes: usize,
    ) -> Result<FeedRead, StoreError> {
        feed::behind(&self.db, &feed::Look { tenant, workflow, access, after, bytes }).await
    }

    async fn events(&self, key: &InstanceKey, after: u64, limit: i64) -> Result<Vec<EventSlice>, StoreError> {
        events::behind(&self.db, key, after, limit).await
    }

    async fn called_by(&self, caller: &InstanceKey, limit: i64) -> Result<Vec<CalledRun>, StoreError> {
        called::by(&self.db, caller, limit).await
    }

    async fn purge(&self, key: &InstanceKey, unit: &Journal) -> Result<(), StoreError> {
        purge::purge(&self.db, key, unit).await
    }

    async fn was_purged(&self, key: &InstanceKey) -> Result<bool, StoreError> {
        // Ids of definitions are apart whatever their kind: a case is of no workflow.
        let (tenant, run, grave) = (key.tenant(), key.id(), tomb::run_of(key.within().into()));
        let is_run = key.kind() == DefinitionKind::Workflow;
        read!(&self.db, |conn| {
            Ok(tombstone::exists(conn, Tombstone::of(tenant, &grave, run)).await?
                || (is_run && tombstone::exists(conn, Tombstone::of(tenant, tomb::RUN, run)).await?))
        })
    }

    async fn matching<'a>(
        &self,
        tenant: TenantId,
        kind: BindingKind,
        name: &'a str,
        correlation_key: Option<&'a str>,
    ) -> Result<Vec<MatchedSubscription>, StoreError> {
        waits::matching(&self.db, tenant, kind, name, correlation_key).await
    }

    async fn matching_starts(
        &self,
        tenant: TenantId,
        kind: BindingKind,
        name: &str,
    ) -> Result<Vec<StartBinding>, StoreError> {
        waits::matching_starts(&self.db, tenant, kind, name).await
    }

    async fn tasks(
        &self,
        tenant: TenantId,
        filter: &TaskFilter,
        access: &[InstanceFilter],
        page: &PageRequest,
    ) -> Result<Page<HumanTask>, StoreError> {
        tasks::list(&self.db, tenant, filter, access, page).await
    }

    async fn task_run(&self, tenant: TenantId, task: TaskId) -> Result<InstanceKey, StoreError> {
        tasks::run_of(&self.db, tenant, task).await
    }

    async fn task(&self, tenant: TenantId, task: TaskId) -> Result<HumanTask, StoreError> {
        tasks::one(&self.db, tenant, task).await
    }

    async fn inbox_event(&self, tenant: TenantId, id: EventId) -> Result<InboxEvent, StoreError> {
        inbox::one(&self.db, tenant, id).await
    }

    async fn inbox_by_key(&self, tenant: TenantId, key: &str) -> Result<Option<InboxEvent>, StoreError> {
        inbox::by_key(&self.db, tenant, key).await
    }

    async fn buffered<'a>(
        &self,
        tenant: TenantId,
        event_type: &'a str,
        correlation_key: Option<&'a str>,
        now: Timestamp,
    ) -> Result<Vec<InboxEvent>, StoreError> {
        inbox::buffered(&self.db, tenant, event_type, correlation_key, now).await
    }

    async fn sweep(&self, now: Timestamp) -> Result<u64, StoreError> {
        // What keeps the one from being swept keeps not the other.
        let (events, jobs) = (inbox::sweep(&self.db, now).await, crate::jobs::sweep(&self.db, now).await);
        Ok(events? + jobs?)
    }
}
