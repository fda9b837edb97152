//! Decisions without a run.

use heddle_testkit::{TestApp, suites, with_both};
use serde_json::{Value, json};

const MODEL: &str = r##"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="m" name="Discount" namespace="urn:discount">
  <inputData id="i1" name="customer"><variable name="customer" typeRef="string"/></inputData>
  <inputData id="i2" name="amount"><variable name="amount" typeRef="number"/></inputData>
  <decision id="rate" name="Rate"><variable name="Rate" typeRef="number"/>
    <informationRequirement id="r1"><requiredInput href="#i1"/></informationRequirement>
    <decisionTable id="t" hitPolicy="UNIQUE"><input id="c"><inputExpression><text>customer</text></inputExpression></input>
      <output id="o"/>
      <rule id="gold"><inputEntry><text>"gold"</text></inputEntry><outputEntry><text>10</text></outputEntry></rule>
      <rule id="others"><inputEntry><text>not("gold")</text></inputEntry><outputEntry><text>RATE</text></outputEntry></rule>
    </decisionTable></decision>
  <decision id="discount" name="Discount"><variable name="Discount" typeRef="number"/>
    <informationRequirement id="r2"><requiredDecision href="#rate"/></informationRequirement>
    <informationRequirement id="r3"><requiredInput href="#i2"/></informationRequirement>
    <literalExpression><text>amount * Rate / 100</text></literalExpression></decision>
  <decision id="heavy" name="Heavy"><variable name="Heavy"/>
    <literalExpression><text>count(for i in 1..1000, j in 1..1000000 return i)</text></literalExpression></decision>
  <decisionService id="service" name="Service"><variable name="Service"/><outputDecision href="#discount"/>
    <encapsulatedDecision href="#rate"/><inputData href="#i1"/><inputData href="#i2"/></decisionService></definitions>"##;

fn definition(rate: &str) -> Value {
    json!({ "dmn": { "sourceXml": MODEL.replace("RATE", rate) } })
}

#[tokio::test]
async fn decisions_are_evaluated_by_version_with_an_explanation_on_request() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let workflow = admin.create("discount", definition("2")).await;
        let path = format!("/api/workflows/{workflow}/dmn/evaluate");
        let input = json!({ "customer": "gold", "amount": 50 });
        let call = |decision: &str, version: Value| {
            let mut body = json!({ "decision": decision, "input": input });
            if !version.is_null() {
                body["version"] = version;
            }
            body
        };
        let _ = admin.post(&path, call("discount", Value::Null)).await.refused(409, "notPublished");
        let _ = admin.post(&format!("/api/workflows/{workflow}/publish"), json!({})).await.expect(200);
        let draft = format!("/api/workflows/{workflow}/draft");
        let _ = admin.put(&draft, json!({ "definition": definition("4") })).await.expect(200);
        for (decision, kind) in
            [("discount", "decision"), ("Discount", "decision"), ("service", "decisionService")]
        {
            let told = admin.post(&path, call(decision, Value::Null)).await.expect(200).data();
            assert_eq!((&told["output"], &told["version"]), (&json!(5), &json!(1)), "{decision}");
            assert_eq!(told["decision"]["kind"], kind);
            assert!(told.get("explanation").is_none() && told["reasons"] == json!([]), "{told}");
        }
        let bronze = json!({ "decision": "rate", "input": { "customer": "bronze" }, "explain": true });
        for (version, rate, number) in [
            (json!(1), 2, json!(1)),
            (json!("1"), 2, json!(1)),
            (json!("published"), 2, json!(1)),
            (json!("draft"), 4, Value::Null),
        ] {
            let mut body = bronze.clone();
            body["version"] = version;
            let told = admin.post(&path, body).await.expect(200).data();
            assert_eq!((&told["output"], &told["version"]), (&json!(rate), &number), "{told}");
            let table = &told["explanation"]["decisions"][0]["tables"][0];
            assert_eq!(
                (&table["inputs"][0]["value"], &table["hits"][0]["id"]),
                (&json!("bronze"), &json!("others"))
            );
            assert_eq!(told["explanation"]["truncated"], false);
        }
        // A draft is kept compiled by its revision: a change of it is seen at once.
        let _ = admin.put(&draft, json!({ "definition": definition("8") })).await.expect(200);
        let mut body = bronze.clone();
        body["version"] = json!("draft");
        assert_eq!(admin.post(&path, body.clone()).await.expect(200).data()["output"], 8);

        // Who may run the workflow and not read it evaluates what is published.
        let role = json!({ "name": "runner", "permissions": ["workflows.run"], "grants": [{ "resourceType": "workflow",
            "action": "run", "resourceId": workflow, "effect": "allow" }] });
        let _ = admin.post("/api/roles", role).await.expect(201);
        let (_, runner) = app.user("runner", &["runner"]).await;
        let _ = runner.post(&path, bronze).await.expect(200);
        let _ = runner.post(&path, body).await.refused(403, "draftNotReadable");
        app.stop().await;
    });
}

