//! Calls between runs: started, told and cancelled once, whatever happens in between.

use heddle_engine::Status;
use heddle_kernel::WorkflowId;
use heddle_policy::capability::{RunCancel, RunCompleteTask, RunDecide, RunRead};
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::records::{Run, RunState, TriggerKind};
use crate::runs::{Cancellation, Completion, Decision, DecisionKind, StartRun};
use crate::tests::support::{
    World, caller, chain, event, input, journal, model, on_run, reasons, unrecorded,
};

fn calling(called: &str) -> Value {
    chain(&[("call", "callActivity", json!({ "configuration": { "ref": called } }))])
}

/// A process whose human task gives `x`.
fn asking() -> Value {
    chain(&[("ask", "userTask", json!({}))])
}

/// The runs of a workflow.
fn runs_of(world: &World, workflow: WorkflowId) -> Vec<Run> {
    world.memory.0.lock().runs.values().filter(|run| run.workflow == workflow).cloned().collect()
}

fn only(world: &World, workflow: WorkflowId) -> Run {
    let [run] = &runs_of(world, workflow)[..] else { panic!("not one run") };
    run.clone()
}

/// Delivers until nothing is left.
async fn settle(world: &World) {
    while world.deliver().await.unwrap() > 0 {}
}

async fn decide(world: &World, run: &Run, kind: DecisionKind) -> Run {
    let context = caller("oscar", "operator").context();
    let decision = Decision {
        kind,
        node_id: None,
        node_instance_id: None,
        incident_id: None,
        feedback: None,
        variables: input(json!({})),
        target: None,
    };
    let may = on_run::<RunDecide>(&context, run);
    world.runs.decide(&may, &context, decision, &unrecorded).await.unwrap()
}

async fn cancel(world: &World, run: &Run) {
    let context = caller("oscar", "operator").context();
    let may = on_run::<RunCancel>(&context, run);
    world.runs.cancel(&may, &context, None, Cancellation::default(), &unrecorded).await.unwrap();
}

async fn purge(world: &World, run: &Run) -> Result<(), UseCaseError> {
    let context = caller("oscar", "operator").context();
    world.runs.purge(&on_run::<RunCancel>(&context, run), None, &journal("purged")).await
}

/// A caller and the run that it called, which waits.
async fn called() -> (World, Run, Run) {
    let world = World::new();
    let target = world.published("asking", &asking()).await;
    let workflow = world.published("calling", &calling("asking")).await;
    let request = StartRun {
        input: input(json!({ "a": 1 })),
        business_key: Some("order-7".to_owned()),
        ..StartRun::default()
    };
    let parent = world.start(workflow, request).await;
    settle(&world).await;
    let child = only(&world, target);
    (world, parent, child)
}

async fn complete(world: &World, run: &Run) {
    let context = caller("olga", "owner").context();
    let may = on_run::<RunCompleteTask>(&context, run);
    let completion = Completion { values: input(json!({ "x": 2 })), ..Completion::default() };
    world.runs.complete(&may, &context, "ask", completion, &unrecorded).await.unwrap();
}

#[tokio::test]
async fn a_called_run_knows_its_caller_and_its_end_lets_the_caller_go_on() {
    let (world, parent, child) = called().await;
    let by = child.trigger.parent.clone().unwrap();
    assert_eq!((child.trigger.kind, by.run, by.root, by.depth), (TriggerKind::Call, parent.id, parent.id, 1));
    assert_eq!((by.node_id.as_str(), child.business_key.as_deref()), ("call", Some("order-7")));
    assert_eq!(child.snapshot.variables(), Some(&input(json!({ "a": 1 }))));
    let context = caller("oscar", "operator").context();
    let shown = world.runs.called(&on_run::<RunRead>(&context, &parent)).await.unwrap();
    assert_eq!(
        shown.iter().map(|one| (one.id, one.node_id.as_str())).collect::<Vec<_>>(),
        [(child.id, "call")]
    );
    complete(&world, &child).await;
    assert_eq!(world.memory.run(parent.id).state, RunState::Waiting);
    settle(&world).await;
    let ended = world.memory.run(parent.id);
    assert_eq!(ended.state, RunState::Completed);
    assert_eq!(ended.snapshot.variables(), Some(&input(json!({ "a": 1, "x": 2 }))));
    assert!(world.memory.0.lock().outgoing.is_empty());
}

#[tokio::test]
async fn a_called_run_has_the_business_key_that_its_call_says() {
    for (settings, expected) in [
        (json!({ "inheritBusinessKey": true }), Some("order-7")),
        (json!({ "inheritBusinessKey": false }), None),
        (json!({ "businessKey": "own", "inheritBusinessKey": false }), Some("own")),
        (json!({ "businessKey": "own" }), Some("own")),
    ] {
        let world = World::new();
        let target = world.published("asking", &asking()).await;
        let mut definition = calling("asking");
        definition["nodes"][1]["configuration"]
            .as_object_mut()
            .unwrap()
            .extend(settings.as_object().unwrap().clone());
        let workflow = world.published("calling", &definition).await;
        let request = StartRun { business_key: Some("order-7".to_owned()), ..StartRun::default() };
        let _ = world.start(workflow, request).await;
        settle(&world).await;
        assert_eq!(only(&world, target).business_key.as_deref(), expected, "{settings}");
    }
}

