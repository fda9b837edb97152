//! Removal of runs, and what they wait for.

use diesel_async::RunQueryDsl as _;
use heddle_kernel::{TenantId, UserId, WorkflowId};
use heddle_policy::{AccessFilter, InstanceKey};
use heddle_store::PgDb;
use heddle_store_workflows::SqlWorkStore;
use heddle_testkit::on_both;
use heddle_usecase::Journal;
use heddle_usecase::StoreError;
use heddle_workflows::ports::{
    DefinitionStore, FeedSlice, Queue, RunStore, RunWrite, StoreWrite, TaskChange, WorkStore, WorkflowWrite,
};
use heddle_workflows::records::{BindingKind, HumanTask, Run, Work, Workflow, WorkflowState};
use serde_json::json;

use crate::support::*;

/// Key of a run where it is not.
fn elsewhere(run: &Run, tenant: TenantId, workflow: WorkflowId) -> InstanceKey {
    Run { tenant, workflow, ..run.clone() }.key()
}

#[tokio::test]
async fn a_purged_run_leaves_a_tombstone_alone() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let over = ended(&flow);
        let open = HumanTask { candidate_groups: vec!["ops".to_owned()], ..task(&over) };
        let write = RunWrite {
            timers_added: vec![timer("t", at(1))],
            subscriptions_added: vec![subscription(BindingKind::Signal, "s", None)],
            tasks: vec![TaskChange::Open(Box::new(open))],
            ..begin(over.clone())
        };
        commit(&runs, unit_of(write)).await.unwrap();
        let active = begun(&runs, run(&flow)).await;

        let unit = unit(flow.tenant, at(7));
        assert_eq!(runs.purge(&active.key(), &unit).await, Err(StoreError::Stale));
        assert_eq!(runs.purge(&elsewhere(&over, tenant(), flow.id), &unit).await, Err(StoreError::NotFound));
        assert!(!runs.was_purged(&over.key()).await.unwrap());
        runs.purge(&over.key(), &unit).await.unwrap();
        assert!(runs.was_purged(&over.key()).await.unwrap());
        assert!(!runs.was_purged(&elsewhere(&over, tenant(), flow.id)).await.unwrap());
        assert!(!runs.was_purged(&elsewhere(&over, flow.tenant, id(WorkflowId))).await.unwrap());
        assert!(!runs.was_purged(&active.key()).await.unwrap());
        assert_eq!(runs.purge(&over.key(), &Journal::default()).await, Err(StoreError::NotFound));
        for (table, rows) in [
            ("runs", 1),
            ("run_events", 1),
            ("run_timers", 0),
            ("run_subscriptions", 0),
            ("human_tasks", 0),
            ("human_task_candidates", 0),
            ("tombstones", 1),
            ("audit_unsealed", 3),
        ] {
            assert_eq!(count(&db, table).await, rows, "{table}");
        }
    });
}

#[tokio::test]
async fn events_come_in_slices_behind_a_number() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let mut last = begun(&runs, run(&flow)).await;
        for _ in 0..3 {
            let write = step(&last);
            last = write.run.clone();
            commit(&runs, unit_of(write)).await.unwrap();
        }
        // Slices: 1-2, 3, 4, 5.
        for (after, limit, firsts) in
            [(0, 9, vec![1, 3, 4, 5]), (1, 2, vec![1, 3]), (2, 9, vec![3, 4, 5]), (5, 9, vec![])]
        {
            let slices = runs.events(&last.key(), after, limit).await.unwrap();
            let found: Vec<_> = slices.iter().map(|slice| slice.first_sequence).collect();
            assert_eq!(found, firsts, "after {after}");
        }
    });
}

