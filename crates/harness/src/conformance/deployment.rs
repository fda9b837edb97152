//! Files become published workflows for one case and disappear after it.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use heddle_harness::client::{Answer, Client};

/// The workflows of one case.
#[derive(Debug, Default)]
pub(crate) struct Deployment {
    /// One for each file.
    pub workflows: Vec<Workflow>,
}

/// A file as a workflow.
#[derive(Debug)]
pub(crate) struct Workflow {
    /// Id of the workflow.
    pub id: String,
    /// The ids of its processes.
    pub processes: Vec<String>,
    /// Node id to displayed name.
    pub names: BTreeMap<String, String>,
}

/// Reason why a deployment was refused.
#[derive(Debug)]
pub(crate) struct Refused(pub String);

/// Bytes of a file as the preview takes them.
pub(crate) fn source(file_name: &str, bytes: &[u8]) -> Value {
    json!({"source": {"format": "bpmn", "fileName": file_name, "contentBase64": STANDARD.encode(bytes)}})
}

impl Deployment {
    /// Previews, creates and publishes each file. A model that is refused is an answer, not an error.
    pub(crate) async fn make(
        &mut self,
        client: &Client,
        folder: &Path,
        files: &[String],
        key: &str,
    ) -> Result<Result<(), Refused>> {
        for (number, file) in files.iter().enumerate() {
            let path = folder.join(file);
            let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let answer = client.post("/api/workflows/transform/preview", &source(&name, &bytes)).await?;
            if !answer.ok() {
                return Ok(Err(Refused(format!("preview of {name} {}", answer.refusal()))));
            }
            let definition = answer.data()?["definition"].take();
            let body = json!({
                "slug": format!("{key}-{number}"),
                "displayName": name,
                "description": "A conformance case.",
                "definition": definition,
            });
            let answer = client.post("/api/workflows", &body).await?;
            if !answer.ok() {
                return Ok(Err(Refused(format!("create of {name} {}", answer.refusal()))));
            }
            let id = answer.data()?["id"].as_str().context("a created workflow has an id")?.to_owned();
            let (processes, names) = (process_ids(&definition), node_names(&definition));
            self.workflows.push(Workflow { id, processes, names });
        }
        self.publish(client).await
    }

    /// A caller may stand before what it calls, so what was refused is tried again after the others.
    async fn publish(&self, client: &Client) -> Result<Result<(), Refused>> {
        let mut open: Vec<&Workflow> = self.workflows.iter().collect();
        loop {
            let before = open.len();
            let mut refused: Option<Answer> = None;
            let mut again = Vec::new();
            for workflow in open {
                let answer =
                    client.post(&format!("/api/workflows/{}/publish", workflow.id), &json!({})).await?;
                if !answer.ok() {
                    again.push(workflow);
                    refused.get_or_insert(answer);
                }
            }
            match refused {
                None => return Ok(Ok(())),
                Some(answer) if again.len() == before => {
                    return Ok(Err(Refused(format!("publish {}", answer.refusal()))));
                }
                Some(_) => open = again,
            }
        }
    }

    /// The workflow with a process of that id.
    pub(crate) fn with_process(&self, process: &str) -> Option<&Workflow> {
        self.workflows.iter().find(|workflow| workflow.processes.iter().any(|id| id == process))
    }

    /// Withdraws everything, so that neither a start event nor a subscription reaches the next case.
    pub(crate) async fn remove(&self, client: &Client) -> Result<()> {
        for workflow in &self.workflows {
            let base = format!("/api/workflows/{}", workflow.id);
            for run in client.all(&format!("{base}/runs")).await? {
                let ended =
                    ["completed", "failed", "cancelled"].contains(&run["state"].as_str().unwrap_or_default());
                if let (false, Some(id)) = (ended, run["id"].as_str()) {
                    client.delete(&format!("{base}/runs/{id}")).await?;
                }
            }
            let answer = client.delete(&base).await?;
            if !answer.ok() {
                client.call(reqwest::Method::PATCH, &base, Some(&json!({"archived": true}))).await?.data()?;
            }
        }
        Ok(())
    }
}

/// The ids under which the definition's processes are started.
fn process_ids(definition: &Value) -> Vec<String> {
    let mut ids: Vec<String> = definition["bpmn"]["processes"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter()
        .filter_map(|process| process["id"].as_str().map(str::to_owned))
        .collect();
    if definition["nodes"].as_array().is_some_and(|nodes| !nodes.is_empty()) {
        ids.push("main".to_owned());
    }
    ids
}

/// Every node's displayed name, sub-processes included.
fn node_names(definition: &Value) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    let mut open = vec![definition];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                if let (Some(id), Some(name)) = (value["id"].as_str(), value["displayName"].as_str()) {
                    names.insert(id.to_owned(), name.to_owned());
                }
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_and_names_are_read_from_a_definition() {
        let definition = json!({
            "nodes": [{"id": "top", "displayName": "Top"}],
            "bpmn": {"processes": [
                {"id": "p", "nodes": [{"id": "s", "displayName": "Outer", "bpmn": {"subProcess": {
                    "id": "s", "nodes": [{"id": "t", "displayName": "SCRIPT_task1"}]}}}]},
                {"id": "q"}]}
        });
        assert_eq!(process_ids(&definition), ["p", "q", "main"]);
        assert_eq!(process_ids(&json!({"nodes": []})), Vec::<String>::new());
        let names = node_names(&definition);
        assert_eq!(names["t"], "SCRIPT_task1");
        assert_eq!(names["s"], "Outer");
        assert_eq!(names["top"], "Top");
    }

    #[test]
    fn a_source_carries_the_bytes_as_they_are() {
        assert_eq!(source("a.bpmn", &[0xFF, 0xFE])["source"]["contentBase64"], "//4=");
    }
}
