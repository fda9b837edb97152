//! Jobs: taken once, in order, under epochs.

use heddle_kernel::{CaseId, DefinitionKind, JobId, PageRequest, RunId, TenantId, Timestamp};
use heddle_policy::{AccessFilter, resource};
use heddle_store_workflows::SqlRunStore;
use heddle_testkit::on_both;
use heddle_usecase::StoreError;
use heddle_workflows::ports::{
    Activation, Candidates, JobChange, JobFilter, JobStore, LockChange, Narrowed, ProcessVersion, RunStore,
    RunWrite, Taken, TakenJobs, Transaction, WantedType,
};
use heddle_workflows::records::{Job, JobEnding, JobKind, JobOutcome, JobState, KnownJob, Run};
use serde_json::Map;
use uuid::Uuid;

use crate::support::*;

fn job(run: &Run, priority: i64, place: i64) -> Job {
    Job {
        instance_kind: run.kind,
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
        lapses: 0,
        message: None,
        place: at(place),
        created_at: at(place),
    }
}

fn wanted(name: &str) -> WantedType {
    WantedType { name: name.to_owned(), within: None, narrowed: Narrowed::default() }
}

/// Activation of jobs at an instant, for a second.
fn activation(now: Timestamp, most: u32) -> Activation {
    Activation {
        types: ["ship", "unknown"].map(wanted).to_vec(),
        denied: Vec::new(),
        denied_kind: None,
        worker: "w".to_owned(),
        only: None,
        most,
        now,
        until: now.plus_seconds(1),
        taken: TakenJobs::default(),
    }
}

async fn taken_by(store: &SqlRunStore, tenant: TenantId, activation: Activation) -> Taken {
    let taken = activation.taken.clone();
    let unit = Transaction { tenant: Some(tenant), activation: Some(activation), ..Transaction::default() };
    commit(store, unit).await.unwrap();
    taken.take()
}

/// Takes jobs at an instant, for a second.
async fn take(
    store: &SqlRunStore,
    tenant: TenantId,
    now: Timestamp,
    most: u32,
    denied: Vec<Uuid>,
) -> Vec<Job> {
    let taken = taken_by(store, tenant, Activation { denied, ..activation(now, most) }).await;
    taken.jobs.into_iter().map(|one| one.job).collect()
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
                instance_kind: heddle_kernel::DefinitionKind::Workflow,
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

#[tokio::test]
async fn a_narrowed_look_finds_what_fits_behind_all_others_and_locks_nothing_else() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let t = flow.tenant;
        let mine = Run { business_key: Some("K-1".to_owned()), ..run(&flow) };
        let theirs = run(&flow);
        let open = |row: &Job| JobChange::Open(Box::new(row.clone()));
        let before: Vec<Job> = (0..30).map(|place| job(&theirs, 0, place)).collect();
        let sought = Job { process_id: "q".to_owned(), ..job(&mine, 0, 99) };
        let opened = RunWrite { jobs: before.iter().map(open).collect(), ..begin(theirs.clone()) };
        commit(&runs, unit_of(opened)).await.unwrap();
        commit(&runs, unit_of(RunWrite { jobs: vec![open(&sought)], ..begin(mine.clone()) })).await.unwrap();

        let version =
            |process: &str| ProcessVersion { process_id: process.to_owned(), version: 1, workflow: flow.id };
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let all = Narrowed::default;
        for (narrowed, expected) in [
            (Narrowed { business_key: Some("K-1".to_owned()), ..all() }, true),
            (Narrowed { business_key: Some("K-2".to_owned()), ..all() }, false),
            (Narrowed { processes: names(&["x", "q"]), ..all() }, true),
            (Narrowed { processes: names(&[]), ..all() }, false),
            (Narrowed { versions: Some(vec![version("x"), version("q")]), ..all() }, true),
            (Narrowed { versions: Some(Vec::new()), ..all() }, false),
        ] {
            let types = vec![WantedType { narrowed: narrowed.clone(), ..wanted("ship") }];
            let found = taken_by(&runs, t, Activation { types, ..activation(at(10), 5) }).await.jobs;
            let found: Vec<JobId> = found.iter().map(|one| one.job.id).collect();
            assert_eq!(found, if expected { vec![sought.id] } else { Vec::new() }, "{narrowed:?}");
            // Its lock runs out before the next one looks.
            let noted =
                taken_by(&runs, t, Activation { only: Some(Vec::new()), ..activation(at(10_000_000), 5) });
            assert_eq!(noted.await.ran_out.values().sum::<usize>(), usize::from(expected));
        }

        // Looked at page by page, without a lock; taken by their ids.
        let mut wanted = Candidates {
            types: vec![wanted("ship")],
            denied: Vec::new(),
            denied_kind: None,
            behind: None,
            most: 8,
        };
        let mut seen = Vec::new();
        loop {
            let page = runs.free_jobs(t, &wanted).await.unwrap();
            seen.extend(page.jobs.into_iter().map(|one| one.job.id));
            if page.behind.is_none() {
                break;
            }
            wanted.behind = page.behind;
        }
        let expected: Vec<JobId> = ids(&before).into_iter().chain([sought.id]).collect();
        assert_eq!(seen, expected, "each once, in the order in which they are given out");
        let by_process = Narrowed { processes: names(&["q"]), ..all() };
        wanted = Candidates {
            types: vec![WantedType { narrowed: by_process, ..wanted.types[0].clone() }],
            behind: None,
            ..wanted
        };
        let page = runs.free_jobs(t, &wanted).await.unwrap();
        let found: Vec<JobId> = page.jobs.iter().map(|one| one.job.id).collect();
        assert_eq!((found, page.behind), (vec![sought.id], None));

        let only = Some(vec![sought.id, before[7].id]);
        let found = taken_by(&runs, t, Activation { only, ..activation(at(10_000_000), 9) }).await.jobs;
        let found: Vec<JobId> = found.iter().map(|one| one.job.id).collect();
        assert_eq!(found, [before[7].id, sought.id]);
    });
}

