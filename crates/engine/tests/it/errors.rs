//! Errors and escalations: who catches what, what they tell, and what goes on.

#![expect(clippy::indexing_slicing, reason = "a trial fails where its sample does not fit")]

use crate::support::{Model, Run, boundary, event};
use heddle_engine::{EventKind, Status};
use serde_json::{Value, json};

/// A sub-process that throws, with a task before and behind the event.
fn throwing(kind: &str, text: &str) -> Model {
    let model = Model::default().nodes("a:task").node("x", kind, event(text));
    if kind == "endEvent" { model.flows("a > x") } else { model.nodes("b:task").flows("a > x > b") }
}

/// An event sub-process with one task.
fn listening(model: Model, id: &str, text: &str, interrupting: bool) -> Model {
    let mut start = event(text);
    start["bpmn"]["isInterrupting"] = interrupting.into();
    let content = Model::default()
        .node(&format!("{id}-s"), "startEvent", start)
        .nodes(&format!("{id}-t:task"))
        .flows(&format!("{id}-s > {id}-t"));
    model.sub(id, content, json!({"triggeredByEvent": true}))
}

fn around(content: Model) -> Model {
    Model::default().nodes("s:startEvent after:task").sub("p", content, json!({})).flows("s > p > after")
}

fn done(run: &Run) -> String {
    run.done().join(" ")
}

#[test]
fn an_escalation_is_caught_by_the_innermost_and_goes_on_unless_interrupted() {
    let throw = "intermediateThrowEvent";
    let caught = |model: Model, text: &str, interrupting: bool| {
        model.node("esc", "boundaryEvent", boundary("p", text, interrupting)).nodes("h:task").flows("esc > h")
    };
    for (model, wanted) in [
        // Nobody listens: no harm.
        (around(throwing(throw, "escalation x1")), "a after b p"),
        (around(throwing("endEvent", "escalation x1")), "a after p"),
        (caught(around(throwing(throw, "escalation x1")), "escalation x2", true), "a after b p"),
        // At the boundary, by its code and without one.
        (caught(around(throwing(throw, "escalation x1")), "escalation x1", false), "a after b h p"),
        (caught(around(throwing(throw, "escalation x1")), "escalation", false), "a after b h p"),
        (caught(around(throwing(throw, "escalation x1")), "escalation x1", true), "a h"),
        (caught(around(throwing("endEvent", "escalation x1")), "escalation x1", true), "a h"),
        (caught(around(throwing("endEvent", "escalation x1")), "escalation x1", false), "a after h p"),
        (caught(around(throwing("endEvent", "escalation")), "escalation x1", true), "a after p"),
        // An event sub-process is nearer than the boundary.
        (
            caught(
                around(listening(throwing(throw, "escalation x1"), "l", "escalation x1", false)),
                "escalation x1",
                true,
            ),
            "a after b l l-t p",
        ),
        (around(listening(throwing(throw, "escalation x1"), "l", "escalation", true)), "a after l l-t p"),
        // The code goes before any.
        (
            around(listening(
                listening(throwing(throw, "escalation x1"), "any", "escalation", true),
                "own",
                "escalation x1",
                false,
            )),
            "a after b own own-t p",
        ),
        // Two levels up, past one that listens for something else.
        (
            listening(
                around(listening(throwing(throw, "escalation x1"), "l", "escalation x2", true)),
                "top",
                "escalation x1",
                false,
            ),
            "a after b p top top-t",
        ),
    ] {
        let run = model.run(json!({}));
        assert_eq!((run.status(), done(&run).as_str()), (Status::Completed, wanted));
    }
}

#[test]
fn an_event_sub_process_that_does_not_interrupt_does_not_catch_its_own_escalation() {
    let content = Model::default()
        .node("es", "startEvent", {
            let mut start = event("escalation x1");
            start["bpmn"]["isInterrupting"] = false.into();
            start
        })
        .node("again", "endEvent", event("escalation x1"))
        .flows("es > again");
    let inner = throwing("endEvent", "escalation x1").sub("l", content, json!({"triggeredByEvent": true}));
    let model = around(inner)
        .node("esc", "boundaryEvent", boundary("p", "escalation x1", true))
        .nodes("h:task")
        .flows("esc > h");
    let run = model.run(json!({}));
    assert_eq!((run.status(), done(&run).as_str()), (Status::Completed, "a h"));
}

