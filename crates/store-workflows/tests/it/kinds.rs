//! Instances of two kinds in one table: none is found by the rights on the other.

use heddle_kernel::{CaseId, DefinitionKind, RunId, TenantId, UserId, WorkflowId};
use heddle_policy::{AccessFilter, InstanceFilter, InstanceKey, Person, resource};
use heddle_store_workflows::SqlRunStore;
use heddle_testkit::on_both;
use heddle_usecase::{Journal, StoreError};
use heddle_workflows::ports::{
    BindingAdvance, DefinitionStore, FeedPosition, FeedRest, InboxWrite, RunFilter, RunSort, RunStore,
    RunWrite, TaskChange, TaskFilter, Transaction,
};
use heddle_workflows::records::{
    BindingKind, HumanTask, Receivers, Run, RunState, StartBinding, TaskState, Workflow, WorkflowState,
};

use crate::support::*;

/// A case of the definition, which for the store differs from a run by its kind alone.
fn case(of: &Workflow) -> Run {
    Run { kind: DefinitionKind::Case, process_id: "case".to_owned(), ..run(of) }
}

/// Writes a published case type of this name.
async fn case_type(store: &impl DefinitionStore, tenant: TenantId, slug: &str) -> Workflow {
    let new = Workflow {
        kind: DefinitionKind::Case,
        state: WorkflowState::Published,
        published_version: Some(1),
        ..workflow(tenant, slug)
    };
    store.insert(write(&new, None), &Journal::default()).await.unwrap();
    new
}

fn of_cases() -> InstanceFilter {
    InstanceFilter::from(&AccessFilter::<resource::Case>::everything())
}

fn all_runs() -> InstanceFilter {
    of_runs(&AccessFilter::everything())
}

/// The instances of which the stream tells from its begin on.
async fn told(runs: &SqlRunStore, tenant: TenantId, access: &[InstanceFilter]) -> Vec<RunId> {
    let mut place = FeedPosition { commit: 1, run: RunId(uuid::Uuid::nil()), sequence: 0 };
    let mut found = Vec::new();
    loop {
        let read = runs.feed(tenant, None, access, place, 1 << 20).await.unwrap();
        found.extend(read.slices.iter().map(|slice| slice.run));
        place = read.reached;
        if read.rest == FeedRest::Nothing {
            return found;
        }
        // A transaction of another test may hold events back.
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn no_load_finds_an_instance_by_a_key_of_the_other_kind() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let plain =
            begun(&runs, Run { state: RunState::Completed, ended_at: Some(at(1)), ..run(&flow) }).await;
        let open = begun(&runs, Run { state: RunState::Closed, ended_at: Some(at(1)), ..case(&flow) }).await;
        for (one, other) in [(&plain, DefinitionKind::Case), (&open, DefinitionKind::Workflow)] {
            let (own, foreign) = (one.key(), Run { kind: other, ..one.clone() }.key());
            let found = runs.find(&own).await.unwrap();
            assert_eq!(found.kind, one.kind);
            assert_eq!(runs.find(&foreign).await.unwrap_err(), StoreError::NotFound);
            let progress = runs.progress(&own).await.unwrap();
            assert_eq!((progress.state, progress.last_sequence), (found.state, found.last_sequence));
            assert_eq!(runs.progress(&foreign).await.unwrap_err(), StoreError::NotFound);
            assert_eq!(runs.load(one.tenant, one.kind, one.id).await.unwrap().id, one.id);
            assert_eq!(runs.load(one.tenant, other, one.id).await.unwrap_err(), StoreError::NotFound);
            assert_eq!(runs.load_any(one.tenant, one.id).await.unwrap().kind, one.kind);
            assert_eq!(runs.events(&own, 0, 9).await.unwrap().len(), 1);
            assert!(runs.events(&foreign, 0, 9).await.unwrap().is_empty());
            assert_eq!(runs.purge(&foreign, &Journal::default()).await, Err(StoreError::NotFound));
            runs.purge(&own, &Journal::default()).await.unwrap();
            assert!(runs.was_purged(&own).await.unwrap());
        }
    });
}

