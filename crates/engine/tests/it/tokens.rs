//! Flows, gateways, scopes: how tokens move.

use crate::support::{Model, event, map};
use heddle_engine::{Command, IncidentCode, Rejection, SkipTarget, State, Status, Trigger};
use serde_json::{Value, json};

/// What a model should have done when nothing moves any more.
struct Case {
    name: &'static str,
    model: Model,
    input: Value,
    done: &'static [&'static str],
    status: Status,
}

fn simple() -> Model {
    Model::default().nodes("s:startEvent e:endEvent")
}

fn diamond(gate: &str, join: &str) -> Model {
    let model = simple().nodes("a:task b:task c:task").nodes(&format!("g:{gate} j:{join}"));
    model.flows("s > g; a > j; b > j; j > c > e").flow_if("g", "a", "x contains a").flow_if(
        "g",
        "b",
        "x contains b",
    )
}

fn cases() -> Vec<Case> {
    let completed = Status::Completed;
    let plain = |name, model, done| Case { name, model, input: json!({}), done, status: completed };
    let with =
        |name, model, x: &str, done| Case { name, model, input: json!({ "x": x }), done, status: completed };
    let several = Model::default().nodes("a:task b:task c:task").flows("a > c").flow_if("a", "b", "x exists");
    let default = simple()
        .node("a", "task", json!({"bpmn": {"activity": {"defaultFlow": "a-c"}}}))
        .nodes("b:task c:task")
        .flows("s > a > c > e; b > e")
        .flow_if("a", "b", "x eq 1");
    let beside = simple()
        .node("a", "task", json!({"bpmn": {"activity": {"defaultFlow": "a-b"}}}))
        .nodes("b:task c:task d:task")
        .flows("s > a > b; a > c")
        .flow_if("a", "d", "x eq 1");
    let inner = Model::default().nodes("is:startEvent ia:task ie:endEvent").flows("is > ia > ie");
    let parallel = simple()
        .nodes("f:parallelGateway a:task b:task j:parallelGateway c:task")
        .flows("s > f > a > j > c > e; f > b > j");
    let unbalanced = simple()
        .nodes("f:parallelGateway a:task b:task c:task j1:parallelGateway j2:parallelGateway d:task")
        .flows("s > f > a > j1; f > b > j1 > j2; f > c > j2 > d > e");
    let merge = simple()
        .nodes("f:parallelGateway a:task b:task x:exclusiveGateway c:task")
        .flows("s > f > a > x > c > e; f > b > x");
    let terminate = simple()
        .nodes("f:parallelGateway a:userTask b:task")
        .node("t", "endEvent", event("terminate"))
        .flows("s > f > a > e; f > b > t");
    vec![
        plain("sequence", simple().nodes("a:task b:manualTask").flows("s > a > b > e"), &["a", "b"]),
        plain("no events at all", Model::default().nodes("a:task b:task").flows("a > b"), &["a", "b"]),
        plain("two implicit starts", Model::default().nodes("a:task b:task"), &["a", "b"]),
        plain("parallel", parallel, &["a", "b", "c"]),
        plain("unbalanced joins", unbalanced, &["a", "b", "c", "d"]),
        plain("exclusive merge passes each token", merge, &["a", "b", "c", "c"]),
        plain("terminate ends the others", terminate, &["b"]),
        plain("empty sub-process", simple().sub("p", Model::default(), json!({})).flows("s > p > e"), &["p"]),
        plain("sub-process", simple().sub("p", inner, json!({})).flows("s > p > e"), &["ia", "p"]),
        with("implicit split", several.clone(), "1", &["a", "b", "c"]),
        plain("implicit split without the condition", several, &["a", "c"]),
        with("default beside an unconditional flow", beside.clone(), "2", &["a", "b", "c"]),
        with("default not taken beside a condition that holds", beside, "1", &["a", "c", "d"]),
        with("default not taken", default.clone(), "1", &["a", "b"]),
        with("default taken", default, "2", &["a", "c"]),
        with("exclusive takes the first", diamond("exclusiveGateway", "exclusiveGateway"), "ab", &["a", "c"]),
        with("exclusive takes the second", diamond("exclusiveGateway", "exclusiveGateway"), "b", &["b", "c"]),
        with("inclusive takes both", diamond("inclusiveGateway", "inclusiveGateway"), "ab", &["a", "b", "c"]),
        with("inclusive takes one", diamond("inclusiveGateway", "inclusiveGateway"), "b", &["b", "c"]),
        with(
            "inclusive join of exclusive",
            diamond("exclusiveGateway", "inclusiveGateway"),
            "a",
            &["a", "c"],
        ),
        with(
            "conditions of a parallel gateway",
            diamond("parallelGateway", "parallelGateway"),
            "-",
            &["a", "b", "c"],
        ),
    ]
}

