//! Connections and their sealed secrets.

use heddle_connections::ConnectionKind;
use heddle_connections::ports::{ConnectionFilter, ConnectionStore, ConnectionWrite, Deleted, WebhookStore};
use heddle_connections::records::{Phase, TestResult};
use heddle_kernel::{ConnectionId, Revision, TenantId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::StoreError;
use heddle_store_connections::{SqlConnectionStore, SqlWebhookStore};
use heddle_testkit::on_both;

use crate::support::*;

type Reach = AccessFilter<resource::Connection>;

#[tokio::test]
async fn a_connection_is_read_as_it_was_written() {
    on_both!(|db| {
        let (store, tenant) = (SqlConnectionStore::new(db.clone()), organization(&db).await);
        let made = inserted(&store, tenant, "one").await;
        assert_eq!(store.get(tenant, made.id).await.unwrap(), made);
        let stored = store.stored(tenant, made.id).await.unwrap();
        assert_eq!(stored.connection, made);
        assert_eq!(stored.sealed["signingSecret"], sealed("k1", "sealed one"));
        assert_eq!(rows(&db, "audit_unsealed").await, 1);
        let other = organization(&db).await;
        assert_eq!(store.get(other, made.id).await, Err(StoreError::NotFound));
        assert_eq!(store.stored(other, made.id).await, Err(StoreError::NotFound));
    });
}

#[tokio::test]
async fn a_name_is_taken_once_and_a_quota_holds() {
    on_both!(|db| {
        let (store, tenant) = (SqlConnectionStore::new(db.clone()), organization(&db).await);
        inserted(&store, tenant, "one").await;
        let second = connection(tenant, "one");
        let taken = insert(&store, &second).await;
        assert_eq!(taken, Err(StoreError::Duplicate("connections.name".to_owned())));
        inserted(&store, organization(&db).await, "one").await;
        let third = connection(tenant, "three");
        let nothing = Default::default();
        let write = ConnectionWrite { connection: &third, sealed: &nothing };
        let full = store.insert(write, 1, &unit(tenant)).await;
        assert_eq!(full, Err(StoreError::QuotaExceeded { limit: "connections", most: 1, used: 1 }));
        let nowhere = connection(id(TenantId), "one");
        assert_eq!(insert(&store, &nowhere).await, Err(StoreError::NotFound));
        // Of what was refused nothing stays, neither a secret nor an audit event.
        assert_eq!((rows(&db, "connection_secrets").await, rows(&db, "audit_unsealed").await), (2, 2));
    });
}

#[tokio::test]
async fn a_change_writes_what_it_names_over_the_revision_it_saw() {
    on_both!(|db| {
        let (store, tenant) = (SqlConnectionStore::new(db.clone()), organization(&db).await);
        let mut made = inserted(&store, tenant, "one").await;
        let result = TestResult {
            ok: true,
            phase: Phase::Request,
            latency_ms: 7,
            message: "there".to_owned(),
            tested_at: at(9),
        };
        store.tested(tenant, made.id, &result, &unit(tenant)).await.unwrap();
        made.name = "two".to_owned();
        made.revision = made.revision.next();
        let replaced = secrets("signingSecret", Some(sealed("k2", "another")));
        let write = ConnectionWrite { connection: &made, sealed: &replaced };
        store.update(write, Revision::FIRST, &unit(tenant)).await.unwrap();
        let stored = store.stored(tenant, made.id).await.unwrap();
        assert_eq!(stored.sealed["signingSecret"], sealed("k2", "another"));
        assert_eq!((stored.connection.name.as_str(), stored.connection.last_test), ("two", Some(result)));
        assert_eq!(store.update(write, Revision::FIRST, &unit(tenant)).await, Err(StoreError::Stale));
        let gone = secrets("signingSecret", None);
        let write = ConnectionWrite { connection: &made, sealed: &gone };
        store.update(write, made.revision, &unit(tenant)).await.unwrap();
        assert!(store.stored(tenant, made.id).await.unwrap().sealed.is_empty());
        let unknown = connection(tenant, "x");
        let write = ConnectionWrite { connection: &unknown, sealed: &gone };
        assert_eq!(store.update(write, Revision::FIRST, &unit(tenant)).await, Err(StoreError::NotFound));
    });
}

#[tokio::test]
async fn an_older_test_does_not_hide_a_newer_one() {
    on_both!(|db| {
        let (store, tenant) = (SqlConnectionStore::new(db.clone()), organization(&db).await);
        let made = inserted(&store, tenant, "one").await;
        let result = |seconds| TestResult {
            ok: true,
            phase: Phase::Request,
            latency_ms: 1,
            message: "there".to_owned(),
            tested_at: at(seconds),
        };
        for (seconds, shown) in [(10, 10), (20, 20), (15, 20)] {
            store.tested(tenant, made.id, &result(seconds), &unit(tenant)).await.unwrap();
            assert_eq!(store.get(tenant, made.id).await.unwrap().last_test, Some(result(shown)));
        }
        assert_eq!(store.get(tenant, made.id).await.unwrap().revision, made.revision);
        let unknown = store.tested(tenant, id(ConnectionId), &result(1), &unit(tenant)).await;
        assert_eq!(unknown, Err(StoreError::NotFound));
        assert_eq!(rows(&db, "audit_unsealed").await, 4);
    });
}

#[tokio::test]
async fn a_list_goes_by_name_within_filter_and_reach() {
    on_both!(|db| {
        let (store, tenant) = (SqlConnectionStore::new(db.clone()), organization(&db).await);
        let mut made = Vec::new();
        for name in ["b", "A", "c_d", "a"] {
            made.push(inserted(&store, tenant, name).await);
        }
        inserted(&store, organization(&db).await, "elsewhere").await;
        let everything = Reach::everything();
        let all = ConnectionFilter::default();
        let first = store.list(tenant, &all, &everything, &page(3)).await.unwrap();
        let names: Vec<_> = first.items.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["A", "a", "b"]);
        let mut rest = page(3);
        rest.cursor = first.next;
        let rest = store.list(tenant, &all, &everything, &rest).await.unwrap();
        assert_eq!((rest.items.len(), rest.next.is_none()), (1, true));
        for (q, kind, found) in [
            (Some("ORDERS"), None, 4),
            (Some("c_"), None, 1),
            (Some("acme"), Some(ConnectionKind::Webhook), 4),
            (None, Some(ConnectionKind::Smtp), 0),
        ] {
            let filter = ConnectionFilter { q: q.map(str::to_owned), kind };
            let page = store.list(tenant, &filter, &everything, &page(50)).await.unwrap();
            assert_eq!(page.items.len(), found, "{filter:?}");
        }
        for (access, found) in [
            (Reach::only([made[0].id]), 1),
            (Reach::everything().but([made[0].id]), 3),
            (Reach::everything().but_all(), 0),
            (Reach::default(), 0),
        ] {
            assert_eq!(store.list(tenant, &all, &access, &page(50)).await.unwrap().items.len(), found);
        }
    });
}

