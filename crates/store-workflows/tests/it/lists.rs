//! Pages of workflows and of runs.

use std::collections::BTreeSet;

use heddle_definitions::DefinitionAccess;
use heddle_kernel::{Cursor, PageRequest, Patch, UserId, WorkflowId};
use heddle_policy::{AccessFilter, resource};
use heddle_testkit::on_both;
use heddle_usecase::Journal;
use heddle_usecase::StoreError;
use heddle_workflows::ports::{DefinitionStore, RunFilter, RunSort, RunStore, WorkflowFilter, WorkflowSort};
use heddle_workflows::records::{Run, RunState, Workflow, WorkflowState};

use crate::support::*;

/// Workflows that a filter lets through.
const fn reached(filter: &AccessFilter<resource::Workflow>) -> DefinitionAccess<'_> {
    DefinitionAccess::Workflows(filter)
}

const SORTS: [WorkflowSort; 6] = [
    WorkflowSort::CreatedDescending,
    WorkflowSort::CreatedAscending,
    WorkflowSort::DisplayName,
    WorkflowSort::DisplayNameDescending,
    WorkflowSort::UpdatedDescending,
    WorkflowSort::UpdatedAscending,
];

#[tokio::test]
async fn pages_of_workflows_stand_still_under_inserts_in_every_order() {
    on_both!(|db| {
        let (workflows, _) = stores(&db);
        for sort in SORTS {
            let (t, user) = (tenant(), id(UserId));
            let mut original = BTreeSet::new();
            // Times and names repeat, so that the id decides.
            for n in 0..7 {
                let new = Workflow {
                    display_name: ["B", "a", "ä"][n % 3].to_owned(),
                    created_at: at(i64::try_from(n).unwrap() / 3),
                    updated_at: at(-i64::try_from(n).unwrap() / 2),
                    ..workflow(t, &format!("w{n}"))
                };
                workflows.insert(write(&new, None), &Journal::default()).await.unwrap();
                original.insert(new.id);
            }
            let filter = WorkflowFilter { sort, ..WorkflowFilter::default() };
            let mut page = PageRequest { limit: 2, cursor: None };
            let mut seen = Vec::new();
            for round in 0.. {
                let read = workflows
                    .list(t, user, &filter, reached(&AccessFilter::everything()), &page)
                    .await
                    .unwrap();
                seen.extend(read.items.into_iter().map(|view| view.definition));
                let Some(next) = read.next else { break };
                page.cursor = Some(next);
                for (end, name) in [(-100, ""), (100, "~"), (0, "a")] {
                    let between = Workflow {
                        display_name: name.to_owned(),
                        created_at: at(end),
                        updated_at: at(end),
                        ..workflow(t, &format!("x{round}-{}", end + 100))
                    };
                    if round < 3 {
                        workflows.insert(write(&between, None), &Journal::default()).await.unwrap();
                    }
                }
            }
            let found: Vec<_> =
                seen.iter().map(|workflow| workflow.id).filter(|id| original.contains(id)).collect();
            assert_eq!(found.len(), 7, "{sort:?}");
            assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), original, "{sort:?}");
            let all: BTreeSet<_> = seen.iter().map(|workflow| workflow.id).collect();
            assert_eq!(all.len(), seen.len(), "{sort:?}: one came twice");
            let key = |w: &Workflow| match sort {
                WorkflowSort::CreatedAscending | WorkflowSort::CreatedDescending => {
                    (w.created_at, String::new(), w.id)
                }
                WorkflowSort::UpdatedAscending | WorkflowSort::UpdatedDescending => {
                    (w.updated_at, String::new(), w.id)
                }
                WorkflowSort::DisplayName | WorkflowSort::DisplayNameDescending => {
                    (at(0), w.display_name.clone(), w.id)
                }
            };
            let mut sorted = seen.clone();
            sorted.sort_by_key(key);
            if matches!(
                sort,
                WorkflowSort::CreatedDescending
                    | WorkflowSort::UpdatedDescending
                    | WorkflowSort::DisplayNameDescending
            ) {
                sorted.reverse();
            }
            assert_eq!(sorted, seen, "{sort:?}");
        }
    });
}

