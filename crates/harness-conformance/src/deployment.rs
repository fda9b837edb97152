//! Files become published workflows and case types for one case and disappear after it.

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

use super::language::Model;
use heddle_harness_kit::client::{Answer, Client, Method};
use heddle_harness_kit::prepare;

/// The workflows and case types of one case.
#[derive(Debug, Default)]
pub(crate) struct Deployment {
    /// One for each file of BPMN or DMN.
    pub workflows: Vec<Workflow>,
    /// One for each file of CMMN.
    pub case_types: Vec<CaseType>,
}

/// A file as a case type.
#[derive(Debug)]
pub(crate) struct CaseType {
    /// Id of the case type.
    pub id: String,
    /// The ids of its cases.
    pub cases: Vec<String>,
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
    let format = if has_ending(file_name, "dmn") { "dmn" } else { "bpmn" };
    json!({"source": {"format": format, "fileName": file_name, "contentBase64": STANDARD.encode(bytes)}})
}

fn has_ending(file_name: &str, ending: &str) -> bool {
    Path::new(file_name).extension().is_some_and(|own| own.eq_ignore_ascii_case(ending))
}

impl CaseType {
    fn base(&self) -> String {
        format!("/api/case-types/{}", self.id)
    }
}

impl Deployment {
    /// Previews, creates and publishes each file. A model that is refused is an answer, not an error.
    pub(crate) async fn make(
        &mut self,
        client: &Client,
        folder: &Path,
        model: &Model,
        key: &str,
    ) -> Result<Result<(), Refused>> {
        for file in &model.files {
            let path = folder.join(file);
            let mut bytes =
                std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            if model.set_executable {
                bytes = executable(bytes);
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let added = if has_ending(&name, "cmmn") {
                self.add_case_type(client, &name, &bytes, key).await?
            } else {
                self.add(client, &name, &bytes, key).await?
            };
            if let Err(refused) = added {
                return Ok(Err(refused));
            }
            let Some(decisions) = model.decisions.get(file) else { continue };
            let path = folder.join(decisions);
            let text =
                std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let answer = self.put_decisions(client, text).await?;
            if !answer.ok() {
                return Ok(Err(Refused(format!("decisions of {decisions} {}", answer.refusal()))));
            }
        }
        self.publish(client).await
    }

    /// Previews and creates one file.
    pub(crate) async fn add(
        &mut self,
        client: &Client,
        name: &str,
        bytes: &[u8],
        key: &str,
    ) -> Result<Result<(), Refused>> {
        let answer = client.post("/api/workflows/transform/preview", &source(name, bytes)).await?;
        if !answer.ok() {
            return Ok(Err(Refused(format!("preview of {name} {}", answer.refusal()))));
        }
        let definition = answer.data()?["definition"].take();
        let body = json!({
            "slug": format!("{key}-{}", self.workflows.len()),
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
        Ok(Ok(()))
    }

    /// Imports one file of CMMN.
    async fn add_case_type(
        &mut self,
        client: &Client,
        name: &str,
        bytes: &[u8],
        key: &str,
    ) -> Result<Result<(), Refused>> {
        let slug = format!("{key}-{}", self.case_types.len());
        let body = json!({"fileName": name, "content": String::from_utf8_lossy(bytes), "slug": slug});
        let answer = client.post("/api/case-types/import/cmmn", &body).await?;
        if !answer.ok() {
            return Ok(Err(Refused(format!("import of {name} {}", answer.refusal()))));
        }
        let data = answer.data()?;
        let id = prepare::imported_id(&data).context("an imported case type has an id")?.to_owned();
        self.case_types.push(CaseType { id, cases: case_ids(bytes) });
        Ok(Ok(()))
    }

    /// The case type with a case of that id.
    pub(crate) fn with_case(&self, case: &str) -> Option<&str> {
        let own = self.case_types.iter().find(|own| own.cases.iter().any(|id| id == case));
        own.map(|own| own.id.as_str())
    }

    /// Addresses of all that was made, case types behind what they call.
    fn bases(&self) -> Vec<String> {
        let workflows = self.workflows.iter().map(|own| format!("/api/workflows/{}", own.id));
        workflows.chain(self.case_types.iter().map(CaseType::base)).collect()
    }

    /// Puts decisions into the draft of the workflow that was made last.
    async fn put_decisions(&self, client: &Client, text: String) -> Result<Answer> {
        let workflow = self.workflows.last().context("decisions belong to a model")?;
        client.put_xml(&format!("/api/workflows/{}/dmn/logic", workflow.id), text).await
    }

    /// A caller may stand before what it calls, so what was refused is tried again after the others.
    pub(crate) async fn publish(&self, client: &Client) -> Result<Result<(), Refused>> {
        let mut open = self.bases();
        loop {
            let before = open.len();
            let mut refused: Option<Answer> = None;
            let mut again = Vec::new();
            for base in open {
                let answer = client.post(&format!("{base}/publish"), &json!({})).await?;
                if !answer.ok() {
                    again.push(base);
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

    /// Withdraws everything, so that neither a start event nor a subscription reaches the next case. One that fails
    /// keeps none of the others; the error names what stayed.
    pub(crate) async fn remove(&self, client: &Client) -> Result<()> {
        let mut stayed = Vec::new();
        for case_type in &self.case_types {
            let listed = format!("/api/cases?caseTypeId={}", case_type.id);
            stayed.extend(ended(client, &listed, &End::Terminate).await);
        }
        for workflow in &self.workflows {
            let runs = format!("/api/workflows/{}/runs", workflow.id);
            stayed.extend(ended(client, &runs, &End::Cancel(&runs)).await);
        }
        for base in self.bases() {
            if let Err(error) = withdrawn(client, &base).await {
                stayed.push(format!("{base}: {error:#}"));
            }
        }
        anyhow::ensure!(stayed.is_empty(), "not removed: {}", stayed.join("; "));
        Ok(())
    }
}

/// Way in which an instance is ended from outside.
enum End<'a> {
    /// A case is terminated.
    Terminate,
    /// A run below this address is cancelled.
    Cancel(&'a str),
}

/// Ends the listed instances that have not ended, and gives those that stayed with the reasons.
async fn ended(client: &Client, listed: &str, end: &End<'_>) -> Vec<String> {
    let instances = match client.all(listed).await {
        Ok(instances) => instances,
        Err(error) => return vec![format!("{listed}: {error:#}")],
    };
    let mut stayed = Vec::new();
    for instance in instances {
        let state = instance["state"].as_str().unwrap_or_default();
        let over = ["completed", "failed", "cancelled", "terminated", "closed"].contains(&state);
        let (false, Some(id)) = (over, instance["id"].as_str()) else { continue };
        let answer = match end {
            End::Terminate => client.post(&format!("/api/cases/{id}/terminate"), &json!({})).await,
            End::Cancel(base) => client.delete(&format!("{base}/{id}")).await,
        };
        match answer {
            // 409 and 404: it has ended meanwhile.
            Ok(answer) if answer.ok() || [404, 409].contains(&answer.status) => {}
            Ok(answer) => stayed.push(format!("{id}: {}", answer.refusal())),
            Err(error) => stayed.push(format!("{id}: {error:#}")),
        }
    }
    stayed
}

/// Deletes a workflow or a case type, or archives it where that is refused.
async fn withdrawn(client: &Client, base: &str) -> Result<()> {
    if !client.delete(base).await?.ok() {
        client.call(Method::PATCH, base, Some(&json!({"archived": true}))).await?.data()?;
    }
    Ok(())
}

/// The same file with `isExecutable` set at every process, as a modeler's panel does it; as it is where one has it, or where it
/// is no UTF-8.
pub(crate) fn executable(bytes: Vec<u8>) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(&bytes) else { return bytes };
    let tags = process_tags(text);
    if tags
        .iter()
        .any(|tag| attribute(tag, "isExecutable").is_some_and(|value| value == "true" || value == "1"))
    {
        return bytes;
    }
    let mut changed = String::with_capacity(text.len() + 32);
    let mut rest = text;
    for tag in tags {
        let Some((before, after)) = rest.split_once(tag) else { continue };
        changed.push_str(before);
        changed.push_str(&with_executable(tag));
        rest = after;
    }
    changed.push_str(rest);
    changed.into_bytes()
}

/// Every tag, from `<` to `>`.
pub(crate) fn start_tags(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices('<').filter_map(|(at, _)| text.get(at..));
    starts.filter_map(|rest| rest.split_inclusive('>').next())
}

/// The start tags of processes, in order.
pub(crate) fn process_tags(text: &str) -> Vec<&str> {
    start_tags(text).filter(|tag| is_named(tag, "process")).collect()
}

/// Whether a tag begins an element of this local name.
fn is_named(tag: &str, name: &str) -> bool {
    let open = tag.trim_start_matches('<');
    let own = open.split(|own: char| own.is_whitespace() || own == '/' || own == '>').next();
    own.and_then(|own| own.rsplit(':').next()) == Some(name)
}

/// The value of an attribute of a start tag.
pub(crate) fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, after) = tag.split_once(&format!(" {name}="))?;
    let quote = after.chars().next()?;
    after.trim_start_matches(quote).split(quote).next()
}

fn with_executable(tag: &str) -> String {
    match attribute(tag, "isExecutable") {
        Some(value) => tag
            .replace(&format!("isExecutable=\"{value}\""), "isExecutable=\"true\"")
            .replace(&format!("isExecutable='{value}'"), "isExecutable='true'"),
        None => {
            let open = tag.trim_end_matches(['/', '>']);
            let end = if tag.ends_with("/>") { "/>" } else { ">" };
            format!("{open} isExecutable=\"true\"{end}")
        }
    }
}

/// The ids of the cases of a document of CMMN.
fn case_ids(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let cases = start_tags(&text).filter(|tag| is_named(tag, "case"));
    cases.filter_map(|tag| attribute(tag, "id").map(str::to_owned)).collect()
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
    fn processes_are_made_executable_where_none_is() {
        for (before, after) in [
            ("<a/><b:process id=\"p\"/>", "<a/><b:process id=\"p\" isExecutable=\"true\"/>"),
            ("<process id='p' isExecutable='false'>", "<process id='p' isExecutable='true'>"),
            (
                "<process id=\"p\" isExecutable=\"true\"/><process id=\"q\" isExecutable=\"false\"/>",
                "<process id=\"p\" isExecutable=\"true\"/><process id=\"q\" isExecutable=\"false\"/>",
            ),
            ("<processor/><processRef>p</processRef>", "<processor/><processRef>p</processRef>"),
        ] {
            assert_eq!(executable(before.as_bytes().to_vec()), after.as_bytes());
        }
    }

    #[test]
    fn cases_are_read_from_a_document() {
        let text = "<c:definitions><c:case id=\"a\" name=\"x\"><casePlanModel id=\"p\"/></c:case><case id='b'/></c:definitions>";
        assert_eq!(case_ids(text.as_bytes()), ["a", "b"]);
    }

    #[test]
    fn a_source_carries_the_bytes_as_they_are() {
        assert_eq!(source("a.bpmn", &[0xFF, 0xFE])["source"]["contentBase64"], "//4=");
        assert_eq!(source("a.DMN", &[])["source"]["format"], "dmn");
    }
}
