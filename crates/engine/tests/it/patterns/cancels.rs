//! Patterns of cancellation and termination.

use super::branches::{simple, times};
use super::instances::many;
use crate::support::{Model, boundary, event};
use heddle_engine::{Command, Status};
use serde_json::{Value, json};

pub(super) fn cancel_activity() {
    let model = simple()
        .nodes("a:userTask d:task be:endEvent")
        .node("b", "boundaryEvent", boundary("a", "message m1", true))
        .flows("s > a > e; b > d > be");
    let mut run = model.run(json!({}));
    run.message("m1", Value::Null);
    assert_eq!((run.status(), run.done()), (Status::Completed, vec!["d".to_owned()]));
}

pub(super) fn cancel_case() {
    explicit_termination();
    let mut run = simple().nodes("a:userTask").flows("s > a > e").run(json!({}));
    run.give(Command::Cancel { reason: None }).unwrap();
    assert_eq!((run.status(), run.tasks().len()), (Status::Cancelled, 0));
}

pub(super) fn explicit_termination() {
    let model = simple()
        .nodes("f:parallelGateway a:userTask b:userTask")
        .node("t", "endEvent", event("terminate"))
        .flows("s > f; f > a > e; f > b > t");
    let mut run = model.run(json!({}));
    run.complete("b");
    assert_eq!((run.status(), run.done(), run.tasks().len()), (Status::Completed, vec!["b".to_owned()], 0));
}

pub(super) fn cancel_region() {
    let region = Model::default()
        .nodes("is:startEvent f:parallelGateway x:userTask y:userTask")
        .flows("is > f; f > x; f > y");
    let model = simple()
        .nodes("g:parallelGateway outside:userTask d:task")
        .sub("p", region, json!({}))
        .node("b", "boundaryEvent", boundary("p", "message m1", true))
        .flows("s > g; g > p > e; g > outside > e; b > d");
    let mut run = model.run(json!({}));
    assert_eq!(run.tasks(), ["outside", "x", "y"]);
    run.message("m1", Value::Null);
    assert_eq!((run.tasks(), times(&run, "d")), (vec!["outside".to_owned()], 1));
}

pub(super) fn cancel_instances() {
    let model = many(json!({"loopCondition": "3"}))
        .nodes("gone:task be:endEvent")
        .node("b", "boundaryEvent", boundary("a", "message m1", true))
        .flows("b > gone > be");
    let mut run = model.run(json!({}));
    run.complete("a");
    run.message("m1", Value::Null);
    assert_eq!((run.status(), run.tasks().len()), (Status::Completed, 0));
    assert_eq!((times(&run, "a"), times(&run, "d"), times(&run, "gone")), (1, 0, 1));
}

pub(super) fn complete_instances() {
    let told = many(json!({"loopCondition": "3"}))
        .node("b", "boundaryEvent", boundary("a", "message m1", true))
        .flows("b > d");
    let mut run = told.run(json!({}));
    run.complete("a");
    run.message("m1", Value::Null);
    assert_eq!((run.status(), times(&run, "a"), times(&run, "d")), (Status::Completed, 1, 1));
    let counted = many(json!({"loopCondition": "3", "completionCondition": "nrOfCompletedInstances = 1"}));
    let mut run = counted.run(json!({}));
    run.complete("a");
    assert_eq!((run.status(), times(&run, "a"), times(&run, "d")), (Status::Completed, 1, 1));
}
