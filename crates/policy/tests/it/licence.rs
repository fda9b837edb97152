//! The states of a licence.

use std::collections::BTreeMap;
use std::sync::Arc;

use heddle_kernel::Timestamp;
use heddle_policy::licence::{
    Claims, ClockFacts, Installation, Kind, Licence, LicenceState, PresentedLicence, Restriction, Signer,
    evaluate,
};
use proptest::prelude::*;

const DAY: i64 = 24 * 3600;
const INSTALLATION: Installation<'static> = Installation { id: "here", revoked: &[] };

fn day(number: i64) -> Timestamp {
    Timestamp::from_micros(0).plus_seconds(number * DAY)
}

fn claims() -> Claims {
    Claims {
        v: 1,
        jti: "lic-1".to_owned(),
        sub: "customer".to_owned(),
        iat: day(100),
        nbf: day(101),
        exp: day(465),
        grace_days: 14,
        installation_id: "*".to_owned(),
        kind: Kind::Production,
        entitlements: BTreeMap::from([
            ("workflow.enabled".to_owned(), true),
            ("vector.enabled".to_owned(), false),
        ]),
        limits: BTreeMap::from([("users".to_owned(), 50)]),
        supersedes: Vec::new(),
        revoked: Vec::new(),
    }
}

fn at(now: Timestamp) -> ClockFacts {
    ClockFacts { now, high_water_mark: now }
}

fn state(claims: &Claims, clock: ClockFacts) -> LicenceState {
    evaluate(PresentedLicence::Signed(claims, Signer::Vendor), clock, INSTALLATION)
}

fn restricted(reason: Restriction) -> LicenceState {
    LicenceState::Restricted { reason }
}

#[test]
fn a_licence_lives_through_its_states() {
    let claims = claims();
    let before = |moment: Timestamp| Timestamp::from_micros(moment.micros() - 1);
    let cases = [
        (before(day(101)), restricted(Restriction::NotYetValid)),
        (day(101), LicenceState::Active { expires_at: claims.exp }),
        (before(day(435)), LicenceState::Active { expires_at: claims.exp }),
        (day(435), LicenceState::Expiring { expires_at: claims.exp }),
        (before(day(465)), LicenceState::Expiring { expires_at: claims.exp }),
        (day(465), LicenceState::Grace { until: day(479) }),
        (before(day(479)), LicenceState::Grace { until: day(479) }),
        (day(479), restricted(Restriction::Expired)),
    ];
    for (now, expected) in cases {
        assert_eq!(state(&claims, at(now)), expected, "{now}");
    }
    let trial = Claims { kind: Kind::Trial, grace_days: 0, ..claims };
    assert_eq!(state(&trial, at(day(464))), LicenceState::Trial { expires_at: trial.exp });
    assert_eq!(state(&trial, at(day(465))), restricted(Restriction::Expired));
}

#[test]
fn an_end_is_warned_of_before_it_comes() {
    let hours = |moment: Timestamp, hours: i64| moment.plus_seconds(hours * 3600);
    let trial = LicenceState::Trial { expires_at: day(130) };
    let expiring = LicenceState::Expiring { expires_at: day(130) };
    let cases = [
        (trial, day(100), false, "not for production; ends 1970"),
        (trial, Timestamp::from_micros(day(116).micros() - 1), false, "not for production; ends 1970"),
        (trial, day(116), true, "ends in 14 days"),
        (trial, hours(day(128), 1), true, "ends in 1 day "),
        (trial, hours(day(129), 1), true, "ends in less than a day"),
        (expiring, day(100), true, "ends in 30 days"),
        (LicenceState::Grace { until: day(144) }, day(130), true, "(in 14 days)"),
        (restricted(Restriction::Expired), day(200), true, "restricted: expired"),
    ];
    for (state, now, presses, expected) in cases {
        let warning = state.warning(now).unwrap();
        assert!(warning.contains(expected), "{warning}");
        assert_eq!(state.is_pressing(now), presses, "{warning}");
        assert!(warning.is_ascii(), "it is a header's value: {warning}");
    }
    let active = LicenceState::Active { expires_at: day(465) };
    assert_eq!((active.warning(day(100)), active.is_pressing(day(100))), (None, false));
}

