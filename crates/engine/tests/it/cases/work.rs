//! Tasks of cases: what goes in and out, what their failure is, and how it is cured.

use super::support::{Plan, call, feel, human, job, rule};
use heddle_cmmn::plan::{ItemEvent, LifecycleListener, Multiplicity, Work};
use heddle_engine::{Command, EventKind, IncidentCode, SkipTarget, Status};
use heddle_settings::{
    DataMapping, DecisionTask, Mappings, ResultMapping, ScriptTask, Setting, Target, UserTask,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

fn script(source: &str, result: &str) -> Work {
    let data = DataMapping { result_variable: Some(result.into()), ..DataMapping::default() };
    Work::Script { script: Arc::new(ScriptTask { source: feel(source), data, throws: None }) }
}

fn target(name: &str) -> Target {
    Target { variable: name.into(), members: Vec::new() }
}

#[test]
fn a_process_task_starts_a_run_and_waits_for_it() {
    let mut case = Plan::new(false).top("p", Work::Process { call: call("pay") }).start(json!({"amount": 5}));
    let run_id = case.state.calls()[0].run_id;
    let called = case.log.iter().find_map(|event| match &event.kind {
        EventKind::RunCalled(called) => Some(called.clone()),
        _ => None,
    });
    let called = called.unwrap();
    assert_eq!((&*called.called, called.input.get("amount")), ("pay", Some(&json!(5))));
    let output = json!({"paid": true}).as_object().cloned().unwrap();
    case.give(Command::CompleteCall { run_id, output }).unwrap();
    assert_eq!((case.status(), case.variable("paid")), (Status::Completed, json!(true)));
}

#[test]
fn what_a_called_run_did_not_do_is_a_failure_that_calls_anew() {
    let mut case = Plan::new(false)
        .tasks("a b")
        .top("p", Work::Case { call: call("pay") })
        .entry("b", "p fault")
        .start(json!({}));
    let run_id = case.state.calls()[0].run_id;
    let failed = Command::FailCall { run_id, code: None, message: "no".to_owned(), output: Map::new() };
    case.give(failed).unwrap();
    assert_eq!(
        (case.at("p"), case.at("b"), case.incidents()),
        ("failed", "active", vec![(IncidentCode::CallFailed, "p".to_owned())])
    );
    case.retry(json!({}));
    assert_eq!((case.at("p"), case.incidents(), case.state.calls().len()), ("active", vec![], 1));
    assert_ne!(case.state.calls()[0].run_id, run_id);
}

#[test]
fn termination_reaches_what_a_case_called() {
    let plan = || Plan::new(false).tasks("a").top("p", Work::Process { call: call("pay") });
    for end in 0..3 {
        let mut case = plan().exit("p", "a complete").start(json!({}));
        match end {
            0 => case.complete("a"),
            1 => case.go("p", "terminate").unwrap(),
            _ => case.give(Command::Cancel { reason: None }).unwrap(),
        }
        assert!(case.log.iter().any(|event| matches!(event.kind, EventKind::CallCancelled { .. })), "{end}");
        assert!(case.state.calls().is_empty());
    }
}

#[test]
fn a_task_that_is_not_waited_for_completes_at_once() {
    let fleeting = |own: &mut heddle_cmmn::plan::Item| own.extra.blocking = false;
    let plan = Plan::new(false)
        .top("p", Work::Process { call: call("pay") })
        .tasks("h")
        .with("p", fleeting)
        .with("h", fleeting);
    let case = plan.start(json!({}));
    assert_eq!((case.at("p"), case.at("h"), case.status()), ("completed", "completed", Status::Completed));
    let kinds = |wanted: fn(&EventKind) -> bool| case.log.iter().filter(|event| wanted(&event.kind)).count();
    assert_eq!(kinds(|kind| matches!(kind, EventKind::RunCalled(_))), 1);
    assert_eq!(kinds(|kind| matches!(kind, EventKind::CallCancelled { .. })), 0);
}

#[test]
fn a_job_without_an_attempt_left_is_a_failed_task() {
    let mut case = Plan::new(false).top("j", job("ship")).start(json!({}));
    let fail = |case: &super::support::Case| Command::FailJob {
        job_id: case.state.jobs()[0].job_id,
        message: "broken".to_owned(),
        details: None,
        retries: None,
        retry_after_ms: None,
        notes: None,
    };
    case.give(fail(&case)).unwrap();
    assert_eq!((case.at("j"), case.incidents()), ("failed", vec![(IncidentCode::JobFailed, "j".to_owned())]));
    case.retry(json!({}));
    assert_eq!((case.at("j"), case.state.jobs()[0].retries), ("active", 1));
    case.give(fail(&case)).unwrap();
    let job_id = case.state.jobs()[0].job_id;
    case.give(Command::SetJobRetries { job_id, retries: 2 }).unwrap();
    assert_eq!((case.at("j"), case.incidents()), ("active", vec![]));
    case.give(fail(&case)).unwrap();
    assert_eq!((case.at("j"), case.state.jobs()[0].retries), ("active", 1));
    case.give(fail(&case)).unwrap();
    // Somebody reactivates it, which is another attempt.
    case.go("j", "reactivate").unwrap();
    let variables = json!({"sent": 1}).as_object().cloned().unwrap();
    case.give(Command::CompleteJob { job_id, variables }).unwrap();
    assert_eq!((case.status(), case.variable("sent")), (Status::Completed, json!(1)));
}

#[test]
fn an_error_of_a_job_is_caught_by_nothing() {
    let mut case = Plan::new(false).top("j", job("ship")).start(json!({}));
    let job_id = case.state.jobs()[0].job_id;
    let thrown =
        Command::ThrowJobError { job_id, code: "E1".to_owned(), message: None, variables: Map::new() };
    case.give(thrown).unwrap();
    assert_eq!(case.incidents(), [(IncidentCode::UnhandledError, "j".to_owned())]);
    let incident = case.state.incidents()[0].id;
    assert_eq!(case.state.incidents()[0].options, ["retry", "skip", "suspend"]);
    let output = json!({"x": 1}).as_object().cloned().unwrap();
    case.give(Command::Skip { target: SkipTarget::Incident(incident), output }).unwrap();
    assert_eq!((case.status(), case.variable("x")), (Status::Completed, json!(1)));
}

#[test]
fn scripts_compute_and_a_decision_that_is_not_there_fails() {
    let decision = DecisionTask {
        decision: Setting::Literal("rate".into()),
        mapping: ResultMapping::Plain,
        data: DataMapping::default(),
    };
    let plan = Plan::new(false)
        .top("s", script("x + 1", "y"))
        .top("d", Work::Decision { decision: Arc::new(decision) });
    let mut case = plan.start(json!({"x": 1}));
    assert_eq!((case.variable("y"), case.at("s"), case.at("d")), (json!(2), "completed", "failed"));
    assert_eq!(case.incidents(), [(IncidentCode::DecisionError, "d".to_owned())]);
    // A failure that waits for a decision holds its stage, unless somebody says otherwise.
    case.go("d", "reactivate").unwrap();
    assert_eq!((case.at("d"), case.status(), case.incidents().len()), ("failed", Status::Waiting, 1));
    case.give(Command::CompleteCase).unwrap();
    assert_eq!((case.at("d"), case.status()), ("terminated", Status::Completed));
    // What somebody says has failed is done with.
    let mut case = Plan::new(false).tasks("a").start(json!({}));
    case.go("a", "fault").unwrap();
    assert_eq!(case.status(), Status::Completed);
}

#[test]
fn parameters_are_bound_to_case_file_items() {
    let plan = Plan::new(false)
        .file("order", Multiplicity::ZeroOrOne)
        .file("note", Multiplicity::ZeroOrOne)
        .tasks("a b");
    let mut plan = plan.entry("b", "@note create").with("a", |own| {
        own.extra.bound_inputs = vec![(0, "input".into())];
        own.extra.bound_outputs = vec![("result".into(), 1)];
    });
    plan = plan.top("p", Work::Process { call: call("pay") }).with("p", |own| {
        let inputs = vec![(target("twice"), Setting::Expression(feel("caseFile.order.total * 2")))];
        let outputs = vec![(target("receipt"), Setting::Expression(feel("given + twice")))];
        own.extra.mappings = Mappings { inputs, outputs };
    });
    let mut case = plan.start(json!({"caseFile": {"order": {"total": 5}}}));
    let instance = case.instance("a");
    assert_eq!(case.state.variable_at(Some(instance), "input"), Some(&json!({"total": 5})));
    case.complete_with("a", json!({"result": "fine"}));
    assert_eq!((case.at("b"), case.variable("result")), ("active", Value::Null));
    let run_id = case.state.calls()[0].run_id;
    let output = json!({"given": 7}).as_object().cloned().unwrap();
    case.give(Command::CompleteCall { run_id, output }).unwrap();
    assert_eq!(case.variable("receipt"), json!(17));
}

#[test]
fn a_performer_is_who_fills_the_role() {
    let performed = || {
        let work = Work::Human { task: Arc::new(UserTask::default()), performer: Some("r1".into()) };
        Plan::new(false).role("r1", "Adjuster").top("a", work).build()
    };
    let mut case = super::support::Case::new(performed());
    case.begin(json!({}));
    assert_eq!(case.state.tasks()[0].candidate_groups, ["Adjuster"]);
    let mut case = super::support::Case::new(performed());
    case.people.insert("r1".to_owned(), vec!["ada".to_owned()]);
    case.begin(json!({}));
    assert_eq!(
        (case.state.tasks()[0].candidate_users.clone(), case.state.tasks()[0].candidate_groups.len()),
        (vec!["ada".to_owned()], 0)
    );
}

#[test]
fn people_who_cannot_be_told_are_a_failure() {
    let task = UserTask { candidate_groups: Some(Setting::Expression(feel("team"))), ..UserTask::default() };
    let mut case = Plan::new(false)
        .top("a", Work::Human { task: Arc::new(task), performer: None })
        .tasks("b")
        .start(json!({}));
    assert_eq!(
        (case.at("a"), case.incidents()),
        ("failed", vec![(IncidentCode::ExpressionError, "a".to_owned())])
    );
    case.retry(json!({"team": "x"}));
    assert_eq!((case.at("a"), case.state.tasks().len()), ("active", 2));
}

#[test]
fn listeners_of_transitions_set_variables() {
    let plan = Plan::new(false).tasks("a b").with("a", |own| {
        let variable = Some(target("done"));
        let to = Some("completed".into());
        let source = feel("x + 1");
        own.extra.listeners =
            vec![LifecycleListener { events: Vec::new(), from: None, to, source, variable }];
    });
    let mut case = plan.start(json!({"x": 1}));
    assert_eq!(case.variable("done"), Value::Null);
    case.complete_with("a", json!({"x": 41}));
    assert_eq!(case.variable("done"), json!(42));
}

#[test]
fn listeners_are_told_that_an_item_comes_to_be_and_that_a_case_goes_on() {
    let counts = |event: ItemEvent, name: &str| {
        let (source, variable) = (feel(&format!("{name} + 1")), Some(target(name)));
        LifecycleListener { events: vec![event], from: None, to: None, source, variable }
    };
    let plan = Plan::new(false).tasks("a").with("a", |own| {
        own.extra.listeners = vec![counts(ItemEvent::Create, "made"), counts(ItemEvent::Exit, "left")];
    });
    let plan = plan.with("case", |own| {
        own.extra.listeners =
            vec![counts(ItemEvent::Create, "opened"), counts(ItemEvent::Reactivate, "again")];
    });
    let mut case = plan.start(json!({"opened": 0, "made": 0, "again": 0, "left": 0}));
    assert_eq!((case.variable("opened"), case.variable("made")), (json!(1), json!(1)));
    case.complete("a");
    case.give(Command::ReactivateCase).unwrap();
    assert_eq!((case.variable("again"), case.variable("left")), (json!(1), json!(0)));
}

#[test]
fn a_task_with_a_form_is_completed_by_its_own_id_alone() {
    let task = UserTask { form: Some(Arc::new(json!({"required": ["sum"]}))), ..UserTask::default() };
    let mut case =
        Plan::new(false).top("a", Work::Human { task: Arc::new(task), performer: None }).start(json!({}));
    let own = case.view().items.iter().rfind(|own| &*own.item_id == "a").unwrap().options.clone();
    assert!(!own.contains(&"complete".to_owned()), "{own:?}");
    assert!(case.go("a", "complete").is_err());
    case.complete_with("a", json!({"sum": 1}));
    assert_eq!(case.at("a"), "completed");
}

#[test]
fn a_budget_stops_a_case_and_a_retry_goes_on() {
    let plan = Plan::new(false).top("m", human()).with("m", |own| own.control.repetition = rule("yes"));
    let mut case = super::support::Case::new(plan.top("s", script("x", "y")).build());
    case.budget.activations = 3;
    case.begin(json!({"x": 1}));
    assert_eq!(case.incidents(), [(IncidentCode::Limit, "case".to_owned())]);
    case.budget.activations = 100;
    case.retry(json!({}));
    assert_eq!((case.at("m"), case.at("s"), case.variable("y")), ("active", "completed", json!(1)));
}

#[test]
fn a_case_knows_who_started_it_and_its_business_status() {
    let plan = Plan::new(false).tasks("a b").with("case", |own| {
        own.extra.settings.insert("initiator".to_owned(), json!("who"));
    });
    let plan = plan.with("a", |own| {
        own.extra.settings.insert("businessStatus".to_owned(), json!("checked"));
    });
    let user = heddle_kernel::UserId(uuid::Uuid::from_u128(7));
    let mut case = super::support::Case::new(plan.build());
    case.actor = Some(user);
    case.begin(json!({}));
    assert_eq!(
        (case.variable("who"), case.variable("businessStatus")),
        (json!(user.to_string()), Value::Null)
    );
    case.complete("a");
    assert_eq!(case.variable("businessStatus"), json!("checked"));
}
