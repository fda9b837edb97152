//! The batch of run commits.

use diesel_async::SimpleAsyncConnection as _;
use heddle_kernel::{EventId, Revision, UserId, WorkflowId};
use heddle_store::{Db, PgDb};
use heddle_testkit::db::TestDb;
use heddle_testkit::on_both;
use heddle_usecase::Journal;
use heddle_usecase::StoreError;
use heddle_workflows::ports::{
    BindingAdvance, InboxWrite, Queue, RunStore, RunWrite, TaskChange, Transaction,
};
use heddle_workflows::records::{
    BindingKind, InboxState, Outgoing, PendingWork, Receivers, Run, RunState, TaskState, ThrownKind, Work,
};
use serde_json::json;

use crate::support::*;

fn duplicate(what: &str) -> StoreError {
    StoreError::Duplicate(what.to_owned())
}

pub(crate) fn thrown(run: &Run, name: &str) -> Outgoing {
    Outgoing {
        tenant: run.tenant,
        id: id(EventId),
        run: run.id,
        kind: ThrownKind::Message,
        name: name.to_owned(),
        correlation_key: Some("k".to_owned()),
        payload: json!([1]),
        created_at: at(0),
        hops: 3,
    }
}

/// A step that writes to every table.
fn everything(run: Run) -> RunWrite {
    RunWrite {
        timers_added: vec![timer("t", at(5))],
        subscriptions_added: vec![subscription(BindingKind::Message, "paid", Some("k"))],
        tasks: vec![TaskChange::Open(Box::new(heddle_workflows::records::HumanTask {
            candidate_users: vec!["a@x".to_owned(), "a@x".to_owned()],
            candidate_groups: vec!["ops".to_owned()],
            ..task(&run)
        }))],
        outgoing: vec![thrown(&run, "m")],
        ..begin(run)
    }
}

#[tokio::test]
async fn a_run_is_read_as_it_was_written() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let new = Run {
            has_incident: true,
            business_key: Some("b".to_owned()),
            correlation_key: Some("k".to_owned()),
            snapshot: state(&["x", "y"]),
            ..run(&flow)
        };
        let write = everything(new.clone());
        let TaskChange::Open(task) = &write.tasks[0] else { panic!() };
        let (task, sent) = (task.clone(), write.outgoing.clone());
        commit(&runs, unit_of(write)).await.unwrap();
        let read = runs.load_any(new.tenant, new.id).await.unwrap();
        assert_eq!(format!("{read:?}"), format!("{new:?}"));
        assert_eq!(runs.task(new.tenant, task.id).await.unwrap(), *task);
        let found = pending(&db, Queue::Outbox, 0, 9).await;
        let found: Vec<_> = found.into_iter().map(|one| one.work).collect();
        assert_eq!(found, sent.into_iter().map(Work::Thrown).collect::<Vec<_>>());
        let slices = runs.events(&new.key(), 0, 9).await.unwrap();
        assert_eq!((slices.len(), slices[0].first_sequence, slices[0].last_sequence), (1, 1, 2));
        assert_eq!(slices[0].events, b"[{\"sequence\":1},{\"sequence\":2}]");
        assert_eq!(count(&db, "human_task_candidates").await, 2);
        assert_eq!(count(&db, "audit_unsealed").await, 1);
    });
}

