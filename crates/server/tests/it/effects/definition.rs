//! The members of a definition, of a case definition and of a decision model: each changes what validation says, what the
//! exports write, what is found again of an import, or what is read of the decision model. `definitions.jsonl`,
//! `cases.jsonl` and `logic.jsonl` have examples, one a line; a member is taken out of one that has it.

use std::collections::{BTreeMap, BTreeSet};

use heddle_api::openapi::contract_json;
use heddle_testkit::db::TestDb;
use heddle_testkit::{Client, TestApp};
use serde_json::{Value, json};

const DEFINITIONS: &str = include_str!("definitions.jsonl");
const DEFINITION: &str = "WorkflowDefinitionRequest";
const CASES: &str = include_str!("cases.jsonl");
const CASE: &str = "CaseDefinitionRequest";
/// A file with everything that CMMN has.
const EVERYTHING: &str = include_str!("../../../../cmmn/tests/it/everything.cmmn");
const MODELS: &str = include_str!("logic.jsonl");
const MODEL: &str = "SaveDecisionLogic";
/// Source of the import that an example claims, by its hash.
const SOURCE: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="kept" targetNamespace="urn:kept"><process id="p" isExecutable="true"><startEvent id="s"/></process></definitions>"#;

/// Schemas whose members are not counted among those of bodies, but here.
pub(super) const ROOTS: [&str; 3] = [DEFINITION, MODEL, CASE];

/// Members that are kept and given back as they were sent, and that nothing else reads.
const KEPT: [(&str, &[&str]); 11] = [
    // The report on an import is for people; the import's hash alone claims its source.
    ("Import", &["executable", "format", "items", "sourceFileName", "version"]),
    ("ImportItem", REPORTED),
    // Members of a summary of the decision model for who draws it: the model says them otherwise.
    ("Dmn", &["fileName", "sourceSha256", "version"]),
    ("DmnElement", &["nodeId"]),
    ("DmnImportedDocument", &["sourceSha256"]),
    // Members for which the writer of BPMN has another source, or none.
    ("Artifact", &["position"]),
    ("Choreography", &["initiatingParticipantRef"]),
    ("Diagram", &["labels", "orientation"]),
    ("DiagramLabel", &["id"]),
    (
        "EdgeBpmn",
        &["assignments", "correlationKeyRefs", "messageRef", "operationRef", "transformation", "waypoints"],
    ),
    ("Participant", &["partnerEntityRef", "partnerRoleRef"]),
];

/// The same of a case definition: the report on an import.
const KEPT_OF_CASES: [(&str, &[&str]); 3] = [
    (CASE, &["imports"]),
    ("CaseImport", &["format", "items", "sourceFileName", "sourceSha256", "version"]),
    ("CaseImportItem", REPORTED),
];

/// Members of an item of a report.
const REPORTED: &[&str] =
    &["configuration", "elementId", "elementType", "message", "name", "outcome", "sourceId", "sourceKind"];

/// Members of which a definition says the same without them: the default is what they say.
const TOLD_OTHERWISE: [(&str, &str); 2] =
    [("Edge", "type"), ("EventDefinition", "waitForCompletionSpecified")];

/// A member of a schema.
type Member = (String, String);

fn schema_of(reference: &Value) -> Option<(String, &'static Value)> {
    let name = reference["$ref"].as_str()?.rsplit('/').next()?;
    Some((name.to_owned(), &contract_json()["components"]["schemas"][name]))
}

/// The members of a schema and of all that it refers to.
fn members(name: &str, all: &mut BTreeSet<Member>, seen: &mut BTreeSet<String>) {
    if seen.insert(name.to_owned()) {
        members_of(name, &contract_json()["components"]["schemas"][name], all, seen);
    }
}

fn members_of(owner: &str, schema: &Value, all: &mut BTreeSet<Member>, seen: &mut BTreeSet<String>) {
    if let Some((name, _)) = schema_of(schema) {
        return members(&name, all, seen);
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        all.insert((owner.to_owned(), name.clone()));
        referred(member, all, seen);
    }
    for choices in ["oneOf", "anyOf", "allOf"] {
        for choice in schema[choices].as_array().into_iter().flatten() {
            members_of(owner, choice, all, seen);
        }
    }
}

/// The members of what the schema of a member refers to.
fn referred(schema: &Value, all: &mut BTreeSet<Member>, seen: &mut BTreeSet<String>) {
    if let Some((name, _)) = schema_of(schema) {
        members(&name, all, seen);
    }
    for part in ["items", "additionalProperties"] {
        if schema[part].is_object() {
            referred(&schema[part], all, seen);
        }
    }
    for choices in ["oneOf", "anyOf", "allOf"] {
        for choice in schema[choices].as_array().into_iter().flatten() {
            referred(choice, all, seen);
        }
    }
}

