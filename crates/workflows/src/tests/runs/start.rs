//! Starting runs.

use heddle_kernel::{Revision, WorkflowId};
use heddle_policy::capability::{WorkflowRun, WorkflowUpdate};
use heddle_usecase::StoreError;
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::definitions::WorkflowPatch;
use crate::ports::TaskChange;
use crate::records::{Draft, Run, RunState};
use crate::runs::StartRun;
use crate::tests::support::{
    Caller, NOW, Notice, World, at, caller, chain, event, input, journal, model, on_workflow, reasons,
    receive, review, unrecorded, uuid, whole,
};

async fn start(world: &World, workflow: WorkflowId, request: StartRun) -> Result<Run, UseCaseError> {
    let context = caller("ida", "integrator").context();
    let may = on_workflow::<WorkflowRun>(&context, workflow);
    let record = |run: &Run| journal(run.state.as_str());
    world.runs.start(&may, &context, request, &record).await
}

fn version(number: i32) -> StartRun {
    StartRun { version: Some(number), ..StartRun::default() }
}

#[tokio::test]
async fn the_answer_is_the_state_that_the_first_step_reached_already_durable() {
    let cases = [
        (chain(&[]), RunState::Completed),
        (receive(), RunState::Waiting),
        (review(), RunState::Waiting),
        (chain(&[("wait", "intermediateCatchEvent", event("timer PT1H"))]), RunState::Waiting),
    ];
    for (definition, expected) in cases {
        let world = World::new();
        let workflow = world.published("w", &definition).await;
        let run = start(&world, workflow, StartRun::default()).await.unwrap();
        assert_eq!(run.state, expected);
        assert_eq!(world.memory.commit_count(), 1, "one step is one unit");
        let kept = world.memory.run(run.id);
        assert_eq!((kept.state, kept.snapshot, kept.revision), (expected, run.snapshot, Revision(1)));
        let ended = expected == RunState::Completed;
        assert_eq!((run.ended_at, run.waiting_since), (ended.then_some(NOW), (!ended).then_some(NOW)));
        assert_eq!(world.memory.0.lock().journals.last(), Some(&journal(expected.as_str())));
        assert!(world.notices.take().contains(&Notice::Run(run.id, run.last_sequence)));
    }
}

#[tokio::test]
async fn a_run_carries_what_it_was_started_with() {
    let world = World::new();
    let workflow = world.published("w", &receive()).await;
    let request = StartRun {
        input: input(json!({ "amount": 3 })),
        business_key: Some("B-7".to_owned()),
        correlation_key: Some("order-7".to_owned()),
        start_node_id: Some("start".to_owned()),
        ..StartRun::default()
    };
    let run = start(&world, workflow, request).await.unwrap();
    assert_eq!((run.workflow, run.version), (workflow, 1));
    assert_eq!((run.business_key.as_deref(), run.correlation_key.as_deref()), (Some("B-7"), Some("order-7")));
    assert_eq!((run.created_at, run.created_by), (NOW, Some(Caller::id("ida"))));
    assert_eq!(run.input, json!({ "amount": 3 }));
    assert_eq!(run.snapshot.variables(), Some(&input(json!({ "amount": 3 }))));
    let trigger = serde_json::to_value(&run.trigger).unwrap();
    assert_eq!(trigger, json!({ "kind": "manual", "nodeId": "start" }));
    let subscription = world.memory.last_write().subscriptions_added.remove(0);
    assert_eq!(subscription.correlation_key.as_deref(), Some("order-7"), "messages find it by its key");
}

