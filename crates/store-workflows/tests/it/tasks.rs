//! Human tasks.

use diesel_async::RunQueryDsl;
use heddle_kernel::{PageRequest, WorkflowId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::{read, write_tx};
use heddle_testkit::db::TestDb;
use heddle_testkit::on_both;
use heddle_usecase::StoreError;
use heddle_workflows::ports::{RunStore, RunWrite, TaskChange, TaskFilter};
use heddle_workflows::records::{HumanTask, Run, TaskState};

use crate::support::*;

async fn open(runs: &impl RunStore, of: Run, tasks: Vec<HumanTask>) {
    let tasks = tasks.into_iter().map(|task| TaskChange::Open(Box::new(task))).collect();
    commit(runs, unit_of(RunWrite { tasks, ..begin(of) })).await.unwrap();
}

fn names(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[tokio::test]
async fn the_earliest_due_comes_first_and_pages_stand_still() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let of = run(&flow);
        let make = |name: &str, due: Option<i64>, created: i64| HumanTask {
            name: name.to_owned(),
            due_at: due.map(at),
            created_at: at(created),
            ..task(&of)
        };
        let all = vec![
            make("late", Some(9), 1),
            make("never-2", None, 2),
            make("soon-b", Some(3), 2),
            make("soon-a", Some(3), 1),
            make("never-1", None, 1),
            make("never-3", None, 2),
        ];
        open(&runs, of.clone(), all).await;
        let everything = AccessFilter::everything();
        let mut page = PageRequest { limit: 2, cursor: None };
        let mut seen = Vec::new();
        loop {
            let read = runs
                .tasks(flow.tenant, &TaskFilter::default(), &[of_runs(&everything)], &page)
                .await
                .unwrap();
            assert!(read.items.len() <= 2);
            seen.extend(read.items.into_iter().map(|task| task.name));
            let Some(next) = read.next else { break };
            page.cursor = Some(next);
            // One that stands before what was read shifts nothing.
            let early = run(&flow);
            let first = HumanTask { due_at: Some(at(-5)), ..task(&early) };
            open(&runs, early, vec![first]).await;
        }
        assert_eq!(seen, ["soon-a", "soon-b", "late", "never-1", "never-2", "never-3"]);
        let foreign = runs
            .tasks(tenant(), &TaskFilter::default(), &[of_runs(&everything)], &self::page(9))
            .await
            .unwrap();
        assert!(foreign.items.is_empty());
    });
}

#[tokio::test]
async fn a_task_is_for_its_assignee_or_its_candidates() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let of = run(&flow);
        let make = |name: &str, assignee: Option<&str>, users: &[&str], groups: &[&str]| HumanTask {
            name: name.to_owned(),
            assignee: assignee.map(str::to_owned),
            candidate_users: names(users),
            candidate_groups: names(groups),
            ..task(&of)
        };
        let all = vec![
            make("for-all", None, &[], &[]),
            make("of-ann", Some("ann"), &[], &[]),
            make("of-bob", Some("bob"), &["ann"], &["ops"]),
            make("users", None, &["ann", "cid"], &[]),
            make("groups", None, &["cid"], &["ops", "law"]),
            make("mixed-up", None, &["ops"], &["ann"]),
        ];
        open(&runs, of.clone(), all).await;
        let everything = AccessFilter::everything();
        for (who, groups, expected) in [
            (&["ann", "ann@x"][..], &["ops"][..], &["for-all", "groups", "of-ann", "users"][..]),
            (&["bob"], &[], &["for-all", "of-bob"]),
            (&["dan"], &["law"], &["for-all", "groups"]),
            (&[], &[], &["for-all"]),
        ] {
            let filter = TaskFilter { candidate: Some((names(who), names(groups))), ..TaskFilter::default() };
            let read = runs.tasks(flow.tenant, &filter, &[of_runs(&everything)], &page(50)).await.unwrap();
            let mut found: Vec<_> = read.items.into_iter().map(|task| task.name).collect();
            found.sort();
            assert_eq!(found, expected, "{who:?}");
        }
        let filter = TaskFilter { assignee: Some(names(&["ann", "bob"])), ..TaskFilter::default() };
        assert_eq!(
            runs.tasks(flow.tenant, &filter, &[of_runs(&everything)], &page(50)).await.unwrap().items.len(),
            2
        );
        let filter = TaskFilter { assignee: Some(Vec::new()), ..TaskFilter::default() };
        assert!(
            runs.tasks(flow.tenant, &filter, &[of_runs(&everything)], &page(50))
                .await
                .unwrap()
                .items
                .is_empty()
        );
    });
}

