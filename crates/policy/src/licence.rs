//! Licences: claims, what they allow, and the state that follows from them and the clock.

use std::collections::BTreeMap;
use std::sync::Arc;

use heddle_kernel::{Timestamp, literals};
use serde::{Deserialize, Serialize};

/// The version of the claims that is understood.
pub const CLAIMS_VERSION: u32 = 1;
/// Seconds that the clock may go back before it counts as turned back.
pub const CLOCK_TOLERANCE_SECONDS: i64 = 24 * 3600;
/// Days before the end from which on a licence counts as expiring.
pub const EXPIRING_DAYS: i64 = 30;
/// Days before the end of a trial from which on it is warned of.
pub const TRIAL_WARNING_DAYS: i64 = 14;
/// Days that a self-issued trial lasts.
pub const TRIAL_DAYS: i64 = 30;
/// The installation id that stands for any.
pub const ANY_INSTALLATION: &str = "*";

const DAY_SECONDS: i64 = 24 * 3600;

literals! {
    /// Something that a licence allows.
    pub enum Entitlement {
        /// Workflows, runs, case types and cases.
        Workflow = "workflow.enabled",
        /// Vector databases.
        Vector = "vector.enabled",
    }
}

literals! {
    /// A number of the installation that a licence may limit. Only one more is refused at the limit; what is there
    /// goes on.
    pub enum Limit {
        /// Organisations.
        Organizations = "organizations",
        /// Accounts, switched off or not.
        Users = "users",
        /// Servers that run on the installation's database.
        Nodes = "nodes",
        /// Deployments of models.
        Deployments = "deployments",
        /// Vector databases.
        VectorDatabases = "vectorDatabases",
    }
}

literals! {
    /// A quota or rate of each organisation that a licence may lower.
    pub enum OrganizationLimit {
        /// Stored runs.
        Runs = "runs",
        /// Open tasks for people.
        OpenTasks = "openTasks",
        /// Stored bytes.
        StoredBytes = "storedBytes",
        /// Dead letters.
        DeadLetters = "deadLetters",
        /// Starts in a second.
        StartsPerSecond = "startsPerSecond",
        /// Messages in a second.
        MessagesPerSecond = "messagesPerSecond",
    }
}

literals! {
    /// A part of the service that a node may or may not run.
    pub enum ServiceRole {
        /// Workflows and cases.
        Workflow = "workflow",
        /// Vector databases.
        Vector = "vector",
    }
}

/// Kind of licence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// Production licence.
    Production,
    /// Trial licence; the only kind that an installation may sign itself.
    Trial,
    /// Developer licence.
    Developer,
}

/// Claims of a licence. Members that are not known here are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claims {
    /// The version of this form.
    pub v: u32,
    /// The licence's id.
    pub jti: String,
    /// The customer.
    pub sub: String,
    /// Instant of issue.
    pub iat: Timestamp,
    /// From when it holds.
    pub nbf: Timestamp,
    /// Instant at which it ends.
    pub exp: Timestamp,
    /// Days after the end in which all still works.
    #[serde(default = "default_grace")]
    pub grace_days: u32,
    /// The installation for which it holds, or `*`.
    pub installation_id: String,
    /// Kind of licence.
    pub kind: Kind,
    /// Entitlements by name; one that is not named is not allowed.
    #[serde(default)]
    pub entitlements: BTreeMap<String, bool>,
    /// Limits of numbers, by name; what is not named is not limited.
    #[serde(default)]
    pub limits: BTreeMap<String, u64>,
    /// Licences that this one takes the place of.
    #[serde(default)]
    pub supersedes: Vec<String>,
    /// Licences that hold no longer.
    #[serde(default)]
    pub revoked: Vec<String>,
}

const fn default_grace() -> u32 {
    14
}

/// Signer of a licence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signer {
    /// The vendor.
    Vendor,
    /// The installation itself.
    Installation,
}

/// Finding in the place of the licence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresentedLicence<'a> {
    /// Nothing.
    Missing,
    /// Something whose signature, or whose place in the installation's sealed record, is not right.
    Invalid,
    /// A licence whose signature is right.
    Signed(&'a Claims, Signer),
}

