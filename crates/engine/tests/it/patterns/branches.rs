//! Patterns of flows, choices, triggers and states.

#![expect(clippy::indexing_slicing, reason = "a trial fails where its sample does not fit")]

use crate::support::{Model, Run, boundary, event, map};
use heddle_engine::{Command, EventKind, Status};
use serde_json::{Value, json};

pub(super) fn simple() -> Model {
    Model::default().nodes("s:startEvent e:endEvent")
}

/// A node whose default flow leads there.
pub(super) fn with_default(from: &str, to: &str) -> Value {
    json!({"bpmn": {"defaultFlow": format!("{from}-{to}")}})
}

/// A script task that counts a variable.
pub(super) fn counting(variable: &str) -> Value {
    let source = format!("{variable} + 1");
    json!({"configuration": {"kind": "feel", "source": source, "resultVariable": variable}})
}

/// How often a node completed.
pub(super) fn times(run: &Run, node: &str) -> usize {
    run.done().iter().filter(|own| *own == node).count()
}

/// Completes tasks in turn; each of them must be open.
pub(super) fn complete(run: &mut Run, tasks: &str) {
    tasks.split(' ').for_each(|task| run.complete(task));
}

pub(super) fn sequence() {
    let mut run = simple().nodes("a:userTask b:userTask").flows("s > a > b > e").run(json!({}));
    assert_eq!(run.tasks(), ["a"]);
    run.complete("a");
    assert_eq!(run.tasks(), ["b"]);
    run.complete("b");
    assert_eq!(run.status(), Status::Completed);
}

pub(super) fn parallel_split() {
    let gateway = simple().nodes("g:parallelGateway").flows("s > g; g > a > e; g > b > e");
    let activity = simple().nodes("g:task").flows("s > g; g > a > e; g > b > e");
    for model in [gateway, activity] {
        assert_eq!(model.nodes("a:userTask b:userTask").run(json!({})).tasks(), ["a", "b"]);
    }
}

pub(super) fn synchronization() {
    let model = simple().nodes("f:parallelGateway a:userTask b:userTask j:parallelGateway c:userTask");
    for order in ["a b", "b a"] {
        let mut run = model.clone().flows("s > f; f > a > j; f > b > j; j > c > e").run(json!({}));
        let (first, second) = order.split_once(' ').unwrap();
        run.complete(first);
        assert_eq!(run.tasks(), [second]);
        run.complete(second);
        assert_eq!(run.tasks(), ["c"]);
    }
}

fn choice() -> Model {
    simple()
        .node("g", "exclusiveGateway", with_default("g", "b"))
        .nodes("a:userTask b:userTask")
        .flows("s > g > b")
        .flow_if("g", "a", "x eq 1")
}

pub(super) fn exclusive_choice() {
    for (x, taken) in [(1, "a"), (2, "b")] {
        assert_eq!(choice().run(json!({ "x": x })).tasks(), [taken]);
    }
}

pub(super) fn simple_merge() {
    for (x, taken) in [(1, "a"), (2, "b")] {
        let model = choice().nodes("m:exclusiveGateway c:task").flows("a > m; b > m; m > c > e");
        let mut run = model.run(json!({ "x": x }));
        run.complete(taken);
        assert_eq!((run.status(), times(&run, "c")), (Status::Completed, 1));
    }
}

pub(super) fn multi_choice() {
    for (pick, taken) in [("a", &["a"][..]), ("ac", &["a", "c"][..]), ("abc", &["a", "b", "c"][..])] {
        let model = ["a", "b", "c"].into_iter().fold(
            simple().nodes("g:inclusiveGateway a:userTask b:userTask c:userTask").flows("s > g"),
            |model, task| model.flow_if("g", task, &format!("pick contains {task}")),
        );
        assert_eq!(model.run(json!({ "pick": pick })).tasks(), taken);
    }
}

