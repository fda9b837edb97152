//! Pools of one definition that keep their choreography, and pools that don't: both runs tell it, and neither stops.

use heddle_testkit::{Client, TestApp, eventually, with_both};
use serde_json::{Value, json};

const MESSAGES: [&str; 3] = ["ask", "answer", "thanks"];

/// A buyer and a seller, each with these steps in a row, and the choreography of their messages: `ask` with the reply
/// `answer`, then `thanks`.
fn deal(buyer: &str, seller: &str) -> String {
    let messages: String = MESSAGES.iter().map(|id| format!(r#"<message id="{id}" name="{id}"/>"#)).collect();
    let both = r#"<participantRef>B</participantRef><participantRef>S</participantRef>"#;
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="definitions" targetNamespace="urn:test">{messages}
<choreography id="deal"><participant id="B" name="Buyer"/><participant id="S" name="Seller"/>
    <messageFlow id="c1" sourceRef="B" targetRef="S" messageRef="ask"/>
    <messageFlow id="c2" sourceRef="S" targetRef="B" messageRef="answer"/>
    <messageFlow id="c3" sourceRef="B" targetRef="S" messageRef="thanks"/>
    <choreographyTask id="t1" name="Ask" initiatingParticipantRef="B">{both}<messageFlowRef>c1</messageFlowRef>
        <messageFlowRef>c2</messageFlowRef></choreographyTask>
    <choreographyTask id="t2" name="Thank" initiatingParticipantRef="B">{both}<messageFlowRef>c3</messageFlowRef>
    </choreographyTask><sequenceFlow id="o" sourceRef="t1" targetRef="t2"/></choreography>
<collaboration id="pools"><participant id="PB" name="Buyer" processRef="buyer"/>
    <participant id="PS" name="Seller" processRef="seller"/></collaboration>{}{}</definitions>"#,
        process("buyer", buyer),
        process("seller", seller)
    )
}

/// Steps `start`, `start:MESSAGE`, `throw:MESSAGE`, `catch:MESSAGE`, `end`.
fn process(id: &str, steps: &str) -> String {
    let mut content = String::new();
    let mut before: Option<String> = None;
    for (number, step) in steps.split_whitespace().enumerate() {
        let (kind, message) = step.split_once(':').unwrap_or((step, ""));
        let element = match kind {
            "start" => "startEvent",
            "throw" => "intermediateThrowEvent",
            "catch" => "intermediateCatchEvent",
            _ => "endEvent",
        };
        let definition = match message {
            "" => String::new(),
            own => format!(r#"<messageEventDefinition id="{id}-m{number}" messageRef="{own}"/>"#),
        };
        let node = format!("{id}-{number}");
        content += &format!(r#"<{element} id="{node}">{definition}</{element}>"#);
        if let Some(before) = before {
            content +=
                &format!(r#"<sequenceFlow id="{id}-f{number}" sourceRef="{before}" targetRef="{node}"/>"#);
        }
        before = Some(node);
    }
    format!(r#"<process id="{id}" isExecutable="true">{content}</process>"#)
}

/// The ended runs of both pools with their events of a type.
async fn told(client: &Client, workflow: &str, kind: &str) -> Vec<Value> {
    let runs = eventually("both pools to end", async || {
        let runs = client.get(&format!("/api/workflows/{workflow}/runs")).await.expect(200).data();
        let all = runs.as_array()?.clone();
        (all.len() == 2 && all.iter().all(|run| run["state"] == "completed")).then_some(all)
    })
    .await;
    let mut found = Vec::new();
    for run in runs {
        let id = run["id"].as_str().unwrap();
        let path = format!("/api/workflows/{workflow}/runs/{id}/events?types={kind}");
        found.extend(client.get(&path).await.expect(200).data().as_array().unwrap().clone());
    }
    found
}

#[tokio::test]
async fn a_message_out_of_a_choreographys_order_is_an_event_of_both_runs() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        for (buyer, seller, violations) in [
            ("start throw:ask catch:answer throw:thanks end", "start:ask throw:answer catch:thanks end", 0),
            ("start throw:ask throw:thanks catch:answer end", "start:ask catch:thanks throw:answer end", 2),
        ] {
            let workflow = admin.publish_bpmn(&format!("deal-{violations}"), &deal(buyer, seller)).await;
            let key = format!("deal-{violations}");
            let body = json!({ "processId": "buyer", "correlationKey": key });
            let _ = admin.run(&workflow, body).await;
            let found = told(&admin, &workflow, "choreography.violation").await;
            assert_eq!(found.len(), violations, "{found:?}");
            for event in found {
                let data = &event["data"];
                assert_eq!(data["choreographyId"], "deal", "{event}");
                assert_eq!(data["taskIds"], json!(["t2"]), "{event}");
                assert_eq!(data["seen"], json!({ "from": "B", "to": "S", "message": "thanks" }), "{event}");
                let expected = json!([
                    { "taskId": "t1", "taskName": "Ask", "from": "S", "to": "B", "message": "answer" }
                ]);
                assert_eq!(data["expected"], expected, "{event}");
            }
            let advanced = told(&admin, &workflow, "choreography.advanced").await;
            assert_eq!(advanced.len(), 6 - violations, "each run sees each message: {advanced:?}");
            // The messages of the next pools start this one no more.
            let path = format!("/api/workflows/{workflow}");
            let _ = admin.patch(&path, json!({ "archived": true })).await.expect(200);
        }
        app.stop().await;
    });
}
