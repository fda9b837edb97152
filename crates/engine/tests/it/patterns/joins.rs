//! Patterns of joins: synchronizing merges, discriminators and partial joins.

use super::branches::{complete, simple, times, with_default};
use crate::support::{Model, event};
use heddle_engine::Status;
use serde_json::json;

pub(super) fn structured_synchronizing_merge() {
    let model = simple()
        .nodes("g:inclusiveGateway a:userTask b:userTask j:inclusiveGateway c:task")
        .flows("s > g; a > j; b > j; j > c > e")
        .flow_if("g", "a", "pick contains a")
        .flow_if("g", "b", "pick contains b");
    for (pick, order) in
        [("a", &["a"][..]), ("b", &["b"][..]), ("ab", &["a", "b"][..]), ("ab", &["b", "a"][..])]
    {
        let mut run = model.run(json!({ "pick": pick }));
        for task in order {
            assert_eq!(times(&run, "c"), 0);
            run.complete(task);
        }
        assert_eq!((run.status(), times(&run, "c")), (Status::Completed, 1));
    }
}

/// Three user tasks before a complex gateway with that condition, and the task `d` behind it.
fn three_branches(condition: &str) -> Model {
    simple()
        .nodes("f:parallelGateway a:userTask b:userTask c:userTask d:task")
        .node("g", "complexGateway", json!({"bpmn": {"activationCondition": condition}}))
        .flows("s > f; f > a > g; f > b > g; f > c > g; g > d > e")
}

fn goes_on_once_after(condition: &str, wanted: usize) {
    for order in [["a", "b", "c"], ["c", "a", "b"]] {
        let mut run = three_branches(condition).run(json!({}));
        for (count, task) in (1..).zip(order) {
            run.complete(task);
            assert_eq!(times(&run, "d"), usize::from(count >= wanted), "{condition} after {task}");
        }
        assert_eq!(run.status(), Status::Completed);
    }
}

pub(super) fn structured_discriminator() {
    goes_on_once_after("activationCount >= 1", 1);
}

pub(super) fn structured_partial_join() {
    goes_on_once_after("activationCount >= 2", 2);
}

/// Branches `a`, `b`, … before the join `g`, each with two threads (`a1`, `a2`), and the task `d` behind it.
fn twice(branches: &str, join: Model) -> Model {
    branches.split(' ').fold(
        join.nodes("f:parallelGateway d:task").flows("s > f; g > d > e"),
        |model, name| {
            model
                .nodes(&format!("{name}1:userTask {name}2:userTask {name}:exclusiveGateway"))
                .flows(&format!("f > {name}1 > {name}; f > {name}2 > {name}; {name} > g"))
        },
    )
}

fn complex(condition: &str) -> Model {
    simple().node("g", "complexGateway", json!({"bpmn": {"activationCondition": condition}}))
}

pub(super) fn blocking_discriminator() {
    let mut run = twice("a b", complex("activationCount >= 1")).run(json!({}));
    for (task, count) in [("a1", 1), ("a2", 1), ("b1", 2), ("b2", 2)] {
        run.complete(task);
        assert_eq!(times(&run, "d"), count, "after {task}");
    }
    assert_eq!(run.status(), Status::Completed);
}

pub(super) fn blocking_partial_join() {
    let condition = "count(get entries(activationCounts)[value > 0]) >= 2";
    let mut run = twice("a b c", complex(condition)).run(json!({}));
    for (task, count) in [("a1", 0), ("a2", 0), ("b1", 1), ("b2", 1), ("c1", 2), ("c2", 2)] {
        run.complete(task);
        assert_eq!(times(&run, "d"), count, "after {task}");
    }
    assert_eq!(run.status(), Status::Completed);
}

/// A sub-process around branches that end in its terminate end event, and the task `d` behind it.
fn cancelling(branches: &Model) -> Model {
    let inside = branches.clone().node("t", "endEvent", event("terminate"));
    simple().sub("p", inside, json!({})).nodes("d:task").flows("s > p > d > e")
}

