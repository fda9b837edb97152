//! Errors of calls of models to the errors of the API.

use heddle_api::{ApiError, Detail, ErrorCode};
use heddle_models::records::BudgetScope;
use heddle_models::{GatewayError, ProviderFault};
use heddle_models_wire::{Failure as Class, WireError};

use crate::failure::Failure;

impl From<GatewayError> for Failure {
    fn from(error: GatewayError) -> Self {
        let retry_after = error.retry_after().map(|wait| wait.as_secs().max(1));
        let failure = match error {
            GatewayError::NotFound => Self::not_found(),
            GatewayError::Disabled => {
                let message = "The deployment, or its connection, is disabled.";
                Self::because(ErrorCode::StateConflict, "disabled", message)
            }
            GatewayError::Incapable(ability) => {
                let detail = Detail::at("model", "notCapable", format!("The deployment has no `{ability}`."))
                    .with("capability", ability.as_str());
                ApiError::because(ErrorCode::StateConflict, detail).into()
            }
            GatewayError::Request(error) => request(&error),
            GatewayError::Limited { of, limit, most, .. } => {
                let message = format!("`{limit}` of the {} allows {most}.", of.as_str());
                let detail = Detail::new("rateLimited", message)
                    .with("limit", limit)
                    .with("of", of.as_str())
                    .with("most", most);
                limited(detail, retry_after)
            }
            GatewayError::Busy { .. } => {
                limited(Detail::new("busy", "As many calls run as may; try again."), retry_after)
            }
            GatewayError::Exhausted { scope, until, .. } => exhausted(scope, &until.to_string(), retry_after),
            GatewayError::Provider(fault) => provider(fault),
            GatewayError::Inner(error) => return error.into(),
        };
        Self { retry_after: failure.retry_after.or(retry_after), ..failure }
    }
}

/// A limit that is reached; what tells the wait stands beside it.
fn limited(detail: Detail, retry_after: Option<u64>) -> Failure {
    let detail = match retry_after {
        Some(seconds) => detail.with("retryAfterSeconds", seconds),
        None => detail,
    };
    ApiError::because(ErrorCode::RateLimited, detail).into()
}

fn exhausted(scope: BudgetScope, until: &str, retry_after: Option<u64>) -> Failure {
    let of = match scope {
        BudgetScope::Organisation => "organization",
        BudgetScope::Deployment(_) => "deployment",
    };
    let message = format!("The budget of the {of} does not hold the call; the next period begins {until}.");
    limited(Detail::new("budgetExhausted", message).with("of", of).with("until", until), retry_after)
}

/// A request that is wrong, or that its provider has no word for.
fn request(error: &WireError) -> Failure {
    let reason = match error {
        WireError::Inexpressible { .. } => "notSupported",
        WireError::Member { .. } | WireError::Refused(_) | WireError::Answer(_) => "notAllowed",
    };
    let detail = match error.at().filter(|member| !member.is_empty()) {
        Some(member) => Detail::at(member, reason, format!("{error}.")),
        None => Detail::new(reason, format!("{error}.")),
    };
    ApiError::because(ErrorCode::InvalidRequestBody, detail).into()
}

/// Machine word of a provider's failure.
const fn reason(class: Class) -> &'static str {
    match class {
        Class::InvalidRequest => "providerRefused",
        Class::ContextLength => "contextLengthExceeded",
        Class::ProviderAuth => "providerAuthFailed",
        Class::ModelNotFound => "modelNotFound",
        Class::ProviderTimeout => "providerTimeout",
        Class::RateLimited => "providerRateLimited",
        Class::Unavailable => "providerUnavailable",
        Class::BrokenAnswer => "providerAnswerInvalid",
    }
}

/// Sentence about a provider's failure.
const fn sentence(class: Class) -> &'static str {
    match class {
        Class::InvalidRequest => "The provider does not take the request.",
        Class::ContextLength => "Question and answer do not fit into the model's context.",
        Class::ProviderAuth => "The provider does not accept the connection's key.",
        Class::ModelNotFound => "The provider has no such model any more.",
        Class::ProviderTimeout => "The provider took too long.",
        Class::RateLimited => "The provider's limits are reached.",
        Class::Unavailable => "The provider does not answer, or failed.",
        Class::BrokenAnswer => "The provider's answer is not whole, or can't be read.",
    }
}

/// An answer that can't be said in the form that its caller reads.
pub(crate) fn unreadable(error: &WireError) -> Failure {
    let class = Class::BrokenAnswer;
    let failure = Failure::because(ErrorCode::DependencyUnavailable, reason(class), sentence(class));
    Failure { cause: Some(error.to_string()), ..failure }
}

fn provider(fault: ProviderFault) -> Failure {
    let code = match fault.failure.status() {
        400 => ErrorCode::InvalidRequestBody,
        409 => ErrorCode::StateConflict,
        429 => ErrorCode::RateLimited,
        _ => ErrorCode::DependencyUnavailable,
    };
    let mut detail = Detail::new(reason(fault.failure), sentence(fault.failure))
        .with("provider", fault.provider.as_str())
        .with("deploymentId", fault.deployment.to_string())
        .with("attempts", fault.attempts);
    let texts = [
        ("upstreamRequestId", fault.upstream_request_id),
        ("providerCode", fault.provider_code),
        ("providerMessage", fault.message),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            detail = detail.with(name, text);
        }
    }
    if let Some(status) = fault.upstream_status {
        detail = detail.with("upstreamStatus", status);
    }
    if fault.circuit_open {
        detail = detail.with("circuitOpen", true);
    }
    let retry_after = fault.retry_after.map(|wait| wait.as_secs().max(1));
    Failure { retry_after, ..ApiError::because(code, detail).into() }
}
