//! Conditions, several triggers, links, complex gateways and every way in which an instance starts.

#![expect(clippy::indexing_slicing, reason = "a trial fails where its sample does not fit")]

use crate::support::{Model, Run, event, map};
use heddle_engine::{Budget, Command, IncidentCode, Rejection, Status, Trigger};
use serde_json::{Value, json};

fn simple() -> Model {
    Model::default().nodes("s:startEvent e:endEvent")
}

/// An event with definitions `kind` or `kind reference`, a condition as `conditional text`.
fn events(texts: &[&str], parallel: bool) -> Value {
    let one = |text: &&str| {
        let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
        match kind {
            "conditional" => json!({"type": kind, "expression": rest}),
            _ => event(text)["bpmn"]["eventDefinitions"][0].clone(),
        }
    };
    json!({"bpmn": {
        "eventDefinitions": texts.iter().map(one).collect::<Vec<_>>(), "parallelMultiple": parallel
    }})
}

fn border(host: &str, texts: &[&str], parallel: bool, interrupting: bool) -> Value {
    let mut more = events(texts, parallel);
    more["bpmn"]["attachedToRef"] = host.into();
    more["bpmn"]["cancelActivity"] = interrupting.into();
    more
}

/// A process with an event sub-process of that trigger around a user task `u`.
fn with_event_sub_process(trigger: Value, interrupting: bool) -> Model {
    let mut start = trigger;
    start["bpmn"]["isInterrupting"] = interrupting.into();
    let inner =
        Model::default().node("es", "startEvent", start).nodes("h:task ee:endEvent").flows("es > h > ee");
    simple().nodes("u:userTask").flows("s > u > e").sub("p", inner, json!({"triggeredByEvent": true}))
}

fn set(run: &mut Run, values: Value) {
    run.give(Command::SetVariables { scope: None, values: map(values) }).unwrap();
}

fn message_start(run: &mut Run, name: &str, node_id: &str, input: Value) -> Result<(), Rejection> {
    let trigger = Trigger::Message { name: name.to_owned(), node_id: node_id.to_owned() };
    run.give(Command::Start { trigger, input: map(input) })
}

#[test]
fn a_condition_occurs_when_it_begins_to_hold() {
    let catch = simple()
        .node("c", "intermediateCatchEvent", events(&["conditional x > 3"], false))
        .flows("s > c > e");
    for (input, status) in [(json!({"x": 4}), Status::Completed), (json!({}), Status::Waiting)] {
        assert_eq!(catch.run(input).status(), status);
    }
    let mut run = catch.run(json!({"x": null}));
    set(&mut run, json!({"x": 2}));
    assert_eq!(run.status(), Status::Waiting);
    assert!(run.state.subscriptions().is_empty(), "nobody outside can meet a condition");
    set(&mut run, json!({"x": 5}));
    assert_eq!(run.status(), Status::Completed);
    assert!(run.types().contains(&"condition.changed".to_owned()));
}

#[test]
fn a_condition_at_a_border_interrupts_or_not() {
    for (interrupting, input, done) in [
        (true, json!({"x": true}), &["b"][..]),
        (true, json!({"x": false}), &["a"][..]),
        (false, json!({"x": true}), &["a", "b"][..]),
    ] {
        let model = simple()
            .nodes("a:task b:task be:endEvent")
            .node("bo", "boundaryEvent", border("a", &["conditional x"], false, interrupting))
            .flows("s > a > e; bo > b > be");
        let run = model.run(input);
        assert_eq!(
            (run.done(), run.status()),
            (done.iter().map(ToString::to_string).collect(), Status::Completed)
        );
    }
}

#[test]
fn a_condition_that_does_not_interrupt_occurs_at_each_change_to_true() {
    for model in [
        simple()
            .nodes("u:userTask h:task be:endEvent")
            .node("bo", "boundaryEvent", border("u", &["conditional x"], false, false))
            .flows("s > u > e; bo > h > be"),
        with_event_sub_process(events(&["conditional x"], false), false),
    ] {
        let mut run = model.run(json!({"x": true}));
        let handled = |run: &Run| run.done().iter().filter(|own| *own == "h").count();
        assert_eq!(handled(&run), 1);
        for (x, times) in [(true, 1), (false, 1), (true, 2), (false, 2), (true, 3)] {
            set(&mut run, json!({ "x": x }));
            assert_eq!(handled(&run), times);
        }
        run.complete("u");
        assert_eq!(run.status(), Status::Completed);
    }
}

