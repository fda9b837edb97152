//! The OpenAPI documents: what a client reads of each operation.

use std::collections::BTreeSet;

use heddle_api::Face;
use heddle_api::openapi::{compatibility_json, contract_json, platform_json};
use heddle_api::operations::{BodyMedia, Document, OperationId, OutputKind, Security, Selector};
use serde_json::{Value, json};

use crate::support::{described, document_of, header_parameters, resolved};

fn each_object(value: &Value, seen: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| each_object(item, seen)),
        Value::Object(map) => {
            seen(map);
            map.values().for_each(|member| each_object(member, seen));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn an_operation_says_who_may_call_it() {
    for id in OperationId::ALL {
        let (spec, told) = (id.spec(), described(id.spec()));
        let open = spec.security == Security::Public;
        let other = if spec.document == Document::Compatibility { "basic" } else { "cookie" };
        let expected = match spec.area.face() {
            _ if open => json!([]),
            // Its clients know a token alone.
            Face::OpenAi => json!([{ "bearer": [] }]),
            Face::Anthropic => json!([{ "bearer": [] }, { "apiKey": [] }]),
            Face::Own | Face::Camunda7 | Face::Camunda8 => json!([{ "bearer": [] }, { other: [] }]),
        };
        assert_eq!(told["security"], expected, "{id:?}");
        let permissions: Vec<_> = spec.permissions().iter().map(|one| one.as_str()).collect();
        assert_eq!(told["x-permissions"], json!(permissions), "{id:?}");
        let action = spec.resource_action.map(|action| action.to_string());
        assert_eq!(told["x-resource-action"].as_str().map(str::to_owned), action, "{id:?}");
        assert_eq!(told["x-audit-event"].as_str(), spec.audit_event, "{id:?}");
        assert_eq!(told["x-idempotent"], spec.idempotent, "{id:?}");
        assert!(["Stable", "Preview"].contains(&told["x-feature-state"].as_str().unwrap()), "{id:?}");
        assert!(
            !told["summary"].as_str().unwrap().is_empty() && told["tags"][0] == spec.area.as_str(),
            "{id:?}"
        );
    }
    for document in [contract_json(), platform_json()] {
        let schemes = &document["components"]["securitySchemes"];
        assert_eq!(
            (&schemes["bearer"]["scheme"], &schemes["cookie"]["in"]),
            (&json!("bearer"), &json!("cookie"))
        );
        assert_eq!(schemes["cookie"]["name"], "__Host-heddle-session");
    }
}

#[test]
fn an_operation_names_the_headers_that_it_reads() {
    for id in OperationId::ALL {
        let spec = id.spec();
        let names = header_parameters(spec);
        let reads = |name: &str| names.contains(&name);
        assert!(reads("RequestId"), "{id:?}");
        assert_eq!(reads("IdempotencyKey"), spec.accepts_idempotency_key(), "{id:?}");
        assert_eq!(reads("IfMatch"), spec.if_match, "{id:?}");
        assert_eq!(reads("LastEventId"), *id == OperationId::StreamRunEvents, "{id:?}");
        let guarded = matches!(spec.security, Security::Permissions(_));
        let in_organization = guarded && !matches!(spec.selector(), Selector::Tenant(_));
        assert_eq!(reads("OrganizationId"), in_organization, "{id:?}");
    }
    let headers: Vec<_> = ["RequestId", "OrganizationId", "IdempotencyKey", "IfMatch", "LastEventId"]
        .map(|name| contract_json()["components"]["parameters"][name]["name"].as_str().unwrap())
        .to_vec();
    assert_eq!(
        headers,
        ["x-request-id", "x-organization-id", "Idempotency-Key", "If-Match", "Last-Event-ID"]
    );
}

#[test]
fn an_operation_says_which_bodies_it_takes() {
    for id in OperationId::ALL {
        let (spec, told) = (id.spec(), &described(id.spec())["requestBody"]);
        if spec.body == BodyMedia::None {
            assert!(told.is_null(), "{id:?}");
            continue;
        }
        assert_eq!(told["required"], spec.body != BodyMedia::OptionalJson, "{id:?}");
        let content: BTreeSet<_> = told["content"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(content, spec.body.media_types().iter().copied().collect(), "{id:?}");
        let schema = resolved(document_of(spec), &told["content"]["application/json"]["schema"]);
        // What a service outside sends is its own, and what a model is asked may have members for its provider alone.
        let is_open = *id == OperationId::ReceiveHook || id.infers();
        let closed = if is_open { Value::Null } else { false.into() };
        assert_eq!(schema["additionalProperties"], closed, "{id:?}: unknown members are refused");
    }
}

#[test]
fn a_success_says_what_is_in_it() {
    for id in OperationId::ALL {
        let spec = id.spec();
        let response = &described(spec)["responses"][spec.success_status().to_string()];
        let content = &response["content"];
        let has = |header: &str| !response["headers"][header].is_null();
        assert!(has("x-request-id"), "{id:?}");
        // What an upload is taken for is told by the job that it names.
        let is_located = [201, 302].contains(&spec.success_status()) || *id == OperationId::UploadVectorFiles;
        assert_eq!(has("Location"), is_located, "{id:?}");
        assert_eq!(has("Idempotent-Replayed"), spec.accepts_idempotency_key(), "{id:?}");
        assert_eq!(has("Content-Disposition"), matches!(spec.output, OutputKind::Document(_)), "{id:?}");
        let json = &content["application/json"]["schema"];
        // The first of the forms in which models are listed is the service's own.
        let json = if *id == OperationId::ListModels { &json["anyOf"][0] } else { json };
        match spec.output {
            OutputKind::None => assert!(content.is_null(), "{id:?}"),
            OutputKind::Data | OutputKind::Document(_) => {
                assert_eq!(json["required"], json!(["data"]), "{id:?}")
            }
            OutputKind::List | OutputKind::ListOrLines => {
                assert_eq!(
                    (&json["required"], &json["properties"]["data"]["type"]),
                    (&json!(["data", "page"]), &json!("array")),
                    "{id:?}"
                );
                assert_eq!(json["properties"]["page"]["$ref"], "#/components/schemas/PageInfo");
            }
            OutputKind::Bare => assert!(json["$ref"].is_string(), "{id:?}"),
            OutputKind::BareList => assert_eq!(json["type"], "array", "{id:?}"),
            OutputKind::Raw(media) => assert!(!content[media].is_null(), "{id:?}"),
            OutputKind::EventStream => {
                assert!(!content["text/event-stream"]["itemSchema"].is_null(), "{id:?}")
            }
            OutputKind::DataOrStream => {
                assert_eq!(json["anyOf"][0]["required"], json!(["data"]), "{id:?}");
                assert!(!content["text/event-stream"]["itemSchema"].is_null(), "{id:?}");
            }
            OutputKind::BareOrStream => {
                assert!(json["$ref"].is_string(), "{id:?}");
                assert!(!content["text/event-stream"]["itemSchema"].is_null(), "{id:?}");
            }
        }
        if let OutputKind::Document(media_types) = spec.output {
            assert!(media_types.iter().all(|media| !content[*media].is_null()), "{id:?}");
        }
        if spec.output == OutputKind::ListOrLines {
            assert!(!content["application/x-ndjson"]["itemSchema"].is_null(), "{id:?}");
        }
    }
}

#[test]
fn what_has_a_revision_is_answered_with_its_tag() {
    for id in OperationId::ALL {
        let spec = id.spec();
        if spec.output != OutputKind::Data {
            continue;
        }
        let response = &described(spec)["responses"][spec.success_status().to_string()];
        let data = resolved(
            document_of(spec),
            &response["content"]["application/json"]["schema"]["properties"]["data"],
        );
        let revised = !data["properties"]["revision"].is_null();
        assert_eq!(!response["headers"]["ETag"].is_null(), revised, "{id:?}");
    }
}

#[test]
fn a_failure_is_told_in_both_forms() {
    for document in [contract_json(), platform_json()] {
        for (name, response) in document["components"]["responses"].as_object().unwrap() {
            let content = &response["content"];
            assert_eq!(
                content["application/json"]["schema"]["$ref"], "#/components/schemas/APIError",
                "{name}"
            );
            assert_eq!(
                content["application/problem+json"]["schema"]["$ref"], "#/components/schemas/Problem",
                "{name}"
            );
            assert_eq!(response["headers"]["Retry-After"].is_null(), name != "RateLimited", "{name}");
        }
    }
    for id in OperationId::ALL {
        for (status, response) in described(id.spec())["responses"].as_object().unwrap() {
            let failed = status.as_str() >= "400";
            assert_eq!(response["$ref"].is_string(), failed, "{id:?} {status}");
        }
    }
}

#[test]
fn every_tag_is_described_and_every_component_is_used() {
    for document in [contract_json(), platform_json(), compatibility_json()] {
        let tags: BTreeSet<_> =
            document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect();
        let mut used_tags = BTreeSet::new();
        for item in document["paths"].as_object().unwrap().values() {
            for operation in item.as_object().unwrap().values() {
                used_tags.insert(operation["tags"][0].as_str().unwrap());
            }
        }
        assert_eq!(tags, used_tags);
        let mut used = BTreeSet::new();
        each_object(document, &mut |map| {
            if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
                used.insert(reference.to_owned());
            }
        });
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let unused: Vec<_> =
            schemas.keys().filter(|name| !used.contains(&format!("#/components/schemas/{name}"))).collect();
        assert!(unused.is_empty(), "{unused:?}");
    }
}

#[test]
fn every_field_of_every_schema_carries_its_lifecycle() {
    let mut fields = 0;
    for document in [contract_json(), platform_json(), compatibility_json()] {
        each_object(&document["components"]["schemas"], &mut |map| {
            for (name, field) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
                if field.is_object() && !map.contains_key("examples") {
                    assert_eq!(field["x-lifecycle"], "Next Product release", "{name}");
                    fields += 1;
                }
            }
        });
    }
    assert!(fields > 500, "{fields}");
}

