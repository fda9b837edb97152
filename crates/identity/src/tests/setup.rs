use std::sync::Mutex;

use heddle_policy::licence::{LicenceState, Restriction};
use heddle_usecase::StoreError;

use super::*;
use crate::ports::SetUp;
use crate::records::{InstallationState, Usage};
use crate::{FirstLicence, SetUpRequest};

fn wanted() -> SetUpRequest {
    SetUpRequest {
        slug: "acme".to_owned(),
        display_name: "Acme".to_owned(),
        email: "Ada@Example.com".to_owned(),
        owner_name: "Ada".to_owned(),
        password: "a river under old stones".to_owned(),
    }
}

type Row = Arc<Mutex<Option<InstallationState>>>;
type SetUps = Arc<Mutex<Vec<SetUp>>>;

/// A world whose installation row is kept in memory.
fn remembering() -> (World, Row, SetUps) {
    let mut world = World::new();
    let (row, set_ups) = (Arc::new(Mutex::new(None::<InstallationState>)), Arc::new(Mutex::new(Vec::new())));
    let at = Arc::clone(&row);
    world.installation.expect_load().returning(move || Ok(at.lock().unwrap().clone()));
    world.installation.expect_usage().returning(|| Ok(Usage { organizations: 0, users: 0 }));
    let at = Arc::clone(&row);
    world.installation.expect_insert().returning(move |state, journal| {
        let action = journal.audit.as_ref().map(|entry| entry.action.clone());
        assert_eq!(action, state.trial_started_at.map(|_| "licence.trial_started".to_owned()));
        *at.lock().unwrap() = Some(state.clone());
        Ok(())
    });
    let at = Arc::clone(&row);
    world.installation.expect_update().returning(move |state, expected, _| {
        let mut row = at.lock().unwrap();
        if row.as_ref().is_none_or(|row| row.revision != expected) {
            return Err(StoreError::Stale);
        }
        *row = Some(state.clone());
        Ok(())
    });
    let (at, all) = (Arc::clone(&row), Arc::clone(&set_ups));
    world.installation.expect_set_up().returning(move |set_up, journal| {
        assert_eq!(journal.audit.as_ref().unwrap().action, "installation.set_up");
        *at.lock().unwrap() = Some(set_up.state.clone());
        all.lock().unwrap().push(set_up.clone());
        Ok(())
    });
    (world, row, set_ups)
}

#[tokio::test]
async fn the_first_start_of_a_demonstration_begins_a_trial() {
    let (world, row, _) = remembering();
    let identity = world.identity();
    let started = identity.start(FirstLicence::Trial).await.unwrap();
    let end = START.plus_seconds(30 * 24 * 3600);
    assert_eq!(started.licence.state, LicenceState::Trial { expires_at: end });
    assert!(started.licence.allows("workflow.enabled") && started.licence.allows("vector.enabled"));
    let token = started.setup_token.unwrap();
    let kept = row.lock().unwrap().clone().unwrap();
    assert_eq!(kept.setup_token_sha256, Some(token.sha256()));
    assert_eq!(kept.setup_expires_at, Some(START.plus_seconds(3600)));
    assert!(key().is_sealed(&kept));
    let again = identity.start(FirstLicence::Trial).await.unwrap().setup_token.unwrap();
    assert_ne!(again, token, "each start makes a new token");
}

#[tokio::test]
async fn a_row_that_was_removed_beside_users_brings_no_second_trial() {
    for begin in [FirstLicence::Trial, FirstLicence::None] {
        let mut world = World::new();
        world.installation.expect_load().returning(|| Ok(None));
        world.installation.expect_usage().returning(|| Ok(Usage { organizations: 1, users: 1 }));
        // No insertion is expected: one would fail the test.
        let refused = world.identity().start(begin).await;
        let Err(UseCaseError::Conflict(problems)) = refused else { panic!("{refused:?}") };
        assert_eq!(problems[0].reason, "installationGone");
    }
}

#[tokio::test]
async fn a_first_start_is_without_licence_and_keeps_its_trial_for_later() {
    let (world, row, _) = remembering();
    let identity = world.identity();
    let started = identity.start(FirstLicence::None).await.unwrap();
    assert_eq!(started.licence.state, LicenceState::Restricted { reason: Restriction::Missing });
    assert!(started.setup_token.is_some());
    let kept = row.lock().unwrap().clone().unwrap();
    assert_eq!((kept.licence.as_deref(), kept.trial_started_at), (None, None));
    assert!(key().is_sealed(&kept));
}