#[test]
fn a_condition_that_holds_from_the_first_leaves_the_process_no_start() {
    let mut run = with_event_sub_process(events(&["conditional x"], false), true).run(json!({"x": true}));
    assert_eq!((run.done(), run.status()), (vec!["h".to_owned(), "p".to_owned()], Status::Completed));
    run = with_event_sub_process(events(&["conditional x"], false), true).run(json!({"x": false}));
    assert_eq!(run.tasks(), ["u"]);
    run.complete_with("u", None, json!({"x": true})).unwrap();
    assert!(run.done().contains(&"u".to_owned()));
}

#[test]
fn a_condition_that_is_no_truth_is_an_incident_until_it_is_one() {
    for model in [
        simple()
            .nodes("u:userTask be:endEvent")
            .node("bo", "boundaryEvent", border("u", &["conditional x"], false, true))
            .flows("s > u > e; bo > be"),
        with_event_sub_process(events(&["conditional x"], false), true),
    ] {
        let mut run = model.run(json!({"x": false}));
        set(&mut run, json!({"x": "maybe"}));
        set(&mut run, json!({"y": 1}));
        let codes: Vec<_> = run.incidents().into_iter().map(|own| own.0).collect();
        assert_eq!(codes, [IncidentCode::ExpressionError], "one, however often it is looked at");
        let incident_id = run.incident_id();
        run.give(Command::Retry { incident_id, variables: map(json!({})) }).unwrap();
        assert_eq!(run.incidents().len(), 1, "nothing has changed");
        set(&mut run, json!({"x": true}));
        assert!(run.incidents().is_empty());
        assert_eq!(run.status(), Status::Completed);
    }
}

#[test]
fn a_condition_that_turns_for_ever_stops_at_a_budget() {
    let script =
        |source: &str| json!({"configuration": {"kind": "feel", "source": source, "resultVariable": "x"}});
    let mut start = events(&["conditional x"], false);
    start["bpmn"]["isInterrupting"] = false.into();
    let inner = Model::default()
        .node("es", "startEvent", start)
        .node("off", "scriptTask", script("false"))
        .node("on", "scriptTask", script("true"))
        .nodes("ee:endEvent")
        .flows("es > off > on > ee");
    let model =
        simple().nodes("u:userTask").flows("s > u > e").sub("p", inner, json!({"triggeredByEvent": true}));
    let mut run = Run::new(model.graph());
    run.budget = Budget { activations: 500, ..Budget::DEFAULT };
    run.start(json!({"x": true})).unwrap();
    assert_eq!(run.incidents()[0].0, IncidentCode::Limit);
}

#[test]
fn any_of_several_triggers_is_enough() {
    type Trigger = fn(&mut Run);
    let triggers: [Trigger; 4] = [
        |run| run.message("m1", json!({"by": "m1"})),
        |run| run.signal("s1", json!({})),
        |run| run.advance(3600),
        |run| set(run, json!({"x": true})),
    ];
    let texts = ["message m1", "signal s1", "timer PT1H", "conditional x"];
    for trigger in triggers {
        let catch = simple().node("c", "intermediateCatchEvent", events(&texts, false)).flows("s > c > e");
        let gateway = simple()
            .nodes("g:eventBasedGateway")
            .node("c", "intermediateCatchEvent", events(&texts, false))
            .node("d", "intermediateCatchEvent", event("message m2"))
            .flows("s > g > c > e; g > d > e");
        let host = simple()
            .nodes("u:userTask be:endEvent")
            .node("bo", "boundaryEvent", border("u", &texts, false, true))
            .flows("s > u > e; bo > be");
        let around = with_event_sub_process(events(&texts, false), true);
        for model in [catch, gateway, host, around] {
            let mut run = model.run(json!({}));
            trigger(&mut run);
            assert_eq!(run.status(), Status::Completed, "{:?}", run.types());
            assert!(run.state.timers().is_empty() && run.state.subscriptions().is_empty());
        }
    }
}

