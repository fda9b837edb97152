//! Numbers that are kept with what they count, and quotas that rest on them.

use std::sync::Arc;

use diesel::sql_types::{BigInt, Text};
use diesel_async::RunQueryDsl;
use heddle_kernel::{EventId, TenantId, UserId};
use heddle_store::{Db, read};
use heddle_store_workflows::{SqlErrandStore, SqlRunStore, SqlWorkStore, SqlWorkflowStore};
use heddle_testkit::on_both;
use heddle_usecase::errand::{ErrandKind, ErrandStore as _, Lane, NewErrand};
use heddle_usecase::{Journal, StoreError};
use heddle_workflows::ports::{
    DefinitionStore, InboxWrite, RunStore, RunWrite, TaskChange, Transaction, WorkStore,
};
use heddle_workflows::quotas::Quotas;
use heddle_workflows::records::{
    DeadLetter, Run, RunState, SetAsideReason, Setback, TaskState, Tries, Work, Workflow,
};

use crate::support::*;

#[derive(Debug, diesel::QueryableByName)]
struct Numbers {
    #[diesel(sql_type = Text)]
    numbers: String,
}

/// The kept numbers, by workflow, as text.
const KEPT: &str = "SELECT sum(active) || ' ' || sum(incidents) || ' ' || sum(completed) || ' ' || sum(failed) \
    || ' ' || sum(cancelled) || ' ' || sum(open_tasks) AS numbers FROM stored_counts AS c \
    JOIN workflows AS w ON w.organization_id = c.organization_id AND w.id = c.workflow_id \
    GROUP BY w.slug ORDER BY w.slug";
/// The same, counted.
const COUNTED: &str = "SELECT \
    (SELECT count(*) FROM runs AS r WHERE r.workflow_id = w.id AND r.ended_at IS NULL) || ' ' || \
    (SELECT count(*) FROM runs AS r WHERE r.workflow_id = w.id AND r.ended_at IS NULL AND r.has_incident) || ' ' || \
    (SELECT count(*) FROM runs AS r WHERE r.workflow_id = w.id AND r.state = 'completed') || ' ' || \
    (SELECT count(*) FROM runs AS r WHERE r.workflow_id = w.id AND r.state = 'failed') || ' ' || \
    (SELECT count(*) FROM runs AS r WHERE r.workflow_id = w.id AND r.state = 'cancelled') || ' ' || \
    (SELECT count(*) FROM human_tasks AS t WHERE t.workflow_id = w.id AND t.state = 'open') AS numbers \
    FROM workflows AS w ORDER BY w.slug";

async fn numbers(db: &Db, text: &str) -> Vec<String> {
    let rows: Vec<Numbers> = read!(db, |conn| Ok(diesel::sql_query(text).load(conn).await?)).unwrap();
    rows.into_iter().map(|row| row.numbers).collect()
}

#[derive(diesel::QueryableByName)]
struct Sums {
    #[diesel(sql_type = BigInt)]
    kept: i64,
    #[diesel(sql_type = BigInt)]
    counted: i64,
}

/// Bytes as they are kept, and as they are.
async fn bytes(db: &Db) -> Sums {
    let text = "SELECT CAST(coalesce((SELECT sum(bytes) FROM stored_counts), 0) AS bigint) AS kept, CAST(\
        coalesce((SELECT sum(bytes) FROM runs), 0) \
        + coalesce((SELECT sum(length(candidate_users) + length(candidate_groups) + length(outcomes) \
            + coalesce(length(form), 0)) FROM human_tasks), 0) \
        + coalesce((SELECT sum(length(draft)) FROM workflows), 0) \
        + coalesce((SELECT sum(length(definition)) FROM workflow_versions), 0) \
        + coalesce((SELECT sum(length(work)) FROM dead_letters), 0) \
        + coalesce((SELECT sum(length(payload)) FROM errands), 0) \
        + coalesce((SELECT sum(length(payload)) FROM case_events), 0) AS bigint) AS counted";
    read!(db, |conn| Ok(diesel::sql_query(text).get_result(conn).await?)).unwrap()
}

async fn holds(db: &Db, when: &str) {
    assert_eq!(numbers(db, KEPT).await, numbers(db, COUNTED).await, "{when}");
    let sums = bytes(db).await;
    assert_eq!(sums.kept, sums.counted, "bytes {when}");
}

fn ends(run: &Run, state: RunState) -> RunWrite {
    let next = step(run);
    let ended = Run { state, has_incident: false, ended_at: Some(at(3)), waiting_since: None, ..next.run };
    RunWrite { run: ended, ..next }
}