#[tokio::test]
async fn a_large_slice_is_read_alone() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let mut last = begun(&runs, run(&flow)).await;
        for size in [10, 100_000, 10, 10] {
            let large = serde_json::to_vec(&vec!["x".repeat(size)]).unwrap();
            let write = RunWrite { events: Some(large), ..step(&last) };
            last = write.run.clone();
            commit(&runs, unit_of(write)).await.unwrap();
        }
        // Slices: 1-2, 3, the large 4, 5, 6.
        for (after, firsts) in [(0, vec![1, 3]), (2, vec![3]), (3, vec![4]), (4, vec![5, 6])] {
            let slices = runs.events(&last.key(), after, 9).await.unwrap();
            let found: Vec<_> = slices.iter().map(|slice| slice.first_sequence).collect();
            assert_eq!(found, firsts, "after {after}");
            assert!(slices.iter().all(|slice| (slice.events.len() > 100_000) == (slice.first_sequence == 4)));
        }
    });
}

#[tokio::test]
async fn due_timers_come_earliest_first_over_all_organisations() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let work = SqlWorkStore::new(db.clone());
        let next = async |queue| work.next_due(queue, at(0)).await.unwrap();
        assert_eq!((next(Queue::Timers).await, next(Queue::Starts).await), (None, None));
        for (slug, due) in [("a", [30, 10]), ("b", [20, 40])] {
            let flow = published(&workflows, tenant(), slug).await;
            let timers_added = vec![timer("t0", at(due[0])), timer("t1", at(due[1]))];
            commit(&runs, unit_of(RunWrite { timers_added, ..begin(run(&flow)) })).await.unwrap();
        }
        let seconds = |now, limit| {
            let db = &db;
            async move {
                let due = pending(db, Queue::Timers, now, limit).await;
                due.iter().map(|one| timer_of(one).due_at).collect::<Vec<_>>()
            }
        };
        assert_eq!(seconds(30, 9).await, [at(10), at(20), at(30)]);
        assert!(seconds(9, 9).await.is_empty());
        assert_eq!(next(Queue::Timers).await, Some(at(10)));

        let flow = published(&workflows, tenant(), "c").await;
        let mut slot = binding(&flow, BindingKind::Timer, "");
        slot.next_due_at = Some(at(5));
        let listener = binding(&flow, BindingKind::Message, "m");
        bind(&workflows, &flow, &[slot.clone(), listener]).await;
        assert_eq!(next(Queue::Starts).await, Some(at(5)));
        let found = pending(&db, Queue::Starts, 5, 9).await;
        assert_eq!(found.iter().map(|one| one.work.clone()).collect::<Vec<_>>(), [Work::TimerStart(slot)]);
        assert!(pending(&db, Queue::Starts, 4, 9).await.is_empty());
    });
}

#[tokio::test]
async fn subscriptions_match_by_name_and_key() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let mut ids = Vec::new();
        for key in [Some("k"), None] {
            let new = run(&flow);
            ids.push(new.id);
            let subscriptions_added = vec![
                subscription(BindingKind::Message, "paid", key),
                subscription(BindingKind::Signal, "stop", key),
            ];
            commit(&runs, unit_of(RunWrite { subscriptions_added, ..begin(new) })).await.unwrap();
        }
        for (kind, name, key, expected) in [
            (BindingKind::Message, "paid", Some("k"), vec![ids[0]]),
            (BindingKind::Message, "paid", None, vec![ids[1]]),
            (BindingKind::Message, "paid", Some("other"), vec![]),
            (BindingKind::Message, "stop", Some("k"), vec![]),
            (BindingKind::Signal, "stop", None, ids.clone()),
            (BindingKind::Signal, "stop", Some("k"), ids.clone()),
        ] {
            let matched = runs.matching(flow.tenant, kind, name, key).await.unwrap();
            let mut found: Vec<_> = matched.iter().map(|matched| matched.run).collect();
            found.sort();
            assert_eq!(found, expected, "{kind:?} {name} {key:?}");
            assert!(runs.matching(tenant(), kind, name, key).await.unwrap().is_empty());
        }
    });
}

