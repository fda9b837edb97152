use std::sync::Mutex;

use heddle_usecase::{Outcome, StoreError};
use zeroize::Zeroizing;

use super::*;
use crate::ports::{Attempt, Factor, FactorProof, SealedFactor};
use crate::sign_in::{CodeRequired, SignIn, SignInAnswer};
use crate::throttle::Bucket;
use crate::{RemovalProof, SignInCode, ticket, tries};

/// The secret of RFC 6238's examples.
const SECRET: &[u8] = b"12345678901234567890";
/// An instant of the examples, and its code.
const AT: Timestamp = Timestamp::from_micros(1_111_111_111_000_000);
const CODE: &str = "050471";
const STEP: i64 = 1_111_111_111 / 30;

fn enrolled() -> User {
    User { totp_enrolled_at: Some(START), ..user(1) }
}

fn factor(confirmed: bool) -> Factor {
    Factor {
        user: user_id(1),
        sealed: SealedFactor { key: "k1".to_owned(), text: "sealed".to_owned() },
        last_step: -1,
        begun_at: AT,
        confirmed_at: confirmed.then_some(AT),
    }
}

/// A world in which this user is known, with a factor, and tries are free.
fn world(known: User, kept: Option<Factor>) -> World {
    let mut world = World::new();
    let by_email = known.clone();
    world.sessions.expect_user_by_email().returning(move |_| Ok(Some(by_email.clone())));
    world.sessions.expect_user().returning(move |_| Ok(Some(known.clone())));
    world.sessions.expect_organizations_of().returning(|_, _| Ok(own_organizations()));
    world.sessions.expect_attempt().returning(|_, _| Ok(Attempt::Allowed));
    world.sessions.expect_forgive().returning(|_| Ok(()));
    world.factors.expect_factor().returning(move |_| Ok(kept.clone()));
    world.sealer.expect_open().returning(|place, _| {
        assert_eq!((place.home, place.user), (tenant(), user_id(1)));
        Ok(Zeroizing::new(SECRET.to_vec()))
    });
    world
}

fn sent(ticket: String, code: &str) -> SignInCode {
    SignInCode { ticket, code: code.to_owned(), ..SignInCode::default() }
}

fn context_of_one() -> RequestContext {
    context_of(&Facts::member(user_id(1), tenant()).with_system_role("viewer"), AT)
}

#[tokio::test]
async fn a_right_password_gives_a_ticket_and_no_session() {
    let mut world = world(enrolled(), None);
    world.sessions.expect_open().never();
    let credentials = SignIn {
        email: "user1@example.com".to_owned(),
        password: PASSWORD.to_owned(),
        organization: Some(tenant()),
        ..SignIn::default()
    };
    let answer = world.identity().sign_in(&credentials, &request_at(AT)).await.unwrap();
    let SignInAnswer::CodeRequired(CodeRequired { ticket, expires_at }) = answer else {
        panic!("a session without a code")
    };
    assert_eq!(expires_at, AT.plus_seconds(300));
    let read = ticket::read(&key(), &ticket, AT).unwrap();
    assert_eq!((read.user, read.organization), (user_id(1), Some(tenant())));
}

#[tokio::test]
async fn a_ticket_and_a_code_open_a_session_that_says_so() {
    let opened = Arc::new(Mutex::new(Vec::new()));
    let recovery = crate::totp::new_recovery_codes().unwrap().remove(0);
    for code in [CODE, recovery.as_str()] {
        let mut world = world(enrolled(), Some(factor(true)));
        let seen = Arc::clone(&opened);
        world.sessions.expect_open().times(1).returning(move |new, journal| {
            seen.lock().unwrap().push((new.clone(), journal.clone()));
            Ok(())
        });
        let ticket = ticket::make(&key(), &enrolled(), None, AT).unwrap();
        let signed_in =
            world.identity().sign_in_with_code(&sent(ticket, code), &request_at(AT)).await.unwrap();
        assert_eq!(signed_in.user.id, user_id(1));
    }
    let opened = opened.lock().unwrap();
    assert_eq!(opened[0].0.factor, Some(FactorProof::Code { step: STEP }));
    let bare = recovery.replace('-', "").to_uppercase();
    let sha256 = crate::totp::recovery_sha256(user_id(1), &bare);
    assert_eq!(opened[1].0.factor, Some(FactorProof::RecoveryCode { sha256 }));
    for ((new, journal), word) in opened.iter().zip(["totp", "recoveryCode"]) {
        let audit = journal.audit.as_ref().unwrap();
        assert_eq!(
            (audit.action.as_str(), &audit.details["secondFactor"]),
            ("session.created", &word.into())
        );
        assert_eq!(new.session.second_factor.map(|factor| factor.as_str()), Some(word));
        let keys: Vec<&str> = new.forgotten.iter().map(|bucket| bucket.key.as_str()).collect();
        assert!(keys.contains(&tries::code_key(user_id(1)).as_str()), "{keys:?}");
        assert!(keys.contains(&tries::account_key("user1@example.com").as_str()), "{keys:?}");
    }
}

