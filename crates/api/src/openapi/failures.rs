//! An example of each failure, as the service answers it.

use heddle_kernel::RequestId;
use serde_json::{Value, json};

use crate::error::{ApiError, Detail, ErrorCode};

/// Both forms of a failure of this code: of `application/json` and of `application/problem+json`.
#[derive(Debug)]
pub(super) struct Forms {
    /// Body with `error`.
    pub body: Value,
    /// Problem details.
    pub problem: Value,
}

/// Example of a failure of this code.
pub(super) fn example(code: ErrorCode) -> Forms {
    let error = match detail(code) {
        Some(detail) => ApiError::because(code, detail),
        None => ApiError::new(code),
    };
    let Some(id) = request() else {
        return Forms { body: Value::Null, problem: Value::Null };
    };
    Forms { body: json!(error.to_body(&id)), problem: json!(error.to_problem(&id)) }
}

/// Id of the request of the examples.
pub(super) fn request() -> Option<RequestId> {
    RequestId::from_caller("01a1fcc8-4785-789c-b8a2-e0cf96e8a8c8")
}

fn detail(code: ErrorCode) -> Option<Detail> {
    Some(match code {
        ErrorCode::InvalidRequestBody => {
            Detail::at("displayName", "required", "The member `displayName` is required.")
        }
        ErrorCode::FeatureNotLicensed => {
            let message = "The licence does not include `workflow.enabled`.";
            Detail::new("notEntitled", message).with("entitlement", "workflow.enabled")
        }
        ErrorCode::PermissionRequired => {
            let message = "The caller lacks the permission or the resource action.";
            Detail::new("denied", message)
                .with("decision", "PERMISSION_MISSING")
                .with("permissions", json!(["workflows.manage"]))
        }
        ErrorCode::StateConflict => {
            let message = "The resource was changed in the meantime.";
            Detail::at("revision", "revisionMismatch", message).with("currentRevision", 7)
        }
        ErrorCode::PayloadTooLarge => {
            Detail::new("tooLarge", "The body may have 1048576 bytes.").with("limit", 1_048_576)
        }
        ErrorCode::LicenceRemediationRequired => Detail::restricted("expired", false),
        ErrorCode::RateLimited => Detail::new("throttled", "Try again in 4 s.").with("retryAfterSeconds", 4),
        ErrorCode::DependencyUnavailable => {
            Detail::new("databaseUnavailable", "The database does not answer or can't write.")
        }
        ErrorCode::AuthenticationRequired
        | ErrorCode::NotFound
        | ErrorCode::MethodNotAllowed
        | ErrorCode::NotAcceptable
        | ErrorCode::UnsupportedMediaType
        | ErrorCode::InternalError => return None,
    })
}
