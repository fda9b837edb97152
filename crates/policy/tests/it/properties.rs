//! What holds in every world.

use heddle_kernel::{RequestId, RunId, SessionId, TenantId, Timestamp, UserId, WorkflowId};
use heddle_policy::capability::{RunList, RunRead, WorkflowRead};
use heddle_policy::{
    Action, DeterminingRule, Effect, Facts, GrantFacts, Key, OWN, OwnReason, Ownership, Permission,
    PermissionSet, Principal, Question, Reason, RequestContext, RequestFacts, ResourceType, RoleRules,
    SessionKind, Snapshot, Source, Target, Within, system_roles,
};
use proptest::prelude::*;
use uuid::Uuid;

use crate::spec::{MISSPELT, NOBODY, NOW, R1, W1, W2, answer, facts, grant, rule_id};

fn kind(word: &str) -> ResourceType {
    ResourceType::parse(word).unwrap()
}

fn run(text: &str) -> RunId {
    text.parse().unwrap()
}

fn workflow(text: &str) -> WorkflowId {
    text.parse().unwrap()
}

pub(crate) const TYPES: [&str; 7] =
    ["run", "workflow", "document", "vector-database", "member", "dead-letter", "case-type"];
pub(crate) const DONE: [&str; 4] = ["read", "list", "cancel", "query"];
pub(crate) const IDS: [&str; 4] = [
    "00000000-0000-7000-8000-000000000001",
    "00000000-0000-7000-8000-000000000002",
    "00000000-0000-7000-8000-000000000003",
    "00000000-0000-7000-8000-000000000004",
];

fn any_source() -> impl Strategy<Value = Source> {
    prop_oneof![
        Just(Source::User),
        Just(Source::Everyone),
        Just(Source::Role("r".to_owned())),
        Just(Source::Group("g".to_owned())),
    ]
}

pub(crate) fn any_effect() -> impl Strategy<Value = Effect> {
    prop_oneof![3 => Just(Effect::Allow), 1 => Just(Effect::Deny)]
}

pub(crate) fn any_grant(effect: impl Strategy<Value = Effect>) -> impl Strategy<Value = GrantFacts> {
    let resource = prop_oneof![4 => prop::sample::select(&TYPES[..]), 1 => Just("*")];
    let action = prop_oneof![4 => prop::sample::select(&DONE[..]), 1 => Just("*")];
    let selector = prop_oneof![
        6 => prop::sample::select(&IDS[..]),
        2 => Just("*"),
        2 => Just(OWN),
        1 => Just(MISSPELT),
    ];
    let end = prop_oneof![6 => Just(None), 1 => Just(Some(Timestamp::from_micros(5)))];
    (any_source(), resource, action, selector, effect, end).prop_map(
        |(source, resource, action, selector, effect, end)| GrantFacts {
            expires_at: end,
            ..grant(source, (resource, action, selector), effect)
        },
    )
}

