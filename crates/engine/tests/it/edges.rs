//! Flows that lead back within bounds, and flows for the failure of their source.

use crate::support::{Model, Run, event, map};
use heddle_engine::{Command, IncidentCode, SkipTarget, Status};
use serde_json::{Value, json};

/// A review whose outcome `revise` leads back to a draft.
fn review(bounds: Value) -> Model {
    let outcomes = json!({"configuration": {"outcomes": ["approve", "revise"]}});
    Model::default()
        .nodes("s:startEvent d:task e:endEvent o:task")
        .node("r", "userTask", outcomes)
        .flows("s > d > r; o > e")
        .edge("r", "d", json!({"condition": {"on": "outcome:revise"}, "loop": bounds}))
        .edge("r", "e", json!({"condition": {"on": "always"}}))
}

fn rounds(run: &Run) -> usize {
    run.done().iter().filter(|own| *own == "d").count()
}

fn revise(run: &mut Run, comment: &str) {
    run.give(Command::CompleteTask {
        task_id: run.task_id("r"),
        outcome: Some("revise".to_owned()),
        values: map(json!({"note": comment})),
        comment: Some(comment.to_owned()),
    })
    .unwrap();
}

#[test]
fn a_flow_leads_back_as_often_as_it_may_and_carries_what_it_is_told() {
    let carry = json!({"reviewerFeedback": true, "previousOutput": true, "variables": ["n"]});
    let model = review(json!({"maximumIterations": 2, "carry": carry, "onMaximum": {"action": "continue"}}));
    let mut run = model.run(json!({"n": 7}));
    revise(&mut run, "shorter");
    assert_eq!(rounds(&run), 2);
    assert_eq!(
        run.variables()["loop"],
        json!({
            "iteration": 1, "maximumIterations": 2, "previousOutput": {"note": "shorter"}, "variables": {"n": 7},
            "reviewerFeedback": {"comment": "shorter", "values": {"note": "shorter"}}
        })
    );
    revise(&mut run, "longer");
    assert_eq!((run.tasks(), &run.variables()["loop"]["iteration"]), (vec!["r".to_owned()], &json!(2)));
    revise(&mut run, "again");
    assert_eq!((run.status(), rounds(&run)), (Status::Completed, 3));
}