#[tokio::test]
async fn a_cursor_holds_any_name() {
    on_both!(|db| {
        let (workflows, _) = stores(&db);
        let (t, user) = (tenant(), id(UserId));
        let mut names: Vec<String> = (0..4).map(|n| format!("{}{n}", "\u{1F9F5}".repeat(199))).collect();
        for (n, name) in names.iter().enumerate() {
            let new = Workflow { display_name: name.clone(), ..workflow(t, &format!("w{n}")) };
            workflows.insert(write(&new, None), &Journal::default()).await.unwrap();
        }
        for sort in [WorkflowSort::DisplayName, WorkflowSort::DisplayNameDescending] {
            let filter = WorkflowFilter { sort, ..WorkflowFilter::default() };
            let mut page = PageRequest { limit: 1, cursor: None };
            let mut seen = Vec::new();
            loop {
                let read = workflows
                    .list(t, user, &filter, reached(&AccessFilter::everything()), &page)
                    .await
                    .unwrap();
                seen.extend(read.items.into_iter().map(|view| view.definition.display_name));
                let Some(next) = read.next else { break };
                assert!(next.as_str().len() <= Cursor::MAX_LENGTH);
                page.cursor = Some(next);
            }
            assert_eq!(seen, names);
            names.reverse();
        }
    });
}

#[tokio::test]
async fn workflows_are_filtered_and_held_to_the_reach() {
    on_both!(|db| {
        let (workflows, _) = stores(&db);
        let (t, user) = (tenant(), id(UserId));
        let mut made: Vec<WorkflowId> = Vec::new();
        for (slug, name, description, state, folder) in [
            ("alpha", "Übung 100%", "first", WorkflowState::Draft, Patch::Value("f".to_owned())),
            ("beta", "Second_one", "ALPHA inside", WorkflowState::Published, Patch::Null),
            ("gamma", "Third", "back\\slash", WorkflowState::Archived, Patch::Absent),
        ] {
            let new = Workflow {
                display_name: name.to_owned(),
                description: description.to_owned(),
                state,
                folder_id: folder,
                ..workflow(t, slug)
            };
            workflows.insert(write(&new, None), &Journal::default()).await.unwrap();
            made.push(new.id);
        }
        workflows.star(key(t, made[1]), user, true, &Journal::default()).await.unwrap();
        workflows.star(key(t, made[2]), id(UserId), true, &Journal::default()).await.unwrap();
        let none = WorkflowFilter::default;
        let q = |q: &str| WorkflowFilter { q: Some(q.to_owned()), ..none() };
        let everything = AccessFilter::everything();
        let listed = AccessFilter::only([made[0], made[2]]).but([made[2]]);
        let denied = everything.clone().but([made[0]]);
        let nothing = everything.clone().but_all();
        for (filter, reach, expected) in [
            (none(), &everything, &[0, 1, 2][..]),
            (q("alpha"), &everything, &[0, 1]),
            (q("üBUNG"), &everything, &[0]),
            (q("%"), &everything, &[0]),
            (q("_"), &everything, &[1]),
            (q("\\"), &everything, &[2]),
            (q("0%"), &everything, &[0]),
            (q("thirdback"), &everything, &[]),
            (WorkflowFilter { state: Some(WorkflowState::Published), ..none() }, &everything, &[1]),
            (WorkflowFilter { starred: Some(true), ..none() }, &everything, &[1]),
            (WorkflowFilter { starred: Some(false), ..none() }, &everything, &[0, 2]),
            (WorkflowFilter { folder_id: Some("f".to_owned()), ..none() }, &everything, &[0]),
            (none(), &listed, &[0]),
            (none(), &denied, &[1, 2]),
            (none(), &nothing, &[]),
            (none(), &AccessFilter::default(), &[]),
        ] {
            let read = workflows.list(t, user, &filter, reached(reach), &page(50)).await.unwrap();
            let found: BTreeSet<_> = read.items.iter().map(|view| view.definition.id).collect();
            assert_eq!(found, expected.iter().map(|n| made[*n]).collect(), "{filter:?} {reach:?}");
            assert!(read.items.iter().all(|view| view.starred == (view.definition.id == made[1])));
        }
        let foreign = workflows.list(tenant(), user, &none(), reached(&everything), &page(50)).await.unwrap();
        assert!(foreign.items.is_empty());
        for cursor in [Cursor::from_text("!".to_owned()), Cursor::after(&1)] {
            let page = PageRequest { limit: 2, cursor: Some(cursor) };
            let refused = workflows.list(t, user, &none(), reached(&everything), &page).await;
            assert_eq!(refused.unwrap_err(), StoreError::InvalidCursor);
        }
        let first = workflows.list(t, user, &none(), reached(&everything), &page(1)).await.unwrap();
        let other_order = WorkflowFilter { sort: WorkflowSort::DisplayName, ..none() };
        let page = PageRequest { limit: 1, cursor: first.next };
        assert_eq!(
            workflows.list(t, user, &other_order, reached(&everything), &page).await.unwrap_err(),
            StoreError::InvalidCursor
        );
    });
}