pub(super) fn multi_merge() {
    let model = simple()
        .nodes("f:parallelGateway a:userTask b:userTask m:exclusiveGateway c:userTask")
        .flows("s > f; f > a > m; f > b > m; m > c > e");
    let mut run = model.run(json!({}));
    complete(&mut run, "a b");
    assert_eq!(run.tasks(), ["c", "c"]);
}

pub(super) fn arbitrary_cycles() {
    let model = simple()
        .node("g", "exclusiveGateway", with_default("g", "x2"))
        .nodes("x1:exclusiveGateway a:userTask x2:exclusiveGateway b:userTask")
        .node("h", "exclusiveGateway", with_default("h", "e"))
        .flows("s > g > x2; x1 > a > x2 > b > h > e")
        .flow_if("g", "x1", "enter eq 1")
        .flow_if("h", "x1", "again eq true");
    for (enter, first) in [(1, "a b"), (2, "b")] {
        let mut run = model.run(json!({"enter": enter, "again": true}));
        complete(&mut run, first);
        run.complete("a");
        run.complete_with("b", None, json!({"again": false})).unwrap();
        assert_eq!((run.status(), times(&run, "b")), (Status::Completed, 2));
    }
}

pub(super) fn implicit_termination() {
    let model = simple().nodes("f:parallelGateway a:userTask b:userTask").flows("s > f; f > a > e; f > b");
    let mut run = model.run(json!({}));
    run.complete("a");
    assert_eq!(run.status(), Status::Waiting);
    run.complete("b");
    assert_eq!(run.status(), Status::Completed);
}

pub(super) fn deferred_choice() {
    let model = simple()
        .nodes("g:eventBasedGateway a:userTask b:userTask")
        .node("m", "intermediateCatchEvent", event("message m1"))
        .node("t", "intermediateCatchEvent", event("timer PT1H"))
        .flows("s > g; g > m > a > e; g > t > b > e");
    let mut run = model.run(json!({}));
    run.message("m1", Value::Null);
    assert_eq!(run.tasks(), ["a"]);
    assert!(run.state.timers().is_empty());
    let mut run = model.run(json!({}));
    run.advance(3_600);
    assert_eq!(run.tasks(), ["b"]);
    assert!(run.waits().is_empty());
}

/// A sequential ad-hoc sub-process with that content.
fn in_turn(content: &Model) -> Model {
    let inside = content.json();
    let more = json!({"bpmn": {
        "activity": {"ordering": "Sequential"},
        "subProcess": {"nodes": inside["nodes"].clone(), "edges": inside["edges"].clone()}
    }});
    simple().node("all", "adHocSubProcess", more).flows("s > all > e")
}

/// Completes one task after the other, of which one is open at a time; gives the order.
fn one_by_one(mut run: Run) -> Vec<String> {
    let mut order = Vec::new();
    while run.status() == Status::Waiting {
        let [task] = <[String; 1]>::try_from(run.tasks()).unwrap();
        run.complete(&task);
        order.push(task);
    }
    assert_eq!(run.status(), Status::Completed);
    order
}

pub(super) fn interleaved_parallel_routing() {
    let content = Model::default().nodes("x:userTask y:userTask z:userTask").flows("y > z");
    let order = one_by_one(in_turn(&content).run(json!({})));
    let place = |task: &str| order.iter().position(|own| own == task).unwrap();
    assert!(order.len() == 3 && place("y") < place("z"), "{order:?}");
}

pub(super) fn interleaved_routing() {
    let content = Model::default().nodes("x:userTask y:userTask z:userTask");
    let mut order = one_by_one(in_turn(&content).run(json!({})));
    order.sort();
    assert_eq!(order, ["x", "y", "z"]);
}

pub(super) fn critical_section() {
    let section = |name: &str| {
        let tasks = format!("{name}1:userTask {name}2:userTask");
        Model::default().nodes(&tasks).flows(&format!("{name}1 > {name}2"))
    };
    let content = Model::default().sub("p", section("x"), json!({})).sub("q", section("y"), json!({}));
    let order = one_by_one(in_turn(&content).run(json!({})));
    let of: Vec<char> = order.iter().filter_map(|task| task.chars().next()).collect();
    assert!(of == ['x', 'x', 'y', 'y'] || of == ['y', 'y', 'x', 'x'], "{order:?}");
}