#[tokio::test]
async fn tasks_are_filtered_and_held_to_the_reach() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let (of, other) = (run(&flow), run(&flow));
        let due = HumanTask { due_at: Some(at(5)), follow_up_at: Some(at(2)), ..task(&of) };
        let (plain, done) = (task(&of), task(&other));
        open(&runs, of.clone(), vec![due.clone(), plain.clone()]).await;
        let end = TaskChange::End { task: done.id, state: TaskState::Cancelled, at: at(1), by: None };
        let tasks = vec![TaskChange::Open(Box::new(done.clone())), end];
        commit(&runs, unit_of(RunWrite { tasks, ..begin(other.clone()) })).await.unwrap();

        let none = TaskFilter::default;
        let everything = AccessFilter::everything();
        let listed = AccessFilter::only([other.id]);
        let denied = everything.clone().but([other.id]);
        let no_parent = everything.clone().but_within::<resource::Workflow>([flow.id]);
        for (filter, reach, expected) in [
            (none(), &everything, vec![due.id, plain.id, done.id]),
            (TaskFilter { state: Some(TaskState::Open), ..none() }, &everything, vec![due.id, plain.id]),
            (TaskFilter { due_before: Some(at(6)), ..none() }, &everything, vec![due.id]),
            (TaskFilter { due_before: Some(at(5)), ..none() }, &everything, vec![]),
            (TaskFilter { follow_up_before: Some(at(3)), ..none() }, &everything, vec![due.id]),
            (TaskFilter { follow_up_before: Some(at(2)), ..none() }, &everything, vec![]),
            (
                TaskFilter { follow_up_before: Some(at(3)), run: Some(of.id), ..none() },
                &everything,
                vec![due.id],
            ),
            (TaskFilter { run: Some(other.id), ..none() }, &everything, vec![done.id]),
            (TaskFilter { workflow: Some(flow.id), ..none() }, &everything, vec![due.id, plain.id, done.id]),
            (TaskFilter { workflow: Some(id(WorkflowId)), ..none() }, &everything, vec![]),
            (none(), &listed, vec![done.id]),
            (none(), &denied, vec![due.id, plain.id]),
            (none(), &no_parent, vec![]),
            (none(), &AccessFilter::default(), vec![]),
        ] {
            let read = runs.tasks(flow.tenant, &filter, &[of_runs(reach)], &page(50)).await.unwrap();
            let mut found: Vec<_> = read.items.iter().map(|task| task.id).collect();
            let mut expected = expected;
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{filter:?}");
        }
        assert_eq!(runs.task(flow.tenant, due.id).await.unwrap(), due);
        assert_eq!(runs.task(tenant(), due.id).await, Err(StoreError::NotFound));
        assert_eq!(runs.task_run(flow.tenant, due.id).await.unwrap(), of.key());
        assert_eq!(runs.task_run(tenant(), due.id).await, Err(StoreError::NotFound));
    });
}

