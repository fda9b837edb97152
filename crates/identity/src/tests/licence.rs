use std::sync::Mutex;

use heddle_policy::capability::{LicenceInspect, LicenceInstall, LicenceRead};
use heddle_policy::licence::{Claims, Kind, LicenceState, Limit};
use heddle_usecase::StoreError;

use super::*;
use crate::licence::testing;
use crate::licensing::{Install, Provided};
use crate::ports::{LimitCounter, LimitOutcome};
use crate::records::{InstallationState, Usage};

const DAY: i64 = 24 * 3600;

/// The row of an installation that was set up and has no licence.
pub(crate) fn row() -> InstallationState {
    InstallationState {
        installation_id: key().installation_id(),
        setup_token_sha256: None,
        setup_expires_at: None,
        set_up_at: Some(START),
        licence: None,
        licence_installed_at: None,
        trial_started_at: None,
        revoked: Vec::new(),
        high_water_mark: START,
        seal: String::new(),
        revision: Revision(4),
        created_at: START,
    }
}

pub(crate) fn sealed(state: InstallationState) -> InstallationState {
    key().sealed(state).unwrap()
}

struct Running {
    identity: Identity,
    row: Arc<Mutex<InstallationState>>,
    audited: Arc<Mutex<Vec<String>>>,
    /// The limits under which servers asked for a place.
    places: Arc<Mutex<Vec<Option<u64>>>>,
    clock: Arc<FixedClock>,
}

/// A started installation whose row is kept in memory.
async fn running(state: InstallationState) -> Running {
    let mut world = World::new();
    let (row, audited) = (Arc::new(Mutex::new(state)), Arc::new(Mutex::new(Vec::new())));
    let at = Arc::clone(&row);
    world.installation.expect_load().returning(move || Ok(Some(at.lock().unwrap().clone())));
    let at = Arc::clone(&row);
    world.installation.expect_update().returning(move |state, expected, _| {
        let mut row = at.lock().unwrap();
        if row.revision != expected {
            return Err(StoreError::Stale);
        }
        *row = state.clone();
        Ok(())
    });
    let at = Arc::clone(&audited);
    world.installation.expect_audit().returning(move |entry| {
        at.lock().unwrap().push(format!("{} {}", entry.action, entry.details));
        Ok(())
    });
    world.installation.expect_usage().returning(|| Ok(Usage { organizations: 1, users: 2 }));
    world.installation.expect_nodes().returning(|_| Ok(3));
    let places = Arc::new(Mutex::new(Vec::new()));
    let at = Arc::clone(&places);
    world.installation.expect_join().returning(move |_, _, limit| {
        at.lock().unwrap().push(limit);
        Ok(limit.map_or(LimitOutcome::Done, |used| LimitOutcome::LimitReached { used }))
    });
    let clock = Arc::clone(&world.clock);
    let identity = world.identity();
    identity.start(crate::FirstLicence::None).await.unwrap();
    Running { identity, row, audited, places, clock }
}

impl Running {
    async fn install(
        &self,
        claims: &Claims,
        now: Timestamp,
        force: bool,
    ) -> Result<LicenceState, UseCaseError> {
        self.install_text(testing::issue(claims), now, force).await
    }

    async fn install_text(
        &self,
        text: String,
        now: Timestamp,
        force: bool,
    ) -> Result<LicenceState, UseCaseError> {
        let context = at(now);
        let install = Install { text, force, revision: None };
        let grant = kind::<LicenceInstall>(&context);
        let installed = self.identity.install_licence(&grant, &context, &install, &nothing).await;
        installed.map(|report| report.licence.state)
    }
}

fn at(now: Timestamp) -> RequestContext {
    context_of(&Facts::member(user_id(0), tenant()).with_system_role("owner"), now)
}

#[tokio::test]
async fn an_installed_licence_is_in_force_at_once() {
    let running = running(sealed(row())).await;
    assert_eq!(running.identity.licence_state().restriction(), Some("missing"));
    let claims = testing::claims(START);
    let state = running.install(&claims, START, false).await.unwrap();
    assert_eq!(state, LicenceState::Active { expires_at: claims.exp });
    assert!(running.identity.licence_state().allows("workflow.enabled"));
    let context = at(START);
    let report = running.identity.licence(&kind::<LicenceRead>(&context), &context).await.unwrap();
    assert_eq!((report.revision, report.trial_available), (Revision(5), true));
    let numbers: Vec<_> = report.usage.all().map(|one| (one.limit.as_str(), one.used)).collect();
    let none = [("deployments", 0), ("vectorDatabases", 0)];
    assert_eq!(numbers, [[("organizations", 1), ("users", 2), ("nodes", 3)].as_slice(), &none].concat());
    assert!(key().is_sealed(&running.row.lock().unwrap()));
}

