use std::sync::Mutex;

use heddle_usecase::Outcome;
use heddle_usecase::StoreError;

use super::*;
use crate::ports::Attempt;
use crate::records::Throttle;
use crate::sign_in::SignIn;
use crate::{throttle, token};

fn credentials(password: &str) -> SignIn {
    SignIn { email: " User1@Example.com ".to_owned(), password: password.to_owned(), ..SignIn::default() }
}

fn free() -> Attempt {
    Attempt::Allowed(Throttle { failures: 1, last_at: START, next_at: START })
}

/// A world in which user 1 is known and attempts are free.
fn world(known: Option<User>) -> World {
    let mut world = World::new();
    world.sessions.expect_attempt().returning(|_, _| Ok(free()));
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
    let signed_in = world.identity().sign_in(&sent, &request_at(START)).await.unwrap();
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

#[tokio::test]
async fn five_failures_slow_the_account_down_and_the_right_password_waits_too() {
    let mut world = World::new();
    let kept: Arc<Mutex<Option<Throttle>>> = Arc::default();
    world.sessions.expect_attempt().returning(move |key, now| {
        assert_eq!(key, heddle_usecase::sha256_hex(b"sign-in|user1@example.com"));
        let mut kept = kept.lock().unwrap();
        let attempt = throttle::next(*kept, now);
        if let Attempt::Allowed(next) = attempt {
            *kept = Some(next);
        }
        Ok(attempt)
    });
    world.sessions.expect_user_by_email().returning(|_| Ok(Some(user(1))));
    world.sessions.expect_organizations_of().returning(|_, _| Ok(own_organizations()));
    world.installation.expect_audit().times(5).returning(|_| Ok(()));
    world.sessions.expect_open().times(1).returning(|_, _| Ok(()));
    let identity = world.identity();
    for _ in 0..5 {
        let refused = identity.sign_in(&credentials("another password"), &request_at(START)).await;
        assert!(matches!(refused, Err(UseCaseError::Unauthenticated)), "{refused:?}");
    }
    let refused = identity.sign_in(&credentials(PASSWORD), &request_at(START)).await;
    assert!(matches!(refused, Err(UseCaseError::Throttled { retry_after_seconds: 1 })), "{refused:?}");
    identity.sign_in(&credentials(PASSWORD), &request_at(START.plus_seconds(1))).await.unwrap();
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
    world.sessions.expect_attempt().times(1).returning(|_, _| Ok(free()));
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
        world.sessions.expect_attempt().returning(|_, _| Ok(free()));
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
