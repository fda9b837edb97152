//! Human tasks.

use heddle_kernel::{PageRequest, WorkflowId};
use heddle_policy::{AccessFilter, resource};
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
            let read = runs.tasks(flow.tenant, &TaskFilter::default(), &everything, &page).await.unwrap();
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
        let foreign =
            runs.tasks(tenant(), &TaskFilter::default(), &everything, &self::page(9)).await.unwrap();
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
            let read = runs.tasks(flow.tenant, &filter, &everything, &page(50)).await.unwrap();
            let mut found: Vec<_> = read.items.into_iter().map(|task| task.name).collect();
            found.sort();
            assert_eq!(found, expected, "{who:?}");
        }
        let filter = TaskFilter { assignee: Some(names(&["ann", "bob"])), ..TaskFilter::default() };
        assert_eq!(runs.tasks(flow.tenant, &filter, &everything, &page(50)).await.unwrap().items.len(), 2);
        let filter = TaskFilter { assignee: Some(Vec::new()), ..TaskFilter::default() };
        assert!(runs.tasks(flow.tenant, &filter, &everything, &page(50)).await.unwrap().items.is_empty());
    });
}

#[tokio::test]
async fn tasks_are_filtered_and_held_to_the_reach() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let (of, other) = (run(&flow), run(&flow));
        let due = HumanTask { due_at: Some(at(5)), ..task(&of) };
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
            (TaskFilter { run: Some(other.id), ..none() }, &everything, vec![done.id]),
            (TaskFilter { workflow: Some(flow.id), ..none() }, &everything, vec![due.id, plain.id, done.id]),
            (TaskFilter { workflow: Some(id(WorkflowId)), ..none() }, &everything, vec![]),
            (none(), &listed, vec![done.id]),
            (none(), &denied, vec![due.id, plain.id]),
            (none(), &no_parent, vec![]),
            (none(), &AccessFilter::default(), vec![]),
        ] {
            let read = runs.tasks(flow.tenant, &filter, reach, &page(50)).await.unwrap();
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