#[tokio::test]
async fn a_step_changes_the_run_and_what_it_waits_for() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let write = everything(run(&flow));
        let first = write.run.clone();
        let TaskChange::Open(task) = &write.tasks[0] else { panic!() };
        let task = task.id;
        commit(&runs, unit_of(write)).await.unwrap();
        let by = Some(id(UserId));
        let second = RunWrite {
            // Set anew under its own id.
            timers_removed: vec!["t".to_owned()],
            timers_added: vec![timer("t", at(9))],
            subscriptions_removed: vec!["s-paid".to_owned()],
            tasks: vec![
                TaskChange::Assign(task, Some("a@x".to_owned())),
                TaskChange::End { task, state: TaskState::Completed, at: at(3), by },
            ],
            ..step(&first)
        };
        let second = RunWrite {
            run: Run {
                state: RunState::Completed,
                ended_at: Some(at(3)),
                waiting_since: None,
                correlation_key: Some("k2".to_owned()),
                ..second.run
            },
            ..second
        };
        let next = second.run.clone();
        commit(&runs, unit_of(second)).await.unwrap();
        let read = runs.load_any(first.tenant, first.id).await.unwrap();
        assert_eq!(format!("{read:?}"), format!("{next:?}"));
        let due = pending(&db, Queue::Timers, 99, 9).await;
        assert_eq!((due.len(), timer_of(&due[0]).due_at), (1, at(9)));
        assert_eq!(count(&db, "run_subscriptions").await, 0);
        let done = runs.task(first.tenant, task).await.unwrap();
        assert_eq!((done.state, done.ended_at, done.completed_by), (TaskState::Completed, Some(at(3)), by));
        assert_eq!(done.assignee.as_deref(), Some("a@x"));
        let slices = runs.events(&first.key(), 2, 9).await.unwrap();
        assert_eq!((slices.len(), slices[0].first_sequence), (1, 3));
    });
}

#[tokio::test]
async fn a_run_that_ends_at_once_writes_three_rows() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        commit(&runs, unit_of(begin(ended(&flow)))).await.unwrap();
        for (table, rows) in [
            ("runs", 1),
            ("run_events", 1),
            ("audit_unsealed", 1),
            ("run_timers", 0),
            ("run_subscriptions", 0),
            ("human_tasks", 0),
            ("outbox", 0),
            ("case_events", 0),
            ("idempotency_keys", 0),
        ] {
            assert_eq!(count(&db, table).await, rows, "{table}");
        }
    });
}

#[tokio::test]
async fn one_that_fails_spares_the_others() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let gone = workflow(flow.tenant, "never-written");
        let present = begun(&runs, run(&flow)).await;
        let before = count(&db, "audit_unsealed").await;
        let stale = RunWrite { expected: Some(Revision(9)), ..step(&present) };
        let twin = run(&flow);
        let units = vec![
            unit_of(begin(run(&flow))),
            unit_of(RunWrite { timers_added: vec![timer("x", at(1))], ..stale }),
            unit_of(begin(twin.clone())),
            unit_of(RunWrite { outgoing: vec![thrown(&twin, "m")], ..begin(twin.clone()) }),
            unit_of(begin(run(&gone))),
            unit_of(step(&present)),
            Transaction::default(),
            unit_of(everything(run(&flow))),
        ];
        let answers = runs.commit(units).await;
        let expected = [
            Ok(()),
            Err(StoreError::Stale),
            Ok(()),
            Err(duplicate("runs.id")),
            Err(StoreError::NotFound),
            Ok(()),
            Err(StoreError::NotFound),
            Ok(()),
        ];
        assert_eq!(answers, expected);
        assert_eq!(count(&db, "runs").await, 4);
        assert_eq!(count(&db, "run_events").await, 5);
        // What the failed ones had written besides is gone too.
        assert_eq!(count(&db, "run_timers").await, 1);
        assert_eq!(count(&db, "outbox").await, 1);
        assert_eq!(count(&db, "audit_unsealed").await, before + 4);
        assert!(runs.commit(Vec::new()).await.is_empty());
    });
}

#[tokio::test]
async fn a_failing_unit_alone_writes_nothing() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let present = begun(&runs, run(&flow)).await;
        let again = unit_of(begin(present.clone()));
        assert_eq!(commit(&runs, again).await, Err(duplicate("runs.id")));
        let stale = RunWrite { expected: Some(Revision(7)), ..step(&present) };
        assert_eq!(commit(&runs, unit_of(stale)).await, Err(StoreError::Stale));
        let unknown = TaskChange::Assign(id(heddle_kernel::TaskId), None);
        let lost = RunWrite { tasks: vec![unknown], ..step(&present) };
        assert_eq!(commit(&runs, unit_of(lost)).await, Err(StoreError::Stale));
        assert_eq!(runs.load_any(flow.tenant, present.id).await.unwrap().revision, Revision::FIRST);
        assert_eq!(count(&db, "audit_unsealed").await, 1);
    });
}

