//! The use cases with mocks for their ports: what is decided, and what is handed to be written.

use std::sync::Arc;

use heddle_bpmn::model::WorkflowDefinition;
use heddle_kernel::{
    FixedClock, IdSource as _, Patch, RequestId, Revision, RunId, SequentialIds, SessionId, TenantId,
    Timestamp, UserId, WorkflowId,
};
use heddle_policy::capability::{
    CaseEventCreate, RunCompleteTask, WorkflowCreate, WorkflowPublish, WorkflowRun,
};
use heddle_policy::{
    AuthorizedKind, Capability, Facts, Principal, RequestContext, RequestFacts, SessionKind, Snapshot,
};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::definitions::{Definitions, NewWorkflow, PublishRequest};
use crate::models::CompiledVersions;
use crate::ports::{
    InboxWrite, MatchedSubscription, MockCommitter, MockNotifier, MockRunStore, MockWorkflowStore,
    TaskChange, Transaction,
};
use crate::records::{
    BindingKind, Draft, InboxState, Run, RunCounts, RunState, Version, Workflow, WorkflowState, WorkflowView,
};
use crate::runs::{CaseEvent, Completion, RunPorts, Runs, StartRun};
use heddle_usecase::canonical_sha256;

const NOW: Timestamp = Timestamp::from_micros(1_750_000_000_000_000);

fn context(role: &str) -> RequestContext {
    let ids = SequentialIds::default();
    let (user, tenant) = (UserId(ids.next(NOW)), TenantId(ids.next(NOW)));
    let facts = Facts::member(user, tenant).with_system_role(role);
    let principal = Principal {
        user_id: user,
        session: SessionKind::Session(SessionId(ids.next(NOW))),
        email: "ada@example.test".to_owned(),
        display: "Ada".to_owned(),
        groups: vec!["buyers".to_owned()],
    };
    let request_id = RequestId::made(ids.next(NOW));
    let request = RequestFacts { request_id, now: NOW, client_ip: None };
    RequestContext::of_caller(&Snapshot::new(&facts, NOW), principal, request)
}

fn kind<C: Capability>(context: &RequestContext) -> AuthorizedKind<C> {
    context.snapshot().authorize_kind().unwrap()
}

fn workflow_id() -> WorkflowId {
    WorkflowId(uuid(7))
}

fn uuid(n: u128) -> uuid::Uuid {
    uuid::Uuid::from_u128(n)
}

fn unit<T>(_: &T) -> Journal {
    Journal::default()
}

/// start → review (user task with candidates and outcomes) → end, and a message boundary that ends it.
fn review() -> Value {
    json!({ "nodes": [
        { "id": "s", "type": "startEvent" },
        { "id": "review", "type": "userTask", "displayName": "Review",
          "configuration": { "candidateGroups": ["buyers"], "outcomes": ["approve", "reject"],
            "form": { "type": "object", "required": ["amount"] } } },
        { "id": "e", "type": "endEvent" } ],
      "edges": [ { "id": "f1", "source": "s", "target": "review" }, { "id": "f2", "source": "review", "target": "e" } ] })
}

/// start → receive `paid` → end.
fn receive() -> Value {
    json!({ "bpmn": { "messages": [{ "id": "m", "name": "paid" }] },
      "nodes": [
        { "id": "s", "type": "startEvent" },
        { "id": "r", "type": "receiveTask", "bpmn": { "messageRef": "m" } },
        { "id": "e", "type": "endEvent" } ],
      "edges": [ { "id": "f1", "source": "s", "target": "r" }, { "id": "f2", "source": "r", "target": "e" } ] })
}

fn view(context: &RequestContext, definition: Option<&Value>) -> WorkflowView {
    let workflow = Workflow {
        tenant: context.tenant(),
        id: workflow_id(),
        slug: "w".to_owned(),
        display_name: "W".to_owned(),
        description: String::new(),
        folder_id: Patch::Absent,
        state: WorkflowState::Draft,
        revision: Revision(4),
        draft_revision: Revision(2),
        draft_hash: definition.map(canonical_sha256),
        published_version: None,
        published_hash: None,
        created_at: NOW,
        created_by: context.user_id(),
        updated_at: NOW,
        updated_by: context.user_id(),
    };
    WorkflowView { workflow, starred: false, run_counts: RunCounts::default() }
}

