//! Jobs: taken once, in order, under epochs.

use heddle_kernel::{JobId, PageRequest, RunId, TenantId, Timestamp};
use heddle_policy::AccessFilter;
use heddle_store_workflows::SqlRunStore;
use heddle_testkit::on_both;
use heddle_usecase::StoreError;
use heddle_workflows::ports::{
    Activation, JobChange, JobFilter, JobStore, LockChange, RunStore, RunWrite, TakenJobs, Transaction,
    WantedType,
};
use heddle_workflows::records::{Job, JobEnding, JobKind, JobOutcome, JobState, KnownJob, Run};
use serde_json::Map;
use uuid::Uuid;

use crate::support::*;

fn job(run: &Run, priority: i64, place: i64) -> Job {
    Job {
        tenant: run.tenant,
        id: id(JobId),
        run: run.id,
        workflow: run.workflow,
        version: 1,
        process_id: "p".to_owned(),
        node_id: "work".to_owned(),
        node_instance_id: "n1".to_owned(),
        kind: JobKind::Task,
        job_type: "ship".to_owned(),
        headers: Map::new(),
        priority,
        state: JobState::Ready,
        retries: 3,
        attempt: 1,
        due_at: None,
        epoch: 0,
        worker: None,
        message: None,
        place: at(place),
        created_at: at(place),
    }
}

/// Takes jobs at an instant, for a second.
async fn take(
    store: &SqlRunStore,
    tenant: TenantId,
    now: Timestamp,
    most: u32,
    denied: Vec<Uuid>,
) -> Vec<Job> {
    let taken = TakenJobs::default();
    let activation = Activation {
        types: ["ship", "unknown"].map(|name| WantedType { name: name.to_owned(), within: None }).to_vec(),
        denied,
        worker: "w".to_owned(),
        most,
        now,
        until: now.plus_seconds(1),
        taken: taken.clone(),
    };
    let unit = Transaction { tenant: Some(tenant), activation: Some(activation), ..Transaction::default() };
    commit(store, unit).await.unwrap();
    taken.take().into_iter().map(|one| one.job).collect()
}

fn ids(jobs: &[Job]) -> Vec<JobId> {
    jobs.iter().map(|job| job.id).collect()
}

#[tokio::test]
async fn jobs_are_taken_once_by_priority_and_age_and_again_when_a_lock_ran_out() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let (run_of, other) = (run(&flow), run(&flow));
        let rows = [job(&run_of, 0, 2), job(&run_of, 0, 1), job(&run_of, 5, 3)];
        let theirs = job(&other, 9, 0);
        let open = |row: &Job| JobChange::Open(Box::new(row.clone()));
        let opened = RunWrite { jobs: rows.iter().map(open).collect(), ..begin(run_of.clone()) };
        commit(&runs, unit_of(opened)).await.unwrap();
        commit(&runs, unit_of(RunWrite { jobs: vec![open(&theirs)], ..begin(other.clone()) })).await.unwrap();
        let t = flow.tenant;
        let RunId(denied) = other.id;
        let first = take(&runs, t, at(10), 2, vec![denied]).await;
        assert_eq!(ids(&first), [rows[2].id, rows[1].id], "the highest priority, then the oldest");
        assert!(first.iter().all(|job| job.epoch == 1 && job.worker.as_deref() == Some("w")));
        let rest = take(&runs, t, at(10), 9, Vec::new()).await;
        assert_eq!(ids(&rest), [theirs.id, rows[0].id]);
        assert!(take(&runs, t, at(10), 9, Vec::new()).await.is_empty());
        assert!(
            take(&runs, tenant(), at(99), 9, Vec::new()).await.is_empty(),
            "another organisation has none"
        );

        // Held longer, and given back: under the right epoch alone.
        let change = |job: &Job, epoch: i64, until: Option<Timestamp>| Transaction {
            tenant: Some(t),
            locks: vec![LockChange { job: job.id, epoch, now: at(10), until }],
            ..Transaction::default()
        };
        assert_eq!(commit(&runs, change(&first[0], 7, Some(at(500)))).await, Err(StoreError::Stale));
        commit(&runs, change(&first[0], 1, Some(at(500)))).await.unwrap();
        commit(&runs, change(&first[1], 1, None)).await.unwrap();
        let again = take(&runs, t, at(20), 9, Vec::new()).await;
        assert_eq!(ids(&again), [theirs.id, rows[1].id, rows[0].id], "what ran out or was given back");
        assert_eq!(again.iter().map(|job| job.epoch).collect::<Vec<_>>(), [2, 3, 2]);

        // An end under the epoch that is held, once.
        let end = |epoch: i64| {
            let ending = JobEnding {
                tenant: t,
                id: rows[1].id,
                job_type: "ship".to_owned(),
                run: run_of.id,
                workflow: run_of.workflow,
                node_id: "work".to_owned(),
                worker: Some("w".to_owned()),
                epoch,
                outcome: JobOutcome::Completed,
                digest: "d".to_owned(),
                ended_at: at(21),
            };
            unit_of(RunWrite { jobs: vec![JobChange::End(Box::new(ending))], ..step(&run_of) })
        };
        assert_eq!(commit(&runs, end(2)).await, Err(StoreError::Stale));
        commit(&runs, end(3)).await.unwrap();
        assert!(matches!(runs.job(t, rows[1].id).await, Ok(KnownJob::Ended(ending)) if ending.epoch == 3));
        assert!(
            matches!(runs.job_by_number(t, rows[0].number()).await, Ok(KnownJob::Open(open)) if open.id == rows[0].id)
        );
        let page = PageRequest { limit: 50, cursor: None };
        let filter = JobFilter { worker: Some("w".to_owned()), ..JobFilter::default() };
        let held = runs.jobs(t, &filter, &AccessFilter::everything(), at(20), &page).await.unwrap();
        assert_eq!(held.items.len(), 3);
        runs.sweep(at(21).plus_seconds(3_600)).await.unwrap();
        assert_eq!(runs.job(t, rows[1].id).await, Err(StoreError::NotFound));
    });
}