#[tokio::test]
async fn a_list_of_one_kind_leaves_the_other_out() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let t = tenant();
        let (of_run, of_case) = (published(&workflows, t, "a").await, case_type(&workflows, t, "a").await);
        let plain = begun(&runs, run(&of_run)).await;
        let open = begun(&runs, case(&of_case)).await;
        let none = RunFilter::default;
        let filters = [
            none(),
            RunFilter { sort: RunSort::Oldest, ..none() },
            RunFilter { sort: RunSort::Incidents, ..none() },
            RunFilter { state: Some(RunState::Waiting), ..none() },
        ];
        for filter in filters {
            for (access, expected) in [(all_runs(), plain.id), (of_cases(), open.id)] {
                let read = runs.list_all(plain.tenant, &filter, &access, &page(9)).await.unwrap();
                let found: Vec<_> = read.items.iter().map(|run| run.id).collect();
                assert_eq!(found, [expected], "{filter:?} {:?}", access.kind());
            }
        }
        let of_other = RunFilter { workflow: Some(of_case.id), ..none() };
        let read = runs.list_all(plain.tenant, &of_other, &all_runs(), &page(9)).await.unwrap();
        assert!(read.items.is_empty(), "a definition that is named lets no other kind in");
        for (definition, access, expected) in [
            (of_run.id, all_runs(), Ok(vec![plain.id])),
            (of_run.id, of_cases(), Err(StoreError::NotFound)),
            (of_case.id, of_cases(), Ok(vec![open.id])),
            (of_case.id, all_runs(), Err(StoreError::NotFound)),
        ] {
            let read = runs.list(t, definition, &none(), &access, &page(9)).await;
            let found = read.map(|read| read.items.iter().map(|run| run.id).collect::<Vec<_>>());
            assert_eq!(found, expected, "{:?}", access.kind());
        }
        for (access, expected) in [(all_runs(), plain.id), (of_cases(), open.id)] {
            let found = told(&runs, t, std::slice::from_ref(&access)).await;
            assert_eq!(found, [expected], "the stream of {:?}", access.kind());
        }
        let mut found = told(&runs, t, &[all_runs(), of_cases()]).await;
        let mut expected = vec![plain.id, open.id];
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "the stream of both kinds");
    });
}

#[tokio::test]
async fn the_work_list_shows_the_tasks_of_the_kinds_that_are_asked_for() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let file = case_type(&workflows, flow.tenant, "b").await;
        let (plain, open) = (run(&flow), case(&file));
        let first = HumanTask { due_at: Some(at(5)), ..task(&open) };
        let second = HumanTask { assignee: Some("ada".to_owned()), due_at: Some(at(6)), ..task(&plain) };
        for (of, task) in [(&plain, &second), (&open, &first)] {
            let tasks = vec![TaskChange::Open(Box::new(task.clone()))];
            commit(&runs, unit_of(RunWrite { tasks, ..begin(of.clone()) })).await.unwrap();
        }
        let named = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        let none = TaskFilter::default;
        let mine = TaskFilter {
            candidate: Some((vec!["ada".to_owned()], Vec::new())),
            state: Some(TaskState::Open),
            ..none()
        };
        let both = vec![all_runs(), of_cases()];
        let stranger = TaskFilter { candidate: Some((vec!["zoe".to_owned()], Vec::new())), ..mine.clone() };
        let viewer = TaskFilter { viewed: Some(DefinitionKind::Workflow), ..stranger.clone() };
        for (filter, access, expected) in [
            (stranger, both.clone(), vec![first.id]),
            (viewer, both.clone(), vec![first.id, second.id]),
            (none(), both.clone(), vec![first.id, second.id]),
            (none(), vec![all_runs()], vec![second.id]),
            (none(), vec![of_cases()], vec![first.id]),
            (none(), Vec::new(), vec![]),
            (mine, both.clone(), vec![first.id, second.id]),
            (TaskFilter { assignee: named(&["ada"]), ..none() }, both.clone(), vec![second.id]),
            (TaskFilter { run: Some(open.id), ..none() }, both.clone(), vec![first.id]),
            (TaskFilter { run: Some(open.id), ..none() }, vec![all_runs()], vec![]),
            (TaskFilter { workflow: Some(file.id), ..none() }, both.clone(), vec![first.id]),
            (TaskFilter { workflow: Some(flow.id), ..none() }, both.clone(), vec![second.id]),
            (TaskFilter { workflow: Some(flow.id), ..none() }, vec![of_cases()], vec![]),
            (TaskFilter { workflow: Some(WorkflowId(uuid::Uuid::nil())), ..none() }, both.clone(), vec![]),
        ] {
            let read = runs.tasks(flow.tenant, &filter, &access, &page(9)).await.unwrap();
            let found: Vec<_> = read.items.iter().map(|task| task.id).collect();
            assert_eq!(found, expected, "{filter:?}");
        }
        let of = runs.task_run(flow.tenant, first.id).await.unwrap();
        assert_eq!((of.run(), of.case().map(|key| key.id())), (None, Some(CaseId::from(open.id))));
        let of = runs.task_run(flow.tenant, second.id).await.unwrap();
        assert_eq!(of, InstanceKey::from(&of.run().unwrap()));
    });
}

