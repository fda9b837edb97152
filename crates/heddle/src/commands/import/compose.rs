//! Files that belong together: a BPMN file with the DMN file whose decisions it asks for, and with those that that one
//! imports.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use heddle_dmn::xml;
use serde_json::{Value, json};

use super::findings::Findings;
use super::sources::{Kind, Source};
use crate::client::{Client, text};

/// Files that become one workflow.
#[derive(Debug)]
pub(super) struct Unit {
    /// Files, the one that names it first.
    pub files: Vec<PathBuf>,
    /// Name of the first file without its ending.
    pub stem: String,
    /// The definition.
    pub definition: Value,
    /// Whether there is nothing but decisions in it.
    pub only_decisions: bool,
    /// Findings about it.
    pub findings: Findings,
    /// Remarks for people, such as on files that were left out.
    pub notes: Vec<String>,
}

/// A file whose preview was refused.
#[derive(Debug)]
pub(super) struct Refused {
    /// Path of the file.
    pub path: PathBuf,
    /// Reason.
    pub error: anyhow::Error,
}

struct Previewed {
    source: Source,
    definition: Value,
    findings: Findings,
}

/// Previews all files and puts together what belongs together.
pub(super) async fn units(
    client: &Client,
    sources: Vec<Source>,
    told: impl Fn(),
) -> (Vec<Unit>, Vec<Refused>) {
    let (mut models, mut decisions, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for source in sources {
        match preview(client, &source).await {
            Ok((definition, findings)) => {
                let previewed = Previewed { source, definition, findings };
                let list = if previewed.source.kind == Kind::Dmn { &mut decisions } else { &mut models };
                list.push(previewed);
            }
            Err(error) => refused.push(Refused { path: source.path, error }),
        }
        told();
    }
    let mut taken = BTreeSet::new();
    let mut units = Vec::new();
    for model in models {
        units.push(with_decisions(client, model, &decisions, &mut taken).await);
    }
    // What another one imports goes with it.
    let imported: BTreeSet<usize> = decisions.iter().flat_map(|one| closure(one, &decisions)).collect();
    for (at, one) in decisions.iter().enumerate() {
        if taken.contains(&at) || imported.contains(&at) {
            continue;
        }
        units.push(of_decisions(client, one, &decisions).await);
    }
    (units, refused)
}

async fn preview(client: &Client, source: &Source) -> Result<(Value, Findings)> {
    let mut given = json!({ "format": source.kind.format() });
    if let Some(members) = given.as_object_mut() {
        if let Some(name) = source.file_name() {
            members.insert("fileName".to_owned(), json!(name));
        }
        match std::str::from_utf8(&source.bytes) {
            Ok(text) => members.insert("content".to_owned(), json!(text)),
            Err(_) => members.insert("contentBase64".to_owned(), json!(STANDARD.encode(&source.bytes))),
        };
    }
    let mut shown = client.post("/api/workflows/transform/preview", &json!({ "source": given })).await?;
    let mut definition = shown.get_mut("definition").map(Value::take).unwrap_or_default();
    let import = shown.get_mut("import").map(Value::take).unwrap_or_default();
    let runs = import.get("executable").cloned().unwrap_or_default();
    if let (true, Some(members)) = (source.kind != Kind::Json, definition.as_object_mut()) {
        members.insert("imports".to_owned(), json!([import]));
    }
    if let Some(members) = shown.as_object_mut() {
        members.insert("executable".to_owned(), runs);
    }
    let findings = Findings::of(&shown, &definition);
    Ok((definition, findings))
}

/// A model with the decisions that it asks for.
async fn with_decisions(
    client: &Client,
    model: Previewed,
    decisions: &[Previewed],
    taken: &mut BTreeSet<usize>,
) -> Unit {
    let Previewed { source, definition, findings } = model;
    let stem = source.stem();
    let mut unit = Unit {
        files: vec![source.path],
        stem,
        definition,
        only_decisions: false,
        findings,
        notes: Vec::new(),
    };
    let asked = asked(&unit.definition);
    let has_own = unit.definition.get("dmn").is_some_and(|dmn| !dmn.is_null());
    let answers = |one: &Previewed| offered(&one.definition).intersection(&asked).count();
    let best = decisions.iter().enumerate().max_by_key(|(at, one)| (answers(one), std::cmp::Reverse(*at)));
    let Some((at, best)) = best.filter(|(_, one)| !has_own && answers(one) > 0) else { return unit };
    let found = offered(&best.definition);
    for (other, one) in decisions.iter().enumerate().filter(|(other, _)| *other != at) {
        let more: Vec<_> = offered(&one.definition)
            .intersection(&asked)
            .filter(|name| !found.contains(*name))
            .cloned()
            .collect();
        if !more.is_empty() && !closure(best, decisions).contains(&other) {
            unit.notes.push(format!(
                "`{}` has {} too, but a workflow has one decision model: have `{}` import it",
                one.source.path.display(),
                more.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
                best.source.path.display(),
            ));
        }
    }
    taken.insert(at);
    unit.files.push(best.source.path.clone());
    attach(&mut unit, best, decisions, taken);
    again(client, &mut unit).await;
    unit
}

/// Decisions that no model asks for: they are processes of their own.
async fn of_decisions(client: &Client, one: &Previewed, decisions: &[Previewed]) -> Unit {
    let mut unit = Unit {
        files: vec![one.source.path.clone()],
        stem: one.source.stem(),
        definition: one.definition.clone(),
        only_decisions: true,
        findings: Findings::of(&json!({ "diagnostics": one.findings.rows() }), &one.definition),
        notes: Vec::new(),
    };
    let mut with = BTreeSet::new();
    attach(&mut unit, one, decisions, &mut with);
    if !with.is_empty() {
        again(client, &mut unit).await;
    }
    unit
}

/// Puts a decision model into a definition, with the documents that it imports.
fn attach(unit: &mut Unit, one: &Previewed, decisions: &[Previewed], taken: &mut BTreeSet<usize>) {
    let mut dmn = one.definition.get("dmn").cloned().unwrap_or_default();
    let mut documents = Vec::new();
    for at in closure(one, decisions) {
        let Some(other) = decisions.get(at) else { continue };
        taken.insert(at);
        unit.files.push(other.source.path.clone());
        documents.push(json!({
            "fileName": other.source.file_name().unwrap_or_default(),
            "namespace": text(&other.definition, "/dmn/namespace"),
            "sourceXml": text(&other.definition, "/dmn/sourceXml"),
        }));
    }
    if let (false, Some(members)) = (documents.is_empty(), dmn.as_object_mut()) {
        members.insert("importedDocuments".to_owned(), json!(documents));
    }
    if let Some(members) = unit.definition.as_object_mut() {
        members.insert("dmn".to_owned(), dmn);
    }
}

/// Looks at a definition again, now that it has its decisions.
async fn again(client: &Client, unit: &mut Unit) {
    let content = unit.definition.to_string();
    let body = json!({ "source": { "format": "json", "content": content } });
    // What the preview would say is said by validation as well; a refusal comes again when it is stored.
    let Ok(shown) = client.post("/api/workflows/transform/preview", &body).await else { return };
    unit.findings.retain(|one| !matches!(text(one, "/code"), "unknownDecision" | "unknownImport"));
    unit.findings.add(&shown);
}

/// Decisions that the nodes of a definition ask for, by id or name; what an expression gives is not known.
fn asked(definition: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    add_asked(definition, &mut found);
    found
}

fn add_asked(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            let name = members.get("configuration").and_then(|settings| settings.get("decisionRef"));
            let name = name.and_then(Value::as_str).map(str::trim);
            found.extend(name.filter(|name| !name.starts_with('=')).map(str::to_owned));
            members.values().for_each(|inner| add_asked(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| add_asked(inner, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Decisions and services of a model, by id and name.
fn offered(definition: &Value) -> BTreeSet<String> {
    let elements = definition.pointer("/dmn/elements").and_then(Value::as_array).into_iter().flatten();
    let callable = elements.filter(|one| matches!(text(one, "/type"), "" | "decision" | "decisionService"));
    let names = callable.flat_map(|one| [text(one, "/id").to_owned(), text(one, "/name").to_owned()]);
    names.filter(|name| !name.is_empty()).collect()
}

/// Positions of the models that a model imports, and of those that these import.
fn closure(one: &Previewed, decisions: &[Previewed]) -> BTreeSet<usize> {
    let own = text(&one.definition, "/dmn/namespace");
    let mut found = BTreeSet::new();
    let mut open = imports(one);
    while let Some(namespace) = open.pop() {
        let at = decisions.iter().position(|other| text(&other.definition, "/dmn/namespace") == namespace);
        if let Some((at, other)) = at.and_then(|at| Some((at, decisions.get(at)?)))
            && namespace != own
            && found.insert(at)
        {
            open.extend(imports(other));
        }
    }
    found
}

/// Namespaces that a model imports.
fn imports(one: &Previewed) -> Vec<String> {
    let Ok(read) = xml::read(&one.source.bytes) else { return Vec::new() };
    read.model.imports.into_iter().filter_map(|import| import.namespace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_asks_for_decisions_by_id_or_name_at_any_depth() {
        let definition = json!({ "nodes": [
            { "id": "a", "configuration": { "decisionRef": "assign" } },
            { "id": "s", "bpmn": { "subProcess": { "nodes": [{ "configuration": { "decisionRef": " Fee " } }] } } },
            { "id": "x", "configuration": { "decisionRef": "=which" } },
        ] });
        assert_eq!(asked(&definition), BTreeSet::from(["assign".to_owned(), "Fee".to_owned()]));
        let model = json!({ "dmn": { "elements": [
            { "id": "d1", "name": "Fee", "type": "decision" }, { "id": "i1", "name": "order", "type": "inputData" },
        ] } });
        assert_eq!(offered(&model), BTreeSet::from(["d1".to_owned(), "Fee".to_owned()]));
    }
}
