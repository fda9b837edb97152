//! Records for tests, and counts of rows.

use std::sync::LazyLock;

use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;
use heddle_definitions::DefinitionKey;
use heddle_definitions::records::{Start, StartKind};
use heddle_engine::State;
use heddle_kernel::{
    DefinitionKind, EventId, IdSource, PageRequest, Patch, Revision, RunId, SequentialIds, TaskId, TenantId,
    Timestamp, UserId, WorkflowId,
};
use heddle_policy::{AccessFilter, InstanceFilter, resource};
use heddle_store::{Db, read, write_tx};
use heddle_store_workflows::{SqlRunStore, SqlWorkStore, SqlWorkflowStore};
use heddle_usecase::{Actor, ActorKind, AuditEntry, IdempotencyRecord, Journal, Outcome};
use heddle_workflows::ports::{
    DefinitionStore, Queue, RunStore, RunWrite, Transaction, Turn, WorkStore, WorkflowWrite,
};
use heddle_workflows::records::{
    BindingKind, Draft, HumanTask, InboxEvent, InboxState, PendingWork, Run, RunState, StartBinding,
    SubscriptionRow, TaskState, TimerRow, TriggerKind, TriggerRecord, Workflow, WorkflowState,
};
use serde_json::json;

static IDS: LazyLock<SequentialIds> = LazyLock::new(SequentialIds::default);

/// An instant, in seconds.
pub(crate) const fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((1_700_000_000 + seconds) * 1_000_000)
}

pub(crate) fn id<T>(make: fn(uuid::Uuid) -> T) -> T {
    make(IDS.next(at(0)))
}

pub(crate) fn tenant() -> TenantId {
    id(TenantId)
}

pub(crate) fn page(limit: u32) -> PageRequest {
    PageRequest { limit, cursor: None }
}

pub(crate) fn stores(db: &Db) -> (SqlWorkflowStore, SqlRunStore) {
    (SqlWorkflowStore::new(db.clone()), SqlRunStore::new(db.clone()))
}

pub(crate) fn unit(tenant: TenantId, at: Timestamp) -> Journal {
    let audit = AuditEntry {
        id: id(EventId),
        tenant: Some(tenant),
        at,
        actor: Actor {
            kind: ActorKind::User,
            id: Some("u".to_owned()),
            display: "U".to_owned(),
            credential: None,
        },
        action: "tested".to_owned(),
        resource_type: "workflow".to_owned(),
        resource_id: None,
        target: None,
        outcome: Outcome::Succeeded,
        request_id: "r".to_owned(),
        client_ip: None,
        details: json!({"a": [1, null]}),
    };
    Journal { audit: Some(audit), ..Journal::default() }
}

pub(crate) fn with_key(tenant: TenantId, key: &str, created_at: Timestamp) -> Journal {
    let record = IdempotencyRecord {
        tenant,
        operation: "startRun".to_owned(),
        key: key.to_owned(),
        body_sha256: "00".to_owned(),
        status: 201,
        body: b"{}".to_vec(),
        etag: Some("1".to_owned()),
        location: None,
        created_at,
    };
    Journal { idempotency: Some(record), ..unit(tenant, created_at) }
}

pub(crate) fn workflow(tenant: TenantId, slug: &str) -> Workflow {
    let user = id(UserId);
    Workflow {
        tenant,
        kind: DefinitionKind::Workflow,
        id: id(WorkflowId),
        slug: slug.to_owned(),
        display_name: slug.to_uppercase(),
        description: String::new(),
        folder_id: Patch::Absent,
        state: WorkflowState::Draft,
        revision: Revision::FIRST,
        draft_revision: Revision::FIRST,
        draft_hash: None,
        published_version: None,
        published_hash: None,
        created_at: at(0),
        created_by: user,
        updated_at: at(0),
        updated_by: user,
    }
}

pub(crate) fn write<'a>(workflow: &'a Workflow, draft: Option<&'a Draft>) -> WorkflowWrite<'a> {
    let expected = (workflow.revision != Revision::FIRST).then(|| Revision(workflow.revision.0 - 1));
    WorkflowWrite { definition: workflow, expected, draft, claims: &[], starts: None }
}

/// Key of a workflow.
pub(crate) const fn key(tenant: TenantId, id: WorkflowId) -> DefinitionKey {
    DefinitionKey::of_stored(tenant, DefinitionKind::Workflow, id)
}

