//! Creating workflows.

use heddle_kernel::{Patch, Revision};
use heddle_policy::capability::WorkflowCreate;
use heddle_usecase::{StoreError, canonical_sha256};
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::definitions::NewWorkflow;
use crate::records::{Draft, WorkflowState, WorkflowView};
use crate::tests::support::{Caller, NOW, World, at, caller, journal, of_kind, reasons, unrecorded};

fn named(slug: &str, display_name: &str) -> NewWorkflow {
    NewWorkflow {
        slug: slug.to_owned(),
        display_name: display_name.to_owned(),
        description: String::new(),
        folder_id: Patch::Null,
        draft: Draft::Absent,
    }
}

async fn create(world: &World, new: NewWorkflow) -> Result<WorkflowView, UseCaseError> {
    let context = caller("ada", "designer").context();
    world.definitions.create(&of_kind::<WorkflowCreate>(&context), &context, new, &unrecorded).await
}

#[tokio::test]
async fn every_wrong_member_is_named_at_once() {
    let world = World::new();
    let found = reasons(create(&world, named("A b", "")).await);
    assert_eq!(found, [at("slug", "pattern"), at("displayName", "tooShort")]);
    assert!(world.memory.0.lock().workflows.is_empty());
}

#[tokio::test]
async fn the_limits_of_each_member_hold_on_both_sides() {
    let folder = |text: String| NewWorkflow { folder_id: Patch::Value(text), ..named("a", "A") };
    let described = |text: String| NewWorkflow { description: text, ..named("a", "A") };
    let cases = [
        (named(&"s".repeat(100), "A"), None),
        (named(&"s".repeat(101), "A"), Some(at("slug", "tooLong"))),
        (named("", "A"), Some(at("slug", "tooShort"))),
        (named("a--b", "A"), Some(at("slug", "pattern"))),
        (named("a", &"ü".repeat(200)), None),
        (named("a", &"ü".repeat(201)), Some(at("displayName", "tooLong"))),
        (described("d".repeat(4_000)), None),
        (described("d".repeat(4_001)), Some(at("description", "tooLong"))),
        (folder("f".repeat(200)), None),
        (folder("f".repeat(201)), Some(at("folderId", "tooLong"))),
        (folder(String::new()), Some(at("folderId", "tooShort"))),
    ];
    for (new, expected) in cases {
        let told = format!("{} {}", new.slug, new.display_name);
        let result = create(&World::new(), new).await;
        match expected {
            None => assert!(result.is_ok(), "{told}"),
            Some(problem) => assert_eq!(reasons(result), [problem], "{told}"),
        }
    }
}

#[tokio::test]
async fn a_taken_slug_is_a_conflict_of_that_member() {
    let world = World::new();
    create(&world, named("a", "A")).await.unwrap();
    assert_eq!(reasons(create(&world, named("a", "Another")).await), [at("slug", "notUnique")]);
    assert_eq!(world.memory.0.lock().workflows.len(), 1);
    let other = caller("eve", "designer").elsewhere().context();
    let may = of_kind::<WorkflowCreate>(&other);
    let elsewhere = world.definitions.create(&may, &other, named("a", "A"), &unrecorded).await;
    assert!(elsewhere.is_ok(), "a slug is unique within an organisation alone");
}

#[tokio::test]
async fn a_new_workflow_is_a_draft_of_its_caller() {
    let world = World::new();
    let made = create(&world, named("leave-request", "Leave request")).await.unwrap();
    let workflow = &made.definition;
    assert_eq!((workflow.state, workflow.revision), (WorkflowState::Draft, Revision(1)));
    assert_eq!((workflow.published_version, workflow.has_unpublished_changes()), (None, false));
    assert_eq!((workflow.created_at, workflow.created_by), (NOW, Caller::id("ada")));
    assert_eq!((workflow.updated_at, workflow.updated_by), (NOW, Caller::id("ada")));
    assert!(!made.starred);
    assert_eq!(world.memory.workflow(workflow.id).workflow, made.definition, "what is told is what is kept");
}

#[tokio::test]
async fn absent_null_and_value_of_a_definition_are_kept_apart() {
    // A draft may be incomplete: a node without a type, an edge that leads nowhere.
    let sent = json!({ "nodes": [{ "id": "n" }], "edges": [{ "id": "e", "target": "gone" }], "bpmn": null });
    for draft in [Draft::Absent, Draft::Null, Draft::Value(sent)] {
        let world = World::new();
        let made = create(&world, NewWorkflow { draft: draft.clone(), ..named("a", "A") }).await.unwrap();
        let kept = world.memory.workflow(made.definition.id);
        assert_eq!(kept.draft, draft);
        assert_eq!(kept.workflow.draft_hash, draft.value().map(canonical_sha256));
        assert_eq!(made.definition.has_unpublished_changes(), draft.value().is_some(), "{draft:?}");
    }
}

#[tokio::test]
async fn the_files_that_a_definition_was_imported_from_are_claimed() {
    let world = World::new();
    let document: Value =
        json!({ "imports": [{ "sourceSha256": "aa" }, { "format": "bpmn" }, { "sourceSha256": "bb" }] });
    let new = NewWorkflow { draft: Draft::Value(document), ..named("a", "A") };
    let made = create(&world, new).await.unwrap();
    assert_eq!(world.memory.workflow(made.definition.id).claims, ["aa", "bb"]);
}

#[tokio::test]
async fn the_journal_is_made_of_the_new_workflow_and_written_with_it() {
    let world = World::new();
    let context = caller("ada", "designer").context();
    let may = of_kind::<WorkflowCreate>(&context);
    let record = |made: &WorkflowView| journal(&made.definition.slug);
    world.definitions.create(&may, &context, named("first", "A"), &record).await.unwrap();
    assert_eq!(world.memory.0.lock().journals, [journal("first")]);
    world.memory.fail_next(StoreError::Unavailable("gone".to_owned()));
    let refused = world.definitions.create(&may, &context, named("second", "A"), &record).await;
    assert!(matches!(refused, Err(UseCaseError::Unavailable(_))), "{refused:?}");
    assert_eq!(world.memory.0.lock().journals.len(), 1, "nothing is told of what was not done");
}