#[test]
fn all_of_several_triggers_are_needed() {
    let texts = ["message m1", "signal s1", "timer PT1H", "conditional x"];
    let catch = simple().node("c", "intermediateCatchEvent", events(&texts, true)).flows("s > c > e");
    let host = simple()
        .nodes("u:userTask be:endEvent")
        .node("bo", "boundaryEvent", border("u", &texts, true, true))
        .flows("s > u > e; bo > be");
    let around = with_event_sub_process(events(&texts, true), true);
    for model in [catch, host, around] {
        let mut run = model.run(json!({}));
        run.signal("s1", json!({"a": 1}));
        set(&mut run, json!({"x": true}));
        set(&mut run, json!({"x": false}));
        assert_eq!(run.waits(), ["m1"], "what has come is waited for no longer");
        run.advance(3600);
        assert_eq!(run.status(), Status::Waiting);
        run.message("m1", json!({"b": 2}));
        assert_eq!(run.status(), Status::Completed);
        assert_eq!((&run.variables()["a"], &run.variables()["b"]), (&json!(1), &json!(2)));
    }
}

#[test]
fn what_needs_all_and_does_not_interrupt_waits_for_all_again() {
    for model in [
        simple()
            .nodes("u:userTask h:task be:endEvent")
            .node("bo", "boundaryEvent", border("u", &["message m1", "signal s1"], true, false))
            .flows("s > u > e; bo > h > be"),
        with_event_sub_process(events(&["message m1", "signal s1"], true), false),
    ] {
        let mut run = model.run(json!({}));
        for round in 1..4 {
            run.message("m1", json!({}));
            assert_eq!(run.waits(), ["s1"]);
            run.signal("s1", json!({}));
            assert_eq!(run.done().iter().filter(|own| *own == "h").count(), round);
        }
        run.complete("u");
        assert_eq!(run.status(), Status::Completed);
    }
}

#[test]
fn an_event_throws_all_that_it_names() {
    let throw = simple()
        .nodes("p:parallelGateway")
        .node("c", "intermediateCatchEvent", event("signal s1"))
        .node("t", "intermediateThrowEvent", events(&["signal s1", "message m2"], false))
        .flows("s > p > c > e; p > t > e")
        .run(json!({}));
    assert_eq!(throw.status(), Status::Completed);
    let sent = throw.types().into_iter().filter(|own| own == "message.sent" || own == "signal.sent");
    assert_eq!(sent.collect::<Vec<_>>(), ["signal.sent", "message.sent"]);
    let end = simple()
        .nodes("p:parallelGateway u:userTask")
        .node("t", "endEvent", events(&["terminate", "message m2"], false))
        .flows("s > p > u > e; p > t")
        .run(json!({}));
    assert_eq!(end.status(), Status::Completed);
    assert!(end.types().contains(&"message.sent".to_owned()), "what is sent is sent before all ends");
}

#[test]
fn what_cannot_all_be_sent_is_not_sent_twice() {
    let mut more = events(&["signal s1", "message m1"], false);
    more["configuration"] = json!({"correlationKey": "=key"});
    let model = simple().node("t", "intermediateThrowEvent", more).flows("s > t > e");
    let mut run = model.run(json!({}));
    assert_eq!(run.incidents()[0].0, IncidentCode::ExpressionError);
    let incident_id = run.incident_id();
    run.give(Command::Retry { incident_id, variables: map(json!({"key": "k"})) }).unwrap();
    assert_eq!(run.status(), Status::Completed);
    assert_eq!(run.types().iter().filter(|own| *own == "signal.sent").count(), 1);
}

