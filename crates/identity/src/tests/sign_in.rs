use std::collections::BTreeMap;
use std::sync::Mutex;

use heddle_usecase::Outcome;
use heddle_usecase::StoreError;

use super::*;
use crate::ports::Attempt;
use crate::records::Throttle;
use crate::sign_in::{SignIn, SignInAnswer};
use crate::throttle::{Bucket, Verdict};
use crate::{throttle, token};

fn credentials(password: &str) -> SignIn {
    SignIn { email: " User1@Example.com ".to_owned(), password: password.to_owned(), ..SignIn::default() }
}

/// A world in which user 1 is known and attempts are free.
fn world(known: Option<User>) -> World {
    let mut world = World::new();
    world.sessions.expect_attempt().returning(|_, _| Ok(Attempt::Allowed));
    world
        .sessions
        .expect_user_by_email()
        .withf(|email| email == "user1@example.com")
        .returning(move |_| Ok(known.clone()));
    world.sessions.expect_organizations_of().returning(|_, _| Ok(own_organizations()));
    world
}

#[tokio::test]
async fn the_right_password_opens_a_session_whose_token_is_kept_as_its_hash() {
    let mut world = world(Some(user(1)));
    let old = token::Token::random(token::SESSION_PREFIX).unwrap();
    let replaced = old.sha256();
    let opened = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&opened);
    world.sessions.expect_open().times(1).returning(move |new, journal| {
        *seen.lock().unwrap() = Some((new.clone(), journal.clone()));
        Ok(())
    });
    let sent = SignIn { presented: Some(old.expose().to_owned()), ..credentials(PASSWORD) };
    let answer = world.identity().sign_in(&sent, &request_at(START)).await.unwrap();
    let SignInAnswer::SignedIn(signed_in) = answer else { panic!("a code is asked for") };
    let (new, journal) = opened.lock().unwrap().take().unwrap();
    assert_eq!(new.session.token_sha256, signed_in.token.sha256());
    assert_eq!(new.session.tenant, tenant());
    assert_eq!(new.session.expires_at, START.plus_seconds(12 * 3600));
    assert_eq!((new.replaces, new.rehash), (Some(replaced), None));
    let audit = journal.audit.unwrap();
    assert_eq!((audit.action.as_str(), audit.outcome), ("session.created", Outcome::Succeeded));
    assert_eq!(audit.client_ip.as_deref(), Some("192.0.2.7"));
    assert!(!format!("{audit:?}{:?}", new.session).contains(signed_in.token.expose()));
}

#[tokio::test]
async fn whatever_does_not_fit_gets_the_same_answer_and_is_audited() {
    let disabled = User { state: UserState::Disabled, ..user(1) };
    let without = User { password_hash: None, ..user(1) };
    let long = "x".repeat(1025);
    for (known, password) in [
        (Some(user(1)), "another password"),
        (Some(user(1)), ""),
        (Some(user(1)), long.as_str()),
        (Some(disabled), PASSWORD),
        (Some(without), PASSWORD),
        (None, PASSWORD),
    ] {
        let mut world = world(known);
        world
            .installation
            .expect_audit()
            .times(1)
            .withf(|entry| entry.action == "session.refused" && entry.outcome == Outcome::Denied)
            .returning(|_| Ok(()));
        let refused = world.identity().sign_in(&credentials(password), &request_at(START)).await;
        assert!(matches!(refused, Err(UseCaseError::Unauthenticated)), "{refused:?}");
    }
}

