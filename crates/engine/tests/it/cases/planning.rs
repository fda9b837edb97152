//! Discretionary items (clause 5.4.9): planning tables, applicability and roles.

use super::support::{Plan, human, rule, stage};
use heddle_engine::{Command, ItemTarget, Rejection, RejectionKind, Status};
use heddle_kernel::UserId;
use serde_json::json;

fn user(n: u128) -> UserId {
    UserId(uuid::Uuid::from_u128(n))
}

#[test]
fn a_discretionary_item_comes_when_somebody_plans_it() {
    let mut case = Plan::new(false).tasks("a").discretionary("extra", "case", &[], None).start(json!({}));
    assert_eq!(case.at("extra"), "absent");
    let planning = case.view().planning;
    assert_eq!((&*planning[0].item_id, planning[0].applicable), ("extra", true));
    case.complete("a");
    // Something is left that may be planned.
    assert_eq!(case.status(), Status::Waiting);
    case.plan("extra").unwrap();
    assert_eq!(case.at("extra"), "active");
    let again = case.plan("extra").unwrap_err();
    assert!(matches!(again, Rejection::NotPlannable { .. }), "{again}");
    let host = Some(ItemTarget::Item("nobody".to_owned()));
    let nobody = case.give(Command::PlanItem { host, item: "extra".to_owned() }).unwrap_err();
    assert!(nobody.to_string().contains("the host that is named"), "{nobody}");
    assert!(!case.view().planning[0].applicable);
    case.complete("extra");
    assert_eq!(case.status(), Status::Completed);
}

#[test]
fn a_case_with_something_left_to_plan_is_completed_by_hand() {
    let mut case = Plan::new(false).tasks("a").discretionary("extra", "case", &[], None).start(json!({}));
    assert!(case.give(Command::CompleteCase).is_err());
    case.complete("a");
    case.give(Command::CompleteCase).unwrap();
    assert_eq!(case.status(), Status::Completed);
    let mut case = Plan::new(true).tasks("a").discretionary("extra", "case", &[], None).start(json!({}));
    case.complete("a");
    assert_eq!(case.status(), Status::Completed);
}

#[test]
fn applicability_rules_are_asked_at_the_planning() {
    let mut case =
        Plan::new(false).tasks("a").discretionary("extra", "case", &[], Some("x > 1")).start(json!({"x": 0}));
    let refused = case.plan("extra").unwrap_err();
    assert!(refused.to_string().contains("`x > 1`"), "{refused}");
    assert_eq!(refused.kind(), RejectionKind::Conflict);
    case.set(json!({"x": "two"}));
    assert!(case.plan("extra").is_err());
    case.set(json!({"x": 2}));
    case.plan("extra").unwrap();
    // What is not applicable is nothing that is left.
    let mut case =
        Plan::new(false).tasks("a").discretionary("extra", "case", &[], Some("x > 1")).start(json!({"x": 0}));
    case.complete("a");
    assert_eq!(case.status(), Status::Completed);
}

#[test]
fn only_who_fills_a_role_plans() {
    let plan =
        || Plan::new(false).role("r1", "Adjuster").tasks("a").discretionary("extra", "case", &["r1"], None);
    let mut case = plan().start(json!({}));
    case.actor = Some(user(7));
    let refused = case.plan("extra").unwrap_err();
    let roles = vec!["Adjuster".to_owned()];
    assert_eq!(refused, Rejection::NotAllowed { item: "extra".to_owned(), roles });
    assert_eq!(refused.kind(), RejectionKind::Forbidden);
    case.roles = vec!["Clerk".to_owned()];
    assert!(case.plan("extra").is_err());
    case.roles.push("Adjuster".to_owned());
    case.plan("extra").unwrap();
    // The case itself may know who fills it.
    let mut case = super::support::Case::new(plan().build());
    case.people.insert("r1".to_owned(), vec![user(7).to_string()]);
    case.begin(json!({}));
    case.actor = Some(user(8));
    assert!(case.plan("extra").is_err());
    case.actor = Some(user(7));
    case.plan("extra").unwrap();
}

#[test]
fn a_human_task_may_have_a_planning_table() {
    let mut case = Plan::new(false).tasks("a b").discretionary("extra", "a", &[], None).start(json!({}));
    case.plan("extra").unwrap();
    assert_eq!(
        case.view().items.iter().rfind(|own| &*own.item_id == "extra").unwrap().parent_id.unwrap().0,
        0
    );
    case.complete("extra");
    case.complete("a");
    assert!(case.plan("extra").is_err());
    case.complete("b");
    assert_eq!(case.status(), Status::Completed);
}

#[test]
fn a_planned_item_has_criteria_and_rules_like_any_other() {
    let plan = Plan::new(false).tasks("a").top("s", stage()).item("b", "s", human());
    let plan = plan.discretionary("extra", "s", &[], None).entry("extra", "a complete");
    let plan = plan.with("extra", |own| own.control.repetition = rule("yes"));
    let mut case = plan.start(json!({}));
    case.plan("extra").unwrap();
    assert_eq!(case.states("extra"), ["available"]);
    case.complete("a");
    assert_eq!(case.states("extra"), ["active", "available"]);
    let host = Some(ItemTarget::Item("s".to_owned()));
    case.give(Command::PlanItem { host, item: "extra".to_owned() }).unwrap();
    let nowhere = Some(ItemTarget::Item("case".to_owned()));
    assert!(case.give(Command::PlanItem { host: nowhere, item: "extra".to_owned() }).is_err());
    assert!(case.plan("b").unwrap_err().to_string().contains("no discretionary item"));
    assert_eq!(case.plan("nothing").unwrap_err().kind(), RejectionKind::NotFound);
}
