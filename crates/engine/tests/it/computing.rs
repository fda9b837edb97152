//! Business rule tasks and script tasks.

#![expect(clippy::indexing_slicing, reason = "a trial fails where its sample does not fit")]

use crate::support::{Model, Run, map};
use heddle_engine::{Command, EventKind, IncidentCode, Status};
use serde_json::{Value, json};

const DECISIONS: &str = r##"<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" id="m" name="m"
  namespace="urn:m">
 <inputData id="i" name="Order Total"><variable name="Order Total" typeRef="number"/></inputData>
 <decision id="rate" name="Rate"><variable name="Rate"/>
  <informationRequirement><requiredInput href="#i"/></informationRequirement>
  <decisionTable hitPolicy="COLLECT"><input><inputExpression><text>Order Total</text></inputExpression></input>
   <output name="percent"/>
   <rule id="r1"><inputEntry><text>&gt;= 10</text></inputEntry><outputEntry><text>1</text></outputEntry></rule>
   <rule id="r2"><inputEntry><text>&gt;= 100</text></inputEntry><outputEntry><text>5</text></outputEntry></rule>
  </decisionTable></decision>
 <decision id="best" name="Best"><variable name="Best"/>
  <informationRequirement><requiredDecision href="#rate"/></informationRequirement>
  <literalExpression><text>max(Rate)</text></literalExpression></decision>
 <decision id="endless" name="Endless"><variable name="Endless"/>
  <literalExpression><text>count(for i in 1..100000000 return i)</text></literalExpression></decision>
 <inputData id="n" name="note"><variable name="note"/></inputData>
 <decision id="echo" name="Echo"><variable name="Echo"/>
  <informationRequirement><requiredInput href="#n"/></informationRequirement>
  <literalExpression><text>note</text></literalExpression></decision>
 <decision id="size" name="Size"><variable name="Size"/>
  <informationRequirement><requiredDecision href="#echo"/></informationRequirement>
  <literalExpression><text>string length(Echo) &gt; 1</text></literalExpression></decision>
 <decision id="age" name="Age"><variable name="Age"/><literalExpression><text>born.year</text></literalExpression>
 </decision>
</definitions>"##;

fn deciding(configuration: Value, input: Value) -> Run {
    let model = Model::default()
        .nodes("s:startEvent yes:task no:task")
        .node("d", "businessRuleTask", json!({ "configuration": configuration }))
        .flows("s > d")
        .flow_if("d", "yes", "nodes.d.output exists")
        .flow_if("d", "no", "nodes.d.output notExists");
    let mut run = Run::new(model.graph());
    let read = heddle_dmn::xml::read(DECISIONS.as_bytes()).unwrap().model;
    run.decisions = Some(heddle_dmn::compile(&[read]).model);
    run.start(input).unwrap();
    run
}

fn evaluated(run: &Run) -> Value {
    let told = run.log.iter().find(|event| matches!(event.kind, EventKind::DecisionEvaluated(_))).unwrap();
    serde_json::to_value(told).unwrap()["data"].clone()
}

#[test]
fn a_decision_sets_its_variable_and_its_event_tells_inputs_hits_and_output() {
    let run = deciding(json!({"kind": "dmn", "decisionRef": "best"}), json!({"Order Total": 250}));
    assert_eq!(run.status(), Status::Completed);
    assert_eq!(run.variables()["Best"], 5);
    assert_eq!(run.done(), ["d", "yes"]);
    let told = evaluated(&run);
    assert_eq!((&told["decisionId"], &told["decisionName"]), (&json!("best"), &json!("Best")));
    assert_eq!((&told["inputs"], &told["output"]), (&json!({"Rate": [1, 5]}), &json!(5)));
    let rate = &told["decisions"][0];
    assert_eq!(rate["inputs"], json!({"Order Total": 250}));
    assert_eq!(rate["tables"][0]["hits"][1], json!({"rule": 2, "id": "r2", "outputs": [5]}));
}