#[tokio::test]
async fn starts_match_while_the_workflow_is_published() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let mut flow = published(&workflows, tenant(), "a").await;
        let wanted =
            [binding(&flow, BindingKind::Message, "order"), binding(&flow, BindingKind::Signal, "order")];
        flow = bind(&workflows, &flow, &wanted).await;
        for start in &wanted {
            let found = runs.matching_starts(flow.tenant, start.kind, "order").await.unwrap();
            assert_eq!(found, std::slice::from_ref(start));
        }
        assert!(runs.matching_starts(tenant(), BindingKind::Message, "order").await.unwrap().is_empty());
        assert!(runs.matching_starts(flow.tenant, BindingKind::Message, "other").await.unwrap().is_empty());

        flow.state = WorkflowState::Archived;
        flow.revision = flow.revision.next();
        workflows.update(write(&flow, None), &Journal::default()).await.unwrap();
        assert_eq!(count(&db, "start_bindings").await, 0);
        flow.state = WorkflowState::Published;
        flow.revision = flow.revision.next();
        let first = starts(&wanted[..1]);
        let back = WorkflowWrite { starts: Some(&first), ..write(&flow, None) };
        let theirs = Workflow { tenant: tenant(), ..flow.clone() };
        let lost = WorkflowWrite { definition: &theirs, ..back.clone() };
        assert_eq!(workflows.update(lost, &Journal::default()).await, Err(StoreError::NotFound));
        workflows.update(back, &Journal::default()).await.unwrap();
        assert_eq!(runs.matching_starts(flow.tenant, BindingKind::Message, "order").await.unwrap().len(), 1);
    });
}

#[tokio::test]
async fn a_workflow_comes_back_from_the_archive_with_its_starts_or_not_at_all() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let start = binding(&flow, BindingKind::Message, "order");
        let listening = || runs.matching_starts(flow.tenant, BindingKind::Message, "order");
        let bound = bind(&workflows, &flow, std::slice::from_ref(&start)).await;
        let archived = Workflow { state: WorkflowState::Archived, revision: bound.revision.next(), ..bound };
        workflows.update(write(&archived, None), &Journal::default()).await.unwrap();
        assert_eq!(listening().await.unwrap(), []);

        // The second binding cannot be written: it is the first one again. Nothing else may be written then.
        let back = Workflow {
            state: WorkflowState::Published,
            revision: archived.revision.next(),
            ..archived.clone()
        };
        let twice = starts(&[start.clone(), start.clone()]);
        let failing = WorkflowWrite { starts: Some(&twice), ..write(&back, None) };
        let refused = workflows.update(failing, &unit(flow.tenant, at(1))).await;
        assert!(matches!(refused, Err(StoreError::Duplicate(_))), "{refused:?}");
        let view = workflows.get(key(flow.tenant, flow.id), id(UserId)).await.unwrap();
        assert_eq!(view.definition, archived, "it is still in the archive");
        assert_eq!((listening().await.unwrap(), count(&db, "audit_unsealed").await), (vec![], 0));

        let whole = WorkflowWrite { starts: Some(&twice[..1]), ..write(&back, None) };
        workflows.update(whole, &unit(flow.tenant, at(1))).await.unwrap();
        assert_eq!(listening().await.unwrap(), [start]);
        let later = Workflow { revision: back.revision.next(), ..back };
        workflows.update(write(&later, None), &Journal::default()).await.unwrap();
        assert_eq!(listening().await.unwrap().len(), 1, "another change leaves them");
    });
}

#[tokio::test]
async fn a_run_in_an_unknown_state_is_not_left_out_of_the_counts() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        begun(&runs, run(&flow)).await;
        assert_eq!(workflows.get(key(flow.tenant, flow.id), id(UserId)).await.unwrap().counts.active, 1);
        execute(&db, "UPDATE runs SET state = 'dreaming'").await;
        // What is not known to have ended is active.
        assert_eq!(workflows.get(key(flow.tenant, flow.id), id(UserId)).await.unwrap().counts.active, 1);
    });
}