/// A sub-process whose end event has these settings, caught by a boundary event with those.
fn told(kind: &str, thrown: Value, caught: Value) -> Run {
    let mut end = event(&format!("{kind} {}", if kind == "error" { "e1" } else { "x1" }));
    end["configuration"] = thrown;
    let mut catch = boundary("p", kind, true);
    catch["configuration"] = caught;
    let content = Model::default().node("x", "endEvent", end);
    let model = around(content).node("c", "boundaryEvent", catch).nodes("h:task").flows("c > h");
    model.run(json!({"why": "too late"}))
}

#[test]
fn who_catches_gets_the_code_the_message_and_the_values() {
    let message = json!({"errorMessage": "=why + \"!\"", "payload": "={amount: 5}"});
    let run = told("error", message.clone(), json!({}));
    assert_eq!(done(&run), "h");
    let variables = run.variables();
    assert_eq!(
        (&variables["errorCode"], &variables["errorMessage"], &variables["amount"]),
        (&json!("e1-code"), &json!("too late!"), &json!(5))
    );
    let run = told("error", message, json!({"errorCodeVariable": "code"}));
    assert_eq!((&run.variables()["code"], run.variables().get("errorCode")), (&json!("e1-code"), None));
    let run = told("escalation", json!({"payload": "={level: 2}"}), json!({}));
    assert_eq!(
        (&run.variables()["escalationCode"], &run.variables()["level"]),
        (&json!("x1-code"), &json!(2))
    );
    let run = told("escalation", json!({}), json!({"escalationCodeVariable": "which"}));
    assert_eq!(run.variables()["which"], "x1-code");
    // What is no context of variables is an incident at the event.
    let run = told("error", json!({"payload": "=5"}), json!({}));
    assert_eq!(run.incidents()[0].1, "x");
}

#[test]
fn an_uncaught_error_tells_its_message_and_an_uncaught_escalation_that_nothing_caught_it() {
    let mut end = event("error e1");
    end["configuration"] = json!({"errorMessage": "no stock"});
    let run = Model::default().nodes("s:startEvent").node("x", "endEvent", end).flows("s > x").run(json!({}));
    assert_eq!(run.status(), Status::Failed);
    assert!(run.state.error().unwrap().message.ends_with("is not caught: no stock"));
    let run = around(throwing("endEvent", "escalation x1")).run(json!({}));
    let kinds: Vec<&EventKind> = run.log.iter().map(|event| &event.kind).collect();
    assert!(kinds.iter().any(|kind| matches!(kind, EventKind::EscalationThrown { caught: false, .. })));
}

#[test]
fn event_sub_processes_stand_in_event_sub_processes() {
    // The error of a handler is caught by the event sub-process within the handler.
    let inner = listening(
        Model::default()
            .node("os", "startEvent", event("message m1"))
            .node("x", "endEvent", event("error e1"))
            .flows("os > x"),
        "deep",
        "error e1",
        true,
    );
    let content = Model::default().nodes("w:userTask").sub("outer", inner, json!({"triggeredByEvent": true}));
    let mut run = around(content).run(json!({}));
    run.message("m1", json!({}));
    assert_eq!((run.status(), done(&run).as_str()), (Status::Completed, "after deep deep-t outer p"));
}

#[test]
fn terminate_ends_its_sub_process_alone() {
    let content = Model::default()
        .nodes("g:parallelGateway w:userTask")
        .node("x", "endEvent", event("terminate"))
        .flows("g > w; g > x");
    let run = around(content).run(json!({}));
    assert_eq!((run.status(), done(&run).as_str()), (Status::Completed, "after p"));
}
