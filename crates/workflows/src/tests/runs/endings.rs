//! Cancelling and purging runs.

use heddle_kernel::WorkflowId;
use heddle_policy::Within;
use heddle_policy::capability::RunCancel;
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::ports::TaskChange;
use crate::records::{Run, RunState, TaskState};
use crate::runs::Cancellation;
use crate::tests::support::{
    NOW, World, caller, chain, journal, on_run, reasons, receive, review, unrecorded, uuid, whole,
};

async fn cancel(world: &World, run: &Run) -> Result<Run, UseCaseError> {
    let context = caller("oscar", "operator").context();
    let may = on_run::<RunCancel>(&context, run);
    let record = |run: &Run| journal(run.state.as_str());
    let cancellation = Cancellation { reason: Some("ordered twice".to_owned()), compensate: false };
    world.runs.cancel(&may, &context, None, cancellation, &record).await
}

async fn purge(world: &World, run: &Run) -> Result<(), UseCaseError> {
    let context = caller("oscar", "operator").context();
    world.runs.purge(&on_run::<RunCancel>(&context, run), None, &journal("purged")).await
}

#[tokio::test]
async fn a_cancelled_run_withdraws_all_that_waits_for_it() {
    let (world, run) = World::running(&review()).await;
    let ended = cancel(&world, &run).await.unwrap();
    assert_eq!((ended.state, ended.ended_at, ended.waiting_since), (RunState::Cancelled, Some(NOW), None));
    let write = world.memory.last_write();
    let [TaskChange::End { state, by, .. }] = &write.tasks[..] else { panic!("{:?}", write.tasks) };
    assert_eq!((*state, *by), (TaskState::Cancelled, None), "withdrawn, not done by somebody");
    let events: Value = serde_json::from_slice(&write.events.unwrap()).unwrap();
    assert!(events.to_string().contains("ordered twice"), "{events}");
    assert_eq!(world.memory.0.lock().journals.last(), Some(&journal("cancelled")));
    let (world, run) = World::running(&receive()).await;
    cancel(&world, &run).await.unwrap();
    assert!(world.memory.0.lock().subscriptions.is_empty());
}

#[tokio::test]
async fn an_ended_run_stays_as_it_ended() {
    for definition in [chain(&[]), review()] {
        let (world, run) = World::running(&definition).await;
        let first = cancel(&world, &run).await.unwrap();
        let (written, journals) = (world.memory.commit_count(), world.memory.0.lock().journals.len());
        let again = cancel(&world, &run).await.unwrap();
        assert_eq!(
            (again.state, again.revision, again.ended_at),
            (first.state, first.revision, first.ended_at)
        );
        assert_eq!((world.memory.commit_count(), world.memory.0.lock().journals.len()), (written, journals));
    }
}

#[tokio::test]
async fn only_an_ended_run_is_purged_and_a_repeat_is_done_already() {
    let (world, run) = World::running(&receive()).await;
    assert_eq!(reasons(purge(&world, &run).await), [whole("active")]);
    assert!(world.memory.0.lock().runs.contains_key(&run.id));
    cancel(&world, &run).await.unwrap();
    purge(&world, &run).await.unwrap();
    assert!(!world.memory.0.lock().slices.contains_key(&run.id), "its history goes with it");
    purge(&world, &run).await.unwrap();
    let foreign = Run { workflow: WorkflowId(uuid(99)), ..run.clone() };
    assert!(
        matches!(purge(&world, &foreign).await, Err(UseCaseError::NotFound)),
        "never was of that workflow"
    );
    let purges = world.memory.0.lock().journals.iter().filter(|one| **one == journal("purged")).count();
    assert_eq!(purges, 1);
}

#[tokio::test]
async fn a_run_that_never_was_or_is_another_workflows_is_not_found() {
    let (world, run) = World::running(&receive()).await;
    let context = caller("oscar", "operator").context();
    // The id is right, the workflow that it is claimed within is not.
    let elsewhere = Within::of(WorkflowId(uuid(99)));
    let may = context.snapshot().authorize_one::<RunCancel>(run.id, elsewhere).unwrap();
    let gone = world.runs.cancel(&may, &context, None, Cancellation::default(), &unrecorded).await;
    assert!(matches!(gone, Err(UseCaseError::NotFound)), "{gone:?}");
    let gone = world.runs.purge(&may, None, &journal("purged")).await;
    assert!(matches!(gone, Err(UseCaseError::NotFound)), "{gone:?}");
    assert_eq!(world.memory.run(run.id).state, RunState::Waiting);
    let unknown = Run { id: heddle_kernel::RunId(uuid(98)), input: json!({}), ..run };
    assert!(matches!(purge(&world, &unknown).await, Err(UseCaseError::NotFound)));
}
