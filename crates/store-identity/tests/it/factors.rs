//! Second factors: what is written of them, once, and the keys that they are sealed under.

use std::path::Path;

use heddle_identity::ports::{
    Enrolment, Factor, FactorPlace, FactorProof, FactorStore as _, NewSession, Removal, SealedFactor,
    SessionStore,
};
use heddle_kernel::{Revision, UserId};
use heddle_store::StoreError;
use heddle_store_identity::{IdentityStore, factor_keys_of};
use heddle_testkit::db::TestDb;
use heddle_testkit::on_both;
use heddle_usecase::Journal;

use crate::chain::sql;
use crate::world::*;

fn sealed(key: &str, text: &str) -> SealedFactor {
    SealedFactor { key: key.to_owned(), text: text.to_owned() }
}

fn pending(user: UserId) -> Factor {
    let sealed = sealed("k1", &format!("secret of {user}"));
    Factor { user, sealed, last_step: -1, begun_at: NOW, confirmed_at: None }
}

fn enrolment(user: UserId) -> Enrolment {
    Enrolment {
        pending: pending(user),
        step: 100,
        recovery_codes: vec!["r1".to_owned(), "r2".to_owned()],
        expected: Revision::FIRST,
        keep: session(1, user).id,
        at: NOW,
    }
}

/// A sign-in with a code.
async fn opened(store: &IdentityStore, n: u128, proof: FactorProof) -> Result<(), StoreError> {
    let new = NewSession {
        session: session(n, ADA),
        seen: Revision(2),
        forgotten: Vec::new(),
        forgiven: Vec::new(),
        rehash: None,
        replaces: None,
        factor: Some(proof),
    };
    store.open(&new, &Journal::default()).await
}

#[tokio::test]
async fn a_factor_is_confirmed_once_and_ends_the_other_sessions() {
    on_both!(|db| {
        let store = world(&db).await;
        let (own, other) = (sign_in(&store, 1, ADA).await, sign_in(&store, 2, ADA).await);
        let early = Factor { last_step: 7, ..pending(ADA) };
        store.begin(&early, &Journal::default()).await.unwrap();
        store.begin(&pending(ADA), &Journal::default()).await.unwrap();
        assert_eq!(store.factor(ADA).await, Ok(Some(pending(ADA))));
        let stale = Enrolment { expected: Revision(9), ..enrolment(ADA) };
        assert_eq!(store.confirm(&stale, &journal(70)).await, Err(StoreError::Stale));
        let of_before = Factor { begun_at: NOW.plus_seconds(-1), ..pending(ADA) };
        let replaced = Enrolment { pending: of_before, ..enrolment(ADA) };
        assert_eq!(store.confirm(&replaced, &journal(70)).await, Err(StoreError::Stale));
        assert!(access(&store, &other).await.is_some() && !was_written(&store, 70).await);
        store.confirm(&enrolment(ADA), &journal(70)).await.unwrap();
        assert!(was_written(&store, 70).await);
        let ada = access(&store, &own).await.unwrap().user;
        assert_eq!((ada.totp_enrolled_at, ada.revision), (Some(NOW), Revision(2)));
        assert!(access(&store, &other).await.is_none());
        assert_eq!(store.confirm(&enrolment(ADA), &Journal::default()).await, Err(StoreError::Stale));
        assert_eq!(store.begin(&pending(ADA), &Journal::default()).await, Err(StoreError::Stale));
    });
}

#[tokio::test]
async fn nothing_is_sealed_under_a_key_that_was_forgotten() {
    on_both!(|db| {
        let store = world(&db).await;
        let instant = if db.postgres().is_none() { "1" } else { "now()" };
        let keys = format!(
            "INSERT INTO connection_keys (key_id, check_value, created_at, forgotten_at) \
             VALUES ('k1', 'c', {instant}, {instant}), ('k2', 'c', {instant}, NULL)"
        );
        sql(&db, &keys).await;
        let refused = store.begin(&pending(ADA), &journal(70)).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        assert!(!was_written(&store, 70).await && store.factor(ADA).await == Ok(None));
        let known = Factor { sealed: sealed("k2", "secret"), ..pending(ADA) };
        store.begin(&known, &journal(70)).await.unwrap();
        let refused = store.rewrapped(ADA, &known.sealed, &sealed("k1", "other")).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        assert_eq!(store.factor(ADA).await, Ok(Some(known)));
    });
}