pub(super) fn milestone() {
    let model = simple()
        .nodes("before:userTask state:userTask after:userTask act:task be:endEvent")
        .node("b", "boundaryEvent", boundary("state", "message m1", false))
        .flows("s > before > state > after > e; b > act > be");
    let mut run = model.run(json!({}));
    assert!(run.waits().is_empty());
    run.complete("before");
    run.message("m1", Value::Null);
    assert_eq!((times(&run, "act"), run.tasks()), (1, vec!["state".to_owned()]));
    run.complete("state");
    assert!(run.waits().is_empty());
    run.complete("after");
    assert_eq!((run.status(), times(&run, "act")), (Status::Completed, 1));
}

pub(super) fn structured_loop() {
    for (marker, input, rounds) in [
        (json!({"kind": "standard", "loopCondition": "again"}), json!({"again": true}), 2),
        (
            json!({"kind": "standard", "loopCondition": "again", "testBefore": true}),
            json!({"again": false}),
            0,
        ),
    ] {
        let model = simple().node("a", "userTask", json!({"bpmn": {"activity": {"loop": marker}}}));
        let mut run = model.flows("s > a > e").run(input);
        for round in 1..=rounds {
            run.complete_with("a", None, json!({"again": round < rounds})).unwrap();
        }
        assert_eq!((run.status(), times(&run, "a")), (Status::Completed, rounds));
    }
}

pub(super) fn recursion() {
    let call = json!({
        "configuration": {"inputs": [{"name": "n", "value": "=n - 1"}]}, "bpmn": {"calledElement": "main"}
    });
    let model = simple()
        .node("g", "exclusiveGateway", with_default("g", "e"))
        .node("c", "callActivity", call)
        .flows("s > g > e; c > e")
        .flow_if("g", "c", "n gt 0");
    let mut outer = model.run(json!({"n": 1}));
    let called = outer.log.iter().find_map(|event| match &event.kind {
        EventKind::RunCalled(called) => Some((**called).clone()),
        _ => None,
    });
    let called = called.unwrap();
    assert_eq!((&*called.called, Value::Object(called.input.clone())), ("main", json!({"n": 0})));
    // The called run is one of the same process, and ends its recursion.
    let inner = model.run(Value::Object(called.input));
    assert_eq!(inner.status(), Status::Completed);
    outer.give(Command::CompleteCall { run_id: called.run_id, output: map(inner.variables()) }).unwrap();
    assert_eq!(outer.status(), Status::Completed);
}

fn waiting_after_a_task(text: &str) -> Run {
    simple()
        .nodes("a:userTask")
        .node("c", "intermediateCatchEvent", event(text))
        .flows("s > a > c > e")
        .run(json!({}))
}

pub(super) fn transient_trigger() {
    let mut run = waiting_after_a_task("signal s1");
    assert!(run.waits().is_empty(), "a signal reaches nobody yet");
    run.complete("a");
    assert_eq!(run.status(), Status::Waiting);
    run.signal("s1", Value::Null);
    assert_eq!(run.status(), Status::Completed);
}

pub(super) fn persistent_trigger() {
    let mut run = waiting_after_a_task("message m1");
    run.complete("a");
    // What the store has kept is delivered like any other.
    run.message("m1", json!({"kept": true}));
    assert_eq!((run.status(), run.variables()), (Status::Completed, json!({"kept": true})));
}

pub(super) fn thread_split() {
    let model = simple()
        .node("k", "task", json!({"bpmn": {"activity": {"completionQuantity": 3}}}))
        .nodes("a:userTask")
        .flows("s > k > a > e");
    assert_eq!(model.run(json!({})).tasks(), ["a", "a", "a"]);
}
