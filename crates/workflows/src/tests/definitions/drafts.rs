//! Saving drafts.

use heddle_bpmn::diagnostic::Diagnostic;
use heddle_kernel::{Revision, WorkflowId};
use heddle_policy::capability::{WorkflowRead, WorkflowUpdate};
use heddle_usecase::{StoreError, canonical_sha256};
use serde_json::{Value, json};

use crate::UseCaseError;
use crate::definitions::{SavedDraft, VersionChoice};
use crate::records::{Draft, WorkflowView};
use crate::tests::support::{
    World, at, caller, journal, on_workflow, reasons, receive, review, shown, whole,
};

async fn save(
    world: &World,
    id: WorkflowId,
    draft: Draft,
    revision: Option<i64>,
) -> Result<(WorkflowView, Vec<Diagnostic>), UseCaseError> {
    let context = caller("ada", "designer").context();
    let may = on_workflow::<WorkflowUpdate>(&context, id);
    let saved = SavedDraft { draft, revision: revision.map(Revision) };
    let record = |saved: &(WorkflowView, Vec<Diagnostic>)| journal(&format!("{}", saved.1.len()));
    world.definitions.save_draft(&may, &context, saved, &record).await
}

async fn read(world: &World, id: WorkflowId) -> Draft {
    let context = caller("ada", "designer").context();
    let may = on_workflow::<WorkflowRead>(&context, id);
    shown(&world.definitions.get(&may, &context, VersionChoice::Draft).await.unwrap())
}

#[tokio::test]
async fn a_draft_is_replaced_as_a_whole_and_given_back_as_it_was_sent() {
    let world = World::new();
    let id = world.draft("w", &review()).await;
    let drafts = [
        Draft::Value(receive()),
        Draft::Value(json!({ "nodes": [], "bpmn": null, "schemaVersion": 1 })),
        Draft::Null,
        Draft::Value(json!({})),
    ];
    for (revision, draft) in (2..).zip(drafts) {
        let (shown, _) = save(&world, id, draft.clone(), Some(revision - 1)).await.unwrap();
        assert_eq!(shown.definition.revision, Revision(revision));
        assert_eq!(shown.definition.draft_revision, Revision(revision));
        assert_eq!(shown.definition.draft_hash, draft.value().map(canonical_sha256));
        assert_eq!(read(&world, id).await, draft, "absent, null and value come back as they were sent");
    }
}

#[tokio::test]
async fn an_incomplete_draft_is_kept_and_what_is_missing_is_told() {
    let world = World::new();
    let id = world.draft("w", &review()).await;
    let incomplete = json!({ "nodes": [{ "id": "a", "type": "startEvent" }],
        "edges": [{ "id": "f", "source": "a", "target": "nowhere" }] });
    let (_, diagnostics) = save(&world, id, Draft::Value(incomplete.clone()), None).await.unwrap();
    let about = |id: &str| diagnostics.iter().any(|one| one.element_id.as_deref() == Some(id));
    assert!(about("f"), "{diagnostics:?}");
    assert_eq!(read(&world, id).await, Draft::Value(incomplete));
    let told = journal(&format!("{}", diagnostics.len()));
    assert_eq!(world.memory.0.lock().journals.last(), Some(&told), "the answer is kept with the draft");
}

#[tokio::test]
async fn another_revision_than_the_present_one_is_refused_and_the_draft_stays() {
    let world = World::new();
    let id = world.draft("w", &review()).await;
    save(&world, id, Draft::Value(receive()), Some(1)).await.unwrap();
    let late = save(&world, id, Draft::Null, Some(1)).await;
    let Err(UseCaseError::Conflict(problems)) = &late else { panic!("{late:?}") };
    assert_eq!(problems[0].extra["currentRevision"], json!(2));
    assert_eq!(reasons(late), [at("revision", "revisionMismatch")]);
    world.memory.fail_next(StoreError::Stale);
    assert_eq!(reasons(save(&world, id, Draft::Null, None).await), [whole("revisionMismatch")]);
    assert_eq!(read(&world, id).await, Draft::Value(receive()));
}

#[tokio::test]
async fn a_saved_draft_changes_nothing_that_is_published() {
    let world = World::new();
    let id = world.published("w", &review()).await;
    let published = world.memory.workflow(id).workflow;
    assert!(!published.has_unpublished_changes());
    let (shown, _) = save(&world, id, Draft::Value(receive()), None).await.unwrap();
    assert!(shown.definition.has_unpublished_changes());
    assert_eq!(shown.definition.published_hash, published.published_hash);
    assert_eq!(world.memory.workflow(id).versions[0].1, review());
    let same: Value = serde_json::from_str(&review().to_string()).unwrap();
    let (shown, _) = save(&world, id, Draft::Value(same), None).await.unwrap();
    assert!(!shown.definition.has_unpublished_changes(), "the same content is no change");
}
