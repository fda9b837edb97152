//! A person's own runs: those that they started, those of which a task is for them, and those of which they completed one.

use std::collections::BTreeSet;

use heddle_kernel::{PageRequest, RunId, UserId};
use heddle_policy::{AccessFilter, Person, resource};
use heddle_store::Db;
use heddle_store_workflows::SqlRunStore;
use heddle_testkit::on_both;
use heddle_usecase::Journal;
use heddle_workflows::ports::{
    FeedPosition, FeedRest, RunFilter, RunSort, RunStore, RunWrite, TaskChange, TaskFilter,
};
use heddle_workflows::records::{HumanTask, Run, RunState, TaskState, Workflow};

use crate::support::*;

fn names(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Writes a run of somebody else with these tasks.
async fn begun(runs: &SqlRunStore, of: Run, tasks: Vec<HumanTask>) -> Run {
    let tasks = tasks.into_iter().map(|task| TaskChange::Open(Box::new(task))).collect();
    commit(runs, unit_of(RunWrite { tasks, ..begin(of.clone()) })).await.unwrap();
    of
}

/// Takes the next step of a run, with a change of its tasks.
async fn changed(runs: &SqlRunStore, of: &Run, change: TaskChange) -> Run {
    let write = RunWrite { tasks: vec![change], ..step(of) };
    let next = write.run.clone();
    commit(runs, unit_of(write)).await.unwrap();
    next
}

async fn listed(runs: &SqlRunStore, of: &Workflow, access: &AccessFilter<resource::Run>) -> BTreeSet<RunId> {
    let all = RunFilter::default();
    let page = runs.list_all(of.tenant, &all, &of_runs(access), &page(50)).await.unwrap();
    let within = runs.list(of.tenant, of.id, &all, &of_runs(access), &self::page(50)).await.unwrap();
    let found: BTreeSet<RunId> = page.items.iter().map(|run| run.id).collect();
    assert_eq!(found, within.items.iter().map(|run| run.id).collect(), "of all workflows and of the one");
    found
}

/// Whether a run is a person's own, told alike by every read.
async fn is_own(runs: &SqlRunStore, flow: &Workflow, person: &Person, run: RunId) -> bool {
    let own = runs.own_among(flow.tenant, person, &[run]).await.unwrap().contains(&run);
    let shown = listed(runs, flow, &AccessFilter::own_of(person.clone())).await.contains(&run);
    assert_eq!(own, shown, "the list and the one");
    let others = AccessFilter::everything().but_own_of(person.clone());
    assert_eq!(own, !listed(runs, flow, &others).await.contains(&run), "what is denied");
    let mut place = FeedPosition { commit: 1, run: RunId(uuid::Uuid::nil()), sequence: 0 };
    let (access, mut told) = (AccessFilter::own_of(person.clone()), false);
    loop {
        let read = runs.feed(flow.tenant, None, &[of_runs(&access)], place, 1 << 20).await.unwrap();
        told |= read.slices.iter().any(|slice| slice.run == run);
        place = read.reached;
        if read.rest == FeedRest::Nothing {
            break;
        }
        // A transaction of another test may hold events back.
        tokio::task::yield_now().await;
    }
    assert_eq!(own, told, "the stream");
    own
}

async fn people(db: &Db) -> i64 {
    count(db, "run_people").await
}

#[tokio::test]
async fn a_run_is_own_while_a_task_of_it_is_for_somebody_and_for_ever_once_they_completed_one() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let ada = Person::new(id(UserId), "Ada@Example.com", &names(&["staff", "r1"]));
        let mine = |of: &Run, assignee: Option<&str>, users: &[&str], groups: &[&str]| HumanTask {
            assignee: assignee.map(str::to_owned),
            candidate_users: names(users),
            candidate_groups: names(groups),
            ..task(of)
        };
        let nobody = begun(&runs, run(&flow), vec![]).await;
        assert!(!is_own(&runs, &flow, &ada, nobody.id).await);
        let started = begun(&runs, Run { created_by: Some(ada.id), ..run(&flow) }, vec![]).await;
        assert!(is_own(&runs, &flow, &ada, started.id).await);
        let by_event = begun(&runs, Run { created_by: None, ..run(&flow) }, vec![]).await;
        assert!(!is_own(&runs, &flow, &ada, by_event.id).await);

        // For everyone is for nobody; for others it is theirs alone.
        for (users, groups, own) in [
            (&["bob"][..], &["law"][..], false),
            (&[], &[], false),
            (&["ADA@example.com"], &[], true),
            (&[], &["staff"], true),
            (&["staff"], &["ada@example.com"], false),
        ] {
            let of = run(&flow);
            let of = begun(&runs, of.clone(), vec![mine(&of, None, users, groups)]).await;
            assert_eq!(is_own(&runs, &flow, &ada, of.id).await, own, "{users:?} {groups:?}");
        }

        // Two tasks for one group: the run is own until the last of them is done, or is somebody's.
        let of = run(&flow);
        let (one, two) = (mine(&of, None, &[], &["staff"]), mine(&of, None, &["x"], &["staff"]));
        let of = begun(&runs, of, vec![one.clone(), two.clone()]).await;
        let of = changed(&runs, &of, TaskChange::Assign(one.id, Some("bob".to_owned()))).await;
        assert!(is_own(&runs, &flow, &ada, of.id).await);
        let of = changed(&runs, &of, TaskChange::Assign(two.id, Some(ada.id.to_string()))).await;
        assert!(is_own(&runs, &flow, &ada, of.id).await);
        let of = changed(&runs, &of, TaskChange::Assign(two.id, Some("bob".to_owned()))).await;
        assert!(!is_own(&runs, &flow, &ada, of.id).await, "given away");
        let of = changed(&runs, &of, TaskChange::Assign(one.id, None)).await;
        assert!(is_own(&runs, &flow, &ada, of.id).await, "given back");
        let end = |task, state, by| TaskChange::End { task, state, at: at(1), by };
        let of = changed(&runs, &of, end(one.id, TaskState::Completed, Some(id(UserId)))).await;
        assert!(!is_own(&runs, &flow, &ada, of.id).await, "completed by another");
        let of = changed(&runs, &of, end(two.id, TaskState::Completed, Some(ada.id))).await;
        assert!(is_own(&runs, &flow, &ada, of.id).await, "completed by them");

        // What is withdrawn leaves nothing, nor does what is opened and withdrawn by one step.
        let of = run(&flow);
        let only = mine(&of, None, &["ada@example.com"], &[]);
        let of = begun(&runs, of, vec![only.clone()]).await;
        let of = changed(&runs, &of, end(only.id, TaskState::Cancelled, None)).await;
        assert!(!is_own(&runs, &flow, &ada, of.id).await);
        let of = run(&flow);
        let brief = mine(&of, Some("ada@example.com"), &[], &[]);
        let tasks =
            vec![TaskChange::Open(Box::new(brief.clone())), end(brief.id, TaskState::Cancelled, None)];
        commit(&runs, unit_of(RunWrite { tasks, ..begin(of.clone()) })).await.unwrap();
        assert!(!is_own(&runs, &flow, &ada, of.id).await);
    });
}