#[tokio::test]
async fn an_event_keeps_the_cases_that_took_it_apart_from_the_runs() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let (plain, open) = (begun(&runs, run(&flow)).await, begun(&runs, case(&flow)).await);
        let kept = event(flow.tenant, "k");
        let insert = Transaction {
            tenant: Some(flow.tenant),
            inbox: Some(InboxWrite::Insert(kept.clone())),
            ..Transaction::default()
        };
        commit(&runs, insert).await.unwrap();
        assert_eq!(runs.inbox_event(flow.tenant, kept.id).await.unwrap(), kept);
        let receivers = Receivers::of([&open, &plain, &open]);
        assert_eq!((receivers.run_ids.len(), receivers.case_ids.len()), (1, 1));
        let consume = Transaction {
            tenant: Some(flow.tenant),
            inbox: Some(InboxWrite::Consume { id: kept.id, receivers }),
            ..Transaction::default()
        };
        commit(&runs, consume).await.unwrap();
        let read = runs.inbox_event(flow.tenant, kept.id).await.unwrap();
        assert_eq!((read.run_ids, read.case_ids), (vec![plain.id], vec![CaseId::from(open.id)]));
    });
}

#[tokio::test]
async fn a_start_binding_says_of_which_kind_its_definition_is() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = case_type(&workflows, tenant(), "a").await;
        let due = Some(at(1));
        let bound = StartBinding { next_due_at: due, ..binding(&flow, BindingKind::Message, "m") };
        assert_eq!(bound.definition_kind, DefinitionKind::Case);
        bind(&workflows, &flow, std::slice::from_ref(&bound)).await;
        let found = runs.matching_starts(flow.tenant, BindingKind::Message, "m").await.unwrap();
        assert_eq!(found, std::slice::from_ref(&bound));
        let advance = BindingAdvance { binding: bound, next_due_at: None, timer: None };
        let unit =
            Transaction { tenant: Some(flow.tenant), advance: Some(advance), ..Transaction::default() };
        commit(&runs, unit).await.unwrap();
        let left = runs.matching_starts(flow.tenant, BindingKind::Message, "m").await.unwrap();
        assert!(left.is_empty(), "{left:?}");
    });
}

#[tokio::test]
async fn what_is_somebody_s_own_is_listed_by_its_kind() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let t = tenant();
        let (of_run, of_case) = (published(&workflows, t, "a").await, case_type(&workflows, t, "a").await);
        let ada = Person::new(id(UserId), "ada@example.com", &["staff".to_owned()]);
        let own_runs = InstanceFilter::from(&AccessFilter::<resource::Run>::own_of(ada.clone()));
        let own_cases = InstanceFilter::from(&AccessFilter::<resource::Case>::own_of(ada.clone()));
        let kinds = [(own_runs, [run(&of_run), run(&of_run)]), (own_cases, [case(&of_case), case(&of_case)])];
        // Of each kind one that she started, and one whose task is for her group.
        for (_, [started, meant]) in &kinds {
            begun(&runs, Run { created_by: Some(ada.id), ..started.clone() }).await;
            let open = HumanTask { candidate_groups: vec!["staff".to_owned()], ..task(meant) };
            let tasks = vec![TaskChange::Open(Box::new(open))];
            commit(&runs, unit_of(RunWrite { tasks, ..begin(meant.clone()) })).await.unwrap();
        }
        for (access, [started, meant]) in &kinds {
            let definition = Some(started.workflow);
            let of_it = RunFilter { workflow: definition, ..RunFilter::default() };
            for filter in [RunFilter::default(), of_it] {
                let read = runs.list_all(t, &filter, access, &page(9)).await.unwrap();
                let mut found: Vec<_> = read.items.iter().map(|run| run.id).collect();
                found.sort_unstable();
                let mut expected = vec![started.id, meant.id];
                expected.sort_unstable();
                assert_eq!(found, expected, "{:?} {filter:?}", access.kind());
            }
            let by_starter =
                RunFilter { workflow: definition, started_by: Some(ada.id), ..RunFilter::default() };
            let read = runs.list_all(t, &by_starter, access, &page(9)).await.unwrap();
            assert_eq!(read.items.iter().map(|run| run.id).collect::<Vec<_>>(), [started.id]);
            let tasks =
                runs.tasks(t, &TaskFilter::default(), std::slice::from_ref(access), &page(9)).await.unwrap();
            assert_eq!(tasks.items.iter().map(|task| task.run).collect::<Vec<_>>(), [meant.id]);
        }
    });
}
