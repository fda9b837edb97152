//! Cases and what stands beside them: runs that start cases, cases that start runs, and decisions of workflows.

use heddle_testkit::{Client, TestApp, eventually, with_both};
use serde_json::{Value, json};

use super::{complete, id, item, publish, start, states};
use crate::models;

/// A case of one human task, which ends with it.
const SMALL: &str = r#"<definitions xmlns="http://www.omg.org/spec/CMMN/20151109/MODEL" id="d" targetNamespace="urn:t">
  <case id="small" name="Small"><casePlanModel id="plan" name="Small" autoComplete="true">
    <planItem id="look" definitionRef="def_look"/>
    <humanTask id="def_look" name="Look"/>
  </casePlanModel></case>
</definitions>"#;

/// A case with a task that decides by the decision `Rate`, which stands in a workflow.
const RATED: &str = r#"<definitions xmlns="http://www.omg.org/spec/CMMN/20151109/MODEL" id="d" targetNamespace="urn:t">
  <case id="rating" name="Rated">
    <caseFileModel>
      <caseFileItem id="amount" name="amount" multiplicity="ZeroOrOne"/>
      <caseFileItem id="rated" name="rated" multiplicity="ZeroOrOne"/>
    </caseFileModel>
    <casePlanModel id="plan" name="Rated">
      <planItem id="rate" definitionRef="def_rate"><itemControl><manualActivationRule/></itemControl></planItem>
      <planItem id="stay" definitionRef="def_stay"/>
      <decisionTask id="def_rate" name="Rate" decisionRef="Rate">
        <input id="in_amount" name="amount" bindingRef="amount"/>
        <output id="out_rate" name="Rate" bindingRef="rated"/>
        <parameterMapping id="map_in" sourceRef="in_amount" targetRef="d_amount"/>
        <parameterMapping id="map_out" sourceRef="d_rate" targetRef="out_rate"/>
      </decisionTask>
      <humanTask id="def_stay" name="Stay"/>
    </casePlanModel>
  </case>
  <decision id="Rate" name="Rate" externalRef="Rate"
      implementationType="http://www.omg.org/spec/CMMN/DecisionType/DMN1">
    <input id="d_amount" name="amount"/>
    <output id="d_rate" name="Rate"/>
  </decision>
</definitions>"#;

fn rates(factor: u32) -> Value {
    let xml = format!(
        r##"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="m" name="Rates" namespace="urn:rates">
  <inputData id="in" name="amount"><variable id="v" name="amount" typeRef="number"/></inputData>
  <decision id="Rate" name="Rate"><variable id="r" name="Rate" typeRef="number"/>
    <informationRequirement id="q"><requiredInput href="#in"/></informationRequirement>
    <literalExpression id="l"><text>amount * {factor}</text></literalExpression></decision>
</definitions>"##
    );
    json!({ "dmn": { "sourceXml": xml } })
}

async fn case_in(client: &Client, case: &str, state: &str) -> Value {
    eventually(&format!("the case {state}"), async || {
        let now = client.get(&format!("/api/cases/{case}")).await.expect(200).data();
        (now["state"] == state).then_some(now)
    })
    .await
}

#[tokio::test]
async fn a_run_starts_a_case_and_goes_on_when_that_has_ended() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let case_type = publish(&admin, "small-cases", SMALL).await;
        let elements = format!(
            r#"<startEvent id="start"/><callActivity id="call" calledElement="small"/><endEvent id="end"/>{}"#,
            models::flows(&["start", "call", "end"])
        );
        let workflow = admin.publish_bpmn("caller", &models::process("calls", "", &elements)).await;
        let run = id(&admin.run(&workflow, json!({ "businessKey": "order-7" })).await);
        let case = eventually("a case of the run", async || {
            let rows = admin.get(&format!("/api/cases?caseTypeId={case_type}")).await.expect(200).data();
            rows.as_array().unwrap().first().cloned()
        })
        .await;
        assert_eq!((&case["parentRunId"], &case["parentCaseId"]), (&json!(run), &Value::Null), "{case}");
        assert_eq!(case["rootId"], json!(run));
        let shown = admin.get(&format!("/api/workflows/{workflow}/runs/{run}?include=children")).await;
        let shown = shown.expect(200).data();
        let child = &shown["children"][0];
        assert_eq!((&child["id"], &child["caseTypeId"]), (&case["id"], &json!(case_type)), "{shown}");
        assert_eq!((child.get("workflowId"), &shown["caseId"]), (None, &Value::Null));
        let _ = complete(&admin, &case, "look", json!({})).await;
        let _ = admin.run_in(&workflow, &run, "completed").await;

        // The end of the caller reaches what it called.
        let run = id(&admin.run(&workflow, json!({})).await);
        let called = eventually("another case", async || {
            let rows = admin.get("/api/cases?state=active").await.expect(200).data();
            rows.as_array().unwrap().first().map(id)
        })
        .await;
        let _ = admin.delete(&format!("/api/workflows/{workflow}/runs/{run}")).await.expect(204);
        let _ = case_in(&admin, &called, "terminated").await;
        app.stop().await;
    });
}