fn definitions(store: MockWorkflowStore) -> Definitions {
    let store = Arc::new(store);
    let models = Arc::new(CompiledVersions::new(store.clone()));
    Definitions::new(store, Arc::new(SequentialIds::default()), models)
}

fn reasons(error: UseCaseError) -> Vec<(Option<String>, &'static str)> {
    match error {
        UseCaseError::Invalid(problems) | UseCaseError::Conflict(problems) => {
            problems.into_iter().map(|problem| (problem.field, problem.reason)).collect()
        }
        UseCaseError::Forbidden(problem) => vec![(problem.field, problem.reason)],
        other => panic!("{other:?}"),
    }
}

fn new_workflow(slug: &str, display_name: &str) -> NewWorkflow {
    NewWorkflow {
        slug: slug.to_owned(),
        display_name: display_name.to_owned(),
        description: String::new(),
        folder_id: Patch::Null,
        draft: Draft::Absent,
        definition: None,
    }
}

#[tokio::test]
async fn every_wrong_member_of_a_new_workflow_is_named_at_once() {
    let context = context("designer");
    let result = definitions(MockWorkflowStore::new())
        .create(&kind::<WorkflowCreate>(&context), &context, new_workflow("A b", ""), &unit)
        .await;
    let found = reasons(result.unwrap_err());
    assert_eq!(found, [(Some("slug".to_owned()), "pattern"), (Some("displayName".to_owned()), "tooShort")]);
}

#[tokio::test]
async fn a_taken_slug_is_a_conflict_of_that_member() {
    let context = context("designer");
    let mut store = MockWorkflowStore::new();
    store.expect_insert().returning(|_, _| Err(StoreError::Duplicate("slug".to_owned())));
    let result = definitions(store)
        .create(&kind::<WorkflowCreate>(&context), &context, new_workflow("a", "A"), &unit)
        .await;
    assert_eq!(reasons(result.unwrap_err()), [(Some("slug".to_owned()), "notUnique")]);
}

#[tokio::test]
async fn publish_refuses_what_it_cannot_execute_and_writes_nothing() {
    let context = context("designer");
    let mut definition = review();
    definition["nodes"][1] = json!({ "id": "review", "type": "scriptTask",
        "bpmn": { "activity": { "script": "x = 1", "scriptFormat": "javascript" } } });
    let shown = view(&context, Some(&definition));
    let mut store = MockWorkflowStore::new();
    store.expect_get().returning(move |_, _, _| Ok(shown.clone()));
    store.expect_draft().returning(move |_, _| Ok(Draft::Value(definition.clone())));
    let service = definitions(store);
    let publish = context.snapshot().authorize_one::<WorkflowPublish>(workflow_id(), ()).unwrap();
    let refused = service.publish(&publish, &context, PublishRequest::default(), &unit).await;
    let UseCaseError::Invalid(problems) = refused.unwrap_err() else { panic!("not invalid") };
    assert_eq!(problems[0].reason, "notExecutable");
    assert_eq!(problems[0].extra["elementId"], "review");
    let stale = PublishRequest { revision: Some(Revision(3)), ..PublishRequest::default() };
    let stale = service.publish(&publish, &context, stale, &unit).await.unwrap_err();
    let UseCaseError::Conflict(problems) = stale else { panic!("not a conflict") };
    assert_eq!((problems[0].reason, &problems[0].extra["currentRevision"]), ("revisionMismatch", &json!(4)));
}

/// A service over one published workflow and the runs that its own commits leave behind.
struct World {
    runs: Runs,
    committed: Arc<Mutex<Vec<Transaction>>>,
}