/// A world in which tries are counted as the store counts them.
fn counting(known: Option<User>) -> World {
    let kept: Arc<Mutex<BTreeMap<String, Throttle>>> = Arc::default();
    let mut world = World::new();
    let counted = Arc::clone(&kept);
    world.sessions.expect_attempt().returning(move |buckets, now| {
        let mut kept = counted.lock().unwrap();
        let verdict = |bucket: &Bucket| throttle::next(bucket.pace, kept.get(&bucket.key).copied(), now);
        let verdicts: Vec<_> = buckets.iter().map(|bucket| (bucket.key.clone(), verdict(bucket))).collect();
        let waits = verdicts.iter().filter_map(|(_, verdict)| match verdict {
            Verdict::Wait(until) => Some(*until),
            Verdict::Counted(_) => None,
        });
        if let Some(next_at) = waits.max() {
            return Ok(Attempt::Refused { next_at });
        }
        for (key, verdict) in verdicts {
            if let Verdict::Counted(throttle) = verdict {
                kept.insert(key, throttle);
            }
        }
        Ok(Attempt::Allowed)
    });
    world
        .sessions
        .expect_user_by_email()
        .returning(move |email| Ok(known.clone().filter(|user| user.email == email)));
    world.sessions.expect_organizations_of().returning(|_, _| Ok(own_organizations()));
    world.installation.expect_audit().returning(|_| Ok(()));
    world.sessions.expect_open().returning(move |new, _| {
        let mut kept = kept.lock().unwrap();
        for bucket in &new.forgotten {
            kept.remove(&bucket.key);
        }
        for bucket in &new.forgiven {
            let back = throttle::forgiven(bucket.pace, kept[&bucket.key]);
            kept.insert(bucket.key.clone(), back);
        }
        Ok(())
    });
    world
}

/// A request from an address.
fn from(address: &str, now: Timestamp) -> RequestFacts {
    RequestFacts { client_ip: Some(address.to_owned()), ..request_at(now) }
}

fn is_throttled<T>(result: &Result<T, UseCaseError>) -> bool {
    matches!(result, Err(UseCaseError::Throttled { .. }))
}

#[tokio::test]
async fn five_failures_slow_the_account_down_and_the_right_password_waits_too() {
    let identity = counting(Some(user(1))).identity();
    for _ in 0..5 {
        let refused = identity.sign_in(&credentials("another password"), &request_at(START)).await;
        assert!(matches!(refused, Err(UseCaseError::Unauthenticated)), "{refused:?}");
    }
    let refused = identity.sign_in(&credentials(PASSWORD), &request_at(START)).await;
    assert!(matches!(refused, Err(UseCaseError::Throttled { retry_after_seconds: 1 })), "{refused:?}");
    identity.sign_in(&credentials(PASSWORD), &request_at(START.plus_seconds(1))).await.unwrap();
}

#[tokio::test]
async fn an_attacker_s_failures_keep_nobody_out_who_comes_from_elsewhere() {
    let identity = counting(Some(user(1))).identity();
    for second in 0..200 {
        let _ =
            identity.sign_in(&credentials("guess"), &from("198.51.100.9", START.plus_seconds(second))).await;
    }
    let now = START.plus_seconds(200);
    let same_network = identity.sign_in(&credentials(PASSWORD), &from("198.51.100.200", now)).await;
    assert!(is_throttled(&same_network), "{same_network:?}");
    identity.sign_in(&credentials(PASSWORD), &from("192.0.2.7", now)).await.unwrap();
}

#[tokio::test]
async fn a_known_device_passes_what_others_did_and_has_a_count_of_its_own() {
    let identity = counting(Some(user(1))).identity();
    let first = identity.sign_in(&credentials(PASSWORD), &from("192.0.2.7", START)).await.unwrap();
    let SignInAnswer::SignedIn(first) = first else { panic!("a code is asked for") };
    // So many networks that the account itself is slowed down.
    for number in 0..60 {
        let _ = identity.sign_in(&credentials("guess"), &from(&format!("10.0.{number}.1"), START)).await;
    }
    let unknown = identity.sign_in(&credentials(PASSWORD), &from("203.0.113.7", START)).await;
    assert!(is_throttled(&unknown), "{unknown:?}");
    let known = |password: &str| SignIn { device: Some(first.device.clone()), ..credentials(password) };
    identity.sign_in(&known(PASSWORD), &from("203.0.113.7", START)).await.unwrap();
    for _ in 0..5 {
        let refused = identity.sign_in(&known("guess"), &from("203.0.113.7", START)).await;
        assert!(matches!(refused, Err(UseCaseError::Unauthenticated)), "{refused:?}");
    }
    assert!(is_throttled(&identity.sign_in(&known(PASSWORD), &from("203.0.113.7", START)).await));
    // A mark is one account's.
    let other = SignIn { email: "user2@example.com".to_owned(), ..known("guess") };
    for _ in 0..5 {
        let _ = identity.sign_in(&other, &from("203.0.113.7", START)).await;
    }
    assert!(is_throttled(&identity.sign_in(&other, &from("203.0.113.7", START)).await));
}

