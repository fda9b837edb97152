//! Cases that are reactivated behind an end: which items are there again, by the rules of the model.

use super::support::{Case, Plan, human, milestone, rule, stage, user_event};
use heddle_cmmn::plan::Work;
use heddle_engine::{Command, IncidentCode, Status};
use serde_json::json;
use std::sync::Arc;

fn listener() -> Work {
    Work::Reactivation { available: None }
}

/// Two stages, one behind the other, of which an event says with which one the case goes on.
fn stages() -> Plan {
    Plan::new(true)
        .top("first", stage())
        .item("a", "first", human())
        .top("second", stage())
        .item("b", "second", human())
        .item("c", "second", human())
        .entry("second", "first complete")
        .top("r", listener())
        .reactivated("first", ["", "", "again = \"first\""])
        .reactivated("second", ["again = \"second\"", "", "again = \"first\""])
        .reactivated("a", ["", "", "yes"])
        .reactivated("b", ["", "yes", ""])
        .reactivated("c", ["", "", "yes"])
        .reactivated_else(["", "yes", ""])
}

#[test]
fn an_event_says_which_stages_come_back_and_their_rules_what_is_in_them() {
    let mut case = stages().start(json!({}));
    for task in ["a", "b", "c"] {
        case.complete(task);
    }
    assert_eq!((case.status(), case.at("r")), (Status::Completed, "available"));
    // The second one begins at once, though what it waits for has not happened again.
    case.raise("r", json!({"again": "second"})).unwrap();
    assert_eq!(
        (case.status(), case.states("first"), case.at("second")),
        (Status::Waiting, vec!["completed"], "active")
    );
    assert_eq!((case.states("a").len(), case.states("b").len(), case.states("c").len()), (1, 1, 2));
    case.complete("c");
    assert_eq!(case.status(), Status::Completed);
    // The listener is there for every end.
    case.raise("r", json!({"again": "first"})).unwrap();
    assert_eq!((case.at("first"), case.at("a"), case.at("second")), ("active", "active", "available"));
    case.complete("a");
    // What opens later in such a case follows the rules, too.
    assert_eq!((case.at("second"), case.states("b").len(), case.at("c")), ("active", 1, "active"));
    case.complete("c");
    assert_eq!(case.status(), Status::Completed);
}

#[test]
fn what_waits_for_the_listener_comes_whatever_the_rules_say() {
    let plan = Plan::new(true).tasks("a b").top("r", listener()).entry("b", "r occur");
    let mut case = plan.reactivated_else(["", "yes", ""]).start(json!({}));
    case.complete("a");
    case.go("r", "occur").unwrap();
    assert_eq!((case.at("a"), case.states("b")), ("completed", vec!["terminated", "active"]));
    // Nobody's event, but the transition of the case: nothing waits for that.
    let mut other = Plan::new(true)
        .tasks("a b")
        .top("r", listener())
        .entry("b", "r occur")
        .reactivated_else(["", "yes", ""])
        .start(json!({}));
    other.complete("a");
    other.give(Command::ReactivateCase).unwrap();
    assert_eq!((other.status(), other.states("b")), (Status::Waiting, vec!["terminated"]));
}

#[test]
fn an_item_without_a_rule_that_holds_is_there_as_in_a_new_case() {
    let plan = Plan::new(true)
        .tasks("a b d")
        .top("m", milestone())
        .top("u", user_event())
        .entry("b", "a complete")
        .entry("m", "b complete")
        .discretionary("x", "case", &[], None)
        .with("d", |own| own.control.manual = rule("yes"))
        .reactivated("d", ["yes", "yes", ""]);
    let mut case = plan.start(json!({}));
    case.complete("a");
    case.complete("b");
    assert_eq!((case.status(), case.at("m")), (Status::Completed, "completed"));
    case.give(Command::ReactivateCase).unwrap();
    // The first rule that holds counts; who has to start an item still does.
    let states = ["a", "b", "d", "m", "u", "x"].map(|item| case.at(item));
    assert_eq!(states, ["active", "available", "enabled", "available", "available", "absent"]);
}

#[test]
fn a_rule_that_cannot_be_told_brings_nothing_back_and_says_so() {
    let plan =
        Plan::new(true).tasks("a b").reactivated("a", ["how", "", ""]).reactivated("b", ["missing", "", ""]);
    let mut case = plan.start(json!({"how": "twice"}));
    case.complete("a");
    case.complete("b");
    case.give(Command::ReactivateCase).unwrap();
    // Null is data that is not there, and no rule that holds.
    assert_eq!((case.states("a"), case.at("b")), (vec!["completed"], "active"));
    assert_eq!(case.incidents(), [(IncidentCode::ExpressionError, "case".to_owned())]);
}

#[test]
fn a_case_that_was_suspended_alone_asks_no_rule() {
    let mut case =
        Plan::new(false).top("s", stage()).item("a", "s", human()).reactivated("a", ["", "yes", ""]);
    case = case
        .top("t", stage())
        .item("b", "t", human())
        .reactivated("b", ["", "yes", ""])
        .entry("t", "a complete");
    let mut case = case.start(json!({}));
    case.give(Command::Suspend).unwrap();
    case.give(Command::ReactivateCase).unwrap();
    case.complete("a");
    assert_eq!((case.at("t"), case.at("b")), ("active", "active"));
}

#[test]
fn a_model_of_flowable_comes_back_as_its_rules_say() {
    let source = r#"<definitions xmlns="http://www.omg.org/spec/CMMN/20151109/MODEL"
        xmlns:flowable="http://flowable.org/cmmn" targetNamespace="urn:t">
      <case id="c"><casePlanModel id="m" autoComplete="true">
        <planItem id="first" definitionRef="check"><itemControl><extensionElements>
          <flowable:reactivationRule defaultCondition="${vars:getOrDefault(again, false)}"/>
        </extensionElements></itemControl></planItem>
        <planItem id="second" definitionRef="pay"/>
        <planItem id="back" definitionRef="reopen"/>
        <humanTask id="check"/><humanTask id="pay"/>
        <eventListener id="reopen" flowable:eventType="reactivate"><extensionElements>
          <flowable:defaultReactivationRule ignoreCondition="true"/></extensionElements></eventListener>
      </casePlanModel></case></definitions>"#;
    let read = heddle_cmmn::xml::read(source.as_bytes()).unwrap();
    let compiled = heddle_cmmn::compile(&read.definition);
    assert!(compiled.is_executable(), "{:#?}", compiled.diagnostics);
    let mut case = Case::new(Arc::clone(&compiled.cases[0]));
    case.begin(json!({}));
    case.complete("first");
    case.complete("second");
    assert_eq!(case.status(), Status::Completed);
    case.raise("back", json!({"again": true})).unwrap();
    assert_eq!((case.at("first"), case.states("second")), ("active", vec!["completed"]));
    case.complete("first");
    // Without its data the event brings back nothing of what has rules.
    case.raise("back", json!({"again": null})).unwrap();
    assert_eq!((case.states("first"), case.at("back")), (vec!["completed", "completed"], "available"));
}