fn world(definition: Value, prepare: impl FnOnce(&mut MockRunStore)) -> World {
    let mut workflows = MockWorkflowStore::new();
    workflows.expect_standing().returning(|_, _| Ok((WorkflowState::Published, Some(1))));
    let version = Version {
        number: 1,
        hash: String::new(),
        published_at: NOW,
        published_by: UserId(uuid(1)),
        change_note: None,
        active: true,
    };
    let typed: WorkflowDefinition = serde_json::from_value(definition.clone()).unwrap();
    assert!(heddle_bpmn_graph::compile(&typed).diagnostics.iter().all(|found| !found.is_error()));
    workflows.expect_version().returning(move |_, _, _| Ok((version.clone(), definition.clone())));
    let committed: Arc<Mutex<Vec<Transaction>>> = Arc::default();
    let mut store = MockRunStore::new();
    prepare(&mut store);
    let latest = |committed: &Mutex<Vec<Transaction>>, id: RunId| {
        let known = committed.lock();
        let latest = known.iter().rev().flat_map(|unit| &unit.runs).find(|write| write.run.id == id);
        latest.map(|write| write.run.clone()).ok_or(StoreError::NotFound)
    };
    let known = Arc::clone(&committed);
    store.expect_load().returning(move |_, id| latest(&known, id));
    let known = Arc::clone(&committed);
    store.expect_find().returning(move |key| {
        latest(&known, key.id())
            .and_then(|run| if run.key() == *key { Ok(run) } else { Err(StoreError::NotFound) })
    });
    let mut committer = MockCommitter::new();
    let log = Arc::clone(&committed);
    committer.expect_commit().returning(move |unit| {
        log.lock().push(unit);
        Ok(())
    });
    let mut hub = MockNotifier::new();
    hub.expect_run_changed().return_const(());
    hub.expect_timer_set().return_const(());
    hub.expect_thrown().return_const(());
    let workflows: Arc<MockWorkflowStore> = Arc::new(workflows);
    let ports = RunPorts {
        runs: Arc::new(store),
        committer: Arc::new(committer),
        hub: Arc::new(hub),
        workflows: workflows.clone(),
        models: Arc::new(CompiledVersions::new(workflows)),
        ids: Arc::new(SequentialIds::default()),
        clock: Arc::new(FixedClock::at(NOW)),
    };
    World { runs: Runs::new(ports), committed }
}

async fn started(world: &World, context: &RequestContext) -> Run {
    let request = StartRun { correlation_key: Some("order-1".to_owned()), ..StartRun::default() };
    let start = context.snapshot().authorize_one::<WorkflowRun>(workflow_id(), ()).unwrap();
    world.runs.start(&start, context, request, &unit).await.unwrap()
}

#[tokio::test]
async fn a_human_task_is_completed_by_a_candidate_with_a_valid_form_and_outcome() {
    let context = context("operator");
    let world = world(review(), |_| {});
    let run = started(&world, &context).await;
    assert_eq!(run.state, RunState::Waiting);
    let opened = world.committed.lock()[0].runs[0].tasks.clone();
    assert!(matches!(&opened[..], [TaskChange::Open(task)] if task.candidate_groups == ["buyers"]));
    let may = context.snapshot().authorize_key::<RunCompleteTask>(run.key()).unwrap();
    let wrong = Completion { outcome: Some("maybe".to_owned()), ..Completion::default() };
    let found = reasons(world.runs.complete(&may, &context, "review", wrong, &unit).await.unwrap_err());
    assert_eq!(found[0], (Some("outcome".to_owned()), "notAllowed"));
    assert_eq!(found[1].1, "schema");
    let values = json!({ "amount": 3 }).as_object().cloned().unwrap();
    let right = Completion { outcome: Some("approve".to_owned()), values, ..Completion::default() };
    let (task, run) = world.runs.complete(&may, &context, "review", right.clone(), &unit).await.unwrap();
    assert_eq!((run.state, task.completed_by), (RunState::Completed, Some(context.user_id())));
    let again = world.runs.complete(&may, &context, "review", right, &unit).await.unwrap_err();
    assert_eq!(reasons(again)[0].1, "nothingWaits");
    assert_eq!(world.committed.lock().len(), 2);
}