#[tokio::test]
async fn a_look_without_a_lock_ends_behind_a_bounded_number_of_jobs_and_goes_on_there() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let (t, theirs) = (flow.tenant, run(&flow));
        let mine = Run { business_key: Some("K-1".to_owned()), ..run(&flow) };
        let open = |row: &Job| JobChange::Open(Box::new(row.clone()));
        let before: Vec<Job> = (0..700).map(|place| job(&theirs, 0, place)).collect();
        let sought = job(&mine, 0, 900);
        let opened = RunWrite { jobs: before.iter().map(open).collect(), ..begin(theirs.clone()) };
        commit(&runs, unit_of(opened)).await.unwrap();
        commit(&runs, unit_of(RunWrite { jobs: vec![open(&sought)], ..begin(mine.clone()) })).await.unwrap();
        let narrowed = Narrowed { business_key: Some("K-1".to_owned()), ..Narrowed::default() };
        let types = vec![WantedType { narrowed, ..wanted("ship") }];
        let mut asked = Candidates { types, denied: Vec::new(), denied_kind: None, behind: None, most: 8 };
        let first = runs.free_jobs(t, &asked).await.unwrap();
        let behind = first.behind.expect("there are more");
        assert_eq!((first.jobs.len(), first.looked_at, behind.job), (0, 500, before[499].id));
        asked.behind = Some(behind);
        let second = runs.free_jobs(t, &asked).await.unwrap();
        let found: Vec<JobId> = second.jobs.iter().map(|one| one.job.id).collect();
        assert_eq!((found, second.behind), (vec![sought.id], None));
    });
}

#[tokio::test]
async fn locks_that_run_out_are_counted_until_a_worker_says_something() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let (t, of) = (flow.tenant, run(&flow));
        let row = job(&of, 0, 1);
        let opened = RunWrite { jobs: vec![JobChange::Open(Box::new(row.clone()))], ..begin(of.clone()) };
        commit(&runs, unit_of(opened)).await.unwrap();
        for (place, lapses) in [0, 1, 2].into_iter().enumerate() {
            let now = at(10).plus_seconds(10 * i64::try_from(place).unwrap());
            let taken = taken_by(&runs, t, activation(now, 1)).await;
            assert_eq!(taken.jobs[0].job.lapses, lapses);
            assert_eq!(taken.ran_out.get("ship").copied(), (place > 0).then_some(1));
        }
        let now = at(10).plus_seconds(20);
        let change = LockChange { job: row.id, epoch: 3, now, until: None };
        let unit = Transaction { tenant: Some(t), locks: vec![change], ..Transaction::default() };
        commit(&runs, unit).await.unwrap();
        let again = take(&runs, t, now, 1, Vec::new()).await;
        assert_eq!(again[0].lapses, 0, "it was given back by a worker that lives");
    });
}

#[tokio::test]
async fn who_is_denied_all_of_one_kind_sees_and_takes_the_jobs_of_the_other() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let (plain, of_case) = (run(&flow), Run { kind: DefinitionKind::Case, ..run(&flow) });
        let rows = [job(&plain, 0, 1), job(&of_case, 9, 0)];
        for (of, row) in [&plain, &of_case].into_iter().zip(&rows) {
            let jobs = vec![JobChange::Open(Box::new(row.clone()))];
            commit(&runs, unit_of(RunWrite { jobs, ..begin(of.clone()) })).await.unwrap();
        }
        let (t, all) = (flow.tenant, AccessFilter::<resource::Job>::everything);
        let page = PageRequest { limit: 9, cursor: None };
        for (access, expected) in [
            (all().but_within_all::<resource::Case>(), vec![rows[0].id]),
            (all().but_within_all::<resource::Workflow>(), vec![rows[1].id]),
            (all().but_within::<resource::Case>([CaseId::from(of_case.id)]), vec![rows[0].id]),
        ] {
            let seen = runs.jobs(t, &JobFilter::default(), &access, at(5), &page).await.unwrap();
            assert_eq!(ids(&seen.items), expected, "{access:?}");
        }
        for (kind, expected) in [(DefinitionKind::Case, rows[0].id), (DefinitionKind::Workflow, rows[1].id)] {
            let asked = Activation { denied_kind: Some(kind), ..activation(at(10), 9) };
            assert_eq!(ids_of(&taken_by(&runs, t, asked).await), [expected]);
        }
    });
}

fn ids_of(taken: &Taken) -> Vec<JobId> {
    taken.jobs.iter().map(|one| one.job.id).collect()
}
