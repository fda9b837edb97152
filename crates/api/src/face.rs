//! Failures in the forms that clients of other products read.

use heddle_kernel::RequestId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::{ApiError, Detail, ErrorCode};

/// Form in which a client reads failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Face {
    /// The service's own.
    Own,
    /// `{"type", "message"}`, as the REST interface of Camunda 7 answers.
    Camunda7,
    /// Problem details (RFC 9457) with a word as title, as Camunda 8 answers.
    Camunda8,
    /// `{"error": {"message", "type", "param", "code"}}`, as the interface of OpenAI answers.
    OpenAi,
    /// `{"type": "error", "error": {"type", "message"}, "request_id"}`, as the interface of Anthropic answers.
    Anthropic,
}

impl Face {
    /// The form that the clients of a path read, also of a path that leads nowhere.
    #[must_use]
    pub fn of_path(path: &str) -> Self {
        if path.starts_with("/engine-rest/") {
            Self::Camunda7
        } else if path.starts_with("/v2/") {
            Self::Camunda8
        } else if path == "/v1/messages" || path.starts_with("/v1/messages/") {
            Self::Anthropic
        } else if path.starts_with("/v1/") {
            Self::OpenAi
        } else {
            Self::Own
        }
    }

    /// Word before the names of the form's responses in a document.
    #[must_use]
    pub(crate) const fn prefix(self) -> &'static str {
        match self {
            Self::Own => "",
            Self::Camunda7 => "Camunda7",
            Self::Camunda8 => "Camunda8",
            Self::OpenAi => "OpenAi",
            Self::Anthropic => "Anthropic",
        }
    }
}

/// A failure as Camunda 7 tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Camunda7Error {
    /// Kind of the failure, by the name that Camunda 7 gives it.
    pub r#type: String,
    /// Every problem in words, each with its place.
    pub message: String,
}

/// A failure as Camunda 8 tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Camunda8Problem {
    /// Always `about:blank`: the title tells the kind.
    pub r#type: String,
    /// Kind of the failure, by the word that Camunda 8 gives it.
    pub title: String,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// Every problem in words, each with its place.
    pub detail: String,
    /// The path that was called.
    pub instance: String,
}

/// A failure as the interface of OpenAI tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OpenAiFailure {
    /// The failure.
    pub error: OpenAiError,
}

/// Error as the interface of OpenAI tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OpenAiError {
    /// Every problem in words, each with its place.
    pub message: String,
    /// Kind of the failure, by the word that the interface has for it.
    pub r#type: String,
    /// Member or parameter that the first problem is about; null where the whole request is meant.
    #[schema(required = true)]
    pub param: Option<String>,
    /// Machine word of the first problem, else the code of the failure.
    pub code: String,
    /// Id of the request, by which it is found in the log.
    pub request_id: String,
}

/// A failure as the interface of Anthropic tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AnthropicFailure {
    /// Always `error`.
    pub r#type: String,
    /// The failure.
    pub error: AnthropicError,
    /// Id of the request, by which it is found in the log.
    pub request_id: String,
}

/// Error as the interface of Anthropic tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AnthropicError {
    /// Kind of the failure, by the word that the interface has for it.
    pub r#type: String,
    /// Every problem in words, each with its place.
    pub message: String,
}

/// The most problems that one text tells.
const TOLD: usize = 20;