#[tokio::test]
async fn a_code_is_used_once_and_a_refused_one_opens_nothing() {
    on_both!(|db| {
        let store = world(&db).await;
        let _ = sign_in(&store, 1, ADA).await;
        store.begin(&pending(ADA), &Journal::default()).await.unwrap();
        store.confirm(&enrolment(ADA), &Journal::default()).await.unwrap();
        let code = |step: i64| FactorProof::Code { step };
        let recovery = |sha256: &str| FactorProof::RecoveryCode { sha256: sha256.to_owned() };
        for (n, proof, fits) in [
            (3, code(99), false),
            (4, code(100), false),
            (5, code(101), true),
            (6, code(101), false),
            (7, recovery("r3"), false),
            (8, recovery("r1"), true),
            (9, recovery("r1"), false),
            (10, recovery("r2"), true),
        ] {
            let expected = if fits { Ok(()) } else { Err(StoreError::NotFound) };
            assert_eq!(opened(&store, n, proof).await, expected, "{n}");
            assert_eq!(store.session(session(n, ADA).id).await.unwrap().is_some(), fits, "{n}");
        }
        let removal = Removal {
            user: ADA,
            proof: Some(code(101)),
            expected: Revision(2),
            keep: session(1, ADA).id,
            at: NOW,
        };
        assert_eq!(store.remove(&removal, &journal(71)).await, Err(StoreError::NotFound));
        assert!(store.factor(ADA).await.unwrap().is_some() && !store.was_removed(ADA).await.unwrap());
        let removal = Removal { proof: None, ..removal };
        store.remove(&removal, &journal(71)).await.unwrap();
        assert!(was_written(&store, 71).await && store.was_removed(ADA).await.unwrap());
        assert_eq!(store.factor(ADA).await, Ok(None));
        let ada = SessionStore::user(&store, ADA).await.unwrap().unwrap();
        assert_eq!((ada.totp_enrolled_at, ada.revision), (None, Revision(3)));
        assert!(store.session(session(10, ADA).id).await.unwrap().is_none());
        assert!(store.session(session(1, ADA).id).await.unwrap().is_some());
    });
}

#[tokio::test]
async fn a_rotation_finds_what_is_under_another_key() {
    on_both!(|db| {
        let store = world(&db).await;
        add_bob(&store, &[]).await;
        let current = Factor { sealed: sealed("k2", "of bob"), ..pending(BOB) };
        store.begin(&pending(ADA), &Journal::default()).await.unwrap();
        store.begin(&current, &Journal::default()).await.unwrap();
        let in_use = store.keys_in_use().await.unwrap();
        assert_eq!(in_use, [("k1".to_owned(), 1), ("k2".to_owned(), 1)].into());
        let found = store.sealed_under_others("k2", None, 10).await.unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].place, FactorPlace { home: ACME, user: ADA });
        assert!(store.sealed_under_others("k2", Some(ADA), 10).await.unwrap().is_empty());
        let wrapped = sealed("k2", "of ada");
        let another = sealed("k1", "changed meanwhile");
        assert_eq!(store.rewrapped(ADA, &another, &wrapped).await, Ok(false));
        assert_eq!(store.rewrapped(ADA, &found[0].sealed, &wrapped).await, Ok(true));
        assert!(store.sealed_under_others("k2", None, 10).await.unwrap().is_empty());
    });
}

#[tokio::test]
async fn a_backup_tells_the_keys_of_its_factors() {
    let db = TestDb::sqlite().await;
    let store = world(db.db()).await;
    let file = |db: &TestDb| Path::new(db.address().strip_prefix("sqlite:").unwrap()).to_owned();
    assert!(factor_keys_of(&file(&db)).unwrap().is_empty());
    store.begin(&pending(ADA), &Journal::default()).await.unwrap();
    assert_eq!(factor_keys_of(&file(&db)).unwrap(), [("k1".to_owned(), 1)].into());
    let of_before = TestDb::sqlite_empty().await;
    assert!(factor_keys_of(&file(&of_before)).unwrap().is_empty());
}
