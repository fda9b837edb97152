//! Life cycles of items and of the case (clause 8.4).

use super::support::{Plan, human, milestone, rule, stage, user_event};
use heddle_cmmn::plan::ItemEvent;
use heddle_engine::{
    Command, ItemState, ItemTarget, LifeCycle, Rejection, RejectionKind, State, Status, transition,
};
use serde_json::{Value, json};

/// The table of the standard, one row each.
const ROWS: &str = "
case complete active completed
case terminate active terminated
case exit active terminated
case fault active failed
case suspend active suspended
case resume suspended active
case reactivate completed active
case reactivate terminated active
case reactivate failed active
case reactivate suspended active
case close completed closed
case close terminated closed
case close failed closed
case close suspended closed
work enable available enabled
work manualStart enabled active
work disable enabled disabled
work reenable disabled enabled
work start available active
work complete active completed
work terminate active terminated
work exit available terminated
work exit enabled terminated
work exit disabled terminated
work exit active terminated
work exit failed terminated
work exit suspended terminated
work fault active failed
work reactivate failed active
work suspend active suspended
work resume suspended active
work parentSuspend available suspended
work parentSuspend enabled suspended
work parentSuspend disabled suspended
work parentSuspend active suspended
work parentSuspend failed suspended
work parentResume suspended before
occurrence occur available completed
occurrence terminate available terminated
occurrence parentTerminate available terminated
occurrence parentTerminate suspended terminated
occurrence suspend available suspended
occurrence resume suspended available
occurrence parentSuspend available suspended
occurrence parentResume suspended before
";

fn word<T: serde::de::DeserializeOwned>(text: &str) -> T {
    serde_json::from_value(Value::from(text)).unwrap()
}

#[test]
fn transitions_are_those_of_the_standard_and_no_others() {
    let states = "available enabled disabled active suspended failed completed terminated closed";
    let events = "close complete create disable enable exit fault manualStart occur parentResume parentSuspend \
                  parentTerminate reactivate reenable resume start suspend terminate";
    let cycles =
        [("case", LifeCycle::Case), ("work", LifeCycle::Work), ("occurrence", LifeCycle::Occurrence)];
    for (name, cycle) in cycles {
        for event in events.split_whitespace() {
            for state in states.split_whitespace() {
                let row = ROWS.lines().map(|row| row.split_whitespace().collect::<Vec<_>>());
                let mut row = row.filter(|row| row.starts_with(&[name, event, state]));
                let expected = row.next().map(|row| match row[3] {
                    "before" => ItemState::Enabled,
                    to => word(to),
                });
                // What the parent suspended is resumed by the parent.
                let before = (event == "parentResume").then_some(ItemState::Enabled);
                let found = transition(cycle, word(state), before, word::<ItemEvent>(event));
                assert_eq!(found, expected, "{name} {event} {state}");
            }
        }
    }
    let own = transition(LifeCycle::Work, ItemState::Suspended, Some(ItemState::Active), ItemEvent::Resume);
    assert_eq!(own, None);
}

#[test]
fn a_task_is_enabled_disabled_and_started_by_hand() {
    let mut case =
        Plan::new(false).tasks("a b").with("a", |own| own.control.manual = rule("yes")).start(json!({}));
    assert_eq!((case.at("a"), case.at("b")), ("enabled", "active"));
    case.go("a", "disable").unwrap();
    assert_eq!(case.at("a"), "disabled");
    case.go("a", "reenable").unwrap();
    case.go("a", "disable").unwrap();
    // What is disabled is enabled again by either word.
    case.go("a", "enable").unwrap();
    assert_eq!(case.at("a"), "enabled");
    case.go("a", "manualStart").unwrap();
    case.complete("a");
    case.complete("b");
    assert_eq!((case.at("a"), case.at("case"), case.status()), ("completed", "completed", Status::Completed));
}

#[test]
fn what_follows_of_itself_is_not_asked_for() {
    let mut case = Plan::new(false)
        .tasks("a b")
        .entry("b", "a complete")
        .top("m", milestone())
        .entry("m", "b complete")
        .start(json!({}));
    for (item, transition) in [
        ("b", "manualStart"),
        ("b", "start"),
        ("b", "enable"),
        ("b", "exit"),
        ("m", "occur"),
        ("a", "parentSuspend"),
        ("a", "reactivate"),
    ] {
        let refused = case.go(item, transition).unwrap_err();
        assert!(matches!(refused, Rejection::WrongTransition { .. }), "{item} {transition}: {refused}");
        assert_eq!(refused.kind(), RejectionKind::Conflict);
    }
    assert_eq!(case.go("nothing", "complete").unwrap_err().kind(), RejectionKind::NotFound);
}

