//! The case file (clause 5.3): values, standard events and multiplicities.

use super::support::Plan;
use heddle_cmmn::plan::Multiplicity::{ExactlyOne, ZeroOrMore, ZeroOrOne};
use heddle_engine::{Event, EventKind, Rejection, RejectionKind};
use serde_json::{Value, json};

fn told(log: &[Event]) -> Vec<String> {
    let file = log.iter().filter_map(|event| match &event.kind {
        EventKind::CaseFileChanged { item, event, .. } => {
            let word = serde_json::to_value(event).unwrap();
            Some(format!("{item} {}", word.as_str().unwrap()))
        }
        _ => None,
    });
    file.collect()
}

#[test]
fn an_item_lives_from_its_creation_to_its_deletion() {
    let mut case = Plan::new(false).tasks("a").file("order", ZeroOrOne).start(json!({}));
    let state = |case: &super::support::Case| case.view().file[0].state.clone();
    assert_eq!(state(&case), None);
    for event in ["update", "replace", "delete", "addReference"] {
        assert!(
            matches!(case.put("order", event, &[], json!(1)), Err(Rejection::WrongFileChange { .. })),
            "{event}"
        );
    }
    case.put("file-order", "create", &[], json!({"a": 1, "b": 2})).unwrap();
    assert!(case.put("order", "create", &[], json!(1)).is_err());
    case.put("order", "update", &[], json!({"b": 3})).unwrap();
    assert_eq!(case.state.case_file(), Some(&json!({"order": {"a": 1, "b": 3}})));
    case.put("order", "replace", &[], json!({"c": 4})).unwrap();
    assert_eq!(
        (case.state.case_file(), state(&case).as_deref()),
        (Some(&json!({"order": {"c": 4}})), Some("available"))
    );
    case.put("order", "addReference", &[], json!("x")).unwrap();
    assert_eq!(case.view().file[0].references, [json!("x")]);
    case.put("order", "removeReference", &[], json!("x")).unwrap();
    case.put("order", "delete", &[], Value::Null).unwrap();
    assert_eq!((case.state.case_file(), state(&case).as_deref()), (Some(&json!({})), Some("discarded")));
    case.put("order", "create", &[], json!(5)).unwrap();
    let words = ["create", "update", "replace", "addReference", "removeReference", "delete", "create"];
    assert_eq!(told(&case.log), words.map(|word| format!("file-order {word}")));
    assert_eq!(case.put("nothing", "create", &[], json!(1)).unwrap_err().kind(), RejectionKind::NotFound);
}

#[test]
fn a_child_tells_its_parent() {
    let plan = Plan::new(false).tasks("a b c").file("order", ZeroOrOne).file("order.note", ZeroOrOne);
    let mut case = plan.entry("b", "@order addChild").entry("c", "@order removeChild").start(json!({}));
    assert!(case.put("note", "create", &[], json!("x")).is_err());
    case.put("order", "create", &[], json!({})).unwrap();
    case.put("note", "create", &[], json!("x")).unwrap();
    assert_eq!((case.at("b"), case.at("c")), ("active", "available"));
    case.put("order", "removeChild", &[], json!("note")).unwrap();
    assert_eq!((case.at("c"), case.state.case_file()), ("active", Some(&json!({"order": {}}))));
    case.put("order", "addChild", &[], json!({"note": "y"})).unwrap();
    assert_eq!(case.state.case_file(), Some(&json!({"order": {"note": "y"}})));
}

#[test]
fn there_may_be_several_of_an_item() {
    let plan = Plan::new(false).tasks("a").file("order", ZeroOrOne).file("order.line", ZeroOrMore);
    let mut case = plan
        .file("order.line.tag", ZeroOrMore)
        .file("sure", ExactlyOne)
        .start(json!({"caseFile": {"order": {}, "sure": 1}}));
    case.put("line", "create", &[], json!({"n": 1})).unwrap();
    case.put("line", "create", &[], json!({"n": 2})).unwrap();
    assert!(case.put("line", "update", &[], json!({"n": 3})).is_err());
    assert!(case.put("line", "update", &[2], json!({"n": 3})).is_err());
    case.put("line", "update", &[1], json!({"n": 3})).unwrap();
    assert!(case.put("tag", "create", &[], json!("x")).is_err());
    case.put("tag", "create", &[1], json!("x")).unwrap();
    let file = json!({"order": {"line": [{"n": 1}, {"n": 3, "tag": ["x"]}]}, "sure": 1});
    assert_eq!(case.state.case_file(), Some(&file));
    case.put("line", "delete", &[0], Value::Null).unwrap();
    let file = json!({"order": {"line": [{"n": 3, "tag": ["x"]}]}, "sure": 1});
    assert_eq!(case.state.case_file(), Some(&file));
    assert!(case.put("sure", "delete", &[], Value::Null).is_err());
}

#[test]
fn a_file_with_which_a_case_begins_raises_its_events() {
    let plan = Plan::new(false).tasks("a b").file("order", ZeroOrOne).entry("b", "@order create");
    let case = plan.start(json!({"caseFile": {"order": 7}, "x": 1}));
    assert_eq!(
        (case.at("b"), case.variable("x"), case.variable("caseFile")),
        ("active", json!(1), Value::Null)
    );
}