#[tokio::test]
async fn pages_of_own_runs_are_whole_whatever_lies_between() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let ada = Person::new(id(UserId), "ada@example.com", &names(&["staff"]));
        let mut expected = Vec::new();
        let mut foreign = Vec::new();
        for n in 0..24_i64 {
            let of = Run { created_at: at(n / 2), ..run(&flow) };
            let (of, tasks) = match n % 4 {
                0 => (Run { created_by: Some(ada.id), ..of }, vec![]),
                1 => {
                    let group = HumanTask { candidate_groups: names(&["staff"]), ..task(&of) };
                    let user = HumanTask { candidate_users: names(&["ada@example.com"]), ..task(&of) };
                    (of, vec![group.clone(), HumanTask { id: id(heddle_kernel::TaskId), ..group }, user])
                }
                _ => (of, vec![]),
            };
            let of = begun(&runs, of, tasks).await;
            if n % 4 < 2 { expected.push(of.id) } else { foreign.push(of.id) }
        }
        let own = AccessFilter::own_of(ada.clone());
        for (access, sort, mut expected) in [
            (own.clone(), RunSort::Oldest, expected.clone()),
            (own.clone(), RunSort::Newest, expected.iter().rev().copied().collect()),
            (own.clone(), RunSort::Incidents, expected.iter().rev().copied().collect()),
            (AccessFilter::everything().but_own_of(ada.clone()), RunSort::Oldest, foreign),
        ] {
            let filter = RunFilter { sort, state: Some(RunState::Waiting), ..RunFilter::default() };
            let mut page = PageRequest { limit: 5, cursor: None };
            let mut seen = Vec::new();
            loop {
                let read = runs.list_all(flow.tenant, &filter, &of_runs(&access), &page).await.unwrap();
                assert!(
                    read.items.len() == 5 || read.next.is_none(),
                    "a page is full while there are others"
                );
                seen.extend(read.items.iter().map(|run| run.id));
                let Some(next) = read.next else { break };
                page.cursor = Some(next);
            }
            if sort == RunSort::Oldest {
                // Two runs of one instant stand in the order of their ids, which rise.
                expected.sort();
            } else {
                expected.sort_by(|a, b| b.cmp(a));
            }
            assert_eq!(seen, expected, "{sort:?}");
        }
        let deny_one = own.but([expected[0]]);
        assert_eq!(listed(&runs, &flow, &deny_one).await.len(), expected.len() - 1);
    });
}