/// The places of members in a value: whose member it is, and the pointer to it.
fn places(value: &Value, owner: Option<&str>, schema: &Value, at: &str, found: &mut Vec<(Member, String)>) {
    if let Some((name, named)) = schema_of(schema) {
        return places(value, Some(&name), named, at, found);
    }
    for choices in ["oneOf", "anyOf", "allOf"] {
        let choices = schema[choices].as_array().into_iter().flatten();
        for choice in choices.filter(|choice| choice["type"] != "null" && fits(value, choice)) {
            places(value, owner, choice, at, found);
        }
    }
    match value {
        Value::Object(map) => {
            for (name, member) in map {
                let pointer = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                let own = &schema["properties"][name.as_str()];
                if own.is_null() {
                    if schema["additionalProperties"].is_object() {
                        places(member, None, &schema["additionalProperties"], &pointer, found);
                    }
                    continue;
                }
                if let Some(owner) = owner {
                    found.push(((owner.to_owned(), name.clone()), pointer.clone()));
                }
                places(member, None, own, &pointer, found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, None, &schema["items"], &format!("{at}/{index}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether a value is of a choice, as its own word for the kind says.
fn fits(value: &Value, choice: &Value) -> bool {
    match choice["properties"]["type"]["enum"].as_array() {
        Some(words) => words.contains(&value["type"]),
        None => true,
    }
}

fn without(definition: &Value, pointer: &str) -> Value {
    let mut other = definition.clone();
    let (around, name) = pointer.rsplit_once('/').unwrap();
    let name = name.replace("~1", "/").replace("~0", "~");
    other.pointer_mut(around).unwrap().as_object_mut().unwrap().remove(&name);
    other
}

/// Outcome of a definition: the findings, the BPMN and BPEL that it becomes, its decision model, and the source that it
/// claims.
async fn of_definition(client: &Client, workflow: &str, definition: &Value) -> Vec<String> {
    let source = json!({ "format": "json", "content": definition.to_string() });
    let path = format!("/api/workflows/{workflow}");
    let mut answers = Vec::new();
    for target in ["bpmn", "bpel"] {
        let preview = json!({ "source": source, "target": target });
        answers.push(client.post("/api/workflows/transform/preview", preview).await);
    }
    answers.push(client.post(&format!("{path}/validate"), json!({ "definition": definition })).await);
    let mut seen = Vec::new();
    for answer in answers {
        let json = answer.json();
        let (data, error) = (&json["data"], &json["error"]["details"]);
        seen.extend([data["content"].to_string(), data["diagnostics"].to_string(), error.to_string()]);
    }
    if definition["dmn"].is_object() {
        let saved = client.put(&format!("{path}/draft"), json!({ "definition": definition })).await;
        let mut logic = client.get(&format!("{path}/dmn/logic")).await.json();
        for revision in ["revision", "draftRevision"] {
            logic["data"][revision].take();
        }
        let exported = client.get(&format!("{path}/export/dmn")).await;
        let archive = client.get(&format!("{path}/export/dmn?format=zip")).await;
        seen.extend([saved.status.to_string(), logic["data"].to_string(), exported.text()]);
        seen.push(archive.bytes.len().to_string());
    }
    if definition["imports"].is_array() {
        let _ = client.preview("kept.bpmn", SOURCE).await;
        let slug = format!("claims-{}", uuid::Uuid::now_v7());
        let claims = client.create(&slug, definition.clone()).await;
        let found = client.get(&format!("/api/workflows/{claims}/import-source")).await;
        seen.push(found.status.to_string());
    }
    seen
}

/// Outcome of a case definition: the findings, and the CMMN that it becomes.
async fn of_case(client: &Client, case_type: &str, definition: &Value) -> Vec<String> {
    let (path, body) = (format!("/api/case-types/{case_type}"), json!({ "definition": definition }));
    let validated = client.post(&format!("{path}/validate"), body.clone()).await.json();
    let saved = client.put(&format!("{path}/draft"), body).await;
    let (found, refused) = (&validated["data"], &validated["error"]["details"]);
    let mut seen = vec![found.to_string(), refused.to_string(), saved.status.to_string()];
    if saved.status == 200 {
        let exported = client.get(&format!("{path}/export/cmmn")).await;
        seen.push(match exported.status {
            200 => exported.text(),
            refused => format!("{refused} {}", exported.json()["error"]["details"]),
        });
    }
    seen
}

/// Outcome of a decision model: what is wrong with it, and the DMN that it becomes.
async fn of_model(client: &Client, workflow: &str, model: &Value) -> Vec<String> {
    let path = format!("/api/workflows/{workflow}");
    // A model keeps name and namespace where they are not said: each begins from the same ones.
    let first = json!({ "decisions": [], "name": "First", "namespace": "urn:first" });
    let _ = client.put(&format!("{path}/dmn/logic"), first).await.expect(200);
    let saved = client.put(&format!("{path}/dmn/logic"), model.clone()).await;
    let json = saved.json();
    let exported = client.get(&format!("{path}/export/dmn")).await;
    let (found, refused) = (&json["data"]["diagnostics"], &json["error"]["details"]);
    vec![saved.status.to_string(), found.to_string(), refused.to_string(), exported.text()]
}

/// The members of a schema that change nothing wherever the examples have them.
async fn idle(
    root: &str,
    examples: &str,
    mut outcome: impl AsyncFnMut(&Value) -> Vec<String>,
) -> BTreeSet<Member> {
    let mut idle = BTreeSet::new();
    members(root, &mut idle, &mut BTreeSet::new());
    let schema = json!({ "$ref": format!("#/components/schemas/{root}") });
    for line in examples.lines() {
        let example: Value = serde_json::from_str(line).unwrap();
        let mut found = Vec::new();
        places(&example, None, &schema, "", &mut found);
        found.retain(|(member, _)| idle.contains(member));
        if found.is_empty() {
            continue;
        }
        let base = outcome(&example).await;
        let mut tries: BTreeMap<Member, usize> = BTreeMap::new();
        for (member, pointer) in found {
            let tried = tries.entry(member.clone()).or_default();
            *tried += 1;
            if idle.contains(&member) && *tried <= 4 && outcome(&without(&example, &pointer)).await != base {
                idle.remove(&member);
            }
        }
    }
    idle
}

/// Holds what changes nothing against what is listed as such.
fn assert_listed(idle: &BTreeSet<Member>, kept: &[(&str, &[&str])], told: &[(&str, &str)]) {
    let kept = kept.iter().flat_map(|(owner, names)| names.iter().map(move |name| (*owner, *name)));
    let all = kept.chain(told.iter().copied());
    let listed: BTreeSet<Member> = all.map(|(owner, name)| (owner.to_owned(), name.to_owned())).collect();
    let unlisted: Vec<_> = idle.difference(&listed).collect();
    let left_over: Vec<_> = listed.difference(idle).collect();
    assert!(unlisted.is_empty(), "without effect in the examples: {unlisted:#?}");
    assert!(left_over.is_empty(), "listed as kept, and works or is gone: {left_over:#?}");
}

/// One database is enough: a definition is judged in memory.
#[tokio::test]
async fn each_member_of_a_definition_changes_what_becomes_of_it() {
    let db = TestDb::sqlite().await;
    let mut app = TestApp::start(&db).await;
    let (admin, workflow) = (app.admin.clone(), app.admin.create("members", json!({ "nodes": [] })).await);
    let idle =
        idle(DEFINITION, DEFINITIONS, async |one: &Value| of_definition(&admin, &workflow, one).await).await;
    app.stop().await;
    assert_listed(&idle, &KEPT, &TOLD_OTHERWISE);
}

#[tokio::test]
async fn each_member_of_a_case_definition_changes_what_becomes_of_it() {
    let db = TestDb::sqlite().await;
    let mut app = TestApp::start(&db).await;
    let admin = app.admin.clone();
    let new = json!({ "slug": "members", "displayName": "Members", "description": "" });
    let case_type = admin.post("/api/case-types", new).await.expect(201).id();
    let source = json!({ "content": EVERYTHING, "fileName": "everything.cmmn" });
    let read = admin.post("/api/case-types/import/cmmn/preview", source).await.expect(200).data();
    let examples = format!("{}\n{CASES}", read["definition"]);
    let idle = idle(CASE, &examples, async |one: &Value| of_case(&admin, &case_type, one).await).await;
    app.stop().await;
    assert_listed(&idle, &KEPT_OF_CASES, &[]);
}

#[tokio::test]
async fn each_member_of_a_decision_model_changes_what_becomes_of_it() {
    let db = TestDb::sqlite().await;
    let mut app = TestApp::start(&db).await;
    let (admin, workflow) = (app.admin.clone(), app.admin.create("members", json!({ "nodes": [] })).await);
    let idle = idle(MODEL, MODELS, async |one: &Value| of_model(&admin, &workflow, one).await).await;
    app.stop().await;
    assert!(idle.is_empty(), "without effect in logic.jsonl: {idle:#?}");
}
