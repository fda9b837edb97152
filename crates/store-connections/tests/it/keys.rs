//! Rows that a rotation of keys needs.

use heddle_connections::ports::{ConnectionStore, ConnectionWrite, KeyCheck, KeyStore, Rewrap};
use heddle_kernel::Revision;
use heddle_store_connections::SqlConnectionStore;
use heddle_testkit::on_both;

use crate::support::*;

#[tokio::test]
async fn sealed_secrets_are_met_once_in_the_order_of_their_places() {
    on_both!(|db| {
        let store = SqlConnectionStore::new(db.clone());
        let mut made = Vec::new();
        for name in ["a", "b", "c"] {
            let tenant = organization(&db).await;
            made.push(inserted(&store, tenant, name).await);
            made.push(inserted(&store, tenant, &format!("{name}2")).await);
        }
        assert_eq!(
            store.keys_in_use().await.unwrap().into_iter().collect::<Vec<_>>(),
            [("k1".to_owned(), 6)]
        );
        // One is under the current key already.
        let mut last = made.pop().unwrap();
        last.revision = last.revision.next();
        let anew = secrets("signingSecret", Some(sealed("k2", "anew")));
        let write = ConnectionWrite { connection: &last, sealed: &anew };
        store.update(write, Revision::FIRST, &unit(last.tenant)).await.unwrap();
        let mut met = Vec::new();
        let mut after = None;
        loop {
            let rows = store.sealed_under_others("k2", after.as_ref(), 2).await.unwrap();
            let Some(row) = rows.last() else { break };
            after = Some(row.place.clone());
            met.extend(rows);
        }
        assert_eq!(met.len(), 5);
        assert!(met.is_sorted_by(|one, next| one.place < next.place));
        let mut rewraps: Vec<Rewrap> =
            met.into_iter().map(|row| Rewrap { row, sealed: sealed("k2", "rewrapped") }).collect();
        // One was written by somebody since it was read.
        rewraps[0].row.sealed.text = "another".to_owned();
        assert_eq!(store.rewrapped(&rewraps).await, Ok(4));
        let left = store.sealed_under_others("k2", None, 50).await.unwrap();
        assert_eq!((left.len(), &left[0].place), (1, &rewraps[0].row.place));
        let connection = &made[1];
        let stored = store.stored(connection.tenant, connection.id).await.unwrap();
        assert_eq!(stored.sealed["signingSecret"], sealed("k2", "rewrapped"));
        assert_eq!(stored.connection, *connection);
    });
}

#[tokio::test]
async fn a_key_is_forgotten_when_nothing_is_sealed_under_it_and_nothing_is_from_then_on() {
    on_both!(|db| {
        let store = SqlConnectionStore::new(db.clone());
        let tenant = organization(&db).await;
        let check = |key: &str| KeyCheck { key: key.to_owned(), value: format!("of {key}") };
        store.add_key_checks(&[check("k1"), check("k2")], at(0)).await.unwrap();
        let mut connection = inserted(&store, tenant, "a").await;
        assert_eq!(store.forget_key("k1", at(1)).await, Ok(1));
        assert_eq!((store.is_forgotten("k1").await, store.key_checks().await.unwrap().len()), (Ok(false), 2));
        let places = store.sealed_under("k1", 10).await.unwrap();
        assert_eq!((places.len(), places[0].connection), (1, connection.id));
        let rows = store.sealed_under_others("k2", None, 10).await.unwrap();
        let rewraps: Vec<Rewrap> =
            rows.into_iter().map(|row| Rewrap { row, sealed: sealed("k2", "anew") }).collect();
        assert_eq!(store.rewrapped(&rewraps).await, Ok(1));
        assert_eq!((store.forget_key("k1", at(1)).await, store.is_forgotten("k1").await), (Ok(0), Ok(true)));
        assert_eq!(store.key_checks().await, Ok(vec![check("k2")]));
        // A node with the ring of before writes nothing that nobody else opens, neither by a change nor by a rotation.
        connection.revision = connection.revision.next();
        let old = secrets("signingSecret", Some(sealed("k1", "of before")));
        let write = ConnectionWrite { connection: &connection, sealed: &old };
        let refused = store.update(write, Revision::FIRST, &unit(tenant)).await;
        assert!(matches!(refused, Err(heddle_store::StoreError::Unavailable(_))), "{refused:?}");
        let rows = store.sealed_under_others("k0", None, 10).await.unwrap();
        let back: Vec<Rewrap> =
            rows.into_iter().map(|row| Rewrap { row, sealed: sealed("k1", "back") }).collect();
        assert!(!back.is_empty() && store.rewrapped(&back).await.is_err());
        let stored = store.stored(tenant, connection.id).await.unwrap();
        assert_eq!(
            (stored.connection.revision, &stored.sealed["signingSecret"].key),
            (Revision::FIRST, &"k2".to_owned())
        );
        // Brought back by hand it is known as what it was.
        store
            .add_key_checks(&[KeyCheck { value: "another".to_owned(), ..check("k1") }], at(2))
            .await
            .unwrap();
        assert_eq!(store.key_checks().await, Ok(vec![check("k1"), check("k2")]));
    });
}

#[tokio::test]
async fn the_check_of_a_key_stays_as_it_was() {
    on_both!(|db| {
        let store = SqlConnectionStore::new(db.clone());
        let check = |value: &str| KeyCheck { key: "k1".to_owned(), value: value.to_owned() };
        assert_eq!(store.add_first_key_check(&check("one"), at(0)).await, Ok(true));
        assert_eq!(store.add_first_key_check(&check("another"), at(0)).await, Ok(false));
        store.add_key_checks(&[check("one")], at(0)).await.unwrap();
        store.add_key_checks(&[check("other")], at(1)).await.unwrap();
        assert_eq!(store.key_checks().await, Ok(vec![check("one")]));
    });
}
