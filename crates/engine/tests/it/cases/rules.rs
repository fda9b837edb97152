//! Rules of items (clause 5.4.11): required, manual activation and repetition.

use super::support::{Plan, feel, human, milestone, rule, user_event};
use heddle_engine::{Command, IncidentCode, Status};
use heddle_settings::Setting;
use serde_json::json;

#[test]
fn a_rule_of_manual_activation_is_asked_when_the_criterion_is_met() {
    let plan = Plan::new(false).tasks("a b c").entry("b", "a complete").entry("c", "a complete");
    let plan = plan
        .with("b", |own| own.control.manual = rule("byHand"))
        .with("c", |own| own.control.manual = rule("not(byHand)"));
    let mut case = plan.start(json!({"byHand": false}));
    case.complete_with("a", json!({"byHand": true}));
    assert_eq!((case.at("b"), case.at("c")), ("enabled", "active"));
}

#[test]
fn a_rule_that_cannot_be_told_stops_its_item() {
    let mut case =
        Plan::new(false).tasks("a").with("a", |own| own.control.manual = rule("x")).start(json!({}));
    assert_eq!(
        (case.at("a"), case.incidents()),
        ("available", vec![(IncidentCode::ExpressionError, "a".to_owned())])
    );
    case.retry(json!({"x": false}));
    assert_eq!((case.at("a"), case.incidents()), ("active", vec![]));
    // What may be required holds its stage.
    let mut case = Plan::new(true)
        .tasks("a")
        .with("a", |own| {
            own.control.manual = rule("yes");
            own.control.required = rule("x");
        })
        .start(json!({}));
    assert_eq!((case.at("a"), case.status(), case.incidents().len()), ("enabled", Status::Waiting, 1));
    case.go("a", "disable").unwrap();
    assert_eq!(case.status(), Status::Completed);
}

#[test]
fn only_what_is_required_holds_a_case_that_completes_by_itself() {
    let by_hand = |plan: Plan, id: &str| plan.with(id, |own| own.control.manual = rule("yes"));
    let plan = ["a", "b", "c"].into_iter().fold(Plan::new(true).tasks("a b c"), by_hand);
    let mut case = plan.with("b", |own| own.control.required = rule("yes")).start(json!({}));
    case.go("a", "manualStart").unwrap();
    case.complete("a");
    assert_eq!(case.status(), Status::Waiting);
    case.go("b", "manualStart").unwrap();
    case.complete("b");
    assert_eq!((case.status(), case.at("c")), (Status::Completed, "terminated"));
}

#[test]
fn what_is_required_is_asked_once() {
    let plan = Plan::new(true).tasks("a b").with("b", |own| {
        own.control.manual = rule("yes");
        own.control.required = rule("needed");
    });
    let mut case = plan.start(json!({"needed": true}));
    case.set(json!({"needed": false}));
    case.complete("a");
    assert_eq!(case.status(), Status::Waiting);
}

#[test]
fn without_a_criterion_an_item_comes_again_when_it_ends() {
    let mut case = Plan::new(false)
        .tasks("a")
        .with("a", |own| own.control.repetition = rule("again"))
        .start(json!({"again": true}));
    case.complete("a");
    case.go("a", "terminate").unwrap();
    assert_eq!(case.states("a"), ["completed", "terminated", "active"]);
    case.complete_with("a", json!({"again": false}));
    assert_eq!((case.states("a").len(), case.status()), (3, Status::Completed));
}

#[test]
fn with_a_criterion_the_next_instance_waits_beside_the_old() {
    let plan = Plan::new(false).top("u", user_event()).with("u", |own| own.control.repetition = rule("yes"));
    let plan = plan.tasks("a").top("m", milestone()).entry("a", "u occur").entry("m", "u occur");
    let plan = plan
        .with("a", |own| own.control.repetition = rule("more"))
        .with("m", |own| own.control.repetition = rule("yes"));
    let mut case = plan.start(json!({"more": true}));
    case.go("u", "occur").unwrap();
    assert_eq!(
        (case.states("a"), case.states("m")),
        (vec!["active", "available"], vec!["completed", "available"])
    );
    // The rule is asked when the criterion is met again.
    case.set(json!({"more": false}));
    case.go("u", "occur").unwrap();
    assert_eq!(case.states("a"), ["active", "available"]);
    case.set(json!({"more": true}));
    case.go("u", "occur").unwrap();
    assert_eq!(case.states("a"), ["active", "active", "available"]);
}

#[test]
fn an_if_part_alone_repeats_when_it_holds_anew() {
    let plan = Plan::new(false)
        .tasks("a b")
        .entry_if("b", "", "x > 5")
        .with("b", |own| own.control.repetition = rule("yes"));
    let mut case = plan.start(json!({"x": 9}));
    assert_eq!(case.states("b"), ["active", "available"]);
    case.set(json!({"x": 10}));
    assert_eq!(case.states("b"), ["active", "available"]);
    case.set(json!({"x": 1}));
    case.set(json!({"x": 7}));
    assert_eq!(case.states("b"), ["active", "active", "available"]);
}

#[test]
fn there_are_no_more_instances_than_allowed() {
    let plan = Plan::new(false)
        .top("u", user_event())
        .with("u", |own| own.control.repetition = rule("yes"))
        .tasks("a");
    let plan = plan.entry("a", "u occur").with("a", |own| {
        own.control.repetition = rule("yes");
        own.control.repeats.max_instances = Some(1);
    });
    let mut case = plan.start(json!({}));
    case.go("u", "occur").unwrap();
    case.go("u", "occur").unwrap();
    assert_eq!(case.states("a"), ["active"]);
    case.complete("a");
    case.go("u", "occur").unwrap();
    assert_eq!(case.states("a"), ["completed", "active"]);
}

#[test]
fn a_collection_gives_each_instance_its_element() {
    let plan = Plan::new(false).top("a", human()).with("a", |own| {
        own.control.repetition = rule("yes");
        let repeats = &mut own.control.repeats;
        repeats.collection = Some(Setting::Expression(feel("rooms")));
        repeats.element_variable = Some("room".into());
        repeats.index_variable = Some("n".into());
        repeats.counter_variable = Some("counter".into());
    });
    let mut case = plan.start(json!({"rooms": ["red", "blue"]}));
    assert_eq!(case.states("a"), ["active", "active"]);
    let tasks = case.state.tasks();
    let seen = |name: &str| -> Vec<_> {
        tasks
            .iter()
            .map(|task| case.state.variable_at(Some(task.node_instance_id), name).cloned().unwrap())
            .collect()
    };
    assert_eq!(
        (seen("room"), seen("n"), seen("counter")),
        (vec![json!("red"), json!("blue")], vec![json!(0), json!(1)], vec![json!(1), json!(2)])
    );
    let ids: Vec<_> = tasks.iter().map(|task| task.task_id).collect();
    for task_id in ids {
        case.give(Command::CompleteTask {
            task_id,
            outcome: None,
            values: Default::default(),
            comment: None,
        })
        .unwrap();
    }
    assert_eq!(case.status(), Status::Completed);
}

#[test]
fn a_collection_that_is_none_is_an_incident() {
    let plan = Plan::new(false)
        .tasks("a")
        .with("a", |own| own.control.repeats.collection = Some(Setting::Expression(feel("rooms"))));
    let mut case = plan.start(json!({}));
    assert_eq!(
        (case.at("a"), case.incidents()),
        ("available", vec![(IncidentCode::ExpressionError, "a".to_owned())])
    );
    case.retry(json!({"rooms": [1, 2, 3]}));
    assert_eq!(case.states("a"), ["active"; 3]);
}
