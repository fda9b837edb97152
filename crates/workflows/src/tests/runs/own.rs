//! Jobs of the service itself: an errand for each attempt, values of the settings, and what comes of an answer.

use std::time::Duration;

use heddle_kernel::{JobId, Timestamp};
use heddle_policy::capability::RunDecide;
use serde_json::{Map, Value, json};

use crate::ports::{ServiceEnd, ServiceFault, ServiceJob};
use crate::records::{JobState, Run, RunState};
use crate::runs::{Decision, DecisionKind, StartRun, TakenOwn};
use crate::tests::support::{Caller, NOW, World, caller, chain, input, on_run, unrecorded};

fn asking() -> Value {
    let settings = json!({ "kind": "vector.query", "database": "manuals", "query": "= question",
        "retry": { "maxAttempts": 2 }, "resultVariable": "found" });
    chain(&[("ask", "serviceTask", json!({ "configuration": settings }))])
}

async fn running() -> (World, Run) {
    let world = World::new();
    let workflow = world.published("asks", &asking()).await;
    let request = StartRun { input: input(json!({ "question": "why" })), ..StartRun::default() };
    let run = world.start(workflow, request).await;
    (world, run)
}

/// Jobs of the errands so far, with the instants from which on they are done.
fn errands(world: &World) -> Vec<(JobId, Timestamp)> {
    let tables = world.memory.0.lock();
    let all = tables.commits.iter().flat_map(|unit| &unit.errands);
    all.map(|one| (one.payload.parse().unwrap(), one.created_at)).collect()
}

async fn taken(world: &World, run: &Run, id: JobId) -> TakenOwn {
    world.runs.take_own_job(run.tenant, id, NOW.plus_seconds(600), false).await.unwrap()
}

async fn held(world: &World, run: &Run, id: JobId) -> ServiceJob {
    match taken(world, run, id).await {
        TakenOwn::Taken(job) => *job,
        other => panic!("{other:?}"),
    }
}

fn state(world: &World, run: &Run) -> RunState {
    world.memory.0.lock().runs[&run.id].state
}

#[tokio::test]
async fn an_answer_goes_into_the_run() {
    let (world, run) = running().await;
    let all = errands(&world);
    let [(id, at)] = all[..] else { panic!("{all:?}") };
    assert_eq!(at, NOW);
    let job = held(&world, &run, id).await;
    assert_eq!(Value::Object(job.arguments.clone()), json!({ "database": "manuals", "query": "why" }));
    assert_eq!((job.kind.as_str(), job.attempt, job.starter), ("vector.query", 1, Some(Caller::id("olga"))));
    assert_eq!(job.variables["question"], "why");
    assert_eq!(taken(&world, &run, id).await, TakenOwn::NotBefore(NOW.plus_seconds(600)));
    let answer = input(json!({ "passages": [1] }));
    world.runs.end_own_job(&job, None, Ok(answer).into()).await.unwrap();
    assert_eq!(state(&world, &run), RunState::Completed);
    assert_eq!(taken(&world, &run, id).await, TakenOwn::Over);
    assert_eq!(errands(&world).len(), 1);
    // A late word of the same attempt has no effect.
    world.runs.end_own_job(&job, None, Ok(Map::new()).into()).await.unwrap();
}

#[tokio::test]
async fn what_passes_is_tried_again_when_it_is_due_and_then_is_an_incident() {
    let (world, run) = running().await;
    let (id, _) = errands(&world)[0];
    let job = held(&world, &run, id).await;
    let again = || {
        let after = Some(Duration::from_secs(60));
        ServiceFault::Again { message: "The model does not answer.".to_owned(), after }.into()
    };
    world.runs.end_own_job(&job, None, again()).await.unwrap();
    let due = NOW.plus_seconds(60);
    assert_eq!(errands(&world), [(id, NOW), (id, due)]);
    assert_eq!(taken(&world, &run, id).await, TakenOwn::NotBefore(due));
    world.clock.advance_millis(60_000);
    let job = held(&world, &run, id).await;
    assert_eq!(job.attempt, 2);
    assert_eq!(job.notes, None);
    world.runs.end_own_job(&job, None, again()).await.unwrap();
    assert_eq!(world.memory.0.lock().jobs[0].state, JobState::Failed);
    assert!(world.memory.0.lock().runs[&run.id].has_incident);
    assert_eq!(taken(&world, &run, id).await, TakenOwn::Over);
    assert_eq!(errands(&world).len(), 2);
}

