//! Publishing.

use heddle_kernel::{Revision, WorkflowId};
use heddle_policy::capability::{WorkflowPublish, WorkflowUpdate};
use heddle_usecase::StoreError;
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::definitions::{PublishRequest, Published, SavedDraft};
use crate::records::{BindingKind, Draft, WorkflowState};
use crate::tests::support::{
    Caller, NOW, World, at, caller, chain, event, journal, model, on_workflow, reasons, review, set,
    unrecorded, whole,
};

async fn publish(world: &World, id: WorkflowId, request: PublishRequest) -> Result<Published, UseCaseError> {
    let context = caller("ada", "designer").context();
    let may = on_workflow::<WorkflowPublish>(&context, id);
    let record = |published: &Published| journal(&published.version.number.to_string());
    world.definitions.publish(&may, &context, request, &record).await
}

async fn save(world: &World, id: WorkflowId, definition: &Value) {
    let context = caller("ada", "designer").context();
    let may = on_workflow::<WorkflowUpdate>(&context, id);
    let saved = SavedDraft {
        draft: Draft::Value(definition.clone()),
        definition: Some(serde_json::from_value(definition.clone()).unwrap()),
        revision: None,
    };
    world.definitions.save_draft(&may, &context, saved, &unrecorded).await.unwrap();
}

/// A process with a start event of each kind that waits for something.
fn listening(message: &str) -> Value {
    let mut definition = model(
        &[
            ("by-message", "startEvent", event("message m")),
            ("by-signal", "startEvent", event("signal sig")),
            ("by-time", "startEvent", event("cycle R3/PT1H")),
            ("end", "endEvent", json!({})),
        ],
        &[("by-message", "end"), ("by-signal", "end"), ("by-time", "end")],
    );
    set(&mut definition, "/bpmn/messages/0/name", json!(message));
    definition
}

#[tokio::test]
async fn what_cannot_be_executed_is_refused_and_nothing_is_written() {
    let mut definition = review();
    set(
        &mut definition,
        "/nodes/1",
        json!({ "id": "review", "type": "scriptTask",
            "bpmn": { "activity": { "script": "x = 1", "scriptFormat": "javascript" } } }),
    );
    let world = World::new();
    let id = world.draft("w", &definition).await;
    let refused = publish(&world, id, PublishRequest::default()).await;
    let Err(UseCaseError::Invalid(problems)) = refused else { panic!("{refused:?}") };
    assert_eq!(problems[0].reason, "notExecutable");
    assert_eq!(problems[0].extra["elementId"], "review");
    assert_eq!(problems[0].field.as_deref(), Some("definition.nodes[1]"));
    let stale = PublishRequest { revision: Some(Revision(3)), ..PublishRequest::default() };
    let stale = publish(&world, id, stale).await;
    let Err(UseCaseError::Conflict(problems)) = stale else { panic!("{stale:?}") };
    assert_eq!((problems[0].reason, &problems[0].extra["currentRevision"]), ("revisionMismatch", &json!(1)));
    let kept = world.memory.workflow(id);
    assert_eq!((kept.versions.len(), kept.workflow.state), (0, WorkflowState::Draft));
}

#[tokio::test]
async fn every_reason_is_told_at_once_with_its_element() {
    let mut definition = chain(&[
        ("a", "userTask", json!({ "configuration": { "form": { "type": 5 } } })),
        ("b", "receiveTask", json!({ "bpmn": { "messageRef": "gone" } })),
    ]);
    set(&mut definition, "/edges/2/target", json!("nowhere"));
    let world = World::new();
    let id = world.draft("w", &definition).await;
    let refused = publish(&world, id, PublishRequest::default()).await;
    let Err(UseCaseError::Invalid(problems)) = &refused else { panic!("{refused:?}") };
    let told: Vec<_> = problems.iter().filter_map(|one| one.extra.get("elementId")?.as_str()).collect();
    for element in ["a", "b", "b-end"] {
        assert!(told.contains(&element), "{element} of {told:?}");
    }
    let form = problems.iter().find(|one| one.extra["code"] == "invalidSchema").unwrap();
    assert_eq!(form.field.as_deref(), Some("definition.nodes[1].configuration.form"));
    assert!(problems.iter().all(|one| one.reason == "notExecutable" && one.extra["severity"] == "error"));
}