#[tokio::test]
async fn runs_are_counted_by_state() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let t = tenant();
        let (flow, idle) = (published(&workflows, t, "a").await, published(&workflows, t, "b").await);
        for (state, has_incident) in [
            (RunState::Queued, false),
            (RunState::Running, false),
            (RunState::Waiting, true),
            (RunState::Suspended, true),
            (RunState::Completed, false),
            (RunState::Failed, true),
            (RunState::Failed, false),
            (RunState::Cancelled, false),
        ] {
            begun(&runs, Run { state, has_incident, ..run(&flow) }).await;
        }
        let all = workflows
            .list(t, id(UserId), &WorkflowFilter::default(), reached(&AccessFilter::everything()), &page(9))
            .await
            .unwrap();
        let of = |id| all.items.iter().find(|view| view.definition.id == id).unwrap().counts;
        let counts = of(flow.id);
        assert_eq!(
            (counts.active, counts.incidents, counts.completed, counts.failed, counts.cancelled),
            (4, 2, 1, 2, 1)
        );
        assert_eq!(of(idle.id), heddle_workflows::records::RunCounts::default());
        assert_eq!(workflows.get(key(t, flow.id), id(UserId)).await.unwrap().counts, counts);
    });
}

#[tokio::test]
async fn pages_of_runs_stand_still_under_inserts() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        for sort in [RunSort::Newest, RunSort::Oldest] {
            let key = format!("{sort:?}");
            let make =
                |seconds| Run { created_at: at(seconds), correlation_key: Some(key.clone()), ..run(&flow) };
            let mut original = Vec::new();
            for n in 0..7 {
                original.push(begun(&runs, make(n / 3)).await.id);
            }
            let filter = RunFilter { sort, correlation_key: Some(key.clone()), ..RunFilter::default() };
            let mut page = PageRequest { limit: 3, cursor: None };
            let mut seen = Vec::new();
            loop {
                let read = runs
                    .list(flow.tenant, flow.id, &filter, &of_runs(&AccessFilter::everything()), &page)
                    .await
                    .unwrap();
                seen.extend(read.items.into_iter().map(|run| run.id));
                let Some(next) = read.next else { break };
                page.cursor = Some(next);
                // Before what was read, in either order.
                begun(&runs, make(if sort == RunSort::Newest { 50 } else { -50 })).await;
            }
            if sort == RunSort::Newest {
                original.reverse();
            }
            assert_eq!(seen, original, "{sort:?}");
        }
    });
}

