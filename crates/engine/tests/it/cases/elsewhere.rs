//! Decisions of other definitions: asked for by their names, and evaluated when they are known.

use std::collections::BTreeMap;

use heddle_engine::{
    Budget, Command, DecisionElsewhere, IncidentCode, Rejection, RunContext, State, Step, Trigger, step,
};
use heddle_settings::{DataMapping, DecisionTask, ResultMapping, Setting};
use serde_json::{Map, Value, json};
use std::sync::Arc;

use super::support::Plan;
use heddle_cmmn::plan::Work;

const MODEL: &str = r##"<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" id="m" name="m" namespace="urn:m">
 <inputData id="a" name="amount"><variable name="amount" typeRef="number"/></inputData>
 <decision id="rate" name="Rate"><variable name="Rate" typeRef="number"/>
  <informationRequirement id="r"><requiredInput href="#a"/></informationRequirement>
  <literalExpression><text>amount * 2</text></literalExpression></decision></definitions>"##;

type Elsewhere = Option<BTreeMap<String, Result<DecisionElsewhere, String>>>;

/// Start of a case with a task that names the decision `taxes`.
fn begun(elsewhere: Elsewhere) -> Result<Step, Rejection> {
    let decision = Arc::new(DecisionTask {
        decision: Setting::Literal("taxes".into()),
        mapping: ResultMapping::default(),
        data: DataMapping::default(),
    });
    let plan = Plan::new(false).top("decide", Work::Decision { decision }).build();
    let cx = RunContext {
        run_id: crate::support::RUN,
        now: "2024-01-01T00:00:00Z".parse().unwrap(),
        correlation_key: None,
        actor: None,
        decisions: None,
        elsewhere,
        hops: 0,
        budget: Budget::DEFAULT,
        remark: None,
        stores: BTreeMap::new(),
        roles: Vec::new(),
        people: BTreeMap::new(),
    };
    let input: Map<String, Value> = json!({ "amount": 4 }).as_object().unwrap().clone();
    let start = Command::Start { trigger: Trigger::Manual { start_node: None }, input };
    step(&*plan, &State::new(), start, &cx)
}

fn known(found: Result<DecisionElsewhere, String>) -> Elsewhere {
    Some(BTreeMap::from([("taxes".to_owned(), found)]))
}

/// The incidents of a case.
fn incidents(done: &Step) -> Vec<(IncidentCode, String)> {
    done.state.incidents().into_iter().map(|own| (own.code, own.message)).collect()
}

#[test]
fn a_decision_that_nobody_has_looked_up_is_asked_for_and_nothing_has_happened() {
    let asked = begun(Some(BTreeMap::new())).map(|_| ());
    assert_eq!(asked, Err(Rejection::DecisionNeeded("taxes".to_owned())));
}

#[test]
fn a_decision_of_another_definition_is_evaluated_under_its_own_name() {
    let read = heddle_dmn::xml::read(MODEL.as_bytes()).unwrap().model;
    let model = heddle_dmn::compile(&[read]).model;
    let done =
        begun(known(Ok(DecisionElsewhere { model: model.clone(), decision: "rate".to_owned() }))).unwrap();
    assert_eq!(incidents(&done), []);
    assert_eq!(done.state.variables().and_then(|own| own.get("Rate")), Some(&json!(8)));
    let other = begun(known(Ok(DecisionElsewhere { model, decision: "nothing".to_owned() }))).unwrap();
    assert_eq!(incidents(&other)[0].0, IncidentCode::DecisionError);
}

#[test]
fn a_decision_that_is_nowhere_is_an_incident_with_the_reason() {
    let done = begun(known(Err("no workflow has it".to_owned()))).unwrap();
    assert_eq!(incidents(&done), [(IncidentCode::DecisionError, "no workflow has it".to_owned())]);
    // Where no other definition counts, the case's own is told of.
    let alone = begun(None).unwrap();
    assert!(incidents(&alone)[0].1.contains("decision model"), "{:?}", incidents(&alone));
}