pub(crate) fn any_world() -> impl Strategy<Value = Facts> {
    let grants = prop::collection::vec(any_grant(any_effect()), 0..10);
    let narrow = prop::option::of(Just(vec!["runs.view".to_owned()]));
    let roles = prop::sample::subsequence(vec!["operator", "viewer", "librarian", "requester"], 0..3);
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

pub(crate) fn each_question(mut ask: impl FnMut(&Question<'_>)) {
    let permissions: [&[Permission]; 2] = [&[], &[Permission::RunsView, Permission::WorkflowsRun]];
    for resource in TYPES {
        let mut targets = vec![Target::all()];
        targets.extend(IDS.map(|id| Target::one(rule_id(id))));
        for whose in [Ownership::Own, Ownership::Other] {
            targets.extend(IDS.map(|id| Target::one(rule_id(id)).owned(whose)));
        }
        for parent in kind(resource).places() {
            targets.extend(IDS.map(|id| Target::one(rule_id(IDS[0])).within(parent, rule_id(id))));
            targets.push(Target::all().within(parent, rule_id(IDS[0])));
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
            let decision = snapshot.decide(question);
            assert_eq!(decision.reason, answer(&world, question), "{question:?}");
            assert_eq!(snapshot.verdict(question), decision.reason, "{question:?}");
            let rests = matches!(decision.reason, Reason::Granted | Reason::ExplicitDeny);
            assert_eq!(rests, !decision.via.is_empty(), "{question:?}: {decision:?}");
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
                let extent = snapshot.extent(kind(resource), Action::parse(action).unwrap());
                for id in IDS {
                    let parents: Vec<Option<&str>> = match kind(resource).parent() {
                        Some(_) => IDS.map(Some).into_iter().chain([None]).collect(),
                        None => vec![None],
                    };
                    let whose = [Ownership::Unknown, Ownership::Own, Ownership::Other];
                    let places = parents.into_iter().flat_map(|parent| whose.map(|whose| (parent, whose)));
                    for (parent, whose) in places {
                        let mut target = Target::one(rule_id(id)).owned(whose);
                        if let (Some(above), Some(parent)) = (kind(resource).parent(), parent) {
                            target = target.within(above, rule_id(parent));
                        }
                        let lists = action == "list";
                        let question = Question { permissions: &[], resource, action, lists, target: &target };
                        let decision = snapshot.decide(&question);
                        let permitted = extent.permits(&rule_id(id), &target.parents, whose);
                        prop_assert_eq!(permitted, decision.allowed(), "{:?} {:?}", question, extent);
                    }
                }
            }
        }
    }

    #[test]
    fn all_rights_are_those_of_the_decisions(world in any_world()) {
        let snapshot = Snapshot::new(&world, NOW);
        let effective = snapshot.effective();
        for resource in ResourceType::ALL {
            for action in Action::ALL {
                let listed = effective.resources.iter().find(|one| one.resource == *resource && one.action == *action);
                let whose = [Ownership::Unknown, Ownership::Own, Ownership::Other];
                for (id, whose) in IDS.iter().chain(&[NOBODY]).flat_map(|id| whose.map(|whose| (id, whose))) {
                    let target = Target::one(rule_id(id)).owned(whose);
                    let question = Question {
                        permissions: &[],
                        resource: resource.as_str(),
                        action: action.as_str(),
                        lists: *action == Action::List,
                        target: &target,
                    };
                    let says = listed.is_some_and(|one| one.reach.permits(&rule_id(id), &target.parents, whose));
                    prop_assert_eq!(says, snapshot.decide(&question).allowed(), "{:?}", question);
                }
            }
        }
        for (permission, roles) in &effective.permissions {
            prop_assert!(snapshot.holds(*permission) && !roles.is_empty());
        }
    }

    #[test]
    fn who_covers_a_role_has_all_of_it(world in any_world(), name in prop::sample::select(vec!["viewer", "worker"])) {
        let snapshot = Snapshot::new(&world, NOW);
        let rules = system_roles::find(name).unwrap().rules();
        let holds = |theirs: Facts| {
            let theirs = Snapshot::new(&theirs, NOW);
            each_question(|question| {
                assert!(!theirs.decide(question).allowed() || snapshot.decide(question).allowed(), "{question:?}");
            });
        };
        if snapshot.has(&rules).is_ok() {
            assert!(snapshot.covers(&rules).is_ok());
            holds(facts().with_system_role(name));
        }
        // Whoever gets the role is in the same organisation, and what is denied to everyone is denied to them. What everyone
        // is allowed they have without the role, also where it is denied to whoever gives it.
        if snapshot.covers(&rules).is_ok() {
            let is_everyone_s = |grant: &&GrantFacts| grant.source == Source::Everyone && grant.effect == Effect::Deny;
            let everyone = world.grants.iter().filter(is_everyone_s).cloned();
            holds(everyone.fold(facts().with_system_role(name), Facts::with_grant));
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
    let context = RequestContext::of_caller(&snapshot, principal(UserId(Uuid::from_u128(77))), request);
    assert_eq!((context.user_id(), context.tenant()), (facts().user_id, facts().tenant));
    assert!(context.holds(Permission::RunsView) && !context.holds(Permission::RunsOperate));
    assert_eq!(context.client_ip(), Some("192.0.2.1"));
}

#[test]
fn denials_and_grants_say_why() {
    let rule = grant(Source::Everyone, ("workflow", "read", W1), Effect::Deny);
    let snapshot = Snapshot::new(&facts().with_system_role("viewer").with_grant(rule.clone()), NOW);
    let (r1, w1, w2) = (run(R1), workflow(W1), workflow(W2));
    let denial = snapshot.authorize_one::<WorkflowRead>(w1, ()).unwrap_err();
    let via = DeterminingRule { grant_id: Some(rule.id), effect: Effect::Deny, source: Source::Everyone };
    assert_eq!((denial.reason, denial.via), (Reason::ExplicitDeny, vec![via]));
    let denial = snapshot.authorize_one::<RunRead>(r1, Within::of(w1)).unwrap_err();
    assert_eq!(denial.reason.code(), "EXPLICIT_DENY");
    assert!(snapshot.authorize_list_within::<RunList>(Within::of(w1)).is_err());
    let runs = snapshot.authorize_list_within::<RunList>(Within::of(w2)).unwrap();
    assert_eq!(runs.filter().denied_within::<heddle_policy::resource::Workflow>(), [w1]);
    assert_eq!(runs.place().id(), w2);
    let key = |workflow| Key::of_stored(facts().tenant, r1, Within::of(workflow));
    assert!(runs.filter().permits(&key(w2)) && !runs.filter().permits(&key(w1)));
    let granted = snapshot.authorize_one::<WorkflowRead>(w2, ()).unwrap();
    assert_eq!((granted.id(), granted.tenant()), (w2, facts().tenant));
    let target = Target::one(rule_id(W2));
    let question =
        Question { permissions: &[], resource: "workflow", action: "read", lists: false, target: &target };
    assert_eq!(snapshot.decide(&question).via[0].source, Source::Role("viewer".to_owned()));
}

#[test]
fn a_found_thing_is_authorized_with_its_place_and_never_in_another_organisation() {
    let rule = grant(Source::User, ("workflow", "read", W1), Effect::Deny);
    let snapshot = Snapshot::new(&facts().with_system_role("viewer").with_grant(rule), NOW);
    let stored = |tenant, within: &str| Key::of_stored(tenant, run(R1), Within::of(workflow(within)));
    let own = facts().tenant;
    let found = snapshot.authorize_key::<RunRead>(stored(own, W2)).unwrap();
    assert_eq!((found.id(), found.key().within()), (run(R1), workflow(W2)));
    assert_eq!(snapshot.authorize_key::<RunRead>(stored(own, W1)).unwrap_err().reason, Reason::ExplicitDeny);
    let foreign = stored(TenantId(Uuid::from_u128(9)), W2);
    assert_eq!(snapshot.authorize_key::<RunRead>(foreign).unwrap_err().reason, Reason::NotAMember);
}

#[test]
fn what_is_found_later_asks_first_whether_anything_is_left() {
    let allow = |id: &str| grant(Source::User, ("run", "read", id), Effect::Allow);
    let deny = |id: &str| grant(Source::User, ("run", "read", id), Effect::Deny);
    let with = |grants: Vec<GrantFacts>| {
        let rules = RoleRules { permissions: PermissionSet::of(&["runs.view"]), ..RoleRules::default() };
        let world = Facts { grants, ..facts().with_role("r", "role", rules) };
        Snapshot::new(&world, NOW).authorize_some::<RunRead>()
    };
    assert!(with(vec![]).is_err() && with(vec![allow(R1), deny(R1)]).is_err());
    assert!(with(vec![allow("*"), deny("*")]).is_err());
    assert!(!with(vec![allow(R1)]).unwrap().is_everything());
    assert!(!with(vec![allow("*"), deny(R1)]).unwrap().is_everything());
    assert!(with(vec![allow("*")]).unwrap().is_everything());
}

#[test]
fn a_live_account_is_enough_for_what_needs_no_right() {
    for (active, member, fine) in [(true, true, true), (true, false, true), (false, true, false)] {
        let snapshot = Snapshot::new(&Facts { active, member, ..facts() }, NOW);
        assert_eq!(snapshot.authorize_own().is_ok(), fine);
    }
}

#[test]
fn the_installation_acts_with_a_reason_and_all_rights() {
    let request = RequestFacts { request_id: RequestId::made(Uuid::nil()), now: NOW, client_ip: None };
    let (user, tenant) = (facts().user_id, facts().tenant);
    let session = SessionId(Uuid::from_u128(9));
    let reason = OwnReason("a test");
    let context = RequestContext::of_the_installation(reason, tenant, user, session, request);
    assert_eq!((context.own_reason(), context.tenant(), context.user_id()), (Some(reason), tenant, user));
    assert!(Permission::ALL.iter().all(|permission| context.holds(*permission)));
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
    let all = |micros| at(micros).extent(ResourceType::Workflow, Action::Read).all;
    assert!(all(29) && !all(30));
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
        // What is somebody else's own is not theirs to give.
        let own = role.rules().resources.iter().any(|rule| rule.selector == OWN);
        assert_eq!(of(role.name).covers(&role.rules()).is_ok(), !own, "{}", role.name);
    }
    let held_back = facts().with_system_role("owner").with_grant(grant(
        Source::User,
        ("workflow", "delete", W1),
        Effect::Deny,
    ));
    let held_back = Snapshot::new(&held_back, NOW);
    assert!(held_back.covers(&rules("owner")).is_err());
    assert!(held_back.covers(&rules("worker")).is_ok());
    let deny = RoleRules {
        resources: vec![heddle_policy::ResourceRule {
            resource: "workflow".to_owned(),
            actions: vec!["delete".to_owned()],
            selector: W1.to_owned(),
            effect: Effect::Deny,
        }],
        ..RoleRules::default()
    };
    assert!(held_back.covers_denies(&deny).is_err());
    assert!(of("owner").covers_denies(&deny).is_ok());
    // Of which workflow the run is nobody said: it may be the one that is denied.
    let of_run = |action: &str| RoleRules {
        resources: vec![heddle_policy::ResourceRule {
            resource: "run".to_owned(),
            actions: vec![action.to_owned()],
            selector: R1.to_owned(),
            effect: Effect::Allow,
        }],
        ..RoleRules::default()
    };
    assert!(held_back.covers(&of_run("delete")).is_err());
    assert!(held_back.covers(&of_run("cancel")).is_ok());
}

#[test]
fn a_proof_that_rests_on_whose_the_thing_is_says_so() {
    let key = || Key::of_stored(facts().tenant, run(R1), Within::of(workflow(W1)));
    let of = |world: Facts| Snapshot::new(&Facts { email: "Ada@Example.com".to_owned(), ..world }, NOW);
    let requester = of(facts().with_system_role("requester"));
    assert!(requester.asks_ownership::<RunRead>() && !requester.asks_ownership::<WorkflowRead>());
    for unknown in [Ownership::Unknown, Ownership::Other] {
        let denial = requester.authorize_owned::<RunRead>(key(), unknown).unwrap_err();
        assert_eq!(denial.reason, Reason::ResourceActionNotGranted);
    }
    let proof = requester.authorize_owned::<RunRead>(key(), Ownership::Own).unwrap();
    let owner = proof.key().owner().unwrap();
    assert_eq!((owner.id, &owner.names[1]), (facts().user_id, &"ada@example.com".to_owned()));
    let list = requester.authorize_list::<RunList>().unwrap();
    assert!(list.filter().own().is_some() && list.filter().denied_own().is_none());

    // Who reaches it anyway is let in without a look.
    let both = of(facts().with_system_role("requester").with_system_role("viewer"));
    assert!(requester.depends_on_ownership::<RunRead>(&key()) && both.asks_ownership::<RunRead>());
    assert!(!both.depends_on_ownership::<RunRead>(&key()));

    let viewer = of(facts().with_system_role("viewer"));
    assert!(!viewer.asks_ownership::<RunRead>());
    let proof = viewer.authorize_owned::<RunRead>(key(), Ownership::Own).unwrap();
    assert_eq!(proof.key().owner(), None);

    // A deny of one's own is passed by nothing else that gives, nor by nobody having looked.
    let deny = grant(Source::Everyone, ("run", "*", OWN), Effect::Deny);
    for world in [facts().with_system_role("owner"), facts().with_system_role("requester")] {
        let held = of(world.with_grant(deny.clone()));
        for whose in [Ownership::Own, Ownership::Unknown] {
            assert!(held.authorize_owned::<RunRead>(key(), whose).is_err());
            assert!(held.authorize_named::<RunRead>(key(), whose).is_err());
        }
    }
    let held = of(facts().with_system_role("owner").with_grant(deny));
    assert!(held.authorize_owned::<RunRead>(key(), Ownership::Other).is_ok());
    assert!(held.authorize_list::<RunList>().unwrap().filter().denied_own().is_some());
    // Nobody knows whose run a job is of: none of a run is given, and those of cases are.
    let jobs = held.extent(ResourceType::Job, Action::Activate);
    let reached = |near: ResourceType, far: ResourceType| {
        let job = Target::one(rule_id("pay")).within(near, rule_id(R1)).within(far, rule_id(W1));
        jobs.permits(&rule_id("pay"), &job.parents, Ownership::Unknown)
    };
    assert!(!reached(ResourceType::Run, ResourceType::Workflow));
    assert!(reached(ResourceType::Case, ResourceType::CaseType));
    // What everyone is denied holds whoever gets the role as well; what is denied to some does not.
    let requester = system_roles::find("requester").unwrap().rules();
    assert!(held.covers(&requester).is_ok() && held.has(&requester).is_err());
    let deny = grant(Source::User, ("run", "*", OWN), Effect::Deny);
    assert!(of(facts().with_system_role("owner").with_grant(deny)).covers(&requester).is_err());
}