#[tokio::test]
async fn a_thousand_starts_are_one_batch() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let units = (0..1000)
            .map(|n| Transaction {
                unit: with_key(flow.tenant, &format!("k{n}"), at(0)),
                ..unit_of(if n % 2 == 0 { begin(ended(&flow)) } else { everything(run(&flow)) })
            })
            .collect();
        let answers = runs.commit(units).await;
        assert_eq!(answers.len(), 1000);
        assert!(answers.iter().all(Result::is_ok), "{:?}", answers.iter().find(|answer| answer.is_err()));
        for (table, rows) in [
            ("runs", 1000),
            ("run_events", 1000),
            ("audit_unsealed", 1000),
            ("idempotency_keys", 1000),
            ("run_timers", 500),
            ("run_subscriptions", 500),
            ("human_tasks", 500),
            ("human_task_candidates", 1000),
            ("outbox", 500),
        ] {
            assert_eq!(count(&db, table).await, rows, "{table}");
        }
        if db.postgres().is_some() {
            // Each savepoint has a transaction id of its own: the rows were written by one.
            assert_eq!(count(&db, "(SELECT DISTINCT xmin::text FROM runs) AS writers").await, 1);
        }
    });
}

/// Steps of runs that are there go in the statements of new ones, and one that is too late spares the others.
#[tokio::test]
async fn many_steps_are_one_batch_with_what_they_end_and_begin() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let first: Vec<RunWrite> = (0..100).map(|_| everything(run(&flow))).collect();
        let answers = runs.commit(first.iter().cloned().map(unit_of).collect()).await;
        assert!(answers.iter().all(Result::is_ok));
        let by = Some(id(UserId));
        let next = |before: &RunWrite| {
            let TaskChange::Open(task) = &before.tasks[0] else { panic!() };
            RunWrite {
                timers_removed: vec!["t".to_owned()],
                timers_added: vec![timer("t", at(9))],
                subscriptions_removed: vec!["s-paid".to_owned()],
                tasks: vec![TaskChange::End { task: task.id, state: TaskState::Completed, at: at(3), by }],
                ..step(&before.run)
            }
        };
        let late = RunWrite { expected: Some(Revision(7)), ..next(&first[40]) };
        let mut units: Vec<Transaction> = first
            .iter()
            .enumerate()
            .filter(|(n, _)| *n != 40)
            .map(|(_, before)| unit_of(next(before)))
            .collect();
        units.push(unit_of(late));
        units.extend((0..100).map(|_| unit_of(begin(ended(&flow)))));
        let answers = runs.commit(units).await;
        let refused: Vec<usize> = (0..answers.len()).filter(|n| answers[*n].is_err()).collect();
        assert_eq!((refused, &answers[99]), (vec![99], &Err(StoreError::Stale)));
        for (table, rows) in [
            ("runs", 200),
            ("runs WHERE revision = 2", 99),
            ("run_events", 299),
            ("audit_unsealed", 299),
            ("human_tasks WHERE state = 'completed'", 99),
            ("human_tasks WHERE state = 'open'", 1),
            ("run_timers", 100),
            ("run_subscriptions", 1),
        ] {
            assert_eq!(count(&db, table).await, rows, "{table}");
        }
        if db.postgres().is_some() {
            // Each savepoint has a transaction id of its own: halves of 200 were written together, not one by one.
            let writers = count(&db, "(SELECT DISTINCT xmin::text FROM runs) AS writers").await;
            assert!(writers < 20, "{writers} savepoints");
        }
    });
}