#[tokio::test]
async fn the_work_list_of_own_runs_shows_what_one_started_is_given_or_completed() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let ada = Person::new(id(UserId), "ada@example.com", &names(&["staff"]));
        let mine = |of: &Run, name: &str, assignee: Option<&str>, groups: &[&str]| HumanTask {
            name: name.to_owned(),
            assignee: assignee.map(str::to_owned),
            candidate_groups: names(groups),
            ..task(of)
        };
        let started = Run { created_by: Some(ada.id), ..run(&flow) };
        let mut tasks =
            vec![mine(&started, "own-for-all", None, &[]), mine(&started, "own-of-bob", Some("bob"), &[])];
        // Ada's in two ways: each is found twice, and shown once.
        tasks.extend(["twice-a", "twice-b", "twice-c"].map(|name| mine(&started, name, None, &["staff"])));
        let started = begun(&runs, started, tasks).await;
        let other = run(&flow);
        let done = mine(&other, "done", Some(&ada.id.to_string()), &[]);
        let tasks = vec![
            mine(&other, "for-all", None, &[]),
            mine(&other, "of-staff", None, &["staff"]),
            mine(&other, "of-law", None, &["law"]),
            mine(&other, "of-ada", Some("ada@example.com"), &["law"]),
            mine(&other, "of-bob", Some("bob"), &["staff"]),
            done.clone(),
        ];
        let other = begun(&runs, other, tasks).await;
        let end = TaskChange::End { task: done.id, state: TaskState::Completed, at: at(1), by: Some(ada.id) };
        let other = changed(&runs, &other, end).await;

        let open = || TaskFilter { state: Some(TaskState::Open), ..TaskFilter::default() };
        let candidate = Some((ada.names.clone(), ada.groups.clone()));
        let own = AccessFilter::own_of(ada.clone());
        for (filter, expected) in [
            (
                open(),
                &["of-ada", "of-staff", "own-for-all", "own-of-bob", "twice-a", "twice-b", "twice-c"][..],
            ),
            (
                TaskFilter::default(),
                &["done", "of-ada", "of-staff", "own-for-all", "own-of-bob", "twice-a", "twice-b", "twice-c"],
            ),
            (TaskFilter { state: Some(TaskState::Completed), ..open() }, &["done"]),
            (TaskFilter { state: Some(TaskState::Cancelled), ..open() }, &[]),
            (
                TaskFilter { candidate: candidate.clone(), ..open() },
                &["of-ada", "of-staff", "own-for-all", "twice-a", "twice-b", "twice-c"],
            ),
            (TaskFilter { assignee: Some(names(&["bob"])), ..open() }, &["own-of-bob"]),
            (
                TaskFilter { run: Some(started.id), ..open() },
                &["own-for-all", "own-of-bob", "twice-a", "twice-b", "twice-c"],
            ),
            (TaskFilter { run: Some(other.id), ..open() }, &["of-ada", "of-staff"]),
            (TaskFilter { due_before: Some(at(9)), ..open() }, &[]),
        ] {
            let mut found = Vec::new();
            let mut page = PageRequest { limit: 2, cursor: None };
            loop {
                let read = runs.tasks(flow.tenant, &filter, &[of_runs(&own)], &page).await.unwrap();
                assert!(read.items.len() == 2 || read.next.is_none(), "{filter:?}: a page is full");
                found.extend(read.items.into_iter().map(|task| task.name));
                let Some(next) = read.next else { break };
                page.cursor = Some(next);
            }
            found.sort();
            assert_eq!(found, expected, "{filter:?}");
        }
        // A deny of what is one's own takes all tasks of such runs, whoever they are for.
        let others = AccessFilter::everything().but_own_of(ada);
        assert!(
            runs.tasks(flow.tenant, &open(), &[of_runs(&others)], &page(50)).await.unwrap().items.is_empty()
        );
    });
}

#[tokio::test]
async fn what_is_removed_leaves_nobody() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let of = ended(&flow);
        let tasks = vec![
            HumanTask { candidate_groups: names(&["staff"]), ..task(&of) },
            HumanTask { assignee: Some("ada@example.com".to_owned()), ..task(&of) },
        ];
        let of = begun(&runs, of, tasks).await;
        assert_eq!(people(&db).await, 2, "a group and a user");
        runs.purge(&of.key(), &Journal::default()).await.unwrap();
        assert_eq!(people(&db).await, 0);
    });
}
