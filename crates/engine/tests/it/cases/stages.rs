//! Completion of stages (clause 8.6.1), and exits by vendors' words.

use super::support::{Plan, auto_stage, human, milestone, rule, stage, user_event};
use heddle_cmmn::plan::{ExitEvent, ExitKind, ParentCompletion};
use heddle_engine::{Command, Rejection, RejectionKind, Status};
use serde_json::{Map, json};

fn by_hand(plan: Plan, id: &str) -> Plan {
    plan.with(id, |own| own.control.manual = rule("yes"))
}

#[test]
fn a_stage_that_completes_by_itself_ends_what_nobody_started() {
    let plan =
        Plan::new(false).tasks("a").top("s", auto_stage()).item("b", "s", human()).item("c", "s", human());
    let mut case = ["a", "s", "b", "c"].into_iter().fold(plan, by_hand).start(json!({}));
    case.go("s", "manualStart").unwrap();
    assert_eq!(
        ["a", "s", "b", "c"].map(|item| case.at(item)),
        ["enabled", "completed", "terminated", "terminated"]
    );
    assert_eq!(case.status(), Status::Waiting);
}

#[test]
fn a_stage_otherwise_waits_for_all_that_is_in_it() {
    let plan = Plan::new(false).tasks("a b").top("m", milestone()).entry("m", "a complete");
    let mut case = by_hand(plan, "b").start(json!({}));
    case.complete("a");
    assert_eq!((case.at("m"), case.at("b"), case.status()), ("completed", "enabled", Status::Waiting));
    case.go("b", "disable").unwrap();
    assert_eq!(case.status(), Status::Completed);
}

#[test]
fn a_stage_is_completed_by_hand_when_nothing_is_active_and_nothing_required_is_left() {
    let plan = Plan::new(false).tasks("a b c").with("c", |own| own.control.required = rule("yes"));
    let mut case = by_hand(by_hand(plan, "b"), "c").start(json!({}));
    let refused = case.go("case", "complete").unwrap_err();
    let waits_for = vec!["a".to_owned(), "c".to_owned()];
    assert_eq!(refused, Rejection::NotCompletable { item: "case".to_owned(), waits_for });
    assert_eq!(refused.kind(), RejectionKind::Conflict);
    case.complete("a");
    case.go("c", "disable").unwrap();
    case.give(Command::CompleteCase).unwrap();
    assert_eq!((case.status(), case.at("b")), (Status::Completed, "terminated"));
}

#[test]
fn a_listener_with_nothing_left_to_trigger_holds_no_stage() {
    let plan =
        Plan::new(false).tasks("a b").top("u", user_event()).entry("b", "a complete").entry("b", "u occur");
    let mut case = plan.start(json!({}));
    case.complete("a");
    assert_eq!((case.at("b"), case.at("u")), ("active", "available"));
    case.complete("b");
    assert_eq!((case.status(), case.at("u")), (Status::Completed, "terminated"));
    // One that may end what is there is not orphaned.
    let plan = Plan::new(false).tasks("a b").top("u", user_event()).entry("b", "u occur");
    let mut case = plan.start(json!({}));
    case.complete("a");
    assert_eq!((case.status(), case.at("u")), (Status::Waiting, "available"));
    case.go("u", "occur").unwrap();
    case.complete("b");
    assert_eq!(case.status(), Status::Completed);
}

#[test]
fn vendors_let_a_stage_complete_without_an_item() {
    let neutral = |own: &mut heddle_cmmn::plan::Item| own.control.completion_neutral = Some(rule("yes"));
    let mut case =
        Plan::new(false).tasks("a b c").entry("b", "c complete").with("b", neutral).start(json!({}));
    case.go("c", "terminate").unwrap();
    case.complete("a");
    assert_eq!((case.status(), case.at("b")), (Status::Completed, "terminated"));
    for (parent_completion, left) in [
        (ParentCompletion::Ignore, "active"),
        (ParentCompletion::IgnoreIfAvailable, "available"),
        (ParentCompletion::IgnoreAfterFirstCompletion, "again"),
        (ParentCompletion::IgnoreIfAvailableOrEnabled, "enabled"),
        (ParentCompletion::IgnoreIfAvailableOrEnabled, "available"),
        (ParentCompletion::IgnoreAfterFirstCompletionIfAvailableOrEnabled, "enabled again"),
    ] {
        let plan =
            Plan::new(false).tasks("a b").with("b", |own| own.control.parent_completion = parent_completion);
        let plan = match left {
            "available" => plan.entry("b", "a terminate"),
            "again" => plan.with("b", |own| own.control.repetition = rule("yes")),
            "enabled" => by_hand(plan, "b"),
            "enabled again" => by_hand(plan, "b").with("b", |own| own.control.repetition = rule("yes")),
            _ => plan,
        };
        let mut case = plan.start(json!({}));
        if left == "enabled again" {
            // Before its first completion it is waited for.
            case.go("b", "manualStart").unwrap();
        }
        if left.ends_with("again") {
            case.complete("b");
        }
        assert_eq!(case.status(), Status::Waiting);
        case.complete("a");
        assert_eq!((case.status(), case.at("b")), (Status::Completed, "terminated"), "{left}");
    }
}

