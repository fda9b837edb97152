//! Workers that wait for jobs: how many look when something happens, and what none of them loses.

use std::sync::Arc;

use heddle_kernel::{DefinitionKind, JobId, RunId, TenantId, WorkflowId};
use heddle_policy::AuthorizedSome;
use heddle_policy::capability::JobActivate;
use serde_json::Map;

use crate::ports::{Activation, JobChange, Transaction};
use crate::records::{Job, JobKind, JobState};
use crate::runs::{ActivateJobs, ActivatedJob};
use crate::tests::support::{NOW, World, caller, uuid};

fn may() -> AuthorizedSome<JobActivate> {
    let context = caller("wanda", "owner").context();
    context.snapshot().authorize_found().unwrap()
}

fn job(number: u128, job_type: &str) -> Job {
    Job {
        tenant: TenantId(uuid(1)),
        id: JobId(uuid(number)),
        instance_kind: DefinitionKind::Workflow,
        run: RunId(uuid(500)),
        workflow: WorkflowId(uuid(501)),
        version: 1,
        process_id: "p".to_owned(),
        node_id: "work".to_owned(),
        node_instance_id: "n1".to_owned(),
        kind: JobKind::Task,
        job_type: job_type.to_owned(),
        headers: Map::new(),
        priority: 0,
        state: JobState::Ready,
        retries: 3,
        attempt: 1,
        due_at: None,
        epoch: 0,
        worker: None,
        lapses: 0,
        message: None,
        place: NOW,
        created_at: NOW,
    }
}

fn ask(types: &[&str]) -> ActivateJobs {
    ActivateJobs {
        types: types.iter().map(|name| (*name).to_owned()).collect(),
        worker: "w".to_owned(),
        max_jobs: 1,
        lock_ms: 60_000,
        wait_ms: 60_000,
        ..ActivateJobs::default()
    }
}

/// Number of looks that were made.
fn looks(world: &World) -> usize {
    let tables = world.memory.0.lock();
    let is_look = |unit: &&Transaction| unit.activation.as_ref().is_some_and(Activation::takes);
    tables.commits.iter().filter(is_look).count()
}

async fn activated(world: Arc<World>, ask: ActivateJobs) -> Vec<ActivatedJob> {
    world.runs.activate_jobs(&may(), &ask).await.unwrap()
}

/// Lets every task go on until none has anything to do.
async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_thousand_workers_wait_and_one_looks_for_the_one_job_that_comes() {
    let world = Arc::new(World::new());
    let workers: Vec<_> =
        (0..1_000).map(|_| tokio::spawn(activated(Arc::clone(&world), ask(&["ship"])))).collect();
    settle().await;
    let before = looks(&world);
    assert_eq!(before, 1_000, "each looks once when it comes");
    world.memory.0.lock().write_job(&JobChange::Open(Box::new(job(1, "ship"))));
    world.runs.tell_opened(TenantId(uuid(1)), "ship", 1);
    settle().await;
    assert_eq!(looks(&world) - before, 1);
    assert_eq!(world.memory.0.lock().jobs[0].state, JobState::Locked);
    for worker in workers {
        worker.abort();
    }
}

#[tokio::test]
async fn a_worker_that_hangs_up_takes_no_wake_up_with_it() {
    let world = Arc::new(World::new());
    let first = tokio::spawn(activated(Arc::clone(&world), ask(&["ship"])));
    settle().await;
    let second = tokio::spawn(activated(Arc::clone(&world), ask(&["ship"])));
    settle().await;
    let before = looks(&world);
    world.memory.0.lock().write_job(&JobChange::Open(Box::new(job(1, "ship"))));
    world.runs.tell_opened(TenantId(uuid(1)), "ship", 1);
    // It was woken, and has not looked yet.
    first.abort();
    settle().await;
    assert_eq!(looks(&world) - before, 1, "the second one was woken in its place");
    assert_eq!(world.memory.0.lock().jobs[0].state, JobState::Locked);
    second.abort();
}
