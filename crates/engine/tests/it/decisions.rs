//! Cancel, move, skip and retry.

#![expect(clippy::indexing_slicing, reason = "a trial fails where its sample does not fit")]

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

/// A process whose message starts an event sub-process within which another one cannot listen; or, not nested, one that
/// cannot listen itself.
fn deaf(nested: bool) -> Model {
    let started_by = |text: &str| {
        let mut start = event(text);
        start["bpmn"]["isInterrupting"] = false.into();
        start
    };
    let by_event = || json!({"triggeredByEvent": true});
    let inner =
        Model::default().node("is", "startEvent", started_by("cycle =pace")).nodes("h:task").flows("is > h");
    let process = Model::default().nodes("s:startEvent u:userTask e:endEvent").flows("s > u > e");
    if !nested {
        return process.sub("ev", inner, by_event());
    }
    let outer = Model::default()
        .node("es", "startEvent", started_by("message m1"))
        .nodes("w:userTask")
        .sub("inner", inner, by_event())
        .flows("es > w");
    process.sub("ev", outer, by_event())
}

#[test]
fn what_is_listed_about_an_event_sub_process_that_cannot_listen_is_what_can_be_done() {
    let undecided = [(Value::Null, IncidentCode::ExpressionError), (json!("R/PT0.1S"), IncidentCode::Limit)];
    for (nested, (pace, code)) in
        [false, true].into_iter().flat_map(|nested| undecided.clone().map(|own| (nested, own)))
    {
        let stopped = || {
            let mut run = deaf(nested).run(json!({"pace": pace}));
            if nested {
                run.message("m1", Value::Null);
            }
            assert_eq!(run.incidents().iter().map(|own| own.0).collect::<Vec<_>>(), [code]);
            run
        };
        let mut skipped = stopped();
        let options = skipped.state.incidents().remove(0).options;
        assert!(options.contains(&"retry".to_owned()) && options.contains(&"skip".to_owned()), "{options:?}");
        let shown = skipped.state.view(&skipped.graph);
        let shown = shown.iter().find(|own| &*own.node_id == "ev").and_then(|own| own.waiting_for.as_ref());
        assert_eq!(shown.map(|wait| &wait.options), nested.then_some(&options));
        let target = SkipTarget::Incident(skipped.incident_id());
        skipped.give(Command::Skip { target, output: map(json!({"noted": true})) }).unwrap();
        assert!(skipped.incidents().is_empty());
        assert_eq!(skipped.variables()["noted"], true);
        // What runs in it goes on, without what could not listen.
        let open = if nested { vec!["u", "w"] } else { vec!["u"] };
        assert_eq!(skipped.tasks(), open);
        open.iter().for_each(|task| skipped.complete(task));
        assert_eq!(skipped.status(), Status::Completed);

        let mut again = stopped();
        let variables = map(json!({"pace": "R/PT1S"}));
        again.give(Command::Retry { incident_id: again.incident_id(), variables }).unwrap();
        again.advance(1);
        assert_eq!(again.done(), if nested { ["h", "inner"] } else { ["ev", "h"] }, "it listens");
        assert_eq!(again.tasks(), open);
    }
}