/// Start bindings as a version has them.
pub(crate) fn starts(bindings: &[StartBinding]) -> Vec<Start> {
    let start = |binding: &StartBinding| Start {
        entry: binding.process_id.clone(),
        node_id: binding.node_id.clone(),
        kind: match binding.kind {
            BindingKind::Message => StartKind::Message,
            BindingKind::Signal => StartKind::Signal,
            BindingKind::Timer => StartKind::Timer,
        },
        name: binding.name.clone(),
        next_due_at: binding.next_due_at,
        timer: binding.timer.clone(),
    };
    bindings.iter().map(start).collect()
}

/// Puts these start bindings in the place of a workflow's present ones.
pub(crate) async fn bind(store: &impl DefinitionStore, of: &Workflow, bindings: &[StartBinding]) -> Workflow {
    let next = Workflow { revision: of.revision.next(), ..of.clone() };
    let starts = starts(bindings);
    let write = WorkflowWrite { starts: Some(&starts), ..write(&next, None) };
    store.update(write, &Journal::default()).await.unwrap();
    next
}

/// Writes a published workflow of this name.
pub(crate) async fn published(store: &impl DefinitionStore, tenant: TenantId, slug: &str) -> Workflow {
    let new =
        Workflow { state: WorkflowState::Published, published_version: Some(1), ..workflow(tenant, slug) };
    store.insert(write(&new, None), &Journal::default()).await.unwrap();
    new
}

/// A state with a user task active at each of the nodes.
pub(crate) fn state(nodes: &[&str]) -> State {
    let active: Vec<_> = nodes
        .iter()
        .enumerate()
        .map(|(n, node)| {
            json!({"i": format!("n{}", n + 1), "n": node, "e": "userTask", "s": "n0", "a": at(0).to_string()})
        })
        .collect();
    serde_json::from_value(json!({"v": 1, "a": active})).unwrap()
}

pub(crate) fn run(of: &Workflow) -> Run {
    Run {
        tenant: of.tenant,
        kind: DefinitionKind::Workflow,
        id: id(RunId),
        workflow: of.id,
        version: 1,
        process_id: "main".to_owned(),
        state: RunState::Waiting,
        has_incident: false,
        business_key: None,
        correlation_key: None,
        trigger: TriggerRecord {
            kind: TriggerKind::Manual,
            name: None,
            node_id: None,
            event_id: None,
            parent: None,
        },
        input: json!({"zero": "\u{0}"}),
        snapshot: state(&[]),
        last_sequence: 2,
        revision: Revision::FIRST,
        created_at: at(0),
        created_by: Some(id(UserId)),
        updated_at: at(0),
        ended_at: None,
        waiting_since: Some(at(0)),
    }
}

pub(crate) fn ended(of: &Workflow) -> Run {
    Run { state: RunState::Completed, ended_at: Some(at(1)), waiting_since: None, ..run(of) }
}

pub(crate) fn begin(run: Run) -> RunWrite {
    RunWrite {
        run,
        packed: None,
        expected: None,
        events: Some(b"[{\"sequence\":1},{\"sequence\":2}]".to_vec()),
        first_sequence: 1,
        timers_added: Vec::new(),
        timers_removed: Vec::new(),
        subscriptions_added: Vec::new(),
        subscriptions_removed: Vec::new(),
        tasks: Vec::new(),
        jobs: Vec::new(),
        outgoing: Vec::new(),
        stores: Vec::new(),
    }
}

/// The next step of a run: revision and sequence go on.
pub(crate) fn step(run: &Run) -> RunWrite {
    let next = Run { revision: run.revision.next(), last_sequence: run.last_sequence + 1, ..run.clone() };
    RunWrite {
        expected: Some(run.revision),
        events: Some(b"[{}]".to_vec()),
        first_sequence: next.last_sequence,
        ..begin(next)
    }
}

pub(crate) fn unit_of(write: RunWrite) -> Transaction {
    let tenant = write.run.tenant;
    Transaction {
        tenant: Some(tenant),
        runs: vec![write],
        unit: unit(tenant, at(0)),
        ..Transaction::default()
    }
}

