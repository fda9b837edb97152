//! Bodies of failed operations.

use heddle_api::error::{ApiError, Detail, ErrorCode};
use heddle_api::openapi::{contract_json, platform_json};
use heddle_kernel::RequestId;
use serde_json::{Value, json};

/// The codes with their statuses, as the design has them.
const CODES: [(u16, &str); 14] = [
    (400, "INVALID_REQUEST_BODY"),
    (401, "AUTHENTICATION_REQUIRED"),
    (402, "FEATURE_NOT_LICENSED"),
    (403, "PERMISSION_REQUIRED"),
    (404, "NOT_FOUND"),
    (405, "METHOD_NOT_ALLOWED"),
    (406, "NOT_ACCEPTABLE"),
    (409, "STATE_CONFLICT"),
    (413, "PAYLOAD_TOO_LARGE"),
    (415, "UNSUPPORTED_MEDIA_TYPE"),
    (423, "LICENCE_REMEDIATION_REQUIRED"),
    (429, "RATE_LIMITED"),
    (500, "INTERNAL_ERROR"),
    (503, "DEPENDENCY_UNAVAILABLE"),
];

fn request() -> RequestId {
    RequestId::from_caller("request-1").unwrap()
}

/// A failure of each shape that the service answers with.
fn failures() -> Vec<ApiError> {
    let used = json!([{ "type": "run", "count": 2 }]);
    vec![
        ApiError::new(ErrorCode::NotFound),
        ApiError::invalid(vec![
            Detail::at("definition.nodes[3].id", "required", "The member `id` is required."),
            Detail::new("malformed", "This is not JSON.").with("line", 3).with("column", 7),
        ]),
        ApiError::because(ErrorCode::StateConflict, Detail::new("inUse", "In use.").with("usedBy", used)),
        ApiError::because(
            ErrorCode::StateConflict,
            Detail::at("revision", "revisionMismatch", "Another one.").with("currentRevision", 4),
        ),
        ApiError::new(ErrorCode::InternalError).with_message("The disk is full."),
    ]
}

#[test]
fn each_status_has_the_code_that_the_design_gives_it() {
    let told: Vec<_> = ErrorCode::ALL.iter().map(|code| (code.status(), code.as_str())).collect();
    assert_eq!(told, CODES);
    for status in [200, 204, 402, 412, 422, 502, 504] {
        let known = CODES.iter().find(|(known, _)| *known == status).map(|(_, word)| *word);
        assert_eq!(ErrorCode::of_status(status).map(ErrorCode::as_str), known, "{status}");
    }
    for code in ErrorCode::ALL {
        assert!(code.title().ends_with(['.', ';']) && !code.title().is_empty(), "{code} has a sentence");
        assert_eq!(code.to_string(), code.as_str());
    }
}

#[test]
fn both_forms_of_a_failure() {
    let forms: Vec<Value> = failures()
        .iter()
        .map(|error| {
            let body = serde_json::to_value(error.to_body(&request())).unwrap();
            let problem = serde_json::to_value(error.to_problem(&request())).unwrap();
            json!({ "application/json": body, "application/problem+json": problem })
        })
        .collect();
    insta::assert_json_snapshot!(forms);
}

#[test]
fn what_is_answered_satisfies_the_schemas_of_both_documents() {
    for document in [contract_json(), platform_json()] {
        for (name, problem) in [("APIError", false), ("Problem", true)] {
            let schema = json!({ "$ref": format!("#/components/schemas/{name}"), "components": document["components"] });
            let validator = jsonschema::validator_for(&schema).unwrap();
            for error in failures() {
                let body = match problem {
                    false => serde_json::to_value(error.to_body(&request())).unwrap(),
                    true => serde_json::to_value(error.to_problem(&request())).unwrap(),
                };
                let wrong: Vec<_> = validator.iter_errors(&body).map(|one| one.to_string()).collect();
                assert!(wrong.is_empty(), "{name} {body}: {wrong:?}");
            }
            for hollow in [json!({}), json!({ "error": {} }), json!({ "code": "NOT_FOUND" })] {
                assert!(!validator.is_valid(&hollow), "{name} allows {hollow}");
            }
        }
    }
}

#[test]
fn further_members_never_take_the_place_of_the_three_that_are_always_meant() {
    let detail =
        Detail::at("slug", "notUnique", "Taken.").with("reason", "x").with("message", "y").with("field", 1);
    assert_eq!(
        serde_json::to_value(&detail).unwrap(),
        json!({ "field": "slug", "reason": "notUnique", "message": "Taken." })
    );
    let bare = Detail::new("busy", "Later.").with("field", "x");
    assert_eq!(serde_json::to_value(&bare).unwrap(), json!({ "reason": "busy", "message": "Later." }));
    let error = ApiError::from(ErrorCode::RateLimited);
    assert_eq!((error.status(), error.details.len()), (429, 0));
    assert_eq!(error.to_string(), format!("RATE_LIMITED: {}", ErrorCode::RateLimited.title()));
}
