//! Reading workflows and their versions.

use heddle_kernel::{Cursor, PageRequest, WorkflowId};
use heddle_policy::capability::{WorkflowList, WorkflowRead};
use heddle_policy::{Effect, GrantFacts, Source};
use serde_json::json;

use crate::UseCaseError;
use crate::definitions::VersionChoice;
use crate::ports::{WorkflowFilter, WorkflowSort};
use crate::records::{Draft, WorkflowState};
use crate::tests::support::{World, at, caller, chain, on_workflow, reasons, receive, review, shown, uuid};

/// A workflow with two versions and another draft.
async fn with_versions() -> (World, WorkflowId) {
    let world = World::new();
    let id = world.published("w", &review()).await;
    for definition in [receive(), chain(&[])] {
        world.memory.0.lock().workflows.get_mut(&id).unwrap().draft = Draft::Value(definition);
        if world.memory.workflow(id).versions.len() < 2 {
            world.publish(id).await;
        }
    }
    (world, id)
}

#[tokio::test]
async fn a_reader_chooses_the_draft_the_active_version_or_any() {
    let (world, id) = with_versions().await;
    let context = caller("vera", "viewer").context();
    let may = on_workflow::<WorkflowRead>(&context, id);
    let cases = [
        (VersionChoice::Draft, Some(chain(&[]))),
        (VersionChoice::Published, Some(receive())),
        (VersionChoice::Number(1), Some(review())),
        (VersionChoice::Number(2), Some(receive())),
        (VersionChoice::Number(3), None),
        (VersionChoice::Number(0), None),
    ];
    for (choice, expected) in cases {
        let read = world.definitions.get(&may, &context, choice).await;
        match expected {
            Some(definition) => assert_eq!(shown(&read.unwrap()), Draft::Value(definition), "{choice:?}"),
            None => assert!(matches!(read, Err(UseCaseError::NotFound)), "{choice:?}: {read:?}"),
        }
    }
}

#[tokio::test]
async fn a_workflow_that_was_never_published_has_no_published_definition() {
    let world = World::new();
    let id = world.draft("w", &review()).await;
    let context = caller("vera", "viewer").context();
    let may = on_workflow::<WorkflowRead>(&context, id);
    let read = world.definitions.get(&may, &context, VersionChoice::Published).await;
    assert!(matches!(read, Err(UseCaseError::NotFound)), "{read:?}");
}

#[tokio::test]
async fn versions_come_newest_first_and_in_pages() {
    let (world, id) = with_versions().await;
    let context = caller("vera", "viewer").context();
    let may = on_workflow::<WorkflowRead>(&context, id);
    let page = PageRequest { limit: 1, cursor: None };
    let first = world.definitions.versions(&may, &context, &page).await.unwrap();
    let told: Vec<_> = first.items.iter().map(|version| (version.number, version.active)).collect();
    assert_eq!(told, [(2, true)]);
    let rest = PageRequest { limit: 1, cursor: first.next };
    let second = world.definitions.versions(&may, &context, &rest).await.unwrap();
    let told: Vec<_> = second.items.iter().map(|version| (version.number, version.active)).collect();
    assert_eq!((told, second.next), (vec![(1, false)], None));
    let foreign = PageRequest { limit: 1, cursor: Some(Cursor::after(&"somewhere else")) };
    let refused = world.definitions.versions(&may, &context, &foreign).await;
    assert_eq!(reasons(refused), [at("cursor", "notAllowed")]);
}

#[tokio::test]
async fn what_is_of_another_organisation_is_not_there() {
    let (world, id) = with_versions().await;
    let other = caller("eve", "owner").elsewhere().context();
    let may = on_workflow::<WorkflowRead>(&other, id);
    let read = world.definitions.get(&may, &other, VersionChoice::Draft).await;
    assert!(matches!(read, Err(UseCaseError::NotFound)), "{read:?}");
    let versions = world.definitions.versions(&may, &other, &PageRequest::default()).await;
    assert!(matches!(versions, Err(UseCaseError::NotFound)), "{versions:?}");
    let unknown = on_workflow::<WorkflowRead>(&other, WorkflowId(uuid(99)));
    let read = world.definitions.versions(&unknown, &other, &PageRequest::default()).await;
    assert!(matches!(read, Err(UseCaseError::NotFound)), "{read:?}");
}

#[tokio::test]
async fn a_list_shows_what_its_caller_may_read_and_asks_as_it_was_asked() {
    let world = World::new();
    let visible = world.draft("shown", &json!({})).await;
    let hidden = world.draft("hidden", &json!({})).await;
    let deny = GrantFacts {
        id: "g".to_owned(),
        source: Source::User,
        resource: "workflow".to_owned(),
        action: "read".to_owned(),
        selector: hidden.to_string(),
        effect: Effect::Deny,
        expires_at: None,
    };
    let filter = WorkflowFilter {
        q: Some("leave".to_owned()),
        state: Some(WorkflowState::Published),
        starred: Some(true),
        folder_id: Some("f".to_owned()),
        sort: WorkflowSort::DisplayName,
    };
    let list = async |context: heddle_policy::RequestContext| {
        let may = context.snapshot().authorize_list::<WorkflowList>().unwrap();
        let page = world.definitions.list(&may, &context, &filter, &PageRequest::default()).await.unwrap();
        page.items.into_iter().map(|view| view.definition.id).collect::<Vec<_>>()
    };
    let mut all = list(caller("vera", "viewer").context()).await;
    all.sort_unstable();
    let mut both = [visible, hidden];
    both.sort_unstable();
    assert_eq!(all, both);
    assert_eq!(list(caller("vera", "viewer").grant(deny).context()).await, [visible]);
    assert_eq!(list(caller("eve", "owner").elsewhere().context()).await, []);
    assert!(world.memory.0.lock().workflow_filters.iter().all(|asked| *asked == filter));
}
