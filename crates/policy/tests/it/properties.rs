//! What holds in every world.

use heddle_kernel::{RequestId, SessionId, Timestamp, UserId};
use heddle_policy::capability::{RunList, RunRead, SessionOnly, WorkflowRead};
use heddle_policy::permission::{ACTIONS, RESOURCE_TYPES, parent_of};
use heddle_policy::{
    DeterminingRule, Effect, Facts, GrantFacts, PermissionSet, Principal, Question, Reason, RequestFacts,
    RoleRules, SessionKind, Snapshot, Source, Target, system_roles,
};
use proptest::prelude::*;
use uuid::Uuid;

use crate::spec::{NOW, answer, facts, grant};

const TYPES: [&str; 5] = ["run", "workflow", "document", "vector-database", "member"];
const DONE: [&str; 4] = ["read", "list", "cancel", "query"];
const IDS: [&str; 4] = ["1", "2", "3", "4"];

fn any_source() -> impl Strategy<Value = Source> {
    prop_oneof![
        Just(Source::User),
        Just(Source::Everyone),
        Just(Source::Role("r".to_owned())),
        Just(Source::Group("g".to_owned())),
    ]
}

fn any_effect() -> impl Strategy<Value = Effect> {
    prop_oneof![3 => Just(Effect::Allow), 1 => Just(Effect::Deny)]
}

fn any_grant(effect: impl Strategy<Value = Effect>) -> impl Strategy<Value = GrantFacts> {
    let resource = prop_oneof![4 => prop::sample::select(&TYPES[..]), 1 => Just("*")];
    let action = prop_oneof![4 => prop::sample::select(&DONE[..]), 1 => Just("*")];
    let selector = prop_oneof![3 => prop::sample::select(&IDS[..]), 1 => Just("*")];
    let end = prop_oneof![6 => Just(None), 1 => Just(Some(Timestamp::from_micros(5)))];
    (any_source(), resource, action, selector, effect, end).prop_map(
        |(source, resource, action, selector, effect, end)| GrantFacts {
            expires_at: end,
            ..grant(source, (resource, action, selector), effect)
        },
    )
}

fn any_world() -> impl Strategy<Value = Facts> {
    let grants = prop::collection::vec(any_grant(any_effect()), 0..10);
    let narrow = prop::option::of(Just(vec!["runs.view".to_owned()]));
    let roles = prop::sample::subsequence(vec!["operator", "viewer", "librarian", "worker"], 0..3);
    let taken = prop::sample::subsequence(vec!["runs.view".to_owned(), "workflows.run".to_owned()], 0..2);
    (grants, narrow, roles, taken).prop_map(|(grants, narrow_to, roles, taken)| {
        let world = roles.into_iter().fold(facts(), Facts::with_system_role);
        let rules = RoleRules {
            permissions: PermissionSet::of(&["workflows.view"]),
            denied_permissions: taken,
            resources: Vec::new(),
        };
        Facts { grants, narrow_to, ..world.with_role("r", "role", rules) }
    })
}

