//! The clients: packages as people install them, with a small worker on each.

use std::process::Command;

use anyhow::Result;
use clap::ValueEnum;
use serde_json::{Value, json};

use heddle_harness_kit::npm::Package;
use heddle_harness_kit::pip::Environment;

/// A client of another product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Library {
    /// `camunda-external-task-client-js` of npm.
    Camunda7Js,
    /// `camunda-external-task-client-python3` of PyPI.
    Camunda7Python,
    /// `@camunda8/orchestration-cluster-api` of npm.
    Camunda8Js,
    /// `camunda-orchestration-sdk` of PyPI.
    Camunda8Python,
}

impl Library {
    /// Every client.
    pub(crate) const ALL: [Self; 4] =
        [Self::Camunda7Js, Self::Camunda7Python, Self::Camunda8Js, Self::Camunda8Python];

    /// Name of the client in what is told.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Camunda7Js => "camunda7-js",
            Self::Camunda7Python => "camunda7-python",
            Self::Camunda8Js => "camunda8-js",
            Self::Camunda8Python => "camunda8-python",
        }
    }

    /// Installs the package, if it is not there, and gives the command that starts its worker.
    pub(crate) fn command(self) -> Result<Command> {
        match self {
            Self::Camunda7Js => {
                let name = "camunda-external-task-client-js";
                Package::install(name, "camunda-external-task-client-js@^3")?
                    .node("camunda7.mjs", include_str!("camunda7.mjs"))
            }
            Self::Camunda7Python => {
                let name = "camunda-external-task-client-python3";
                // It imports pydantic and does not name it among what it needs.
                Environment::install(name, "camunda-external-task-client-python3>=4.5,<5 pydantic")?
                    .python("camunda7.py", include_str!("camunda7.py"))
            }
            Self::Camunda8Js => {
                let name = "@camunda8/orchestration-cluster-api";
                Package::install(name, "@camunda8/orchestration-cluster-api@^8")?
                    .node("camunda8.mjs", include_str!("camunda8.mjs"))
            }
            Self::Camunda8Python => {
                let name = "camunda-orchestration-sdk";
                Environment::install(name, "camunda-orchestration-sdk>=10,<11")?
                    .python("camunda8.py", include_str!("camunda8.py"))
            }
        }
    }

    /// Whether the client can ask for a longer lock: the Python one of Camunda 7 has no call for it.
    pub(crate) const fn extends(self) -> bool {
        !matches!(self, Self::Camunda7Python)
    }

    const fn is_camunda7(self) -> bool {
        matches!(self, Self::Camunda7Js | Self::Camunda7Python)
    }

    /// A model as the product's own modeler writes it: a task of the type, with an error caught at it.
    pub(crate) fn model(self, process: &str, job_type: &str) -> String {
        let (namespace, attributes, inner) = match self.is_camunda7() {
            true => (
                r#"xmlns:camunda="http://camunda.org/schema/1.0/bpmn""#,
                format!(r#"camunda:type="external" camunda:topic="{job_type}""#),
                String::new(),
            ),
            false => (
                r#"xmlns:zeebe="http://camunda.org/schema/zeebe/1.0""#,
                String::new(),
                format!(
                    r#"<bpmn:extensionElements><zeebe:taskDefinition type="{job_type}" retries="3"/></bpmn:extensionElements>"#
                ),
            ),
        };
        format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" {namespace}
    id="definitions" targetNamespace="http://bpmn.io/schema/bpmn">
  <bpmn:process id="{process}" name="{process}" isExecutable="true">
    <bpmn:startEvent id="begin"/>
    <bpmn:sequenceFlow id="f1" sourceRef="begin" targetRef="work"/>
    <bpmn:serviceTask id="work" name="Work" {attributes}>{inner}</bpmn:serviceTask>
    <bpmn:sequenceFlow id="f2" sourceRef="work" targetRef="done"/>
    <bpmn:endEvent id="done"/>
    <bpmn:boundaryEvent id="caught" attachedToRef="work">
      <bpmn:errorEventDefinition id="definition" errorRef="funds"/>
    </bpmn:boundaryEvent>
    <bpmn:sequenceFlow id="f3" sourceRef="caught" targetRef="refused"/>
    <bpmn:endEvent id="refused"/>
  </bpmn:process>
  <bpmn:error id="funds" name="No funds" errorCode="NO_FUNDS"/>
</bpmn:definitions>
"#
        )
    }

    /// Variables that a run has when a worker completed its task: every type that the client knows.
    pub(crate) fn values(self) -> Value {
        let mut values = json!({
            "text": "words",
            "number": 7,
            "long": 1_099_511_627_776_i64,
            "decimal": 1.5,
            "flag": true,
            "nothing": null,
            "list": [1, "two"],
            "object": {"a": {"b": null}},
        });
        if let (true, Some(members)) = (self.is_camunda7(), values.as_object_mut()) {
            let file = json!({"$type": "file", "fileName": "note.txt", "mimeType": "text/plain",
                "encoding": "utf-8", "content": "aGk="});
            members.insert("date".to_owned(), "2030-01-02T03:04:05.006+00:00".into());
            members.insert("bytes".to_owned(), json!({"$type": "bytes", "content": "aGk="}));
            members.insert("file".to_owned(), file);
        }
        values
    }
}
