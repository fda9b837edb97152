//! The members of a definition: each changes what validation says, what the exports write, or what is read of its decision
//! model. `definitions.jsonl` has the definitions, one a line; a member is taken out of one that has it.

use std::collections::{BTreeMap, BTreeSet};

use heddle_api::openapi::contract_json;
use heddle_testkit::db::TestDb;
use heddle_testkit::{Client, TestApp};
use serde_json::{Value, json};

const DEFINITIONS: &str = include_str!("definitions.jsonl");
const DEFINITION: &str = "WorkflowDefinitionRequest";

/// Schemas whose members are not counted among those of bodies: a definition's are counted here, and a decision model's
/// structure is the model itself, member for member (decisions.rs).
pub(super) const ROOTS: [&str; 2] = [DEFINITION, "SaveDecisionLogic"];

/// Members that are kept and given back as they were sent, and that nothing else reads.
const KEPT: [(&str, &[&str]); 16] = [
    // The report on an import is for people; the claim to its source is tried in files.rs.
    (DEFINITION, &["imports"]),
    ("Import", &["executable", "format", "items", "sourceFileName", "sourceSha256", "version"]),
    (
        "ImportItem",
        &[
            "configuration",
            "elementId",
            "elementType",
            "message",
            "name",
            "outcome",
            "sourceId",
            "sourceKind",
        ],
    ),
    // A summary of the decision model for who draws it; the model itself is `sourceXml`.
    ("Dmn", &["fileName", "namespace", "requirements", "sourceSha256", "version"]),
    ("DmnElement", &["name", "nodeId", "type", "typeRef", "variableName"]),
    ("DmnRequirement", &["id", "sourceRef", "targetRef", "type", "waypoints"]),
    ("DmnImportedDocument", &["sourceSha256"]),
    // Members for which the writer of BPMN has another source, or none.
    ("Artifact", &["position"]),
    ("Choreography", &["initiatingParticipantRef"]),
    ("DataAssociation", &["assignments"]),
    ("Diagram", &["labels", "orientation"]),
    ("DiagramLabel", &["id"]),
    (
        "EdgeBpmn",
        &[
            "assignments",
            "correlationKeyRefs",
            "elementType",
            "messageRef",
            "operationRef",
            "transformation",
            "waypoints",
        ],
    ),
    ("Lane", &["resources"]),
    ("Participant", &["partnerEntityRef", "partnerRoleRef"]),
    ("NodeBpmn", &["id", "isTransaction"]),
];

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
fn members(name: &str, all: &mut BTreeMap<String, BTreeSet<String>>) {
    if all.contains_key(name) {
        return;
    }
    all.insert(name.to_owned(), BTreeSet::new());
    let schema = &contract_json()["components"]["schemas"][name];
    for (member, own) in schema["properties"].as_object().into_iter().flatten() {
        all.get_mut(name).unwrap().insert(member.clone());
        referred(own, all);
    }
    referred(&json!({ "oneOf": schema["oneOf"], "allOf": schema["allOf"] }), all);
}

fn referred(schema: &Value, all: &mut BTreeMap<String, BTreeSet<String>>) {
    if let Some((name, _)) = schema_of(schema) {
        members(&name, all);
    }
    for part in ["items", "additionalProperties"] {
        if schema[part].is_object() {
            referred(&schema[part], all);
        }
    }
    for choices in ["oneOf", "anyOf", "allOf"] {
        schema[choices].as_array().into_iter().flatten().for_each(|choice| referred(choice, all));
    }
}

/// The places of members in a value: whose member it is, and the pointer to it.
fn places(value: &Value, schema: &Value, at: &str, found: &mut Vec<(Member, String)>) {
    let (owner, schema) = match schema_of(schema) {
        Some((name, named)) => (Some(name), named),
        None => (None, schema),
    };
    for choices in ["oneOf", "anyOf", "allOf"] {
        let choices = schema[choices].as_array().into_iter().flatten();
        choices.filter(|choice| choice["type"] != "null").for_each(|choice| places(value, choice, at, found));
    }
    match value {
        Value::Object(map) => {
            for (name, member) in map {
                let pointer = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                let own = &schema["properties"][name.as_str()];
                if own.is_null() {
                    if schema["additionalProperties"].is_object() {
                        places(member, &schema["additionalProperties"], &pointer, found);
                    }
                    continue;
                }
                if let Some(owner) = &owner {
                    found.push(((owner.clone(), name.clone()), pointer.clone()));
                }
                places(member, own, &pointer, found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, &schema["items"], &format!("{at}/{index}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn without(definition: &Value, pointer: &str) -> Value {
    let mut other = definition.clone();
    let (around, name) = pointer.rsplit_once('/').unwrap();
    let name = name.replace("~1", "/").replace("~0", "~");
    other.pointer_mut(around).unwrap().as_object_mut().unwrap().remove(&name);
    other
}

/// Outcome of a definition: the findings, the BPMN that it becomes, and its decision model.
async fn outcome(client: &Client, workflow: &str, definition: &Value) -> Vec<String> {
    let source = json!({ "format": "json", "content": definition.to_string() });
    let preview = json!({ "source": source, "target": "bpmn" });
    let written = client.post("/api/workflows/transform/preview", preview).await;
    let path = format!("/api/workflows/{workflow}");
    let validated = client.post(&format!("{path}/validate"), json!({ "definition": definition })).await;
    let mut seen = Vec::new();
    for answer in [written, validated] {
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
    seen
}

/// One database is enough: a definition is judged in memory.
#[tokio::test]
async fn each_member_of_a_definition_changes_what_becomes_of_it() {
    let db = TestDb::sqlite().await;
    let mut app = TestApp::start(&db).await;
    let workflow = app.admin.create("members", json!({ "nodes": [] })).await;
    let mut named = BTreeMap::new();
    members(DEFINITION, &mut named);
    let named: BTreeSet<Member> = named
        .into_iter()
        .flat_map(|(owner, names)| names.into_iter().map(move |name| (owner.clone(), name)))
        .collect();
    let mut works = BTreeSet::new();
    let root = json!({ "$ref": format!("#/components/schemas/{DEFINITION}") });
    for line in DEFINITIONS.lines() {
        let definition: Value = serde_json::from_str(line).unwrap();
        let mut found = Vec::new();
        places(&definition, &root, "", &mut found);
        found.retain(|(member, _)| !works.contains(member));
        if found.is_empty() {
            continue;
        }
        let base = outcome(&app.admin, &workflow, &definition).await;
        let mut tries: BTreeMap<Member, usize> = BTreeMap::new();
        for (member, pointer) in found {
            let tried = tries.entry(member.clone()).or_default();
            if works.contains(&member) || *tried >= 3 {
                continue;
            }
            *tried += 1;
            if outcome(&app.admin, &workflow, &without(&definition, &pointer)).await != base {
                works.insert(member);
            }
        }
    }
    app.stop().await;
    let kept = KEPT.iter().flat_map(|(owner, names)| names.iter().map(move |name| (*owner, *name)));
    let listed: BTreeSet<Member> =
        kept.chain(TOLD_OTHERWISE).map(|(owner, name)| (owner.to_owned(), name.to_owned())).collect();
    let idle: BTreeSet<Member> = named.difference(&works).cloned().collect();
    let unlisted: Vec<_> = idle.difference(&listed).collect();
    let left_over: Vec<_> = listed.difference(&idle).collect();
    assert!(unlisted.is_empty(), "without effect in definitions.jsonl: {unlisted:#?}");
    assert!(left_over.is_empty(), "listed as kept, and works or is gone: {left_over:#?}");
}
