//! Patterns of multiple instances.

#![expect(clippy::indexing_slicing, reason = "a trial fails where its sample does not fit")]

use super::branches::{complete, counting, simple, times, with_default};
use crate::support::{Model, event};
use heddle_engine::Status;
use serde_json::{Value, json};

/// The user task `a` with many instances, and the task `d` behind it.
pub(super) fn many(marker: Value) -> Model {
    let mut all = json!({"kind": "multiInstance"});
    all.as_object_mut().unwrap().extend(marker.as_object().unwrap().clone());
    simple()
        .node("a", "userTask", json!({"bpmn": {"activity": {"loop": all}}}))
        .nodes("d:task")
        .flows("s > a > d > e")
}

pub(super) fn without_synchronization() {
    let model = simple()
        .nodes("x:exclusiveGateway p:parallelGateway u:userTask on:userTask e2:endEvent")
        .node("n", "scriptTask", counting("n"))
        .node("q", "exclusiveGateway", with_default("q", "on"))
        .flows("s > x > n > p; p > u > e2; p > q > on > e")
        .flow_if("q", "x", "n lt 3");
    let mut run = model.run(json!({"n": 0}));
    assert_eq!(run.tasks(), ["on", "u", "u", "u"]);
    run.complete("on");
    assert_eq!(run.tasks(), ["u", "u", "u"], "what goes on waits for none of them");
    complete(&mut run, "u u u");
    assert_eq!(run.status(), Status::Completed);
}

fn synchronizes(model: &Model, input: Value, count: usize) {
    let mut run = model.run(input);
    assert_eq!(run.tasks().len(), count);
    for _ in 0..count {
        assert_eq!(times(&run, "d"), 0);
        run.complete("a");
    }
    assert_eq!((run.status(), times(&run, "d")), (Status::Completed, 1));
}

pub(super) fn known_when_drawn() {
    synchronizes(&many(json!({"loopCondition": "3"})), json!({}), 3);
}

pub(super) fn known_when_begun() {
    let over = many(json!({"collection": "orders", "elementVariable": "order"}));
    synchronizes(&over, json!({"orders": ["x", "y"]}), 2);
    synchronizes(&many(json!({"loopCondition": "n * 2"})), json!({"n": 2}), 4);
}

/// A sub-process with the user task `u`, to which each message `m1` adds a `v`, and then the task `d`.
fn growing() -> Model {
    let mut start = event("message m1");
    start["bpmn"]["isInterrupting"] = false.into();
    let further = Model::default()
        .node("es", "startEvent", start)
        .nodes("v:userTask ee:endEvent")
        .node("n", "scriptTask", counting("n"))
        .flows("es > v > n > ee");
    let inside = Model::default().nodes("is:startEvent u:userTask ie:endEvent").flows("is > u > ie").sub(
        "further",
        further,
        json!({"triggeredByEvent": true}),
    );
    simple().sub("p", inside, json!({})).nodes("d:task").flows("s > p > d > e")
}

pub(super) fn known_when_ended() {
    let mut run = growing().run(json!({"n": 0}));
    run.message("m1", json!({}));
    run.complete("u");
    run.message("m1", json!({}));
    assert_eq!(run.tasks(), ["v", "v"]);
    run.complete("v");
    assert_eq!(times(&run, "d"), 0);
    run.complete("v");
    assert_eq!((run.status(), times(&run, "d")), (Status::Completed, 1));
}

pub(super) fn static_partial_join() {
    let enough = json!({"bpmn": {"attachedToRef": "a", "cancelActivity": false,
        "eventDefinitions": [{"type": "conditional", "expression": "nrOfCompletedInstances >= 2"}]}});
    let model = many(json!({"loopCondition": "3"}))
        .nodes("next:task ne:endEvent")
        .node("b", "boundaryEvent", enough)
        .flows("b > next > ne");
    let mut run = model.run(json!({}));
    for (completed, begun) in [(1, 0), (2, 1), (3, 1)] {
        run.complete("a");
        assert_eq!((times(&run, "a"), times(&run, "next")), (completed, begun));
    }
    assert_eq!(run.status(), Status::Completed);
}

pub(super) fn cancelling_partial_join() {
    let model = many(json!({"loopCondition": "3", "completionCondition": "nrOfCompletedInstances >= 2"}));
    let mut run = model.run(json!({}));
    complete(&mut run, "a a");
    assert_eq!((run.status(), times(&run, "a"), times(&run, "d")), (Status::Completed, 2, 1));
}

pub(super) fn dynamic_partial_join() {
    let enough = json!({"bpmn": {"attachedToRef": "p", "cancelActivity": true,
        "eventDefinitions": [{"type": "conditional", "expression": "n >= need"}]}});
    let model = growing().node("b", "boundaryEvent", enough).flows("b > d");
    let mut run = model.run(json!({"n": 0, "need": 2}));
    for _ in 0..3 {
        run.message("m1", json!({}));
    }
    assert_eq!(run.tasks(), ["u", "v", "v", "v"]);
    run.complete("v");
    assert_eq!(times(&run, "d"), 0);
    run.complete("v");
    assert_eq!((run.status(), run.tasks().len(), times(&run, "d")), (Status::Completed, 0, 1));
}