#[tokio::test]
async fn what_was_committed_behind_an_open_transaction_is_there_already_for_who_begins_to_read() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let Some(postgres) = db.postgres() else {
            commit(&runs, unit_of(begin(run(&flow)))).await.unwrap();
            assert_eq!(runs.feed_end(flow.tenant).await.unwrap().seen, Vec::<i64>::new());
            continue;
        };
        let mut other = postgres.conn().await.unwrap();
        PgDb::begin(&mut other).await.unwrap();
        diesel::sql_query("SELECT pg_current_xact_id()").execute(&mut *other).await.unwrap();
        let (before, after) = (run(&flow), run(&flow));
        commit(&runs, unit_of(begin(before.clone()))).await.unwrap();
        let end = runs.feed_end(flow.tenant).await.unwrap();
        commit(&runs, unit_of(begin(after.clone()))).await.unwrap();
        PgDb::finish(&mut other, Ok(())).await.unwrap();
        let everything = AccessFilter::everything();
        // Transactions of other tests in the cluster may hold up what is told.
        let told = tokio::time::timeout(std::time::Duration::from_secs(20), async {
            loop {
                let read =
                    runs.feed(flow.tenant, None, &[of_runs(&everything)], end.place, 1 << 20).await.unwrap();
                if read.slices.len() == 2 {
                    return read.slices;
                }
                tokio::task::yield_now().await;
            }
        });
        let told = told.await.unwrap();
        let seen = |slice: &FeedSlice| (slice.run, end.seen.contains(&slice.commit));
        assert_eq!(told.iter().map(seen).collect::<Vec<_>>(), [(before.id, true), (after.id, false)]);
    });
}

#[tokio::test]
async fn what_comes_after_a_restore_into_a_new_cluster_stands_behind_what_was_restored() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let (first, second) = (run(&flow), run(&flow));
        let since = runs.feed_end(flow.tenant).await.unwrap().place;
        commit(&runs, unit_of(begin(first.clone()))).await.unwrap();
        if db.postgres().is_some() {
            // Numbers of a cluster that had seen far more transactions.
            execute(&db, "UPDATE run_events SET commit_number = commit_number + 1000000000").await;
        }
        for _ in 0..2 {
            runs.go_on().await.unwrap();
        }
        commit(&runs, unit_of(begin(second.clone()))).await.unwrap();
        let everything = AccessFilter::everything();
        // Transactions of other tests in the cluster may hold up what is told.
        let told = tokio::time::timeout(std::time::Duration::from_secs(20), async {
            loop {
                let read =
                    runs.feed(flow.tenant, None, &[of_runs(&everything)], since, 1 << 20).await.unwrap();
                let told: Vec<_> = read.slices.iter().map(|slice| slice.run).collect();
                if told.len() == 2 {
                    return told;
                }
                tokio::task::yield_now().await;
            }
        });
        assert_eq!(told.await.unwrap(), [first.id, second.id]);
    });
}

#[tokio::test]
async fn a_data_store_has_the_value_of_the_last_commit_and_is_the_organisations_own() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let (one, two) = (run(&flow), run(&flow));
        let write = |store: &str, value: serde_json::Value| StoreWrite { store: store.to_owned(), value };
        let first =
            vec![write("Orders", json!(1)), write("Stock", json!({"a": 2})), write("Orders", json!(3))];
        commit(&runs, unit_of(RunWrite { stores: first, ..begin(one.clone()) })).await.unwrap();
        let names = ["Orders", "Stock", "None"].map(str::to_owned);
        let known = runs.data_stores(flow.tenant, &names).await.unwrap();
        assert_eq!(json!(known), json!({"Orders": 3, "Stock": {"a": 2}}));
        let second = RunWrite { stores: vec![write("Orders", json!("x"))], ..begin(two.clone()) };
        commit(&runs, unit_of(second)).await.unwrap();
        // What is not committed is not written.
        let stale = RunWrite {
            stores: vec![write("Orders", json!("lost"))],
            expected: Some(heddle_kernel::Revision(9)),
            ..begin(one)
        };
        assert_eq!(commit(&runs, unit_of(stale)).await, Err(StoreError::Stale));
        let known = runs.data_stores(flow.tenant, &names[..1]).await.unwrap();
        assert_eq!(json!(known), json!({"Orders": "x"}));
        assert!(runs.data_stores(tenant(), &names).await.unwrap().is_empty());
    });
}
