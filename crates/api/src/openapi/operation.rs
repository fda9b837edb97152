//! One operation of a document.

#![expect(clippy::indexing_slicing, reason = "members of JSON: an absent one reads as null")]

use serde_json::{Map, Value, json};

use super::Shapes;
use super::components::error_name;
use crate::decode::schema::resolve;
use crate::error::ErrorCode;
use crate::face::Face;
use crate::operations::{
    BodyMedia, Document, OperationId, OperationSpec, OutputKind, Security, Selector, TRANSPORT_STATUSES,
};

/// The label of the lifecycle that every operation and field carries.
pub(crate) const LIFECYCLE: &str = "Next Product release";

/// A small process in BPMN XML, as an example of a body.
const BPMN: &str = concat!(
    r#"<?xml version="1.0" encoding="UTF-8"?><definitions "#,
    r#"xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:example">"#,
    r#"<process id="p" isExecutable="true"><startEvent id="s"/>"#,
    r#"<sequenceFlow id="f" sourceRef="s" targetRef="e"/><endEvent id="e"/></process></definitions>"#,
);

/// The operation object.
pub(crate) fn build(spec: &OperationSpec, shapes: &Shapes) -> Value {
    let mut operation = json!({
        "operationId": spec.operation_id,
        "summary": spec.summary,
        "tags": [spec.area.as_str()],
        "parameters": parameters(spec, shapes),
        "responses": responses(spec, shapes),
        "security": security(spec),
        "x-permissions": spec.permissions(),
        "x-feature-state": if spec.stability.as_str() == "stable" { "Stable" } else { "Preview" },
        "x-history": [{
            "release": LIFECYCLE,
            "change": "Documented from the current registered route and handler contract.",
        }],
        "x-idempotent": spec.idempotent,
    });
    let mut extend = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            operation[name] = value;
        }
    };
    extend("x-resource-action", spec.resource_action.map(|action| action.to_string().into()));
    extend("x-entitlement", spec.entitlement.map(|one| one.as_str().into()));
    extend("x-service-role", spec.service_role.map(|one| one.as_str().into()));
    extend("x-audit-event", spec.audit_event.map(Value::from));
    extend("requestBody", request_body(spec, shapes));
    operation
}

fn security(spec: &OperationSpec) -> Value {
    match spec.security {
        Security::Public => json!([]),
        Security::Session | Security::Permissions(_) if spec.area.face() == Face::OpenAi => {
            json!([{"bearer": []}])
        }
        Security::Session | Security::Permissions(_) if spec.area.face() == Face::Anthropic => {
            json!([{"bearer": []}, {"apiKey": []}])
        }
        Security::Session | Security::Permissions(_) if spec.document == Document::Compatibility => {
            json!([{"bearer": []}, {"basic": []}])
        }
        Security::Session | Security::Permissions(_) => json!([{"bearer": []}, {"cookie": []}]),
    }
}

fn parameters(spec: &OperationSpec, shapes: &Shapes) -> Vec<Value> {
    let path = shapes.path.iter().map(|name| {
        json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "minLength": 1}})
    });
    let query = shapes
        .query
        .iter()
        .map(|(name, schema)| query_parameter(name, schema, shapes.query_required.contains(name)));
    let component = |name: &str| json!({"$ref": format!("#/components/parameters/{name}")});
    // The operations of an organisation work in that of their path, and those of the own account in none.
    let guarded = matches!(spec.security, Security::Permissions(_));
    let in_organization = guarded && !matches!(spec.selector(), Selector::Tenant(_));
    let headers = [
        ("RequestId", true),
        ("OrganizationId", in_organization),
        ("IdempotencyKey", spec.accepts_idempotency_key()),
        ("IfMatch", spec.if_match),
        ("LastEventId", spec.id == OperationId::StreamRunEvents),
        ("LastPosition", spec.id == OperationId::StreamEvents),
    ];
    let headers = headers.into_iter().filter(|(_, there)| *there).map(|(name, _)| component(name));
    path.chain(query).chain(headers).collect()
}

fn query_parameter(name: &str, schema: &Value, required: bool) -> Value {
    let mut schema = without_null(schema);
    let description = schema.as_object_mut().and_then(|map| map.remove("description"));
    let mut parameter = json!({"name": name, "in": "query", "required": required, "schema": schema});
    if schema["type"] == "array" {
        parameter["style"] = "form".into();
        parameter["explode"] = false.into();
    }
    if let Some(description) = description {
        parameter["description"] = description;
    }
    parameter
}