#[tokio::test]
async fn the_token_sets_up_once() {
    let (world, row, set_ups) = remembering();
    let identity = world.identity();
    let token = identity.start(FirstLicence::None).await.unwrap().setup_token.unwrap();
    let made = identity.set_up(token.expose(), &wanted(), &request_at(START)).await.unwrap();
    assert_eq!((made.user.email.as_str(), made.user.home), ("ada@example.com", made.organization.id));
    let set_up = set_ups.lock().unwrap().pop().unwrap();
    let owner = set_up.organization.roles.iter().find(|role| role.name == "owner").unwrap().id;
    assert_eq!(set_up.user.membership.roles, [owner]);
    assert_eq!(set_up.organization.roles.len(), 9);
    let kept = row.lock().unwrap().clone().unwrap();
    assert!(kept.set_up_at.is_some() && kept.setup_token_sha256.is_none() && key().is_sealed(&kept));
    let again = identity.set_up(token.expose(), &wanted(), &request_at(START)).await.unwrap_err();
    assert_eq!(reason(&again), "alreadySetUp");
    assert!(identity.start(FirstLicence::None).await.unwrap().setup_token.is_none());
    assert!(identity.set_up_locally(wanted(), true).await.unwrap().is_none());
}

#[tokio::test]
async fn a_wrong_or_ended_token_and_a_weak_password_set_nothing_up() {
    let (world, _, set_ups) = remembering();
    let identity = world.identity();
    let token = identity.start(FirstLicence::None).await.unwrap().setup_token.unwrap();
    let other = crate::token::Token::random(crate::token::SETUP_PREFIX).unwrap();
    let weak = SetUpRequest { password: "acme-ada-2026".to_owned(), ..wanted() };
    let nameless = SetUpRequest { slug: "Acme!".to_owned(), ..wanted() };
    for (text, at, wanted, expected) in [
        (other.expose(), START, wanted(), "invalidToken"),
        ("", START, wanted(), "invalidToken"),
        (token.expose(), START.plus_seconds(3600), wanted(), "invalidToken"),
        (token.expose(), START, weak, "tooCommon"),
        (token.expose(), START, nameless, "pattern"),
    ] {
        let refused = identity.set_up(text, &wanted, &request_at(at)).await.unwrap_err();
        assert_eq!(reason(&refused), expected, "{text}");
    }
    assert!(set_ups.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_demonstration_gets_a_random_password_that_fits() {
    let (world, _, _) = remembering();
    let identity = world.identity();
    identity.start(FirstLicence::None).await.unwrap();
    let (made, password) = identity.set_up_locally(wanted(), true).await.unwrap().unwrap();
    assert_eq!(password.len(), 27);
    let turn = identity.passwords.turn().await.unwrap();
    assert!(identity.passwords.verify(turn, &password, made.user.password_hash.as_deref()).await.unwrap());
}

#[tokio::test]
async fn a_database_of_another_key_is_not_started() {
    let mut world = World::new();
    let state = InstallationState { installation_id: "other".to_owned(), ..super::licence::row() };
    world.installation.expect_load().returning(move || Ok(Some(state.clone())));
    let refused = world.identity().start(FirstLicence::None).await.unwrap_err();
    assert_eq!(reason(&refused), "wrongKey");
}

#[tokio::test]
async fn a_node_that_was_slower_takes_the_row_of_the_faster() {
    let mut world = World::new();
    let row = super::licence::sealed(super::licence::row());
    let mut first = true;
    world
        .installation
        .expect_load()
        .times(2)
        .returning(move || Ok(if std::mem::take(&mut first) { None } else { Some(row.clone()) }));
    world.installation.expect_usage().returning(|| Ok(Usage { organizations: 0, users: 0 }));
    world
        .installation
        .expect_insert()
        .returning(|_, _| Err(StoreError::Duplicate("installation".to_owned())));
    let started = world.identity().start(FirstLicence::None).await.unwrap();
    assert!(started.setup_token.is_none());
    assert_eq!(started.licence.restriction(), Some("missing"));
}
