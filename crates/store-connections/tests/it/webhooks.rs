//! Webhooks and the state of their deliveries.

use heddle_connections::ports::{ConnectionStore as _, Deleted, WebhookFilter, WebhookStore};
use heddle_connections::records::{Delivery, PauseReason, Subscription};
use heddle_kernel::{ConnectionId, Revision, WebhookId, WorkflowId};
use heddle_policy::AccessFilter;
use heddle_store::StoreError;
use heddle_store_connections::{SqlConnectionStore, SqlWebhookStore};
use heddle_testkit::on_both;

use crate::support::*;

fn delivery(attempts: u32) -> Delivery {
    Delivery {
        message_id: "msg_1".to_owned(),
        event_type: "run.started".to_owned(),
        at: at(i64::from(attempts)),
        ok: false,
        status: Some(500),
        attempts,
        message: "the service failed (status 500)".to_owned(),
    }
}

#[tokio::test]
async fn a_webhook_is_read_as_it_was_written_with_its_last_delivery() {
    on_both!(|db| {
        let (store, tenant) = (SqlWebhookStore::new(db.clone()), organization(&db).await);
        let connection = inserted(&SqlConnectionStore::new(db.clone()), tenant, "one").await;
        let mut made = webhook(&connection, "orders");
        made.workflows = Some(vec![id(WorkflowId)]);
        store.insert(&made, 100, &unit(tenant)).await.unwrap();
        assert_eq!(store.get(tenant, made.id).await.as_ref(), Ok(&made));
        for attempts in [1, 2] {
            store.delivered(tenant, made.id, &delivery(attempts)).await.unwrap();
        }
        made.last_delivery = Some(delivery(2));
        assert_eq!(store.get(tenant, made.id).await.as_ref(), Ok(&made));
        let page = store
            .list(tenant, &WebhookFilter::default(), &AccessFilter::everything(), &page(5))
            .await
            .unwrap();
        assert_eq!(page.items, [made.clone()]);
        assert_eq!(store.subscriptions(tenant).await, Ok(vec![Subscription::from(&made)]));
        assert_eq!(store.subscriptions(organization(&db).await).await, Ok(Vec::new()));
        let over = SqlConnectionStore::new(db.clone()).subscriptions_over(tenant, connection.id).await;
        assert_eq!(over, Ok(vec![Subscription::from(&made)]));
        // A webhook that is gone has no state.
        assert_eq!(store.delivered(tenant, id(WebhookId), &delivery(1)).await, Ok(()));
    });
}

#[tokio::test]
async fn a_webhook_stands_on_a_connection_of_its_organisation() {
    on_both!(|db| {
        let (store, tenant) = (SqlWebhookStore::new(db.clone()), organization(&db).await);
        let connections = SqlConnectionStore::new(db.clone());
        let connection = inserted(&connections, tenant, "one").await;
        let foreign = inserted(&connections, organization(&db).await, "two").await;
        let mut made = webhook(&connection, "orders");
        for of in [foreign.id, id(ConnectionId)] {
            let mut refused = webhook(&connection, "refused");
            refused.connection_id = of;
            assert_eq!(store.insert(&refused, 100, &unit(tenant)).await, Err(StoreError::NotFound));
        }
        store.insert(&made, 1, &unit(tenant)).await.unwrap();
        let full = store.insert(&webhook(&connection, "more"), 1, &unit(tenant)).await;
        assert_eq!(full, Err(StoreError::QuotaExceeded { limit: "webhooks", most: 1, used: 1 }));
        let taken = store.insert(&webhook(&connection, "orders"), 100, &unit(tenant)).await;
        assert_eq!(taken, Err(StoreError::Duplicate("webhooks.name".to_owned())));
        made.revision = made.revision.next();
        made.paused = Some(PauseReason::Caller);
        store.update(&made, Revision::FIRST, &unit(tenant)).await.unwrap();
        assert_eq!(store.update(&made, Revision::FIRST, &unit(tenant)).await, Err(StoreError::Stale));
        made.connection_id = foreign.id;
        assert_eq!(store.update(&made, made.revision, &unit(tenant)).await, Err(StoreError::NotFound));
    });
}

#[tokio::test]
async fn a_pause_in_nobodys_name_is_written_once() {
    on_both!(|db| {
        let (store, tenant) = (SqlWebhookStore::new(db.clone()), organization(&db).await);
        let connection = inserted(&SqlConnectionStore::new(db.clone()), tenant, "one").await;
        let made = webhook(&connection, "orders");
        store.insert(&made, 100, &unit(tenant)).await.unwrap();
        let before = rows(&db, "audit_unsealed").await;
        for paused in [true, false] {
            let found = store.pause(tenant, made.id, PauseReason::ReceiverGone, at(7), &unit(tenant)).await;
            assert_eq!(found, Ok(paused));
        }
        let now = store.get(tenant, made.id).await.unwrap();
        assert_eq!(
            (now.paused, now.revision, now.updated_at),
            (Some(PauseReason::ReceiverGone), Revision(2), at(7))
        );
        assert_eq!(rows(&db, "audit_unsealed").await, before + 1);
        for (paused, found) in [(Some(true), 1), (Some(false), 0), (None, 1)] {
            let filter = WebhookFilter { q: Some("ORD".to_owned()), connection: Some(connection.id), paused };
            let page = store.list(tenant, &filter, &AccessFilter::everything(), &page(5)).await.unwrap();
            assert_eq!(page.items.len(), found, "{filter:?}");
        }
    });
}

#[tokio::test]
async fn a_deleted_webhook_leaves_a_tombstone() {
    on_both!(|db| {
        let (store, tenant) = (SqlWebhookStore::new(db.clone()), organization(&db).await);
        let connection = inserted(&SqlConnectionStore::new(db.clone()), tenant, "one").await;
        let made = webhook(&connection, "orders");
        store.insert(&made, 100, &unit(tenant)).await.unwrap();
        store.delivered(tenant, made.id, &delivery(1)).await.unwrap();
        let stale = store.delete(tenant, made.id, Some(Revision(9)), &unit(tenant)).await;
        assert_eq!(stale, Err(StoreError::Stale));
        for expected in [Deleted::Now, Deleted::Before] {
            assert_eq!(store.delete(tenant, made.id, None, &unit(tenant)).await, Ok(expected));
        }
        assert_eq!(rows(&db, "webhook_deliveries").await, 0);
        let never = store.delete(tenant, id(WebhookId), None, &unit(tenant)).await;
        assert_eq!(never, Err(StoreError::NotFound));
        assert_eq!(store.tested(tenant, made.id, &unit(tenant)).await, Err(StoreError::NotFound));
    });
}