#[test]
fn links_join_two_places_of_a_scope() {
    let link = |name: &str| json!({"bpmn": {"eventDefinitions": [{"type": "link", "reference": name}]}});
    let model = simple()
        .nodes("g:inclusiveGateway a:task b:userTask j:inclusiveGateway")
        .node("t1", "intermediateThrowEvent", link("on"))
        .node("t2", "intermediateThrowEvent", link("on"))
        .node("c", "intermediateCatchEvent", link("on"))
        .nodes("d:task")
        .flows("s > g; g > a > t1; g > b > t2; c > d > j; g > j > e");
    let mut run = model.run(json!({}));
    assert_eq!(run.done(), ["a", "d"], "the join waits for the token behind the other link");
    run.complete("b");
    assert_eq!(run.status(), Status::Completed);
    assert_eq!(run.done(), ["a", "b", "d", "d"]);
    for (wrong, code) in [
        (simple().node("t", "intermediateThrowEvent", link("on")).flows("s > t; s > e"), "danglingReference"),
        (
            simple()
                .node("t", "intermediateThrowEvent", link("on"))
                .node("c", "intermediateCatchEvent", link("on"))
                .node("d", "intermediateCatchEvent", link("on"))
                .flows("s > t; c > e; d > e"),
            "severalLinks",
        ),
        (
            simple()
                .node("t", "intermediateThrowEvent", link("on"))
                .node("c", "intermediateCatchEvent", link("on"))
                .flows("s > t > c > e"),
            "wrongFlow",
        ),
        (simple().node("t", "intermediateThrowEvent", link("")).flows("s > t"), "missingLink"),
        (simple().node("t", "endEvent", link("on")).flows("s > t"), "unsupportedEvent"),
    ] {
        let codes: Vec<_> = wrong.compile().diagnostics.into_iter().map(|own| own.code).collect();
        assert!(codes.iter().any(|own| own == code), "{code}: {codes:?}");
    }
}

/// Three user tasks before a complex gateway with a task behind it.
fn discriminator(condition: &str, flow: Option<&str>) -> Model {
    let model = simple()
        .nodes("p:parallelGateway a:userTask b:userTask c:userTask d:task")
        .node("g", "complexGateway", json!({"bpmn": {"activationCondition": condition}}))
        .flows("s > p; p > a > g; p > b > g; p > c > g; d > e");
    match flow {
        None => model.flows("g > d"),
        Some(text) => model.edge("g", "d", json!({"bpmn": {"conditionExpression": text}})),
    }
}

#[test]
fn a_complex_gateway_goes_on_by_its_condition_and_takes_the_rest_in_silence() {
    for (condition, first, times) in [
        ("activationCount >= 1", 1, 1),
        ("activationCount >= 2", 2, 1),
        ("get value(activationCounts, \"b-g\") = 1", 2, 1),
        ("activationCount >= need", 3, 1),
    ] {
        let mut run = discriminator(condition, None).run(json!({"need": 3}));
        for (count, task) in (1..).zip(["a", "b", "c"]) {
            assert_eq!(run.done().contains(&"d".to_owned()), count > first, "{condition} before {task}");
            run.complete(task);
        }
        assert_eq!(run.done().iter().filter(|own| *own == "d").count(), times, "{condition}");
        assert_eq!((run.status(), run.incidents()), (Status::Completed, Vec::new()), "{condition}");
    }
    // The second phase takes the flows whose conditions hold then.
    for (flow, times) in [("waitingForStart", 1), ("true", 2), ("activationCount > 1", 1)] {
        let mut run = discriminator("activationCount >= 1", Some(flow)).run(json!({}));
        let mut done = |task: &str| {
            let open = run.state.tasks().iter().any(|own| &*own.node_id == task);
            if open {
                run.complete(task);
            }
        };
        ["a", "b", "c"].into_iter().for_each(&mut done);
        if flow == "activationCount > 1" {
            assert_eq!(run.incidents()[0].0, IncidentCode::NoMatchingFlow);
            continue;
        }
        assert_eq!(run.done().iter().filter(|own| *own == "d").count(), times, "{flow}");
        assert_eq!(run.status(), Status::Completed, "{flow}");
    }
}