fn errand(tenant: TenantId) -> NewErrand {
    let line = Some("w".to_owned());
    NewErrand {
        id: id(EventId),
        lane: Lane { tenant, kind: ErrandKind::Webhook, target: "c".to_owned(), line },
        workflow: None,
        run: None,
        name: "run.started".to_owned(),
        payload: "{}".to_owned(),
        created_at: at(0),
    }
}

#[tokio::test]
async fn numbers_are_those_that_counting_gives_after_everything_that_changes_them() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let t = tenant();
        let first = published(&workflows, t, "a").await;
        let second = published(&workflows, t, "b").await;
        holds(&db, "with nothing begun").await;

        // A batch of new runs, one of which fails in the middle and leaves no number behind.
        let begun_runs: Vec<Run> = (0..6)
            .map(|n| Run { has_incident: n == 1, ..run(if n % 2 == 0 { &first } else { &second }) })
            .collect();
        let with_task = |of: &Run| {
            let tasks = vec![TaskChange::Open(Box::new(task(of)))];
            unit_of(RunWrite { tasks, ..begin(of.clone()) })
        };
        let mut units: Vec<Transaction> = begun_runs.iter().map(with_task).collect();
        units.push(with_task(&begun_runs[0]));
        let answers = runs.commit(units).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 6);
        holds(&db, "after a batch of starts").await;

        // Ends of each kind, an incident that comes and one that goes, and a step that is stale.
        let incident = |of: &Run, has_incident| {
            let next = step(of);
            RunWrite { run: Run { has_incident, ..next.run }, ..next }
        };
        let stale =
            RunWrite { expected: Some(heddle_kernel::Revision(9)), ..ends(&begun_runs[5], RunState::Failed) };
        let units = vec![
            unit_of(ends(&begun_runs[0], RunState::Completed)),
            unit_of(incident(&begun_runs[1], false)),
            unit_of(ends(&begun_runs[2], RunState::Failed)),
            unit_of(ends(&begun_runs[3], RunState::Cancelled)),
            unit_of(incident(&begun_runs[4], true)),
            unit_of(stale),
        ];
        let answers = runs.commit(units).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 5);
        holds(&db, "after steps").await;

        // Tasks that end, with their runs and by themselves.
        let open = runs
            .tasks(t, &Default::default(), &[of_runs(&heddle_policy::AccessFilter::everything())], &page(50))
            .await
            .unwrap();
        let last = &begun_runs[5];
        let of_last = open.items.iter().find(|task| task.run == last.id).unwrap();
        let end = TaskChange::End {
            task: of_last.id,
            state: TaskState::Completed,
            at: at(2),
            by: Some(id(UserId)),
        };
        commit(&runs, unit_of(RunWrite { tasks: vec![end], ..step(last) })).await.unwrap();
        holds(&db, "after a completion").await;

        // What belongs to the organisation alone.
        let letter = DeadLetter {
            instance_kind: heddle_kernel::DefinitionKind::Workflow,
            tenant: t,
            id: id(EventId),
            work: Work::Kept(event(t, "letter")),
            reason: SetAsideReason::Failed,
            message: "m".to_owned(),
            tries: Tries::default(),
            workflow: None,
            run: None,
            created_at: at(0),
        };
        let kept = Transaction {
            tenant: Some(t),
            inbox: Some(InboxWrite::Insert(event(t, "k"))),
            letters: vec![letter.clone()],
            ..Transaction::default()
        };
        commit(&runs, kept).await.unwrap();
        holds(&db, "with a kept event and a letter").await;
        let of_webhook = errand(t);
        let asked = Transaction { errands: vec![of_webhook.clone()], ..unit_of(begin(run(&first))) };
        commit(&runs, asked).await.unwrap();
        holds(&db, "with an errand").await;
        let errands = SqlErrandStore::new(db.clone());
        assert_eq!(errands.trim(&of_webhook.lane, None).await, Ok(1));
        holds(&db, "without the errand").await;
        let letters = SqlWorkStore::new(db.clone());
        letters.discard(t, letter.id, &Journal::default()).await.unwrap();
        holds(&db, "without the letter").await;

        runs.purge(&begun_runs[0].key(), &Journal::default()).await.unwrap();
        holds(&db, "after a purge").await;
        for left in [&begun_runs[1], &begun_runs[5]] {
            let now = RunStore::load_any(&runs, t, left.id).await.unwrap();
            commit(&runs, unit_of(ends(&now, RunState::Completed))).await.unwrap();
        }
        workflows.delete(key(t, second.id), None, &Journal::default()).await.unwrap();
        holds(&db, "without a workflow").await;
        let view = workflows.get(key(t, first.id), id(UserId)).await.unwrap();
        assert_eq!((view.counts.active, view.counts.incidents, view.counts.failed), (2, 1, 1));
    });
}