/// An area to come, with what it keeps.
struct Area(Limit, u64);

#[async_trait::async_trait]
impl LimitCounter for Area {
    fn counts(&self) -> Limit {
        self.0
    }

    async fn count(&self) -> Result<u64, StoreError> {
        Ok(self.1)
    }
}

#[tokio::test]
async fn what_other_areas_keep_is_counted_by_them() {
    let running = running(sealed(row())).await;
    let areas: [Arc<dyn LimitCounter>; 2] =
        [Arc::new(Area(Limit::VectorDatabases, 4)), Arc::new(Area(Limit::Deployments, 6))];
    let identity = running.identity.with_counters(areas.into());
    let context = at(START);
    let report = identity.licence(&kind::<LicenceRead>(&context), &context).await.unwrap();
    let used = |limit| report.usage.of(limit);
    assert_eq!((used(Limit::VectorDatabases), used(Limit::Deployments), used(Limit::Users)), (4, 6, 2));
}

#[tokio::test]
async fn a_server_has_a_place_as_long_as_only_remediation_is_open() {
    let running = running(sealed(row())).await;
    assert_eq!(running.identity.licence_state().restriction(), Some("missing"));
    assert!(running.identity.join(uuid::Uuid::nil()).await.is_ok());
    assert_eq!(*running.places.lock().unwrap(), [None]);
    let claims = Claims { limits: [("nodes".to_owned(), 2)].into(), ..testing::claims(START) };
    running.install(&claims, START, false).await.unwrap();
    let refused = running.identity.join(uuid::Uuid::nil()).await;
    assert!(matches!(refused, Err(UseCaseError::LimitReached { limit: "nodes", licensed: 2, used: 2 })));
    assert_eq!(*running.places.lock().unwrap(), [None, Some(2)]);
}

#[tokio::test]
async fn what_is_not_a_licence_for_here_and_now_is_refused_and_audited() {
    let good = testing::claims(START);
    let own = crate::licensing::with_trial(row(), &key(), START).unwrap().licence.unwrap();
    let cases = [
        ("nonsense".to_owned(), "invalid_signature"),
        (own, "invalid_signature"),
        (testing::issue(&Claims { v: 2, ..good.clone() }), "invalid_signature"),
        (
            testing::issue(&Claims { installation_id: "elsewhere".to_owned(), ..good.clone() }),
            "wrong_installation",
        ),
        (testing::issue(&Claims { nbf: START.plus_seconds(1), ..good.clone() }), "not_yet_valid"),
        (testing::issue(&Claims { exp: START.plus_seconds(-15 * DAY), ..good.clone() }), "expired"),
        (testing::issue(&Claims { revoked: vec![good.jti.clone()], ..good }), "revoked"),
    ];
    for (text, expected) in cases {
        let running = running(sealed(row())).await;
        let before = running.row.lock().unwrap().clone();
        let context = at(START);
        let dry = running
            .identity
            .validate_licence(&kind::<LicenceInspect>(&context), &context, &text, false)
            .await
            .unwrap();
        assert_eq!((dry.valid, dry.reason), (false, Some(expected)));
        assert!(running.audited.lock().unwrap().is_empty());
        let refused = running.install_text(text, START, false).await.unwrap_err();
        assert_eq!(reason(&refused), expected);
        assert_eq!(*running.row.lock().unwrap(), before);
        let audited = running.audited.lock().unwrap().join("\n");
        assert_eq!(audited, format!("licence.rejected {{\"reason\":\"{expected}\"}}"));
    }
}

#[tokio::test]
async fn a_dry_run_changes_nothing() {
    let running = running(sealed(row())).await;
    let context = at(START);
    let text = testing::issue(&testing::claims(START));
    let dry = running
        .identity
        .validate_licence(&kind::<LicenceInspect>(&context), &context, &text, false)
        .await
        .unwrap();
    assert!(dry.valid && dry.licence.is_some_and(|licence| licence.allows("vector.enabled")));
    assert_eq!(running.identity.licence_state().restriction(), Some("missing"));
}

