//! What is not lost: values, ends of work and standard events that wait for something.

use super::support::{Case, Plan, call, feel, human, job, milestone, rule, user_event};
use heddle_cmmn::plan::Multiplicity::{ZeroOrMore, ZeroOrOne};
use heddle_cmmn::plan::{Item, Parameter, Rule, StartEvent, Work};
use heddle_engine::{Command, EventKind, IncidentCode, Rejection, RejectionKind, Status, Trigger};
use heddle_kernel::UserId;
use heddle_settings::{JobEnd, Setting, Target};
use serde_json::{Map, Value, json};
use std::sync::Arc;

fn values(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

#[test]
fn the_file_is_there_before_what_is_in_the_case() {
    let large = |own: &mut Item| own.control.required = rule("caseFile.order.total > 10");
    let plan = || {
        Plan::new(true).file("order", ZeroOrOne).file("order.note", ZeroOrOne).tasks("a b").with("a", large)
    };
    let told = |total: u32| plan().start(json!({"caseFile": {"note": "x", "order": {"total": total}}}));
    assert!(told(11).view().items[1].required);
    let case = told(1);
    assert!(!case.view().items[1].required);
    assert!(case.incidents().is_empty());
    // Its standard events come behind: what is in the case hears them.
    let case = plan().entry("b", "@order create").start(json!({"caseFile": {"order": {"total": 1}}}));
    assert_eq!(case.at("b"), "active");
}

#[test]
fn a_start_with_a_wrong_file_is_refused() {
    let plan = Plan::new(true).file("order", ZeroOrOne).file("order.note", ZeroOrOne).tasks("a").build();
    for file in [json!({"note": "x"}), json!({"other": 1}), json!([1])] {
        let mut case = Case::new(Arc::clone(&plan));
        let trigger = Trigger::Manual { start_node: None };
        let start = Command::Start { trigger, input: values(json!({"caseFile": file})) };
        let refused = case.give(start).unwrap_err();
        assert_eq!(refused.kind(), RejectionKind::Invalid, "{refused}");
    }
}

fn event_start(target: Option<&str>, input: Value) -> Case {
    let mut plan = Plan::new(true).file("order", ZeroOrOne).tasks("a").build();
    let target = target.map(|name| Target::read(name).unwrap());
    Arc::get_mut(&mut plan).unwrap().starts.push(StartEvent { event_type: "placed".into(), target });
    let mut case = Case::new(plan);
    let trigger = Trigger::Message { name: "placed".to_owned(), node_id: "the-case".to_owned() };
    case.give(Command::Start { trigger, input: values(input) }).unwrap();
    case
}

#[test]
fn the_payload_of_a_start_event_goes_to_its_target() {
    let payload = json!({"order": {"no": 1}, "by": "me"});
    let case = event_start(Some("what.came"), payload.clone());
    assert_eq!(case.variable("what"), json!({"came": payload}));
    assert_eq!(case.state.case_file(), Some(&json!({})));
    assert_eq!(event_start(Some("what"), json!({"payload": 5})).variable("what"), json!(5));
    let case = event_start(Some("order"), json!({"no": 1}));
    assert_eq!(case.state.case_file(), Some(&json!({"order": {"no": 1}})));
    // Without a target members that are called as case file items are these.
    let case = event_start(None, payload);
    assert_eq!(case.state.case_file(), Some(&json!({"order": {"no": 1}})));
    assert_eq!((case.variable("by"), case.variable("order")), (json!("me"), Value::Null));
}

#[test]
fn an_input_of_the_case_is_refined_before_it_goes_into_the_file() {
    let start = |source: &str| {
        let mut plan = Plan::new(true).file("order", ZeroOrOne).tasks("a").build();
        let refinement = Some(feel(source));
        let input = Parameter { name: "number".into(), bound: Some(0), refinement };
        Arc::get_mut(&mut plan).unwrap().inputs.push(input);
        let mut case = Case::new(plan);
        case.begin(json!({"number": 7}));
        case
    };
    assert_eq!(start("{no: number + 1}").state.case_file(), Some(&json!({"order": {"no": 8}})));
    let case = start("absent");
    assert_eq!(case.incidents(), [(IncidentCode::ExpressionError, "case".to_owned())]);
}

#[test]
fn a_task_without_a_type_waits_for_its_completion() {
    let quick = |own: &mut Item| own.extra.blocking = false;
    let plan = Plan::new(false).top("t", Work::Task).top("q", Work::Task).with("q", quick);
    let mut case = plan.tasks("a").entry("a", "t complete").start(json!({}));
    assert_eq!((case.at("t"), case.at("q"), case.at("a")), ("active", "completed", "available"));
    let view = case.view();
    assert!(view.items[1].options.contains(&"complete".to_owned()));
    case.go("t", "complete").unwrap();
    assert_eq!((case.at("t"), case.at("a")), ("completed", "active"));
}

#[test]
fn what_ends_while_its_item_is_suspended_is_taken_up() {
    for (fails, state) in [(false, "completed"), (true, "failed")] {
        let plan = Plan::new(false).tasks("a").top("p", Work::Process { call: call("pay") }).tasks("b");
        let mut case = plan.entry("b", "p complete").start(json!({}));
        let run_id = case.state.calls()[0].run_id;
        case.go("p", "suspend").unwrap();
        let output = values(json!({"paid": 3}));
        case.give(match fails {
            false => Command::CompleteCall { run_id, output },
            true => Command::FailCall { run_id, code: None, message: "no".to_owned(), output },
        })
        .unwrap();
        assert_eq!(
            (case.at("p"), case.variable("paid"), case.state.calls().len()),
            ("suspended", Value::Null, 0)
        );
        // With all of the case around it.
        case.give(Command::Suspend).unwrap();
        case.give(Command::Resume).unwrap();
        assert_eq!(case.at("p"), "suspended");
        case.go("p", "resume").unwrap();
        assert_eq!(case.at("p"), state);
        if fails {
            assert_eq!(case.incidents(), [(IncidentCode::CallFailed, "p".to_owned())]);
            case.retry(json!({}));
            assert_eq!((case.at("p"), case.state.calls().len()), ("active", 1));
        } else {
            assert_eq!((case.variable("paid"), case.at("b")), (json!(3), "active"));
        }
    }
}

#[test]
fn a_job_ends_while_its_item_is_suspended() {
    let start = || {
        let mut case = Plan::new(false).tasks("a").top("j", job("pay")).start(json!({}));
        case.go("j", "suspend").unwrap();
        let job_id = case.state.jobs()[0].job_id;
        (case, job_id)
    };
    let (mut case, job_id) = start();
    case.give(Command::CompleteJob { job_id, variables: values(json!({"paid": 1})) }).unwrap();
    case.go("j", "resume").unwrap();
    assert_eq!((case.at("j"), case.variable("paid")), ("completed", json!(1)));
    let (mut case, job_id) = start();
    let fail = Command::FailJob {
        job_id,
        message: "no".to_owned(),
        details: None,
        retries: None,
        retry_after_ms: None,
        notes: None,
    };
    case.give(fail).unwrap();
    assert_eq!(case.at("j"), "suspended");
    case.go("j", "resume").unwrap();
    assert_eq!((case.at("j"), case.incidents()), ("failed", vec![(IncidentCode::JobFailed, "j".to_owned())]));
    case.retry(json!({}));
    assert_eq!((case.at("j"), case.state.jobs().len(), case.state.jobs()[0].retries), ("active", 1, 1));
}

#[test]
fn a_job_of_the_service_ends_while_the_case_is_suspended() {
    let mut case = Plan::new(false).tasks("a").top("j", job("pay")).start(json!({}));
    let job_id = case.state.jobs()[0].job_id;
    case.give(Command::Suspend).unwrap();
    let end = JobEnd::Completed { variables: values(json!({"paid": 1})) };
    case.give(Command::EndJob { job_id, end }).unwrap();
    assert_eq!((case.at("j"), case.variable("paid")), ("suspended", Value::Null));
    case.give(Command::Resume).unwrap();
    assert_eq!((case.at("j"), case.variable("paid")), ("completed", json!(1)));
}

#[test]
fn values_that_cannot_be_left_behind_are_tried_again() {
    let plan = Plan::new(false).file("order", ZeroOrOne).file("order.note", ZeroOrOne).tasks("a b");
    let bound = |own: &mut Item| own.extra.bound_outputs = vec![("note".into(), 1)];
    let mut case = plan.with("a", bound).start(json!({}));
    case.complete_with("a", json!({"note": "x", "more": 2}));
    assert_eq!(case.incidents(), [(IncidentCode::ExpressionError, "a".to_owned())]);
    case.put("order", "create", &[], json!({})).unwrap();
    case.retry(json!({}));
    assert_eq!((case.at("a"), case.variable("more")), ("completed", json!(2)));
    assert_eq!(case.state.case_file(), Some(&json!({"order": {"note": "x"}})));
}

#[test]
fn a_list_takes_the_place_of_what_there_was() {
    let plan = Plan::new(false).file("lines", ZeroOrMore).tasks("a b");
    let bound = |own: &mut Item| own.extra.bound_outputs = vec![("lines".into(), 0)];
    let mut case = plan.with("a", bound).start(json!({"caseFile": {"lines": [1, 2, 3, 4]}}));
    case.complete_with("a", json!({"lines": [1, 5]}));
    assert_eq!(case.state.case_file(), Some(&json!({"lines": [1, 5]})));
    let told = case.log.iter().filter(|event| matches!(event.kind, EventKind::CaseFileChanged { .. }));
    assert_eq!(told.count(), 4 + 1 + 2);
}

#[test]
fn standard_events_outlive_the_budget_that_stopped_their_round() {
    let plan = Plan::new(false).tasks("a b c k").entry("b", "a complete").entry("c", "b start");
    let mut case = plan.start(json!({}));
    case.budget.activations = 1;
    case.complete("a");
    assert_eq!(case.incidents(), [(IncidentCode::Limit, "case".to_owned())]);
    assert_eq!((case.at("a"), case.at("b")), ("completed", "available"));
    // Nothing of it happens as long as the budget stands against it, and one incident tells of that.
    case.complete("k");
    assert_eq!((case.at("b"), case.incidents().len()), ("available", 1));
    case.budget.activations = 100;
    case.retry(json!({}));
    assert_eq!((case.at("b"), case.at("c"), case.incidents().len()), ("active", "active", 0));
}

#[test]
fn every_one_of_many_instances_is_heard() {
    let many = |own: &mut Item| {
        own.control.repetition = Rule::Yes;
        own.control.repeats.collection = Some(Setting::Literal((0..40).collect::<Vec<u32>>().into()));
    };
    let again = |own: &mut Item| own.control.repetition = Rule::Yes;
    let plan = Plan::new(false).top("m", milestone()).with("m", many).top("b", human()).with("b", again);
    let case = plan.entry("b", "m occur").start(json!({}));
    let active = case.states("b").into_iter().filter(|state| *state == "active");
    assert_eq!(active.count(), 40);
    assert_eq!(case.states("m").len(), 16);
}

#[test]
fn a_collection_that_is_too_large_for_a_step_comes_whole_or_not_at_all() {
    let many = |own: &mut Item| {
        own.control.repetition = Rule::Yes;
        own.control.repeats.collection = Some(Setting::Literal((0..40).collect::<Vec<u32>>().into()));
    };
    let plan = Plan::new(false).top("go", user_event()).tasks("b k").with("b", many);
    let mut case = plan.entry("b", "go occur").start(json!({}));
    case.budget.activations = 50;
    case.raise("go", Value::Null).unwrap();
    assert_eq!((case.states("b").len(), case.incidents().len()), (1, 1));
    case.budget.activations = 500;
    case.retry(json!({}));
    let active = case.states("b").into_iter().filter(|state| *state == "active");
    assert_eq!((active.count(), case.incidents().len()), (40, 0));
}

#[test]
fn a_suspended_case_ends_when_nobody_waits_for_it() {
    let start = || {
        let mut case = Plan::new(false).tasks("a").start(json!({}));
        case.give(Command::Suspend).unwrap();
        case
    };
    let mut case = start();
    case.actor = Some(UserId(uuid::Uuid::from_u128(1)));
    let refused = case.give(Command::Cancel { reason: None });
    assert!(matches!(refused, Err(Rejection::WrongTransition { .. })), "{refused:?}");
    case.actor = None;
    case.give(Command::Cancel { reason: None }).unwrap();
    assert_eq!((case.status(), case.at("a")), (Status::Cancelled, "terminated"));
    let mut case = start();
    case.give(Command::CloseCase).unwrap();
    assert!(case.state.ended_at().is_some());
}

#[test]
fn an_output_that_cannot_be_told_keeps_the_case() {
    let mut plan = Plan::new(true).file("order", ZeroOrOne).tasks("a").build();
    let refinement = Some(feel("caseFile.order.total + x.y"));
    let output = Parameter { name: "sum".into(), bound: Some(0), refinement };
    Arc::get_mut(&mut plan).unwrap().outputs.push(output);
    let mut case = Case::new(plan);
    case.begin(json!({"x": {"y": 2}, "caseFile": {"order": {"total": 1}}}));
    case.complete("a");
    assert_eq!(case.status(), Status::Completed);
    assert_eq!(case.state.output().unwrap()["sum"], json!(3));
}
