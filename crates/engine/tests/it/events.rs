//! Timers, messages, signals and errors: catch, throw, boundary, event-based gateway, event sub-process.

#![expect(clippy::indexing_slicing, reason = "a trial fails where its sample does not fit")]

use crate::support::{Model, Run, boundary, event};
use heddle_engine::{Command, Event, EventKind, Rejection, Status, WaitKind};
use serde_json::{Value, json};

fn simple() -> Model {
    Model::default().nodes("s:startEvent e:endEvent")
}

#[test]
fn a_catch_event_waits_for_its_trigger() {
    let with = |text: &str| {
        simple()
            .node("c", "intermediateCatchEvent", event(text))
            .nodes("a:task")
            .flows("s > c > a > e")
            .run(json!({}))
    };
    let mut timer = with("timer PT10S");
    timer.advance(9);
    assert_eq!(timer.status(), Status::Waiting);
    timer.advance(1);
    assert_eq!(timer.status(), Status::Completed);
    let mut date = with("date 2023-01-01T00:00:00Z");
    date.advance(0);
    assert_eq!(date.status(), Status::Completed, "a date in the past is due at once");
    let mut message = with("message m1");
    message.message("m1", json!({"order": 7}));
    assert_eq!(message.variables(), json!({"order": 7}));
    assert_eq!(message.state.node_outputs()["c"]["output"], json!({"order": 7}));
    assert_eq!(message.status(), Status::Completed);
    let mut signal = with("signal s1");
    signal.signal("s1", Value::Null);
    assert_eq!(signal.status(), Status::Completed);
}

#[test]
fn a_catch_event_with_a_cycle_lets_a_token_go_at_every_slot() {
    let model = simple()
        .node("c", "intermediateCatchEvent", event("cycle R3/PT1S"))
        .nodes("a:task")
        .flows("s > c > a > e");
    let mut run = model.run(json!({}));
    for (passed, status) in [(1, Status::Waiting), (2, Status::Waiting), (3, Status::Completed)] {
        run.advance(1);
        assert_eq!(run.done().len(), passed);
        assert_eq!(run.status(), status);
    }
}

#[test]
fn a_catch_event_with_a_cycle_that_cannot_be_left_has_one_incident_and_skips_its_slots() {
    let model = simple()
        .node("c", "intermediateCatchEvent", event("cycle R4/PT1S"))
        .nodes("a:task")
        .edge("c", "a", json!({"bpmn": {"conditionExpression": "open"}}))
        .flows("s > c; a > e");
    let is_skipped = |event: &&Event| matches!(event.kind, EventKind::TimerFired { skipped: true, .. });
    for (passed, skipped, left, status) in [(3, 2, 1, Status::Waiting), (9, 3, 0, Status::Completed)] {
        let mut run = model.run(json!({}));
        run.advance(passed);
        assert_eq!(run.incidents().len(), 1, "{passed} s");
        assert_eq!(run.log.iter().filter(is_skipped).count(), skipped, "the history says so");
        assert_eq!(run.state.timers().len(), left);
        let variables = json!({"open": true}).as_object().unwrap().clone();
        run.give(Command::Retry { incident_id: run.incident_id(), variables }).unwrap();
        // The slot that failed is done, and those that are still to come do not go with it.
        assert_eq!((run.incidents().len(), run.done(), run.status()), (0, vec!["a".to_owned()], status));
        run.advance(1);
        assert_eq!((run.done().len(), run.status()), (1 + left, Status::Completed));
    }
}

#[test]
fn what_is_thrown_is_an_event_of_the_history() {
    let mut thrown = event("message m1");
    thrown["configuration"] = json!({"correlationKey": "order-1", "payload": {"total": 3}});
    let model = simple()
        .node("t", "intermediateThrowEvent", thrown)
        .node("send", "sendTask", json!({"bpmn": {"messageRef": "m2"}}))
        .node("x", "endEvent", event("signal s1"))
        .flows("s > t > send > x");
    let mut run = Run::new(model.graph());
    run.key = Some("run-key".to_owned());
    run.start(json!({})).unwrap();
    let sent = run.log.iter().filter_map(|event| match &event.kind {
        EventKind::MessageSent { name, correlation_key, payload, .. } => {
            Some((name.to_string(), correlation_key.clone(), payload.clone()))
        }
        EventKind::SignalSent { name, payload } => Some((name.to_string(), None, payload.clone())),
        _ => None,
    });
    let key = |key: &str| Some(key.to_owned());
    let expected = [
        ("m1".to_owned(), key("order-1"), json!({"total": 3})),
        ("m2".to_owned(), key("run-key"), Value::Null),
        ("s1".to_owned(), None, Value::Null),
    ];
    assert!(sent.collect::<Vec<_>>() == expected);
}