/// Stores with these quotas.
fn bounded(db: &Db, quotas: Quotas) -> (SqlWorkflowStore, SqlRunStore, SqlWorkStore) {
    let quotas = Arc::new(quotas);
    (
        SqlWorkflowStore::new(db.clone()).with_quotas(quotas.clone()),
        SqlRunStore::new(db.clone()).with_quotas(quotas.clone()),
        SqlWorkStore::new(db.clone()).with_quotas(quotas),
    )
}

fn exceeded(limit: &'static str, most: u64, used: u64) -> Result<(), StoreError> {
    Err(StoreError::QuotaExceeded { limit, most, used })
}

#[tokio::test]
async fn what_an_organisation_stores_is_bounded_and_what_is_there_goes_on() {
    on_both!(|db| {
        let (workflows, runs, _) = bounded(&db, Quotas { runs: 3, open_tasks: 2, ..Quotas::DEFAULT });
        let (mine, other) =
            (published(&workflows, tenant(), "a").await, published(&workflows, tenant(), "a").await);
        let with_task = |of: &Workflow| {
            let new = run(of);
            let tasks = vec![TaskChange::Open(Box::new(task(&new)))];
            unit_of(RunWrite { tasks, ..begin(new) })
        };
        let plain = |of: &Workflow| unit_of(begin(run(of)));
        // One batch: two tasks have room, then a run without one, then none; the other organisation has its own room.
        let units = vec![
            with_task(&mine),
            with_task(&mine),
            with_task(&mine),
            plain(&mine),
            plain(&mine),
            with_task(&other),
        ];
        let first = units[0].runs[0].run.clone();
        let answers = runs.commit(units).await;
        let expected = [Ok(()), Ok(()), exceeded("openTasks", 2, 2), Ok(()), exceeded("runs", 3, 3), Ok(())];
        assert_eq!(answers, expected);
        // A step of a run that is there adds to none of it, and what is purged leaves room.
        commit(&runs, unit_of(ends(&first, RunState::Completed))).await.unwrap();
        assert_eq!(commit(&runs, plain(&mine)).await, exceeded("runs", 3, 3));
        runs.purge(&first.key(), &Journal::default()).await.unwrap();
        assert_eq!(commit(&runs, plain(&mine)).await, Ok(()));

        let (full, stored, _) = bounded(&db, Quotas { stored_bytes: 1, ..Quotas::DEFAULT });
        let new = workflow(mine.tenant, "more");
        let refused = full.insert(write(&new, None), &Journal::default()).await;
        assert!(
            matches!(refused, Err(StoreError::QuotaExceeded { limit: "storedBytes", most: 1, .. })),
            "{refused:?}"
        );
        let kept = Transaction {
            tenant: Some(mine.tenant),
            inbox: Some(InboxWrite::Insert(event(mine.tenant, "k"))),
            ..Transaction::default()
        };
        let refused = commit(&stored, kept).await;
        assert!(
            matches!(refused, Err(StoreError::QuotaExceeded { limit: "storedBytes", .. })),
            "{refused:?}"
        );
    });
}

#[tokio::test]
async fn work_waits_where_there_is_no_room_for_another_dead_letter_unless_it_ends_the_process() {
    on_both!(|db| {
        let (workflows, runs, work) = bounded(&db, Quotas { dead_letters: 1, ..Quotas::DEFAULT });
        let flow = published(&workflows, tenant(), "a").await;
        let t = flow.tenant;
        let events = [event(t, "a"), event(t, "b"), event(t, "c")];
        for one in &events {
            let unit = Transaction {
                tenant: Some(t),
                inbox: Some(InboxWrite::Insert(one.clone())),
                ..Transaction::default()
            };
            commit(&runs, unit).await.unwrap();
        }
        let aside = |number: usize, reason| {
            Setback::Aside(Box::new(DeadLetter {
                instance_kind: heddle_kernel::DefinitionKind::Workflow,
                tenant: t,
                id: id(EventId),
                work: Work::Kept(events[number].clone()),
                reason,
                message: "m".to_owned(),
                tries: Tries::default(),
                workflow: None,
                run: None,
                created_at: at(0),
            }))
        };
        use SetAsideReason as R;
        for (number, reason, letters) in [(0, R::Failed, 1), (1, R::Failed, 1), (2, R::Crashed, 2)] {
            work.record(vec![aside(number, reason)]).await.unwrap();
            assert_eq!(count(&db, "dead_letters").await, letters, "{number}");
        }
        let later = "case_events WHERE attempts = 0 AND idempotency_key = 'b' AND retry_at IS NOT NULL";
        assert_eq!(count(&db, later).await, 1, "the second waits in its place");
    });
}