#[tokio::test]
async fn an_older_licence_takes_force_and_a_superseded_one_is_revoked() {
    let running = running(sealed(row())).await;
    let (older, newer) = (testing::claims(START.plus_seconds(-DAY)), testing::claims(START));
    running.install(&newer, START, false).await.unwrap();
    assert_eq!(reason(&running.install(&older, START, false).await.unwrap_err()), "olderLicence");
    assert!(running.install(&older, START, true).await.is_ok());
    let last = Claims { jti: "last".to_owned(), supersedes: vec![newer.jti.clone()], ..newer.clone() };
    running.install(&last, START, false).await.unwrap();
    assert_eq!(reason(&running.install(&newer, START, true).await.unwrap_err()), "revoked");
}

#[tokio::test]
async fn a_licence_of_the_configuration_is_installed_once_and_never_over_a_newer_one() {
    let running = running(sealed(row())).await;
    let older = testing::issue(&testing::claims(START.plus_seconds(-DAY)));
    let (claims, foreign) =
        (testing::claims(START), Claims { installation_id: "x".to_owned(), ..testing::claims(START) });
    let newer = testing::issue(&claims);
    let active = Provided::Installed(LicenceState::Active { expires_at: claims.exp });
    assert_eq!(running.identity.install_provided(&newer).await.unwrap(), active);
    let revision = running.row.lock().unwrap().revision;
    assert_eq!(running.identity.install_provided(&format!("{newer}\n")).await.unwrap(), Provided::Present);
    assert_eq!(running.identity.install_provided(&older).await.unwrap(), Provided::Older);
    let refused = running.identity.install_provided(&testing::issue(&foreign)).await.unwrap_err();
    assert_eq!(reason(&refused), "wrong_installation");
    let audited = running.audited.lock().unwrap().last().cloned();
    assert_eq!(audited.as_deref(), Some("licence.rejected {\"reason\":\"wrong_installation\"}"));
    assert_eq!(running.row.lock().unwrap().revision, revision, "none of these changed it");
    assert_eq!(running.identity.licence_state().restriction(), None);
}

#[tokio::test]
async fn a_revision_that_was_overtaken_installs_nothing() {
    let running = running(sealed(row())).await;
    let context = at(START);
    let text = testing::issue(&testing::claims(START));
    let install = Install { text, force: false, revision: Some(Revision(3)) };
    let installed = running
        .identity
        .install_licence(&kind::<LicenceInstall>(&context), &context, &install, &nothing)
        .await;
    assert_eq!(reason(&installed.unwrap_err()), "revisionMismatch");
}

#[tokio::test]
async fn the_trial_is_started_once_and_never_over_a_licence() {
    let running = running(sealed(row())).await;
    let context = at(START);
    let start =
        async || running.identity.start_trial(&kind::<LicenceInstall>(&context), &context, &nothing).await;
    let report = start().await.unwrap();
    assert_eq!(report.licence.state, LicenceState::Trial { expires_at: START.plus_seconds(30 * DAY) });
    assert!(!report.trial_available);
    assert_eq!(reason(&start().await.unwrap_err()), "trialUsed");
    running.clock.advance_millis(30 * DAY * 1000);
    assert_eq!(running.identity.licence_state().restriction(), Some("expired"));
    let licensed = self::running(sealed(row())).await;
    licensed.install(&testing::claims(START), START, false).await.unwrap();
    let refused = licensed.identity.start_trial(&kind::<LicenceInstall>(&context), &context, &nothing).await;
    assert_eq!(reason(&refused.unwrap_err()), "licensed");
}

#[tokio::test]
async fn a_row_changed_from_outside_counts_for_nothing_until_a_licence_seals_it_anew() {
    let mut claims = testing::claims(START);
    let trial = sealed(crate::licensing::with_trial(row(), &key(), START).unwrap());
    for changed in [
        InstallationState { trial_started_at: None, ..trial.clone() },
        InstallationState { trial_started_at: Some(START.plus_seconds(DAY)), ..trial.clone() },
        InstallationState { high_water_mark: START.plus_seconds(-DAY), ..trial.clone() },
        InstallationState { licence: Some(testing::issue(&claims)), ..trial.clone() },
        InstallationState { revoked: vec!["x".to_owned()], ..trial },
    ] {
        let running = running(changed).await;
        assert_eq!(running.identity.licence_state().restriction(), Some("invalid_signature"));
        claims.jti.push('x');
        running.identity.tick().await.unwrap();
        assert_eq!(running.identity.licence_state().restriction(), Some("invalid_signature"));
        running.install(&claims, START, false).await.unwrap();
        assert_eq!(running.identity.licence_state().restriction(), None);
    }
}