fn each_question(mut ask: impl FnMut(&Question<'_>)) {
    let permissions: [&[&str]; 2] = [&[], &["runs.view", "workflows.run"]];
    for resource in TYPES {
        let mut targets = vec![Target::all()];
        targets.extend(IDS.map(Target::one));
        if let Some(parent) = parent_of(resource) {
            targets.extend(IDS.map(|id| Target::one("1").within(parent, id)));
        }
        for (action, target, permissions) in DONE
            .iter()
            .flat_map(|action| targets.iter().map(move |target| (action, target)))
            .flat_map(|(action, target)| permissions.map(|names| (action, target, names)))
        {
            ask(&Question { permissions, resource, action, lists: *action == "list", target });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn decisions_are_the_specification_s(world in any_world()) {
        let snapshot = Snapshot::new(&world, NOW);
        each_question(|question| {
            assert_eq!(snapshot.decide(question).reason, answer(&world, question), "{question:?}");
        });
    }

    #[test]
    fn one_more_deny_allows_nothing(world in any_world(), deny in any_grant(Just(Effect::Deny))) {
        let before = Snapshot::new(&world, NOW);
        let after = Snapshot::new(&world.with_grant(deny), NOW);
        each_question(|question| {
            assert!(before.decide(question).allowed() || !after.decide(question).allowed(), "{question:?}");
        });
    }

    #[test]
    fn one_more_allow_takes_nothing(world in any_world(), allow in any_grant(Just(Effect::Allow))) {
        let before = Snapshot::new(&world, NOW);
        let after = Snapshot::new(&world.with_grant(allow), NOW);
        each_question(|question| {
            assert!(!before.decide(question).allowed() || after.decide(question).allowed(), "{question:?}");
        });
    }

    #[test]
    fn a_list_holds_what_the_decisions_say_of_each(world in any_world()) {
        let snapshot = Snapshot::new(&world, NOW);
        for resource in TYPES {
            for action in DONE {
                let reach = snapshot.reach(resource, action);
                for id in IDS {
                    let parents: Vec<Option<&str>> = match parent_of(resource) {
                        Some(_) => IDS.map(Some).into_iter().chain([None]).collect(),
                        None => vec![None],
                    };
                    for parent in parents {
                        let mut target = Target::one(id);
                        if let (Some(kind), Some(parent)) = (parent_of(resource), parent) {
                            target = target.within(kind, parent);
                        }
                        let lists = action == "list";
                        let question = Question { permissions: &[], resource, action, lists, target: &target };
                        let decision = snapshot.decide(&question);
                        prop_assert_eq!(reach.permits(id, parent), decision.allowed(), "{:?} {:?}", question, reach);
                    }
                }
            }
        }
    }

    #[test]
    fn all_rights_are_those_of_the_decisions(world in any_world()) {
        let snapshot = Snapshot::new(&world, NOW);
        let effective = snapshot.effective();
        for resource in RESOURCE_TYPES {
            for action in ACTIONS {
                let listed = effective.resources.iter().find(|one| one.resource == *resource && one.action == *action);
                for id in IDS.iter().chain(&["an id that no rule names"]) {
                    let target = Target::one(id);
                    let question = Question {
                        permissions: &[], resource, action, lists: *action == "list", target: &target,
                    };
                    let says = listed.is_some_and(|one| one.reach.permits(id, None));
                    prop_assert_eq!(says, snapshot.decide(&question).allowed(), "{:?}", question);
                }
            }
        }
        for (permission, roles) in &effective.permissions {
            prop_assert!(snapshot.holds(permission) && !roles.is_empty());
        }
    }

    #[test]
    fn who_covers_a_role_has_all_of_it(world in any_world(), name in prop::sample::select(vec!["viewer", "worker"])) {
        let snapshot = Snapshot::new(&world, NOW);
        let rules = system_roles::find(name).unwrap().rules();
        if snapshot.covers(&rules).is_ok() {
            let theirs = Snapshot::new(&facts().with_system_role(name), NOW);
            each_question(|question| {
                assert!(!theirs.decide(question).allowed() || snapshot.decide(question).allowed(), "{question:?}");
            });
        }
    }
}

fn principal(user_id: UserId) -> Principal {
    Principal {
        user_id,
        session: SessionKind::Session(SessionId(Uuid::from_u128(9))),
        email: "ada@example.com".to_owned(),
        display: "Ada".to_owned(),
        groups: Vec::new(),
    }
}

#[test]
fn a_scope_is_of_the_snapshot_s_caller_and_organisation() {
    let snapshot = Snapshot::new(&facts().with_system_role("viewer"), NOW);
    let request = RequestFacts {
        request_id: RequestId::made(Uuid::nil()),
        now: NOW,
        client_ip: Some("192.0.2.1".to_owned()),
    };
    let context = snapshot.context(principal(UserId(Uuid::from_u128(77))), request);
    assert_eq!((context.user_id(), context.tenant()), (facts().user_id, facts().tenant));
    assert!(context.holds("runs.view") && !context.holds("runs.operate"));
    assert_eq!(context.client_ip(), Some("192.0.2.1"));
}

#[test]
fn denials_and_grants_say_why() {
    let rule = grant(Source::Everyone, ("workflow", "read", "w1"), Effect::Deny);
    let snapshot = Snapshot::new(&facts().with_system_role("viewer").with_grant(rule.clone()), NOW);
    let denial = snapshot.authorize::<WorkflowRead>(&Target::one("w1")).unwrap_err();
    let via = DeterminingRule { grant_id: Some(rule.id), effect: Effect::Deny, source: Source::Everyone };
    assert_eq!((denial.reason, denial.via), (Reason::ExplicitDeny, vec![via]));
    let denial = snapshot.authorize::<RunRead>(&Target::one("r1").within("workflow", "w1")).unwrap_err();
    assert_eq!(denial.reason.code(), "EXPLICIT_DENY");
    let runs = snapshot.authorize::<RunList>(&Target::all()).unwrap();
    assert_eq!(runs.reach().denied_parents, ["w1"]);
    assert!(runs.reach().permits("r1", Some("w2")) && !runs.reach().permits("r1", Some("w1")));
    let granted = snapshot.authorize::<WorkflowRead>(&Target::one("w2")).unwrap();
    assert_eq!(granted.reach().listed, ["w2"]);
    assert_eq!(granted.via()[0].source, Source::Role("viewer".to_owned()));
}

#[test]
fn a_session_is_enough_for_what_needs_no_right() {
    for (active, member, fine) in [(true, true, true), (true, false, true), (false, true, false)] {
        let snapshot = Snapshot::new(&Facts { active, member, ..facts() }, NOW);
        assert_eq!(snapshot.authorize::<SessionOnly>(&Target::all()).is_ok(), fine);
    }
}

#[test]
fn what_has_ended_does_not_count_and_what_will_end_is_told() {
    let ends = |at: i64| GrantFacts {
        expires_at: Some(Timestamp::from_micros(at)),
        ..grant(Source::User, ("workflow", "read", "*"), Effect::Allow)
    };
    let world = facts().with_grant(ends(10)).with_grant(ends(20)).with_grant(ends(30));
    let at = |micros| Snapshot::new(&world, Timestamp::from_micros(micros));
    assert_eq!(at(0).valid_until(), Some(Timestamp::from_micros(10)));
    assert_eq!(at(10).valid_until(), Some(Timestamp::from_micros(20)));
    assert!(at(29).reach("workflow", "read").all && !at(30).reach("workflow", "read").all);
    let member = Facts { member_until: Some(Timestamp::from_micros(10)), ..facts() };
    assert!(Snapshot::new(&member, Timestamp::from_micros(9)).is_member());
    assert!(!Snapshot::new(&member, Timestamp::from_micros(10)).is_member());
}

#[test]
fn unknown_types_and_actions_are_named() {
    let snapshot = Snapshot::new(&facts().with_system_role("owner"), NOW);
    let ask = |resource, action| {
        snapshot
            .decide(&Question { permissions: &[], resource, action, lists: false, target: &Target::all() })
            .reason
    };
    assert_eq!(ask("spaceship", "read"), Reason::UnknownResourceType);
    assert_eq!(ask("run", "fly"), Reason::UnknownAction);
    assert_eq!(ask("run", "cancel"), Reason::Granted);
}

#[test]
fn nobody_covers_more_than_he_has() {
    let rules = |name: &str| system_roles::find(name).unwrap().rules();
    let of = |name: &str| Snapshot::new(&facts().with_system_role(name), NOW);
    assert!(of("owner").covers(&rules("owner")).is_ok());
    for role in system_roles::SYSTEM_ROLES.iter().filter(|role| role.name != "owner") {
        assert!(of("administrator").covers(&role.rules()).is_ok(), "{}", role.name);
        assert!(of(role.name).covers(&rules("owner")).is_err(), "{}", role.name);
        assert!(of(role.name).covers(&role.rules()).is_ok(), "{}", role.name);
    }
    let held_back = facts().with_system_role("owner").with_grant(grant(
        Source::User,
        ("workflow", "delete", "w1"),
        Effect::Deny,
    ));
    let held_back = Snapshot::new(&held_back, NOW);
    assert!(held_back.covers(&rules("owner")).is_err());
    assert!(held_back.covers(&rules("worker")).is_ok());
    let deny = RoleRules {
        resources: vec![heddle_policy::ResourceRule {
            resource: "workflow".to_owned(),
            actions: vec!["delete".to_owned()],
            selector: "w1".to_owned(),
            effect: Effect::Deny,
        }],
        ..RoleRules::default()
    };
    assert!(held_back.covers_denies(&deny).is_err());
    assert!(of("owner").covers_denies(&deny).is_ok());
}