#[tokio::test]
async fn a_task_that_is_taken_leaves_the_lists_of_its_candidates_and_comes_back_when_it_is_released() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let of = run(&flow);
        let named = HumanTask {
            candidate_users: names(&["ann"]),
            candidate_groups: names(&["ops"]),
            due_at: Some(at(9)),
            ..task(&of)
        };
        let free = task(&of);
        open(&runs, of.clone(), vec![named.clone(), free.clone()]).await;
        let everything = AccessFilter::everything();
        let lists = |who: &'static str, groups: &'static [&'static str]| TaskFilter {
            candidate: Some((names(&[who]), names(groups))),
            state: Some(TaskState::Open),
            ..TaskFilter::default()
        };
        let mut last = of.clone();
        for (assignee, ann, bob, cid) in
            [(None, 2, 2, 1), (Some("bob"), 1, 2, 1), (Some("cid"), 1, 1, 2), (None, 2, 2, 1)]
        {
            let change = TaskChange::Assign(named.id, assignee.map(str::to_owned));
            let write = RunWrite { tasks: vec![change], ..step(&last) };
            last = write.run.clone();
            commit(&runs, unit_of(write)).await.unwrap();
            for (who, groups, expected) in [("ann", &[][..], ann), ("bob", &["ops"], bob), ("cid", &[], cid)]
            {
                let filter = lists(who, groups);
                let read =
                    runs.tasks(flow.tenant, &filter, &[of_runs(&everything)], &page(50)).await.unwrap();
                assert_eq!(read.items.len(), expected, "{who} while it is {assignee:?}");
                // The same of one run, which is read in another way.
                let filter = TaskFilter { run: Some(of.id), ..filter };
                let narrow =
                    runs.tasks(flow.tenant, &filter, &[of_runs(&everything)], &page(50)).await.unwrap();
                assert_eq!(narrow.items, read.items, "{who} while it is {assignee:?}");
            }
        }
        let end = TaskChange::End { task: named.id, state: TaskState::Completed, at: at(2), by: None };
        commit(&runs, unit_of(RunWrite { tasks: vec![end], ..step(&last) })).await.unwrap();
        for (state, expected) in [(TaskState::Open, &free), (TaskState::Completed, &named)] {
            let filter = TaskFilter { state: Some(state), ..lists("ann", &["ops"]) };
            let read = runs.tasks(flow.tenant, &filter, &[of_runs(&everything)], &page(50)).await.unwrap();
            let ids: Vec<_> = read.items.iter().map(|task| task.id).collect();
            assert_eq!(ids, [expected.id], "{state:?}");
        }
    });
}

#[tokio::test]
async fn pages_of_a_candidate_are_merged_of_all_that_is_theirs_without_gap_or_repeat() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let of = run(&flow);
        let tasks: Vec<HumanTask> = (0..30)
            .map(|n: i64| HumanTask {
                name: format!("{n:02}"),
                assignee: (n % 5 == 0).then(|| "ann".to_owned()),
                candidate_users: if n % 5 == 1 { names(&["ann", "bob"]) } else { Vec::new() },
                candidate_groups: if n % 5 == 1 || n % 5 == 2 { names(&["ops", "law"]) } else { Vec::new() },
                due_at: (n % 2 == 0).then(|| at(n)),
                created_at: at(n / 4),
                ..task(&of)
            })
            .collect();
        open(&runs, of.clone(), tasks.clone()).await;
        let everything = AccessFilter::everything();
        let candidate = Some((names(&["ann", "ann@x"]), names(&["ops", "law"])));
        for limit in [1, 4, 7, 50] {
            let filter = TaskFilter { candidate: candidate.clone(), ..TaskFilter::default() };
            let mut page = PageRequest { limit, cursor: None };
            let mut seen = Vec::new();
            loop {
                let read = runs.tasks(flow.tenant, &filter, &[of_runs(&everything)], &page).await.unwrap();
                seen.extend(read.items);
                let Some(next) = read.next else { break };
                page.cursor = Some(next);
            }
            let mut expected = tasks.clone();
            expected.sort_by_key(|task| (task.due_at.is_none(), task.due_at, task.created_at, task.id));
            assert_eq!(seen, expected, "{limit}");
        }
    });
}

#[tokio::test]
async fn a_page_of_tasks_is_bounded_by_bytes_and_has_one_at_least() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let of = run(&flow);
        // Forms that are packed well, and one that is not.
        let words = |count: usize| "word ".repeat(count);
        let mut random = 1_u64;
        let noise: String = (0..3_000_000)
            .map(|_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                char::from(b'a' + u8::try_from(random >> 60).unwrap())
            })
            .collect();
        let forms = [words(300_000), words(300_000), words(300_000), noise, "small".to_owned()];
        let tasks: Vec<HumanTask> = forms
            .into_iter()
            .zip(0..)
            .map(|(text, n)| HumanTask {
                form: Some(serde_json::json!({ "title": text })),
                created_at: at(n),
                ..task(&of)
            })
            .collect();
        open(&runs, of.clone(), tasks.clone()).await;
        let mut page = PageRequest { limit: 50, cursor: None };
        let (mut seen, mut pages) = (Vec::new(), Vec::new());
        loop {
            let everything = AccessFilter::everything();
            let read = runs
                .tasks(flow.tenant, &TaskFilter::default(), &[of_runs(&everything)], &page)
                .await
                .unwrap();
            pages.push(read.items.len());
            seen.extend(read.items.into_iter().map(|task| task.id));
            let Some(next) = read.next else { break };
            page.cursor = Some(next);
        }
        assert_eq!(seen, tasks.iter().map(|task| task.id).collect::<Vec<_>>());
        assert_eq!(pages, [2, 1, 2], "4 MiB each, or one that is larger");
    });
}