/// Facts about time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockFacts {
    /// Reading of the clock.
    pub now: Timestamp,
    /// The latest time that was ever seen.
    pub high_water_mark: Timestamp,
}

impl ClockFacts {
    /// The time that counts: never before one already seen.
    #[must_use]
    pub fn effective(self) -> Timestamp {
        self.now.max(self.high_water_mark)
    }

    /// Whether the clock was turned back by more than is tolerated.
    #[must_use]
    pub fn rolled_back(self) -> bool {
        self.now < self.high_water_mark.plus_seconds(-CLOCK_TOLERANCE_SECONDS)
    }
}

/// Facts about the installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Installation<'a> {
    /// Id of the installation.
    pub id: &'a str,
    /// Licences that hold no longer.
    pub revoked: &'a [String],
}

literals! {
    /// Reason of a restriction to remediation.
    pub enum Restriction {
        /// There is no licence.
        Missing = "missing",
        /// Licence that has ended, and its grace too.
        Expired = "expired",
        /// Licence whose signature or form is not right.
        InvalidSignature = "invalid_signature",
        /// Licence for another installation.
        WrongInstallation = "wrong_installation",
        /// Licence that does not hold yet.
        NotYetValid = "not_yet_valid",
        /// The clock was turned back.
        ClockRollback = "clock_rollback",
        /// Licence that was revoked.
        Revoked = "revoked",
    }
}

/// The state of an installation's licence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LicenceState {
    /// A trial.
    Trial {
        /// Instant at which it ends.
        expires_at: Timestamp,
    },
    /// All is well.
    Active {
        /// Instant at which it ends.
        expires_at: Timestamp,
    },
    /// Licence that ends within [`EXPIRING_DAYS`] days.
    Expiring {
        /// Instant at which it ends.
        expires_at: Timestamp,
    },
    /// Licence that has ended; all still works for a while.
    Grace {
        /// Instant at which the grace ends.
        until: Timestamp,
    },
    /// Only remediation is open.
    Restricted {
        /// Reason of the restriction.
        reason: Restriction,
    },
}

impl LicenceState {
    /// The word of the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trial { .. } => "trial",
            Self::Active { .. } => "active",
            Self::Expiring { .. } => "expiring",
            Self::Grace { .. } => "grace",
            Self::Restricted { .. } => "restricted",
        }
    }

    /// Reason for which only remediation is open; none when all is.
    #[must_use]
    pub const fn restriction(self) -> Option<Restriction> {
        match self {
            Self::Restricted { reason } => Some(reason),
            Self::Trial { .. } | Self::Active { .. } | Self::Expiring { .. } | Self::Grace { .. } => None,
        }
    }

    /// Warning for callers (header `x-licence-warning`); none while the licence is active. A trial is never for
    /// production; its last [`TRIAL_WARNING_DAYS`] days are counted.
    #[must_use]
    pub fn warning(self, now: Timestamp) -> Option<String> {
        match self {
            Self::Active { .. } => None,
            Self::Trial { expires_at } if self.is_pressing(now) => Some(format!(
                "trial; not for production; ends {} ({expires_at}): install a licence",
                remaining(now, expires_at)
            )),
            Self::Trial { expires_at } => Some(format!("trial; not for production; ends {expires_at}")),
            Self::Expiring { expires_at } => Some(format!(
                "expiring; ends {} ({expires_at}): install a licence",
                remaining(now, expires_at)
            )),
            Self::Grace { until } => {
                Some(format!("ended; works until {until} ({}): install a licence", remaining(now, until)))
            }
            Self::Restricted { reason } => Some(format!("restricted: {}", reason.as_str())),
        }
    }

    /// Whether the state is to be told to whoever operates the installation: its end is near, has come, or is past.
    #[must_use]
    pub fn is_pressing(self, now: Timestamp) -> bool {
        match self {
            Self::Active { .. } => false,
            Self::Trial { expires_at } => now >= expires_at.plus_seconds(-TRIAL_WARNING_DAYS * DAY_SECONDS),
            Self::Expiring { .. } | Self::Grace { .. } | Self::Restricted { .. } => true,
        }
    }
}

