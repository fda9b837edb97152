//! Errors of the wires, and what each means to whoever called.

use std::fmt;
use std::time::Duration;

use crate::family::Family;

/// Length up to which a member's name is repeated in an error, in characters.
const LONGEST_NAME: usize = 120;

/// An error of a request, of a provider's refusal, or of its answer. No variant shows a prompt, an answer or a key in
/// `Debug` or `Display`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// A member of the request is missing, malformed or out of bounds.
    #[error("`{member}` {reason}")]
    Member {
        /// Path of the member, such as `messages[2].content`; empty for the body as a whole.
        member: String,
        /// Text that goes on after the name.
        reason: &'static str,
    },
    /// A member that the family has no word for.
    #[error("`{member}` can't be expressed to a provider of the family {family}")]
    Inexpressible {
        /// Path of the member.
        member: String,
        /// Family.
        family: Family,
    },
    /// The provider refused, by a status or within a stream.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The answer is not what the wire promises.
    #[error(transparent)]
    Answer(#[from] AnswerFault),
}

/// A fault of a provider's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AnswerFault {
    /// The bytes ended before the answer did: a stream without its end is never a success.
    #[error("the provider's answer ended before it was complete")]
    Truncated,
    /// Something that is not JSON, or not the shape of the wire.
    #[error("the provider's answer is malformed")]
    Malformed,
    /// A frame, or what has to be held of an answer, beyond its bound.
    #[error("the provider's answer is larger than is taken")]
    Oversized,
}

impl WireError {
    /// A member's error; the name is cut at 120 characters.
    #[must_use]
    pub fn member(member: impl AsRef<str>, reason: &'static str) -> Self {
        Self::Member { member: short(member.as_ref()), reason }
    }

    /// A member that the family has no word for.
    #[must_use]
    pub fn inexpressible(member: impl AsRef<str>, family: Family) -> Self {
        Self::Inexpressible { member: short(member.as_ref()), family }
    }

    /// The class of the failure.
    #[must_use]
    pub const fn failure(&self) -> Failure {
        match self {
            Self::Member { .. } | Self::Inexpressible { .. } => Failure::InvalidRequest,
            Self::Refused(refusal) => refusal.failure,
            Self::Answer(_) => Failure::BrokenAnswer,
        }
    }

    /// The member of the request at which it is, when it is the request's.
    #[must_use]
    pub fn at(&self) -> Option<&str> {
        match self {
            Self::Member { member, .. } | Self::Inexpressible { member, .. } => Some(member),
            Self::Refused(_) | Self::Answer(_) => None,
        }
    }
}

fn short(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control()).take(LONGEST_NAME).collect()
}

/// The class of a failed call: it decides on status, retry, fallback and circuit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Failure {
    /// The request is wrong, here or in the provider's eyes.
    InvalidRequest,
    /// Prompt and answer don't fit in the model's context.
    ContextLength,
    /// The provider doesn't accept the deployment's key; the caller is fine.
    ProviderAuth,
    /// The provider has no such model (any more).
    ModelNotFound,
    /// The provider took too long.
    ProviderTimeout,
    /// The provider's limits are reached.
    RateLimited,
    /// The provider is overloaded, failing or not reached.
    Unavailable,
    /// The answer was cut, malformed or too large.
    BrokenAnswer,
}

impl Failure {
    /// Every class.
    pub const ALL: [Self; 8] = [
        Self::InvalidRequest,
        Self::ContextLength,
        Self::ProviderAuth,
        Self::ModelNotFound,
        Self::ProviderTimeout,
        Self::RateLimited,
        Self::Unavailable,
        Self::BrokenAnswer,
    ];

    /// The word in `details.reason` of an error body and in usage rows.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::ContextLength => "CONTEXT_LENGTH_EXCEEDED",
            Self::ProviderAuth => "PROVIDER_AUTH_FAILED",
            Self::ModelNotFound => "MODEL_NOT_FOUND",
            Self::ProviderTimeout => "PROVIDER_TIMEOUT",
            Self::RateLimited => "RATE_LIMITED",
            Self::Unavailable => "PROVIDER_UNAVAILABLE",
            Self::BrokenAnswer => "PROVIDER_ANSWER_INVALID",
        }
    }

    /// The code of the contract that answers for it: it lists no 502 and no 504, so those are 503.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidRequest | Self::ContextLength => "INVALID_REQUEST_BODY",
            Self::ModelNotFound => "STATE_CONFLICT",
            Self::RateLimited => "RATE_LIMITED",
            Self::ProviderAuth | Self::ProviderTimeout | Self::Unavailable | Self::BrokenAnswer => {
                "DEPENDENCY_UNAVAILABLE"
            }
        }
    }

    /// The HTTP status of [`code`](Self::code).
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::InvalidRequest | Self::ContextLength => 400,
            Self::ModelNotFound => 409,
            Self::RateLimited => 429,
            Self::ProviderAuth | Self::ProviderTimeout | Self::Unavailable | Self::BrokenAnswer => 503,
        }
    }

    /// Tells whether the same call may be made again at the same deployment, before the first byte has gone out.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        match self {
            Self::ProviderTimeout | Self::RateLimited | Self::Unavailable | Self::BrokenAnswer => true,
            Self::InvalidRequest | Self::ContextLength | Self::ProviderAuth | Self::ModelNotFound => false,
        }
    }

    /// Tells whether another deployment may do better: a request that is wrong here is wrong there, all else may pass.
    #[must_use]
    pub const fn is_for_fallback(self) -> bool {
        match self {
            Self::InvalidRequest => false,
            Self::ContextLength
            | Self::ProviderAuth
            | Self::ModelNotFound
            | Self::ProviderTimeout
            | Self::RateLimited
            | Self::Unavailable
            | Self::BrokenAnswer => true,
        }
    }

    /// Tells whether it speaks against the deployment's health, and so counts in its circuit breaker.
    #[must_use]
    pub const fn is_of_health(self) -> bool {
        match self {
            Self::ProviderAuth | Self::ProviderTimeout | Self::Unavailable | Self::BrokenAnswer => true,
            Self::InvalidRequest | Self::ContextLength | Self::ModelNotFound | Self::RateLimited => false,
        }
    }
}

/// A provider's refusal. `Debug` and `Display` leave the provider's message out, which may repeat a prompt.
#[derive(Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Class.
    pub failure: Failure,
    /// HTTP status; none when it came within a stream.
    pub status: Option<u16>,
    /// Message of the provider for the caller alone: at most 300 characters, without what looks like a key; none for
    /// refused keys.
    pub message: Option<String>,
    /// Code or type of the error in the provider's words: letters, digits, `_`, `-` and `.`, at most 64.
    pub provider_code: Option<String>,
    /// The provider's id of the request, of the same letters.
    pub request_id: Option<String>,
    /// Wait that the provider asks for.
    pub retry_after: Option<Duration>,
}

impl Refusal {
    /// Whether the provider's filter withheld an answer, which is no failure but an answer's end
    /// ([`ChatResponse::withheld`](crate::ChatResponse::withheld)).
    #[must_use]
    pub fn is_content_filter(&self) -> bool {
        matches!(self.provider_code.as_deref(), Some("content_filter" | "content_policy_violation"))
    }
}

impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refusal")
            .field("failure", &self.failure)
            .field("status", &self.status)
            .field("provider_code", &self.provider_code)
            .field("request_id", &self.request_id)
            .field("retry_after", &self.retry_after)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the provider refused: ")?;
        f.write_str(self.failure.as_str())?;
        if let Some(status) = self.status {
            write!(f, ", status {status}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}