#[test]
fn links_lead_from_what_is_made_to_what_takes_its_id() {
    let mut links = 0;
    for document in [contract_json(), platform_json()] {
        each_object(document, &mut |map| {
            for link in map.get("links").and_then(Value::as_object).into_iter().flat_map(|all| all.values()) {
                let target = OperationId::find(link["operationId"].as_str().unwrap()).unwrap().spec();
                let given: BTreeSet<_> = link["parameters"].as_object().unwrap().keys().cloned().collect();
                let needed = target.path_parameters().map(|name| format!("path.{name}")).collect();
                assert_eq!(given, needed, "{}", target.operation_id);
                links += 1;
            }
        });
    }
    assert!(links > 30, "{links}");
}

/// One operation of each kind, for people to see a change of what clients are told.
#[test]
fn operations_as_they_are_told() {
    for id in [
        OperationId::GetLiveness,
        OperationId::ListRuns,
        OperationId::CreateWorkflow,
        OperationId::SaveDraft,
        OperationId::DeleteWorkflow,
        OperationId::ExportDmn,
        OperationId::StreamRunEvents,
        OperationId::InstallLicence,
    ] {
        insta::assert_json_snapshot!(format!("operation_{id:?}"), described(id.spec()));
    }
}

/// Clients of other products read failures in the shapes of those products.
#[test]
fn a_failure_of_a_face_is_told_in_its_shape() {
    let document = compatibility_json();
    let responses = document["components"]["responses"].as_object().unwrap();
    assert_eq!(responses.len(), 56);
    for (name, response) in responses {
        let (media, schema) = if name.starts_with("Camunda7") {
            ("application/json", "#/components/schemas/Camunda7Error")
        } else if name.starts_with("OpenAi") {
            ("application/json", "#/components/schemas/OpenAiFailure")
        } else if name.starts_with("Anthropic") {
            ("application/json", "#/components/schemas/AnthropicFailure")
        } else {
            ("application/problem+json", "#/components/schemas/Camunda8Problem")
        };
        assert_eq!(response["content"][media]["schema"]["$ref"], schema, "{name}");
        let example = &response["content"][media]["examples"]["small"]["value"];
        if name.starts_with("OpenAi") || name.starts_with("Anthropic") {
            assert!(example["error"]["message"].is_string(), "{name}: {example}");
            continue;
        }
        assert!(example["type"].is_string() && example.get("code").is_none(), "{name}: {example}");
    }
    let schemes = document["components"]["securitySchemes"].as_object().unwrap();
    assert_eq!(schemes["basic"]["scheme"], "basic");
    assert_eq!(schemes["apiKey"]["name"], "x-api-key");
    assert_eq!(schemes.len(), 3);
}