#[tokio::test]
async fn one_network_tries_only_so_many_accounts_and_successes_do_not_count() {
    let identity = counting(Some(user(1))).identity();
    for _ in 0..150 {
        identity.sign_in(&credentials(PASSWORD), &request_at(START)).await.unwrap();
    }
    let spray = async |number: u32, now: Timestamp| {
        let sent = SignIn { email: format!("person{number}@example.com"), ..credentials("Summer-2026") };
        identity.sign_in(&sent, &request_at(now)).await
    };
    let mut looked_at = 0;
    for number in 0..300 {
        looked_at += u32::from(!is_throttled(&spray(number, START).await));
    }
    assert_eq!(looked_at, 100);
    assert!(!is_throttled(&spray(300, START.plus_seconds(30)).await));
}

#[tokio::test]
async fn a_session_does_not_outlive_the_password_that_opened_it() {
    let renamed = User { display_name: "New".to_owned(), revision: Revision(4), ..user(1) };
    let changed = User { password_changed_at: Some(START), revision: Revision(4), ..user(1) };
    let disabled = User { state: UserState::Disabled, revision: Revision(4), ..user(1) };
    for (now, opens) in
        [(Some(renamed), true), (Some(changed), false), (Some(disabled), false), (None, false)]
    {
        let mut world = world(Some(user(1)));
        world
            .sessions
            .expect_open()
            .times(1)
            .withf(|new, _| new.seen == Revision(3))
            .returning(|_, _| Err(StoreError::Stale));
        world.sessions.expect_open().withf(|new, _| new.seen == Revision(4)).returning(|_, _| Ok(()));
        world.sessions.expect_user().returning(move |_| Ok(now.clone()));
        world.installation.expect_audit().returning(|_| Ok(()));
        let signed_in = world.identity().sign_in(&credentials(PASSWORD), &request_at(START)).await;
        assert_eq!(signed_in.is_ok(), opens, "{signed_in:?}");
        assert!(opens || matches!(signed_in, Err(UseCaseError::Unauthenticated)));
    }
}

#[tokio::test]
async fn a_busy_server_counts_no_failure() {
    let mut world = World::new();
    world.settings.hashes_at_once = 1;
    world.settings.hash_queue = 0;
    world.sessions.expect_attempt().returning(|_, _| Ok(Attempt::Allowed));
    world.sessions.expect_forgive().times(1).withf(|buckets| buckets.len() == 3).returning(|_| Ok(()));
    let identity = world.identity();
    let turn = identity.passwords.turn().await.unwrap();
    let refused = identity.sign_in(&credentials(PASSWORD), &request_at(START)).await;
    assert!(matches!(refused, Err(UseCaseError::Busy)), "{refused:?}");
    drop(turn);
}

#[tokio::test]
async fn the_operator_forgets_an_account_s_failures() {
    let mut world = world(Some(user(1)));
    world
        .sessions
        .expect_forget()
        .times(1)
        .withf(|keys, journal| {
            keys.contains(&heddle_usecase::sha256_hex(b"sign-in|user1@example.com"))
                && journal.audit.as_ref().is_some_and(|audit| audit.action == "user.unlocked")
        })
        .returning(|_, _| Ok(2));
    assert_eq!(world.identity().unlock(" User1@Example.com").await.unwrap(), 2);
}

