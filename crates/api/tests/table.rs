//! The table of operations against the contract, and the documents against themselves.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of a test program may fail loudly")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use heddle_api::openapi::{
    compatibility_document, compatibility_json, contract_document, contract_json, platform_document,
    platform_json,
};
use heddle_api::operations::{Document, OperationId, OperationSpec, OutputKind, Security};
use heddle_policy::Permission;
use serde_json::Value;

/// The contract's folder, or none where it is not at hand.
fn contract() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/contract");
    let folder = std::env::var_os("HEDDLE_CONTRACT").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "the contract's folder is not at hand");
    println!("skipped: the contract's folder is not at hand");
    None
}

type Row = BTreeMap<String, String>;

fn rows(file: &str) -> Option<Vec<Row>> {
    let text = std::fs::read_to_string(contract()?.join(file)).unwrap();
    let mut lines = text.lines();
    let names: Vec<_> = lines.next().unwrap().split('\t').map(str::to_owned).collect();
    let row = |line: &str| names.iter().cloned().zip(line.split('\t').map(str::to_owned)).collect();
    Some(lines.filter(|line| !line.is_empty()).map(row).collect())
}

/// The operation id that the contract's rule gives to a method and path.
fn id_of(method: &str, path: &str) -> String {
    let mut id = method.to_ascii_lowercase();
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    for (at, word) in words.enumerate() {
        if at == 0 {
            id.push_str(word);
        } else {
            id.push_str(&word[..1].to_ascii_uppercase());
            id.push_str(&word[1..]);
        }
    }
    id
}

fn or_dash(text: Option<impl ToString>) -> String {
    text.map_or_else(|| "-".to_owned(), |text| text.to_string())
}

fn joined(permissions: &[Permission]) -> String {
    permissions.iter().map(|one| one.as_str()).collect::<Vec<_>>().join("|")
}

fn statuses(list: &[u16]) -> BTreeSet<u16> {
    list.iter().copied().collect()
}

fn listed(text: &str) -> BTreeSet<u16> {
    text.split(',').map(|status| status.parse().unwrap()).collect()
}

fn hold_shared_columns(spec: &OperationSpec, row: &Row) {
    let id = spec.operation_id;
    assert_eq!(spec.method.as_str(), row["method"], "{id}");
    assert_eq!(spec.path, row["path"], "{id}");
    assert_eq!(spec.area.as_str(), row["area"], "{id}");
    assert_eq!(or_dash(spec.resource_action), row["resource_action"], "{id}");
    assert_eq!(or_dash(spec.audit_event), row["audit_event"], "{id}");
    assert_eq!(if spec.idempotent { "yes" } else { "no" }, row["idempotent"], "{id}");
    assert_eq!(statuses(spec.success), listed(&row["success"]), "{id}");
    assert_eq!(statuses(spec.errors), listed(&row["errors"]), "{id}");
    let permissions = match spec.security {
        Security::Public if spec.document == Document::Contract => "-".to_owned(),
        Security::Public if row["permissions_any_of"] == "-" => "-".to_owned(),
        Security::Public => "public".to_owned(),
        Security::Session => "session".to_owned(),
        Security::Permissions(permissions) => joined(permissions),
    };
    assert_eq!(permissions, row["permissions_any_of"], "{id}");
}