impl ApiError {
    /// As Camunda 7 tells it.
    #[must_use]
    pub fn to_camunda7(&self) -> Camunda7Error {
        // Who does not hold a task has sent a request that is well-formed.
        let unheld =
            |detail: &Detail| matches!(detail.reason.as_str(), "notHeld" | "staleEpoch" | "suspended");
        let kind = match self.code {
            ErrorCode::InvalidRequestBody if self.details.iter().any(unheld) => "RestException",
            ErrorCode::InvalidRequestBody | ErrorCode::PayloadTooLarge => "InvalidRequestException",
            ErrorCode::AuthenticationRequired => "AuthenticationException",
            ErrorCode::PermissionRequired => "AuthorizationException",
            ErrorCode::InternalError | ErrorCode::DependencyUnavailable => "ProcessEngineException",
            ErrorCode::FeatureNotLicensed
            | ErrorCode::NotFound
            | ErrorCode::MethodNotAllowed
            | ErrorCode::NotAcceptable
            | ErrorCode::StateConflict
            | ErrorCode::UnsupportedMediaType
            | ErrorCode::LicenceRemediationRequired
            | ErrorCode::RateLimited => "RestException",
        };
        Camunda7Error { r#type: kind.to_owned(), message: self.in_words() }
    }

    /// As Camunda 8 tells it, about a call of this path.
    #[must_use]
    pub fn to_camunda8(&self, path: &str) -> Camunda8Problem {
        Camunda8Problem {
            r#type: "about:blank".to_owned(),
            title: self.camunda8_title().to_owned(),
            status: self.status(),
            detail: self.in_words(),
            instance: path.to_owned(),
        }
    }

    /// Word of the kind. Its clients come back later by themselves after `RESOURCE_EXHAUSTED`, and after nothing else.
    fn camunda8_title(&self) -> &'static str {
        match self.code {
            ErrorCode::InvalidRequestBody
            | ErrorCode::PayloadTooLarge
            | ErrorCode::NotAcceptable
            | ErrorCode::UnsupportedMediaType => "INVALID_ARGUMENT",
            ErrorCode::AuthenticationRequired => "UNAUTHENTICATED",
            ErrorCode::PermissionRequired | ErrorCode::FeatureNotLicensed => "FORBIDDEN",
            ErrorCode::NotFound | ErrorCode::MethodNotAllowed => "NOT_FOUND",
            ErrorCode::StateConflict | ErrorCode::LicenceRemediationRequired => "INVALID_STATE",
            ErrorCode::RateLimited => "RESOURCE_EXHAUSTED",
            ErrorCode::DependencyUnavailable if self.is_crowded() => "RESOURCE_EXHAUSTED",
            ErrorCode::DependencyUnavailable => "UNAVAILABLE",
            ErrorCode::InternalError => "INTERNAL",
        }
    }

    /// As the interface of OpenAI tells it.
    #[must_use]
    pub fn to_openai(&self, request: &RequestId) -> OpenAiFailure {
        let first = self.details.first();
        let error = OpenAiError {
            message: self.in_words(),
            r#type: self.openai_type().to_owned(),
            param: first.and_then(|detail| detail.field.clone()),
            code: first.map_or_else(|| self.code.as_str().to_owned(), |detail| detail.reason.clone()),
            request_id: request.as_str().to_owned(),
        };
        OpenAiFailure { error }
    }