#[test]
fn an_interrupting_boundary_event_cancels_its_task() {
    let model = simple()
        .nodes("u:userTask late:task")
        .node("b", "boundaryEvent", boundary("u", "timer PT1H", true))
        .node("m", "boundaryEvent", boundary("u", "message m1", true))
        .flows("s > u > e; b > late > e; m > e");
    let mut run = model.run(json!({}));
    run.advance(3600);
    assert_eq!(run.status(), Status::Completed);
    assert_eq!(run.done(), ["late"]);
    assert!(run.types().contains(&"task.cancelled".to_owned()));
    assert!(run.types().contains(&"subscription.closed".to_owned()));

    let mut run = model.run(json!({}));
    run.complete("u");
    assert_eq!(run.done(), ["u"]);
    assert!(run.types().contains(&"timer.cancelled".to_owned()));
}

#[test]
fn a_non_interrupting_timer_repeats_until_its_task_is_done() {
    let model = simple()
        .nodes("u:userTask r:task")
        .node("b", "boundaryEvent", boundary("u", "cycle R3/PT10S", false))
        .flows("s > u > e; b > r");
    let mut run = model.run(json!({}));
    run.advance(25);
    assert_eq!(run.done(), ["r", "r"]);
    run.advance(100);
    assert_eq!(run.done(), ["r", "r", "r"]);
    assert_eq!(run.tasks(), ["u"]);
    run.complete("u");
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn each_slot_of_a_counted_cycle_fires_once() {
    let model = simple()
        .nodes("u:userTask r:task")
        .node("b", "boundaryEvent", boundary("u", "cycle R3/PT10S", false))
        .flows("s > u > e; b > r");
    let mut run = model.run(json!({}));
    run.now = run.now.plus_seconds(3600);
    while let Some(timer) = run.state.timers().first() {
        run.give(Command::FireTimer { timer_id: timer.id }).unwrap();
    }
    assert_eq!(run.done(), ["r", "r", "r"]);
}

#[test]
fn slots_missed_together_fire_once() {
    let model = simple()
        .nodes("u:userTask r:task")
        .node("b", "boundaryEvent", boundary("u", "cycle R/PT10S", false))
        .flows("s > u > e; b > r");
    let mut run = model.run(json!({}));
    let first = run.state.timers()[0].clone();
    run.now = run.now.plus_seconds(35);
    run.give(Command::FireTimer { timer_id: first.id }).unwrap();
    assert_eq!(run.done(), ["r"]);
    assert_eq!(run.state.timers()[0].due_at, first.due_at.plus_seconds(30));
    assert_eq!(run.give(Command::FireTimer { timer_id: first.id }), Err(Rejection::UnknownTimer(first.id)));
    let next = run.state.timers()[0].clone();
    assert_eq!(run.give(Command::FireTimer { timer_id: next.id }), Err(Rejection::NotDue(next.due_at)));
}

#[test]
fn a_non_interrupting_message_can_come_several_times() {
    let model = simple()
        .nodes("u:userTask r:task")
        .node("b", "boundaryEvent", boundary("u", "message m1", false))
        .flows("s > u > e; b > r");
    let mut run = model.run(json!({}));
    run.message("m1", Value::Null);
    run.message("m1", Value::Null);
    assert_eq!(run.done(), ["r", "r"]);
    run.complete("u");
    assert_eq!(run.waits(), Vec::<String>::new());
}

#[test]
fn a_boundary_event_interrupts_a_whole_sub_process() {
    let deep = Model::default().nodes("deep:userTask");
    let inner = Model::default().nodes("a:userTask").sub("q", deep, json!({}));
    let model = simple()
        .sub("p", inner, json!({}))
        .node("b", "boundaryEvent", boundary("p", "signal s1", true))
        .nodes("after:task")
        .flows("s > p > e; b > after > e");
    let mut run = model.run(json!({}));
    assert_eq!(run.tasks(), ["a", "deep"]);
    run.signal("s1", Value::Null);
    assert_eq!(run.done(), ["after"]);
    assert_eq!(run.status(), Status::Completed);
    let closed = run.types().iter().filter(|own| *own == "scope.closed").count();
    assert_eq!(closed, 2);
}

#[test]
fn the_first_event_of_a_gateway_wins() {
    let model = simple()
        .nodes("g:eventBasedGateway a:task b:task c:task")
        .node("m", "intermediateCatchEvent", event("message m1"))
        .node("t", "intermediateCatchEvent", event("timer PT5S"))
        .node("r", "receiveTask", json!({"bpmn": {"messageRef": "m2"}}))
        .flows("s > g > m > a > e; g > t > b > e; g > r > c > e");
    let run = model.run(json!({}));
    let waits: Vec<_> =
        run.state.active_nodes().iter().map(|own| own.waiting_for.clone().unwrap().kind).collect();
    assert_eq!(waits, [WaitKind::Timer, WaitKind::Message, WaitKind::Message]);
    let mut by_message = model.run(json!({}));
    by_message.message("m1", json!({"x": 1}));
    assert_eq!(by_message.done(), ["a"]);
    assert_eq!(by_message.variables(), json!({"x": 1}));
    let mut by_timer = model.run(json!({}));
    by_timer.advance(5);
    assert_eq!(by_timer.done(), ["b"]);
    let mut by_task = model.run(json!({}));
    by_task.message("m2", Value::Null);
    assert_eq!(by_task.done(), ["c", "r"]);
    for run in [by_message, by_timer, by_task] {
        assert_eq!(run.status(), Status::Completed);
    }
}

#[test]
fn a_receive_task_waits_for_its_message_or_to_be_told() {
    let model = simple().nodes("r:receiveTask").flows("s > r > e");
    let mut run = model.run(json!({}));
    let wait = run.state.active_nodes()[0].waiting_for.clone().unwrap();
    assert_eq!((wait.kind, wait.options[0].as_str()), (WaitKind::Decision, "continue"));
    let node_instance_id = run.instance("r");
    run.give(Command::Continue { node_instance_id, payload: json!({"a": 1}) }).unwrap();
    assert_eq!(run.variables(), json!({"a": 1}));
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn timers_and_subscriptions_rest_while_suspended() {
    let model = simple()
        .node("c", "intermediateCatchEvent", event("timer PT10S"))
        .nodes("f:parallelGateway")
        .node("m", "intermediateCatchEvent", event("message m1"))
        .flows("s > f > c > e; f > m > e");
    let mut run = model.run(json!({}));
    let timer = run.state.timers()[0].clone();
    run.give(Command::Suspend).unwrap();
    run.now = run.now.plus_seconds(60);
    assert!(run.state.timers().is_empty() && run.state.subscriptions().is_empty());
    assert_eq!(run.give(Command::FireTimer { timer_id: timer.id }), Err(Rejection::Suspended));
    run.give(Command::Resume).unwrap();
    assert_eq!(run.state.timers(), [timer]);
    run.advance(0);
    run.message("m1", Value::Null);
    assert_eq!(run.status(), Status::Completed);
}

fn failing(code: &str) -> Model {
    Model::default().nodes("a:task").node("x", "endEvent", event(&format!("error {code}"))).flows("a > x")
}

#[test]
fn an_error_is_caught_by_the_innermost_that_can() {
    let outer = |inner: Model| {
        simple()
            .sub("p", inner, json!({}))
            .node("b1", "boundaryEvent", boundary("p", "error e1", true))
            .node("any", "boundaryEvent", boundary("p", "error", true))
            .nodes("one:task other:task")
            .flows("s > p > e; b1 > one > e; any > other > e")
    };
    let one = outer(failing("e1")).run(json!({}));
    assert_eq!(one.done(), ["a", "one"]);
    assert_eq!(one.variables()["errorCode"], "e1-code");
    assert_eq!(outer(failing("e2")).run(json!({})).done(), ["a", "other"]);
    // Two levels up, past a sub-process that catches another error.
    let middle = Model::default().sub("q", failing("e1"), json!({})).node(
        "b2",
        "boundaryEvent",
        boundary("q", "error e2", true),
    );
    let far = outer(middle).run(json!({}));
    assert_eq!(far.done(), ["a", "one"]);
    assert_eq!(far.status(), Status::Completed);
}

#[test]
fn an_uncaught_error_fails_the_run() {
    let model = simple()
        .nodes("f:parallelGateway u:userTask")
        .node("x", "endEvent", event("error e1"))
        .flows("s > f > u > e; f > x");
    let run = model.run(json!({}));
    assert_eq!(run.status(), Status::Failed);
    assert_eq!(&*run.state.error().unwrap().code, "e1-code");
    assert!(run.tasks().is_empty());
}

fn listening(text: &str, interrupting: bool) -> Model {
    let mut start = event(text);
    start["bpmn"]["isInterrupting"] = interrupting.into();
    let handler = Model::default().node("es", "startEvent", start).nodes("h:task").flows("es > h");
    simple().nodes("u:userTask").sub("ev", handler, json!({"triggeredByEvent": true})).flows("s > u > e")
}

#[test]
fn an_event_sub_process_interrupts_its_scope_or_runs_beside_it() {
    let mut interrupted = listening("message m1", true).run(json!({}));
    interrupted.message("m1", json!({"why": "stop"}));
    assert_eq!(interrupted.done(), ["ev", "h"]);
    assert_eq!(interrupted.status(), Status::Completed);
    assert_eq!(interrupted.variables(), json!({"why": "stop"}));

    let mut beside = listening("message m1", false).run(json!({}));
    beside.message("m1", Value::Null);
    beside.message("m1", Value::Null);
    assert_eq!(beside.tasks(), ["u"]);
    beside.complete("u");
    assert_eq!(beside.done(), ["ev", "ev", "h", "h", "u"]);
    assert_eq!(beside.status(), Status::Completed);

    let mut timed = listening("cycle R2/PT1S", false).run(json!({}));
    timed.advance(5);
    assert_eq!(timed.done(), ["ev", "ev", "h", "h"]);
    let mut unheard = listening("signal s1", true).run(json!({}));
    unheard.complete("u");
    assert_eq!(unheard.status(), Status::Completed);
    assert!(unheard.waits().is_empty());
}

#[test]
fn an_event_sub_process_ends_only_its_own_scope() {
    let inner = {
        let handler =
            Model::default().node("es", "startEvent", event("error e1")).nodes("h:task").flows("es > h");
        Model::default()
            .nodes("is:startEvent f:parallelGateway w:userTask")
            .node("x", "endEvent", event("error e1"))
            .flows("is > f > w; f > x")
            .sub("ev", handler, json!({"triggeredByEvent": true}))
    };
    let run =
        simple().sub("p", inner, json!({})).nodes("after:task").flows("s > p > after > e").run(json!({}));
    assert_eq!(run.done(), ["after", "ev", "h", "p"]);
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn an_event_sub_process_does_not_catch_its_own_error() {
    let handler = Model::default()
        .node("es", "startEvent", event("error e1"))
        .node("again", "endEvent", event("error e1"))
        .flows("es > again");
    let model = Model::default()
        .nodes("s:startEvent")
        .node("x", "endEvent", event("error e1"))
        .sub("ev", handler, json!({"triggeredByEvent": true}))
        .flows("s > x");
    let run = model.run(json!({}));
    assert_eq!(run.status(), Status::Failed);
}

#[test]
fn a_signal_reaches_the_listeners_of_its_own_run_at_once() {
    let inner = Model::default()
        .nodes("is:startEvent next:task ie:endEvent")
        .node("throw", "intermediateThrowEvent", event("signal s1"))
        .flows("is > throw > next > ie");
    let model = |interrupting| {
        simple()
            .sub("p", inner.clone(), json!({}))
            .node("b", "boundaryEvent", boundary("p", "signal s1", interrupting))
            .nodes("caught:task")
            .flows("s > p > e; b > caught > e")
    };
    assert_eq!(model(true).run(json!({})).done(), ["caught"]);
    assert_eq!(model(false).run(json!({})).done(), ["caught", "next", "p"]);
}