#[test]
fn tokens_move_by_the_standard() {
    for case in cases() {
        let run = case.model.run(case.input);
        assert_eq!(run.done(), case.done, "{}", case.name);
        assert_eq!(run.status(), case.status, "{}: {:?}", case.name, run.incidents());
    }
}

#[test]
fn an_inclusive_join_waits_for_tokens_upstream() {
    let model = simple()
        .nodes("g:inclusiveGateway a:userTask b:task j:inclusiveGateway c:task")
        .flows("s > g > a > j > c > e; g > b > j");
    let mut run = model.run(json!({}));
    assert_eq!(run.done(), ["b"]);
    run.complete("a");
    assert_eq!(run.done(), ["a", "b", "c"]);
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn an_inclusive_join_in_a_loop_does_not_wait_for_itself() {
    let model = simple()
        .nodes("j:inclusiveGateway a:userTask x:exclusiveGateway")
        .flows("s > j > a > x")
        .flow_if("x", "j", "again eq true")
        .flow_if("x", "e", "again eq false");
    let mut run = model.run(json!({"again": true}));
    run.complete("a");
    run.complete_with("a", None, json!({"again": false})).unwrap();
    assert_eq!(run.done(), ["a", "a"]);
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn no_matching_flow_waits_for_a_decision() {
    let model = simple().nodes("g:exclusiveGateway a:task").flow_if("g", "a", "x eq 1").flows("s > g; a > e");
    let mut run = model.run(json!({"x": 2}));
    assert_eq!(run.incidents(), [(IncidentCode::NoMatchingFlow, "g".to_owned())]);
    assert_eq!(run.status(), Status::Waiting);
    let incident_id = run.incident_id();
    run.give(Command::Retry { incident_id, variables: map(json!({"x": 3})) }).unwrap();
    assert_eq!(run.incidents().len(), 1, "the condition still does not hold");
    assert_eq!(
        run.give(Command::Retry { incident_id, variables: map(json!({})) }),
        Err(Rejection::UnknownIncident(incident_id))
    );
    let incident_id = run.incident_id();
    run.give(Command::Retry { incident_id, variables: map(json!({"x": 1})) }).unwrap();
    assert_eq!(run.status(), Status::Completed);
    assert_eq!(run.done(), ["a"]);
}

/// Neither the default flow nor another one is taken for a condition that says nothing.
#[test]
fn a_condition_that_is_neither_true_nor_false_decides_nothing() {
    let feel = json!({"bpmn": {"conditionExpression": "amount > 500"}});
    for (condition, input, told) in [
        (feel.clone(), json!({}), "`amount > 500` of the flow `g-a` gives null"),
        (feel.clone(), json!({"amount": "much"}), "`amount > 500` of the flow `g-a` gives null"),
        (
            json!({"bpmn": {"conditionExpression": "amount"}}),
            json!({"amount": 7}),
            "`amount` of the flow `g-a` gives 7",
        ),
        (json!({"bpmn": {"conditionExpression": "amount"}}), json!({"amount": "yes"}), "gives \"yes\""),
        (
            json!({"condition": {"left": "amount", "operator": "gt", "value": "500"}}),
            json!({}),
            "`amount gt 500`",
        ),
    ] {
        let model = simple()
            .node("g", "exclusiveGateway", json!({"bpmn": {"defaultFlow": "g-b"}}))
            .nodes("a:task b:task")
            .flows("s > g > b > e; a > e")
            .edge("g", "a", condition.clone());
        let mut run = model.run(input);
        assert_eq!(
            (run.done(), run.incidents()),
            (vec![], vec![(IncidentCode::ExpressionError, "g".to_owned())])
        );
        let incident = run.state.incidents().remove(0);
        assert!(incident.message.contains(told), "{}", incident.message);
        let node = run.state.view(&run.graph).remove(0);
        assert_eq!(node.waiting_for.unwrap().options, ["retry", "move", "suspend"]);
        let target = SkipTarget::Incident(incident.id);
        let skipped = run.give(Command::Skip { target, output: map(json!({})) });
        assert_eq!(skipped, Err(Rejection::CannotSkip(incident.id)), "the gateway itself is done");
        let variables = map(json!({"amount": if condition == feel { json!(900) } else { json!(true) }}));
        let retried = run.give(Command::Retry { incident_id: incident.id, variables });
        assert_eq!(retried, Ok(()));
        if condition["condition"].is_null() {
            assert_eq!(run.done(), ["a"]);
        }
    }
}

#[test]
fn a_join_that_holds_a_token_is_where_its_run_stands() {
    let model = simple()
        .nodes("f:parallelGateway a:userTask b:task j:parallelGateway")
        .flows("s > f > a > j > e; f > b > j");
    let mut run = model.run(json!({}));
    assert!(["a", "j"].iter().all(|node| run.state.stands_at(node)) && !run.state.stands_at("b"));
    run.complete("a");
    assert!(!run.state.stands_at("j"));
}

#[test]
fn a_join_that_cannot_be_reached_is_a_deadlock() {
    let model = diamond("exclusiveGateway", "parallelGateway");
    let mut run = model.run(json!({"x": "a"}));
    assert_eq!(run.incidents(), [(IncidentCode::Deadlock, "j".to_owned())]);
    let view = run.state.view(&run.graph);
    assert_eq!(view.len(), 1);
    assert_eq!(view[0].waiting_for.as_ref().unwrap().options, ["retry", "skip", "suspend"]);
    let incident_id = run.incident_id();
    run.give(Command::Retry { incident_id, variables: map(json!({})) }).unwrap();
    assert_eq!(run.incidents().len(), 1);
    let target = SkipTarget::Incident(run.incident_id());
    run.give(Command::Skip { target, output: map(json!({})) }).unwrap();
    assert_eq!(run.done(), ["a", "c"]);
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn a_join_is_no_deadlock_while_a_token_can_come() {
    let model = simple()
        .nodes("f:parallelGateway a:userTask b:task j:parallelGateway u:userTask")
        .flows("s > f > a > j > e; f > b > j; f > u > e");
    let mut run = model.run(json!({}));
    assert!(run.incidents().is_empty());
    let held: Vec<_> =
        run.state.view(&run.graph).into_iter().filter(|own| own.node_instance_id.is_none()).collect();
    assert_eq!(held.len(), 1);
    run.complete("a");
    run.complete("u");
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn a_loop_without_a_wait_stops_at_the_limit() {
    let model =
        simple().nodes("a:task x:exclusiveGateway").flows("s > a > x").flow_if("x", "e", "stop eq true");
    let model = model.flow_if("x", "a", "stop notExists -");
    let mut run = model.run(json!({}));
    assert_eq!(run.incidents().len(), 1);
    assert_eq!(run.incidents()[0].0, IncidentCode::Limit);
    assert!(run.log.len() < 200_000);
    let incident_id = run.incident_id();
    let refused =
        run.give(Command::Skip { target: SkipTarget::Incident(incident_id), output: map(json!({})) });
    assert_eq!(refused, Err(Rejection::CannotSkip(incident_id)));
    run.give(Command::Retry { incident_id, variables: map(json!({"stop": true})) }).unwrap();
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn terminate_in_a_sub_process_ends_only_that() {
    let inner = Model::default()
        .nodes("is:startEvent f:parallelGateway w:userTask ia:task")
        .node("t", "endEvent", event("terminate"))
        .flows("is > f > w; f > ia > t");
    let run =
        simple().sub("p", inner, json!({})).nodes("after:task").flows("s > p > after > e").run(json!({}));
    assert_eq!(run.done(), ["after", "ia", "p"]);
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn a_start_is_chosen_by_its_trigger() {
    let model = Model::default()
        .nodes("s:startEvent a:task b:task c:task")
        .node("ms", "startEvent", event("message m1"))
        .node("ts", "startEvent", event("cycle R/PT1H"))
        .flows("s > a; ms > b; ts > c");
    let graph = model.graph();
    let bindings: Vec<_> = graph.start_bindings().iter().map(|own| own.node_id.to_string()).collect();
    assert_eq!(bindings, ["ms", "ts"]);
    let start = |trigger| {
        let mut run = crate::support::Run::new(graph.clone());
        run.give(Command::Start { trigger, input: map(json!({})) }).map(|()| run.done())
    };
    let message =
        |name: &str, node: &str| Trigger::Message { name: name.to_owned(), node_id: node.to_owned() };
    assert_eq!(start(Trigger::Manual { start_node: None }), Ok(vec!["a".to_owned()]));
    assert_eq!(start(Trigger::Manual { start_node: Some("ms".to_owned()) }), Ok(vec!["b".to_owned()]));
    assert_eq!(start(message("m1", "ms")), Ok(vec!["b".to_owned()]));
    assert_eq!(start(Trigger::Timer { node_id: "ts".to_owned() }), Ok(vec!["c".to_owned()]));
    assert_eq!(start(message("m2", "ms")), Err(Rejection::UnknownStart("ms".to_owned())));
    assert_eq!(start(message("m1", "s")), Err(Rejection::UnknownStart("s".to_owned())));
    assert_eq!(
        start(Trigger::Manual { start_node: Some("a".to_owned()) }),
        Err(Rejection::UnknownStart("a".to_owned()))
    );
}

#[test]
fn a_process_with_triggers_only_needs_one_of_them() {
    let model =
        Model::default().nodes("a:task").node("ms", "startEvent", event("message m1")).flows("ms > a");
    let mut run = crate::support::Run::new(model.graph());
    assert_eq!(run.start(json!({})), Err(Rejection::StartNotDetermined(vec!["ms".to_owned()])));
    assert_eq!(run.state, State::new());
}

#[test]
fn commands_are_refused_by_the_life_of_the_run() {
    let model = simple().nodes("a:userTask").flows("s > a > e");
    let mut run = crate::support::Run::new(model.graph());
    assert_eq!(run.give(Command::Suspend), Err(Rejection::NotStarted));
    run.start(json!({})).unwrap();
    assert_eq!(run.start(json!({})), Err(Rejection::AlreadyStarted));
    assert_eq!(run.give(Command::Resume), Err(Rejection::NotSuspended));
    run.give(Command::Suspend).unwrap();
    assert_eq!(run.status(), Status::Suspended);
    assert_eq!(run.complete_with("a", None, json!({})), Err(Rejection::Suspended));
    run.give(Command::Resume).unwrap();
    run.complete("a");
    assert_eq!(run.give(Command::Cancel { reason: None }), Err(Rejection::AlreadyEnded));
}