/// A parameter is there or not; null is a thing of JSON.
fn without_null(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(types) = schema["type"].as_array() {
        let others: Vec<_> = types.iter().filter(|name| *name != "null").cloned().collect();
        if let [only] = others.as_slice() {
            schema["type"] = only.clone();
        }
    }
    let choices = schema["oneOf"].as_array().cloned().unwrap_or_default();
    let mut others = choices.into_iter().filter(|choice| choice["type"] != "null");
    if let (Some(mut only), None) = (others.next(), others.next()) {
        if let (Some(description), Some(map)) = (schema.get("description"), only.as_object_mut()) {
            map.insert("description".to_owned(), description.clone());
        }
        return only;
    }
    if schema["type"].is_null() {
        schema.as_object_mut().map(|map| map.remove("type"));
    }
    if schema["oneOf"].is_null() {
        schema.as_object_mut().map(|map| map.remove("oneOf"));
    }
    schema
}

fn request_body(spec: &OperationSpec, shapes: &Shapes) -> Option<Value> {
    let body = shapes.body.as_ref()?;
    let example = resolve(body, &shapes.components)["examples"][0].clone();
    // The file itself is that of the JSON, where it holds one as text.
    let held = example["content"].as_str().or_else(|| example["source"]["content"].as_str());
    let file = held.unwrap_or(BPMN).to_owned();
    let mut content = Map::new();
    for media in spec.body.media_types() {
        let described = match *media {
            "application/json" if example.is_null() => json!({"schema": body}),
            "application/json" => json!({"schema": body, "examples": {"small": {"value": example}}}),
            "text/plain" => json!({"schema": {"type": "string", "minLength": 1}}),
            "multipart/form-data" => files_as_parts(),
            _ => json!({
                "schema": {"type": "string", "contentMediaType": media},
                "examples": {"small": {"serializedValue": file}},
            }),
        };
        content.insert((*media).to_owned(), described);
    }
    Some(json!({"required": spec.body != BodyMedia::OptionalJson, "content": content}))
}

/// An upload of files as parts of a form.
fn files_as_parts() -> Value {
    let file = json!({"type": "string", "contentMediaType": "application/octet-stream"});
    let schema = json!({
        "type": "object",
        "properties": {
            "file": {"type": "array", "items": file, "minItems": 1,
                "description": "A file, with its name; as many parts of this name as there are files. Name and media type of the part are the file's."},
            "metadata": {"type": "object",
                "description": "Metadata as JSON: one object for every file, or, where each member is a file's name and an object, one for each."},
            "title": {"type": "string", "minLength": 1, "maxLength": 500, "description": "Title, of an upload of one file."},
        },
        "required": ["file"],
    });
    // Metadata, an object, is JSON by the default of its type (OpenAPI 3.2, 4.15.1).
    json!({"schema": schema})
}

fn responses(spec: &OperationSpec, shapes: &Shapes) -> Value {
    let mut responses = Map::new();
    for status in spec.success {
        responses.insert(status.to_string(), success(spec, shapes, *status));
    }
    for status in spec.errors.iter().chain(&TRANSPORT_STATUSES) {
        if let Some(code) = ErrorCode::of_status(*status) {
            let name = error_name(spec.area.face(), code);
            let reference = json!({"$ref": format!("#/components/responses/{name}")});
            responses.insert(status.to_string(), reference);
        }
    }
    Value::Object(responses)
}

fn success(spec: &OperationSpec, shapes: &Shapes, status: u16) -> Value {
    let header = |name: &str| json!({"$ref": format!("#/components/headers/{name}")});
    let mut headers = json!({"x-request-id": header("RequestId")});
    let output = shapes.output.as_ref().map(|output| resolve(output, &shapes.components));
    let has_revision = output.is_some_and(|output| !output["properties"]["revision"].is_null());
    if spec.output == OutputKind::Data && has_revision {
        headers["ETag"] = header("ETag");
    }
    if matches!(status, 201 | 302) || spec.id == OperationId::UploadVectorFiles {
        headers["Location"] = header("Location");
    }
    if spec.accepts_idempotency_key() {
        headers["Idempotent-Replayed"] = header("IdempotentReplayed");
    }
    if matches!(spec.output, OutputKind::Document(_)) {
        headers["Content-Disposition"] = header("ContentDisposition");
    }
    let description = match status {
        201 => "Created.",
        202 => "Accepted.",
        204 => "Done; no body.",
        302 => "Led on to `Location`.",
        _ => "Done.",
    };
    let mut response = json!({"description": description, "headers": headers});
    let content = content(spec, shapes);
    if !content.is_empty() {
        response["content"] = Value::Object(content);
    }
    response
}