#[tokio::test]
async fn a_deletion_leaves_a_tombstone_and_no_secret() {
    on_both!(|db| {
        let (store, tenant) = (SqlConnectionStore::new(db.clone()), organization(&db).await);
        let webhooks = SqlWebhookStore::new(db.clone());
        let made = inserted(&store, tenant, "one").await;
        let user = webhook(&made, "orders");
        webhooks.insert(&user, 100, &unit(tenant)).await.unwrap();
        let Deleted::InUse(uses) = store.delete(tenant, made.id, None, &unit(tenant)).await.unwrap() else {
            panic!("deleted under a webhook")
        };
        assert_eq!(
            (uses.len(), uses[0].id.as_str(), uses[0].name.as_str()),
            (1, &*user.id.to_string(), "orders")
        );
        webhooks.delete(tenant, user.id, None, &unit(tenant)).await.unwrap();
        let stale = store.delete(tenant, made.id, Some(Revision(9)), &unit(tenant)).await;
        assert_eq!(stale, Err(StoreError::Stale));
        for expected in [Deleted::Now, Deleted::Before] {
            assert_eq!(store.delete(tenant, made.id, None, &unit(tenant)).await, Ok(expected));
        }
        assert_eq!(rows(&db, "connection_secrets").await, 0);
        let never = store.delete(tenant, id(ConnectionId), None, &unit(tenant)).await;
        assert_eq!(never, Err(StoreError::NotFound));
    });
}

#[tokio::test]
async fn all_goes_with_its_organisation() {
    on_both!(|db| {
        let (store, tenant) = (SqlConnectionStore::new(db.clone()), organization(&db).await);
        let webhooks = SqlWebhookStore::new(db.clone());
        let made = inserted(&store, tenant, "one").await;
        webhooks.insert(&webhook(&made, "orders"), 100, &unit(tenant)).await.unwrap();
        inserted(&store, organization(&db).await, "stays").await;
        delete_organization(&db, tenant).await;
        for (table, left) in [("connections", 1), ("connection_secrets", 1), ("webhooks", 0)] {
            assert_eq!(rows(&db, table).await, left, "{table}");
        }
    });
}