#[tokio::test]
async fn what_does_not_fit_is_refused_and_audited() {
    let good = |user: &User| ticket::make(&key(), user, None, AT).unwrap();
    let used = Factor { last_step: STEP + 1, ..factor(true) };
    let disabled = User { state: UserState::Disabled, ..enrolled() };
    let since_changed = User { password_changed_at: Some(AT), ..enrolled() };
    let cases = [
        (enrolled(), Some(factor(true)), good(&enrolled()), "000000"),
        (enrolled(), Some(factor(true)), good(&enrolled()), "no code"),
        (enrolled(), Some(used), good(&enrolled()), CODE),
        (enrolled(), Some(factor(false)), good(&enrolled()), CODE),
        (enrolled(), None, good(&enrolled()), CODE),
        (enrolled(), Some(factor(true)), "hdt_nonsense".to_owned(), CODE),
        (enrolled(), Some(factor(true)), good(&User { totp_enrolled_at: Some(START), ..user(2) }), CODE),
        (user(1), Some(factor(true)), good(&user(1)), CODE),
        (disabled, Some(factor(true)), good(&enrolled()), CODE),
        (since_changed, Some(factor(true)), good(&enrolled()), CODE),
    ];
    for (at, (known, kept, ticket, code)) in cases.into_iter().enumerate() {
        let mut world = world(known, kept);
        world.sessions.expect_open().never();
        world
            .installation
            .expect_audit()
            .times(1)
            .withf(|entry| entry.action == "session.refused" && entry.outcome == Outcome::Denied)
            .returning(|_| Ok(()));
        let refused = world.identity().sign_in_with_code(&sent(ticket, code), &request_at(AT)).await;
        assert!(matches!(refused, Err(UseCaseError::Unauthenticated)), "{at}: {refused:?}");
    }
}

#[tokio::test]
async fn of_two_who_show_one_code_the_second_is_refused() {
    let mut world = world(enrolled(), Some(factor(true)));
    world.sessions.expect_open().times(1).returning(|_, _| Err(StoreError::NotFound));
    world.installation.expect_audit().times(1).returning(|_| Ok(()));
    let ticket = ticket::make(&key(), &enrolled(), None, AT).unwrap();
    let refused = world.identity().sign_in_with_code(&sent(ticket, CODE), &request_at(AT)).await;
    assert!(matches!(refused, Err(UseCaseError::Unauthenticated)), "{refused:?}");
}

#[tokio::test]
async fn codes_are_slowed_down_by_account() {
    let mut world = World::new();
    world.sessions.expect_user().returning(|_| Ok(Some(enrolled())));
    world
        .sessions
        .expect_attempt()
        .withf(
            |buckets: &[Bucket], _| matches!(buckets, [bucket] if bucket.key == tries::code_key(user_id(1))),
        )
        .returning(|_, now| Ok(Attempt::Refused { next_at: now.plus_seconds(4) }));
    let ticket = ticket::make(&key(), &enrolled(), None, AT).unwrap();
    let refused = world.identity().sign_in_with_code(&sent(ticket, CODE), &request_at(AT)).await;
    assert!(matches!(refused, Err(UseCaseError::Throttled { retry_after_seconds: 4 })), "{refused:?}");
}

