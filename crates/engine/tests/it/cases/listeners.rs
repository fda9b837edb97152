//! Event listeners: timers, users, messages, signals, variables, and the reactivation of a case.

use super::support::{Plan, human, rule, stage, timer, user_event, when};
use heddle_cmmn::plan::{Multiplicity, Work};
use heddle_engine::{Command, Rejection, RejectionKind, Status};
use heddle_kernel::UserId;
use heddle_settings::{Setting, TimerKind};
use serde_json::{Value, json};

fn text(text: &str) -> Setting {
    Setting::Literal(text.into())
}

#[test]
fn a_timer_occurs_when_it_is_due() {
    let plan =
        Plan::new(false).tasks("a b").top("t", timer(TimerKind::Duration, "PT1H")).entry("b", "t occur");
    let mut case = plan.start(json!({}));
    case.advance(3599);
    assert_eq!((case.at("t"), case.at("b")), ("available", "available"));
    case.advance(1);
    assert_eq!((case.at("t"), case.at("b")), ("completed", "active"));
}

#[test]
fn a_cycle_comes_again_as_long_as_it_has_slots() {
    let plan =
        Plan::new(false).tasks("a b").top("t", timer(TimerKind::Cycle, "R3/PT1H")).entry("b", "t occur");
    let plan = plan
        .with("t", |own| own.control.repetition = rule("yes"))
        .with("b", |own| own.control.repetition = rule("yes"));
    let mut case = plan.start(json!({}));
    case.advance(7200);
    assert_eq!(
        (case.states("t"), case.states("b")),
        (vec!["completed", "completed", "available"], vec!["active", "active", "available"])
    );
    case.advance(36_000);
    assert_eq!((case.states("t"), case.states("b").len()), (vec!["completed"; 3], 4));
    // Without a rule it occurs once.
    let mut case = Plan::new(false).tasks("a").top("t", timer(TimerKind::Cycle, "R3/PT1H")).start(json!({}));
    case.advance(36_000);
    assert_eq!(case.states("t"), ["completed"]);
}

#[test]
fn a_timer_may_run_from_a_transition_on() {
    let plan = Plan::new(false).file("order", Multiplicity::ZeroOrOne).tasks("a b");
    let plan = plan.top("t", timer(TimerKind::Duration, "PT1H")).starts("t", "a complete");
    let mut case =
        plan.top("f", timer(TimerKind::Duration, "PT2H")).starts("f", "@order create").start(json!({}));
    assert!(case.state.timers().is_empty());
    case.advance(7200);
    case.complete("a");
    case.put("order", "create", &[], json!(1)).unwrap();
    assert_eq!(case.state.timers().len(), 2);
    case.advance(3600);
    assert_eq!((case.at("t"), case.at("f")), ("completed", "available"));
}

#[test]
fn a_timer_of_a_suspended_stage_waits_for_its_resumption() {
    let plan =
        Plan::new(false).tasks("a").top("s", stage()).item("t", "s", timer(TimerKind::Duration, "PT1H"));
    let mut case = plan.item("b", "s", human()).entry("b", "t occur").start(json!({}));
    case.go("s", "suspend").unwrap();
    assert!(case.state.timers().is_empty());
    case.advance(7200);
    case.go("s", "resume").unwrap();
    case.advance(0);
    assert_eq!((case.at("t"), case.at("b")), ("completed", "active"));
}

#[test]
fn a_user_event_is_for_its_roles() {
    let roles = vec!["r1".into()];
    let plan = Plan::new(false)
        .role("r1", "Chief")
        .tasks("a b")
        .top("u", Work::UserEvent { roles })
        .entry("b", "u occur");
    let mut case = plan.start(json!({}));
    case.actor = Some(UserId(uuid::Uuid::from_u128(1)));
    assert_eq!(case.go("u", "occur").unwrap_err().kind(), RejectionKind::Forbidden);
    case.roles = vec!["r1".to_owned()];
    case.raise("u", json!({"why": "late"})).unwrap();
    assert_eq!((case.at("b"), case.variable("why")), ("active", json!("late")));
    assert!(matches!(case.go("u", "occur"), Err(Rejection::WrongTransition { .. })));
}

#[test]
fn a_message_brings_values_for_the_case_file_and_the_variables() {
    let plan = Plan::new(false).file("order", Multiplicity::ZeroOrOne).tasks("a b c");
    let plan = plan.top("m", Work::Message { name: text("ordered"), key: None }).entry("b", "m occur");
    let plan = plan.entry("c", "@order create");
    let mut case = super::support::Case::new(plan.build());
    case.key = Some("K1".to_owned());
    case.begin(json!({}));
    let open = case.state.subscriptions();
    assert_eq!(
        (&*open[0].name, open[0].correlation_key.as_deref(), &*open[0].node_id),
        ("ordered", Some("K1"), "m")
    );
    let payload = json!({"order": {"total": 5}, "by": "mail"});
    case.give(Command::DeliverMessage { subscription_id: open[0].id, payload }).unwrap();
    assert_eq!((case.at("b"), case.at("c")), ("active", "active"));
    assert_eq!(
        (case.state.case_file(), case.variable("by")),
        (Some(&json!({"order": {"total": 5}})), json!("mail"))
    );
    let gone = Command::DeliverMessage { subscription_id: open[0].id, payload: Value::Null };
    assert!(case.give(gone).is_err());
}

