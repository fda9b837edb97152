//! Errors of every layer to the errors of the API: one exhaustive mapping each.

use heddle_api::{ApiError, Detail, ErrorCode};
use heddle_edge::{Reached, Whose};
use heddle_faces::case_view::PlanLost;
use heddle_usecase::StoreError;
use heddle_usecase::{Problem, UseCaseError};

/// Seconds after which whoever found a limit of the edge reached may come back.
const RETRY_SECONDS: u64 = 5;

/// Failure of a call; becomes the error body.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Error that the caller is told.
    pub error: ApiError,
    /// Cause that only the log is told.
    pub cause: Option<String>,
    /// Seconds after which to come back, for `Retry-After`.
    pub retry_after: Option<u64>,
    /// Methods that the path does take.
    pub allow: Option<String>,
}

impl Failure {
    /// A failure with a detail.
    #[must_use]
    pub(crate) fn because(code: ErrorCode, reason: &str, message: impl Into<String>) -> Self {
        ApiError::because(code, Detail::new(reason, message)).into()
    }

    /// A failure of one member.
    #[must_use]
    pub(crate) fn at(field: &str, reason: &str, message: impl Into<String>) -> Self {
        ApiError::because(ErrorCode::InvalidRequestBody, Detail::at(field, reason, message)).into()
    }

    /// Whether something else was changed while the call was decided, and the caller named no revision that says which
    /// one they mean: decided anew, the call may be carried out.
    #[must_use]
    pub(crate) fn is_race(&self) -> bool {
        let unmet = |detail: &Detail| {
            detail.reason == "revisionMismatch" && !detail.extra.contains_key("currentRevision")
        };
        self.error.code == ErrorCode::StateConflict && self.error.details.iter().any(unmet)
    }

    /// There is no such thing.
    #[must_use]
    pub(crate) fn not_found() -> Self {
        ApiError::new(ErrorCode::NotFound).into()
    }

    /// A fault of ours; the text goes to the log.
    #[must_use]
    pub(crate) fn internal(cause: impl Into<String>) -> Self {
        Self { cause: Some(cause.into()), ..ApiError::new(ErrorCode::InternalError).into() }
    }

    /// A queue of the caller's organisation is full.
    #[must_use]
    pub(crate) fn queue_full(limit: &'static str) -> Self {
        let message = "Too much of the organisation's work waits already; try again.";
        let detail = Detail::new("queueFull", message).with("limit", limit);
        let error = ApiError::because(ErrorCode::DependencyUnavailable, detail);
        Self { retry_after: Some(1), ..error.into() }
    }

    /// A computation was given up for the time that it took.
    #[must_use]
    pub(crate) fn abandoned(seconds: u64) -> Self {
        let message =
            format!("It took longer than {seconds} s here and was given up; nothing of it was kept.");
        let detail = Detail::new("abandoned", message).with("limit", "step_seconds").with("seconds", seconds);
        let error = ApiError::because(ErrorCode::DependencyUnavailable, detail);
        Self { retry_after: Some(5), ..error.into() }
    }

    /// A part that is needed is not there.
    #[must_use]
    pub(crate) fn unavailable(cause: impl Into<String>) -> Self {
        let detail = Detail::new("databaseUnavailable", "The database does not answer or can't write.");
        let error = ApiError::because(ErrorCode::DependencyUnavailable, detail);
        Self { cause: Some(cause.into()), retry_after: Some(1), ..error.into() }
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self { error, cause: None, retry_after: None, allow: None }
    }
}

impl From<Reached> for Failure {
    fn from(reached: Reached) -> Self {
        let Reached { limit, most, of } = reached;
        let code = match of {
            Whose::Node => ErrorCode::DependencyUnavailable,
            Whose::Caller => ErrorCode::RateLimited,
        };
        let detail = Detail::new("limitReached", format!("`{limit}` allows {most} at once."))
            .with("limit", limit)
            .with("most", most)
            .with("retryAfterSeconds", RETRY_SECONDS);
        Self { retry_after: Some(RETRY_SECONDS), ..ApiError::because(code, detail).into() }
    }
}

