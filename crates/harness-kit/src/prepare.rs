//! Small workflows and case types of our own, for load and for fixtures.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::client::Client;

/// Start, one bare task, end: a run of it ends at once.
pub const ONE_TASK: &str = r#"
    <startEvent id="begin"/>
    <sequenceFlow id="f1" sourceRef="begin" targetRef="work"/>
    <task id="work" name="Work"/>
    <sequenceFlow id="f2" sourceRef="work" targetRef="done"/>
    <endEvent id="done"/>"#;

/// Start, one human task, end.
pub const HUMAN_TASK: &str = r#"
    <startEvent id="begin"/>
    <sequenceFlow id="f1" sourceRef="begin" targetRef="work"/>
    <userTask id="work" name="Work"/>
    <sequenceFlow id="f2" sourceRef="work" targetRef="done"/>
    <endEvent id="done"/>"#;

/// A human task and a timer side by side; the run ends when both have.
pub const TASK_AND_TIMER: &str = r#"
    <startEvent id="begin"/>
    <sequenceFlow id="f1" sourceRef="begin" targetRef="fork"/>
    <parallelGateway id="fork"/>
    <sequenceFlow id="f2" sourceRef="fork" targetRef="work"/>
    <sequenceFlow id="f3" sourceRef="fork" targetRef="pause"/>
    <userTask id="work" name="Work"/>
    <intermediateCatchEvent id="pause" name="Pause">
      <timerEventDefinition><timeDuration xsi:type="tFormalExpression">PT2S</timeDuration></timerEventDefinition>
    </intermediateCatchEvent>
    <sequenceFlow id="f4" sourceRef="work" targetRef="join"/>
    <sequenceFlow id="f5" sourceRef="pause" targetRef="join"/>
    <parallelGateway id="join"/>
    <sequenceFlow id="f6" sourceRef="join" targetRef="done"/>
    <endEvent id="done"/>"#;

/// A whole BPMN document around the content of one process.
pub fn document(process: &str, content: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    id="definitions-{process}" targetNamespace="http://example.org/{process}">
  <process id="{process}" name="{process}" isExecutable="true">{content}
  </process>
</definitions>
"#
    )
}

/// A case that counts: an event `order.opened` starts it, and each `order.counted` for it occurs once, with its `mark` in the
/// case file. A human task keeps it open.
pub const COUNTING: &str = r#"
    <extensionElements><flowable:eventType>order.opened</flowable:eventType></extensionElements>
    <caseFileModel><caseFileItem id="mark" name="mark" multiplicity="ZeroOrOne"/></caseFileModel>
    <casePlanModel id="plan" name="Count">
      <planItem id="work" definitionRef="human"/>
      <planItem id="counted" definitionRef="listener"><itemControl><repetitionRule/></itemControl></planItem>
      <planItem id="reached" definitionRef="milestone">
        <itemControl><repetitionRule/></itemControl>
        <entryCriterion id="on" sentryRef="sentry"/>
      </planItem>
      <sentry id="sentry">
        <planItemOnPart id="part" sourceRef="counted"><standardEvent>occur</standardEvent></planItemOnPart>
      </sentry>
      <humanTask id="human" name="Work"/>
      <eventListener id="listener" name="Counted">
        <extensionElements><flowable:eventType>order.counted</flowable:eventType></extensionElements>
      </eventListener>
      <milestone id="milestone" name="Reached"/>
    </casePlanModel>"#;

/// A human task, a milestone behind it that is no more than reached, and a case file item.
pub const HUMAN_CASE: &str = r#"
    <caseFileModel><caseFileItem id="note" name="note" multiplicity="ZeroOrOne"/></caseFileModel>
    <casePlanModel id="plan" name="Work">
      <planItem id="work" definitionRef="human"/>
      <planItem id="reached" definitionRef="milestone"><entryCriterion id="on" sentryRef="sentry"/></planItem>
      <sentry id="sentry">
        <planItemOnPart id="part" sourceRef="work"><standardEvent>complete</standardEvent></planItemOnPart>
      </sentry>
      <humanTask id="human" name="Work"/>
      <milestone id="milestone" name="Reached"/>
    </casePlanModel>"#;

/// A whole CMMN document around the content of one case.
pub fn case_document(case: &str, content: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/CMMN/20151109/MODEL" xmlns:flowable="http://flowable.org/cmmn"
    id="definitions-{case}" targetNamespace="http://example.org/{case}"
    expressionLanguage="https://www.omg.org/spec/DMN/20191111/FEEL/">
  <case id="{case}" name="{case}">{content}
  </case>
</definitions>
"#
    )
}

/// Imports a case type, as a draft.
pub async fn import_case(client: &Client, case: &str, content: &str) -> Result<String> {
    let content = case_document(case, content);
    let body = json!({"fileName": format!("{case}.cmmn"), "content": content, "slug": case});
    let made = client.post("/api/case-types/import/cmmn", &body).await?.data().context("import")?;
    Ok(imported_id(&made).context("an imported case type has an id")?.to_owned())
}

/// Imports and publishes a case type.
pub async fn publish_case(client: &Client, case: &str, content: &str) -> Result<String> {
    let id = import_case(client, case, content).await?;
    client.post(&format!("/api/case-types/{id}/publish"), &json!({})).await?.data().context("publish")?;
    Ok(id)
}

/// The id of a case type in the answer to its import.
pub fn imported_id(made: &Value) -> Option<&str> {
    made["id"].as_str().or_else(|| made["caseType"]["id"].as_str())
}

/// Starts a case and gives its representation.
pub async fn start_case(client: &Client, case_type: &str, correlation_key: &str) -> Result<Value> {
    let body = json!({"caseTypeId": case_type, "correlationKey": correlation_key});
    client.post("/api/cases", &body).await?.data().context("start")
}

/// Previews a document and gives its definition.
pub async fn definition(client: &Client, process: &str, content: &str) -> Result<Value> {
    let source = json!({"source": {
        "format": "bpmn", "fileName": format!("{process}.bpmn"), "content": document(process, content)}});
    let preview = client.post("/api/workflows/transform/preview", &source).await?.data();
    Ok(preview.context("transform/preview")?["definition"].take())
}

/// Creates a workflow with a draft.
pub async fn create(client: &Client, process: &str, content: &str) -> Result<String> {
    let definition = definition(client, process, content).await?;
    let body = json!({"slug": process, "displayName": process, "description": "", "definition": definition});
    let created = client.post("/api/workflows", &body).await?.data().context("create")?;
    Ok(created["id"].as_str().context("a created workflow has an id")?.to_owned())
}

/// Creates and publishes a workflow.
pub async fn publish(client: &Client, process: &str, content: &str) -> Result<String> {
    let id = create(client, process, content).await?;
    client.post(&format!("/api/workflows/{id}/publish"), &json!({})).await?.data().context("publish")?;
    Ok(id)
}

/// Starts a run and gives its representation.
pub async fn start(client: &Client, workflow: &str, body: &Value) -> Result<Value> {
    client.post(&format!("/api/workflows/{workflow}/runs"), body).await?.data().context("start")
}