#[tokio::test]
async fn an_enrolment_takes_the_password_and_then_a_code() {
    let mut begins = world(user(1), None);
    begins.sealer.expect_seal().times(1).returning(|_, secret| {
        assert_eq!(secret.len(), 20);
        Ok(SealedFactor { key: "k1".to_owned(), text: "sealed".to_owned() })
    });
    begins.factors.expect_begin().times(1).returning(|factor, _| {
        assert_eq!((factor.last_step, factor.confirmed_at), (-1, None));
        Ok(())
    });
    let begun = begins.identity().begin_totp(&context_of_one(), Some(PASSWORD), &Journal::default()).await;
    let begun = begun.unwrap();
    assert!(begun.uri.contains(&begun.secret) && begun.secret.len() == 32, "{begun:?}");

    let mut confirms = world(user(1), Some(factor(false)));
    confirms.factors.expect_confirm().times(1).returning(|enrolment, _| {
        assert_eq!((enrolment.step, enrolment.expected), (STEP, Revision(3)));
        assert_eq!(enrolment.recovery_codes.len(), 10);
        Ok(())
    });
    let codes = confirms.identity().confirm_totp(&context_of_one(), CODE, &Journal::default()).await.unwrap();
    assert_eq!(codes.len(), 10);
}

#[tokio::test]
async fn an_enrolment_is_refused_with_its_reason() {
    let journal = Journal::default();
    let begin = async |known: User, password: Option<&str>| {
        let world = world(known, None);
        let refused = world.identity().begin_totp(&context_of_one(), password, &journal).await;
        reason(&refused.unwrap_err())
    };
    assert_eq!(begin(user(1), Some("another password")).await, "wrong");
    assert_eq!(begin(user(1), None).await, "required");
    assert_eq!(begin(enrolled(), Some(PASSWORD)).await, "alreadyEnrolled");
    let confirm = async |known: User, kept: Option<Factor>, code: &str| {
        let world = world(known, kept);
        let refused = world.identity().confirm_totp(&context_of_one(), code, &journal).await;
        reason(&refused.unwrap_err())
    };
    assert_eq!(confirm(user(1), Some(factor(false)), "000000").await, "wrong");
    assert_eq!(confirm(user(1), None, CODE).await, "notBegun");
    let old = Factor { begun_at: AT.plus_seconds(-600), ..factor(false) };
    assert_eq!(confirm(user(1), Some(old), CODE).await, "notBegun");
    assert_eq!(confirm(enrolled(), Some(factor(true)), CODE).await, "alreadyEnrolled");
}

#[tokio::test]
async fn a_removal_takes_a_code_or_the_password() {
    let journal = Journal::default();
    let by = |password: Option<&'static str>, code: Option<&'static str>| RemovalProof { password, code };
    for (proof, expected) in
        [(by(Some(PASSWORD), None), None), (by(None, Some(CODE)), Some(FactorProof::Code { step: STEP }))]
    {
        let mut world = world(enrolled(), Some(factor(true)));
        world.factors.expect_remove().times(1).returning(move |removal, _| {
            assert_eq!(removal.proof, expected);
            Ok(())
        });
        world.identity().remove_totp(&context_of_one(), proof, &journal).await.unwrap();
    }
    for (proof, expected) in [
        (by(None, None), "required"),
        (by(Some(PASSWORD), Some(CODE)), "contradiction"),
        (by(Some("another password"), None), "wrong"),
        (by(None, Some("000000")), "wrong"),
    ] {
        let world = world(enrolled(), Some(factor(true)));
        let refused = world.identity().remove_totp(&context_of_one(), proof, &journal).await;
        assert_eq!(reason(&refused.unwrap_err()), expected);
    }
    for (removed, ok) in [(true, true), (false, false)] {
        let mut world = world(user(1), None);
        world.factors.expect_was_removed().returning(move |_| Ok(removed));
        let done = world.identity().remove_totp(&context_of_one(), by(None, Some(CODE)), &journal).await;
        assert_eq!(done.is_ok(), ok, "{done:?}");
    }
}

#[tokio::test]
async fn an_account_without_a_password_needs_a_fresh_session() {
    let without = User { password_hash: None, ..user(1) };
    for (age, fresh) in [(599, true), (600, false)] {
        let mut world = world(without.clone(), None);
        let own = Session { created_at: AT.plus_seconds(-age), ..session(1) };
        world.sessions.expect_session().returning(move |_| Ok(Some((own.clone(), tenant()))));
        world
            .sealer
            .expect_seal()
            .returning(|_, _| Ok(SealedFactor { key: "k1".to_owned(), text: "sealed".to_owned() }));
        world.factors.expect_begin().returning(|_, _| Ok(()));
        let begun = world.identity().begin_totp(&context_of_one(), None, &Journal::default()).await;
        assert_eq!(begun.is_ok(), fresh, "{age}: {begun:?}");
    }
}
