//! Error codes and the bodies of failed operations: `APIError` and RFC 9457 problem details.

use heddle_kernel::RequestId;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Schema, SchemaType, Type};

/// The code of a failed operation; each has one HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// 400: the request's body, query or a field of it is invalid.
    InvalidRequestBody,
    /// 401: no valid session or token.
    AuthenticationRequired,
    /// 402: the licence lacks an entitlement or a limit of it is reached.
    FeatureNotLicensed,
    /// 403: the caller lacks the permission or the resource action.
    PermissionRequired,
    /// 404: no such resource in the authorised scope.
    NotFound,
    /// 405: the path is known, the method is not.
    MethodNotAllowed,
    /// 406: no representation that the caller accepts.
    NotAcceptable,
    /// 409: the current state or a dependency prevents the change.
    StateConflict,
    /// 413: the body is larger than the operation takes.
    PayloadTooLarge,
    /// 415: the operation doesn't take a body of this media type.
    UnsupportedMediaType,
    /// 423: the installation is restricted to licence remediation.
    LicenceRemediationRequired,
    /// 429: too many requests; `Retry-After` says when to come back.
    RateLimited,
    /// 500: an unexpected failure.
    InternalError,
    /// 503: a node, database, provider or service is not available at present.
    DependencyUnavailable,
}

impl ErrorCode {
    /// Every code, by rising status.
    pub const ALL: [Self; 14] = [
        Self::InvalidRequestBody,
        Self::AuthenticationRequired,
        Self::FeatureNotLicensed,
        Self::PermissionRequired,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::NotAcceptable,
        Self::StateConflict,
        Self::PayloadTooLarge,
        Self::UnsupportedMediaType,
        Self::LicenceRemediationRequired,
        Self::RateLimited,
        Self::InternalError,
        Self::DependencyUnavailable,
    ];

    /// The HTTP status.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::InvalidRequestBody => 400,
            Self::AuthenticationRequired => 401,
            Self::FeatureNotLicensed => 402,
            Self::PermissionRequired => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::NotAcceptable => 406,
            Self::StateConflict => 409,
            Self::PayloadTooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::LicenceRemediationRequired => 423,
            Self::RateLimited => 429,
            Self::InternalError => 500,
            Self::DependencyUnavailable => 503,
        }
    }

    /// The code of a status, if the service answers with it.
    #[must_use]
    pub fn of_status(status: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.status() == status)
    }

    /// The word in `error.code`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequestBody => "INVALID_REQUEST_BODY",
            Self::AuthenticationRequired => "AUTHENTICATION_REQUIRED",
            Self::FeatureNotLicensed => "FEATURE_NOT_LICENSED",
            Self::PermissionRequired => "PERMISSION_REQUIRED",
            Self::NotFound => "NOT_FOUND",
            Self::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            Self::NotAcceptable => "NOT_ACCEPTABLE",
            Self::StateConflict => "STATE_CONFLICT",
            Self::PayloadTooLarge => "PAYLOAD_TOO_LARGE",
            Self::UnsupportedMediaType => "UNSUPPORTED_MEDIA_TYPE",
            Self::LicenceRemediationRequired => "LICENCE_REMEDIATION_REQUIRED",
            Self::RateLimited => "RATE_LIMITED",
            Self::InternalError => "INTERNAL_ERROR",
            Self::DependencyUnavailable => "DEPENDENCY_UNAVAILABLE",
        }
    }

    /// A sentence that fits every cause of the code.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::InvalidRequestBody => "The request is not valid; `details` names each place.",
            Self::AuthenticationRequired => "A valid session or token is required.",
            Self::FeatureNotLicensed => "The licence does not cover this.",
            Self::PermissionRequired => "The caller may not do this.",
            Self::NotFound => "There is no such resource in this organisation.",
            Self::MethodNotAllowed => "The path does not take this method.",
            Self::NotAcceptable => "None of the accepted media types can be given.",
            Self::StateConflict => "The current state does not allow the change.",
            Self::PayloadTooLarge => "The body is too large.",
            Self::UnsupportedMediaType => "A body of this media type is not taken.",
            Self::LicenceRemediationRequired => {
                "The installation is restricted until its licence is put right."
            }
            Self::RateLimited => "Too many requests; try again later.",
            Self::InternalError => "An unexpected failure; the request id finds it in the log.",
            Self::DependencyUnavailable => "A dependency is not available at present; try again later.",
        }
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One problem: where, a machine's word and a sentence; further members by reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Detail {
    /// JSON path of the member, name of the query parameter or header; none when the whole request is meant.
    pub field: Option<String>,
    /// Machine word, camelCase.
    pub reason: String,
    /// One sentence.
    pub message: String,
    /// Members of this reason alone, such as `usedBy` or `currentRevision`.
    pub extra: Map<String, Value>,
}