#[tokio::test]
async fn a_used_key_fails_its_unit_alone_until_it_is_over() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let keyed = |key, seconds| Transaction {
            unit: with_key(flow.tenant, key, at(seconds)),
            ..unit_of(begin(ended(&flow)))
        };
        let taken = Err(duplicate("idempotency_keys.key"));
        let answers = runs.commit(vec![keyed("a", 0), keyed("a", 0), keyed("b", 0)]).await;
        assert_eq!(answers, [Ok(()), taken.clone(), Ok(())]);
        let answers = runs.commit(vec![keyed("a", 60), keyed("c", 60)]).await;
        assert_eq!(answers, [taken, Ok(())]);
        let day = 24 * 3600;
        assert_eq!(runs.commit(vec![keyed("a", day), keyed("d", day)]).await, [Ok(()), Ok(())]);
        assert_eq!(count(&db, "runs").await, 5);
    });
}

#[tokio::test]
async fn the_inbox_takes_a_key_once_and_gives_an_event_once() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let with = |inbox, write| Transaction { inbox: Some(inbox), ..unit_of(write) };
        let kept = event(flow.tenant, "e1");
        let first = with(InboxWrite::Insert(kept.clone()), begin(run(&flow)));
        commit(&runs, first).await.unwrap();
        assert_eq!(runs.inbox_event(flow.tenant, kept.id).await.unwrap(), kept);
        let repeat = with(InboxWrite::Insert(event(flow.tenant, "e1")), begin(run(&flow)));
        let other = with(InboxWrite::Insert(event(flow.tenant, "e2")), begin(run(&flow)));
        let answers = runs.commit(vec![repeat, other]).await;
        assert_eq!(answers, [Err(duplicate("idempotencyKey")), Ok(())]);
        assert_eq!(count(&db, "runs").await, 2);

        let (a, b) = (run(&flow), run(&flow));
        let mut sorted = vec![a.id, b.id];
        sorted.sort();
        let consume = InboxWrite::Consume {
            id: kept.id,
            receivers: Receivers { run_ids: vec![b.id, a.id, b.id], case_ids: Vec::new() },
        };
        let taken =
            Transaction { runs: vec![begin(a), begin(b)], ..with(consume.clone(), begin(run(&flow))) };
        commit(&runs, taken).await.unwrap();
        let read = runs.inbox_event(flow.tenant, kept.id).await.unwrap();
        assert_eq!((read.state, read.run_ids), (InboxState::Consumed, sorted));
        assert_eq!(commit(&runs, with(consume, begin(run(&flow)))).await, Err(StoreError::Stale));
        assert_eq!(count(&db, "runs").await, 4);
    });
}

#[tokio::test]
async fn a_thrown_message_is_delivered_once() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let from = run(&flow);
        let sent = thrown(&from, "m");
        let write = RunWrite { outgoing: vec![sent.clone()], ..begin(from) };
        commit(&runs, unit_of(write)).await.unwrap();
        let deliver = || Transaction { delivered: Some(sent.id), ..unit_of(begin(run(&flow))) };
        assert_eq!(runs.commit(vec![deliver(), deliver()]).await, [Ok(()), Err(StoreError::Stale)]);
        assert!(pending(&db, Queue::Outbox, 9, 9).await.is_empty());
        assert_eq!(count(&db, "runs").await, 2);
    });
}