impl From<heddle_api::decode::Problems> for Failure {
    fn from(problems: heddle_api::decode::Problems) -> Self {
        ApiError::from(problems).into()
    }
}

impl From<PlanLost> for Failure {
    fn from(lost: PlanLost) -> Self {
        Self::internal(lost.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        UseCaseError::from(error).into()
    }
}

impl From<UseCaseError> for Failure {
    fn from(error: UseCaseError) -> Self {
        let many = |code, problems: Vec<Problem>| {
            let mut error = ApiError::new(code);
            error.details = problems.into_iter().map(detail).collect();
            Self::from(error)
        };
        match error {
            UseCaseError::NotFound => Self::not_found(),
            UseCaseError::Invalid(problems) => {
                let message = refusal(&problems);
                let mut failure = many(ErrorCode::InvalidRequestBody, problems);
                if let Some(message) = message {
                    failure.error.message = message;
                }
                failure
            }
            UseCaseError::Conflict(problems) => many(ErrorCode::StateConflict, problems),
            UseCaseError::Forbidden(problem) => many(ErrorCode::PermissionRequired, vec![problem]),
            UseCaseError::Unauthenticated => {
                let message = "The e-mail address and the password do not fit together.";
                Self::because(ErrorCode::AuthenticationRequired, "signInRefused", message)
            }
            UseCaseError::LimitReached { limit, licensed, used } => {
                let message = format!("The licence allows {licensed} {limit}; there are {used}.");
                let detail = Detail::new("limitReached", message)
                    .with("limit", limit)
                    .with("licensed", licensed)
                    .with("used", used);
                ApiError::because(ErrorCode::FeatureNotLicensed, detail).into()
            }
            UseCaseError::Throttled { retry_after_seconds } => limited("throttled", retry_after_seconds),
            UseCaseError::RateLimited { limit, per_second, retry_after_seconds } => {
                rate_limited(limit, per_second, retry_after_seconds)
            }
            UseCaseError::Busy => limited("busy", 1),
            UseCaseError::QueueFull { limit } => Self::queue_full(limit),
            UseCaseError::Abandoned { seconds } => Self::abandoned(seconds),
            UseCaseError::Unavailable(cause) => Self::unavailable(cause.to_string()),
            UseCaseError::Internal(cause) => Self::internal(cause),
        }
    }
}

/// The sentence of a publication that is refused: the request is as it should be, the draft is not.
fn refusal(problems: &[Problem]) -> Option<String> {
    let refused = !problems.is_empty() && problems.iter().all(|one| one.reason == "notExecutable");
    let count = match problems.len() {
        1 => "one reason".to_owned(),
        many => format!("{many} reasons"),
    };
    refused.then(|| {
        format!("The definition can't be published as it stands, for {count}; `details` names each with its element.")
    })
}

fn detail(problem: Problem) -> Detail {
    Detail {
        field: problem.field,
        reason: problem.reason.to_owned(),
        message: problem.message,
        extra: problem.extra,
    }
}

fn rate_limited(limit: &str, per_second: u64, seconds: u64) -> Failure {
    let message = format!("The organisation may have {per_second} by `{limit}`; try again in {seconds} s.");
    let detail = Detail::new("rateLimited", message)
        .with("limit", limit)
        .with("perSecond", per_second)
        .with("retryAfterSeconds", seconds);
    let error = ApiError::because(ErrorCode::RateLimited, detail);
    Failure { retry_after: Some(seconds), ..error.into() }
}

fn limited(reason: &str, seconds: u64) -> Failure {
    let message = format!("Try again in {seconds} s.");
    let detail = Detail::new(reason, message).with("retryAfterSeconds", seconds);
    let error = ApiError::because(ErrorCode::RateLimited, detail);
    Failure { retry_after: Some(seconds), ..error.into() }
}