#[test]
fn a_complex_gateway_waits_only_for_tokens_that_can_come() {
    // Of three branches one is never taken: the gateway resets when the second has come.
    let model = simple()
        .node("i", "inclusiveGateway", json!({"bpmn": {"defaultFlow": "i-c"}}))
        .nodes("a:userTask b:userTask c:userTask d:task")
        .node("g", "complexGateway", json!({"bpmn": {"activationCondition": "activationCount >= 1"}}))
        .flow_if("i", "a", "pick contains a")
        .flow_if("i", "b", "pick contains b")
        .flows("s > i > c > g; a > g; b > g; g > d > e");
    let mut run = model.run(json!({"pick": "ab"}));
    run.complete("a");
    assert_eq!((run.done(), run.status()), (vec!["a".to_owned(), "d".to_owned()], Status::Waiting));
    run.complete("b");
    assert_eq!(run.status(), Status::Completed);
    // In a cycle it is activated anew once it is reset.
    let cycle = simple()
        .nodes("x:exclusiveGateway a:userTask g:complexGateway")
        .node("y", "exclusiveGateway", json!({"bpmn": {"defaultFlow": "y-e"}}))
        .flows("s > x > a > g > y > e")
        .flow_if("y", "x", "again isTrue");
    let mut run = cycle.run(json!({"again": true}));
    run.complete("a");
    run.complete("a");
    run.complete_with("a", None, json!({"again": false})).unwrap();
    assert_eq!((run.status(), run.done().len()), (Status::Completed, 3));
}

#[test]
fn a_complex_gateway_that_cannot_go_on_says_so() {
    let mut stuck = discriminator("activationCount >= 4", None).run(json!({}));
    ["a", "b", "c"].into_iter().for_each(|task| stuck.complete(task));
    assert_eq!(stuck.incidents(), [(IncidentCode::Deadlock, "g".to_owned())]);
    let incident_id = stuck.incident_id();
    let target = heddle_engine::SkipTarget::Incident(incident_id);
    stuck.give(Command::Skip { target, output: map(json!({})) }).unwrap();
    assert_eq!(stuck.status(), Status::Completed);
    for condition in ["absent", "\"yes\""] {
        let mut wrong = discriminator(condition, None).run(json!({}));
        wrong.complete("a");
        wrong.complete("b");
        assert_eq!(wrong.incidents(), [(IncidentCode::ExpressionError, "g".to_owned())], "{condition}");
        let incident_id = wrong.incident_id();
        let values = map(json!({"absent": true}));
        wrong.give(Command::Retry { incident_id, variables: values }).unwrap();
        assert_eq!(wrong.incidents().is_empty(), condition == "absent");
    }
}

#[test]
fn a_receive_task_starts_an_instance() {
    let model = Model::default()
        .node("r", "receiveTask", json!({"bpmn": {"messageRef": "m1", "instantiate": true}}))
        .nodes("a:userTask")
        .flows("r > a");
    let graph = model.graph();
    let bindings: Vec<_> = graph.start_bindings().iter().map(|own| own.node_id.to_string()).collect();
    assert_eq!(bindings, ["r"]);
    let mut run = Run::new(graph.clone());
    assert_eq!(run.start(json!({})), Err(Rejection::StartNotDetermined(vec!["r".to_owned()])));
    message_start(&mut run, "m1", "r", json!({"x": 1})).unwrap();
    assert_eq!((run.tasks(), run.done()), (vec!["a".to_owned()], vec!["r".to_owned()]));
    for (name, node) in [("m2", "r"), ("m1", "a")] {
        assert!(message_start(&mut Run::new(graph.clone()), name, node, json!({})).is_err());
    }
    for wrong in [
        simple()
            .nodes("a:task")
            .node("r", "receiveTask", json!({"bpmn": {"messageRef": "m1", "instantiate": true}}))
            .flows("s > a > r > e"),
        Model::default().node("r", "receiveTask", json!({"bpmn": {"instantiate": true}})),
    ] {
        assert!(!wrong.compile().is_executable());
    }
}

