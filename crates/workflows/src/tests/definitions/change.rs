//! Changing, archiving, starring and deleting workflows.

use heddle_kernel::{Patch, Revision, WorkflowId};
use heddle_policy::capability::{WorkflowDelete, WorkflowPublish, WorkflowStar, WorkflowUpdate};
use heddle_usecase::StoreError;
use serde_json::json;

use crate::UseCaseError;
use crate::definitions::{PublishRequest, WorkflowPatch};
use crate::records::{WorkflowState, WorkflowView};
use crate::runs::StartRun;
use crate::tests::support::{
    NOW, World, at, caller, chain, event, journal, model, on_workflow, reasons, receive, review, unrecorded,
    uuid, whole,
};

async fn patch(world: &World, id: WorkflowId, patch: WorkflowPatch) -> Result<WorkflowView, UseCaseError> {
    let context = caller("ada", "designer").context();
    let may = on_workflow::<WorkflowUpdate>(&context, id);
    let record = |view: &WorkflowView| journal(&view.definition.display_name);
    world.definitions.patch(&may, &context, patch, &record).await
}

fn archived(archived: bool) -> WorkflowPatch {
    WorkflowPatch { archived: Some(archived), ..WorkflowPatch::default() }
}

/// A process that the message `paid` starts.
fn started_by_message() -> serde_json::Value {
    model(&[("s", "startEvent", event("message m")), ("e", "endEvent", json!({}))], &[("s", "e")])
}

#[tokio::test]
async fn a_patch_changes_what_it_names_and_nothing_else() {
    let world = World::new();
    let id = world.draft("w", &review()).await;
    let nothing = WorkflowPatch::default;
    // One after the other: folder set, name, description, slug, folder kept, folder cleared.
    let steps = [
        (
            WorkflowPatch { folder_id: Patch::Value("f".to_owned()), ..nothing() },
            ("w", "w", "", Patch::Value("f")),
        ),
        (
            WorkflowPatch { display_name: Some("N".to_owned()), ..nothing() },
            ("w", "N", "", Patch::Value("f")),
        ),
        (
            WorkflowPatch { description: Some("D".to_owned()), ..nothing() },
            ("w", "N", "D", Patch::Value("f")),
        ),
        (WorkflowPatch { slug: Some("v".to_owned()), ..nothing() }, ("v", "N", "D", Patch::Value("f"))),
        (WorkflowPatch { folder_id: Patch::Null, ..nothing() }, ("v", "N", "D", Patch::Null)),
    ];
    for (revision, (change, (slug, name, description, folder))) in (2..).zip(steps) {
        let shown = patch(&world, id, change).await.unwrap().definition;
        assert_eq!((&*shown.slug, &*shown.display_name, &*shown.description), (slug, name, description));
        let folder = match folder {
            Patch::Value(folder) => Patch::Value(folder.to_owned()),
            Patch::Null | Patch::Absent => Patch::Null,
        };
        assert_eq!((&shown.folder_id, shown.revision), (&folder, Revision(revision)));
        assert_eq!(world.memory.workflow(id).workflow, shown);
    }
    let kept = world.memory.workflow(id);
    assert_eq!((kept.workflow.draft_revision, kept.draft.value()), (Revision(1), Some(&review())));
}

#[tokio::test]
async fn a_patch_that_changes_nothing_writes_nothing() {
    let world = World::new();
    let id = world.draft("w", &review()).await;
    let before = world.memory.0.lock().journals.len();
    let same = WorkflowPatch { display_name: Some("w".to_owned()), ..WorkflowPatch::default() };
    for change in [WorkflowPatch::default(), same, archived(false)] {
        assert_eq!(patch(&world, id, change).await.unwrap().definition.revision, Revision(1));
    }
    assert_eq!(world.memory.0.lock().journals.len(), before, "no audit event of a change that was none");
}

#[tokio::test]
async fn a_patch_is_refused_with_every_reason_and_leaves_the_workflow_as_it_is() {
    let world = World::new();
    let id = world.draft("w", &review()).await;
    world.draft("taken", &review()).await;
    let before = world.memory.workflow(id).workflow;
    let wrong = WorkflowPatch {
        slug: Some("A".to_owned()),
        display_name: Some(String::new()),
        description: Some("d".repeat(4_001)),
        folder_id: Patch::Value(String::new()),
        ..WorkflowPatch::default()
    };
    let all = [
        at("slug", "pattern"),
        at("displayName", "tooShort"),
        at("description", "tooLong"),
        at("folderId", "tooShort"),
    ];
    assert_eq!(reasons(patch(&world, id, wrong).await), all);
    let taken = WorkflowPatch { slug: Some("taken".to_owned()), ..WorkflowPatch::default() };
    assert_eq!(reasons(patch(&world, id, taken).await), [at("slug", "notUnique")]);
    let stale = WorkflowPatch {
        revision: Some(Revision(9)),
        display_name: Some("N".to_owned()),
        ..WorkflowPatch::default()
    };
    let Err(UseCaseError::Conflict(problems)) = patch(&world, id, stale).await else { panic!("no conflict") };
    assert_eq!((problems[0].reason, &problems[0].extra["currentRevision"]), ("revisionMismatch", &json!(1)));
    assert_eq!(world.memory.workflow(id).workflow, before);
}

