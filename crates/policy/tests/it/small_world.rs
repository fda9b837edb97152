//! Every world of a small kind, exhaustively.

use heddle_policy::{
    Action, Effect, Facts, Permission, PermissionSet, Question, ResourceRule, ResourceType, RoleRules,
    Snapshot, Source, Target,
};

use crate::spec::{NOW, R1, W1, answer, facts, grant, rule_id};

const EDGES: [Option<Effect>; 3] = [None, Some(Effect::Allow), Some(Effect::Deny)];

/// A rule that may or may not be there: through whom, and about what.
type Slot = (fn() -> Source, (&'static str, &'static str, &'static str));

const SLOTS: [Slot; 7] = [
    (|| Source::User, ("run", "read", R1)),
    (|| Source::User, ("run", "read", "*")),
    (|| Source::Everyone, ("run", "*", R1)),
    (|| Source::Group("g".to_owned()), ("*", "list", "*")),
    (|| Source::Role("r".to_owned()), ("workflow", "read", W1)),
    (|| Source::Everyone, ("workflow", "*", "*")),
    (|| Source::User, ("run", "cancel", "*")),
];

fn questions(targets: &[Target]) -> Vec<Question<'_>> {
    let ask = |action, lists, target| Question {
        permissions: &[Permission::RunsView],
        resource: "run",
        action,
        lists,
        target,
    };
    vec![
        ask("read", false, &targets[0]),
        ask("read", false, &targets[1]),
        ask("read", false, &targets[2]),
        ask("list", true, &targets[0]),
        ask("list", true, &targets[3]),
        ask("read", true, &targets[0]),
        ask("cancel", false, &targets[1]),
        Question { permissions: &[], resource: "workflow", action: "list", lists: true, target: &targets[0] },
    ]
}

fn worlds() -> impl Iterator<Item = Facts> {
    let permissions = [(false, false), (true, false), (true, true)];
    let people = [(true, true), (true, false), (false, true)];
    let edges = (0..EDGES.len().pow(u32::try_from(SLOTS.len()).unwrap())).map(|mut number| {
        SLOTS.map(|slot| {
            let edge = EDGES[number % EDGES.len()];
            number /= EDGES.len();
            (slot, edge)
        })
    });
    edges.flat_map(move |edges| {
        permissions.into_iter().flat_map(move |(gives, takes)| {
            people.into_iter().map(move |(active, member)| {
                let mut world = facts();
                (world.active, world.member) = (active, member);
                let named = |yes: bool| if yes { vec!["runs.view".to_owned()] } else { Vec::new() };
                let rules = RoleRules {
                    permissions: PermissionSet::of(&named(gives)),
                    denied_permissions: named(takes),
                    resources: Vec::new(),
                };
                world = world.with_role("r", "role", rules);
                for ((source, about), edge) in edges {
                    if let Some(effect) = edge {
                        world = world.with_grant(grant(source(), about, effect));
                    }
                }
                world
            })
        })
    })
}

#[test]
fn every_decision_is_the_specification_s() {
    let targets = [
        Target::all(),
        Target::one(rule_id(R1)),
        Target::one(rule_id(R1)).within(ResourceType::Workflow, rule_id(W1)),
        Target::all().within(ResourceType::Workflow, rule_id(W1)),
    ];
    let questions = questions(&targets);
    let mut cases = 0_u32;
    for world in worlds() {
        let snapshot = Snapshot::new(&world, NOW);
        for question in &questions {
            let decision = snapshot.decide(question);
            assert_eq!(decision.reason, answer(&world, question), "{question:?} in {world:?}");
            cases += 1;
        }
    }
    assert_eq!(cases, 3_u32.pow(7) * 9 * 8);
}

#[test]
fn a_role_s_own_rules_count_as_grants_do() {
    for effect in [Effect::Allow, Effect::Deny] {
        let rule = ResourceRule {
            resource: "run".to_owned(),
            actions: vec!["read".to_owned(), "cancel".to_owned()],
            selector: R1.to_owned(),
            effect,
        };
        let rules = RoleRules { resources: vec![rule], ..RoleRules::default() };
        let with_rule = facts().with_role("r", "role", rules);
        let with_grants = ["read", "cancel"].iter().fold(facts(), |world, action| {
            world.with_grant(grant(Source::Role("r".to_owned()), ("run", action, R1), effect))
        });
        let (one, two) = (Snapshot::new(&with_rule, NOW), Snapshot::new(&with_grants, NOW));
        for action in [Action::Read, Action::Cancel, Action::List, Action::Decide] {
            let extents = [&one, &two].map(|snapshot| snapshot.extent(ResourceType::Run, action));
            assert_eq!(extents[0], extents[1], "{action}");
        }
    }
}
