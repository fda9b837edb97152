//! Loops, multi-instance activities, quantities of tokens, and ad-hoc sub-processes.

use crate::support::{Model, Run, boundary, event, map};
use heddle_engine::{Budget, CancelReason, Command, EventKind, IncidentCode, SkipTarget, Status};
use serde_json::{Value, json};

/// A node with a marker; `more` are members of its configuration.
fn repeated(kind: &str, marker: Value, more: Value) -> Model {
    let node = json!({"bpmn": {"activity": {"loop": marker}}, "configuration": more});
    Model::default().nodes("s:startEvent e:endEvent").node("a", kind, node).flows("s > a > e")
}

fn multi(members: Value) -> Value {
    let mut marker = json!({"kind": "multiInstance"});
    marker.as_object_mut().unwrap().extend(map(members));
    marker
}

/// Completed instances of a node, without its body.
fn completed(run: &Run, node: &str) -> usize {
    run.done().iter().filter(|own| *own == node).count()
}

fn told(run: &Run) -> String {
    run.state.incidents().into_iter().map(|own| own.message).collect()
}

#[test]
fn a_standard_loop_goes_round_until_its_condition_or_its_maximum() {
    for (marker, wanted) in [
        (json!({"loopCondition": "loopCounter < 3"}), 3),
        (json!({"loopCondition": "loopCounter < 3", "testBefore": true}), 3),
        (json!({"loopCondition": "false"}), 1),
        (json!({"loopCondition": "false", "testBefore": true}), 0),
        (json!({"loopCondition": "true", "loopMaximum": 4}), 4),
        (json!({"loopMaximum": 2}), 2),
        (json!({"loopMaximum": 0}), 0),
        (json!({"loopCondition": "n < 3"}), 3),
    ] {
        let mut own = json!({"kind": "standard"});
        own.as_object_mut().unwrap().extend(map(marker.clone()));
        let script = json!({"kind": "feel", "source": "n + 1", "resultVariable": "n"});
        let run = repeated("scriptTask", own, script).run(json!({"n": 0}));
        assert_eq!(
            (run.status(), completed(&run, "a"), &run.variables()["n"]),
            (Status::Completed, wanted, &json!(wanted)),
            "{marker}"
        );
    }
}

#[test]
fn a_loop_without_an_end_is_stopped_by_the_budget() {
    let mut run = Run::new(repeated("task", json!({"kind": "standard"}), json!({})).graph());
    run.budget = Budget { activations: 100, ..Budget::DEFAULT };
    run.start(json!({})).unwrap();
    assert_eq!(run.incidents()[0].0, IncidentCode::Limit);
    assert_eq!(completed(&run, "a"), 98);
    run.give(Command::Retry { incident_id: run.incident_id(), variables: map(json!({})) }).unwrap();
    assert_eq!(completed(&run, "a"), 198);
}