#[tokio::test]
async fn a_workflow_that_starts_no_runs_is_a_conflict() {
    let world = World::new();
    let draft = world.draft("draft", &review()).await;
    assert_eq!(reasons(start(&world, draft, StartRun::default()).await), [whole("notPublished")]);
    assert_eq!(reasons(start(&world, draft, version(1)).await), [whole("notPublished")]);
    let archived = world.published("archived", &review()).await;
    let context = caller("ada", "designer").context();
    let patch = WorkflowPatch { archived: Some(true), ..WorkflowPatch::default() };
    let may = on_workflow::<WorkflowUpdate>(&context, archived);
    world.definitions.patch(&may, &context, patch, &unrecorded).await.unwrap();
    for request in [StartRun::default(), version(1)] {
        assert_eq!(reasons(start(&world, archived, request).await), [whole("archived")]);
    }
    let gone = start(&world, WorkflowId(uuid(99)), StartRun::default()).await;
    assert!(matches!(gone, Err(UseCaseError::NotFound)), "{gone:?}");
    assert_eq!(world.memory.commit_count(), 0);
}

#[tokio::test]
async fn a_run_keeps_its_version_while_new_ones_use_the_active_one() {
    let world = World::new();
    let workflow = world.published("w", &receive()).await;
    let first = start(&world, workflow, StartRun::default()).await.unwrap();
    world.memory.0.lock().workflows.get_mut(&workflow).unwrap().draft = Draft::Value(review());
    world.publish(workflow).await;
    let second = start(&world, workflow, StartRun::default()).await.unwrap();
    assert_eq!((second.version, world.memory.run(first.id).version), (2, 1));
    assert_eq!(world.memory.open_tasks(second.id).len(), 1);
    let old = start(&world, workflow, version(1)).await.unwrap();
    assert_eq!((old.version, old.snapshot.subscriptions().len()), (1, 1));
    for number in [0, 3, -1] {
        let refused = start(&world, workflow, version(number)).await;
        assert_eq!(reasons(refused), [at("version", "unknownVersion")], "{number}");
    }
}

#[tokio::test]
async fn which_process_is_meant_is_told_or_asked_for() {
    let process = |id: &str| {
        json!({ "id": id, "nodes": [{ "id": format!("{id}-s"), "type": "startEvent" }, { "id": format!("{id}-e"), "type": "endEvent" }],
            "edges": [{ "id": format!("{id}-f"), "source": format!("{id}-s"), "target": format!("{id}-e") }] })
    };
    let both = json!({ "bpmn": { "processes": [process("a"), process("b")] } });
    let mut primary = both.clone();
    primary["bpmn"]["primaryProcessId"] = json!("b");
    let only = json!({ "bpmn": { "processes": [process("a")] } });
    // Definition, process asked for, process that runs or the refusal.
    let cases = [
        (&both, Some("a"), Ok("a")),
        (&both, None, Err("required")),
        (&primary, None, Ok("b")),
        (&primary, Some("a"), Ok("a")),
        (&only, None, Ok("a")),
        (&only, Some("gone"), Err("unknownProcess")),
    ];
    for (definition, asked, expected) in cases {
        let world = World::new();
        let workflow = world.published("w", definition).await;
        let request = StartRun { process_id: asked.map(str::to_owned), ..StartRun::default() };
        let started = start(&world, workflow, request).await;
        match expected {
            Ok(process) => assert_eq!(started.unwrap().process_id, process, "{asked:?}"),
            Err(reason) => assert_eq!(reasons(started), [at("processId", reason)], "{asked:?}"),
        }
    }
}

#[tokio::test]
async fn which_start_event_is_meant_is_told_or_asked_for() {
    let world = World::new();
    let two = model(
        &[("s", "startEvent", json!({})), ("t", "startEvent", json!({})), ("e", "endEvent", json!({}))],
        &[("s", "e"), ("t", "e")],
    );
    let workflow = world.published("w", &two).await;
    let with =
        |node: Option<&str>| StartRun { start_node_id: node.map(str::to_owned), ..StartRun::default() };
    assert_eq!(start(&world, workflow, with(Some("t"))).await.unwrap().state, RunState::Completed);
    assert_eq!(reasons(start(&world, workflow, with(None)).await), [at("startNodeId", "required")]);
    for wrong in ["e", "gone"] {
        let refused = start(&world, workflow, with(Some(wrong))).await;
        assert_eq!(reasons(refused), [at("startNodeId", "notStartable")], "{wrong}");
    }
    assert_eq!(world.memory.commit_count(), 1);
}