#[tokio::test]
async fn the_time_seen_is_written_down_and_a_clock_turned_back_is_noticed() {
    let running = running(sealed(row())).await;
    running.install(&testing::claims(START), START, false).await.unwrap();
    running.clock.advance_millis(599_000);
    running.identity.tick().await.unwrap();
    assert_eq!(running.row.lock().unwrap().high_water_mark, START);
    running.clock.advance_millis(3 * DAY * 1000);
    running.identity.tick().await.unwrap();
    let seen = START.plus_seconds(3 * DAY + 599);
    assert_eq!(running.row.lock().unwrap().high_water_mark, seen);
    running.clock.advance_millis(-DAY * 1000);
    assert_eq!(running.identity.licence_state().restriction(), None, "a day is tolerated");
    running.clock.advance_millis(-1);
    assert_eq!(running.identity.licence_state().restriction(), Some("clock_rollback"));
    running.identity.tick().await.unwrap();
    assert_eq!(running.row.lock().unwrap().high_water_mark, seen, "it never goes back by itself");
}

#[tokio::test]
async fn a_mark_poisoned_by_a_wrong_clock_is_cured_by_a_newer_licence() {
    let poisoned = InstallationState { high_water_mark: START.plus_seconds(3650 * DAY), ..row() };
    let before = testing::claims(START.plus_seconds(-10 * DAY));
    let poisoned = sealed(InstallationState { licence: Some(testing::issue(&before)), ..poisoned });
    let running = running(poisoned).await;
    assert_eq!(running.identity.licence_state().restriction(), Some("clock_rollback"));
    let same = Claims { jti: "again".to_owned(), ..before };
    running.install(&same, START, false).await.unwrap();
    assert_eq!(running.identity.licence_state().restriction(), Some("clock_rollback"), "not newer");
    let newer = testing::claims(START.plus_seconds(-3600));
    running.install(&newer, START, false).await.unwrap();
    assert_eq!(running.identity.licence_state().restriction(), None);
    assert_eq!(running.row.lock().unwrap().high_water_mark, START);
}

#[tokio::test]
async fn a_cure_on_another_server_holds_for_one_whose_clock_was_ahead() {
    let running = running(sealed(row())).await;
    running.install(&testing::claims(START.plus_seconds(-DAY)), START, false).await.unwrap();
    running.clock.advance_millis(30 * DAY * 1000);
    running.identity.tick().await.unwrap();
    running.clock.advance_millis(-30 * DAY * 1000);
    assert_eq!(running.identity.licence_state().restriction(), Some("clock_rollback"));
    let ahead = running.row.lock().unwrap().clone();
    let put_back = |revision| {
        let licence = Some(testing::issue(&testing::claims(START)));
        sealed(InstallationState { licence, high_water_mark: START, revision, ..ahead.clone() })
    };
    *running.row.lock().unwrap() =
        InstallationState { seal: String::new(), ..put_back(ahead.revision.next()) };
    running.identity.tick().await.unwrap();
    assert!(running.identity.licence_state().restriction().is_some(), "a row without a seal cures nothing");
    *running.row.lock().unwrap() = ahead.clone();
    running.identity.tick().await.unwrap();
    *running.row.lock().unwrap() = put_back(ahead.revision.next());
    running.identity.tick().await.unwrap();
    assert_eq!(running.identity.licence_state().restriction(), None);
}

#[tokio::test]
async fn a_change_of_state_is_audited_once() {
    let running = running(sealed(row())).await;
    let short = Claims { kind: Kind::Developer, exp: START.plus_seconds(40 * DAY), ..testing::claims(START) };
    running.install(&short, START, false).await.unwrap();
    running.identity.tick().await.unwrap();
    assert!(running.audited.lock().unwrap().is_empty());
    for _ in 0..3 {
        running.clock.advance_millis(11 * DAY * 1000);
        running.identity.tick().await.unwrap();
        running.identity.tick().await.unwrap();
    }
    let audited = running.audited.lock().unwrap().join("\n");
    assert_eq!(audited, r#"licence.state_changed {"from":"active","reason":null,"to":"expiring"}"#);
}