/// Time that is left, for people.
fn remaining(now: Timestamp, end: Timestamp) -> String {
    let days = end.duration_since(now).as_secs() / DAY_SECONDS.unsigned_abs();
    match days {
        0 => "in less than a day".to_owned(),
        1 => "in 1 day".to_owned(),
        days => format!("in {days} days"),
    }
}

/// The state that follows from a licence, the clock and the installation; a pure function.
#[must_use]
pub fn evaluate(
    presented: PresentedLicence<'_>,
    clock: ClockFacts,
    installation: Installation<'_>,
) -> LicenceState {
    let restricted = |reason| LicenceState::Restricted { reason };
    let (claims, signer) = match presented {
        PresentedLicence::Missing => return restricted(Restriction::Missing),
        PresentedLicence::Invalid => return restricted(Restriction::InvalidSignature),
        PresentedLicence::Signed(claims, signer) => (claims, signer),
    };
    if claims.v != CLAIMS_VERSION || !may_sign(signer, claims, installation.id) {
        return restricted(Restriction::InvalidSignature);
    }
    if claims.installation_id != ANY_INSTALLATION && claims.installation_id != installation.id {
        return restricted(Restriction::WrongInstallation);
    }
    if installation.revoked.contains(&claims.jti) || claims.revoked.contains(&claims.jti) {
        return restricted(Restriction::Revoked);
    }
    if clock.rolled_back() {
        return restricted(Restriction::ClockRollback);
    }
    let now = clock.effective();
    if now < claims.nbf {
        return restricted(Restriction::NotYetValid);
    }
    running(claims, now)
}

fn running(claims: &Claims, now: Timestamp) -> LicenceState {
    let expires_at = claims.exp;
    if now >= expires_at {
        let until = expires_at.plus_seconds(i64::from(claims.grace_days).saturating_mul(DAY_SECONDS));
        return if now < until {
            LicenceState::Grace { until }
        } else {
            LicenceState::Restricted { reason: Restriction::Expired }
        };
    }
    if claims.kind == Kind::Trial {
        return LicenceState::Trial { expires_at };
    }
    if now >= expires_at.plus_seconds(-EXPIRING_DAYS * DAY_SECONDS) {
        return LicenceState::Expiring { expires_at };
    }
    LicenceState::Active { expires_at }
}

/// An installation may sign a trial for itself, of the usual length and without grace; nothing else.
fn may_sign(signer: Signer, claims: &Claims, installation_id: &str) -> bool {
    match signer {
        Signer::Vendor => true,
        Signer::Installation => {
            claims.kind == Kind::Trial
                && claims.installation_id == installation_id
                && claims.grace_days == 0
                && claims.exp <= claims.iat.plus_seconds(TRIAL_DAYS * DAY_SECONDS)
        }
    }
}

/// The licence in force: its state and what it allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Licence {
    /// State of the licence.
    pub state: LicenceState,
    /// Claims of the licence; none when there is none that can be read.
    pub claims: Option<Arc<Claims>>,
}

impl Licence {
    /// Reason for which only remediation is open; none when all is.
    #[must_use]
    pub fn restriction(&self) -> Option<&'static str> {
        self.state.restriction().map(Restriction::as_str)
    }

    /// Whether an entitlement is allowed, by its name; nothing is while only remediation is open.
    #[must_use]
    pub fn allows(&self, entitlement: &str) -> bool {
        let named = |claims: &Claims| claims.entitlements.get(entitlement).copied().unwrap_or(false);
        self.state.restriction().is_none() && self.claims.as_deref().is_some_and(named)
    }

    /// Highest number of something that the licence allows, by its name ([`Limit`], [`OrganizationLimit`]); none when
    /// it is not limited.
    #[must_use]
    pub fn limit(&self, name: &str) -> Option<u64> {
        self.claims.as_ref().and_then(|claims| claims.limits.get(name).copied())
    }
}
