//! Keys: what refuses to start, and what a rotation does with what it finds.

use std::collections::BTreeMap;
use std::sync::Arc;

use heddle_usecase::StoreError;

use super::*;
use crate::ports::{KeyCheck, MockKeyStore, SealError, SealedRow};
use crate::rotation::{Forgetting, KeyError, Keys, Rotated};
use crate::secret::SecretPlace;

fn check(key: &str) -> KeyCheck {
    KeyCheck { key: key.to_owned(), value: format!("value of {key}") }
}

/// A sealer whose ring has the keys k1 and k2, the latter the current one.
fn ring() -> MockSealer {
    let mut sealer = MockSealer::new();
    sealer.expect_keys().returning(|| vec!["k2".to_owned(), "k1".to_owned()]);
    sealer.expect_check().returning(|| check("k2"));
    sealer.expect_current_key().returning(|| "k2".to_owned());
    sealer.expect_verify().returning(|kept| match kept.key.as_str() {
        "k1" | "k2" if *kept == check(&kept.key) => Ok(()),
        "k1" | "k2" => Err(SealError::WrongKey(kept.key.clone())),
        other => Err(SealError::UnknownKey(other.to_owned())),
    });
    sealer
}

#[tokio::test]
async fn a_wrong_or_missing_key_is_told_before_anything_is_sealed() {
    let other = KeyCheck { key: "k1".to_owned(), value: "of another".to_owned() };
    for (checks, in_use, expected, added) in [
        (vec![check("k1")], vec![], None, 1),
        (vec![check("k1"), check("k2")], vec!["k1", "k2"], None, 0),
        // A key that was retired is no fault while nothing is sealed under it.
        (vec![check("k0"), check("k2")], vec!["k2"], None, 0),
        (vec![check("k0"), check("k2")], vec!["k0"], Some("k0"), 0),
        (vec![check("k2")], vec!["k0", "k00", "k2"], Some("k0 k00"), 0),
        (vec![other], vec![], Some("k1"), 0),
    ] {
        let mut store = MockKeyStore::new();
        store.expect_key_checks().returning(move || Ok(checks.clone()));
        store.expect_keys_in_use().returning(move || {
            Ok(in_use.iter().map(|key| ((*key).to_owned(), 3)).collect::<BTreeMap<_, _>>())
        });
        store.expect_add_key_checks().times(added).returning(|checks, _| {
            assert_eq!(checks, [check("k2")]);
            Ok(())
        });
        let found = Keys::new(Arc::new(store), Arc::new(ring())).verify(START).await;
        let named = found.err().map(|error| match error {
            KeyError::Wrong { key } | KeyError::Another { key } | KeyError::Forgotten { key } => key,
            KeyError::Missing { keys } => keys.into_keys().collect::<Vec<_>>().join(" "),
            KeyError::Store(error) => panic!("{error}"),
        });
        assert_eq!(named.as_deref(), expected);
    }
}

/// Two nodes that begin at a time on one database have a ring of their own each: the second is refused. Alone on its
/// database a node may begin anew while nothing is sealed.
#[tokio::test]
async fn a_ring_without_a_key_of_the_others_is_refused() {
    for (others, is_shared, refused) in [
        (None, true, false),
        (Some("k1"), true, false),
        (Some("elsewhere"), true, true),
        (Some("elsewhere"), false, false),
    ] {
        let mut store = MockKeyStore::new();
        let mut asked = 0;
        store.expect_key_checks().returning(move || {
            asked += 1;
            // Nobody was there at the first look.
            Ok(if asked == 1 { Vec::new() } else { vec![check(others.unwrap_or("k2"))] })
        });
        store.expect_add_first_key_check().times(1).returning(move |first, _| {
            assert_eq!(*first, check("k2"));
            Ok(others.is_none())
        });
        store.expect_keys_in_use().returning(|| Ok(BTreeMap::new()));
        store.expect_add_key_checks().returning(|_, _| Ok(()));
        store.expect_is_forgotten().returning(|_| Ok(false));
        let keys = Keys::new(Arc::new(store), Arc::new(ring())).shared(is_shared);
        let found = keys.verify(START).await;
        assert_eq!(matches!(found, Err(KeyError::Another { .. })), refused, "{others:?}: {found:?}");
    }
}

