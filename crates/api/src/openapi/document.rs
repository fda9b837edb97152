//! A whole document.

#![expect(clippy::indexing_slicing, reason = "members of JSON: an absent one reads as null")]

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::operation::LIFECYCLE;
use super::{Shape, components, operation, operations_of};
use crate::decode::schema::{Components, SCHEMAS};
use crate::operations::{Document, OperationId, source_digest};

/// An operation, its status, and which path parameters stand where in its answer.
type Source = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Operations whose answers give the ids that stand in paths.
const SOURCES: &[Source] = &[
    ("postapiWorkflows", "201", &[("workflowId", "/data/id")]),
    ("postapiWorkflowsWorkflowIdRuns", "201", &[("workflowId", "/data/workflowId"), ("runId", "/data/id")]),
    ("postapiAuthTokens", "201", &[("tokenId", "/data/record/id")]),
    ("getapiAuthSessions", "200", &[("sessionId", "/data/0/id")]),
    ("postapiOrganizations", "201", &[("organizationId", "/data/id")]),
    ("postapiUsers", "201", &[("userId", "/data/id")]),
    ("postapiRoles", "201", &[("roleId", "/data/id")]),
    ("postapiGrants", "201", &[("grantId", "/data/id")]),
    ("getapiJobs", "200", &[("jobId", "/data/0/id")]),
    ("getapiDeadLetters", "200", &[("deadLetterId", "/data/0/id")]),
    ("getapiHumanTasks", "200", &[("taskId", "/data/0/id")]),
    ("postapiModelProvidersConnections", "201", &[("connectionId", "/data/id")]),
    ("postapiModelProvidersConnectionsConnectionIdDeployments", "201", &[("deploymentId", "/data/id")]),
];

/// Builds a document from the table.
pub(crate) fn build(document: Document) -> Value {
    let mut schemas = Components::new();
    let mut paths = Map::new();
    let mut areas = BTreeSet::new();
    for id in operations_of(document) {
        let spec = id.spec();
        let shapes = id.visit(Shape);
        let operation = operation::build(spec, &shapes);
        schemas.extend(shapes.components);
        areas.insert(spec.area);
        let item = paths.entry(spec.path).or_insert_with(|| json!({}));
        item[spec.method.as_str().to_ascii_lowercase()] = operation;
    }
    let (title, description) = match document {
        Document::Contract => (
            "Heddle",
            "Workflows, runs, events and health. Nearly every operation needs a session (`POST /api/auth/sign-in` of the \
             platform's document) or an API token, as `Authorization: Bearer ...`.",
        ),
        Document::Platform => (
            "Heddle platform",
            "Set-up, sign-in, organisations, people, rights, the work list, the licence and the audit trail.",
        ),
        Document::Compatibility => (
            "Heddle for clients of other products",
            "What workers of Camunda 7 and Camunda 8 and clients of OpenAI call, in their shapes. Give the clients the address \
             of this service (those of OpenAI with `/v1` behind it) and an API token: as bearer token, to workers also as \
             password with any user name.",
        ),
    };
    let tags: Vec<_> =
        areas.iter().map(|area| json!({"name": area.as_str(), "description": area.description()})).collect();
    let mut whole = json!({
        "openapi": "3.2.0",
        "info": {"title": title, "description": description, "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "Proprietary"}},
        "servers": [{"url": "/"}],
        "tags": tags,
        "paths": paths,
        "components": components::build(document, schemas),
        "x-source-digest": source_digest(),
    });
    add_links(document, &mut whole);
    keep_used(&mut whole);
    label_fields(&mut whole["components"]["schemas"]);
    whole
}

/// Takes the schemas out that nothing refers to: those of types that are only a part of how another one is declared.
fn keep_used(whole: &mut Value) {
    let mut used = BTreeSet::new();
    let mut open = Vec::new();
    references(&whole["paths"], &mut open);
    references(&whole["components"]["responses"], &mut open);
    while let Some(name) = open.pop() {
        if used.insert(name.clone()) {
            references(&whole["components"]["schemas"][name.as_str()], &mut open);
        }
    }
    if let Some(schemas) = whole["components"]["schemas"].as_object_mut() {
        schemas.retain(|name, _| used.contains(name));
    }
}

/// Adds the names of the schemas that a part of the document refers to.
fn references(part: &Value, names: &mut Vec<String>) {
    match part {
        Value::Array(items) => items.iter().for_each(|item| references(item, names)),
        Value::Object(map) => {
            let name = map.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix(SCHEMAS));
            names.extend(name.map(str::to_owned));
            map.values().for_each(|value| references(value, names));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Links from what creates a thing to what takes its id.
fn add_links(document: Document, whole: &mut Value) {
    for (source, status, given) in SOURCES {
        let Some(source) = OperationId::find(source).filter(|id| id.spec().document == document) else {
            continue;
        };
        let mut links = Map::new();
        for target in operations_of(document).filter(|target| *target != source) {
            let target = target.spec();
            let mut parameters = Map::new();
            for name in target.path_parameters() {
                if let Some((_, pointer)) = given.iter().find(|(known, _)| *known == name) {
                    parameters.insert(format!("path.{name}"), format!("$response.body#{pointer}").into());
                }
            }
            let wanted = target.path_parameters().count();
            if wanted > 0 && parameters.len() == wanted {
                let link = json!({"operationId": target.operation_id, "parameters": parameters});
                links.insert(target.operation_id.to_owned(), link);
            }
        }
        let spec = source.spec();
        let method = spec.method.as_str().to_ascii_lowercase();
        whole["paths"][spec.path][method]["responses"][*status]["links"] = Value::Object(links);
    }
}

/// Puts the lifecycle label on every field.
fn label_fields(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(label_fields),
        Value::Object(map) => {
            if let Some(Value::Object(fields)) = map.get_mut("properties") {
                for field in fields.values_mut().filter_map(Value::as_object_mut) {
                    field.insert("x-lifecycle".to_owned(), LIFECYCLE.into());
                }
            }
            let inner = map
                .iter_mut()
                .filter(|(name, _)| !matches!(name.as_str(), "examples" | "example" | "default"));
            inner.for_each(|(_, value)| label_fields(value));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
