//! Call activities: what is called with what, and what the caller does with the end of it.

use crate::support::{Model, Run, boundary, map};
use heddle_engine::{Budget, Command, EventKind, IncidentCode, Rejection, RunCalled, Status};
use heddle_kernel::RunId;
use serde_json::{Value, json};

fn calling(configuration: Value) -> Model {
    let call = json!({"configuration": configuration, "bpmn": {"calledElement": "other"}});
    Model::default().nodes("s:startEvent e:endEvent").node("c", "callActivity", call).flows("s > c > e")
}

fn calls(run: &Run) -> Vec<RunCalled> {
    let called = |kind: &EventKind| match kind {
        EventKind::RunCalled(called) => Some((**called).clone()),
        _ => None,
    };
    run.log.iter().filter_map(|event| called(&event.kind)).collect()
}

fn completed(run_id: RunId, output: Value) -> Command {
    Command::CompleteCall { run_id, output: map(output) }
}

fn failed(run_id: RunId, code: Option<&str>) -> Command {
    let code = code.map(str::to_owned);
    Command::FailCall { run_id, code, message: "it broke".to_owned(), output: map(json!({"left": 1})) }
}

#[test]
fn a_call_passes_variables_as_its_mappings_say() {
    for (configuration, input, output) in [
        (json!({}), json!({"a": 1, "b": 2}), json!({"a": 9, "b": 2, "x": 3})),
        (
            json!({"inputs": [{"name": "n", "value": "=a + b"}], "outputs": [{"name": "r", "value": "=x"}]}),
            json!({"n": 3}),
            json!({"a": 1, "b": 2, "r": 3}),
        ),
        (
            json!({"outputs": [{"name": "r", "value": "=x"}], "propagateAllInputs": true}),
            json!({"a": 1, "b": 2}),
            json!({"a": 1, "b": 2, "r": 3}),
        ),
        (
            json!({"inputs": [{"name": "n", "value": 5}], "propagateAllOutputs": true}),
            json!({"n": 5}),
            json!({"a": 9, "b": 2, "x": 3}),
        ),
    ] {
        let mut run = calling(configuration.clone()).run(json!({"a": 1, "b": 2}));
        let [called] = &calls(&run)[..] else { panic!("{configuration}") };
        assert_eq!(
            (&*called.called, Value::Object(called.input.clone())),
            ("other", input),
            "{configuration}"
        );
        assert!(run.state.waits_for(called.run_id) && run.state.calls().len() == 1);
        run.give(completed(called.run_id, json!({"a": 9, "x": 3}))).unwrap();
        assert_eq!((run.status(), run.variables()), (Status::Completed, output), "{configuration}");
        assert_eq!(run.state.node_outputs()["c"]["output"], json!({"a": 9, "x": 3}));
    }
}

#[test]
fn keys_pass_and_one_that_is_null_is_an_incident() {
    let keys = json!({"businessKey": "=a", "correlationKey": "k-1"});
    let run = calling(keys.clone()).run(json!({"a": "order-7"}));
    let called = calls(&run).remove(0);
    assert_eq!(called.business_key.as_deref(), Some("order-7"));
    assert_eq!(called.correlation_key.as_deref(), Some("k-1"));
    // What a stored event does not say is as it was before it could be said.
    let stored = serde_json::to_value(&called).unwrap();
    assert_eq!(stored.get("inheritBusinessKey"), None);
    assert!(called.inherit_business_key);
    assert_eq!(serde_json::from_value::<RunCalled>(stored).unwrap(), called);
    let own = calls(&calling(json!({"inheritBusinessKey": false})).run(json!({}))).remove(0);
    assert_eq!(serde_json::to_value(&own).unwrap()["inheritBusinessKey"], false);
    let mut run = calling(keys).run(json!({}));
    assert_eq!(run.incidents(), [(IncidentCode::ExpressionError, "c".to_owned())]);
    let incident_id = run.incident_id();
    run.give(Command::Retry { incident_id, variables: map(json!({"a": "x"})) }).unwrap();
    assert_eq!(calls(&run).len(), 1);
}

#[test]
fn a_failed_call_is_an_incident_whose_retry_calls_anew() {
    let mut run = calling(json!({})).run(json!({}));
    let first = calls(&run)[0].run_id;
    run.give(failed(first, None)).unwrap();
    assert_eq!(run.incidents(), [(IncidentCode::CallFailed, "c".to_owned())]);
    assert_eq!(run.give(completed(first, json!({}))), Err(Rejection::UnknownCall(first)));
    let incident_id = run.incident_id();
    run.give(Command::Retry { incident_id, variables: map(json!({})) }).unwrap();
    let second = calls(&run)[1].run_id;
    assert!(second != first && run.incidents().is_empty());
    run.give(completed(second, json!({}))).unwrap();
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn a_retry_leaves_boundary_events_as_they_are() {
    let mut run = calling(json!({}))
        .nodes("late:userTask e2:endEvent")
        .node("b", "boundaryEvent", boundary("c", "timer PT1H", false))
        .flows("b > late > e2")
        .run(json!({}));
    run.give(failed(calls(&run)[0].run_id, None)).unwrap();
    let incident_id = run.incident_id();
    run.give(Command::Retry { incident_id, variables: map(json!({})) }).unwrap();
    assert_eq!(run.state.timers().len(), 1);
    run.advance(3600);
    assert_eq!(run.tasks(), ["late"]);
}

#[test]
fn an_interrupted_call_is_withdrawn() {
    let mut run = calling(json!({}))
        .nodes("late:userTask e2:endEvent")
        .node("b", "boundaryEvent", boundary("c", "timer PT1H", true))
        .flows("b > late > e2")
        .run(json!({}));
    let called = calls(&run)[0].run_id;
    run.advance(3600);
    assert!(run.types().contains(&"call.cancelled".to_owned()) && !run.state.waits_for(called));
    assert_eq!(run.tasks(), ["late"]);
    let mut run = calling(json!({})).run(json!({}));
    run.give(Command::Cancel { reason: None }).unwrap();
    assert!(run.types().contains(&"call.cancelled".to_owned()));
}

#[test]
fn a_call_that_calls_itself_without_end_is_stopped() {
    let mut run = Run::new(calling(json!({})).graph());
    run.hops = Budget::DEFAULT.hops;
    run.start(json!({})).unwrap();
    assert_eq!(run.incidents(), [(IncidentCode::Limit, "c".to_owned())]);
    assert!(calls(&run).is_empty());
}

#[test]
fn an_error_of_the_called_run_is_thrown_at_the_call() {
    let model = |code: &str| {
        let catch = boundary("c", code, true);
        calling(json!({}))
            .nodes("late:userTask e2:endEvent")
            .node("b", "boundaryEvent", catch)
            .flows("b > late > e2")
    };
    let mut run = model("error e1").run(json!({}));
    run.give(failed(calls(&run)[0].run_id, Some("e1-code"))).unwrap();
    assert_eq!((run.tasks(), &run.variables()["left"]), (vec!["late".to_owned()], &json!(1)));
    // Another one is nothing that it catches.
    let mut run = model("error e1").run(json!({}));
    run.give(failed(calls(&run)[0].run_id, Some("other"))).unwrap();
    assert_eq!(run.incidents(), [(IncidentCode::CallFailed, "c".to_owned())]);
}