pub(super) fn cancelling_discriminator() {
    let branches = Model::default()
        .nodes("is:startEvent f:parallelGateway a:userTask b:userTask c:userTask")
        .flows("is > f; f > a > t; f > b > t; f > c > t");
    let mut run = cancelling(&branches).run(json!({}));
    assert_eq!(run.tasks(), ["a", "b", "c"]);
    run.complete("b");
    assert_eq!((run.status(), run.tasks().len(), times(&run, "d")), (Status::Completed, 0, 1));
}

pub(super) fn cancelling_partial_join() {
    let branches = Model::default()
        .nodes("is:startEvent f:parallelGateway a:userTask b:userTask c:userTask")
        .node("g", "complexGateway", json!({"bpmn": {"activationCondition": "activationCount >= 2"}}))
        .flows("is > f; f > a > g; f > b > g; f > c > g; g > t");
    let mut run = cancelling(&branches).run(json!({}));
    run.complete("b");
    assert_eq!((run.tasks(), times(&run, "d")), (vec!["a".to_owned(), "c".to_owned()], 0));
    run.complete("c");
    assert_eq!((run.status(), run.tasks().len(), times(&run, "d")), (Status::Completed, 0, 1));
}

pub(super) fn generalized_and_join() {
    let mut run = twice("a b", simple().nodes("g:parallelGateway")).run(json!({}));
    for (task, count) in [("a1", 0), ("a2", 0), ("b1", 1), ("b2", 2)] {
        run.complete(task);
        assert_eq!(times(&run, "d"), count, "after {task}");
    }
    assert_eq!(run.status(), Status::Completed);
}

pub(super) fn local_synchronizing_merge() {
    // The branch of `a` may leave the region, and the join then waits for it no longer.
    let model = simple()
        .nodes("g:inclusiveGateway a:userTask b:userTask j:inclusiveGateway c:task k:task")
        .node("x", "exclusiveGateway", with_default("x", "k"))
        .flows("s > g; a > x > k > e; b > j > c > e")
        .flow_if("g", "a", "pick contains a")
        .flow_if("g", "b", "pick contains b")
        .flow_if("x", "j", "stay eq true");
    for (stay, left) in [(true, 0), (false, 1)] {
        let mut run = model.run(json!({"pick": "ab", "stay": stay}));
        run.complete("b");
        assert_eq!(times(&run, "c"), 0);
        run.complete("a");
        assert_eq!((run.status(), times(&run, "c"), times(&run, "k")), (Status::Completed, 1, left));
    }
}

pub(super) fn general_synchronizing_merge() {
    let model = simple()
        .nodes("f:parallelGateway m:exclusiveGateway a:userTask b:userTask j:inclusiveGateway c:task")
        .node("x", "exclusiveGateway", with_default("x", "j"))
        .flows("s > f; f > m > a > x > j; f > b > j; j > c > e")
        .flow_if("x", "m", "again eq true");
    let mut run = model.run(json!({"again": true}));
    complete(&mut run, "b a a");
    assert_eq!(times(&run, "c"), 0, "the branch can still come");
    run.complete_with("a", None, json!({"again": false})).unwrap();
    assert_eq!((run.status(), times(&run, "c")), (Status::Completed, 1));
}

pub(super) fn thread_merge() {
    let model = simple()
        .nodes("f:parallelGateway a:userTask b:userTask m:exclusiveGateway")
        .node("k", "userTask", json!({"bpmn": {"activity": {"startQuantity": 2}}}))
        .flows("s > f; f > a > m; f > b > m; m > k > e");
    let mut run = model.run(json!({}));
    run.complete("a");
    assert_eq!(run.tasks(), ["b"]);
    run.complete("b");
    assert_eq!(run.tasks(), ["k"]);
    run.complete("k");
    assert_eq!(run.status(), Status::Completed);
}