#[test]
fn signals_and_variables_are_listened_to() {
    let plan = Plan::new(false)
        .tasks("a b c d")
        .top("s", Work::Signal { name: text("alarm") })
        .entry("b", "s occur");
    let variable = |change: Option<&str>| Work::Variable { name: "x".into(), change: change.map(Into::into) };
    let plan = plan
        .top("v", variable(None))
        .top("w", variable(Some("update")))
        .entry("c", "v occur")
        .entry("d", "w occur");
    let mut case = plan.start(json!({}));
    let subscription_id = case.state.subscriptions()[0].id;
    case.give(Command::DeliverSignal { subscription_id, payload: json!({"x": 1}) }).unwrap();
    assert_eq!(["b", "c", "d"].map(|item| case.at(item)), ["active", "active", "available"]);
    case.set(json!({"x": 1}));
    assert_eq!(case.at("d"), "available");
    case.set(json!({"x": 2}));
    assert_eq!(case.at("d"), "active");
}

#[test]
fn a_listener_may_be_there_by_a_condition() {
    let plan = Plan::new(false)
        .tasks("a")
        .top("m", Work::Message { name: text("go"), key: None })
        .top("u", user_event());
    let there = |own: &mut heddle_cmmn::plan::Item| own.extra.available = Some(when("open"));
    let mut case = plan.with("m", there).with("u", there).start(json!({"open": false}));
    assert!(case.state.subscriptions().is_empty() && case.go("u", "occur").is_err());
    case.set(json!({"open": true}));
    assert_eq!(case.state.subscriptions().len(), 1);
    case.set(json!({"open": false}));
    assert!(case.state.subscriptions().is_empty());
    case.set(json!({"open": true}));
    case.go("u", "occur").unwrap();
    assert_eq!(case.at("u"), "completed");
}

#[test]
fn a_case_that_completed_is_reactivated_by_its_listener() {
    let plan =
        Plan::new(true).tasks("a b").top("r", Work::Reactivation { available: None }).entry("b", "r occur");
    let mut case = plan.start(json!({}));
    assert!(case.go("r", "occur").is_err());
    case.complete("a");
    assert_eq!((case.status(), case.at("r"), case.at("b")), (Status::Completed, "available", "terminated"));
    let view = case.view();
    let own = view.items.iter().find(|own| &*own.item_id == "r").unwrap();
    assert_eq!(own.options, ["occur"]);
    case.go("r", "occur").unwrap();
    assert_eq!((case.status(), case.at("b")), (Status::Waiting, "active"));
    case.complete("b");
    assert_eq!(case.status(), Status::Completed);
}

#[test]
fn each_of_many_items_shows_what_it_waits_for_itself() {
    let mut plan = Plan::new(false).discretionary("x", "case", &[], None);
    for number in 1..=20 {
        plan = plan.top(&format!("t{number}"), timer(TimerKind::Any, &format!("PT{number}H")));
        plan = plan.top(&format!("j{number}"), super::support::job("pay"));
    }
    let mut case = plan.start(json!({}));
    // The failures of all jobs but one are incidents of their own.
    for number in 1..20 {
        let (item, message) = (format!("j{number}"), format!("no money for {number}"));
        let mut jobs = case.state.jobs().into_iter();
        let job_id = jobs.find(|job| *job.node_id == *item).unwrap().job_id;
        let (details, retries, retry_after_ms) = (None, Some(0), None);
        case.give(Command::FailJob { job_id, message, details, retries, retry_after_ms, notes: None })
            .unwrap();
    }
    let view = case.view();
    for own in view.items.iter().filter(|own| own.parent_id.is_some()) {
        let waits = own.waiting_for.as_ref().unwrap();
        let (kind, number) = own.item_id.split_at(1);
        let number: i64 = number.parse().unwrap();
        if kind == "t" {
            assert_eq!(waits.due_at, Some(case.now.plus_seconds(number * 3600)), "{}", own.item_id);
        } else if number < 20 {
            let name = waits.name.as_deref().unwrap_or_default();
            assert!(waits.incident_id.is_some() && name.contains(&format!("for {number}")), "{waits:?}");
        } else {
            assert_eq!((waits.incident_id, waits.name.as_deref()), (None, Some("pay")));
        }
    }
    // A discretionary item may be planned as often as it may be there.
    assert!(view.planning[0].applicable);
    case.plan("x").unwrap();
    assert!(!case.view().planning[0].applicable);
}
