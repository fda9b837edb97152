//! Cancel, move, skip and retry.

use crate::support::{Model, boundary, event, map};
use heddle_engine::{Command, IncidentCode, Rejection, SkipTarget, Status};
use serde_json::{Value, json};

fn waiting() -> Model {
    let inner = Model::default().nodes("a:userTask after:task").flows("a > after");
    Model::default()
        .nodes("s:startEvent u:userTask e:endEvent end:task")
        .sub("p", inner, json!({}))
        .node("b", "boundaryEvent", boundary("u", "timer PT1H", true))
        .flows("s > u > p > end > e; b > e")
}

#[test]
fn cancelling_withdraws_everything() {
    let mut run = waiting().run(json!({}));
    run.complete("u");
    run.give(Command::Cancel { reason: Some("enough".to_owned()) }).unwrap();
    assert_eq!(run.status(), Status::Cancelled);
    assert!(run.state.active_nodes().is_empty() && run.state.timers().is_empty());
    assert_eq!(run.types().last().map(String::as_str), Some("run.cancelled"));
    assert!(run.types().contains(&"task.cancelled".to_owned()));
}

#[test]
fn a_suspended_run_can_be_cancelled() {
    let mut run = waiting().run(json!({}));
    run.give(Command::Suspend).unwrap();
    run.give(Command::Cancel { reason: None }).unwrap();
    assert_eq!(run.status(), Status::Cancelled);
}

#[test]
fn a_token_moves_within_its_scope_only() {
    let mut run = waiting().run(json!({}));
    let node_instance_id = run.instance("u");
    for target in ["nowhere", "after", "b", "s"] {
        let moved = run.give(Command::Move { node_instance_id, target_node: target.to_owned() });
        assert_eq!(moved, Err(Rejection::InvalidTarget(target.to_owned())));
    }
    run.give(Command::Move { node_instance_id, target_node: "end".to_owned() }).unwrap();
    assert_eq!(run.done(), ["end"]);
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn skipping_goes_on_with_an_output() {
    let mut run = waiting().run(json!({}));
    let target = SkipTarget::Node(run.instance("u"));
    run.give(Command::Skip { target, output: map(json!({"x": 1})) }).unwrap();
    assert_eq!(run.tasks(), ["a"]);
    assert_eq!(run.state.node_outputs()["u"]["output"], json!({"x": 1}));
    let target = SkipTarget::Node(run.instance("p"));
    run.give(Command::Skip { target, output: map(json!({})) }).unwrap();
    assert_eq!(run.done(), ["end", "p", "u"]);
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn a_timer_that_has_no_value_is_an_incident_until_it_has_one() {
    let model = Model::default()
        .nodes("s:startEvent e:endEvent")
        .node("c", "intermediateCatchEvent", event("timer =wait"))
        .flows("s > c > e");
    let mut run = model.run(json!({}));
    assert_eq!(run.incidents(), [(IncidentCode::ExpressionError, "c".to_owned())]);
    let view = &run.state.active_nodes()[0];
    assert_eq!(view.waiting_for.as_ref().unwrap().options, ["retry", "skip", "move", "suspend"]);
    let incident_id = run.incident_id();
    run.give(Command::Retry { incident_id, variables: map(json!({"wait": "PT5S"})) }).unwrap();
    assert!(run.incidents().is_empty());
    run.advance(5);
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn an_incident_of_a_boundary_event_stops_its_task_before_it_begins() {
    let model = Model::default()
        .nodes("s:startEvent u:userTask e:endEvent")
        .node("b", "boundaryEvent", boundary("u", "timer =wait", true))
        .flows("s > u > e");
    let mut run = model.run(json!({}));
    assert!(run.tasks().is_empty());
    let incident_id = run.incident_id();
    run.give(Command::Retry { incident_id, variables: map(json!({"wait": "PT5S"})) }).unwrap();
    assert_eq!(run.tasks(), ["u"]);
    assert_eq!(run.state.timers().len(), 1);
}

#[test]
fn only_what_waits_can_be_continued() {
    let mut run = waiting().run(json!({}));
    let node_instance_id = run.instance("u");
    let refused = run.give(Command::Continue { node_instance_id, payload: Value::Null });
    assert_eq!(refused, Err(Rejection::NotWaiting(node_instance_id)));
}
