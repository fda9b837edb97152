//! Listings and explanations agree with the decisions, and nothing of one organisation counts in another.

use heddle_kernel::TenantId;
use heddle_policy::capability::RunRead;
use heddle_policy::resource::Run;
use heddle_policy::{
    Action, Effect, Facts, GrantFacts, Key, ListedAction, ListingPlace, OWN, Ownership, Permission, Question,
    Reason, ResourceType, RuleId, Scope, Snapshot, Source, Step, Target, Within,
};
use proptest::prelude::*;
use uuid::Uuid;

use crate::properties::{IDS, TYPES, any_effect, any_grant, any_world, each_question};
use crate::spec::{NOBODY, NOW, R1, W1, facts, grant, rule_id};

/// All pages of a listing, each action put together again; the size of the largest page is told beside it.
fn whole(snapshot: &Snapshot, kinds: &[ResourceType], most: usize) -> (Vec<ListedAction>, usize) {
    let mut actions: Vec<ListedAction> = Vec::new();
    let (mut largest, mut from): (usize, Option<ListingPlace>) = (0, None);
    for _ in 0..2_000 {
        let page = snapshot.listing(kinds, most, from.as_ref()).unwrap();
        let size = |one: &ListedAction| one.ids.len() + one.except.len() + one.except_within.len();
        largest = largest.max(page.actions.iter().map(size).sum());
        let continued = page.actions.iter().filter(|one| one.more).count();
        assert!(continued <= 1 && (continued == 0 || page.next.is_some()), "{page:?}");
        for one in page.actions {
            match actions.last_mut().filter(|last| (last.resource, last.action) == (one.resource, one.action))
            {
                Some(last) => {
                    assert!(last.more, "an action stands twice: {one:?}");
                    let whole = |one: &ListedAction| (one.scope, one.own, one.except_own);
                    assert_eq!(whole(last), whole(&one));
                    last.ids.extend(one.ids);
                    last.except.extend(one.except);
                    last.except_within.extend(one.except_within);
                    last.more = one.more;
                }
                None => actions.push(one),
            }
        }
        from = match page.next {
            // As a cursor carries it.
            Some(next) => Some(serde_json::from_str(&serde_json::to_string(&next).unwrap()).unwrap()),
            None => return (actions, largest),
        };
    }
    panic!("the listing has no end");
}

fn asked<'a>(kind: ResourceType, action: Action, target: &'a Target) -> Question<'a> {
    Question { permissions: &[], resource: kind.as_str(), action: action.as_str(), lists: false, target }
}

