//! Reading runs and their events.

use heddle_kernel::{Cursor, PageRequest, WorkflowId};
use heddle_policy::capability::{RunCompleteTask, RunList, RunRead};
use heddle_policy::{Effect, GrantFacts, Source, Within};
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::ports::{RunFilter, RunSort};
use crate::records::{Run, RunState};
use crate::runs::{Completion, EventFilter, StartRun};
use crate::tests::support::{
    Caller, NOW, World, at, caller, chain, on_run, reasons, receive, unrecorded, uuid,
};

/// A run of two tasks, both done: its history stands in three slices.
async fn told() -> (World, Run) {
    let (world, run) =
        World::running(&chain(&[("a", "userTask", json!({})), ("b", "userTask", json!({}))])).await;
    let context = caller("will", "worker").context();
    let may = on_run::<RunCompleteTask>(&context, &run);
    for node in ["a", "b"] {
        world.runs.complete(&may, &context, node, Completion::default(), &unrecorded).await.unwrap();
    }
    let run = world.memory.run(run.id);
    assert_eq!(run.state, RunState::Completed);
    (world, run)
}

async fn events(
    world: &World,
    run: &Run,
    filter: &EventFilter,
    page: &PageRequest,
) -> Result<(Vec<Value>, Option<Cursor>), UseCaseError> {
    let context = caller("vera", "viewer").context();
    let page = world.runs.events(&on_run::<RunRead>(&context, run), filter, page).await?;
    Ok((page.items.iter().map(|event| serde_json::from_str(event.json.get()).unwrap()).collect(), page.next))
}

fn sequences(events: &[Value]) -> Vec<u64> {
    events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn the_history_is_whole_and_in_order_whatever_the_page() {
    let (world, run) = told().await;
    let all: Vec<u64> = (1..=run.last_sequence).collect();
    assert!(all.len() > 6);
    for limit in [1, 2, 3, 200] {
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let page = PageRequest { limit, cursor };
            let (items, next) = events(&world, &run, &EventFilter::default(), &page).await.unwrap();
            assert!(items.len() <= limit as usize);
            seen.extend(sequences(&items));
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, all, "by {limit}");
    }
}

#[tokio::test]
async fn events_are_chosen_by_place_type_and_node() {
    let (world, run) = told().await;
    let page = PageRequest { limit: 200, cursor: None };
    let (all, _) = events(&world, &run, &EventFilter::default(), &page).await.unwrap();
    let types = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let is = |event: &Value, member: &str, word: &str| event[member] == word;
    let cases = [
        (EventFilter { after: 3, ..EventFilter::default() }, sequences(&all[3..])),
        (EventFilter { after: run.last_sequence, ..EventFilter::default() }, vec![]),
        (
            EventFilter { types: types(&["task.created", "task.completed"]), ..EventFilter::default() },
            sequences(
                &all.iter()
                    .filter(|one| is(one, "type", "task.created") || is(one, "type", "task.completed"))
                    .cloned()
                    .collect::<Vec<_>>(),
            ),
        ),
        (
            EventFilter { node_id: Some("b".to_owned()), ..EventFilter::default() },
            sequences(&all.iter().filter(|one| is(one, "nodeId", "b")).cloned().collect::<Vec<_>>()),
        ),
        (EventFilter { types: types(&["unheard.of"]), ..EventFilter::default() }, vec![]),
    ];
    for (filter, expected) in cases {
        let (found, next) = events(&world, &run, &filter, &page).await.unwrap();
        assert_eq!((sequences(&found), next), (expected, None), "{filter:?}");
    }
    let tasks = EventFilter { types: types(&["task.created"]), ..EventFilter::default() };
    let (created, _) = events(&world, &run, &tasks, &page).await.unwrap();
    assert_eq!(created.len(), 2, "one for each task");
}