#[tokio::test]
async fn what_is_wrong_with_an_evaluation_is_told_by_its_field() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let workflow = admin.publish("discount", definition("2")).await;
        let path = format!("/api/workflows/{workflow}/dmn/evaluate");
        let good = json!({ "customer": "gold", "amount": 5 });
        let cases = [
            (json!({ "input": good }), "decision", "required"),
            (json!({ "decision": "discount" }), "input", "required"),
            (json!({ "decision": "none", "input": good }), "decision", "unknownDecision"),
            (json!({ "decision": "amount", "input": good }), "decision", "unknownDecision"),
            (json!({ "decision": "discount", "input": [] }), "input", "wrongType"),
            (json!({ "decision": "discount", "input": { "amount": "five" } }), "input.amount", "wrongType"),
            (json!({ "decision": "service", "input": { "customer": 7 } }), "input.customer", "wrongType"),
            (json!({ "decision": "discount", "input": good, "version": 2 }), "version", "unknownVersion"),
            (json!({ "decision": "discount", "input": good, "version": "latest" }), "version", "pattern"),
            (json!({ "decision": "discount", "input": good, "version": -1 }), "version", "notAllowed"),
            (json!({ "decision": "heavy", "input": {} }), "decision", "limitExceeded"),
            (json!({ "decision": "discount", "input": good, "surprise": 1 }), "surprise", "unknownField"),
        ];
        for (body, field, reason) in cases {
            let answer = admin.post(&path, body.clone()).await;
            assert_eq!(answer.fields(), [field], "{body}: {}", answer.text());
            let _ = answer.refused(400, reason);
        }
        // What is not given is null, as the standard has it, and the reasons say why there is no result.
        let told = admin.post(&path, json!({ "decision": "discount", "input": {} })).await.expect(200).data();
        assert!(told["output"].is_null() && !told["reasons"].as_array().unwrap().is_empty(), "{told}");
        let plain = admin.publish_bpmn("plain", &crate::models::task()).await;
        let none = json!({ "decision": "d", "input": {} });
        let none = admin.post(&format!("/api/workflows/{plain}/dmn/evaluate"), none).await;
        let _ = none.refused(400, "unknownDecision");
        let _ =
            admin.patch(&format!("/api/workflows/{workflow}"), json!({ "archived": true })).await.expect(200);
        let archived = admin.post(&path, json!({ "decision": "discount", "input": good })).await;
        let _ = archived.refused(409, "archived");
        app.stop().await;
    });
}

#[tokio::test]
async fn the_simple_table_of_the_suite_is_evaluated_as_it_is() {
    let name = "dmn-tck/compliance-level-2/0004-simpletable-U/0004-simpletable-U.dmn";
    let Some(file) = suites(name) else { return };
    let source = std::fs::read_to_string(file).unwrap();
    let mut app = TestApp::at(None, |_| {}).await;
    let workflow = app.admin.publish("table", json!({ "dmn": { "sourceXml": source } })).await;
    let path = format!("/api/workflows/{workflow}/dmn/evaluate");
    let input = json!({ "Age": 18, "RiskCategory": "Medium", "isAffordable": true });
    let body = json!({ "decision": "Approval Status", "input": input });
    let told = app.admin.post(&path, body).await.expect(200).data();
    assert_eq!(told["output"], "Approved");
    app.stop().await;
}
