//! Components of a document: the parameters, headers and responses that its operations share.

#![expect(clippy::indexing_slicing, reason = "members of JSON: an absent one reads as null")]

use serde_json::{Map, Value, json};

use crate::decode::schema::{Components, SCHEMAS, reference};
use crate::error::{ApiError, ErrorBody, ErrorCode, Problem};
use crate::face::{AnthropicFailure, Camunda7Error, Camunda8Problem, Face, OpenAiFailure};
use crate::operations::Document;
use crate::wire::envelope::PageInfo;

/// The name of the response component of a failure.
pub(crate) fn error_name(face: Face, code: ErrorCode) -> String {
    let words = code.as_str().to_ascii_lowercase();
    let name: String = words.split('_').map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect();
    format!("{}{name}", face.prefix())
}

fn text(least: usize, most: usize) -> Value {
    json!({"type": "string", "minLength": least, "maxLength": most})
}

/// Headers that requests may have: component name and parameter.
fn parameters() -> Value {
    let header = |name: &str, schema: Value, description: &str| json!({"name": name, "in": "header", "required": false, "schema": schema, "description": description});
    json!({
        "RequestId": header("x-request-id", text(1, 200),
            "Caller-supplied correlation identifier. The service returns the effective value in the response header."),
        "OrganizationId": header("x-organization-id", text(1, 200),
            "The organisation to act in; the session's own when absent."),
        "IdempotencyKey": header("Idempotency-Key", text(1, 200),
            "A repeat under the same key within 24 hours gets the first answer; another body under it a 409, and so does the repeat of a call whose answer showed a secret."),
        "IfMatch": header("If-Match", text(1, 100),
            "The revision that the change is made to, as in `ETag`; another one is a 409, a weak tag too. `*` asks for none."),
        "LastEventId": header("Last-Event-ID", json!({"type": "string", "pattern": "^[0-9]{1,18}$"}),
            "The sequence number of the last event that was seen."),
        "LastPosition": header("Last-Event-ID", text(1, 1000),
            "The id of the last event that was seen; without it the stream begins with what is committed from now on."),
    })
}

/// Headers of responses.
fn headers() -> Value {
    let header = |schema: Value, description: &str| json!({"schema": schema, "description": description});
    json!({
        "RequestId": header(text(1, 200), "The effective correlation identifier."),
        "ETag": header(json!({"type": "string", "pattern": "^\"[0-9]+\"$"}), "The revision, in quotes."),
        "Location": header(json!({"type": "string"}), "The path of what was created, or the address to which the browser is led."),
        "RetryAfter": header(json!({"type": "integer", "minimum": 0}), "Seconds until a repeat makes sense."),
        "IdempotentReplayed": header(json!({"type": "string", "const": "true"}),
            "Present when the answer is the first one under the same Idempotency-Key."),
        "ContentDisposition": header(json!({"type": "string"}), "The document's file name."),
    })
}

/// The failures of a document, in each form in which its clients read them.
fn responses(document: Document) -> Value {
    let faces: &[Face] = match document {
        Document::Contract | Document::Platform => &[Face::Own],
        Document::Compatibility => &[Face::Camunda7, Face::Camunda8, Face::OpenAi, Face::Anthropic],
    };
    let of = |face: Face| ErrorCode::ALL.map(|code| (error_name(face, code), response(face, code)));
    Value::Object(faces.iter().copied().flat_map(of).collect())
}

fn response(face: Face, code: ErrorCode) -> Value {
    let mut headers = json!({"x-request-id": {"$ref": "#/components/headers/RequestId"}});
    if code == ErrorCode::RateLimited {
        headers["Retry-After"] = json!({"$ref": "#/components/headers/RetryAfter"});
    }
    let described = |schema: &str, example: Value| json!({"schema": {"$ref": format!("{SCHEMAS}{schema}")}, "examples": {"small": {"value": example}}});
    let content = match face {
        Face::Own => {
            let example = super::failures::example(code);
            json!({
                "application/json": described("APIError", example.body),
                "application/problem+json": described("Problem", example.problem),
            })
        }
        Face::Camunda7 => {
            json!({"application/json": described("Camunda7Error", json!(ApiError::new(code).to_camunda7()))})
        }
        Face::Camunda8 => {
            let example = json!(ApiError::new(code).to_camunda8("/v2/jobs/activation"));
            json!({"application/problem+json": described("Camunda8Problem", example)})
        }
        Face::OpenAi => {
            let example = json!(super::failures::request().map(|id| ApiError::new(code).to_openai(&id)));
            json!({"application/json": described("OpenAiFailure", example)})
        }
        Face::Anthropic => {
            let example = json!(super::failures::request().map(|id| ApiError::new(code).to_anthropic(&id)));
            json!({"application/json": described("AnthropicFailure", example)})
        }
    };
    json!({"description": code.title(), "headers": headers, "content": content})
}

fn security_schemes(document: Document) -> Value {
    let bearer =
        json!({"type": "http", "scheme": "bearer", "description": "A session token or an API token."});
    match document {
        Document::Contract | Document::Platform => json!({
            "bearer": bearer,
            "cookie": {"type": "apiKey", "in": "cookie", "name": "__Host-heddle-session",
                "description": "The session cookie; a changing request must come from the same origin."},
        }),
        Document::Compatibility => json!({
            "bearer": bearer,
            "basic": {"type": "http", "scheme": "basic",
                "description": "An API token as password, with any user name."},
            "apiKey": {"type": "apiKey", "in": "header", "name": "x-api-key",
                "description": "An API token, as clients of Anthropic's interface send it."},
        }),
    }
}

/// The `components` member, but for the schemas of the operations.
pub(crate) fn build(document: Document, mut schemas: Components) -> Value {
    let shared: [fn(&mut Components) -> Value; 7] = [
        reference::<ErrorBody>,
        reference::<Problem>,
        reference::<PageInfo>,
        reference::<Camunda7Error>,
        reference::<Camunda8Problem>,
        reference::<OpenAiFailure>,
        reference::<AnthropicFailure>,
    ];
    for shared in shared {
        shared(&mut schemas);
    }
    let schemas: Map<String, Value> = schemas.into_iter().collect();
    json!({
        "schemas": schemas,
        "parameters": parameters(),
        "headers": headers(),
        "responses": responses(document),
        "securitySchemes": security_schemes(document),
    })
}