/// The statement that repairs the standing of candidates.
fn repair(kind: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations").join(kind);
    let script = std::fs::read_to_string(folder.join("20261130000100_workflows_standings/up.sql")).unwrap();
    let (repair, _) = script.split_once(';').unwrap();
    assert!(repair.contains("UPDATE human_task_candidates"));
    repair.to_owned()
}

#[tokio::test]
async fn whoever_may_take_a_task_is_told_of_it_as_it_stands_now() {
    for test_db in TestDb::both().await {
        let db = test_db.db();
        let (workflows, runs) = stores(db);
        let flow = published(&workflows, tenant(), "a").await;
        let of = run(&flow);
        let mine =
            |name: &str| HumanTask { name: name.to_owned(), candidate_users: names(&["ann"]), ..task(&of) };
        let [open, ended, done, given] = ["open", "ended", "done", "given"].map(mine);
        let end = |task: &HumanTask, state| TaskChange::End { task: task.id, state, at: at(1), by: None };
        // One of them is opened and ended by one step.
        let opened = [&open, &ended, &done, &given].map(|task| TaskChange::Open(Box::new(task.clone())));
        let mut tasks = Vec::from(opened);
        tasks.push(end(&ended, TaskState::Cancelled));
        commit(&runs, unit_of(RunWrite { tasks, ..begin(of.clone()) })).await.unwrap();
        let tasks =
            vec![end(&done, TaskState::Completed), TaskChange::Assign(given.id, Some("bob".to_owned()))];
        commit(&runs, unit_of(RunWrite { tasks, ..step(&of) })).await.unwrap();

        let seen = async |state| {
            let candidate = Some((names(&["ann"]), Vec::new()));
            let filter = TaskFilter { state: Some(state), candidate, ..TaskFilter::default() };
            let everything = AccessFilter::everything();
            let found = runs.tasks(flow.tenant, &filter, &[of_runs(&everything)], &page(9)).await.unwrap();
            found.items.into_iter().map(|task| task.name).collect::<Vec<_>>()
        };
        let check = async |when: &str| {
            let kind = test_db.kind();
            assert_eq!(seen(TaskState::Open).await, ["open"], "{kind}, {when}");
            assert_eq!(seen(TaskState::Cancelled).await, ["ended"], "{kind}, {when}");
            assert_eq!(seen(TaskState::Completed).await, ["done"], "{kind}, {when}");
        };
        check("as they were written").await;
        // As an earlier version could leave them, and the migration finds them.
        for script in
            ["UPDATE human_task_candidates SET standing = 'open'".to_owned(), repair(test_db.kind())]
        {
            write_tx!(db, |conn| {
                diesel::sql_query(&script).execute(conn).await?;
                Ok(())
            })
            .unwrap();
        }
        check("repaired").await;
        // Whoever started the run stands in all of them, as in the task.
        #[derive(diesel::QueryableByName)]
        struct Count {
            #[diesel(sql_type = diesel::sql_types::BigInt)]
            n: i64,
        }
        let started = "SELECT count(*) AS n FROM human_task_candidates AS c JOIN human_tasks AS t \
                       ON t.organization_id = c.organization_id AND t.id = c.task_id WHERE c.started_by = t.started_by";
        let found: Count = read!(db, |conn| Ok(diesel::sql_query(started).get_result(conn).await?)).unwrap();
        assert_eq!(found.n, 4, "{}", test_db.kind());
    }
}
