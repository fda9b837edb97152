//! Components of a document: the parameters, headers and responses that its operations share.

#![expect(clippy::indexing_slicing, reason = "members of JSON: an absent one reads as null")]

use serde_json::{Map, Value, json};

use crate::decode::schema::{Components, reference};
use crate::error::{ErrorBody, ErrorCode, Problem};
use crate::wire::envelope::PageInfo;

/// The name of the response component of a failure.
pub(crate) fn error_name(code: ErrorCode) -> String {
    let words = code.as_str().to_ascii_lowercase();
    words.split('_').map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect()
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
        "LastPosition": header("Last-Event-ID", text(1, 100),
            "The id of the last event that was seen; without it the stream begins with what is committed from now on."),
    })
}

/// Headers of responses.
fn headers() -> Value {
    let header = |schema: Value, description: &str| json!({"schema": schema, "description": description});
    json!({
        "RequestId": header(text(1, 200), "The effective correlation identifier."),
        "ETag": header(json!({"type": "string", "pattern": "^\"[0-9]+\"$"}), "The revision, in quotes."),
        "Location": header(json!({"type": "string"}), "The path of what was created."),
        "RetryAfter": header(json!({"type": "integer", "minimum": 0}), "Seconds until a repeat makes sense."),
        "IdempotentReplayed": header(json!({"type": "string", "const": "true"}),
            "Present when the answer is the first one under the same Idempotency-Key."),
        "ContentDisposition": header(json!({"type": "string"}), "The document's file name."),
    })
}

fn responses() -> Value {
    let one = |code: ErrorCode| {
        let mut headers = json!({"x-request-id": {"$ref": "#/components/headers/RequestId"}});
        if code == ErrorCode::RateLimited {
            headers["Retry-After"] = json!({"$ref": "#/components/headers/RetryAfter"});
        }
        let example = super::failures::example(code);
        let response = json!({
            "description": code.title(),
            "headers": headers,
            "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/APIError"},
                    "examples": {"small": {"value": example.body}}},
                "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"},
                    "examples": {"small": {"value": example.problem}}},
            },
        });
        (error_name(code), response)
    };
    Value::Object(ErrorCode::ALL.into_iter().map(one).collect())
}

fn security_schemes() -> Value {
    json!({
        "bearer": {"type": "http", "scheme": "bearer",
            "description": "A session token or an API token."},
        "cookie": {"type": "apiKey", "in": "cookie", "name": "__Host-heddle-session",
            "description": "The session cookie; a changing request must come from the same origin."},
    })
}

/// The `components` member, but for the schemas of the operations.
pub(crate) fn build(mut schemas: Components) -> Value {
    for shared in [reference::<ErrorBody>, reference::<Problem>, reference::<PageInfo>] {
        shared(&mut schemas);
    }
    let schemas: Map<String, Value> = schemas.into_iter().collect();
    json!({
        "schemas": schemas,
        "parameters": parameters(),
        "headers": headers(),
        "responses": responses(),
        "securitySchemes": security_schemes(),
    })
}
