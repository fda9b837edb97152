//! Runs of pools whose collaboration has a choreography: messages in its order, and out of it.

use crate::support::Run;
use heddle_bpmn::xml;
use heddle_bpmn_graph::{Graph, compile};
use heddle_engine::{Command, Status, Trigger};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A buyer asks a seller, who answers, and is thanked.
const CHOREOGRAPHY: &str = r#"<message id="ask"/><message id="answer"/><message id="thanks"/><message id="hello"/>
    <choreography id="deal"><participant id="B" name="Buyer"/><participant id="S" name="Seller"/>
    <messageFlow id="f1" sourceRef="B" targetRef="S" messageRef="ask"/>
    <messageFlow id="f2" sourceRef="S" targetRef="B" messageRef="answer"/>
    <messageFlow id="f3" sourceRef="B" targetRef="S" messageRef="thanks"/>
    <choreographyTask id="t1" name="Ask" initiatingParticipantRef="B"><participantRef>B</participantRef>
    <participantRef>S</participantRef><messageFlowRef>f1</messageFlowRef><messageFlowRef>f2</messageFlowRef></choreographyTask>
    <choreographyTask id="t2" name="Thank" initiatingParticipantRef="B"><participantRef>B</participantRef>
    <participantRef>S</participantRef><messageFlowRef>f3</messageFlowRef></choreographyTask>
    <sequenceFlow id="o" sourceRef="t1" targetRef="t2"/></choreography>"#;

/// The graph of a process whose events are these, in this order: `throw` or `catch` with the message.
fn process(id: &str, pool: &str, events: &[(&str, &str)]) -> Arc<Graph> {
    let mut nodes = String::new();
    for (number, (kind, message)) in events.iter().enumerate() {
        let element = match *kind {
            "start" => "startEvent",
            "throw" => "intermediateThrowEvent",
            _ => "intermediateCatchEvent",
        };
        let definition = match *message {
            "" => String::new(),
            message => format!("<messageEventDefinition messageRef=\"{message}\"/>"),
        };
        nodes.push_str(&format!("<{element} id=\"n{number}\">{definition}</{element}>"));
        if number > 0 {
            let before = number - 1;
            nodes.push_str(&format!(
                "<sequenceFlow id=\"s{number}\" sourceRef=\"n{before}\" targetRef=\"n{number}\"/>"
            ));
        }
    }
    let other = if pool == "Buyer" { "Seller" } else { "Buyer" };
    let text = format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:t">{CHOREOGRAPHY}
        <collaboration id="k"><participant id="own" name="{pool}" processRef="{id}"/><participant id="other" name="{other}"/>
        <choreographyRef>deal</choreographyRef></collaboration><process id="{id}" isExecutable="true">{nodes}</process>
        </definitions>"#
    );
    let compiled = compile(&xml::read(text.as_bytes()).unwrap().definition);
    assert!(compiled.is_executable(), "{:#?}", compiled.diagnostics);
    compiled.process(id).unwrap().clone()
}

/// Data of the events of a type.
fn told(run: &Run, kind: &str) -> Vec<Value> {
    let log = serde_json::to_value(&run.log).unwrap();
    let events = log.as_array().unwrap().iter();
    events.filter(|event| event["type"] == kind).map(|event| event["data"].clone()).collect()
}

#[test]
fn messages_in_order_lead_the_choreography_on() {
    let graph =
        process("p", "Buyer", &[("start", ""), ("throw", "ask"), ("catch", "answer"), ("throw", "thanks")]);
    let mut run = Run::new(graph);
    run.start(json!({})).unwrap();
    run.message("answer", json!({}));
    assert_eq!(run.status(), Status::Completed);
    let seen: Vec<Value> =
        told(&run, "choreography.advanced").iter().map(|data| data["exchange"]["message"].clone()).collect();
    assert_eq!(seen, ["ask", "answer", "thanks"]);
    assert!(told(&run, "choreography.violation").is_empty());
}

#[test]
fn a_message_out_of_order_is_told_and_stops_nothing() {
    let events =
        [("start", ""), ("throw", "ask"), ("throw", "thanks"), ("throw", "hello"), ("catch", "answer")];
    let mut run = Run::new(process("p", "Buyer", &events));
    run.start(json!({})).unwrap();
    let violations = told(&run, "choreography.violation");
    assert_eq!(
        violations,
        [json!({
            "choreographyId": "deal",
            "taskIds": ["t2"],
            "expected": [{"taskId": "t1", "taskName": "Ask", "from": "S", "to": "B", "message": "answer"}],
            "seen": {"from": "B", "to": "S", "message": "thanks"}
        })],
        "what the choreography has no message for may happen"
    );
    let log = serde_json::to_value(&run.log).unwrap();
    let event =
        log.as_array().unwrap().iter().find(|event| event["type"] == "choreography.violation").unwrap();
    assert_eq!(event["nodeId"], "n2");
    // The order goes on where it was.
    run.message("answer", json!({}));
    assert_eq!(run.status(), Status::Completed);
    assert_eq!(told(&run, "choreography.violation").len(), 1);
}

#[test]
fn a_message_that_starts_a_run_is_compared_too() {
    for (message, violations) in [("ask", 0), ("thanks", 1)] {
        let events = [("start", message), ("throw", "answer")];
        let mut run = Run::new(process("p", "Seller", &events));
        let trigger = Trigger::Message { name: message.to_owned(), node_id: "n0".to_owned() };
        run.give(Command::Start { trigger, input: Map::new() }).unwrap();
        assert_eq!(run.status(), Status::Completed);
        let told = told(&run, "choreography.violation");
        // An answer to nobody's question is out of order, too.
        assert_eq!(told.len(), 2 * violations, "{told:?}");
        if let Some(first) = told.first() {
            assert_eq!(first["expected"][0]["message"], "ask");
        }
    }
}