#[tokio::test]
async fn a_task_of_others_is_not_completed() {
    let context = context("operator");
    let mut definition = review();
    definition["nodes"][1]["configuration"]["candidateGroups"] = json!(["auditors"]);
    let world = world(definition, |_| {});
    let run = started(&world, &context).await;
    let may = context.snapshot().authorize_key::<RunCompleteTask>(run.key()).unwrap();
    let result = world.runs.complete(&may, &context, "review", Completion::default(), &unit).await;
    assert_eq!(reasons(result.unwrap_err()), [(None, "notCandidate")]);
    assert_eq!(world.committed.lock().len(), 1);
}

fn paid(key: &str) -> CaseEvent {
    CaseEvent {
        correlation_key: "order-1".to_owned(),
        event_type: "paid".to_owned(),
        idempotency_key: key.to_owned(),
        payload: json!({ "amount": 3 }),
    }
}

#[tokio::test]
async fn an_event_advances_the_run_that_waits_for_it_in_the_same_unit() {
    let context = context("operator");
    let found: Arc<Mutex<Vec<MatchedSubscription>>> = Arc::default();
    let matching = Arc::clone(&found);
    let world = world(receive(), move |store| {
        store.expect_inbox_by_key().returning(|_, _| Ok(None));
        store.expect_matching().returning(move |_, kind, name, key| {
            assert_eq!((kind, name, key), (BindingKind::Message, "paid", Some("order-1")));
            Ok(matching.lock().clone())
        });
    });
    let run = started(&world, &context).await;
    let subscription = world.committed.lock()[0].runs[0].subscriptions_added[0].clone();
    assert_eq!(subscription.correlation_key.as_deref(), Some("order-1"));
    found
        .lock()
        .push(MatchedSubscription { run: run.id, subscription_id: subscription.subscription_id.clone() });
    let received =
        world.runs.receive(&kind::<CaseEventCreate>(&context), &context, paid("k1"), &unit).await.unwrap();
    assert_eq!((received.event.state, &received.event.run_ids), (InboxState::Consumed, &vec![run.id]));
    let committed = world.committed.lock();
    let last = committed.last().unwrap();
    assert!(matches!(last.inbox, Some(InboxWrite::Insert(_))));
    assert_eq!(last.runs[0].run.state, RunState::Completed);
    assert_eq!(last.runs[0].subscriptions_removed, [subscription.subscription_id]);
    assert_eq!(last.runs[0].expected, Some(run.revision));
}

#[tokio::test]
async fn an_event_that_nobody_waits_for_is_kept_and_a_repeat_gets_the_first_answer() {
    let context = context("operator");
    let known = Arc::new(Mutex::new(None));
    let store_known = Arc::clone(&known);
    let world = world(receive(), move |store| {
        store.expect_inbox_by_key().returning(move |_, _| Ok(store_known.lock().clone()));
        store.expect_matching().returning(|_, _, _, _| Ok(Vec::new()));
        store.expect_matching_starts().returning(|_, _, _| Ok(Vec::new()));
    });
    let may = kind::<CaseEventCreate>(&context);
    let first = world.runs.receive(&may, &context, paid("k1"), &unit).await.unwrap();
    assert_eq!(first.event.state, InboxState::Buffered);
    assert!(first.event.expires_at.is_some_and(|until| until > NOW));
    *known.lock() = Some(first.event.clone());
    let again = world.runs.receive(&may, &context, paid("k1"), &unit).await.unwrap();
    assert!(again.replayed && again.event.id == first.event.id);
    let other = CaseEvent { payload: json!({ "amount": 4 }), ..paid("k1") };
    let refused = world.runs.receive(&may, &context, other, &unit).await.unwrap_err();
    assert_eq!(reasons(refused), [(Some("idempotencyKey".to_owned()), "idempotencyKeyReused")]);
    assert_eq!(world.committed.lock().len(), 1);
}