#[test]
fn what_is_wrong_with_a_licence_is_told() {
    let revoked = ["lic-1".to_owned()];
    let clock = at(day(200));
    let good = claims();
    let signed = |claims, signer, installation| {
        evaluate(PresentedLicence::Signed(claims, signer), clock, installation)
    };
    let foreign = Claims { installation_id: "elsewhere".to_owned(), ..claims() };
    let own = Claims { installation_id: "here".to_owned(), ..claims() };
    assert_eq!(evaluate(PresentedLicence::Missing, clock, INSTALLATION), restricted(Restriction::Missing));
    assert_eq!(
        evaluate(PresentedLicence::Invalid, clock, INSTALLATION),
        restricted(Restriction::InvalidSignature)
    );
    assert_eq!(signed(&foreign, Signer::Vendor, INSTALLATION), restricted(Restriction::WrongInstallation));
    assert!(signed(&own, Signer::Vendor, INSTALLATION).restriction().is_none());
    let listed = Installation { id: "here", revoked: &revoked };
    assert_eq!(signed(&good, Signer::Vendor, listed), restricted(Restriction::Revoked));
    let later_form = Claims { v: 2, ..claims() };
    assert_eq!(signed(&later_form, Signer::Vendor, INSTALLATION), restricted(Restriction::InvalidSignature));
}

#[test]
fn an_installation_signs_a_short_trial_for_itself_and_nothing_else() {
    let trial = Claims {
        kind: Kind::Trial,
        installation_id: "here".to_owned(),
        grace_days: 0,
        iat: day(100),
        nbf: day(100),
        exp: day(130),
        ..claims()
    };
    let own = |claims: &Claims| {
        evaluate(PresentedLicence::Signed(claims, Signer::Installation), at(day(101)), INSTALLATION)
    };
    assert_eq!(own(&trial), LicenceState::Trial { expires_at: day(130) });
    for wrong in [
        Claims { kind: Kind::Production, ..trial.clone() },
        Claims { kind: Kind::Developer, ..trial.clone() },
        Claims { installation_id: "*".to_owned(), ..trial.clone() },
        Claims { exp: day(131), ..trial.clone() },
        Claims { grace_days: 1, ..trial },
    ] {
        assert_eq!(own(&wrong), restricted(Restriction::InvalidSignature), "{wrong:?}");
    }
}

#[test]
fn a_clock_turned_back_is_noticed_beyond_a_day() {
    let claims = claims();
    let clock = |now| ClockFacts { now, high_water_mark: day(200) };
    assert!(state(&claims, clock(day(199))).restriction().is_none());
    let just_too_far = Timestamp::from_micros(day(199).micros() - 1);
    assert_eq!(state(&claims, clock(just_too_far)), restricted(Restriction::ClockRollback));
    // Within the tolerance the later time counts: turning back wins nothing.
    let ended = ClockFacts { now: Timestamp::from_micros(day(479).micros() - 1), high_water_mark: day(479) };
    assert_eq!(state(&claims, ended), restricted(Restriction::Expired));
}

#[test]
fn a_licence_allows_what_it_names_unless_restricted() {
    let licence = |now| Licence { state: state(&claims(), at(now)), claims: Some(Arc::new(claims())) };
    assert!(licence(day(200)).allows("workflow.enabled"));
    assert!(licence(day(470)).allows("workflow.enabled"), "in the grace");
    assert!(!licence(day(200)).allows("vector.enabled"));
    assert!(!licence(day(200)).allows("unknown.enabled"));
    assert!(!licence(day(500)).allows("workflow.enabled"));
    assert_eq!(licence(day(500)).restriction(), Some("expired"));
    assert_eq!((licence(day(200)).limit("users"), licence(day(200)).limit("nodes")), (Some(50), None));
}

#[test]
fn claims_are_read_by_name_and_unknown_ones_are_ignored() {
    let mut json = serde_json::to_value(claims()).unwrap();
    json["colour"] = "red".into();
    json.as_object_mut().unwrap().remove("graceDays");
    assert_eq!(serde_json::from_value::<Claims>(json).unwrap(), claims());
}

proptest! {
    #[test]
    fn time_only_ages_a_licence(days in prop::collection::vec(90_i64..520, 2..12)) {
        let rank = |state: LicenceState| match state {
            LicenceState::Restricted { reason: Restriction::NotYetValid } => 0,
            LicenceState::Trial { .. } | LicenceState::Active { .. } => 1,
            LicenceState::Expiring { .. } => 2,
            LicenceState::Grace { .. } => 3,
            LicenceState::Restricted { .. } => 4,
        };
        let mut days = days;
        days.sort_unstable();
        let ranks: Vec<i32> = days.iter().map(|now| rank(state(&claims(), at(day(*now))))).collect();
        prop_assert!(ranks.windows(2).all(|pair| pair[0] <= pair[1]), "{:?}", ranks);
    }

    #[test]
    fn turning_the_clock_back_never_helps(seen in 90_i64..520, back in 0_i64..400) {
        let honest = state(&claims(), at(day(seen)));
        let turned = state(&claims(), ClockFacts { now: day(seen - back), high_water_mark: day(seen) });
        prop_assert!(turned == honest || turned == restricted(Restriction::ClockRollback));
    }
}
