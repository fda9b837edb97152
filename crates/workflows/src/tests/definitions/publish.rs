//! Publishing.

use heddle_kernel::{Revision, WorkflowId};
use heddle_policy::capability::{WorkflowPublish, WorkflowUpdate};
use heddle_usecase::StoreError;
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::definitions::{PublishRequest, Published, SavedDraft};
use crate::records::{BindingKind, Draft, WorkflowState};
use crate::runs::StartRun;
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
    let saved = SavedDraft { draft: Draft::Value(definition.clone()), revision: None };
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
            "bpmn": { "activity": { "script": "x = 1" } } }),
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

/// What publishing says of a document: codes with elements and remedies.
async fn refused(document: &str) -> Vec<(String, String, bool)> {
    let definition = heddle_bpmn::xml::read(document.as_bytes()).unwrap().definition;
    refused_of(&serde_json::to_value(&definition).unwrap()).await
}

/// The same of a definition.
async fn refused_of(definition: &Value) -> Vec<(String, String, bool)> {
    let world = World::new();
    let id = world.draft("w", definition).await;
    let refused = publish(&world, id, PublishRequest::default()).await;
    let Err(UseCaseError::Invalid(problems)) = refused else { panic!("{refused:?}") };
    let text = |one: &crate::Problem, name: &str| {
        one.extra.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    problems
        .iter()
        .map(|one| (text(one, "code"), text(one, "elementId"), text(one, "remedy").ends_with('.')))
        .collect()
}

#[tokio::test]
async fn each_word_and_setting_of_an_element_is_a_reason_of_its_own() {
    let document = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="urn:x"
        xmlns:camunda="http://camunda.org/schema/1.0/bpmn"><process id="p" isExecutable="true">
        <startEvent id="s" camunda:formHandlerClass="a.F"/><sequenceFlow id="f" sourceRef="s" targetRef="u"/>
        <userTask id="u" camunda:dueDate="${calendar.next()}"><extensionElements>
          <camunda:taskListener class="a.B" event="timeout"/><camunda:executionListener class="a.C" event="take"/>
        </extensionElements></userTask><sequenceFlow id="g" sourceRef="u" targetRef="t"/>
        <exclusiveGateway id="t"><extensionElements><camunda:inputOutput>
          <camunda:inputParameter name="a">1</camunda:inputParameter>
          <camunda:outputParameter name="b">${c}</camunda:outputParameter></camunda:inputOutput></extensionElements>
        </exclusiveGateway><sequenceFlow id="h" sourceRef="t" targetRef="e"/><endEvent id="e"/></process></definitions>"#;
    let found = refused(document).await;
    let count = |code: &str, id: &str| found.iter().filter(|one| one.0 == code && one.1 == id).count();
    assert_eq!(count("unsupportedExtension", "s"), 1, "{found:?}");
    assert_eq!(count("unsupportedExtension", "u"), 3, "{found:?}");
    assert_eq!(count("unsupportedSetting", "t"), 2, "{found:?}");
    assert_eq!(found.len(), 6, "{found:?}");
    assert!(found.iter().all(|(_, _, remedy)| *remedy), "{found:?}");
}

#[tokio::test]
async fn what_refers_to_an_element_that_is_refused_is_not_refused_for_it() {
    let model = |element: &str, content: &str| {
        format!(
            r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="urn:x">
            <error id="late" errorCode="LATE"/>
            <process id="p" isExecutable="true"><startEvent id="s"><outgoing>f</outgoing></startEvent>
            <sequenceFlow id="f" sourceRef="s" targetRef="x"/>
            <{element} id="x" default="g"><incoming>f</incoming><outgoing>g</outgoing>{content}</{element}>
            <sequenceFlow id="g" sourceRef="x" targetRef="e"/>
            <boundaryEvent id="b" attachedToRef="x"><outgoing>h</outgoing>
              <errorEventDefinition id="d" errorRef="late"/></boundaryEvent>
            <sequenceFlow id="h" sourceRef="b" targetRef="e"/>
            <endEvent id="e"><incoming>g</incoming><incoming>h</incoming></endEvent></process></definitions>"#
        )
    };
    // Several instances of it need a number or a collection.
    let transaction =
        |inner: &str| model("transaction", &format!("<multiInstanceLoopCharacteristics id=\"m\"/>{inner}"));
    let ad_hoc = model("adHocSubProcess", r#"<task id="i"/>"#)
        .replace("<adHocSubProcess id", "<adHocSubProcess ordering=\"Random\" id");
    for (document, code) in [(ad_hoc, "wrongAdHoc"), (transaction(r#"<task id="i"/>"#), "wrongLoop")] {
        let found = refused(&document).await;
        assert_eq!(found, [(code.to_owned(), "x".to_owned(), true)], "{document}");
    }
    // An element that is none of the standard's has no place in a graph at all.
    let drawn = heddle_bpmn::xml::read(model("manualTask", "").as_bytes()).unwrap().definition;
    let unknown = serde_json::to_string(&drawn).unwrap().replace("\"manualTask\"", "\"teleport\"");
    let found = refused_of(&serde_json::from_str(&unknown).unwrap()).await;
    assert_eq!(found, [("unknownElement".to_owned(), "x".to_owned(), true)]);
    // What stands against the content of a refused sub-process is told with it, and against the event at its border.
    let found = refused(&transaction(r#"<callActivity id="i"/>"#)).await;
    let ids: Vec<&str> = found.iter().map(|one| one.1.as_str()).collect();
    assert!(ids.len() == 2 && ids.contains(&"x") && ids.contains(&"i"), "{found:?}");
    let wrong = model("callActivity", "").replace("errorRef=\"late\"", "errorRef=\"none\"");
    let found = refused(&wrong).await;
    assert!(found.iter().any(|one| one.1 == "b") && found.iter().any(|one| one.1 == "x"), "{found:?}");
    // A process of nothing but such an element lacks no start.
    let alone = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="urn:x">
        <process id="p" isExecutable="true"><callActivity id="x"/></process></definitions>"#;
    assert_eq!(refused(alone).await, [("wrongSetting".to_owned(), "x".to_owned(), true)]);
}

#[tokio::test]
async fn what_a_definition_asks_for_and_does_not_get_is_refused_by_name() {
    let with = |place: &str, value: Value| {
        let mut definition = review();
        let (around, member) = place.rsplit_once('/').unwrap();
        definition.pointer_mut(around).unwrap()[member] = value;
        definition
    };
    for (definition, field, code) in [
        (
            with("/protection", json!({ "preset": "severe" })),
            "definition.protection.preset",
            "unsupportedProtection",
        ),
        (
            with("/protection", json!({ "preset": "off", "customChecks": ["c"] })),
            "definition.protection.customChecks[0]",
            "unsupportedProtection",
        ),
        (
            chain(&[(
                "a",
                "serviceTask",
                json!({ "configuration": { "kind": "guardrail.check", "input": "= a", "preset": "severe" } }),
            )]),
            "definition.nodes[1].configuration.preset",
            "wrongSetting",
        ),
        (
            chain(&[(
                "a",
                "serviceTask",
                json!({ "configuration": { "kind": "guardrail.check", "input": "= a", "checks": [
                    { "id": "form", "kind": "schema", "configuration": { "schema": { "type": 1 } } }] } }),
            )]),
            "definition.nodes[1].configuration.checks",
            "invalidSchema",
        ),
        (with("/schemaVersion", json!(999)), "definition.schemaVersion", "unsupportedSchemaVersion"),
        (
            with("/nodes/1/configuration", json!({ "assigne": "bob" })),
            "definition.nodes[1].configuration.assigne",
            "unknownSetting",
        ),
        (
            with("/nodes/0/configuration", json!({ "schema": true })),
            "definition.nodes[0].configuration.schema",
            "unknownSetting",
        ),
        (
            with("/nodes/2/configuration", json!({ "colour": "red" })),
            "definition.nodes[2].configuration.colour",
            "unknownSetting",
        ),
        (
            chain(&[(
                "a",
                "scriptTask",
                json!({ "configuration": { "source": "1",
                "inputs": [{ "name": "b", "value": 1, "scope": "local" }] } }),
            )]),
            "definition.nodes[1].configuration.inputs[0].scope",
            "unknownSetting",
        ),
    ] {
        let world = World::new();
        let id = world.draft("w", &definition).await;
        let refused = publish(&world, id, PublishRequest::default()).await;
        let Err(UseCaseError::Invalid(problems)) = &refused else { panic!("{field}: {refused:?}") };
        let told: Vec<_> = problems
            .iter()
            .map(|one| (one.field.as_deref().unwrap(), one.extra["code"].as_str().unwrap()))
            .collect();
        assert_eq!(told, [(field, code)]);
    }
    // A setting that other elements have is told, and does no harm.
    let world = World::new();
    let id = world.draft("w", &with("/nodes/0/configuration", json!({ "assignee": "bob" }))).await;
    let published = publish(&world, id, PublishRequest::default()).await.unwrap();
    let unused = published.diagnostics.iter().find(|one| one.code == "settingUnused").unwrap();
    assert_eq!(unused.path.as_deref(), Some("nodes[0].configuration.assignee"));
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
    let workflow = &first.view.definition;
    assert_eq!((workflow.state, workflow.published_version), (WorkflowState::Published, Some(1)));
    assert_eq!((workflow.revision, workflow.has_unpublished_changes()), (Revision(2), false));
    let written = world.memory.0.lock().journals.len();
    let again = publish(&world, id, PublishRequest::default()).await.unwrap();
    assert_eq!((again.version, again.view.definition.revision), (first.version.clone(), Revision(2)));
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

/// Makes the active version one that was published while a lane was the group of its open tasks.
fn published_by_lanes(world: &World, id: WorkflowId) {
    let mut tables = world.memory.0.lock();
    tables.workflows.get_mut(&id).unwrap().versions[0].0.lane_groups = true;
}

#[tokio::test]
async fn a_version_of_before_keeps_its_tasks_with_their_lanes_until_the_same_text_is_published_again() {
    let document = |settings: &str| {
        let document = format!(
            r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="urn:x"
            xmlns:camunda="http://camunda.org/schema/1.0/bpmn"><process id="p" isExecutable="true">
            <laneSet id="ls"><lane id="l" name="Clerks"><flowNodeRef>u</flowNodeRef></lane></laneSet>
            <startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="u"/><userTask id="u" {settings}/>
            <sequenceFlow id="g" sourceRef="u" targetRef="e"/><endEvent id="e"/></process></definitions>"#
        );
        serde_json::to_value(heddle_bpmn::xml::read(document.as_bytes()).unwrap().definition).unwrap()
    };
    let world = World::new();
    let groups = async |id: WorkflowId, version: i32| {
        let run = world.start(id, StartRun { version: Some(version), ..StartRun::default() }).await;
        world.memory.open_tasks(run.id)[0].candidate_groups.clone()
    };
    let id = world.draft("open", &document("")).await;
    let first = publish(&world, id, PublishRequest::default()).await.unwrap();
    assert!(!first.version.lane_groups);
    published_by_lanes(&world, id);
    assert_eq!(groups(id, 1).await, ["Clerks"]);
    let second = publish(&world, id, PublishRequest::default()).await.unwrap();
    assert_eq!((second.version.number, second.version.lane_groups), (2, false));
    assert_eq!(second.version.hash, first.version.hash);
    assert!(second.diagnostics.iter().any(|one| one.code == "laneNotCandidates"));
    assert_eq!((groups(id, 1).await, groups(id, 2).await), (vec!["Clerks".to_owned()], Vec::new()));
    let again = publish(&world, id, PublishRequest::default()).await.unwrap();
    assert_eq!(again.version.number, 2);
    // Where the rule gives nobody anything, the same text is the same version.
    let id = world.draft("named", &document(r#"camunda:candidateGroups="buyers""#)).await;
    publish(&world, id, PublishRequest::default()).await.unwrap();
    published_by_lanes(&world, id);
    assert_eq!(groups(id, 1).await, ["buyers"]);
    assert_eq!(publish(&world, id, PublishRequest::default()).await.unwrap().version.number, 1);
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