#[tokio::test]
async fn a_change_between_the_look_and_the_write_is_a_conflict() {
    let world = World::new();
    let id = world.draft("w", &review()).await;
    world.memory.fail_next(StoreError::Stale);
    let change = WorkflowPatch { display_name: Some("N".to_owned()), ..WorkflowPatch::default() };
    assert_eq!(reasons(patch(&world, id, change).await), [whole("revisionMismatch")]);
}

#[tokio::test]
async fn what_is_not_there_or_of_another_organisation_is_not_found() {
    let world = World::new();
    let id = world.draft("w", &review()).await;
    let gone = patch(&world, WorkflowId(uuid(99)), archived(true)).await;
    assert!(matches!(gone, Err(UseCaseError::NotFound)), "{gone:?}");
    let other = caller("eve", "owner").elsewhere().context();
    let may = on_workflow::<WorkflowUpdate>(&other, id);
    let foreign = world.definitions.patch(&may, &other, archived(true), &unrecorded).await;
    assert!(matches!(foreign, Err(UseCaseError::NotFound)), "{foreign:?}");
    assert_eq!(world.memory.workflow(id).workflow.state, WorkflowState::Draft);
}

#[tokio::test]
async fn an_archived_workflow_starts_nothing_and_comes_back_as_it_was() {
    let world = World::new();
    let id = world.published("w", &started_by_message()).await;
    let bound = world.memory.0.lock().bindings.clone();
    assert_eq!(bound.len(), 1);
    assert_eq!(patch(&world, id, archived(true)).await.unwrap().definition.state, WorkflowState::Archived);
    assert_eq!(world.memory.0.lock().bindings, []);
    let context = caller("ada", "designer").context();
    let publish = on_workflow::<WorkflowPublish>(&context, id);
    let refused = world.definitions.publish(&publish, &context, PublishRequest::default(), &unrecorded).await;
    assert_eq!(reasons(refused), [whole("archived")]);
    let back = patch(&world, id, archived(false)).await.unwrap().definition;
    assert_eq!((back.state, back.published_version), (WorkflowState::Published, Some(1)));
    assert_eq!(world.memory.0.lock().bindings, bound, "the active version listens again");
}

#[tokio::test]
async fn an_archived_draft_comes_back_as_a_draft() {
    let world = World::new();
    let id = world.draft("w", &review()).await;
    patch(&world, id, archived(true)).await.unwrap();
    assert_eq!(patch(&world, id, archived(false)).await.unwrap().definition.state, WorkflowState::Draft);
    assert_eq!(world.memory.0.lock().bindings, []);
}

async fn delete(world: &World, id: WorkflowId, expected: Option<Revision>) -> Result<(), UseCaseError> {
    let context = caller("ada", "designer").context();
    let may = on_workflow::<WorkflowDelete>(&context, id);
    world.definitions.delete(&may, &context, expected, &journal("deleted")).await
}

#[tokio::test]
async fn a_workflow_with_active_runs_is_not_deleted() {
    let world = World::new();
    let id = world.published("w", &receive()).await;
    for _ in 0..2 {
        world.start(id, StartRun::default()).await;
    }
    let Err(UseCaseError::Conflict(problems)) = delete(&world, id, None).await else { panic!("no conflict") };
    assert_eq!(problems[0].reason, "inUse");
    assert_eq!(problems[0].extra["usedBy"], json!([{ "type": "run", "count": 2 }]));
    assert!(world.memory.0.lock().workflows.contains_key(&id));
}

#[tokio::test]
async fn a_workflow_is_deleted_once_and_a_repeat_is_done_already() {
    let world = World::new();
    let id = world.published("w", &chain(&[])).await;
    let ended = world.start(id, StartRun::default()).await;
    assert!(ended.state.is_terminal(), "an ended run does not hold its workflow");
    assert_eq!(reasons(delete(&world, id, Some(Revision(1))).await), [at("revision", "revisionMismatch")]);
    delete(&world, id, Some(Revision(2))).await.unwrap();
    delete(&world, id, None).await.unwrap();
    let of_deletion = world.memory.0.lock().journals.iter().filter(|one| **one == journal("deleted")).count();
    assert_eq!(of_deletion, 1);
    assert!(matches!(delete(&world, WorkflowId(uuid(99)), None).await, Err(UseCaseError::NotFound)));
}

#[tokio::test]
async fn a_star_is_its_users_own_and_set_twice_it_is_set_once() {
    let world = World::new();
    let id = world.draft("w", &review()).await;
    let before = world.memory.0.lock().journals.len();
    let star = async |name: &'static str, starred: bool| {
        let context = caller(name, "viewer").context();
        // A viewer may only read; the designer may star.
        assert!(context.snapshot().authorize_one::<WorkflowStar>(id, ()).is_err());
        let context = caller(name, "designer").context();
        let may = on_workflow::<WorkflowStar>(&context, id);
        world.definitions.star(&may, &context, starred, &journal(name)).await.unwrap()
    };
    assert!(star("ada", true).await.starred && star("ada", true).await.starred);
    assert!(!star("bob", false).await.starred, "another user's star is another one");
    assert_eq!(world.memory.0.lock().journals.len(), before + 1);
    assert!(!star("ada", false).await.starred);
    let shown = star("bob", true).await;
    assert_eq!(
        (shown.starred, shown.definition.revision, shown.definition.updated_at),
        (true, Revision(1), NOW)
    );
}