#[tokio::test]
async fn runs_are_filtered_and_held_to_the_reach() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let other = published(&workflows, flow.tenant, "b").await;
        let a = begun(
            &runs,
            Run { snapshot: state(&["x"]), correlation_key: Some("k".to_owned()), ..run(&flow) },
        )
        .await;
        let b =
            begun(&runs, Run { snapshot: state(&["x", "y"]), has_incident: true, version: 2, ..run(&flow) })
                .await;
        let c = begun(&runs, Run { snapshot: state(&["x"]), ..ended(&flow) }).await;
        begun(&runs, run(&other)).await;
        let late = begun(&runs, Run { waiting_since: Some(at(50)), ..run(&flow) }).await;
        let none = RunFilter::default;
        let node = |node: &str| RunFilter { node_id: Some(node.to_owned()), ..none() };
        let everything = AccessFilter::everything();
        let listed = AccessFilter::only([a.id]);
        let denied = everything.clone().but([a.id]);
        let parent = everything.clone().but_within::<resource::Workflow>([flow.id]);
        for (filter, reach, expected) in [
            (none(), &everything, vec![a.id, b.id, c.id, late.id]),
            (RunFilter { state: Some(RunState::Completed), ..none() }, &everything, vec![c.id]),
            (RunFilter { has_incident: Some(true), ..none() }, &everything, vec![b.id]),
            (RunFilter { has_incident: Some(false), ..none() }, &everything, vec![a.id, c.id, late.id]),
            (RunFilter { version: Some(2), ..none() }, &everything, vec![b.id]),
            (RunFilter { correlation_key: Some("k".to_owned()), ..none() }, &everything, vec![a.id]),
            (RunFilter { waiting_before: Some(at(50)), ..none() }, &everything, vec![a.id, b.id]),
            // An ended run stands nowhere.
            (node("x"), &everything, vec![a.id, b.id]),
            (node("y"), &everything, vec![b.id]),
            (node("z"), &everything, vec![]),
            (none(), &listed, vec![a.id]),
            (none(), &denied, vec![b.id, c.id, late.id]),
            (none(), &parent, vec![]),
            (none(), &AccessFilter::default(), vec![]),
        ] {
            let read = runs.list(flow.tenant, flow.id, &filter, &of_runs(reach), &page(50)).await.unwrap();
            let found: BTreeSet<_> = read.items.iter().map(|run| run.id).collect();
            assert_eq!(found, expected.into_iter().collect(), "{filter:?} {reach:?}");
        }
        for (tenant, workflow) in [(flow.tenant, id(WorkflowId)), (tenant(), flow.id)] {
            let lost = runs.list(tenant, workflow, &none(), &of_runs(&everything), &page(9)).await;
            assert_eq!(lost.unwrap_err(), StoreError::NotFound);
        }
        let page = PageRequest { limit: 2, cursor: Some(Cursor::after(&"x")) };
        let refused = runs.list(flow.tenant, flow.id, &none(), &of_runs(&everything), &page).await;
        assert_eq!(refused.unwrap_err(), StoreError::InvalidCursor);
    });
}

#[tokio::test]
async fn a_page_by_node_is_full_however_rare_the_node_is() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let mut units = Vec::new();
        let mut rare = Vec::new();
        for n in 0..650 {
            let new = Run {
                created_at: at(n),
                snapshot: state(if n % 130 == 7 { &["rare"] } else { &["often"] }),
                ..run(&flow)
            };
            if n % 130 == 7 {
                rare.push(new.id);
            }
            units.push(unit_of(begin(new)));
        }
        assert!(runs.commit(units).await.iter().all(Result::is_ok));
        let filter =
            RunFilter { node_id: Some("rare".to_owned()), sort: RunSort::Oldest, ..RunFilter::default() };
        let mut page = PageRequest { limit: 2, cursor: None };
        let mut pages = Vec::new();
        loop {
            let read = runs
                .list(flow.tenant, flow.id, &filter, &of_runs(&AccessFilter::everything()), &page)
                .await
                .unwrap();
            pages.push(read.items.iter().map(|run| run.id).collect::<Vec<_>>());
            let Some(next) = read.next else { break };
            page.cursor = Some(next);
        }
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
        assert_eq!(pages.concat(), rare);
    });
}

#[tokio::test]
async fn a_page_of_runs_ends_when_their_states_are_large_and_leaves_out_none() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let mut made = Vec::new();
        for n in 0..12 {
            // Two of three are small.
            let text = "x".repeat(if n % 3 == 0 { 3 * 1024 * 1024 } else { 10 });
            let new = Run {
                created_at: at(-n),
                input: serde_json::json!({ "text": text }),
                snapshot: state(&[&text]),
                ..run(&flow)
            };
            made.push(begun(&runs, new).await);
        }
        let filter = RunFilter::default();
        let (mut seen, mut sizes, mut page) = (Vec::new(), Vec::new(), page(200));
        loop {
            let read = runs
                .list(flow.tenant, flow.id, &filter, &of_runs(&AccessFilter::everything()), &page)
                .await
                .unwrap();
            sizes.push(read.items.len());
            seen.extend(read.items);
            let Some(next) = read.next else { break };
            page.cursor = Some(next);
        }
        assert_eq!(sizes, [6, 6], "two large states on a page");
        for (seen, made) in seen.iter().zip(&made) {
            assert_eq!((seen.id, seen.revision), (made.id, made.revision));
            let node = |run: &Run| run.snapshot.active_nodes()[0].node_id.to_string();
            assert!(node(seen) == node(made), "another state");
            assert!(seen.input.is_null(), "inputs are not read");
        }
        assert_eq!(seen.len(), made.len());
    });
}