fn gateway(kind: &str) -> Model {
    Model::default()
        .node("g", "eventBasedGateway", json!({"bpmn": {"instantiate": true, "eventGatewayType": kind}}))
        .node("c1", "intermediateCatchEvent", event("message m1"))
        .node("r2", "receiveTask", json!({"bpmn": {"messageRef": "m2"}}))
        .nodes("a:task b:task")
        .flows("g > c1 > a; g > r2 > b")
}

#[test]
fn a_gateway_starts_an_instance_by_its_first_event() {
    let graph = gateway("Exclusive").graph();
    let names: Vec<_> = graph.start_bindings().into_iter().map(|own| own.node_id.to_string()).collect();
    assert_eq!(names, ["c1", "r2"]);
    for (name, node, done) in [("m1", "c1", &["a"][..]), ("m2", "r2", &["b", "r2"][..])] {
        let mut run = Run::new(graph.clone());
        message_start(&mut run, name, node, json!({})).unwrap();
        assert_eq!(run.done(), done);
        assert_eq!(run.status(), Status::Completed);
    }
}

#[test]
fn a_parallel_gateway_waits_for_all_its_events() {
    let mut run = Run::new(gateway("Parallel").graph());
    run.key = Some("order-1".to_owned());
    message_start(&mut run, "m2", "r2", json!({})).unwrap();
    assert_eq!((run.done(), run.waits()), (vec!["b".to_owned(), "r2".to_owned()], vec!["m1".to_owned()]));
    assert_eq!(run.state.subscriptions()[0].correlation_key.as_deref(), Some("order-1"));
    assert_eq!(run.status(), Status::Waiting);
    run.message("m1", json!({"x": 1}));
    assert_eq!((run.done().len(), run.status()), (3, Status::Completed));
    for wrong in [
        json!({"eventGatewayType": "Parallel"}),
        json!({"instantiate": true, "eventGatewayType": "Sometimes"}),
    ] {
        let model = Model::default()
            .node("g", "eventBasedGateway", json!({ "bpmn": wrong }))
            .node("c1", "intermediateCatchEvent", event("message m1"))
            .node("c2", "intermediateCatchEvent", event("message m2"))
            .flows("g > c1; g > c2");
        assert!(model.compile().diagnostics.iter().any(|own| own.code == "wrongGateway"));
    }
}

#[test]
fn a_start_event_with_several_triggers_has_a_binding_for_each() {
    let start = |parallel| {
        Model::default()
            .node("s", "startEvent", events(&["message m1", "signal s1", "timer PT1H"], parallel))
            .nodes("a:task")
            .flows("s > a")
            .graph()
    };
    assert_eq!(start(false).start_bindings().len(), 3);
    let mut any = Run::new(start(false));
    message_start(&mut any, "m1", "s", json!({})).unwrap();
    assert_eq!(any.status(), Status::Completed);
    let mut all = Run::new(start(true));
    message_start(&mut all, "m1", "s", json!({})).unwrap();
    assert_eq!((all.status(), all.waits()), (Status::Waiting, vec!["s1".to_owned()]));
    all.signal("s1", json!({}));
    all.advance(3600);
    assert_eq!((all.status(), all.done()), (Status::Completed, vec!["a".to_owned()]));
    let mut named = Run::new(start(true));
    let trigger = Trigger::Manual { start_node: Some("s".to_owned()) };
    named.give(Command::Start { trigger, input: map(json!({})) }).unwrap();
    assert_eq!(named.status(), Status::Completed, "a caller who names it stands for all of them");
}

#[test]
fn a_conditional_start_takes_the_input_that_meets_it() {
    let model = Model::default()
        .node("high", "startEvent", events(&["conditional amount > 100"], false))
        .node("low", "startEvent", events(&["conditional amount > 10"], false))
        .nodes("a:task b:task")
        .flows("high > a; low > b");
    let graph = model.graph();
    assert!(graph.start_bindings().is_empty());
    for (input, done) in [(json!({"amount": 500}), "a"), (json!({"amount": 50}), "b")] {
        let mut run = Run::new(graph.clone());
        run.start(input).unwrap();
        assert_eq!(run.done(), [done]);
    }
    for input in [json!({"amount": 5}), json!({}), json!({"amount": "x"})] {
        let refused = Run::new(graph.clone()).start(input);
        let names = vec!["high".to_owned(), "low".to_owned()];
        assert_eq!(refused, Err(Rejection::NoConditionHolds(names)));
    }
}