/// Commits one unit.
pub(crate) async fn commit(
    store: &impl RunStore,
    unit: Transaction,
) -> Result<(), heddle_usecase::StoreError> {
    let mut answers = store.commit(vec![unit]).await;
    assert_eq!(answers.len(), 1);
    answers.remove(0)
}

/// A filter of runs as lists take it.
pub(crate) fn of_runs(access: &AccessFilter<resource::Run>) -> InstanceFilter {
    access.into()
}

/// Begins a run.
pub(crate) async fn begun(store: &impl RunStore, run: Run) -> Run {
    commit(store, unit_of(begin(run.clone()))).await.unwrap();
    run
}

pub(crate) fn timer(timer_id: &str, due_at: Timestamp) -> TimerRow {
    TimerRow { timer_id: timer_id.to_owned(), node_id: "wait".to_owned(), due_at }
}

pub(crate) fn subscription(kind: BindingKind, name: &str, correlation_key: Option<&str>) -> SubscriptionRow {
    SubscriptionRow {
        subscription_id: format!("s-{name}"),
        kind,
        name: name.to_owned(),
        correlation_key: correlation_key.map(str::to_owned),
        node_id: "listen".to_owned(),
    }
}

pub(crate) fn task(run: &Run) -> HumanTask {
    HumanTask {
        tenant: run.tenant,
        id: id(TaskId),
        instance_kind: run.kind,
        run: run.id,
        workflow: run.workflow,
        node_id: "approve".to_owned(),
        node_instance_id: "n1".to_owned(),
        name: "Approve".to_owned(),
        state: TaskState::Open,
        assignee: None,
        candidate_users: Vec::new(),
        candidate_groups: Vec::new(),
        due_at: None,
        follow_up_at: None,
        priority: 50,
        form: Some(json!({"type": "object"})),
        outcomes: vec!["yes".to_owned(), "no".to_owned()],
        created_at: at(0),
        ended_at: None,
        completed_by: None,
    }
}

pub(crate) fn event(tenant: TenantId, key: &str) -> InboxEvent {
    InboxEvent {
        tenant,
        id: id(EventId),
        idempotency_key: key.to_owned(),
        body_sha256: "ab".to_owned(),
        correlation_key: Some("k".to_owned()),
        event_type: "paid".to_owned(),
        payload: json!({"amount": 1.5, "zero": "\u{0}"}),
        received_at: at(0),
        received_by: Some(id(UserId)),
        state: InboxState::Buffered,
        run_ids: Vec::new(),
        case_ids: Vec::new(),
        refused: Vec::new(),
        expires_at: Some(at(100)),
        hops: 3,
    }
}

pub(crate) fn binding(of: &Workflow, kind: BindingKind, name: &str) -> StartBinding {
    StartBinding {
        tenant: of.tenant,
        definition_kind: of.kind,
        workflow: of.id,
        version: 1,
        process_id: "main".to_owned(),
        node_id: format!("start-{name}"),
        kind,
        name: name.to_owned(),
        next_due_at: None,
        timer: None,
    }
}

/// What may be tried of a queue at an instant, in seconds.
pub(crate) async fn pending(db: &Db, queue: Queue, now: i64, limit: i64) -> Vec<PendingWork> {
    let turn = Turn { limit, share: limit, after: None };
    SqlWorkStore::new(db.clone()).pending(queue, at(now), turn).await.unwrap()
}

/// The timer of a piece of work.
pub(crate) fn timer_of(one: &PendingWork) -> &heddle_workflows::records::DueTimer {
    match &one.work {
        heddle_workflows::records::Work::Timer(timer) => timer,
        other => panic!("{other:?}"),
    }
}

/// The number of rows of a table.
pub(crate) async fn count(db: &Db, table: &str) -> i64 {
    #[derive(diesel::QueryableByName)]
    struct Count {
        #[diesel(sql_type = BigInt)]
        n: i64,
    }
    let text = format!("SELECT count(*) AS n FROM {table}");
    read!(db, |conn| {
        let found: Count = diesel::sql_query(&text).get_result(conn).await?;
        Ok(found.n)
    })
    .unwrap()
}

/// Runs a statement that no version of the program would.
pub(crate) async fn execute(db: &Db, text: &str) {
    write_tx!(db, |conn| {
        diesel::sql_query(text).execute(conn).await?;
        Ok(())
    })
    .unwrap();
}