impl Detail {
    /// A problem of the request as a whole.
    pub fn new(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: None, reason: reason.into(), message: message.into(), extra: Map::new() }
    }

    /// A problem of one member.
    pub fn at(field: impl Into<String>, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..Self::new(reason, message) }
    }

    /// A restriction to licence remediation, with the machine word of its cause and the ways out of it and past it: the
    /// trial first, where the installation can begin it.
    pub fn restricted(cause: &str, trial_available: bool) -> Self {
        let message =
            format!("The installation is restricted (`{cause}`) until an owner installs a licence.");
        let trial = match trial_available {
            true => {
                "POST /api/licence/trial, or `heddle licence trial` on the machine of the server, begins the trial. Else "
            }
            false => "",
        };
        let ways = "PUT /api/licence, or `heddle licence install FILE` on the machine of the server. Nothing is lost: \
            there `heddle workflow export`, `heddle run export` and `heddle backup` give out definitions, runs and files \
            in every state of the licence.";
        Self::new("licenceRestricted", message).with("cause", cause).with("remedy", format!("{trial}{ways}"))
    }

    /// The same problem with one more member.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.extra.insert(name.to_owned(), value.into());
        self
    }
}

impl Serialize for Detail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let own = usize::from(self.field.is_some()) + 2;
        let mut map = serializer.serialize_map(Some(own + self.extra.len()))?;
        use serde::ser::SerializeMap as _;
        if let Some(field) = &self.field {
            map.serialize_entry("field", field)?;
        }
        map.serialize_entry("reason", &self.reason)?;
        map.serialize_entry("message", &self.message)?;
        for (name, value) in &self.extra {
            if !matches!(name.as_str(), "field" | "reason" | "message") {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}

impl utoipa::PartialSchema for Detail {
    fn schema() -> RefOr<Schema> {
        let text = || ObjectBuilder::new().schema_type(SchemaType::new(Type::String));
        let field = text().description(Some("JSON path of the member, or the parameter's name."));
        let reason = text().min_length(Some(1)).description(Some("Machine word of the problem."));
        let message = text().description(Some("One sentence."));
        ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::Object))
            .description(Some("One problem; further members by reason."))
            .property("field", field)
            .property("reason", reason)
            .required("reason")
            .property("message", message)
            .required("message")
            .additional_properties(Some(AdditionalProperties::FreeForm(true)))
            .into()
    }
}

impl ToSchema for Detail {
    fn name() -> std::borrow::Cow<'static, str> {
        "ErrorDetail".into()
    }
}

/// The body of a failed operation.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = APIError)]
pub struct ErrorBody {
    /// Error of the operation.
    pub error: ErrorObject,
}

/// Error of an operation: code, message and details.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorObject {
    /// The code.
    pub code: ErrorCode,
    /// One sentence.
    pub message: String,
    /// Every problem that was found; may be empty.
    pub details: Vec<Detail>,
    /// The effective `x-request-id`.
    pub request_id: String,
}