fn targets(kind: ResourceType) -> Vec<Target> {
    let ids = || IDS.iter().chain([&NOBODY]);
    let mut all: Vec<Target> = ids().map(|id| Target::one(rule_id(id))).collect();
    for parent in kind.places() {
        let within = |id: &str, above: &str| Target::one(rule_id(id)).within(parent, rule_id(above));
        all.extend(ids().flat_map(|id| IDS.map(|above| within(id, above))));
    }
    let whose = [Ownership::Unknown, Ownership::Own, Ownership::Other];
    all.into_iter().flat_map(|target| whose.map(|whose| target.clone().owned(whose))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    // Each world is asked some hundred thousand questions.
    #[test]
    fn a_listing_says_of_each_thing_what_the_decision_says(world in any_world(), most in 1_usize..5) {
        let snapshot = Snapshot::new(&world, NOW);
        let (listed, largest) = whole(&snapshot, ResourceType::ALL, most);
        prop_assert!(largest <= most, "{} of {}", largest, most);
        for kind in ResourceType::ALL {
            let rows: Vec<&ListedAction> = listed.iter().filter(|one| one.resource == *kind).collect();
            for target in targets(*kind) {
                let id: &RuleId = target.id.as_ref().unwrap();
                let of_one = snapshot.listing_of_one(*kind, &target);
                for action in Action::ALL {
                    let row = rows.iter().find(|one| one.action == *action);
                    let says = row.is_some_and(|row| row.permits(id, &target.parents, target.ownership));
                    let decided = snapshot.verdict(&asked(*kind, *action, &target)) == Reason::Granted;
                    prop_assert_eq!(says, decided, "{} {} {:?} {:?}", kind, action, target, row);
                    let one = of_one.iter().find(|one| one.action == *action);
                    let says = one.is_some_and(|one| one.permits(id, &target.parents, target.ownership));
                    prop_assert_eq!(says, decided, "{} {} {:?} {:?}", kind, action, target, one);
                    // What is told of one's own beforehand is what comes out once somebody looks.
                    if target.ownership == Ownership::Unknown {
                        for whose in [Ownership::Own, Ownership::Other] {
                            let looked = target.clone().owned(whose);
                            let decided = snapshot.verdict(&asked(*kind, *action, &looked)) == Reason::Granted;
                            let says = one.is_some_and(|one| one.permits(id, &target.parents, whose));
                            prop_assert_eq!(says, decided, "{} {} {:?} {:?}", kind, action, looked, one);
                        }
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_first_step_that_refuses_is_the_decision(world in any_world(), (active, member) in any::<(bool, bool)>()) {
        let world = Facts { active, member, ..world };
        let snapshot = Snapshot::new(&world, NOW);
        each_question(|question| {
            let steps = snapshot.explain(question);
            let refused = steps.iter().find_map(|step| step.refused);
            let decision = snapshot.decide(question);
            assert_eq!(refused.unwrap_or(Reason::Granted), decision.reason, "{question:?} {steps:?}");
        });
    }

    #[test]
    fn no_rule_reaches_into_another_organisation(
        world in any_world(),
        more in prop::collection::vec(any_grant(any_effect()), 1..6),
    ) {
        let world = more.into_iter().fold(world.with_system_role("owner"), Facts::with_grant);
        let snapshot = Snapshot::new(&world, NOW);
        for id in IDS {
            for tenant in [TenantId(Uuid::from_u128(77)), TenantId(Uuid::nil())] {
                let within = Within::of(IDS[0].parse().unwrap());
                let key: Key<Run> = Key::of_stored(tenant, id.parse().unwrap(), within);
                let named = snapshot.authorize_named::<RunRead>(key.clone(), Ownership::Own);
                prop_assert_eq!(named.unwrap_err().reason, Reason::NotAMember);
                let owned = snapshot.authorize_owned::<RunRead>(key.clone(), Ownership::Own);
                prop_assert_eq!(owned.unwrap_err().reason, Reason::NotAMember);
                let denial = snapshot.authorize_key::<RunRead>(key).unwrap_err();
                prop_assert_eq!(denial.reason, Reason::NotAMember);
            }
        }
    }
}

#[test]
fn a_question_with_unknown_words_is_explained_up_to_them() {
    let snapshot = Snapshot::new(&facts().with_system_role("owner"), NOW);
    let target = Target::all();
    let question =
        Question { permissions: &[], resource: "spaceship", action: "fly", lists: false, target: &target };
    let steps = snapshot.explain(&question);
    let last = steps.last().unwrap();
    assert_eq!((last.step, last.refused), (Step::Registered, Some(Reason::UnknownResourceType)));
}

#[test]
fn every_reason_is_told_not_the_first_alone() {
    let world = facts().with_grant(grant(Source::Everyone, ("workflow", "publish", W1), Effect::Deny));
    let target = Target::one(rule_id(W1));
    let question = Question {
        permissions: &[Permission::WorkflowsManage],
        resource: "workflow",
        action: "publish",
        lists: false,
        target: &target,
    };
    let steps = Snapshot::new(&world, NOW).explain(&question);
    let refused: Vec<Reason> = steps.iter().filter_map(|step| step.refused).collect();
    let all = [Reason::ExplicitDeny, Reason::PermissionMissing, Reason::ResourceActionNotGranted];
    assert_eq!(refused, all);
}

#[test]
fn what_hangs_on_whose_a_thing_is_is_told_as_that() {
    let deny = |id: &str| grant(Source::User, ("run", "read", id), Effect::Deny);
    let requester = Snapshot::new(&facts().with_system_role("requester").with_grant(deny(R1)), NOW);
    let (listed, _) = whole(&requester, &[ResourceType::Run], 10);
    let read = listed.iter().find(|one| one.action == Action::Read).unwrap();
    assert_eq!((read.scope, read.own, read.except_own), (Scope::Listed, true, false));
    assert_eq!((&read.ids, &read.except), (&Vec::new(), &vec![rule_id(R1)]));

    let ownership_step = |snapshot: &Snapshot, target: &Target| {
        let steps = snapshot.explain(&asked(ResourceType::Run, Action::Read, target));
        steps.into_iter().find(|step| step.step == Step::Ownership).map(|step| (step.refused, step.via.len()))
    };
    let unknown = Target::one(rule_id(NOBODY));
    let question = asked(ResourceType::Run, Action::Read, &unknown);
    assert_eq!(requester.granted_if(&question), Some(Ownership::Own));
    let refused = Some(Reason::ResourceActionNotGranted);
    assert_eq!(ownership_step(&requester, &unknown), Some((refused, 1)));
    assert_eq!(ownership_step(&requester, &unknown.clone().owned(Ownership::Own)), Some((None, 1)));
    // A denied run is denied whosever it is.
    let denied = Target::one(rule_id(R1));
    assert_eq!(requester.granted_if(&asked(ResourceType::Run, Action::Read, &denied)), None);
    assert_eq!(ownership_step(&requester, &denied), Some((None, 1)));

    let held = Snapshot::new(&facts().with_system_role("viewer").with_grant(deny(OWN)), NOW);
    let (listed, _) = whole(&held, &[ResourceType::Run], 10);
    let read = listed.iter().find(|one| one.action == Action::Read).unwrap();
    assert_eq!((read.scope, read.own, read.except_own), (Scope::All, false, true));
    assert_eq!(held.granted_if(&question), Some(Ownership::Other));
    assert_eq!(ownership_step(&held, &unknown), Some((Some(Reason::ExplicitDeny), 1)));

    // Where no rule asks for it there is no such step, and nothing is left of a list that is denied as one's own.
    let viewer = Snapshot::new(&facts().with_system_role("viewer"), NOW);
    assert_eq!((viewer.granted_if(&question), ownership_step(&viewer, &unknown)), (None, None));
    let both = Snapshot::new(&facts().with_system_role("requester").with_grant(deny(OWN)), NOW);
    let list = Target::all();
    let question = Question { permissions: &[], resource: "run", action: "list", lists: true, target: &list };
    for _ in 0..2 {
        assert_eq!(requester.verdict(&question), Reason::Granted);
        assert_eq!(both.verdict(&question), Reason::ResourceActionNotGranted);
    }
}

#[test]
fn what_hangs_on_where_a_thing_stands_is_denied_and_told_as_that() {
    let deny = grant(Source::Everyone, ("workflow", "read", W1), Effect::Deny);
    let viewer = Snapshot::new(&facts().with_system_role("viewer").with_grant(deny.clone()), NOW);
    let places = |snapshot: &Snapshot, target: &Target| {
        let question = asked(ResourceType::Run, Action::Read, target);
        let unless = snapshot.granted_unless(&question);
        let unless: Vec<String> = unless.iter().map(|place| place.id.to_string()).collect();
        (snapshot.verdict(&question), snapshot.granted_if(&question), unless)
    };
    let run = || Target::one(rule_id(R1));
    let denied = vec![W1.to_owned()];
    assert_eq!(places(&viewer, &run()), (Reason::ExplicitDeny, None, denied.clone()));
    let (here, there) = (
        run().within(ResourceType::Workflow, rule_id(W1)),
        run().within(ResourceType::Workflow, rule_id(NOBODY)),
    );
    assert_eq!(places(&viewer, &here), (Reason::ExplicitDeny, None, vec![]));
    assert_eq!(places(&viewer, &there), (Reason::Granted, None, vec![]));
    // All of the type is another question, whose answer has exceptions.
    assert_eq!(places(&viewer, &Target::all()), (Reason::Granted, None, denied.clone()));
    let of_one = viewer.listing_of_one(ResourceType::Run, &run());
    let read = of_one.iter().find(|one| one.action == Action::Read).unwrap();
    assert_eq!((read.scope, read.ids.len(), read.except_within.len()), (Scope::Listed, 1, 1));
    for (target, expected) in [(run(), false), (here, false), (there, true)] {
        assert_eq!(read.permits(&rule_id(R1), &target.parents, Ownership::Unknown), expected, "{target:?}");
    }
    // Whose it is may decide as well; what nothing gives hangs on nothing.
    let requester = Snapshot::new(&facts().with_system_role("requester").with_grant(deny.clone()), NOW);
    assert_eq!(places(&requester, &run()), (Reason::ExplicitDeny, Some(Ownership::Own), denied));
    let nobody = Snapshot::new(&facts().with_grant(deny), NOW);
    assert_eq!(places(&nobody, &run()), (Reason::ExplicitDeny, None, vec![]));
}

#[test]
fn a_list_of_thousands_is_decided_and_told_of_in_part() {
    let id = |number: u128| Uuid::from_u128(number).hyphenated().to_string();
    let rule = |effect, number: u128| GrantFacts {
        id: format!("{effect}-{number}"),
        source: Source::User,
        resource: "workflow".to_owned(),
        action: "read".to_owned(),
        selector: id(number),
        effect,
        expires_at: None,
    };
    let allowed = (0..3_000).fold(facts(), |world, number| world.with_grant(rule(Effect::Allow, number)));
    let target = Target::all();
    let question =
        Question { permissions: &[], resource: "workflow", action: "list", lists: true, target: &target };
    let decision = Snapshot::new(&allowed, NOW).decide(&question);
    assert_eq!((decision.reason, decision.via.len()), (Reason::Granted, 100));
    let denied =
        (0..3_000).fold(allowed.clone(), |world, number| world.with_grant(rule(Effect::Deny, number)));
    let snapshot = Snapshot::new(&denied, NOW);
    for _ in 0..2 {
        assert_eq!(snapshot.verdict(&question), Reason::ResourceActionNotGranted);
    }
    let (listed, _) = whole(&snapshot, &[ResourceType::Workflow], 1_000);
    assert!(listed.iter().all(|one| one.scope == Scope::Nothing) && listed.len() == 2, "{listed:?}");
    let (pages, largest) = whole(&Snapshot::new(&allowed, NOW), &[ResourceType::Workflow], 1_000);
    assert_eq!((pages.len(), pages[1].ids.len(), largest), (2, 3_000, 1_000));
}

#[test]
fn a_place_that_no_listing_gave_is_refused() {
    let snapshot = Snapshot::new(&facts().with_system_role("owner"), NOW);
    for place in [
        r#"{"t":"spaceship","a":"read"}"#,
        r#"{"t":"run","a":"fly"}"#,
        r#"{"t":"run","a":"read","e":{"i":"*"}}"#,
        r#"{"t":"run","a":"read","e":{"w":["spaceship","x"]}}"#,
    ] {
        let place: ListingPlace = serde_json::from_str(place).unwrap();
        assert!(snapshot.listing(ResourceType::ALL, 10, Some(&place)).is_err(), "{place:?}");
    }
    assert!(TYPES.iter().all(|kind| ResourceType::parse(kind).is_some()));
}