#[test]
fn a_pause_before_the_next_round_outlives_the_step() {
    let mut run = review(json!({"maximumIterations": 1, "delaySeconds": 60})).run(json!({}));
    revise(&mut run, "x");
    assert_eq!((run.tasks(), run.state.timers().len(), rounds(&run)), (vec![], 1, 1));
    run.advance(59);
    assert_eq!(rounds(&run), 1);
    run.advance(1);
    assert_eq!((run.tasks(), rounds(&run)), (vec!["r".to_owned()], 2));
    run.complete_with("r", Some("approve"), json!({})).unwrap();
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn at_its_maximum_a_flow_fails_exits_or_asks() {
    let mut run = review(json!({"maximumIterations": 0})).run(json!({}));
    revise(&mut run, "x");
    assert_eq!(run.incidents(), [(IncidentCode::LoopLimit, "r".to_owned())]);
    // A new round is not refused to whoever tries again, as far as there are any.
    let mut run = review(json!({"maximumIterations": 1})).run(json!({}));
    revise(&mut run, "x");
    revise(&mut run, "x");
    run.give(Command::Retry { incident_id: run.incident_id(), variables: map(json!({})) }).unwrap();
    assert_eq!((run.incidents().len(), rounds(&run)), (0, 3));

    let exit = json!({"maximumIterations": 0, "onMaximum": {"action": "exit", "target": "o"}});
    let mut run = review(exit).run(json!({}));
    revise(&mut run, "x");
    assert_eq!((run.status(), run.done()), (Status::Completed, vec!["d".into(), "o".into(), "r".into()]));

    let ask = json!({"maximumIterations": 1, "onMaximum": {"action": "humanReview"}});
    for (outcome, rounds_then, status) in
        [("approve", 2, Status::Completed), ("revise", 3, Status::Waiting), ("reject", 2, Status::Waiting)]
    {
        let mut run = review(ask.clone()).run(json!({}));
        revise(&mut run, "x");
        revise(&mut run, "best so far");
        assert_eq!(run.state.tasks()[0].outcomes.len(), 3);
        run.complete_with("r", Some(outcome), json!({})).unwrap();
        assert_eq!((run.status(), rounds(&run)), (status, rounds_then), "{outcome}");
        assert_eq!(run.state.has_incident(), outcome == "reject");
        assert_eq!(run.state.node_outputs()["r"]["output"], json!({"note": "best so far"}));
    }
}

#[test]
fn the_failure_of_an_activity_goes_along_its_flow() {
    let task = json!({"configuration": {"kind": "dmn", "decisionRef": "missing"}});
    let model = Model::default()
        .nodes("s:startEvent e:endEvent h:task g:task")
        .node("t", "businessRuleTask", task.clone())
        .flows("s > t > g > e; h > e")
        .edge("t", "h", json!({"condition": {"on": "failure"}}));
    let run = model.run(json!({}));
    assert_eq!((run.status(), run.done()), (Status::Completed, vec!["h".into(), "t".into()]));
    assert_eq!(run.variables()["errorCode"], "DECISION_ERROR");
    // Tried again a few times, and then an incident.
    let model = Model::default()
        .nodes("s:startEvent e:endEvent")
        .node("t", "businessRuleTask", task)
        .flows("s > t > e")
        .edge(
            "t",
            "t",
            json!({"condition": {"on": "failure"},
                "loop": {"maximumIterations": 2, "delaySeconds": 5, "carry": {"previousError": true}}}),
        );
    let mut run = model.run(json!({}));
    run.advance(5);
    assert_eq!(run.variables()["loop"]["previousError"]["code"], "DECISION_ERROR");
    run.advance(5);
    assert_eq!(run.incidents(), [(IncidentCode::LoopLimit, "t".to_owned())]);
    run.give(Command::Skip { target: SkipTarget::Node(run.instance("t")), output: map(json!({})) })
        .unwrap_err();
    // The failure has not gone away with the limit: the flow for it is taken again, and not the one for success.
    for _ in 0..2 {
        run.give(Command::Retry { incident_id: run.incident_id(), variables: map(json!({})) }).unwrap();
        assert_eq!((run.status(), run.incidents().len()), (Status::Waiting, 0));
        assert_eq!(run.variables()["loop"]["iteration"], 1);
        assert_eq!(run.variables()["loop"]["previousError"]["code"], "DECISION_ERROR");
        run.advance(5);
        assert_eq!(run.variables()["loop"]["iteration"], 2, "it is counted anew");
        run.advance(5);
        assert_eq!(run.incidents(), [(IncidentCode::LoopLimit, "t".to_owned())]);
    }
}

#[test]
fn an_error_out_of_a_sub_process_goes_along_its_flow_for_failure() {
    let inner =
        Model::default().nodes("is:startEvent").node("ie", "endEvent", event("error e1")).flows("is > ie");
    let model = Model::default()
        .nodes("s:startEvent e:endEvent h:task")
        .sub("p", inner, json!({}))
        .flows("s > p > e; h > e")
        .edge("p", "h", json!({"condition": {"on": "failure"}}));
    let run = model.run(json!({}));
    assert_eq!((run.status(), &run.variables()["errorCode"]), (Status::Completed, &json!("e1-code")));
    assert!(run.done().contains(&"h".to_owned()));
}

#[test]
fn a_flow_for_failure_that_does_not_hold_leaves_the_incident() {
    let task = json!({"configuration": {"kind": "dmn", "decisionRef": "missing"}});
    let on = json!({"condition": {"on": "failure", "left": "soft", "operator": "isTrue"}});
    let model = Model::default()
        .nodes("s:startEvent e:endEvent h:task")
        .node("t", "businessRuleTask", task)
        .flows("s > t > e; h > e")
        .edge("t", "h", on);
    let mut run = model.run(json!({"soft": false}));
    assert_eq!(run.incidents(), [(IncidentCode::DecisionError, "t".to_owned())]);
    run.give(Command::Retry { incident_id: run.incident_id(), variables: map(json!({"soft": true})) })
        .unwrap();
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn bounds_that_say_nothing_usable_are_refused() {
    for (bounds, wanted) in [
        (json!({"delaySeconds": 1}), "maximumIterations"),
        (json!({"maximumIterations": -1}), "maximumIterations"),
        (json!({"maximumIterations": 1, "delaySeconds": -1}), "delaySeconds"),
        (json!({"maximumIterations": 1, "onMaximum": {"action": "stop"}}), "onMaximum.action"),
        (json!({"maximumIterations": 1, "onMaximum": {"action": "exit"}}), "onMaximum.target"),
        (json!({"maximumIterations": 1, "onMaximum": {"target": "nowhere"}}), "onMaximum.target"),
        (json!({"maximumIterations": 1, "onMaximum": {"action": "fail", "target": "d"}}), "has none"),
    ] {
        let compiled = review(bounds.clone()).compile();
        let messages: Vec<String> = compiled.diagnostics.into_iter().map(|own| own.message).collect();
        assert!(messages.iter().any(|own| own.contains(wanted)), "{bounds}: {messages:?}");
    }
    let gateway = Model::default()
        .nodes("s:startEvent f:parallelGateway e:endEvent")
        .flows("s > f > e")
        .edge("f", "f", json!({"loop": {"maximumIterations": 1}}));
    assert!(!gateway.compile().is_executable());
    let gateway = Model::default().nodes("s:startEvent f:exclusiveGateway e:endEvent").flows("s > f").edge(
        "f",
        "e",
        json!({"condition": {"on": "failure"}}),
    );
    assert!(!gateway.compile().is_executable());
}

#[test]
fn a_loop_flow_out_of_a_gateway_is_bounded_as_well() {
    let script = json!({"configuration": {"kind": "feel", "source": "n + 1", "resultVariable": "n"}});
    let model = Model::default()
        .nodes("s:startEvent g:exclusiveGateway e:endEvent")
        .node("t", "scriptTask", script)
        .flows("s > t > g")
        .edge(
            "g",
            "t",
            json!({"condition": {"left": "n", "operator": "lt", "value": "100"},
                "loop": {"maximumIterations": 5, "onMaximum": {"action": "continue"}}}),
        )
        .flows("g > e");
    let run = model.run(json!({"n": 0}));
    assert_eq!((run.status(), &run.variables()["n"]), (Status::Completed, &json!(6)));
    assert!(Value::is_object(&run.variables()["loop"]));
}