#[tokio::test]
async fn an_input_is_held_against_the_start_events_schema() {
    let schema = json!({ "type": "object", "required": ["name"], "additionalProperties": false, "properties": {
        "name": { "type": "string" }, "lines": { "type": "array", "items": { "properties": { "n": { "minimum": 1 } } } } } });
    let mut definition = receive();
    definition["nodes"][0]["configuration"] = json!({ "inputSchema": schema });
    let world = World::new();
    let workflow = world.published("w", &definition).await;
    let cases: [(Value, &[(&str, &'static str)]); 5] = [
        (json!({ "name": "Ada" }), &[]),
        (json!({}), &[("input.name", "required")]),
        (json!({ "name": 5 }), &[("input.name", "wrongType")]),
        (json!({ "name": "Ada", "lines": [{ "n": 1 }, { "n": 0 }] }), &[("input.lines[1].n", "outOfRange")]),
        (
            json!({ "lines": 7, "odd": 1 }),
            &[("input.lines", "wrongType"), ("input.name", "required"), ("input.odd", "unknownField")],
        ),
    ];
    for (value, expected) in cases {
        let request = StartRun { input: input(value.clone()), ..StartRun::default() };
        let started = start(&world, workflow, request).await;
        if expected.is_empty() {
            assert!(started.is_ok(), "{value}");
            continue;
        }
        let mut told = reasons(started);
        told.sort();
        let expected: Vec<_> = expected.iter().map(|(field, reason)| at(field, reason)).collect();
        assert_eq!(told, expected, "{value}");
    }
    assert_eq!(world.memory.commit_count(), 1);
}

#[tokio::test]
async fn a_start_that_is_not_written_did_not_happen() {
    let world = World::new();
    let workflow = world.published("w", &review()).await;
    world.memory.fail_next(StoreError::Unavailable("disk full".to_owned()));
    let failed = start(&world, workflow, StartRun::default()).await;
    assert!(matches!(failed, Err(UseCaseError::Unavailable(_))), "{failed:?}");
    let tables = world.memory.0.lock();
    assert!(tables.runs.is_empty() && tables.tasks.is_empty() && tables.slices.is_empty());
    assert_eq!(world.notices.take(), [], "nobody is told of what was not written");
}

#[tokio::test]
async fn an_opened_task_is_told_with_all_its_settings() {
    let configuration = json!({ "assignee": "ada", "candidateUsers": ["bob"], "candidateGroups": ["buyers"],
        "dueDate": "P2D", "priority": 80, "outcomes": ["yes", "no"], "form": { "type": "object" } });
    let plain = chain(&[("plain", "userTask", json!({}))]);
    let full =
        chain(&[("full", "userTask", json!({ "displayName": "Do it", "configuration": configuration }))]);
    for (definition, named, priority) in [(plain, "plain", 50), (full, "Do it", 80)] {
        let (world, run) = World::running(&definition).await;
        let [TaskChange::Open(task)] = &world.memory.last_write().tasks[..] else { panic!("no task") };
        assert_eq!((task.name.as_str(), task.priority), (named, priority), "in the middle unless it is said");
        assert_eq!((task.run, task.workflow, task.created_at), (run.id, run.workflow, NOW));
        if named == "Do it" {
            assert_eq!(task.assignee.as_deref(), Some("ada"));
            assert_eq!(
                (&task.candidate_users[..], &task.candidate_groups[..]),
                (&["bob".to_owned()][..], &["buyers".to_owned()][..])
            );
            assert_eq!(task.due_at, Some(NOW.plus_seconds(2 * 24 * 3600)));
            assert_eq!((task.outcomes.len(), &task.form), (2, &Some(json!({ "type": "object" }))));
        }
    }
}
