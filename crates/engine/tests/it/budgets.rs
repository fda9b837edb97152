//! Budgets of steps and of runs: what exceeds one is an incident, and the run stays readable.

use crate::support::{Model, Run, event, map};
use heddle_engine::{
    Attempt, Budget, Command, EventKind, IncidentCode, Inline, Rejection, RunContext, SkipTarget, State,
    Status, Trigger, step, step_inline, step_until,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A script in a circle without a wait.
fn circle(script: &str) -> Model {
    let configuration = json!({"configuration": {"kind": "feel", "source": script, "resultVariable": "x"}});
    Model::default()
        .nodes("s:startEvent j:exclusiveGateway")
        .node("t", "scriptTask", configuration)
        .flows("s > j > t > j")
}

fn message(run: &Run) -> String {
    run.state.incidents().pop().map(|incident| incident.message).unwrap_or_default()
}

fn stored(run: &Run) -> usize {
    serde_json::to_vec(&run.log).unwrap().len() + serde_json::to_vec(&run.state).unwrap().len()
}

#[test]
fn large_results_in_a_circle_end_at_the_bytes_of_a_step() {
    let run = circle("for i in 1..200000 return i").run(json!({}));
    assert_eq!(run.incidents(), [(IncidentCode::Limit, "t".to_owned())]);
    let told = message(&run);
    assert!(told.contains("`eventBytes` allows 67108864 and not ") && told.ends_with("at `t`"), "{told}");
    assert_eq!(run.status(), Status::Waiting);
    assert!(stored(&run) < 64 << 20, "{}", stored(&run));
}

#[test]
fn each_retry_has_a_steps_budget_until_the_run_has_used_up_its_own() {
    let mut run = Run::new(circle("for i in 1..1000 return i").graph());
    run.budget = Budget { event_bytes: 100_000, run_bytes: 500_000, ..Budget::DEFAULT };
    run.start(json!({})).unwrap();
    assert!(message(&run).contains("`eventBytes` allows 100000"), "{}", message(&run));
    for _ in 0..20 {
        let incident_id = run.incident_id();
        run.give(Command::Retry { incident_id, variables: map(json!({})) }).unwrap();
    }
    assert!(message(&run).contains("`runBytes` allows 500000"), "{}", message(&run));
    run.give(Command::Cancel { reason: None }).unwrap();
    assert_eq!(run.status(), Status::Cancelled);
}

#[test]
fn long_computations_in_a_circle_end_at_the_steps_of_a_step() {
    let run = circle("count(for i in 1..1000, j in 1..900 return i*j)").run(json!({}));
    assert_eq!(run.incidents(), [(IncidentCode::Limit, "t".to_owned())]);
    assert_eq!(message(&run), "the budget `steps` allows 30000000 and they are used up, at `t`");
    let done = run.log.iter().filter(|event| matches!(event.kind, EventKind::ScriptEvaluated { .. })).count();
    assert!((5..100).contains(&done), "{done}");
}

#[test]
fn one_result_beyond_the_bytes_of_a_step_is_thrown_away_before_it_is_copied() {
    let script = json!({"configuration": {"kind": "feel", "source": "for i in 1..1000 return {a: text}"}});
    let model =
        Model::default().nodes("s:startEvent e:endEvent").node("t", "scriptTask", script).flows("s > t > e");
    let mut run = Run::new(model.graph());
    run.budget = Budget { event_bytes: 1 << 20, ..Budget::DEFAULT };
    run.start(json!({"text": "x".repeat(2_000)})).unwrap();
    assert_eq!(run.incidents(), [(IncidentCode::Limit, "t".to_owned())]);
    assert!(stored(&run) < 20_000);
    run.give(Command::Skip { target: SkipTarget::Incident(run.incident_id()), output: map(json!({})) })
        .unwrap();
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn variables_are_bounded_and_what_is_overwritten_does_not_count() {
    let mut run = Run::new(circle("string length(x)").graph());
    run.budget = Budget { variable_bytes: 10_000, activations: 50, ..Budget::DEFAULT };
    let refused = run.start(json!({"x": "y".repeat(20_000)}));
    assert!(
        matches!(refused, Err(Rejection::TooLarge { budget: "variableBytes", most: 10_000, .. })),
        "{refused:?}"
    );
    assert_eq!(run.state, State::new());

    let grows = "append(if x = null then [] else x, \"0123456789012345678901234567890123456789\")";
    let mut run = Run::new(circle(grows).graph());
    run.budget = Budget { variable_bytes: 1_000, ..Budget::DEFAULT };
    run.start(json!({})).unwrap();
    assert!(message(&run).contains("`variableBytes` allows 1000 and not 10"), "{}", message(&run));
    assert_eq!(run.variables()["x"].as_array().map(Vec::len), Some(17));

    let mut run = Run::new(circle("\"as long as before\"").graph());
    run.budget = Budget { variable_bytes: 100, activations: 500, ..Budget::DEFAULT };
    run.start(json!({})).unwrap();
    assert!(message(&run).contains("`activations` allows 500"), "{}", message(&run));
}

#[test]
fn items_and_outputs_of_instances_count_in_the_state() {
    let instances = |settings: Value| {
        let marker = json!({"kind": "multiInstance", "sequential": true});
        let node = json!({"bpmn": {"activity": {"loop": marker}}, "configuration": {"loop": settings}});
        let model =
            Model::default().nodes("s:startEvent e:endEvent").node("a", "userTask", node).flows("s > a > e");
        Run::new(model.graph())
    };
    // The list is a variable, and the items are kept once more beside it.
    let list = json!({"list": vec!["x".repeat(1_000); 8]});
    let mut run = instances(json!({"collection": "=list"}));
    run.budget = Budget { snapshot_bytes: 20_000, ..Budget::DEFAULT };
    run.start(list.clone()).unwrap();
    assert!(run.state.bytes() > 16_000, "{}", run.state.bytes());
    let mut run = instances(json!({"collection": "=list"}));
    run.budget = Budget { snapshot_bytes: 12_000, ..Budget::DEFAULT };
    run.start(list).unwrap();
    assert!(message(&run).contains("`snapshotBytes` allows 12000"), "{}", message(&run));

    let given = json!({"cardinality": 20, "outputCollection": "all", "outputElement": "=text"});
    let mut run = instances(given);
    run.budget = Budget { snapshot_bytes: 6_000, ..Budget::DEFAULT };
    run.start(json!({"text": "x".repeat(1_000)})).unwrap();
    for _ in 0..20 {
        if run.tasks().is_empty() || !run.state.incidents().is_empty() {
            break;
        }
        run.complete("a");
    }
    assert!(message(&run).contains("`snapshotBytes` allows 6000"), "{}", message(&run));
    assert!(run.state.bytes() < 7_000, "{}", run.state.bytes());
}

#[test]
fn tokens_behind_a_budget_stand_still_and_go_on_with_its_incident() {
    let script = json!({"configuration": {"kind": "feel", "source": "count(for i in 1..wide return i)"}});
    let model = Model::default()
        .nodes("s:startEvent f:parallelGateway a:task b:task j:parallelGateway e:endEvent")
        .node("t", "scriptTask", script)
        .flows("s > f > t > j > e; f > a > b > j");
    let mut run = Run::new(model.graph());
    run.budget = Budget { steps: 1_000, ..Budget::DEFAULT };
    run.start(json!({"wide": 5_000})).unwrap();
    assert_eq!(run.incidents(), [(IncidentCode::Limit, "t".to_owned())]);
    assert!(!run.done().contains(&"b".to_owned()));
    run.give(Command::Retry { incident_id: run.incident_id(), variables: map(json!({"wide": 5})) }).unwrap();
    assert_eq!((run.status(), run.done()), (Status::Completed, vec!["a".into(), "b".into(), "t".into()]));
}

#[test]
fn a_chain_of_thrown_messages_ends() {
    let model = Model::default()
        .nodes("s:startEvent e:endEvent")
        .node("m", "intermediateThrowEvent", event("message m1"))
        .flows("s > m > e");
    let mut run = Run::new(model.graph());
    run.hops = 99;
    run.start(json!({})).unwrap();
    assert_eq!(run.status(), Status::Completed);
    let mut run = Run::new(model.graph());
    run.hops = 100;
    run.start(json!({})).unwrap();
    assert_eq!(message(&run), "the budget `hops` allows 100 and not 101, at `m`");
    assert!(!run.types().contains(&"message.sent".to_owned()));
    // Somebody who retries begins a chain of their own.
    run.hops = 0;
    run.give(Command::Retry { incident_id: run.incident_id(), variables: map(json!({})) }).unwrap();
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn cycles_have_a_least_period() {
    let model = Model::default()
        .nodes("s:startEvent e:endEvent")
        .node("c", "intermediateCatchEvent", event("cycle =pace"))
        .flows("s > c > e");
    let mut run = model.run(json!({"pace": "R/PT0.999S"}));
    assert_eq!(run.incidents(), [(IncidentCode::Limit, "c".to_owned())]);
    assert!(
        message(&run).contains("`leastPeriod` allows cycles of 1000 ms and not of 999 ms"),
        "{}",
        message(&run)
    );
    let pace = map(json!({"pace": "R/PT1S"}));
    run.give(Command::Retry { incident_id: run.incident_id(), variables: pace }).unwrap();
    assert_eq!(run.state.timers().len(), 1);
}

#[test]
fn a_run_that_is_full_takes_no_more_and_lets_no_timer_repeat() {
    let model = Model::default()
        .nodes("s:startEvent u:userTask e:endEvent a:task")
        .node("b", "boundaryEvent", crate::support::boundary("u", "cycle R/PT1S", false))
        .node("m", "boundaryEvent", crate::support::boundary("u", "message m1", false))
        .flows("s > u > e; b > a; m > a");
    let mut run = Run::new(model.graph());
    run.budget = Budget { run_events: 60, ..Budget::DEFAULT };
    run.start(json!({})).unwrap();
    run.advance(1_000);
    assert!(run.log.len() < 80 && run.state.timers().is_empty(), "{}", run.log.len());
    assert!(message(&run).contains("`runEvents` allows 60"), "{}", message(&run));
    let subscription_id = run.state.subscriptions()[0].id;
    let refused = run.give(Command::DeliverMessage { subscription_id, payload: Value::Null });
    assert_eq!(refused, Err(Rejection::Full { budget: "runEvents", most: 60 }));
    run.give(Command::Cancel { reason: None }).unwrap();
}

#[test]
fn very_many_tokens_end_at_the_bytes_or_the_steps_of_a_step() {
    let mut model =
        Model::default().nodes("s:startEvent j:exclusiveGateway f:parallelGateway").flows("s > j > f");
    for at in 0..200 {
        model = model.nodes(&format!("t{at}:task")).flows(&format!("f > t{at} > j"));
    }
    let mut run = Run::new(model.graph());
    run.budget = Budget { event_bytes: 4 << 20, ..Budget::DEFAULT };
    run.start(json!({})).unwrap();
    assert_eq!(run.incidents().len(), 1);
    assert_eq!(run.incidents()[0].0, IncidentCode::Limit);
}

#[test]
fn honest_work_has_room() {
    // 10,000 items, one after the other.
    let count = json!({"configuration": {"kind": "feel", "source": "if x = null then 1 else x + 1", "resultVariable": "x"}});
    let model = Model::default()
        .nodes("s:startEvent j:exclusiveGateway g:exclusiveGateway e:endEvent")
        .node("t", "scriptTask", count)
        .flows("s > j > t > g")
        .flow_if("g", "e", "x gte 10000")
        .flow_if("g", "j", "x lt 10000");
    assert_eq!(model.run(json!({})).status(), Status::Completed);
    // 5 MB of variables.
    let row = |at: usize| json!({"id": at, "name": "a customer's name", "price": 12.5, "lines": [1, 2, 3]});
    let rows: Vec<Value> = (0..80_000).map(row).collect();
    let input = json!({ "rows": rows });
    assert!(input.to_string().len() > 5_000_000);
    let own = json!({"configuration": {"kind": "feel", "source": "count(rows[price > 12])", "resultVariable": "n"}});
    let model =
        Model::default().nodes("s:startEvent e:endEvent").node("t", "scriptTask", own).flows("s > t > e");
    let run = model.run(input);
    assert_eq!((run.status(), &run.variables()["n"]), (Status::Completed, &json!(80_000)));
}

#[test]
fn a_small_step_is_done_inline_and_a_larger_one_is_left_undone() {
    let cx = RunContext {
        run_id: crate::support::RUN,
        now: "2024-01-01T00:00:00Z".parse().unwrap(),
        correlation_key: None,
        actor: None,
        decisions: None,
        elsewhere: None,
        hops: 0,
        budget: Budget::DEFAULT,
        remark: None,
        stores: std::collections::BTreeMap::new(),
        roles: Vec::new(),
        people: std::collections::BTreeMap::new(),
    };
    let start =
        |input: Value| Command::Start { trigger: Trigger::Manual { start_node: None }, input: map(input) };
    let model = Model::default()
        .nodes("s:startEvent e:endEvent")
        .node(
            "t",
            "scriptTask",
            json!({"configuration": {"kind": "feel", "source": "count(for i in 1..n return i)"}}),
        )
        .flows("s > t > e");
    let graph = model.graph();
    let inline =
        |command: &Command| step_inline(&graph, &State::new(), command, &cx, Inline::DEFAULT).unwrap();
    let small = start(json!({"n": 10}));
    let whole = step(&graph, &State::new(), small.clone(), &cx).unwrap();
    assert_eq!(inline(&small), Attempt::Done(whole));
    assert_eq!(inline(&start(json!({"n": 100_000}))), Attempt::Overrun);
    assert_eq!(inline(&start(json!({"n": 1, "large": "x".repeat(300_000)}))), Attempt::Overrun);
    let endless = circle("1").graph();
    let tried = step_inline(&endless, &State::new(), &start(json!({})), &cx, Inline::DEFAULT).unwrap();
    assert_eq!(tried, Attempt::Overrun);
}

#[test]
fn incidents_quote_no_more_than_they_need() {
    let long = format!("\"{}\" + 1 > 2 and 5", "x".repeat(100_000));
    let model = Model::default().nodes("s:startEvent g:exclusiveGateway e:endEvent").flows("s > g").edge(
        "g",
        "e",
        json!({"bpmn": {"conditionExpression": long}}),
    );
    let run = model.run(json!({}));
    assert!(!message(&run).is_empty() && message(&run).len() < 2_500, "{}", message(&run).len());
}

#[test]
fn a_step_that_another_thread_gives_up_leaves_nothing_behind() {
    let graph = circle("count(for i in 1..1000, j in 1..900 return i*j)").graph();
    let mut cx = Run::new(graph.clone()).context();
    cx.budget = Budget { steps: 4_000_000, ..Budget::DEFAULT };
    let start = || Command::Start { trigger: Trigger::Manual { start_node: None }, input: map(json!({})) };
    let stop = Arc::new(AtomicBool::new(false));
    let whole = step(&graph, &State::new(), start(), &cx).unwrap();
    let same = step_until(&graph, State::new(), start(), &cx, &stop).unwrap();
    assert_eq!(same, Some(whole), "nobody gives it up: it is the same step");
    stop.store(true, Ordering::Relaxed);
    let begun = std::time::Instant::now();
    cx.budget = Budget::DEFAULT;
    assert_eq!(step_until(&graph, State::new(), start(), &cx, &stop).unwrap(), None);
    assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
}

/// Each withdrawn instance must not look through the waits of all others.
#[test]
fn a_run_with_very_many_timers_is_cancelled_in_time() {
    const TIMERS: u64 = 40_000;
    let model = Model::default()
        .nodes("s:startEvent e:endEvent")
        .node("w", "intermediateCatchEvent", event("timer PT1H"))
        .flows("s > w > e");
    let run = model.run(json!({}));
    let mut state = serde_json::to_value(&run.state).unwrap();
    let (instance, timer) = (state["f"]["a"][0].clone(), state["tm"][0].clone());
    let with = |of: &Value, members: [(&str, u64); 2]| {
        let mut one = of.clone();
        for (member, id) in members.into_iter().filter(|(member, _)| !member.is_empty()) {
            one[member] = json!(format!("n{id}"));
        }
        one
    };
    let instances = (0..TIMERS).map(|n| with(&instance, [("i", 10 + 2 * n), ("", 0)]));
    state["f"]["a"] = instances.collect();
    state["tm"] = (0..TIMERS).map(|n| with(&timer, [("i", 11 + 2 * n), ("h", 10 + 2 * n)])).collect();
    state["n"] = json!(11 + 2 * TIMERS);
    let state: State = serde_json::from_value(state).unwrap();
    assert_eq!(state.timers().len() as u64, TIMERS);
    let begun = std::time::Instant::now();
    let done = step(&run.graph, &state, Command::Cancel { reason: None }, &run.context()).unwrap();
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
    let told =
        |wanted: fn(&EventKind) -> bool| done.events.iter().filter(|one| wanted(&one.kind)).count() as u64;
    assert_eq!(told(|kind| matches!(kind, EventKind::TimerCancelled { .. })), TIMERS);
    assert_eq!(told(|kind| matches!(kind, EventKind::NodeCancelled { .. })), TIMERS);
    assert_eq!(done.state.status(), Status::Cancelled);
}