#[test]
fn each_failure_has_an_example_of_its_own() {
    for document in [contract_json(), platform_json()] {
        let responses = document["components"]["responses"].as_object().unwrap();
        assert_eq!(responses.len(), 14);
        let mut codes = BTreeSet::new();
        for (name, response) in responses {
            let content = &response["content"];
            let body = &content["application/json"]["examples"]["small"]["value"]["error"];
            let problem = &content["application/problem+json"]["examples"]["small"]["value"];
            assert!(body["requestId"].is_string() && problem["status"].is_u64(), "{name}: {response}");
            assert_eq!(body["code"], problem["code"], "{name}");
            codes.insert(body["code"].as_str().unwrap().to_owned());
        }
        assert_eq!(codes.len(), responses.len(), "{codes:?}");
    }
}

#[test]
fn a_file_that_is_sent_as_such_has_an_example_of_its_kind() {
    for (id, language) in [
        (OperationId::ImportCaseType, "http://www.omg.org/spec/CMMN/"),
        (OperationId::PreviewCaseTypeImport, "http://www.omg.org/spec/CMMN/"),
        (OperationId::PreviewTransform, "http://www.omg.org/spec/BPMN/"),
    ] {
        let content = &described(id.spec())["requestBody"]["content"];
        for media in ["application/xml", "text/xml"] {
            let example = content[media]["examples"]["small"]["serializedValue"].as_str().unwrap();
            assert!(example.contains(language), "{id:?} {media}: {example}");
        }
    }
}

#[test]
fn the_guide_tells_of_every_type_of_event_and_of_no_other() {
    let guide = include_str!("../../../../docs/api-guide.md");
    let (_, told) = guide.split_once("Events are counted from 1 without a gap.").unwrap();
    let told = told.trim_start().lines().next().unwrap();
    // The sentences behind the list begin with a member of an event.
    let (list, _) = told.split_once(". `attempt`").unwrap();
    let told: BTreeSet<&str> = list.split('`').skip(1).step_by(2).collect();
    let types = contract_json().pointer("/components/schemas/RunEventType/enum").unwrap().as_array().unwrap();
    let types: BTreeSet<&str> = types.iter().filter_map(Value::as_str).collect();
    assert!(!types.is_empty());
    assert_eq!(told, types);
}