#[test]
fn the_table_is_the_contract() {
    let (Some(contract), Some(mut platform)) = (rows("operations.tsv"), rows("platform-operations.tsv"))
    else {
        return;
    };
    assert_eq!(contract.len(), 96);
    let compatibility = rows("compatibility-operations.tsv").unwrap();
    let own = platform.len();
    platform.extend(compatibility);
    let mut missing = Vec::new();
    let mut known = BTreeSet::new();
    for row in &contract {
        let Some(operation) = OperationId::find(&row["operation_id"]) else {
            missing.push(row["operation_id"].clone());
            continue;
        };
        let spec = operation.spec();
        assert_eq!(spec.document, Document::Contract);
        hold_shared_columns(spec, row);
        assert_eq!(spec.stability.as_str(), row["stability"]);
        assert_eq!(or_dash(spec.entitlement.map(|one| one.as_str())), row["entitlement"]);
        assert_eq!(or_dash(spec.service_role.map(|one| one.as_str())), row["service_role"]);
        known.insert(operation);
    }
    for (at, row) in platform.iter().enumerate() {
        let id = id_of(&row["method"], &row["path"]);
        let Some(operation) = OperationId::find(&id) else {
            missing.push(id);
            continue;
        };
        // What other products' clients call stands in a document of its own.
        let document = if at < own { Document::Platform } else { Document::Compatibility };
        assert_eq!(operation.spec().document, document);
        hold_shared_columns(operation.spec(), row);
        known.insert(operation);
    }
    let more = OperationId::ALL.iter().filter(|id| !known.contains(id));
    let mut more: Vec<_> = more.map(|id| id.spec().operation_id).collect();
    more.sort_unstable();
    let beside: Vec<_> = include_str!("beside.txt").lines().collect();
    assert_eq!(more, beside, "beside.txt lists the rows that the contract doesn't have");
    missing.sort();
    let to_come: Vec<_> = include_str!("to-come.txt").lines().collect();
    assert_eq!(missing, to_come, "to-come.txt lists the rows that are missing; it may only shrink");
}

#[test]
fn rows_hold_together() {
    let mut ids = BTreeSet::new();
    let mut routes = BTreeSet::new();
    for id in OperationId::ALL {
        let spec = id.spec();
        assert!(
            ids.insert(spec.operation_id) && routes.insert((spec.method, spec.path)),
            "{id:?} stands twice"
        );
        assert_eq!(spec.operation_id, id_of(spec.method.as_str(), spec.path));
        let names_id = spec.errors.contains(&404);
        let has_path = spec.path_parameters().next().is_some();
        assert!(names_id || !has_path, "{id:?} has a path parameter and no 404");
        let needs_sign_in = spec.security != Security::Public;
        assert!(!needs_sign_in || spec.errors.contains(&401) || spec.path == "/metrics", "{id:?}");
        assert_eq!(spec.entitlement.is_some(), spec.service_role.is_some(), "{id:?}");
        assert!(spec.entitlement.is_none() || spec.errors.contains(&402), "{id:?}");
        assert!(
            spec.remediation || spec.errors.contains(&423),
            "{id:?} is closed in remediation and tells no 423"
        );
        assert!(
            !spec.remediation || !spec.errors.contains(&423),
            "{id:?} is open in remediation and tells 423"
        );
        assert!(!spec.if_match || spec.errors.contains(&409), "{id:?}");
        let is_bare = matches!(spec.success, [204] | [302]);
        assert_eq!(spec.output == OutputKind::None, is_bare, "{id:?}");
    }
}

/// What the table is, for people to see a change of it.
#[test]
fn list_of_operations() {
    let mut text = String::new();
    for id in OperationId::ALL {
        let spec = id.spec();
        let who = match spec.security {
            Security::Public => "public".to_owned(),
            Security::Session => "session".to_owned(),
            Security::Permissions(permissions) => joined(permissions),
        };
        let columns = [
            format!("{:6} {}", spec.method.as_str(), spec.path),
            who,
            or_dash(spec.resource_action),
            or_dash(spec.entitlement.map(|one| one.as_str())),
            or_dash(spec.audit_event),
            format!("{:?} {:?}", spec.body, spec.output),
            format!("{:?} {:?}", spec.success, spec.errors),
        ];
        text.push_str(&columns.join("; "));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

fn documents() -> [&'static Value; 3] {
    [contract_json(), platform_json(), compatibility_json()]
}

fn document_of(spec: &OperationSpec) -> &'static Value {
    match spec.document {
        Document::Contract => contract_json(),
        Document::Platform => platform_json(),
        Document::Compatibility => compatibility_json(),
    }
}

fn each_reference(value: &Value, seen: &mut impl FnMut(&str)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| each_reference(item, seen)),
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get("$ref") {
                seen(reference);
            }
            map.values().for_each(|member| each_reference(member, seen));
        }
        _ => {}
    }
}