fn content(spec: &OperationSpec, shapes: &Shapes) -> Map<String, Value> {
    let mut content = Map::new();
    let mut add = |media: &str, described: Value| content.insert(media.to_owned(), described);
    let output = shapes.output.clone().unwrap_or_default();
    let data = json!({"schema": envelope(json!({"data": output}))});
    let page = json!({"$ref": "#/components/schemas/PageInfo"});
    let list = json!({"schema": envelope(json!({"data": {"type": "array", "items": output}, "page": page}))});
    match spec.output {
        OutputKind::None => {}
        OutputKind::Data => {
            add("application/json", data);
        }
        OutputKind::Bare => {
            add("application/json", json!({"schema": output}));
        }
        OutputKind::BareList => {
            add("application/json", json!({"schema": {"type": "array", "items": output}}));
        }
        OutputKind::List if spec.id == OperationId::ListModels => {
            add("application/json", json!({"schema": {"anyOf": [list["schema"], openai_models()]}}));
        }
        OutputKind::List => {
            add("application/json", list);
        }
        OutputKind::ListOrLines => {
            add("application/json", list);
            add("application/x-ndjson", json!({"itemSchema": output}));
        }
        OutputKind::Document(media_types) => {
            for media in media_types {
                add(media, json!({"schema": {"type": "string", "contentMediaType": media}}));
            }
            add("application/json", data);
        }
        OutputKind::Raw("application/json") => {
            add("application/json", json!({"schema": {"type": "object"}}));
        }
        OutputKind::Raw(media) => {
            add(media, json!({"schema": {"type": "string"}}));
        }
        OutputKind::EventStream => {
            add("text/event-stream", json!({"itemSchema": server_event(&output)}));
        }
        OutputKind::DataOrStream => {
            add("application/json", json!({"schema": {"anyOf": [data["schema"], output]}}));
            add("text/event-stream", json!({"itemSchema": piece()}));
        }
        OutputKind::BareOrStream => {
            let item = if spec.area.face() == Face::Anthropic { message_event() } else { piece() };
            add("application/json", json!({"schema": output}));
            add("text/event-stream", json!({"itemSchema": item}));
        }
    }
    content
}

fn envelope(properties: Value) -> Value {
    let names: Vec<_> = properties.as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default();
    json!({"type": "object", "properties": properties, "required": names})
}

/// An event of a message's stream; `ping` is a sign of life.
fn message_event() -> Value {
    let names = [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "error",
    ];
    json!({
        "type": "object",
        "properties": {
            "event": {"type": "string", "enum": names},
            "data": {"type": "string", "description": "JSON with the event's name as `type`; behind `error` and `message_stop` there is nothing."},
        },
        "required": ["event", "data"],
    })
}

/// A piece of an answer of a model (OpenAPI 3.2.0, 4.14.4): a comment line is a sign of life and no event.
fn piece() -> Value {
    json!({
        "type": "object",
        "properties": {"data": {"type": "string", "description": "A `chat.completion.chunk`, the last one with `usage`; `[DONE]` at the end; or `{\"error\": ...}`, after which there is nothing."}},
        "required": ["data"],
    })
}

/// The list of models that OpenAI's clients read, as `format=openai` asks for it.
fn openai_models() -> Value {
    let text = || json!({"type": "string"});
    let model = json!({
        "type": "object",
        "properties": {"id": text(), "object": text(), "created": {"type": "integer"}, "owned_by": text()},
        "required": ["id", "object", "created", "owned_by"],
    });
    json!({
        "type": "object",
        "properties": {"object": text(), "data": {"type": "array", "items": model}},
        "required": ["object", "data"],
    })
}

/// A server-sent event (OpenAPI 3.2.0, 4.14.4): a comment line is a heartbeat and no event.
fn server_event(output: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "The place of the event: its sequence number in the stream of a run, which has none on `end`."},
            "event": {"type": "string", "description": "The event's type; `end` once the run has ended."},
            "data": {"type": "string", "contentMediaType": "application/json",
                // The closing event `end` says nothing.
                "contentSchema": {"anyOf": [output, {"type": "object", "maxProperties": 0}]}},
        },
        "required": ["event", "data"],
    })
}