#[tokio::test]
async fn a_dead_database_is_not_a_wrong_password() {
    let mut world = World::new();
    world.sessions.expect_attempt().returning(|_, _| Err(StoreError::Unavailable("gone".to_owned())));
    let failed = world.identity().sign_in(&credentials(PASSWORD), &request_at(START)).await;
    assert!(matches!(failed, Err(UseCaseError::Unavailable(_))), "{failed:?}");
}

#[tokio::test]
async fn a_hash_of_lesser_cost_is_replaced() {
    let mut world = world(Some(user(1)));
    world.settings.cost = Cost { memory_kib: 128, passes: 1, lanes: 1 };
    world
        .sessions
        .expect_open()
        .withf(|new, _| new.rehash.as_ref().is_some_and(|hash| hash.contains("m=128,")))
        .returning(|_, _| Ok(()));
    world.identity().sign_in(&credentials(PASSWORD), &request_at(START)).await.unwrap();
}

#[tokio::test]
async fn an_organisation_of_others_can_t_be_chosen() {
    let sent = SignIn { organization: Some(TenantId(Uuid::from_u128(9))), ..credentials(PASSWORD) };
    let refused = world(Some(user(1))).identity().sign_in(&sent, &request_at(START)).await.unwrap_err();
    assert_eq!(reason(&refused), "notAMember");
}

#[tokio::test]
async fn a_changed_password_ends_the_other_sessions() {
    let mut world = World::new();
    world.sessions.expect_user().returning(|_| Ok(Some(user(0))));
    world.sessions.expect_attempt().times(1).returning(|_, _| Ok(Attempt::Allowed));
    let written = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&written);
    world.sessions.expect_set_password().times(1).returning(move |change, _| {
        *seen.lock().unwrap() = Some(change.clone());
        Ok(())
    });
    let identity = world.identity();
    let new = "a river under old stones";
    identity.change_password(&context("viewer"), PASSWORD, new, &Journal::default()).await.unwrap();
    let change = written.lock().unwrap().take().unwrap();
    assert_eq!((change.keep, change.expected), (Some(session(0).id), Revision(3)));
    let turn = identity.passwords.turn().await.unwrap();
    assert!(identity.passwords.verify(turn, new, Some(&change.hash)).await.unwrap());
}

#[tokio::test]
async fn a_password_is_not_changed_to_a_weak_one_nor_without_the_present_one() {
    for (present, new, expected) in [
        (PASSWORD, "short", "tooShort"),
        (PASSWORD, "password12345", "tooCommon"),
        (PASSWORD, "user0@example.com", "tooCommon"),
        ("another password", "a river under old stones", "wrong"),
        (PASSWORD, PASSWORD, "notNew"),
    ] {
        let mut world = World::new();
        world.sessions.expect_user().returning(|_| Ok(Some(user(0))));
        world.sessions.expect_attempt().returning(|_, _| Ok(Attempt::Allowed));
        let refused = world
            .identity()
            .change_password(&context("viewer"), present, new, &Journal::default())
            .await
            .unwrap_err();
        assert_eq!(reason(&refused), expected, "{new}");
    }
}

#[tokio::test]
async fn the_present_password_is_not_guessed_through_an_open_session() {
    let mut world = World::new();
    world.sessions.expect_user().returning(|_| Ok(Some(user(0))));
    world.sessions.expect_attempt().returning(|_, now| Ok(Attempt::Refused { next_at: now.plus_seconds(8) }));
    let refused = world
        .identity()
        .change_password(&context("viewer"), "a guess", "a river under old stones", &Journal::default())
        .await;
    assert!(matches!(refused, Err(UseCaseError::Throttled { retry_after_seconds: 8 })), "{refused:?}");
}
