//! Sentries (clause 5.4.7): on-parts, if-parts, and what is remembered.

use super::support::{Plan, human, milestone, rule, stage, user_event};
use heddle_cmmn::plan::Multiplicity;
use heddle_engine::{Command, IncidentCode};
use serde_json::json;

#[test]
fn criteria_are_alternatives_and_on_parts_are_all_needed() {
    let plan = Plan::new(false).tasks("a b c either both");
    let plan = plan
        .entry("either", "a complete")
        .entry("either", "b complete")
        .entry("both", "a complete, b complete");
    let mut case = plan.start(json!({}));
    assert_eq!((case.at("either"), case.at("both")), ("available", "available"));
    case.complete("b");
    assert_eq!((case.at("either"), case.at("both")), ("active", "available"));
    // The same on-part again is no other one.
    let missing = case.view().items.into_iter().find(|own| &*own.item_id == "both").unwrap();
    assert_eq!(missing.criteria[0].missing.len(), 1);
    assert_eq!(&*missing.criteria[0].missing[0].source_id, "a");
    case.complete("a");
    assert_eq!(case.at("both"), "active");
}

#[test]
fn a_cycle_of_criteria_starts_nothing() {
    let plan = Plan::new(false)
        .tasks("a b c")
        .entry("a", "c complete")
        .entry("b", "a complete")
        .entry("c", "b complete");
    let mut case = plan.start(json!({}));
    assert_eq!(["a", "b", "c"].map(|item| case.at(item)), ["available"; 3]);
    assert!(case.go("a", "manualStart").is_err());
}

#[test]
fn an_if_part_is_looked_at_when_its_on_part_occurs_and_with_every_change() {
    let plan =
        Plan::new(false).tasks("a b c").entry_if("b", "a complete", "x > 5").entry_if("c", "", "x > 5");
    let mut case = plan.start(json!({}));
    let view = case.view();
    let own = view.items.iter().find(|own| &*own.item_id == "c").unwrap();
    assert_eq!(
        (own.criteria[0].condition.as_deref(), &own.criteria[0].value),
        (Some("x > 5"), &Some(json!(null)))
    );
    case.set(json!({"x": 9}));
    assert_eq!((case.at("b"), case.at("c")), ("available", "active"));
    case.set(json!({"x": 1}));
    case.complete("a");
    assert_eq!(case.at("b"), "available");
    case.set(json!({"x": 7}));
    assert_eq!(case.at("b"), "active");
}

#[test]
fn an_if_part_that_is_neither_true_nor_false_is_an_incident_until_it_is() {
    let mut case =
        Plan::new(false).tasks("a b").entry_if("b", "a complete", "x").start(json!({"x": "perhaps"}));
    case.complete("a");
    assert_eq!(
        (case.at("b"), case.incidents()),
        ("available", vec![(IncidentCode::ExpressionError, "case".to_owned())])
    );
    case.set(json!({"x": "certainly"}));
    assert_eq!(case.incidents().len(), 1);
    case.set(json!({"x": true}));
    assert_eq!((case.at("b"), case.incidents()), ("active", vec![]));
}

#[test]
fn parts_at_once_are_not_remembered() {
    let plan = Plan::new(false).tasks("a b").top("m", milestone()).entry("m", "a complete");
    let plan = plan.tasks("slow quick").entry_at_once("slow", "a complete, b complete");
    let mut case = plan.entry_at_once("quick", "a complete, m occur").start(json!({}));
    case.complete("a");
    assert_eq!((case.at("m"), case.at("quick")), ("completed", "active"));
    case.complete("b");
    assert_eq!(case.at("slow"), "available");
}

#[test]
fn a_sentry_may_ask_by_which_exit_a_stage_ended() {
    let plan = Plan::new(false).tasks("a b").top("s", stage()).item("inner", "s", human());
    let plan = plan.exit("s", "a complete").exit("s", "b complete").tasks("first second");
    let plan = plan.entry("first", "s exit by s-exit").entry("second", "s exit by s-exit1");
    let mut case = plan.start(json!({}));
    case.complete("b");
    assert_eq!((case.at("s"), case.at("inner")), ("terminated", "terminated"));
    assert_eq!((case.at("first"), case.at("second")), ("available", "active"));
}

#[test]
fn an_exit_criterion_ends_a_stage_with_its_content() {
    let plan =
        Plan::new(false).tasks("a").top("s", stage()).item("b", "s", human()).item("m", "s", milestone());
    let mut case = plan.entry("m", "b complete").exit("s", "a complete").start(json!({}));
    case.complete("a");
    assert_eq!(["s", "b", "m"].map(|item| case.at(item)), ["terminated"; 3]);
    assert!(case.state.tasks().is_empty());
    assert_eq!(case.at("case"), "completed");
}

#[test]
fn an_exit_by_data_alone_ends_the_case() {
    let mut case = Plan::new(false).tasks("a").exit_if("case", "", "stop").start(json!({"stop": false}));
    case.set(json!({"stop": true}));
    assert_eq!((case.at("a"), case.at("case")), ("terminated", "terminated"));
}

#[test]
fn a_case_file_item_is_a_source_of_on_parts() {
    let plan = Plan::new(false).file("order", Multiplicity::ZeroOrOne).tasks("a b c");
    let plan = plan.entry("a", "@order create").entry_if("b", "@order update", "caseFile.order.total > 100");
    let mut case = plan.entry("c", "@order delete").start(json!({}));
    case.put("order", "create", &[], json!({"total": 50})).unwrap();
    assert_eq!(["a", "b", "c"].map(|item| case.at(item)), ["active", "available", "available"]);
    case.put("order", "update", &[], json!({"total": 500})).unwrap();
    case.put("order", "delete", &[], json!(null)).unwrap();
    assert_eq!(["a", "b", "c"].map(|item| case.at(item)), ["active"; 3]);
}

#[test]
fn instances_of_a_stage_hear_their_own_content_alone() {
    let plan = Plan::new(false).top("u", user_event()).with("u", |own| own.control.repetition = rule("yes"));
    let plan =
        plan.top("s", stage()).entry("s", "u occur").with("s", |own| own.control.repetition = rule("yes"));
    let mut case =
        plan.item("a", "s", human()).item("b", "s", human()).entry("b", "a complete").start(json!({}));
    case.go("u", "occur").unwrap();
    case.go("u", "occur").unwrap();
    assert_eq!(case.states("s"), ["active", "active", "available"]);
    let second = case.state.tasks().into_iter().rfind(|task| &*task.node_id == "a").unwrap().task_id;
    let complete =
        Command::CompleteTask { task_id: second, outcome: None, values: Default::default(), comment: None };
    case.give(complete).unwrap();
    assert_eq!(case.states("b"), ["available", "active"]);
}

#[test]
fn items_that_start_each_other_without_end_are_stopped() {
    let repeats =
        |plan: Plan, id: &str| plan.top(id, milestone()).with(id, |own| own.control.repetition = rule("yes"));
    let plan = repeats(repeats(Plan::new(false).tasks("a"), "m"), "n");
    let mut case = plan.entry("m", "a complete").entry("m", "n occur").entry("n", "m occur").start(json!({}));
    case.complete("a");
    assert_eq!(case.incidents(), [(IncidentCode::SentryLoop, "case".to_owned())]);
}