#[test]
fn a_conditional_start_that_is_neither_true_nor_false_starts_nothing_and_says_so() {
    let model = Model::default()
        .node("first", "startEvent", events(&["conditional amount"], false))
        .node("second", "startEvent", events(&["conditional amount > 10"], false))
        .nodes("a:task b:task")
        .flows("first > a; second > b");
    let graph = model.graph();
    let mut run = Run::new(graph.clone());
    match run.start(json!({"amount": 50})) {
        Err(Rejection::WrongCondition { node, message }) => {
            assert_eq!(node, "first");
            assert!(message.contains("`amount` gives 50, not true or false"), "{message}");
        }
        other => panic!("{other:?}"),
    }
    let nothing = Run::new(graph).start(json!({}));
    assert_eq!(nothing, Err(Rejection::NoConditionHolds(vec!["first".to_owned(), "second".to_owned()])));
}

#[test]
fn what_cannot_be_one_of_several_is_refused() {
    for (kind, texts, parallel) in [
        ("intermediateCatchEvent", &["message m1", "error e1"][..], false),
        ("intermediateCatchEvent", &["message m1", "link x"][..], false),
        ("intermediateThrowEvent", &["message m1", "link x"][..], false),
        ("startEvent", &["message m1", "error e1"][..], false),
        ("endEvent", &["terminate", "error e1"][..], false),
        ("intermediateCatchEvent", &["message m1", "conditional "][..], false),
        ("intermediateCatchEvent", &["conditional x >"][..], false),
    ] {
        let model = Model::default().node("x", kind, events(texts, parallel)).nodes("a:task").flows("a > x");
        let codes: Vec<_> = model.compile().diagnostics.into_iter().map(|own| own.code).collect();
        let told = |own: &String| own == "unsupportedEvent" || own == "expressionSyntax";
        assert!(codes.iter().any(told), "{kind} {texts:?}: {codes:?}");
    }
    let host = simple()
        .nodes("u:userTask be:endEvent")
        .node("bo", "boundaryEvent", border("u", &["message m1", "error e1"], true, true))
        .flows("s > u > e; bo > be");
    assert!(!host.compile().is_executable());
}

/// A shop that asks and a bank that answers, as two pools: the message flows say what a send task sends, the correlation
/// key whom it is for. `subscription` binds the shop's data.
fn pools(subscription: &str) -> Vec<std::sync::Arc<heddle_bpmn_graph::Graph>> {
    let document = format!(
        r#"<b:definitions xmlns:b="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:x">
         <b:correlationProperty id="cp" name="order">
          <b:correlationPropertyRetrievalExpression messageRef="ask"><b:messagePath>order.id</b:messagePath>
          </b:correlationPropertyRetrievalExpression>
          <b:correlationPropertyRetrievalExpression messageRef="answer"><b:messagePath>orderId</b:messagePath>
          </b:correlationPropertyRetrievalExpression>
         </b:correlationProperty>
         <b:message id="ask" name="Ask"/><b:message id="answer" name="Answer"/>
         <b:collaboration id="c">
          <b:participant id="pa" processRef="shop"/><b:participant id="pb" processRef="bank"/>
          <b:messageFlow id="f1" messageRef="ask" sourceRef="send" targetRef="bs"/>
          <b:messageFlow id="f2" messageRef="answer" sourceRef="reply" targetRef="wait"/>
          <b:messageFlow id="f3" sourceRef="note" targetRef="elsewhere"/>
          <b:correlationKey id="ck"><b:correlationPropertyRef>cp</b:correlationPropertyRef></b:correlationKey>
         </b:collaboration>
         <b:process id="shop" isExecutable="true">
          <b:startEvent id="s"/><b:sendTask id="send"/><b:receiveTask id="wait"/><b:sendTask id="note"/><b:endEvent id="e"/>
          <b:sequenceFlow id="s1" sourceRef="s" targetRef="send"/><b:sequenceFlow id="s2" sourceRef="send" targetRef="wait"/>
          <b:sequenceFlow id="s3" sourceRef="wait" targetRef="note"/><b:sequenceFlow id="s4" sourceRef="note" targetRef="e"/>
          {subscription}
         </b:process>
         <b:process id="bank" isExecutable="true">
          <b:startEvent id="bs"><b:messageEventDefinition/></b:startEvent>
          <b:endEvent id="reply"><b:messageEventDefinition/></b:endEvent>
          <b:sequenceFlow id="t1" sourceRef="bs" targetRef="reply"/>
         </b:process></b:definitions>"#
    );
    let mut definition = heddle_bpmn::xml::read(document.as_bytes()).unwrap().definition;
    let processes = definition.bpmn.as_mut().unwrap().processes.as_mut().unwrap();
    for node in processes.iter_mut().flat_map(|own| own.nodes.iter_mut().flatten()) {
        let payload = match node.id.as_deref().unwrap() {
            "send" => "={order: {id: number}}",
            "reply" => "={orderId: order.id}",
            _ => continue,
        };
        node.configuration = Some(map(json!({ "payload": payload })));
    }
    let compiled = heddle_bpmn_graph::compile(&definition);
    assert!(compiled.is_executable(), "{:#?}", compiled.diagnostics);
    let unused = compiled.diagnostics.iter().any(|own| own.code == "correlationUnused");
    assert!(!unused, "{:#?}", compiled.diagnostics);
    compiled.processes
}