#[test]
fn a_suspended_stage_remembers_what_was_in_it() {
    let plan = Plan::new(false).top("s", stage()).item("a", "s", human()).item("b", "s", human());
    let plan = plan.item("c", "s", human()).with("c", |own| own.control.manual = rule("yes")).item(
        "u",
        "s",
        user_event(),
    );
    let mut case = plan.start(json!({}));
    case.go("b", "suspend").unwrap();
    case.go("s", "suspend").unwrap();
    for item in ["s", "a", "b", "c", "u"] {
        assert_eq!(case.at(item), "suspended", "{item}");
    }
    // Nobody completes what is suspended, nor resumes it by itself.
    let task_id = case.state.tasks()[0].task_id;
    let complete =
        Command::CompleteTask { task_id, outcome: None, values: Default::default(), comment: None };
    assert_eq!(case.give(complete), Err(Rejection::ItemSuspended("a".to_owned())));
    assert!(case.go("a", "resume").is_err());
    case.go("s", "resume").unwrap();
    let states = ["s", "a", "b", "c", "u"].map(|item| case.at(item));
    assert_eq!(states, ["active", "active", "suspended", "enabled", "available"]);
    case.go("b", "resume").unwrap();
    assert_eq!(case.at("b"), "active");
}

#[test]
fn the_task_of_an_item_is_found_by_the_item_and_by_its_instance() {
    let mut case = Plan::new(false).tasks("a b").top("m", milestone()).start(json!({}));
    let by_item = |name: &str| ItemTarget::Item(name.to_owned());
    let task = case.state.task_of_item(&by_item("b")).unwrap();
    assert_eq!((&*task.node_id, task.node_instance_id), ("b", case.instance("b")));
    let by_instance = case.state.task_of_item(&ItemTarget::Instance(task.node_instance_id)).unwrap();
    assert_eq!(by_instance.task_id, task.task_id);
    for other in ["m", "nothing"] {
        assert!(case.state.task_of_item(&by_item(other)).is_none(), "{other}");
    }
    case.go("b", "suspend").unwrap();
    assert!(case.state.task_of_item(&by_item("b")).is_none(), "none of its instances is at work");
    case.go("b", "resume").unwrap();
    case.complete("b");
    assert!(case.state.task_of_item(&by_item("b")).is_none());
}

#[test]
fn a_case_is_suspended_and_resumed() {
    let mut case = Plan::new(false).tasks("a").start(json!({}));
    case.give(Command::Suspend).unwrap();
    assert_eq!((case.status(), case.at("case"), case.at("a")), (Status::Suspended, "suspended", "suspended"));
    assert_eq!(case.go("a", "complete"), Err(Rejection::Suspended));
    case.give(Command::Resume).unwrap();
    assert_eq!((case.status(), case.at("case"), case.at("a")), (Status::Waiting, "active", "active"));
    case.give(Command::Suspend).unwrap();
    case.give(Command::ReactivateCase).unwrap();
    assert_eq!((case.status(), case.at("a")), (Status::Waiting, "active"));
    case.give(Command::Suspend).unwrap();
    case.give(Command::CloseCase).unwrap();
    assert_eq!((case.status(), case.at("case")), (Status::Closed, "closed"));
}

#[test]
fn a_case_that_ended_is_reactivated_or_closed() {
    for end in ["complete", "terminate", "fault"] {
        let mut case = Plan::new(true).tasks("a b").entry("b", "a complete").start(json!({"x": 1}));
        let status = match end {
            "complete" => {
                case.go("a", "terminate").unwrap();
                Status::Completed
            }
            "terminate" => {
                case.give(Command::Cancel { reason: Some("enough".to_owned()) }).unwrap();
                Status::Cancelled
            }
            _ => {
                case.go("case", end).unwrap();
                Status::Failed
            }
        };
        assert_eq!(
            (case.status(), case.at("a"), case.at("b")),
            (status, "terminated", "terminated"),
            "{end}"
        );
        assert!(case.state.tasks().is_empty());
        assert_eq!(case.go("a", "complete"), Err(Rejection::AlreadyEnded));
        case.give(Command::ReactivateCase).unwrap();
        // What waits for a criterion is there anew, and the variables are as they were.
        assert_eq!(
            (case.status(), case.at("case"), case.states("b")),
            (Status::Waiting, "active", vec!["terminated", "available"])
        );
        assert_eq!((case.variable("x"), case.state.ended_at(), case.state.error()), (json!(1), None, None));
        case.give(Command::CompleteCase).unwrap();
        case.give(Command::CloseCase).unwrap();
        assert_eq!(case.status(), Status::Closed);
        assert_eq!(case.give(Command::ReactivateCase), Err(Rejection::AlreadyEnded));
        assert!(case.status().is_terminal());
    }
}

#[test]
fn a_process_keeps_its_snapshots_and_takes_no_command_of_a_case() {
    let json = serde_json::to_value(State::new()).unwrap();
    assert!(json.get("cm").is_none());
    let mut run = crate::support::Model::default()
        .nodes("s:startEvent t:userTask e:endEvent")
        .flows("s > t > e")
        .run(json!({}));
    assert_eq!(run.give(Command::CompleteCase), Err(Rejection::OtherKind("a run of a process")));
    let case = Plan::new(true).tasks("a").start(json!({}));
    let crossed = heddle_engine::step(&run.graph, &case.state, Command::Suspend, &run.context());
    assert!(matches!(crossed, Err(Rejection::OtherKind(_))));
}