#[test]
fn documents_are_openapi_3_2_and_closed() {
    for (document, typed) in [
        (contract_json(), contract_document()),
        (platform_json(), platform_document()),
        (compatibility_json(), compatibility_document()),
    ] {
        assert_eq!(document["openapi"], "3.2.0");
        let typed = typed.unwrap();
        assert!(typed.openapi == utoipa::openapi::OpenApiVersion::Version32);
        assert_eq!(typed.paths.paths.len(), document["paths"].as_object().unwrap().len());
        each_reference(document, &mut |reference| {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
        });
        assert_eq!(document["x-source-digest"].as_str().unwrap().len(), 64);
    }
}

#[test]
fn every_operation_stands_in_its_document_with_every_status() {
    for id in OperationId::ALL {
        let spec = id.spec();
        let document = document_of(spec);
        let operation = &document["paths"][spec.path][spec.method.as_str().to_ascii_lowercase()];
        assert_eq!(operation["operationId"], spec.operation_id);
        let told: BTreeSet<u16> = operation["responses"]
            .as_object()
            .unwrap()
            .keys()
            .map(|status| status.parse().unwrap())
            .collect();
        let mut expected = statuses(spec.success);
        expected.extend(spec.errors.iter().chain(&[405, 406, 413, 415, 429]));
        assert_eq!(told, expected, "{id:?}");
        let parameters = operation["parameters"].as_array().unwrap();
        let in_path = parameters.iter().filter(|parameter| parameter["in"] == "path").count();
        assert_eq!(in_path, spec.path_parameters().count(), "{id:?}");
        assert_eq!(operation["x-history"][0]["release"], "Next Product release");
    }
    let count = |document: &Value| -> usize {
        document["paths"].as_object().unwrap().values().map(|item| item.as_object().unwrap().len()).sum()
    };
    assert_eq!(documents().map(count).iter().sum::<usize>(), OperationId::ALL.len());
}

#[test]
fn every_example_satisfies_its_schema() {
    let mut examples = 0;
    for document in documents() {
        for item in document["paths"].as_object().unwrap().values() {
            for operation in item.as_object().unwrap().values() {
                let body = &operation["requestBody"]["content"]["application/json"];
                if body.is_null() {
                    continue;
                }
                let example = &body["examples"]["small"]["value"];
                assert!(example.is_object(), "{} has no example", operation["operationId"]);
                let mut root = body["schema"].clone();
                root["components"] = document["components"].clone();
                let validator = jsonschema::validator_for(&root).unwrap();
                let problems: Vec<_> =
                    validator.iter_errors(example).map(|error| error.to_string()).collect();
                assert!(problems.is_empty(), "{}: {problems:?}", operation["operationId"]);
                examples += 1;
            }
        }
    }
    assert!(examples > 20);
}

#[test]
fn parameters_are_never_null() {
    for document in documents() {
        for item in document["paths"].as_object().unwrap().values() {
            for operation in item.as_object().unwrap().values() {
                for parameter in operation["parameters"].as_array().unwrap() {
                    let schema = parameter.get("schema").map(Value::to_string).unwrap_or_default();
                    assert!(!schema.contains("null"), "{parameter}");
                }
            }
        }
    }
}

#[test]
fn every_schema_compiles() {
    for id in OperationId::ALL {
        id.prepare().unwrap();
    }
}

/// The guide to the definition has every member of every type of the document, and no other.
#[test]
fn the_definition_guide_has_every_member() {
    let guide =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/definition.md")).unwrap();
    let mut described: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut section = "";
    for line in guide.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            section = name;
        } else if let Some(rest) = line.strip_prefix("| `") {
            let member = rest.split('`').next().unwrap();
            described.entry(section).or_default().insert(member);
        }
    }
    let document = contract_json();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let (mut open, mut seen) = (vec!["WorkflowDefinitionRequest".to_owned()], BTreeSet::new());
    while let Some(name) = open.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let schema = &schemas[&name];
        let members: BTreeSet<&str> =
            schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(described.get(name.as_str()), Some(&members), "{name}");
        let text = schema.to_string();
        let mark = "#/components/schemas/";
        open.extend(text.match_indices(mark).map(|(at, _)| {
            let rest = &text[at + mark.len()..];
            rest[..rest.find('"').unwrap()].to_owned()
        }));
    }
    let others: Vec<_> = described.keys().filter(|name| !seen.contains(**name)).collect();
    assert!(others.is_empty(), "{others:?}");
}