/// The messages that a run sent: name and key.
fn sent(run: &Run) -> Vec<(String, Option<String>)> {
    let message = |event: &heddle_engine::Event| match &event.kind {
        heddle_engine::EventKind::MessageSent { name, correlation_key, .. } => {
            Some((name.to_string(), correlation_key.clone()))
        }
        _ => None,
    };
    run.log.iter().filter_map(message).collect()
}

const SUBSCRIPTION: &str = r#"<b:correlationSubscription id="cs" correlationKeyRef="ck"><b:correlationPropertyBinding
 correlationPropertyRef="cp"><b:dataPath>number</b:dataPath></b:correlationPropertyBinding></b:correlationSubscription>"#;

#[test]
fn pools_talk_along_message_flows_by_the_models_correlation() {
    for (subscription, awaited) in [("", "7"), (SUBSCRIPTION, "7")] {
        let graphs = pools(subscription);
        let mut shop = Run::new(graphs[0].clone());
        shop.start(json!({"number": 7})).unwrap();
        let key = Some("7".to_owned());
        assert_eq!(sent(&shop), [("Ask".to_owned(), key.clone())], "{:?}", shop.incidents());
        assert_eq!(shop.state.subscriptions()[0].correlation_key.as_deref(), Some(awaited));
        let mut bank = Run::new(graphs[1].clone());
        assert_eq!(bank.graph.start_bindings()[0].name.as_deref(), Some("Ask"));
        message_start(&mut bank, "Ask", "bs", json!({"order": {"id": 7}})).unwrap();
        assert_eq!((sent(&bank), bank.status()), (vec![("Answer".to_owned(), key)], Status::Completed));
        shop.message("Answer", json!({"orderId": 7}));
        assert_eq!(shop.status(), Status::Completed);
        assert_eq!(sent(&shop)[1].0, "d/f3", "a flow without a message is one of its own");
    }
}

#[test]
fn a_correlation_key_without_a_value_is_an_incident() {
    let mut shop = Run::new(pools(SUBSCRIPTION)[0].clone());
    shop.start(json!({})).unwrap();
    assert_eq!(shop.incidents(), [(IncidentCode::ExpressionError, "send".to_owned())]);
    let incident_id = shop.incident_id();
    shop.give(Command::Retry { incident_id, variables: map(json!({"number": "A-7"})) }).unwrap();
    assert_eq!(sent(&shop), [("Ask".to_owned(), Some("A-7".to_owned()))]);
    assert_eq!(shop.waits(), ["Answer"]);
}
