//! Sign-in, sessions, passwords and API tokens.

use heddle_identity::ports::{Attempt, DirectoryStore, NewSession, PasswordChange, SessionStore};
use heddle_identity::records::{ApiToken, Session};
use heddle_identity::throttle::{Bucket, Pace};
use heddle_kernel::{PageRequest, Revision, SessionId, TokenId};
use heddle_store::StoreError;
use heddle_store_identity::IdentityStore;
use heddle_testkit::on_both;
use heddle_usecase::Journal;
use uuid::Uuid;

use crate::world::*;

fn bucket(key: &str) -> Bucket {
    Bucket { key: key.to_owned(), pace: Pace::Doubling }
}

/// Number of tries that a bucket lets through at once.
async fn left(store: &IdentityStore, key: &str) -> u32 {
    let mut tries = 0;
    while store.attempt(&[bucket(key)], NOW).await == Ok(Attempt::Allowed) {
        tries += 1;
    }
    tries
}

#[tokio::test]
async fn the_operator_forgets_the_failures_of_one_account() {
    on_both!(|db| {
        let store = world(&db).await;
        let keys = ["a1", "a1/network/x", "a1/device/y", "a12", "network/x"];
        for key in keys {
            let _ = left(&store, key).await;
        }
        assert_eq!(store.forget(&["a1".to_owned(), "b".to_owned()], &journal(78)).await, Ok(3));
        assert!(was_written(&store, 78).await);
        for (key, forgotten) in keys.into_iter().zip([true, true, true, false, false]) {
            assert_eq!(left(&store, key).await > 0, forgotten, "{key}");
        }
    });
}