#[tokio::test]
async fn a_timer_start_moves_on_once_per_slot() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let mut slot = binding(&flow, BindingKind::Timer, "");
        (slot.next_due_at, slot.timer) = (Some(at(10)), Some(json!({"left": 2})));
        bind(&workflows, &flow, std::slice::from_ref(&slot)).await;
        let fire = |binding: &heddle_workflows::records::StartBinding, next: Option<i64>| {
            let advance = BindingAdvance {
                binding: binding.clone(),
                next_due_at: next.map(at),
                timer: Some(json!({"left": 1})),
            };
            Transaction { advance: Some(advance), ..unit_of(begin(run(&flow))) }
        };
        commit(&runs, fire(&slot, Some(20))).await.unwrap();
        assert_eq!(commit(&runs, fire(&slot, Some(20))).await, Err(StoreError::Stale));
        let due = pending(&db, Queue::Starts, 20, 9).await;
        let [PendingWork { work: Work::TimerStart(moved), .. }] = &due[..] else { panic!("{due:?}") };
        assert_eq!(
            (due.len(), moved.next_due_at, &moved.timer),
            (1, Some(at(20)), &Some(json!({"left": 1})))
        );
        commit(&runs, fire(moved, None)).await.unwrap();
        assert!(pending(&db, Queue::Starts, 99, 9).await.is_empty());
        assert_eq!(count(&db, "runs").await, 2);
        let nothing = Transaction { runs: Vec::new(), unit: Journal::default(), ..fire(&slot, None) };
        assert_eq!(commit(&runs, nothing).await, Err(StoreError::Stale));
    });
}

#[tokio::test]
async fn nothing_is_written_for_another_organisation() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let present = begun(&runs, run(&flow)).await;
        let other = tenant();
        let foreign = Transaction { tenant: Some(other), ..unit_of(begin(run(&flow))) };
        assert_eq!(commit(&runs, foreign).await, Err(StoreError::NotFound));
        let borrowed = begin(Run { tenant: other, ..run(&flow) });
        assert_eq!(commit(&runs, unit_of(borrowed)).await, Err(StoreError::NotFound));
        let taken_over = step(&Run { tenant: other, ..present.clone() });
        assert_eq!(commit(&runs, unit_of(taken_over)).await, Err(StoreError::Stale));
        assert_eq!(runs.load_any(other, present.id).await.unwrap_err(), StoreError::NotFound);
        let found = runs.find(&present.key()).await.unwrap();
        assert_eq!(found.id, present.id);
        // The workflow of a key is only claimed.
        let elsewhere = Run { workflow: id(WorkflowId), ..present.clone() }.key();
        assert_eq!(runs.find(&elsewhere).await.unwrap_err(), StoreError::NotFound);
        assert!(runs.events(&Run { tenant: other, ..present.clone() }.key(), 0, 9).await.unwrap().is_empty());
        assert_eq!(count(&db, "runs").await, 1);
    });
}

/// What another node does to a row while it changes it: SQLite has one process, and no such thing.
#[tokio::test]
async fn a_row_that_another_node_holds_holds_up_nobody_else_for_long() {
    let Some(here) = TestDb::postgres().await else { return };
    let Db::Postgres(other_node) = here.db() else { panic!("not PostgreSQL") };
    let (workflows, runs) = stores(here.db());
    let flow = published(&workflows, tenant(), "a").await;
    let taken = begun(&runs, run(&flow)).await;
    let mut conn = other_node.conn().await.unwrap();
    PgDb::begin(&mut conn).await.unwrap();
    conn.batch_execute("SELECT 1 FROM runs FOR UPDATE").await.unwrap();
    let seconds = |since: std::time::Instant| since.elapsed().as_secs();

    let since = std::time::Instant::now();
    let mut units: Vec<Transaction> = (0..100).map(|_| unit_of(begin(run(&flow)))).collect();
    units.insert(37, unit_of(step(&taken)));
    let answers = runs.commit(units).await;
    assert!(seconds(since) < 7, "{} s", seconds(since));
    let refused: Vec<usize> = (0..answers.len()).filter(|place| answers[*place].is_err()).collect();
    assert_eq!(refused, [37]);
    assert!(matches!(answers[37], Err(StoreError::Unavailable(_))), "{:?}", answers[37]);

    let since = std::time::Instant::now();
    let alone = commit(&runs, unit_of(step(&taken))).await;
    assert!(matches!(alone, Err(StoreError::Unavailable(_))) && seconds(since) < 7, "{alone:?}");

    PgDb::finish(&mut conn, Ok(())).await.unwrap();
    assert_eq!(commit(&runs, unit_of(step(&taken))).await, Ok(()));
}