#[tokio::test]
async fn an_answer_that_does_not_fit_spends_no_attempt_and_its_notes_reach_the_next_one() {
    let (world, run) = running().await;
    let (id, _) = errands(&world)[0];
    let first = held(&world, &run, id).await;
    let notes = Some(json!({ "repairs": 1 }));
    let outcome = Err(ServiceFault::Unfit { message: "No JSON.".to_owned() });
    let unfit = ServiceEnd { outcome, findings: Vec::new(), notes: notes.clone() };
    world.runs.end_own_job(&first, None, unfit).await.unwrap();
    assert_eq!(errands(&world), [(id, NOW), (id, NOW)], "it is asked for again at once");
    let job = held(&world, &run, id).await;
    assert_eq!((job.attempt, job.retries, &job.notes), (2, first.retries, &notes));
    let away = ServiceFault::Again { message: "away".to_owned(), after: None };
    world.runs.end_own_job(&job, None, away.into()).await.unwrap();
    let job = held(&world, &run, id).await;
    assert_eq!((job.retries, &job.notes), (first.retries - 1, &notes), "who says nothing takes nothing away");
}

#[tokio::test]
async fn what_a_process_left_behind_is_taken_at_once_and_its_late_word_has_no_effect() {
    let (world, run) = running().await;
    let (id, _) = errands(&world)[0];
    let gone = held(&world, &run, id).await;
    let until = NOW.plus_seconds(600);
    let taken = world.runs.take_own_job(run.tenant, id, until, true).await.unwrap();
    let TakenOwn::Taken(job) = taken else { panic!("{taken:?}") };
    assert!(job.epoch > gone.epoch);
    world.runs.end_own_job(&gone, None, Ok(Map::new()).into()).await.unwrap();
    assert_ne!(state(&world, &run), RunState::Completed);
    world.runs.end_own_job(&job, None, Ok(Map::new()).into()).await.unwrap();
    assert_eq!(state(&world, &run), RunState::Completed);
}

#[tokio::test]
async fn what_another_attempt_meets_as_well_is_an_incident_at_once() {
    let (world, run) = running().await;
    let (id, _) = errands(&world)[0];
    let job = held(&world, &run, id).await;
    let refused = ServiceFault::Refused { message: "Not permitted.".to_owned() }.into();
    world.runs.end_own_job(&job, None, refused).await.unwrap();
    assert_eq!(world.memory.0.lock().jobs[0].state, JobState::Failed);
    assert_eq!(errands(&world).len(), 1);
}

async fn decided(world: &World, run: &Run, kind: DecisionKind) {
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
    world.runs.decide(&may, &context, decision, &unrecorded).await.unwrap();
}

#[tokio::test]
async fn an_answer_that_comes_while_the_run_is_suspended_is_kept_and_nobody_is_asked_again() {
    let (world, run) = running().await;
    let (id, _) = errands(&world)[0];
    let job = held(&world, &run, id).await;
    decided(&world, &run, DecisionKind::Suspend).await;
    let answer = input(json!({ "passages": [1] }));
    world.runs.end_own_job(&job, None, Ok(answer).into()).await.unwrap();
    assert_eq!(state(&world, &run), RunState::Suspended);
    assert_eq!(taken(&world, &run, id).await, TakenOwn::Over);
    decided(&world, &run, DecisionKind::Resume).await;
    assert_eq!(state(&world, &run), RunState::Completed);
    let variables = world.memory.run(run.id).snapshot.variables().cloned().unwrap_or_default();
    assert_eq!(variables["found"], json!({ "passages": [1] }));
    assert_eq!(errands(&world).len(), 1);
}

#[tokio::test]
async fn an_answer_that_comes_after_a_suspension_is_taken_and_nobody_is_asked_meanwhile() {
    let (world, run) = running().await;
    let (id, _) = errands(&world)[0];
    let job = held(&world, &run, id).await;
    decided(&world, &run, DecisionKind::Suspend).await;
    decided(&world, &run, DecisionKind::Resume).await;
    let all = errands(&world);
    assert!(all.iter().all(|(one, _)| *one == id), "{all:?}");
    // Whoever is asked by the resumption finds the job in the hands of the first.
    assert_eq!(taken(&world, &run, id).await, TakenOwn::NotBefore(NOW.plus_seconds(600)));
    world.runs.end_own_job(&job, None, Ok(Map::new()).into()).await.unwrap();
    assert_eq!(state(&world, &run), RunState::Completed);
}

#[tokio::test]
async fn what_was_left_behind_is_not_done_while_the_run_is_suspended() {
    let (world, run) = running().await;
    let (id, _) = errands(&world)[0];
    let gone = held(&world, &run, id).await;
    decided(&world, &run, DecisionKind::Suspend).await;
    let until = NOW.plus_seconds(600);
    assert_eq!(world.runs.take_own_job(run.tenant, id, until, true).await.unwrap(), TakenOwn::Over);
    world.runs.end_own_job(&gone, None, Ok(Map::new()).into()).await.unwrap();
    decided(&world, &run, DecisionKind::Resume).await;
    assert_ne!(state(&world, &run), RunState::Completed);
    let job = held(&world, &run, id).await;
    world.runs.end_own_job(&job, None, Ok(Map::new()).into()).await.unwrap();
    assert_eq!(state(&world, &run), RunState::Completed);
}