#[test]
fn the_condition_of_a_loop_must_be_true_or_false() {
    let marker = json!({"kind": "standard", "loopCondition": "again"});
    let mut run = repeated("task", marker, json!({})).run(json!({"again": null}));
    assert_eq!(run.incidents(), [(IncidentCode::ExpressionError, "a".to_owned())]);
    assert!(told(&run).contains("gives null"), "{}", told(&run));
    run.give(Command::Retry { incident_id: run.incident_id(), variables: map(json!({"again": false})) })
        .unwrap();
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn instances_take_the_items_of_a_list_and_give_one_in_order() {
    let setting = json!({
        "collection": "=orders", "elementVariable": "order",
        "outputCollection": "totals", "outputElement": "=order.n * 10 + loopCounter"
    });
    let orders = json!({"orders": [{"n": 3}, {"n": 1}, {"n": 2}]});
    for sequential in [false, true] {
        let marker = multi(json!({"sequential": sequential}));
        let run = repeated("task", marker, json!({"loop": setting})).run(orders.clone());
        assert_eq!(run.status(), Status::Completed);
        assert_eq!(completed(&run, "a"), 3);
        assert_eq!(run.variables(), json!({"orders": orders["orders"], "totals": [30, 11, 22]}));
    }
    // The order is that of the items, not that of the completions.
    let marker = multi(json!({}));
    let mut run = repeated("userTask", marker, json!({"loop": setting})).run(orders);
    assert_eq!(run.tasks(), ["a", "a", "a"]);
    let last = run.state.tasks()[2].task_id;
    run.give(Command::CompleteTask { task_id: last, outcome: None, values: map(json!({})), comment: None })
        .unwrap();
    run.complete("a");
    run.complete("a");
    assert_eq!(run.variables()["totals"], json!([30, 11, 22]));
}

#[test]
fn a_sequential_body_starts_one_after_another_and_a_list_is_that_of_its_start() {
    let marker = multi(json!({"sequential": true, "collection": "names", "elementVariable": "name"}));
    let mut run =
        repeated("userTask", marker, json!({"assignee": "=name"})).run(json!({"names": ["x", "y"]}));
    assert_eq!(run.state.tasks()[0].assignee.as_deref(), Some("x"));
    run.complete_with("a", None, json!({"names": []})).unwrap();
    assert_eq!(run.state.tasks()[0].assignee.as_deref(), Some("y"));
    run.complete("a");
    assert_eq!((run.status(), completed(&run, "a")), (Status::Completed, 2));
}

#[test]
fn a_number_of_instances_is_one_and_a_list_is_one() {
    for (marker, input, wanted) in [
        (json!({"loopCondition": "n"}), json!({"n": -1}), "no number of instances"),
        (json!({"loopCondition": "n"}), json!({"n": 1.5}), "no number of instances"),
        (json!({"loopCondition": "n"}), json!({"n": null}), "gives null"),
        (json!({"loopCondition": "n"}), json!({}), "gives null"),
        (json!({"collection": "list"}), json!({"list": null}), "gives null, no list"),
        (json!({"collection": "list"}), json!({"list": {"a": 1}}), "no list"),
        (json!({"collection": "list"}), json!({}), "no variable `list`"),
        (json!({"collection": "list", "loopCondition": "3"}), json!({"list": [1]}), "has 1 items"),
        (json!({"loopCondition": "1000000"}), json!({}), "`activations` allows 50000"),
    ] {
        let mut run = repeated("task", multi(marker.clone()), json!({})).run(input);
        assert_eq!(run.incidents().len(), 1, "{marker}");
        assert!(told(&run).contains(wanted), "{marker}: {}", told(&run));
        assert_eq!(completed(&run, "a"), 0);
        // A person skips the whole activity.
        run.give(Command::Skip { target: SkipTarget::Incident(run.incident_id()), output: map(json!({})) })
            .unwrap();
        assert_eq!(run.status(), Status::Completed, "{marker}");
    }
    // No instances are none.
    for (marker, input) in
        [(json!({"loopCondition": "0"}), json!({})), (json!({"collection": "list"}), json!({"list": []}))]
    {
        let run = repeated("userTask", multi(marker), json!({})).run(input);
        assert_eq!((run.status(), run.done().len()), (Status::Completed, 0));
    }
}

#[test]
fn ten_thousand_instances_pass_and_a_million_one_after_another_end_at_the_budget() {
    for sequential in [false, true] {
        let marker = multi(json!({"loopCondition": "10000", "sequential": sequential}));
        let run = repeated("task", marker, json!({})).run(json!({}));
        assert_eq!((run.status(), completed(&run, "a")), (Status::Completed, 10_000));
    }
    let marker = multi(json!({"loopCondition": "1000000", "sequential": true}));
    let run = repeated("task", marker, json!({})).run(json!({}));
    assert_eq!(run.incidents()[0].0, IncidentCode::Limit);
}

#[test]
fn many_instances_with_content_open_and_are_withdrawn_in_time() {
    let inner = Model::default().nodes("is:startEvent u:userTask ie:endEvent").flows("is > u > ie");
    let inner = inner.node("ib", "boundaryEvent", boundary("u", "timer PT1H", true));
    let more = json!({"activity": {"loop": multi(json!({"loopCondition": "5000"}))}});
    let model = Model::default()
        .nodes("s:startEvent e:endEvent l:task")
        .sub("a", inner, more)
        .node("b", "boundaryEvent", boundary("a", "message m1", true))
        .flows("s > a > e; b > l > e");
    let mut run = model.run(json!({}));
    assert_eq!((run.state.tasks().len(), run.state.timers().len()), (5_000, 5_000));
    let began = std::time::Instant::now();
    run.message("m1", Value::Null);
    assert_eq!((run.status(), run.done()), (Status::Completed, vec!["l".to_owned()]));
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
}

#[test]
fn the_completion_condition_withdraws_the_rest() {
    for (condition, done) in [
        ("nrOfCompletedInstances / nrOfInstances >= 0.5", 2),
        ("numberOfCompletedInstances = 1", 1),
        ("loopCounter = 2", 3),
        ("numberOfActiveInstances = 1", 3),
    ] {
        let marker = multi(json!({"loopCondition": "4", "completionCondition": condition}));
        let mut run = repeated("userTask", marker, json!({})).run(json!({}));
        while run.status() == Status::Waiting {
            run.complete("a");
        }
        assert_eq!((run.status(), completed(&run, "a")), (Status::Completed, done), "{condition}");
        let gone = run.log.iter().filter(|own| {
            matches!(own.kind, EventKind::NodeCancelled { reason: CancelReason::Completed, .. })
        });
        assert_eq!(gone.count(), 4 - done, "{condition}");
    }
}

#[test]
fn an_incident_of_one_instance_leaves_the_others_going() {
    let setting = json!({"collection": "=items", "elementVariable": "item"});
    let more = json!({"kind": "dmn", "decisionRef": "=item", "loop": setting});
    let mut run = repeated("businessRuleTask", Value::Null, more).run(json!({"items": ["x", "y"]}));
    assert_eq!(run.incidents().len(), 2);
    let ids: Vec<_> = run.state.incidents().iter().map(|own| own.id).collect();
    run.give(Command::Skip { target: SkipTarget::Incident(ids[0]), output: map(json!({})) }).unwrap();
    assert_eq!((run.status(), run.incidents().len()), (Status::Waiting, 1));
    run.give(Command::Retry { incident_id: ids[1], variables: map(json!({})) }).unwrap();
    assert_eq!(run.incidents().len(), 1);
    run.give(Command::Skip { target: SkipTarget::Incident(run.incident_id()), output: map(json!({})) })
        .unwrap();
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn boundary_events_are_those_of_the_body() {
    let more = json!({"bpmn": {"activity": {"loop": multi(json!({"loopCondition": "3"}))}}});
    let model = Model::default()
        .nodes("s:startEvent e:endEvent l:task t:task")
        .node("a", "userTask", more)
        .node("b", "boundaryEvent", boundary("a", "timer PT1H", true))
        .node("n", "boundaryEvent", boundary("a", "message m1", false))
        .flows("s > a > e; b > l; n > t");
    let mut run = model.run(json!({}));
    assert_eq!((run.state.timers().len(), run.waits()), (1, vec!["m1".to_owned()]));
    run.message("m1", Value::Null);
    assert_eq!(run.tasks().len(), 3);
    run.complete("a");
    run.advance(3_600);
    assert_eq!((run.status(), run.done()), (Status::Completed, vec!["a".into(), "l".into(), "t".into()]));
}

#[test]
fn an_error_in_an_instance_is_caught_once_for_all() {
    let inner = Model::default()
        .nodes("is:startEvent u:userTask")
        .node("ie", "endEvent", event("error e1"))
        .flows("is > u > ie");
    let more = json!({"activity": {"loop": multi(json!({"loopCondition": "3"}))}});
    let model = Model::default()
        .nodes("s:startEvent e:endEvent l:task")
        .sub("a", inner, more)
        .node("b", "boundaryEvent", boundary("a", "error e1", true))
        .flows("s > a > e; b > l");
    let mut run = model.run(json!({}));
    run.complete("u");
    assert_eq!((run.status(), run.done()), (Status::Completed, vec!["l".into(), "u".into()]));
}

#[test]
fn markers_nest_and_each_instance_has_variables_of_its_own() {
    let marker = |list: &str, name: &str| multi(json!({"collection": list, "elementVariable": name}));
    let script = json!({"bpmn": {"activity": {"loop": marker("cells", "cell")}},
        "configuration": {"kind": "feel", "source": "append(seen, row * 10 + cell)", "resultVariable": "seen"}});
    let inner = Model::default()
        .nodes("is:startEvent ie:endEvent")
        .node("t", "scriptTask", script)
        .flows("is > t > ie");
    let model = Model::default()
        .nodes("s:startEvent e:endEvent")
        .sub("a", inner, json!({"activity": {"loop": marker("rows", "row")}}))
        .flows("s > a > e");
    let run = model.run(json!({"rows": [1, 2], "cells": [3, 4], "seen": []}));
    assert_eq!(run.status(), Status::Completed);
    let mut seen: Vec<i64> = serde_json::from_value(run.variables()["seen"].clone()).unwrap();
    seen.sort_unstable();
    assert_eq!(seen, [13, 14, 23, 24]);
    assert!(run.variables().get("row").is_none() && run.variables().get("loopCounter").is_none());
}

#[test]
fn the_token_of_an_instance_is_that_of_its_body() {
    let more = json!({"bpmn": {"activity": {"loop": multi(json!({"loopCondition": "2"}))}}});
    let model = Model::default()
        .nodes("s:startEvent e:endEvent t:userTask")
        .node("a", "userTask", more)
        .flows("s > a > e; t > e");
    let mut run = model.run(json!({}));
    let instance = run.state.tasks()[1].node_instance_id;
    run.give(Command::Skip { target: SkipTarget::Node(instance), output: map(json!({})) }).unwrap();
    assert_eq!(run.tasks(), ["a"]);
    let instance = run.state.tasks()[0].node_instance_id;
    run.give(Command::Move { node_instance_id: instance, target_node: "t".to_owned() }).unwrap();
    assert_eq!(run.tasks(), ["t"]);
    run.complete("t");
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn instances_throw_events_for_the_boundary_events_of_their_activity() {
    let complex = |condition: &str| {
        json!({"behavior": "Complex", "complexBehaviorDefinitions": [
            {"condition": condition, "eventDefinitions": [{"type": "signal", "reference": "s1"}]}]})
    };
    for (behavior, instances, caught) in [
        (json!({"behavior": "All"}), 3, 0),
        (json!({}), 3, 0),
        (json!({"behavior": "None"}), 3, 3),
        (json!({"behavior": "One"}), 3, 1),
        (complex("true"), 1, 1),
        (complex("nrOfCompletedInstances = 2"), 2, 1),
        (complex("false"), 3, 0),
    ] {
        let mut marker = multi(json!({"loopCondition": "3", "sequential": true}));
        marker.as_object_mut().unwrap().extend(map(behavior.clone()));
        let more = json!({"bpmn": {"activity": {"loop": marker}}});
        let model = Model::default()
            .nodes("s:startEvent e:endEvent c:task l:task")
            .node("a", "task", more)
            .node("b", "boundaryEvent", boundary("a", "signal s1", true))
            .flows("s > a > l > e; b > c");
        let run = model.run(json!({}));
        let counts = (completed(&run, "a"), completed(&run, "c"), completed(&run, "l"));
        assert_eq!((run.status(), counts), (Status::Completed, (instances, caught, 1)), "{behavior}");
    }
}

#[test]
fn markers_that_say_nothing_usable_are_refused() {
    for (marker, settings, wanted) in [
        (multi(json!({})), json!({}), "needs a cardinality or a collection"),
        (json!({"kind": "standard", "loopMaximum": -1}), json!({}), "loopMaximum"),
        (json!({"kind": "twice"}), json!({}), "neither `standard`"),
        (json!({"kind": "standard", "loopCondition": "a +"}), json!({}), "loopCondition"),
        (multi(json!({"loopCondition": "1", "behavior": "Some"})), json!({}), "behavior"),
        (multi(json!({"loopCondition": "1", "behavior": "Complex"})), json!({}), "complex behavior"),
        (Value::Null, json!({"loop": {"collection": 1}}), "loop.collection"),
        (Value::Null, json!({"loop": {"collection": "=x", "colour": 1}}), "loop.colour"),
        (Value::Null, json!({"loop": {"collection": "=x", "outputCollection": "y"}}), "go together"),
        (Value::Null, json!({"loop": [1]}), "must be an object"),
        (json!({"kind": "standard"}), json!({"loop": {"collection": "=x"}}), "standard loop"),
    ] {
        let compiled = repeated("task", marker.clone(), settings.clone()).compile();
        let messages: Vec<String> = compiled.diagnostics.into_iter().map(|own| own.message).collect();
        assert!(messages.iter().any(|own| own.contains(wanted)), "{marker} {settings}: {messages:?}");
    }
}

#[test]
fn activities_take_and_give_several_tokens() {
    let quantity = |name: &str, count: i64| json!({"bpmn": {"activity": { name: count }}});
    let model = |give: i64, take: i64| {
        Model::default()
            .nodes("s:startEvent m:task e:endEvent")
            .node("g", "task", quantity("completionQuantity", give))
            .node("t", "task", quantity("startQuantity", take))
            .flows("s > g > m > t > e")
    };
    let run = model(6, 2).run(json!({}));
    assert_eq!(run.status(), Status::Completed);
    assert_eq!((completed(&run, "m"), completed(&run, "t")), (6, 3));
    let mut run = model(1, 2).run(json!({}));
    assert_eq!(
        (run.status(), run.incidents()),
        (Status::Waiting, vec![(IncidentCode::Deadlock, "t".into())])
    );
    run.give(Command::Skip { target: SkipTarget::Incident(run.incident_id()), output: map(json!({})) })
        .unwrap();
    assert_eq!((run.status(), completed(&run, "t")), (Status::Completed, 1));
}

fn ad_hoc(activity: Value, configuration: Value) -> Model {
    let content = json!({"nodes": [
        {"id": "x", "type": "userTask"}, {"id": "y", "type": "userTask"}, {"id": "z", "type": "task"}
    ], "edges": [{"id": "y-z", "source": "y", "target": "z"}]});
    let more = json!({"bpmn": {"activity": activity, "subProcess": content}, "configuration": configuration});
    Model::default().nodes("s:startEvent e:endEvent").node("a", "adHocSubProcess", more).flows("s > a > e")
}

#[test]
fn an_ad_hoc_sub_process_runs_its_activities_at_once_or_in_turn() {
    let mut run = ad_hoc(json!({}), json!({})).run(json!({}));
    assert_eq!(run.tasks(), ["x", "y"]);
    run.complete("y");
    run.complete("x");
    assert_eq!(
        (run.status(), run.done()),
        (Status::Completed, ["a", "x", "y", "z"].map(String::from).to_vec())
    );
    let mut run = ad_hoc(json!({"ordering": "Sequential"}), json!({})).run(json!({}));
    assert_eq!(run.tasks(), ["x"]);
    run.complete("x");
    assert_eq!(run.tasks(), ["y"]);
    run.complete("y");
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn an_ad_hoc_sub_process_ends_by_its_condition() {
    let condition = |more: Value| {
        let mut activity = json!({"completionCondition": "enough"});
        activity.as_object_mut().unwrap().extend(map(more));
        ad_hoc(activity, json!({})).run(json!({"enough": false}))
    };
    let mut run = condition(json!({}));
    run.complete_with("x", None, json!({"enough": true})).unwrap();
    assert_eq!((run.status(), run.done()), (Status::Completed, vec!["a".into(), "x".into()]));
    let mut run = condition(json!({"cancelRemainingInstances": false}));
    run.complete_with("x", None, json!({"enough": true})).unwrap();
    assert_eq!(run.tasks(), ["y"]);
    run.complete("y");
    assert_eq!(run.status(), Status::Completed);
    // What is left over begins when somebody says so.
    let mut run = condition(json!({}));
    run.complete("x");
    run.complete("y");
    assert_eq!((run.status(), run.tasks()), (Status::Waiting, vec![]));
    let wait = run.state.active_nodes()[0].waiting_for.clone().unwrap();
    assert!(wait.options.contains(&"move".to_owned()), "{wait:?}");
    let again = Command::Move { node_instance_id: run.instance("a"), target_node: "x".to_owned() };
    run.give(again).unwrap();
    run.complete_with("x", None, json!({"enough": true})).unwrap();
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn the_activities_that_begin_are_named_by_a_list() {
    let setting = json!({"activeElements": "=chosen"});
    let run = ad_hoc(json!({}), setting.clone()).run(json!({"chosen": ["x"]}));
    assert_eq!(run.tasks(), ["x"]);
    for chosen in [json!([]), Value::Null, json!(["nowhere"]), json!(["s"]), json!("x")] {
        let run = ad_hoc(json!({}), setting.clone()).run(json!({ "chosen": chosen }));
        assert_eq!(run.incidents(), [(IncidentCode::ExpressionError, "a".to_owned())], "{chosen}");
    }
}

#[test]
fn a_condition_at_the_border_sees_the_counters_of_instances_that_set_nothing() {
    let enough = json!({"bpmn": {"attachedToRef": "p", "cancelActivity": false,
        "eventDefinitions": [{"type": "conditional", "expression": "nrOfCompletedInstances >= 2"}]}});
    let inner = Model::default().node("t", "intermediateCatchEvent", event("timer PT1H"));
    let several = json!({"activity": {"loop":
        {"kind": "multiInstance", "loopCondition": "3", "sequential": true}}});
    let model = Model::default()
        .nodes("s:startEvent e:endEvent after:userTask e2:endEvent")
        .sub("p", inner, several)
        .node("b", "boundaryEvent", enough)
        .flows("s > p > e; b > after > e2");
    let mut run = model.run(json!({}));
    run.advance(3600);
    assert!(run.tasks().is_empty());
    run.advance(3600);
    assert_eq!(run.tasks(), ["after"]);
}