#[tokio::test]
async fn what_a_case_started_shows_the_case() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let workflow = admin.publish_bpmn("check", &models::task()).await;
        let inner = publish(&admin, "small-cases", SMALL).await;
        let xml = r#"<definitions xmlns="http://www.omg.org/spec/CMMN/20151109/MODEL" id="d" targetNamespace="urn:t">
          <case id="outer" name="Outer"><casePlanModel id="plan" name="Outer">
            <planItem id="check" definitionRef="def_check"/>
            <planItem id="inner" definitionRef="def_inner"/>
            <processTask id="def_check" name="Check" processRef="Check"/>
            <caseTask id="def_inner" name="Inner" caseRef="small"/>
          </casePlanModel></case>
          <process id="Check" name="Check" externalRef="check"
              implementationType="http://www.omg.org/spec/CMMN/ProcessType/BPMN20"/>
        </definitions>"#;
        let outer = publish(&admin, "outer", xml).await;
        let case = id(&start(&admin, &outer, json!({})).await);
        let run = eventually("a run of the case", async || {
            let rows = admin.get(&format!("/api/runs?workflowId={workflow}")).await.expect(200).data();
            rows.as_array().unwrap().first().cloned()
        })
        .await;
        assert_eq!((&run["caseId"], &run["parentRunId"]), (&json!(case), &Value::Null), "{run}");
        assert_eq!(run["rootRunId"], json!(case));
        let called = eventually("a case of the case", async || {
            let rows = admin.get(&format!("/api/cases?caseTypeId={inner}")).await.expect(200).data();
            rows.as_array().unwrap().first().cloned()
        })
        .await;
        assert_eq!((&called["parentCaseId"], &called["parentRunId"]), (&json!(case), &Value::Null));
        let _ = admin.post(&format!("/api/cases/{case}/terminate"), json!({})).await.expect(200);
        let _ = case_in(&admin, called["id"].as_str().unwrap(), "terminated").await;
        let _ = admin.run_in(&workflow, run["id"].as_str().unwrap(), "cancelled").await;
        app.stop().await;
    });
}

#[tokio::test]
async fn a_task_decides_by_a_decision_of_a_published_workflow() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let case_type = publish(&admin, "rated", RATED).await;
        let told = async || {
            let path = format!("/api/case-types/{case_type}/validate");
            let report = admin.post(&path, json!({})).await.expect(200).data();
            let all = report["diagnostics"].as_array().unwrap().clone();
            (report["executable"].clone(), all.iter().any(|one| one["code"] == "unknownDecision"))
        };
        assert_eq!(told().await, (json!(true), true), "nobody has published it");
        let begun = async || start(&admin, &case_type, json!({ "file": { "amount": 20 } })).await;
        let rate = async |case: &Value| {
            let path = format!("/api/cases/{}/plan-items/rate/manualStart", id(case));
            admin.post(&path, json!({})).await.expect(200).data()
        };
        let stopped = rate(&begun().await).await;
        assert_eq!(item(&stopped, "rate")["state"], "failed", "{stopped}");
        let incident = &stopped["incidents"][0];
        assert!(incident["message"].as_str().unwrap().contains("`Rate`"), "{incident}");

        let workflow = admin.publish("rates", rates(2)).await;
        assert_eq!(told().await, (json!(true), false));
        let rated = rate(&begun().await).await;
        assert!(states(&rated).contains(&("rate".to_owned(), "completed".to_owned())), "{rated}");
        assert_eq!(rated["file"]["rated"], json!(40), "{rated}");
        // What failed for want of it goes on now, and a later version counts from the next decision on.
        let again = format!("/api/cases/{}/plan-items/rate/reactivate", id(&stopped));
        let again = admin.post(&again, json!({})).await.expect(200).data();
        assert_eq!(again["file"]["rated"], json!(40), "{again}");
        let draft = json!({ "definition": rates(3) });
        let _ = admin.put(&format!("/api/workflows/{workflow}/draft"), draft).await.expect(200);
        let _ = admin.post(&format!("/api/workflows/{workflow}/publish"), json!({})).await.expect(200);
        assert_eq!(rate(&begun().await).await["file"]["rated"], json!(60));

        // A second workflow with one of the name: nobody guesses.
        let _ = admin.publish("other-rates", rates(5)).await;
        let either = rate(&begun().await).await;
        assert!(either["incidents"][0]["message"].as_str().unwrap().starts_with("2 published"), "{either}");
        app.stop().await;
    });
}