#[tokio::test]
async fn a_session_is_not_opened_against_a_password_that_was_changed() {
    on_both!(|db| {
        let store = world(&db).await;
        let change = PasswordChange {
            user_id: ADA,
            hash: "h2".to_owned(),
            expected: Revision::FIRST,
            keep: None,
            at: NOW,
        };
        store.set_password(&change, &Journal::default()).await.unwrap();
        let mut new = NewSession {
            session: session(3, ADA),
            seen: Revision::FIRST,
            forgotten: vec![bucket("ada")],
            forgiven: Vec::new(),
            rehash: Some("of the old one".to_owned()),
            replaces: None,
            factor: None,
        };
        assert_eq!(store.open(&new, &journal(79)).await, Err(StoreError::Stale));
        assert!(!was_written(&store, 79).await);
        assert_eq!(store.session(new.session.id).await, Ok(None));
        let ada = SessionStore::user(&store, ADA).await.unwrap().unwrap();
        assert_eq!(ada.password_hash.as_deref(), Some("h2"));
        new = NewSession { seen: Revision(2), rehash: None, ..new };
        store.open(&new, &journal(79)).await.unwrap();
        assert!(was_written(&store, 79).await);
        // The opening changed nothing of the account.
        assert_eq!(SessionStore::user(&store, ADA).await.unwrap().unwrap(), ada);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_at_the_same_time_all_count() {
    on_both!(|db| {
        let store = IdentityStore::new(db.clone(), Vec::new());
        let tasks: Vec<_> = (0..20)
            .map(|_| {
                let store = store.clone();
                tokio::spawn(async move { store.attempt(&[bucket("ada")], NOW).await.unwrap() })
            })
            .collect();
        let mut allowed = 0;
        for task in tasks {
            allowed += u32::from(task.await.unwrap() == Attempt::Allowed);
        }
        // The free ones, and none after them within the wait.
        assert_eq!(allowed, heddle_identity::throttle::FREE_FAILURES);
        assert_eq!(store.attempt(&[bucket("bob")], NOW).await, Ok(Attempt::Allowed));
        // One that refuses keeps the others as they are.
        for _ in 0..20 {
            let both = [bucket("carl"), bucket("ada")];
            assert!(matches!(store.attempt(&both, NOW).await, Ok(Attempt::Refused { .. })));
        }
        assert_eq!(left(&store, "carl").await, heddle_identity::throttle::FREE_FAILURES);
    });
}

#[tokio::test]
async fn a_sign_in_forgets_failures_ends_the_old_session_and_sets_the_new_hash() {
    on_both!(|db| {
        let store = world(&db).await;
        let old = sign_in(&store, 1, ADA).await;
        let network = Bucket { key: "net".to_owned(), pace: Pace::Leaking { at_once: 3, seconds: 60 } };
        for _ in 0..3 {
            store.attempt(&[bucket("ada"), network.clone()], NOW).await.unwrap();
        }
        let new = NewSession {
            session: session(2, ADA),
            seen: Revision::FIRST,
            forgotten: vec![bucket("ada")],
            forgiven: vec![network.clone()],
            rehash: Some("new".to_owned()),
            replaces: Some(old.token_sha256.clone()),
            factor: None,
        };
        store.open(&new, &journal(77)).await.unwrap();
        assert!(was_written(&store, 77).await);
        assert_eq!(left(&store, "ada").await, heddle_identity::throttle::FREE_FAILURES);
        // Its own try is taken back from what is common, and no more.
        let network = [network];
        assert_eq!(store.attempt(&network, NOW).await, Ok(Attempt::Allowed));
        assert!(matches!(store.attempt(&network, NOW).await, Ok(Attempt::Refused { .. })));
        store.forgive(&network).await.unwrap();
        assert_eq!(store.attempt(&network, NOW).await, Ok(Attempt::Allowed));
        assert_eq!(store.session(old.id).await, Ok(None));
        assert_eq!(store.session(new.session.id).await, Ok(Some((new.session.clone(), ACME))));
        let ada = store.user_by_email("ada@example.org").await.unwrap().unwrap();
        assert_eq!(ada.password_hash.as_deref(), Some("new"));
        assert_eq!(SessionStore::user(&store, ADA).await.unwrap().unwrap(), ada);
        assert_eq!(store.user_by_email("Ada@example.org").await, Ok(None));
        assert_eq!(SessionStore::user(&store, BOB).await, Ok(None));
    });
}

#[tokio::test]
async fn sessions_are_listed_ended_and_swept() {
    on_both!(|db| {
        let store = world(&db).await;
        let first = sign_in(&store, 1, ADA).await;
        let second = sign_in(&store, 2, ADA).await;
        assert_eq!(store.sessions(ADA, NOW).await.unwrap(), [second.clone(), first.clone()]);
        assert_eq!(store.sessions(ADA, first.expires_at).await.unwrap(), Vec::<Session>::new());
        store.end(first.id, &journal(70)).await.unwrap();
        store.end(first.id, &journal(71)).await.unwrap();
        assert!(was_written(&store, 70).await && !was_written(&store, 71).await);
        store.end(SessionId(Uuid::from_u128(99)), &Journal::default()).await.unwrap();
        store.insert_token(&token(5, ADA, None), &Journal::default()).await.unwrap();
        store.attempt(&[bucket("x")], NOW).await.unwrap();
        assert_eq!(store.sweep(NOW).await, Ok(0));
        // The session, the token and the throttle.
        assert_eq!(store.sweep(NOW.plus_seconds(3601)).await, Ok(3));
        assert_eq!(store.session(second.id).await, Ok(None));
    });
}

#[tokio::test]
async fn a_password_change_keeps_one_session() {
    on_both!(|db| {
        let store = world(&db).await;
        let kept = sign_in(&store, 1, ADA).await;
        sign_in(&store, 2, ADA).await;
        let mut change = PasswordChange {
            user_id: ADA,
            hash: "h2".to_owned(),
            expected: Revision::FIRST,
            keep: Some(kept.id),
            at: NOW.plus_seconds(9),
        };
        store.set_password(&change, &journal(70)).await.unwrap();
        assert_eq!(store.sessions(ADA, NOW).await.unwrap(), [kept]);
        let ada = SessionStore::user(&store, ADA).await.unwrap().unwrap();
        assert_eq!((ada.revision, ada.password_changed_at), (Revision(2), Some(NOW.plus_seconds(9))));
        assert_eq!(ada.password_hash.as_deref(), Some("h2"));
        assert_eq!(store.set_password(&change, &journal(71)).await, Err(StoreError::Stale));
        change.user_id = BOB;
        assert_eq!(store.set_password(&change, &journal(72)).await, Err(StoreError::NotFound));
        change = PasswordChange { user_id: ADA, expected: Revision(2), keep: None, ..change };
        store.set_password(&change, &Journal::default()).await.unwrap();
        assert!(store.sessions(ADA, NOW).await.unwrap().is_empty());
        assert!(was_written(&store, 70).await && !was_written(&store, 71).await);
    });
}

#[tokio::test]
async fn tokens_have_names_pages_and_an_end() {
    on_both!(|db| {
        let store = world(&db).await;
        add_bob(&store, &[]).await;
        for n in 1..=5 {
            let tenant = (n % 2 == 0).then_some(ACME);
            store.insert_token(&token(n, ADA, tenant), &Journal::default()).await.unwrap();
        }
        let again = ApiToken { name: "token 1".to_owned(), ..token(6, ADA, None) };
        assert_eq!(
            store.insert_token(&again, &journal(70)).await,
            Err(StoreError::Duplicate("api_tokens.user_id, api_tokens.name".to_owned()))
        );
        store.insert_token(&ApiToken { user_id: BOB, ..again }, &Journal::default()).await.unwrap();
        let mut found = Vec::new();
        let mut request = page(2);
        loop {
            let part = store.tokens(ADA, &request).await.unwrap();
            found.extend(part.items);
            let Some(next) = part.next else { break };
            request = PageRequest { cursor: Some(next), ..request };
        }
        let all: Vec<_> = (1..=5).rev().map(|n| token(n, ADA, (n % 2 == 0).then_some(ACME))).collect();
        assert_eq!(found, all);

        let first = all[0].id;
        assert_eq!(store.token(ADA, first).await.as_ref(), Ok(&all[0]));
        assert_eq!(store.token(BOB, first).await, Err(StoreError::NotFound));
        assert_eq!(store.delete_token(BOB, first, &journal(71)).await, Err(StoreError::NotFound));
        store.delete_token(ADA, first, &journal(72)).await.unwrap();
        store.delete_token(ADA, first, &journal(73)).await.unwrap();
        assert_eq!(store.delete_token(BOB, first, &journal(74)).await, Err(StoreError::NotFound));
        let never = TokenId(Uuid::from_u128(99));
        assert_eq!(store.delete_token(ADA, never, &journal(75)).await, Err(StoreError::NotFound));
        for (n, written) in [(70, false), (71, false), (72, true), (73, false), (75, false)] {
            assert_eq!(was_written(&store, n).await, written, "{n}");
        }
        assert_eq!(store.tokens(ADA, &page(50)).await.unwrap().items.len(), 4);
    });
}

#[tokio::test]
async fn the_organisations_of_a_user_are_those_whose_membership_lasts() {
    on_both!(|db| {
        let store = world(&db).await;
        add_bob(&store, &[WORKER, OWNER]).await;
        let own = store.organizations_of(BOB, NOW).await.unwrap();
        assert_eq!(own.len(), 1);
        assert_eq!(own[0].organization.id, ACME);
        assert_eq!(own[0].roles, ["owner", "worker"]);
        let mut ending = membership(ACME, BOB, &[WORKER]);
        ending.expires_at = Some(NOW.plus_seconds(10));
        ending.revision = Revision(2);
        store.set_member(&ending, Some(Revision::FIRST), &Journal::default()).await.unwrap();
        assert_eq!(store.organizations_of(BOB, NOW).await.unwrap().len(), 1);
        assert!(store.organizations_of(BOB, NOW.plus_seconds(10)).await.unwrap().is_empty());
    });
}

#[tokio::test]
async fn an_ended_session_is_remembered_for_a_day_for_who_ended_it() {
    on_both!(|db| {
        let store = world(&db).await;
        sign_in(&store, 60, ADA).await;
        let session = store.sessions(ADA, NOW).await.unwrap().remove(0).id;
        assert!(!store.was_ended(ADA, session).await.unwrap());
        store.end(session, &journal(61)).await.unwrap();
        assert!(
            store.was_ended(ADA, session).await.unwrap() && !store.was_ended(BOB, session).await.unwrap()
        );
        store.sweep(NOW).await.unwrap();
        assert!(store.was_ended(ADA, session).await.unwrap());
        store.sweep(NOW.plus_seconds(1)).await.unwrap();
        assert!(!store.was_ended(ADA, session).await.unwrap());
    });
}