#[tokio::test]
async fn a_page_of_chosen_events_goes_on_where_it_ended() {
    let (world, run) = told().await;
    let tasks = EventFilter { types: vec!["task.created".to_owned()], ..EventFilter::default() };
    let page = PageRequest { limit: 1, cursor: None };
    let (first, next) = events(&world, &run, &tasks, &page).await.unwrap();
    let rest = PageRequest { limit: 1, cursor: next };
    let (second, end) = events(&world, &run, &tasks, &rest).await.unwrap();
    assert_eq!((&first[0]["nodeId"], &second[0]["nodeId"], end), (&json!("a"), &json!("b"), None));
    let foreign = PageRequest { limit: 1, cursor: Some(Cursor::from_text("nonsense".to_owned())) };
    let refused = events(&world, &run, &tasks, &foreign).await;
    assert_eq!(reasons(refused), [at("cursor", "notAllowed")]);
}

#[tokio::test]
async fn a_run_is_read_in_its_own_workflow_and_organisation_alone() {
    let (world, run) = told().await;
    let reader = caller("vera", "viewer").context();
    let view = world.runs.get(&on_run::<RunRead>(&reader, &run)).await.unwrap();
    assert_eq!((view.run.id, &*view.graph.id), (run.id, run.process_id.as_str()));
    let elsewhere = Within::of(WorkflowId(uuid(99)));
    let may = reader.snapshot().authorize_one::<RunRead>(run.id, elsewhere).unwrap();
    assert!(matches!(world.runs.get(&may).await, Err(UseCaseError::NotFound)));
    let page = PageRequest::default();
    assert!(matches!(
        world.runs.events(&may, &EventFilter::default(), &page).await,
        Err(UseCaseError::NotFound)
    ));
    let other = caller("eve", "owner").elsewhere().context();
    let may = other.snapshot().authorize_one::<RunRead>(run.id, Within::of(run.workflow)).unwrap();
    assert!(matches!(world.runs.get(&may).await, Err(UseCaseError::NotFound)));
}

#[tokio::test]
async fn a_list_has_the_runs_that_its_caller_may_read_with_their_models() {
    let world = World::new();
    let workflow = world.published("w", &receive()).await;
    let one = world.start(workflow, StartRun::default()).await.id;
    let two = world.start(workflow, StartRun::default()).await.id;
    let filter = RunFilter {
        state: Some(RunState::Waiting),
        has_incident: Some(false),
        version: Some(1),
        node_id: Some("wait".to_owned()),
        correlation_key: Some("order-1".to_owned()),
        waiting_before: Some(NOW),
        sort: RunSort::Oldest,
        ..RunFilter::default()
    };
    let list = async |who: Caller, workflow: WorkflowId| {
        let context = who.context();
        let may = context.snapshot().authorize_list_within::<RunList>(Within::of(workflow)).unwrap();
        let page = world.runs.list(&may, &context, &filter, &PageRequest::default()).await?;
        assert!(page.items.iter().all(|view| &*view.graph.id == view.run.process_id.as_str()));
        Ok::<_, UseCaseError>(page.items.into_iter().map(|view| view.run.id).collect::<Vec<_>>())
    };
    assert_eq!(list(caller("vera", "viewer"), workflow).await.unwrap(), [two, one], "newest first");
    assert_eq!(world.memory.0.lock().run_filters.last(), Some(&filter));
    let deny = GrantFacts {
        id: "g".to_owned(),
        source: Source::User,
        resource: "run".to_owned(),
        action: "read".to_owned(),
        selector: two.to_string(),
        effect: Effect::Deny,
        expires_at: None,
    };
    assert_eq!(list(caller("vera", "viewer").grant(deny), workflow).await.unwrap(), [one]);
    let gone = list(caller("vera", "viewer"), WorkflowId(uuid(99))).await;
    assert!(matches!(gone, Err(UseCaseError::NotFound)), "{gone:?}");
    let foreign = list(caller("eve", "owner").elsewhere(), workflow).await;
    assert!(matches!(foreign, Err(UseCaseError::NotFound)), "{foreign:?}");
}
