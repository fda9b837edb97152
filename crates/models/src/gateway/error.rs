//! Errors of calls, and what each means to whoever called.

use std::time::Duration;

use heddle_kernel::{ModelDeploymentId, Timestamp};
use heddle_models_wire::{Failure, WireError};
use heddle_usecase::{StoreError, UseCaseError};

use crate::ports::{Fault, FaultKind, LocalFault};
use crate::records::{BudgetScope, Capability};
use crate::types::ProviderKind;

/// Holder of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LimitOf {
    /// The organisation.
    Organisation,
    /// The connection.
    Connection,
    /// The deployment.
    Deployment,
}

impl LimitOf {
    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Organisation => "organization",
            Self::Connection => "connection",
            Self::Deployment => "deployment",
        }
    }
}

/// Failure of a provider, after all that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderFault {
    /// Class of the failure: it gives code and status.
    pub failure: Failure,
    /// Type of the provider.
    pub provider: ProviderKind,
    /// The deployment that failed.
    pub deployment: ModelDeploymentId,
    /// Status that the provider answered with.
    pub upstream_status: Option<u16>,
    /// Id that the provider gave the request.
    pub upstream_request_id: Option<String>,
    /// Code or type that the provider gave the error.
    pub provider_code: Option<String>,
    /// Message of the provider, for the caller alone and without what looks like a key; never for a log.
    pub message: Option<String>,
    /// Exchanges that were made, those of fallbacks among them.
    pub attempts: u32,
    /// Wait that it asks for.
    pub retry_after: Option<Duration>,
    /// Whether nothing was sent, since it failed too often before.
    pub circuit_open: bool,
}

/// Reason for which a call was not answered.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// There is no such deployment.
    #[error("there is no such deployment")]
    NotFound,
    /// The deployment, or its connection, is disabled.
    #[error("the deployment is disabled")]
    Disabled,
    /// The deployment can't do this.
    #[error("the deployment has no `{0}`")]
    Incapable(Capability),
    /// The request is wrong, or its provider has no word for it.
    #[error(transparent)]
    Request(WireError),
    /// A rate is exceeded.
    #[error("{limit} of the {} is exceeded", .of.as_str())]
    Limited {
        /// Holder of the limit.
        of: LimitOf,
        /// Name of the limit: `requestsPerMinute`, `tokensPerMinute`.
        limit: &'static str,
        /// The limit.
        most: u64,
        /// Wait until it is not.
        retry_after: Duration,
    },
    /// No place among the calls that run at a time came free.
    #[error("as many calls run as may")]
    Busy {
        /// Wait worth trying again after.
        retry_after: Duration,
    },
    /// A budget does not hold the call.
    #[error("the budget is exhausted")]
    Exhausted {
        /// Holder of the budget.
        scope: BudgetScope,
        /// Instant at which the next period begins.
        until: Timestamp,
        /// Wait until then.
        retry_after: Duration,
    },
    /// The provider failed.
    #[error("the provider failed: {}", .0.failure.as_str())]
    Provider(ProviderFault),
    /// Storage or the keyring failed, or a model inside this service.
    #[error(transparent)]
    Inner(#[from] UseCaseError),
}

impl From<StoreError> for GatewayError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound => Self::NotFound,
            other @ (StoreError::Duplicate(_)
            | StoreError::InvalidCursor
            | StoreError::Stale
            | StoreError::LockOut
            | StoreError::QuotaExceeded { .. }
            | StoreError::Unavailable(_)) => Self::Inner(other.into()),
        }
    }
}

impl GatewayError {
    /// Word of the failure in usage rows.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::NotFound => "NOT_FOUND",
            Self::Disabled => "DISABLED",
            Self::Incapable(_) => "INCAPABLE",
            Self::Request(error) => error.failure().as_str(),
            Self::Limited { .. } => "LIMITED",
            Self::Busy { .. } => "BUSY",
            Self::Exhausted { .. } => "BUDGET_EXHAUSTED",
            Self::Provider(fault) => fault.failure.as_str(),
            Self::Inner(_) => "INTERNAL",
        }
    }

    /// Wait after which another try may do.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Limited { retry_after, .. }
            | Self::Busy { retry_after }
            | Self::Exhausted { retry_after, .. } => Some(*retry_after),
            Self::Provider(fault) => fault.retry_after,
            Self::NotFound | Self::Disabled | Self::Incapable(_) | Self::Request(_) | Self::Inner(_) => None,
        }
    }
}

/// Failure of one exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missed {
    pub(crate) failure: Failure,
    /// The request itself is wrong: told as it is.
    pub(crate) request: Option<Box<WireError>>,
    pub(crate) upstream_status: Option<u16>,
    pub(crate) upstream_request_id: Option<String>,
    pub(crate) provider_code: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) retry_after: Option<Duration>,
    /// Another try at the same deployment can't do better.
    pub(crate) lasting: bool,
    /// The provider's filter withheld the answer, which is an answer's end and no failure.
    pub(crate) withheld: bool,
}

impl Missed {
    pub(crate) const fn of(failure: Failure) -> Self {
        Self {
            failure,
            request: None,
            upstream_status: None,
            upstream_request_id: None,
            provider_code: None,
            message: None,
            retry_after: None,
            lasting: false,
            withheld: false,
        }
    }

    /// Whether the same deployment may be asked again.
    pub(crate) const fn is_retryable(&self) -> bool {
        self.failure.is_retryable() && !self.lasting
    }
}

impl From<WireError> for Missed {
    fn from(error: WireError) -> Self {
        match error {
            WireError::Refused(refusal) => Self {
                withheld: refusal.is_content_filter(),
                upstream_status: refusal.status,
                upstream_request_id: refusal.request_id,
                provider_code: refusal.provider_code,
                message: refusal.message,
                retry_after: refusal.retry_after,
                ..Self::of(refusal.failure)
            },
            WireError::Answer(_) => Self::of(error.failure()),
            WireError::Member { .. } | WireError::Inexpressible { .. } => {
                Self { request: Some(Box::new(error)), lasting: true, ..Self::of(Failure::InvalidRequest) }
            }
        }
    }
}

impl From<Fault> for Missed {
    fn from(fault: Fault) -> Self {
        let (failure, lasting) = match fault.kind {
            FaultKind::Timeout => (Failure::ProviderTimeout, false),
            FaultKind::Unknown | FaultKind::Unreachable | FaultKind::Broken => (Failure::Unavailable, false),
            FaultKind::NotAllowed | FaultKind::Untrusted => (Failure::Unavailable, true),
            FaultKind::TooLarge => (Failure::BrokenAnswer, true),
        };
        Self { lasting, message: Some(fault.message), ..Self::of(failure) }
    }
}

impl From<LocalFault> for Missed {
    fn from(fault: LocalFault) -> Self {
        match fault {
            LocalFault::Missing(message) => {
                Self { message: Some(message), lasting: true, ..Self::of(Failure::ModelNotFound) }
            }
            LocalFault::Busy(message) => Self {
                message: Some(message),
                retry_after: Some(Duration::from_secs(1)),
                ..Self::of(Failure::Unavailable)
            },
            LocalFault::Refused(message) => {
                Self { message: Some(message), lasting: true, ..Self::of(Failure::InvalidRequest) }
            }
        }
    }
}
