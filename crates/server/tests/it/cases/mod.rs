//! Cases: from import to close, who may do what, events that count once, and calls of services outside.

mod calls;
mod events;
mod hooks;
mod life;
mod rights;
mod starts;

use heddle_testkit::Client;
use serde_json::{Value, json};

/// A claim: `collect`, then `decide` when that is done and the claim is above 100; `paid` listens for `payment.received`; an
/// adjuster may plan `expert`. A case event `claim.filed` starts one.
const CLAIM: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/CMMN/20151109/MODEL" xmlns:flowable="http://flowable.org/cmmn" id="definitions"
    targetNamespace="urn:heddle:test" expressionLanguage="https://www.omg.org/spec/DMN/20191111/FEEL/">
  <case id="claim" name="Claim">
    <extensionElements><flowable:eventType>claim.filed</flowable:eventType></extensionElements>
    <caseFileModel>
      <caseFileItem id="claimed" name="claimed" multiplicity="ZeroOrOne"/>
      <caseFileItem id="paper" name="paper" multiplicity="ZeroOrMore"/>
    </caseFileModel>
    <casePlanModel id="claim_plan" name="Claim">
      <planItem id="collect" definitionRef="def_collect"/>
      <planItem id="decide" definitionRef="def_decide"><entryCriterion id="ready" sentryRef="s_ready"/></planItem>
      <planItem id="paid" definitionRef="def_paid"/>
      <planItem id="settled" definitionRef="def_settled"><entryCriterion id="on_paid" sentryRef="s_paid"/></planItem>
      <sentry id="s_ready">
        <planItemOnPart id="on_collect" sourceRef="collect"><standardEvent>complete</standardEvent></planItemOnPart>
        <ifPart id="if_large"><condition>caseFile.claimed.amount &gt; 100</condition></ifPart>
      </sentry>
      <sentry id="s_paid">
        <planItemOnPart id="on_payment" sourceRef="paid"><standardEvent>occur</standardEvent></planItemOnPart>
      </sentry>
      <planningTable>
        <discretionaryItem id="expert" definitionRef="def_expert" authorizedRoleRefs="adjuster"/>
      </planningTable>
      <humanTask id="def_collect" name="Collect"/>
      <humanTask id="def_decide" name="Decide"/>
      <humanTask id="def_expert" name="Ask an expert"/>
      <milestone id="def_settled" name="Settled"/>
      <eventListener id="def_paid" name="Paid">
        <extensionElements><flowable:eventType>payment.received</flowable:eventType></extensionElements>
      </eventListener>
    </casePlanModel>
    <caseRoles><role id="adjuster" name="adjuster"/></caseRoles>
  </case>
</definitions>"#;

/// Imports and publishes a case type; its id.
pub(crate) async fn publish(client: &Client, slug: &str, xml: &str) -> String {
    let body = json!({ "fileName": format!("{slug}.cmmn"), "content": xml, "slug": slug });
    let imported = client.post("/api/case-types/import/cmmn", body).await.expect(201).data();
    let id = id(&imported);
    let _ = client.post(&format!("/api/case-types/{id}/publish"), json!({})).await.expect(200);
    id
}

/// A case type of claims; its id.
pub(crate) async fn claims(client: &Client, slug: &str) -> String {
    publish(client, slug, CLAIM).await
}

/// Starts a case.
pub(crate) async fn start(client: &Client, case_type: &str, body: Value) -> Value {
    let mut whole = json!({ "caseTypeId": case_type });
    for (name, value) in body.as_object().unwrap() {
        whole[name] = value.clone();
    }
    client.post("/api/cases", whole).await.expect(201).data()
}

/// A case type and a case of it; their ids.
pub(crate) async fn one(client: &Client) -> (String, String) {
    let case_type = claims(client, "single-case").await;
    let case = start(client, &case_type, json!({})).await;
    (case_type, id(&case))
}

fn id(of: &Value) -> String {
    of["id"].as_str().unwrap().to_owned()
}

/// The instance of an item of a case.
fn item<'c>(case: &'c Value, name: &str) -> &'c Value {
    let items = case["planItems"].as_array().unwrap();
    items.iter().find(|item| item["planItemId"] == name).unwrap_or_else(|| panic!("{name}: {case}"))
}

/// States of the items of a case, by their ids.
fn states(case: &Value) -> Vec<(String, String)> {
    let items = case["planItems"].as_array().unwrap().iter();
    let text = |item: &Value, name: &str| item[name].as_str().unwrap().to_owned();
    items.map(|item| (text(item, "planItemId"), text(item, "state"))).collect()
}

/// Completes the open human task of an item.
async fn complete(client: &Client, case: &Value, name: &str, body: Value) -> Value {
    let tasks = case["humanTasks"].as_array().unwrap();
    let task = tasks.iter().find(|task| task["nodeId"] == name).unwrap_or_else(|| panic!("{name}: {case}"));
    let path = format!("/api/human-tasks/{}/complete", task["id"].as_str().unwrap());
    client.post(&path, body).await.expect(200).data()["case"].clone()
}