fn row(number: u128) -> SealedRow {
    SealedRow {
        place: SecretPlace {
            tenant: tenant(),
            connection: connection_id(number),
            field: "password".to_owned(),
        },
        sealed: SealedSecret { key: "k1".to_owned(), text: format!("{number}") },
    }
}

#[tokio::test]
async fn a_rotation_goes_on_behind_what_does_not_open() {
    let mut sealer = ring();
    sealer.expect_rewrap().returning(|_, sealed| match sealed.text.as_str() {
        "2" => Err(SealError::DoesNotOpen),
        "3" => Ok(None),
        text => Ok(Some(SealedSecret { key: "k2".to_owned(), text: format!("{text} anew") })),
    });
    let mut store = MockKeyStore::new();
    store.expect_sealed_under_others().returning(|current, after, _| {
        assert_eq!(current, "k2");
        let first = after.map_or(1, |after| after.connection.0.as_u128() - 500 + 1);
        // Pages of two, of six in all.
        Ok((first..=6).take(2).map(row).collect::<Vec<_>>())
    });
    store.expect_rewrapped().returning(|rows| {
        assert!(rows.iter().all(|one| one.sealed.text == format!("{} anew", one.row.sealed.text)));
        Ok(rows.len() as u64)
    });
    let report = Keys::new(Arc::new(store), Arc::new(sealer)).rotate().await.unwrap();
    let Rotated { rewrapped, unreadable, told } = report;
    assert_eq!((rewrapped, unreadable), (4, 1));
    assert_eq!(told[0].place, row(2).place);
}

#[tokio::test]
async fn a_database_that_fails_ends_a_rotation() {
    let mut store = MockKeyStore::new();
    store.expect_sealed_under_others().returning(|_, _, _| Err(StoreError::Unavailable("down".to_owned())));
    assert!(Keys::new(Arc::new(store), Arc::new(ring())).rotate().await.is_err());
}

/// A node with the ring of before on a database of several would seal what no other opens.
#[tokio::test]
async fn a_current_key_that_was_forgotten_is_refused_where_others_are() {
    for (is_shared, refused) in [(true, true), (false, false)] {
        let mut store = MockKeyStore::new();
        store.expect_key_checks().returning(|| Ok(vec![check("k1")]));
        store.expect_keys_in_use().returning(|| Ok(BTreeMap::new()));
        store.expect_is_forgotten().returning(|key| Ok(key == "k2"));
        store.expect_add_key_checks().times(usize::from(!refused)).returning(|_, _| Ok(()));
        let found = Keys::new(Arc::new(store), Arc::new(ring())).shared(is_shared).verify(START).await;
        assert_eq!(matches!(found, Err(KeyError::Forgotten { .. })), refused, "{found:?}");
    }
}

#[tokio::test]
async fn keys_are_listed_with_what_is_sealed_and_forgotten_when_nothing_is() {
    let mut store = MockKeyStore::new();
    store.expect_keys_in_use().returning(|| Ok(BTreeMap::from([("k0".to_owned(), 1), ("k2".to_owned(), 3)])));
    store.expect_forget_key().returning(|key, _| Ok(if key == "k1" { 0 } else { 3 }));
    store.expect_sealed_under().returning(|_, _| Ok(vec![row(1).place]));
    let keys = Keys::new(Arc::new(store), Arc::new(ring()));
    let listed = keys.list().await.unwrap();
    let told: Vec<_> =
        listed.iter().map(|one| (one.key.as_str(), one.is_on_ring, one.is_current, one.secrets)).collect();
    assert_eq!(told, [("k2", true, true, 3), ("k1", true, false, 0), ("k0", false, false, 1)]);
    assert_eq!(keys.forget("k1", START).await, Ok(Forgetting::Done));
    let refused = keys.forget("k2", START).await;
    assert_eq!(refused, Ok(Forgetting::InUse { secrets: 3, told: vec![row(1).place] }));
}