#[tokio::test]
async fn a_call_that_is_delivered_twice_starts_one_run_and_its_end_counts_once() {
    let world = World::new();
    let target = world.published("asking", &asking()).await;
    let workflow = world.published("calling", &calling("asking")).await;
    let parent = world.start(workflow, StartRun::default()).await;
    let call = world.memory.0.lock().outgoing[0].clone();
    world.runs.deliver(&call).await.unwrap();
    // Another node had seen the row before.
    world.runs.deliver(&call).await.unwrap();
    let child = only(&world, target);
    complete(&world, &child).await;
    let end = world.memory.0.lock().outgoing[0].clone();
    world.runs.deliver(&end).await.unwrap();
    let revision = world.memory.run(parent.id).revision;
    world.runs.deliver(&end).await.unwrap();
    assert_eq!(world.memory.run(parent.id).revision, revision);
    assert_eq!(world.memory.run(parent.id).state, RunState::Completed);
}

#[tokio::test]
async fn after_a_crash_between_end_and_caller_the_caller_is_told_all_the_same() {
    let (world, parent, child) = called().await;
    complete(&world, &child).await;
    let background = world.reopened().await;
    background.round(crate::ports::Queue::Outbox).await.unwrap();
    assert_eq!(world.memory.run(parent.id).state, RunState::Completed);
}

#[tokio::test]
async fn what_is_not_there_is_an_incident_and_a_retry_finds_it() {
    let world = World::new();
    let workflow = world.published("calling", &calling("later")).await;
    let parent = world.start(workflow, StartRun::default()).await;
    settle(&world).await;
    let stopped = world.memory.run(parent.id);
    let incident = stopped.snapshot.incidents().remove(0);
    assert!(stopped.has_incident && incident.message.contains("`later`"), "{}", incident.message);
    world.published("later", &chain(&[])).await;
    decide(&world, &stopped, DecisionKind::Retry).await;
    settle(&world).await;
    assert_eq!(world.memory.run(parent.id).state, RunState::Completed);
}

#[tokio::test]
async fn a_process_id_that_several_workflows_have_is_told_apart_by_their_slugs() {
    let world = World::new();
    for slug in ["one", "two"] {
        world.published(slug, &chain(&[])).await;
    }
    for (called, state, incident) in
        [("two", RunState::Completed, false), ("nothing", RunState::Waiting, true)]
    {
        let workflow = world.published(&format!("calls-{called}"), &calling(called)).await;
        let parent = world.start(workflow, StartRun::default()).await;
        settle(&world).await;
        let now = world.memory.run(parent.id);
        assert_eq!((now.state, now.has_incident), (state, incident), "{called}");
    }
}

#[tokio::test]
async fn a_process_that_calls_itself_without_end_is_stopped() {
    let world = World::new();
    let workflow = world.published("recursive", &calling("main")).await;
    world.start(workflow, StartRun::default()).await;
    for _ in 0..200 {
        settle(&world).await;
    }
    let runs = runs_of(&world, workflow);
    let depth = runs.iter().map(Run::depth).max();
    assert_eq!((depth, runs.len()), (Some(100), 101));
    let stopped: Vec<_> = runs.iter().filter(|run| run.has_incident).collect();
    assert!(stopped.len() == 1 && stopped[0].depth() == 100);
}

#[tokio::test]
async fn cancelling_the_caller_cancels_what_it_called() {
    let (world, parent, child) = called().await;
    cancel(&world, &parent).await;
    settle(&world).await;
    assert_eq!(world.memory.run(child.id).state, RunState::Cancelled);
    assert!(world.memory.0.lock().outgoing.is_empty());
    // One that has not begun never does.
    let workflow = parent.workflow;
    let again = world.start(workflow, StartRun::default()).await;
    cancel(&world, &again).await;
    settle(&world).await;
    assert_eq!(runs_of(&world, child.workflow).len(), 1);
}

#[tokio::test]
async fn a_cancelled_called_run_is_an_incident_of_its_caller() {
    let (world, parent, child) = called().await;
    cancel(&world, &child).await;
    settle(&world).await;
    let incident = world.memory.run(parent.id).snapshot.incidents().remove(0);
    assert!(incident.message.contains("cancelled"), "{}", incident.message);
}

#[tokio::test]
async fn a_suspended_caller_hears_of_the_end_when_it_is_resumed() {
    let (world, parent, child) = called().await;
    decide(&world, &parent, DecisionKind::Suspend).await;
    complete(&world, &child).await;
    settle(&world).await;
    assert_eq!(world.memory.run(parent.id).snapshot.status(), Status::Suspended);
    assert!(world.memory.0.lock().outgoing.is_empty(), "nothing is tried again and again meanwhile");
    decide(&world, &parent, DecisionKind::Resume).await;
    settle(&world).await;
    assert_eq!(world.memory.run(parent.id).state, RunState::Completed);
}

#[tokio::test]
async fn a_called_run_is_not_purged_before_its_caller_knows() {
    let (world, parent, child) = called().await;
    complete(&world, &child).await;
    let ended = world.memory.run(child.id);
    assert!(reasons(purge(&world, &ended).await).iter().any(|told| told.1 == "awaited"));
    settle(&world).await;
    purge(&world, &ended).await.unwrap();
    assert_eq!(world.memory.run(parent.id).state, RunState::Completed);
}

#[tokio::test]
async fn an_error_of_the_called_run_is_told_with_its_code() {
    let mut end = event("error err");
    end["displayName"] = json!("lost");
    let failing = model(&[("s", "startEvent", json!({})), ("e", "endEvent", end)], &[("s", "e")]);
    let world = World::new();
    world.published("failing", &failing).await;
    let workflow = world.published("calling", &calling("failing")).await;
    let parent = world.start(workflow, StartRun::default()).await;
    settle(&world).await;
    let events: String = world.memory.0.lock().slices[&parent.id]
        .iter()
        .map(|slice| String::from_utf8(slice.events.clone()).unwrap())
        .collect();
    assert!(events.contains("call.failed") && events.contains("LOST"), "{events}");
}