    /// Word of the kind in the interface of OpenAI.
    fn openai_type(&self) -> &'static str {
        match self.code {
            ErrorCode::AuthenticationRequired => "authentication_error",
            ErrorCode::PermissionRequired
            | ErrorCode::FeatureNotLicensed
            | ErrorCode::LicenceRemediationRequired => "permission_error",
            ErrorCode::NotFound => "not_found_error",
            ErrorCode::RateLimited => "rate_limit_error",
            ErrorCode::InternalError | ErrorCode::DependencyUnavailable => "server_error",
            ErrorCode::InvalidRequestBody
            | ErrorCode::MethodNotAllowed
            | ErrorCode::NotAcceptable
            | ErrorCode::StateConflict
            | ErrorCode::PayloadTooLarge
            | ErrorCode::UnsupportedMediaType => "invalid_request_error",
        }
    }

    /// As the interface of Anthropic tells it.
    #[must_use]
    pub fn to_anthropic(&self, request: &RequestId) -> AnthropicFailure {
        let error = AnthropicError { r#type: self.anthropic_type().to_owned(), message: self.in_words() };
        AnthropicFailure { r#type: "error".to_owned(), error, request_id: request.as_str().to_owned() }
    }

    /// Word of the kind in the interface of Anthropic.
    fn anthropic_type(&self) -> &'static str {
        match self.code {
            ErrorCode::AuthenticationRequired => "authentication_error",
            ErrorCode::PermissionRequired
            | ErrorCode::FeatureNotLicensed
            | ErrorCode::LicenceRemediationRequired => "permission_error",
            ErrorCode::NotFound => "not_found_error",
            ErrorCode::RateLimited => "rate_limit_error",
            ErrorCode::PayloadTooLarge => "request_too_large",
            ErrorCode::DependencyUnavailable if self.is_crowded() => "overloaded_error",
            ErrorCode::InternalError | ErrorCode::DependencyUnavailable => "api_error",
            ErrorCode::InvalidRequestBody
            | ErrorCode::MethodNotAllowed
            | ErrorCode::NotAcceptable
            | ErrorCode::StateConflict
            | ErrorCode::UnsupportedMediaType => "invalid_request_error",
        }
    }

    /// Whether there is too much at once, which passes by itself.
    fn is_crowded(&self) -> bool {
        self.details.iter().any(|detail| matches!(detail.reason.as_str(), "queueFull" | "busy"))
    }

    /// The details in words, each with its place, or the error's own sentence where there are none.
    fn in_words(&self) -> String {
        let told = self.details.iter().take(TOLD).map(|detail| match &detail.field {
            Some(field) => format!("{field}: {}", detail.message),
            None => detail.message.clone(),
        });
        let told: Vec<String> = told.collect();
        if told.is_empty() { self.message.clone() } else { told.join(" ") }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_failure_is_told_as_its_clients_read_it() {
        let detail = Detail::at("workerId", "required", "The member `workerId` is required.");
        let error = ApiError::because(ErrorCode::InvalidRequestBody, detail);
        assert_eq!(
            serde_json::to_value(error.to_camunda7()).unwrap(),
            json!({"type": "InvalidRequestException", "message": "workerId: The member `workerId` is required."})
        );
        assert_eq!(
            serde_json::to_value(error.to_camunda8("/v2/jobs/activation")).unwrap(),
            json!({"type": "about:blank", "title": "INVALID_ARGUMENT", "status": 400,
                "detail": "workerId: The member `workerId` is required.", "instance": "/v2/jobs/activation"})
        );
    }

    #[test]
    fn clients_of_models_read_a_message_a_kind_and_a_place() {
        let detail = Detail::at("messages", "required", "The member `messages` is required.");
        let error = ApiError::because(ErrorCode::InvalidRequestBody, detail);
        let id = RequestId::from_caller("r1").unwrap();
        let words = "messages: The member `messages` is required.";
        assert_eq!(
            serde_json::to_value(error.to_openai(&id)).unwrap(),
            json!({"error": {"message": words, "type": "invalid_request_error", "param": "messages",
                "code": "required", "request_id": "r1"}})
        );
    }

    #[test]
    fn clients_of_messages_read_a_kind_and_a_message() {
        let id = RequestId::from_caller("r1").unwrap();
        let detail = Detail::at("max_tokens", "required", "The member `max_tokens` is required.");
        let error = ApiError::because(ErrorCode::InvalidRequestBody, detail);
        let words = "max_tokens: The member `max_tokens` is required.";
        assert_eq!(
            serde_json::to_value(error.to_anthropic(&id)).unwrap(),
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": words}, "request_id": "r1"})
        );
        let of = |code: ErrorCode, reason: &str| {
            ApiError::because(code, Detail::new(reason, "")).to_anthropic(&id).error.r#type
        };
        assert_eq!(of(ErrorCode::DependencyUnavailable, "queueFull"), "overloaded_error");
        assert_eq!(of(ErrorCode::DependencyUnavailable, "providerTimeout"), "api_error");
        assert_eq!(of(ErrorCode::PayloadTooLarge, "tooLarge"), "request_too_large");
    }

    #[test]
    fn only_what_passes_by_itself_is_said_to_be_exhausted() {
        let of = |code: ErrorCode, reason: &str| {
            ApiError::because(code, Detail::new(reason, "")).to_camunda8("/v2/topology").title
        };
        assert_eq!(of(ErrorCode::DependencyUnavailable, "queueFull"), "RESOURCE_EXHAUSTED");
        assert_eq!(of(ErrorCode::DependencyUnavailable, "databaseUnavailable"), "UNAVAILABLE");
        assert_eq!(of(ErrorCode::RateLimited, "anything"), "RESOURCE_EXHAUSTED");
    }

    #[test]
    fn a_path_tells_its_face() {
        for (path, face) in [
            ("/engine-rest/external-task/fetchAndLock", Face::Camunda7),
            ("/engine-rest/nowhere", Face::Camunda7),
            ("/v2/jobs/activation", Face::Camunda8),
            ("/v1/chat/completions", Face::OpenAi),
            ("/v1/nowhere", Face::OpenAi),
            ("/v1/messages", Face::Anthropic),
            ("/v1/messages/count_tokens", Face::Anthropic),
            ("/v1/messages/nowhere", Face::Anthropic),
            ("/v1/messagesx", Face::OpenAi),
            ("/v2", Face::Own),
            ("/api/jobs", Face::Own),
        ] {
            assert_eq!(Face::of_path(path), face, "{path}");
        }
    }
}