#[test]
fn an_exit_may_end_only_what_is_active() {
    for (kind, expected) in [
        (ExitKind::All, ["terminated", "terminated", "terminated"]),
        (ExitKind::ActiveAndEnabled, ["terminated", "terminated", "available"]),
        (ExitKind::Active, ["terminated", "enabled", "available"]),
    ] {
        let plan = Plan::new(false).tasks("x keep a b c").entry("c", "keep complete");
        let plan = ["a", "b", "c"].into_iter().fold(by_hand(plan, "b"), |plan, id| {
            plan.exit(id, "x complete").with(id, |own| own.extra.exit = kind)
        });
        let mut case = plan.start(json!({}));
        case.complete("x");
        assert_eq!(["a", "b", "c"].map(|item| case.at(item)), expected);
    }
}

#[test]
fn an_exit_may_complete() {
    for (exit_event, required, expected) in [
        (ExitEvent::Complete, "yes", "active"),
        (ExitEvent::Complete, "false", "completed"),
        (ExitEvent::ForceComplete, "yes", "completed"),
        (ExitEvent::Exit, "yes", "terminated"),
    ] {
        let plan = Plan::new(false).tasks("x keep").top("s", stage()).item("a", "s", human());
        let plan = by_hand(plan, "a").with("a", |own| own.control.required = rule(required));
        let plan = plan.exit("s", "x complete").with("s", |own| own.extra.exit_event = exit_event);
        let mut case = plan.start(json!({}));
        case.complete("x");
        assert_eq!(case.at("s"), expected, "{exit_event:?}");
    }
    let plan = Plan::new(false)
        .tasks("x")
        .top("m", milestone())
        .entry("m", "x terminate")
        .exit("case", "x complete");
    let mut case =
        plan.with("case", |own| own.extra.exit_event = ExitEvent::ForceComplete).start(json!({"y": 2}));
    case.complete("x");
    assert_eq!(
        (case.status(), case.state.output().cloned()),
        (Status::Completed, json!({"y": 2}).as_object().cloned())
    );
}

#[test]
fn a_stage_that_stands_in_the_plan_twice_has_its_own_items_each_time() {
    let definition = json!({"cases": [{"id": "c", "casePlanModel": {
        "id": "m", "type": "casePlanModel",
        "items": [{"id": "s1", "definitionRef": "s"}, {"id": "s2", "definitionRef": "s"}],
        "definitions": [
            {"id": "t", "type": "humanTask"},
            {"id": "s", "type": "stage",
             "items": [{"id": "a", "definitionRef": "t"},
                       {"id": "b", "definitionRef": "t", "entryCriteria": [{"id": "k", "sentryRef": "y"}]}],
             "sentries": [{"id": "y", "onParts": [
                {"type": "planItemOnPart", "sourceRef": "a", "standardEvent": "complete"}]}]}]
    }}]});
    let compiled = heddle_cmmn::compile(&serde_json::from_value(definition).unwrap());
    assert!(compiled.is_executable(), "{:?}", compiled.diagnostics);
    let mut case = super::support::Case::new(compiled.cases[0].clone());
    case.begin(json!({}));
    let open = |case: &super::support::Case| [case.states("a"), case.states("b")];
    assert_eq!(open(&case), [["active", "active"], ["available", "available"]]);
    // Its sentry hears the item beside it alone.
    let second = case.state.tasks()[1].task_id;
    let complete =
        |task_id| Command::CompleteTask { task_id, outcome: None, values: Map::new(), comment: None };
    case.give(complete(second)).unwrap();
    assert_eq!(open(&case), [["active", "completed"], ["available", "active"]]);
    assert_eq!((case.at("s1"), case.at("s2")), ("active", "active"));
    for _ in 0..3 {
        let next = case.state.tasks()[0].task_id;
        case.give(complete(next)).unwrap();
    }
    assert_eq!((case.at("s1"), case.at("s2"), case.status()), ("completed", "completed", Status::Completed));
}
