//! Events that are kept, taken, expired or left behind.

use heddle_kernel::{EventId, TenantId};
use heddle_testkit::on_both;
use heddle_usecase::StoreError;
use heddle_workflows::ports::{
    DefinitionStore, InboxWrite, Queue, RunStore, RunWrite, SourceQuota, Transaction,
};
use heddle_workflows::records::{BindingKind, ImportSource, InboxEvent, InboxState, Receivers, WorkKey};

use crate::support::*;

pub(crate) async fn receive(runs: &impl RunStore, event: InboxEvent) -> EventId {
    let (tenant, id) = (event.tenant, event.id);
    let inbox = Some(InboxWrite::Insert(event));
    commit(runs, Transaction { tenant: Some(tenant), inbox, ..Transaction::default() }).await.unwrap();
    id
}

fn ids(events: &[InboxEvent]) -> Vec<EventId> {
    events.iter().map(|event| event.id).collect()
}

#[tokio::test]
async fn kept_events_wait_for_their_name_and_key() {
    on_both!(|db| {
        let (_, runs) = stores(&db);
        let t = tenant();
        let new = receive(&runs, InboxEvent { received_at: at(2), ..event(t, "new") }).await;
        let old = receive(&runs, InboxEvent { received_at: at(1), ..event(t, "old") }).await;
        let ever =
            receive(&runs, InboxEvent { expires_at: None, correlation_key: None, ..event(t, "ever") }).await;
        receive(&runs, InboxEvent { state: InboxState::Consumed, ..event(t, "taken") }).await;
        receive(&runs, InboxEvent { event_type: "sent".to_owned(), ..event(t, "other") }).await;
        for (tenant, key, now, expected) in [
            (t, Some("k"), 0, vec![old, new]),
            (t, Some("k"), 99, vec![old, new]),
            (t, Some("k"), 100, vec![]),
            (t, None, 999, vec![ever]),
            (t, Some("x"), 0, vec![]),
            (self::tenant(), Some("k"), 0, vec![]),
        ] {
            let found = runs.buffered(tenant, "paid", key, at(now)).await.unwrap();
            assert_eq!(ids(&found), expected, "{key:?} at {now}");
        }
    });
}

#[tokio::test]
async fn an_event_is_found_by_id_and_key() {
    on_both!(|db| {
        let (_, runs) = stores(&db);
        let kept = event(tenant(), "e");
        receive(&runs, kept.clone()).await;
        let t = kept.tenant;
        assert_eq!(runs.inbox_event(t, kept.id).await.unwrap(), kept);
        assert_eq!(runs.inbox_by_key(t, "e").await.unwrap(), Some(kept.clone()));
        assert_eq!(runs.inbox_by_key(t, "f").await.unwrap(), None);
        assert_eq!(runs.inbox_by_key(tenant(), "e").await.unwrap(), None);
        assert_eq!(runs.inbox_event(tenant(), kept.id).await, Err(StoreError::NotFound));
        // The key is the organisation's own.
        receive(&runs, event(tenant(), "e")).await;
    });
}

#[tokio::test]
async fn events_for_which_a_run_waits_are_found_again() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let t = flow.tenant;
        let key = |key: Option<&str>, name: &str| InboxEvent {
            correlation_key: key.map(str::to_owned),
            received_at: at(i64::try_from(name.len()).unwrap()),
            ..event(t, name)
        };
        let keyed = receive(&runs, key(Some("k"), "a")).await;
        let keyless = receive(&runs, key(None, "bb")).await;
        receive(&runs, key(Some("x"), "ccc")).await;
        receive(&runs, event(tenant(), "a")).await;
        assert!(pending(&db, Queue::Kept, 0, 9).await.is_empty());
        for (kind, name, key) in [
            (BindingKind::Message, "paid", Some("k")),
            (BindingKind::Message, "paid", None),
            (BindingKind::Signal, "paid", Some("x")),
            (BindingKind::Message, "sent", Some("x")),
        ] {
            let subscriptions_added = vec![subscription(kind, name, key)];
            commit(&runs, unit_of(RunWrite { subscriptions_added, ..begin(run(&flow)) })).await.unwrap();
        }
        let kept = pending(&db, Queue::Kept, 0, 9).await;
        let of = |id| WorkKey::Kept(t, id);
        assert_eq!(kept.iter().map(|one| one.work.key()).collect::<Vec<_>>(), [of(keyed), of(keyless)]);
        assert!(pending(&db, Queue::Kept, 100, 9).await.is_empty());
    });
}

async fn state_of(runs: &impl RunStore, tenant: TenantId, id: EventId) -> InboxState {
    runs.inbox_event(tenant, id).await.unwrap().state
}

#[tokio::test]
async fn what_is_over_is_swept() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let t = flow.tenant;
        let over = receive(&runs, event(t, "over")).await;
        let ever = receive(&runs, InboxEvent { expires_at: None, ..event(t, "ever") }).await;
        let taken = receive(&runs, InboxEvent { state: InboxState::Consumed, ..event(t, "taken") }).await;
        let file = ImportSource {
            sha256: "f".repeat(64),
            media_type: "application/xml".to_owned(),
            file_name: None,
            bytes: b"<a/>".to_vec(),
        };
        workflows.keep_source(t, &file, at(100), SourceQuota::default()).await.unwrap();
        let keyed = Transaction { unit: with_key(t, "k", at(100 - 24 * 3600)), ..unit_of(begin(run(&flow))) };
        commit(&runs, keyed).await.unwrap();
        assert_eq!(runs.sweep(at(99)).await.unwrap(), 0);
        assert_eq!(runs.sweep(at(100)).await.unwrap(), 3);
        assert_eq!(runs.sweep(at(100)).await.unwrap(), 0);
        assert_eq!(state_of(&runs, t, over).await, InboxState::Expired);
        assert_eq!(state_of(&runs, t, ever).await, InboxState::Buffered);
        assert_eq!(state_of(&runs, t, taken).await, InboxState::Consumed);
        let consume = Some(InboxWrite::Consume { id: over, receivers: Receivers::default() });
        let late = Transaction { tenant: Some(t), inbox: consume, ..Transaction::default() };
        assert_eq!(commit(&runs, late).await, Err(StoreError::Stale));
    });
}