#[test]
fn an_event_does_not_repeat_large_inputs_without_end() {
    let run = deciding(json!({"decisionRef": "size"}), json!({"note": "x".repeat(150_000)}));
    let told = evaluated(&run);
    assert_eq!((&told["truncated"], &told["decisions"][0]["name"]), (&json!(true), &json!("Size")));
    assert_eq!(told["decisions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_result_takes_the_shape_that_is_asked_for() {
    for (mapping, total, result) in [
        (None, 250, json!([1, 5])),
        (Some("single"), 50, json!(1)),
        (Some("singleResult"), 50, json!({"percent": 1})),
        (Some("collect"), 50, json!([1])),
        (Some("all"), 250, json!([{"percent": 1}, {"percent": 5}])),
        (Some("single"), 5, Value::Null),
    ] {
        let own = json!({"decisionRef": "Rate", "resultVariable": "x", "resultMapping": mapping});
        let run = deciding(own, json!({"Order Total": total}));
        assert_eq!(run.variables()["x"], result, "{mapping:?}");
        assert_eq!(
            evaluated(&run)["hits"].as_array().map_or(0, Vec::len),
            [0, 1, 2][(total >= 10) as usize + (total >= 100) as usize]
        );
    }
}

#[test]
fn what_cannot_be_decided_is_an_incident_until_it_can() {
    let single = json!({"decisionRef": "=wanted", "resultMapping": "single", "resultVariable": "x"});
    let mut run = deciding(single, json!({"Order Total": 250, "wanted": "nothing"}));
    for (wanted, code) in [
        (json!("endless"), IncidentCode::DecisionError),
        (json!("Rate"), IncidentCode::DecisionError),
        (json!(1), IncidentCode::ExpressionError),
    ] {
        let incident_id = run.incident_id();
        run.give(Command::Retry { incident_id, variables: map(json!({ "wanted": wanted })) }).unwrap();
        assert_eq!(run.incidents(), [(code, "d".to_owned())], "{wanted}");
    }
    let incident_id = run.incident_id();
    run.give(Command::Retry { incident_id, variables: map(json!({"wanted": "best"})) }).unwrap();
    assert_eq!((run.status(), &run.variables()["x"]), (Status::Completed, &json!(5)));
}

#[test]
fn inputs_are_the_tasks_own_and_outputs_are_all_that_it_leaves() {
    let own = json!({"decisionRef": "best", "resultVariable": "rate",
        "inputs": [{"name": "Order Total", "value": "=order.lines[1].price"}],
        "outputs": [{"name": "order.discount", "value": "=rate * 2"}, {"name": "again", "value": "=order.discount"}]});
    let run = deciding(own, json!({"order": {"lines": [{"price": 120}]}}));
    let expected = json!({"order": {"lines": [{"price": 120}], "discount": 10}, "again": null});
    assert_eq!(run.variables(), expected);
}

#[test]
fn what_a_mapping_could_not_compute_is_told() {
    let own = json!({"kind": "feel", "source": "damage * 1.2", "resultVariable": "reserve",
        "inputs": [{"name": "rate", "value": "=nothing.rate + 1"}], "outputs": [{"name": "reserve", "value": "=reserve + 1"}]});
    let run = Model::default().node("a", "scriptTask", json!({ "configuration": own })).run(json!({}));
    assert_eq!(run.variables(), json!({"reserve": null}));
    let told = run.log.iter().find_map(|event| match &event.kind {
        EventKind::ScriptEvaluated { reasons, .. } => Some(reasons.clone()),
        _ => None,
    });
    let told = told.unwrap();
    assert!(told.iter().any(|reason| reason.starts_with("`rate`: ")), "{told:?}");
    assert!(told.iter().any(|reason| reason.starts_with("`reserve`: ")), "{told:?}");
    assert!(told.len() >= 3, "{told:?}");
    let decided = deciding(
        json!({"decisionRef": "Rate", "resultVariable": "x", "outputs": [{"name": "y", "value": "=x + nothing"}]}),
        json!({"Order Total": 50}),
    );
    let reasons = evaluated(&decided)["reasons"].clone();
    assert!(reasons[0]["message"].as_str().unwrap().starts_with("`y`: "), "{reasons}");
}

#[test]
fn a_date_in_an_input_stays_a_date() {
    let own = json!({"decisionRef": "age", "resultVariable": "x",
        "inputs": [{"name": "born", "value": "=date(\"2000-02-29\")"}]});
    assert_eq!(deciding(own, json!({})).variables(), json!({"x": 2000}));
}

#[test]
fn a_script_in_feel_gives_its_result() {
    let model = Model::default()
        .nodes("s:startEvent e:endEvent")
        .node("a", "scriptTask", json!({"bpmn": {"activity": {"scriptFormat": "feel", "script": "=amount * 2"}}, "configuration": {"resultVariable": "twice"}}))
        .node("b", "scriptTask", json!({"configuration": {"kind": "feel", "source": "twice + nothing"}}))
        .flows("s > a > b > e");
    let run = model.run(json!({"amount": 1.5}));
    assert_eq!(run.status(), Status::Completed);
    assert_eq!(run.variables(), json!({"amount": 1.5, "twice": 3}));
    assert_eq!(run.state.node_outputs()["b"]["output"], Value::Null);
    let told =
        run.log.iter().rev().find(|event| matches!(event.kind, EventKind::ScriptEvaluated { .. })).unwrap();
    let EventKind::ScriptEvaluated { reasons, .. } = &told.kind else { unreachable!() };
    assert!(!reasons.is_empty());
}