/// The same as problem details (RFC 9457), for `Accept: application/problem+json`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Always `about:blank`: the code tells the kind (RFC 9457, 4.2.1).
    pub r#type: String,
    /// Meaning of the code, the same for every occurrence.
    pub title: String,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// One sentence about this occurrence.
    pub detail: String,
    /// The code.
    pub code: ErrorCode,
    /// Every problem that was found; may be empty.
    pub details: Vec<Detail>,
    /// The effective `x-request-id`.
    pub request_id: String,
}

/// A failed operation, before it is written in either form.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ApiError {
    /// The code.
    pub code: ErrorCode,
    /// One sentence.
    pub message: String,
    /// Every problem that was found.
    pub details: Vec<Detail>,
}

impl ApiError {
    /// With the code's own sentence and no details.
    #[must_use]
    pub fn new(code: ErrorCode) -> Self {
        Self { code, message: code.title().to_owned(), details: Vec::new() }
    }

    /// With the code's own sentence and one detail.
    #[must_use]
    pub fn because(code: ErrorCode, detail: Detail) -> Self {
        Self { details: vec![detail], ..Self::new(code) }
    }

    /// A 400 with every problem.
    #[must_use]
    pub fn invalid(details: Vec<Detail>) -> Self {
        Self { details, ..Self::new(ErrorCode::InvalidRequestBody) }
    }

    /// The same error with another sentence.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// The HTTP status.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.code.status()
    }

    /// As the body of `application/json`.
    #[must_use]
    pub fn to_body(&self, request_id: &RequestId) -> ErrorBody {
        ErrorBody {
            error: ErrorObject {
                code: self.code,
                message: self.message.clone(),
                details: self.details.clone(),
                request_id: request_id.as_str().to_owned(),
            },
        }
    }

    /// As the body of `application/problem+json`.
    #[must_use]
    pub fn to_problem(&self, request_id: &RequestId) -> Problem {
        Problem {
            r#type: "about:blank".to_owned(),
            title: self.code.title().to_owned(),
            status: self.status(),
            detail: self.message.clone(),
            code: self.code,
            details: self.details.clone(),
            request_id: request_id.as_str().to_owned(),
        }
    }
}

impl From<ErrorCode> for ApiError {
    fn from(code: ErrorCode) -> Self {
        Self::new(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_one_status_and_one_word() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::of_status(code.status()), Some(code));
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
        assert!(ErrorCode::ALL.is_sorted_by_key(|code| code.status()));
        assert_eq!(ErrorCode::of_status(422), None);
    }

    #[test]
    fn a_restriction_names_the_ways_out_in_clean_words() {
        for (cause, trial) in [("expired", false), ("missing", true)] {
            let detail = Detail::restricted(cause, trial);
            let remedy = detail.extra["remedy"].as_str().unwrap();
            assert!(remedy.contains("Nothing is lost: there `heddle workflow export`"), "{remedy}");
            for way in ["POST /api/licence/trial", "`heddle licence trial`"] {
                assert_eq!(remedy.contains(way), trial, "{remedy}");
            }
            for text in [detail.message.as_str(), remedy] {
                assert!(!text.contains("  "), "{text}");
            }
        }
    }

    #[test]
    fn both_forms_carry_code_details_and_request_id() {
        let detail = Detail::at("slug", "notUnique", "Taken.").with("usedBy", "wf").with("field", "lost");
        let error = ApiError::because(ErrorCode::StateConflict, detail);
        let id = RequestId::from_caller("r-1").unwrap();
        let body = serde_json::to_value(error.to_body(&id)).unwrap();
        assert_eq!(
            body,
            serde_json::json!({"error": {"code": "STATE_CONFLICT", "message": ErrorCode::StateConflict.title(),
                "details": [{"field": "slug", "reason": "notUnique", "message": "Taken.", "usedBy": "wf"}],
                "requestId": "r-1"}})
        );
        let problem = serde_json::to_value(error.to_problem(&id)).unwrap();
        assert_eq!(problem["status"], 409);
        assert_eq!(problem["code"], "STATE_CONFLICT");
        assert_eq!(problem["details"], body["error"]["details"]);
    }
}