#[tokio::test]
async fn schemas_that_explode_and_cycles_without_a_pause_are_refused() {
    let mut definitions = serde_json::Map::new();
    for level in 0..22 {
        let next = format!("#/$defs/a{}", level + 1);
        definitions.insert(format!("a{level}"), json!({ "anyOf": [{ "$ref": next }, { "$ref": next }] }));
    }
    definitions.insert("a22".to_owned(), json!({ "required": ["nope"] }));
    let exploding = json!({ "$ref": "#/$defs/a0", "$defs": definitions });
    let mut definition = chain(&[
        ("often", "intermediateCatchEvent", event("cycle R3/PT0.5S")),
        ("ask", "userTask", json!({ "configuration": { "form": exploding } })),
    ]);
    definition["nodes"][0]["configuration"] = json!({ "inputSchema": exploding });
    let world = World::new();
    let id = world.draft("w", &definition).await;
    let refused = publish(&world, id, PublishRequest::default()).await;
    let Err(UseCaseError::Invalid(problems)) = &refused else { panic!("{refused:?}") };
    let mut told: Vec<_> = problems
        .iter()
        .filter(|one| one.extra["code"] == "invalidSchema" || one.extra["code"] == "timerPeriod")
        .map(|one| (one.extra["code"].as_str().unwrap(), one.field.as_deref().unwrap_or_default()))
        .collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            ("invalidSchema", "definition.nodes[0].configuration.inputSchema"),
            ("invalidSchema", "definition.nodes[2].configuration.form"),
            ("timerPeriod", "definition.nodes[1].bpmn.eventDefinitions"),
        ]
    );
}

#[tokio::test]
async fn a_draft_without_a_definition_or_a_process_is_not_published() {
    let world = World::new();
    let id = world.draft("w", &json!({})).await;
    let refused = publish(&world, id, PublishRequest::default()).await;
    let Err(UseCaseError::Invalid(problems)) = refused else { panic!("{refused:?}") };
    assert_eq!(problems[0].extra["code"], "noExecutableProcess");
    world.memory.0.lock().workflows.get_mut(&id).unwrap().draft = Draft::Null;
    let refused = publish(&world, id, PublishRequest::default()).await;
    assert_eq!(reasons(refused), [at("definition", "required")]);
}

#[tokio::test]
async fn versions_count_up_and_the_same_content_is_the_same_version() {
    let world = World::new();
    let id = world.draft("w", &review()).await;
    let note = PublishRequest { change_note: Some("first".to_owned()), revision: Some(Revision(1)) };
    let first = publish(&world, id, note).await.unwrap();
    assert_eq!((first.version.number, first.version.change_note.as_deref()), (1, Some("first")));
    assert_eq!((first.version.published_at, first.version.published_by), (NOW, Caller::id("ada")));
    let workflow = &first.view.workflow;
    assert_eq!((workflow.state, workflow.published_version), (WorkflowState::Published, Some(1)));
    assert_eq!((workflow.revision, workflow.has_unpublished_changes()), (Revision(2), false));
    let written = world.memory.0.lock().journals.len();
    let again = publish(&world, id, PublishRequest::default()).await.unwrap();
    assert_eq!((again.version, again.view.workflow.revision), (first.version.clone(), Revision(2)));
    // The order of members says nothing.
    let text = review().to_string();
    let reversed: serde_json::Map<String, Value> =
        serde_json::from_str::<serde_json::Map<String, Value>>(&text).unwrap().into_iter().rev().collect();
    save(&world, id, &Value::Object(reversed)).await;
    assert_eq!(publish(&world, id, PublishRequest::default()).await.unwrap().version.number, 1);
    assert_eq!(world.memory.0.lock().journals.len(), written + 1, "only the saved draft was written");
    save(&world, id, &chain(&[])).await;
    let second = publish(&world, id, PublishRequest::default()).await.unwrap();
    assert_eq!((second.version.number, &second.version.change_note), (2, &None));
    assert_ne!(second.version.hash, first.version.hash);
    assert_eq!(world.memory.0.lock().journals.last(), Some(&journal("2")));
    assert_eq!(world.memory.workflow(id).versions[0].1, review(), "a version is immutable");
}

#[tokio::test]
async fn what_starts_a_process_moves_to_the_new_version_in_the_same_write() {
    let world = World::new();
    let id = world.draft("w", &listening("paid")).await;
    publish(&world, id, PublishRequest::default()).await.unwrap();
    let bound = |world: &World| {
        let mut bound: Vec<_> = world.memory.0.lock().bindings.clone();
        bound.sort_by(|a, b| a.node_id.cmp(&b.node_id));
        bound
    };
    let told: Vec<_> = bound(&world)
        .into_iter()
        .map(|one| (one.node_id, one.kind, one.name, one.next_due_at, one.version))
        .collect();
    assert_eq!(
        told,
        [
            ("by-message".to_owned(), BindingKind::Message, "paid".to_owned(), None, 1),
            ("by-signal".to_owned(), BindingKind::Signal, "stock".to_owned(), None, 1),
            ("by-time".to_owned(), BindingKind::Timer, String::new(), Some(NOW.plus_seconds(3600)), 1),
        ]
    );
    save(&world, id, &listening("refunded")).await;
    assert_eq!(bound(&world)[0].name, "paid", "a draft starts nothing");
    world.memory.fail_next(StoreError::Stale);
    let late = publish(&world, id, PublishRequest::default()).await;
    assert_eq!(reasons(late), [whole("revisionMismatch")]);
    assert_eq!(bound(&world)[0].version, 1, "a publication that fails moves nothing");
    publish(&world, id, PublishRequest::default()).await.unwrap();
    let moved = bound(&world);
    assert!(moved.iter().all(|one| one.version == 2));
    assert_eq!((moved.len(), moved[0].name.as_str()), (3, "refunded"));
}
