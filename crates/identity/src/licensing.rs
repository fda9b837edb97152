//! The use cases around the licence.

use heddle_kernel::{Revision, TenantId, Timestamp};
use heddle_policy::capability::{LicenceInspect, LicenceInstall, LicenceRead};
use heddle_policy::licence::{
    CLAIMS_VERSION, CLOCK_TOLERANCE_SECONDS, Claims, ClockFacts, Entitlement, Kind, Licence, LicenceState,
    Limit, Restriction, Signer, TRIAL_DAYS,
};
use heddle_policy::{AuthorizedKind, RequestContext, RequestFacts};
use heddle_usecase::StoreError;
use heddle_usecase::{Actor, Journal, Outcome};
use serde_json::json;

use crate::audit::{Event, system};
use crate::licence::{self, FileError, INSTALLATION_KEY_ID, Kept};
use crate::nodes::Numbers;
use crate::records::InstallationState;
use crate::{Identity, InstallationKey, JournalFor, UseCaseError};
use heddle_usecase::Problem;
use heddle_usecase::check_revision;

/// Seconds between two writings of the latest time seen.
const HIGH_WATER_SECONDS: i64 = 600;
const DAY_SECONDS: i64 = 24 * 3600;
/// Reason for which a licence is not installed that was issued before the one in place.
const OLDER: &str = "olderLicence";

/// The licence with all that is shown of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LicenceReport {
    /// The licence in force.
    pub licence: Licence,
    /// The installation's id.
    pub installation_id: String,
    /// Present numbers of what a licence may limit.
    pub usage: Numbers,
    /// Whether the trial can still be started.
    pub trial_available: bool,
    /// The revision of the installation's row.
    pub revision: Revision,
}

/// A licence to install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Install {
    /// The file's text.
    pub text: String,
    /// Install it although it was issued before the one installed.
    pub force: bool,
    /// The row's revision that the caller saw.
    pub revision: Option<Revision>,
}

/// Result of validating a licence, as if it were installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validation {
    /// Whether it would be taken.
    pub valid: bool,
    /// The machine word of what is wrong.
    pub reason: Option<&'static str>,
    /// A sentence for people.
    pub message: String,
    /// Content of the licence, if its signature is right.
    pub licence: Option<Licence>,
}

/// Licence request: the data that the vendor needs to issue a licence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LicenceRequest {
    /// The installation's id.
    pub installation_id: String,
    /// Present numbers of what a licence may limit.
    pub usage: Numbers,
    /// Instant of the request.
    pub created_at: Timestamp,
}

/// Outcome of looking at a licence that stands in a file of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provided {
    /// The licence is in force now, or as far as its state says.
    Installed(LicenceState),
    /// Licence that was installed before.
    Present,
    /// One that was issued later is installed; the file's is left alone.
    Older,
}

struct Candidate {
    claims: Claims,
    next: InstallationState,
    licence: Licence,
}

impl Identity {
    fn kept(&self) -> Result<Kept, UseCaseError> {
        self.licences
            .kept()
            .ok_or_else(|| UseCaseError::Internal("the installation was not started".to_owned()))
    }

    async fn fresh(&self) -> Result<Kept, UseCaseError> {
        let state = self.ports.installation.load().await?;
        let state =
            state.ok_or_else(|| UseCaseError::Internal("the installation's row is gone".to_owned()))?;
        self.licences.set(state, false);
        self.kept()
    }

    async fn report(&self, kept: &Kept, now: Timestamp) -> Result<LicenceReport, UseCaseError> {
        Ok(LicenceReport {
            licence: kept.licence(self.licences.clock(now, &kept.state)),
            installation_id: kept.state.installation_id.clone(),
            usage: self.numbers(now).await?,
            trial_available: kept.state.trial_started_at.is_none(),
            revision: kept.state.revision,
        })
    }

    /// The licence in force, its limits and their use.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn licence(
        &self,
        _: &AuthorizedKind<LicenceRead>,
        context: &RequestContext,
    ) -> Result<LicenceReport, UseCaseError> {
        let kept = self.fresh().await?;
        self.report(&kept, context.now()).await
    }

    /// Licence request with the data that the vendor needs.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn licence_request(
        &self,
        _: &AuthorizedKind<LicenceInspect>,
        context: &RequestContext,
    ) -> Result<LicenceRequest, UseCaseError> {
        Ok(LicenceRequest {
            installation_id: self.kept()?.state.installation_id,
            usage: self.numbers(context.now()).await?,
            created_at: context.now(),
        })
    }

    /// Result of validating a licence, as if it were installed, with `force` or without; nothing is changed.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn validate_licence(
        &self,
        _: &AuthorizedKind<LicenceInspect>,
        context: &RequestContext,
        text: &str,
        force: bool,
    ) -> Result<Validation, UseCaseError> {
        let kept = self.fresh().await?;
        let read = licence::read(text, &self.tools.key);
        let known = read.ok().map(|(claims, signer)| (claims, signer == Signer::Vendor));
        match self.candidate(&kept, text, context.now(), force) {
            Ok(candidate) => Ok(Validation {
                valid: true,
                reason: None,
                message: format!("The licence would be {}.", candidate.licence.state.as_str()),
                licence: Some(candidate.licence),
            }),
            Err(UseCaseError::Invalid(problems) | UseCaseError::Conflict(problems)) => {
                let first = problems.into_iter().next();
                let of = |(claims, _): (Claims, bool)| {
                    let state = self.would_be(&kept, &claims, context.now());
                    Licence { state, claims: Some(claims.into()) }
                };
                Ok(Validation {
                    valid: false,
                    reason: first.as_ref().map(|problem| problem.reason),
                    message: first.map(|problem| problem.message).unwrap_or_default(),
                    licence: known.filter(|(_, vendor)| *vendor).map(of),
                })
            }
            Err(other) => Err(other),
        }
    }

    fn would_be(&self, kept: &Kept, claims: &Claims, now: Timestamp) -> LicenceState {
        use heddle_policy::licence::{Installation, PresentedLicence, evaluate};
        let installation = Installation { id: &kept.state.installation_id, revoked: &kept.state.revoked };
        let clock = ClockFacts { now, high_water_mark: now };
        evaluate(PresentedLicence::Signed(claims, Signer::Vendor), clock, installation)
    }

    /// Installs a vendor's licence; it is in force at once.
    ///
    /// # Errors
    /// `Invalid` for a text that is not a licence for this installation and time; `Conflict` (`olderLicence`) for one
    /// issued before the one installed, without `force`; `Conflict` (`revisionMismatch`).
    pub async fn install_licence(
        &self,
        _: &AuthorizedKind<LicenceInstall>,
        context: &RequestContext,
        install: &Install,
        record: &JournalFor<'_, LicenceReport>,
    ) -> Result<LicenceReport, UseCaseError> {
        let kept = self.fresh().await?;
        check_revision(install.revision, kept.state.revision)?;
        let candidate = match self.candidate(&kept, &install.text, context.now(), install.force) {
            Ok(candidate) => candidate,
            Err(error) => {
                let actor = Actor::of(context.principal());
                self.rejected(context.request(), Some(context.tenant()), actor, &error).await?;
                return Err(error);
            }
        };
        self.replace(&kept, candidate.next, context.now(), record).await
    }

    /// Installs the licence of a file that the configuration names, unless it is installed already or was issued before
    /// the one installed. To be called at the start of a server.
    ///
    /// # Errors
    /// `Invalid` for a text that is not a licence for this installation and time; `Unavailable`.
    pub async fn install_provided(&self, text: &str) -> Result<Provided, UseCaseError> {
        let kept = self.fresh().await?;
        if kept.state.licence.as_deref() == Some(text.trim()) {
            return Ok(Provided::Present);
        }
        let request = self.own_request();
        let candidate = match self.candidate(&kept, text, request.now, false) {
            Ok(candidate) => candidate,
            Err(UseCaseError::Conflict(problems)) if problems.iter().any(|one| one.reason == OLDER) => {
                return Ok(Provided::Older);
            }
            Err(error) => {
                self.rejected(&request, None, system(), &error).await?;
                return Err(error);
            }
        };
        let record = |_: &LicenceReport| {
            let event = Event {
                tenant: None,
                actor: system(),
                action: "licence.installed",
                resource: ("licence", None),
                outcome: Outcome::Succeeded,
                details: json!({ "from": "configuration" }),
            };
            self.journal(&request, event)
        };
        match self.replace(&kept, candidate.next, request.now, &record).await {
            Ok(report) => Ok(Provided::Installed(report.licence.state)),
            // Another node was faster.
            Err(UseCaseError::Conflict(_)) => Ok(Provided::Present),
            Err(error) => Err(error),
        }
    }

    /// Notes that a licence was refused.
    async fn rejected(
        &self,
        request: &RequestFacts,
        tenant: Option<TenantId>,
        actor: Actor,
        error: &UseCaseError,
    ) -> Result<(), UseCaseError> {
        let reason = match error {
            UseCaseError::Invalid(problems) | UseCaseError::Conflict(problems) => {
                problems.first().map(|problem| problem.reason)
            }
            UseCaseError::NotFound
            | UseCaseError::Forbidden(_)
            | UseCaseError::Unauthenticated
            | UseCaseError::LimitReached { .. }
            | UseCaseError::Throttled { .. }
            | UseCaseError::RateLimited { .. }
            | UseCaseError::Busy
            | UseCaseError::Unavailable(_)
            | UseCaseError::QueueFull { .. }
            | UseCaseError::Abandoned { .. }
            | UseCaseError::Internal(_) => None,
        };
        let event = Event {
            tenant,
            actor,
            action: "licence.rejected",
            resource: ("licence", None),
            outcome: Outcome::Failed,
            details: json!({ "reason": reason }),
        };
        Ok(self.ports.installation.audit(&self.entry(request, event)).await?)
    }

    /// Writes a row and takes it over.
    async fn replace(
        &self,
        kept: &Kept,
        next: InstallationState,
        now: Timestamp,
        record: &JournalFor<'_, LicenceReport>,
    ) -> Result<LicenceReport, UseCaseError> {
        let next =
            self.tools.key.sealed(InstallationState { revision: kept.state.revision.next(), ..next })?;
        let mut report = self.report(kept, now).await?;
        let before = report.clone();
        let new = Kept::new(next.clone(), &self.tools.key);
        let clock = ClockFacts { now, high_water_mark: next.high_water_mark };
        report.licence = new.licence(clock);
        report.trial_available = next.trial_started_at.is_none();
        report.revision = next.revision;
        let journal = record(&report).changing(Some(&before), Some(&report));
        self.ports.installation.update(&next, kept.state.revision, &journal).await?;
        self.licences.set(next, true);
        // The installation has its own event.
        self.licences.tell(report.licence.state);
        Ok(report)
    }

    /// Row that installing this licence would write.
    fn candidate(
        &self,
        kept: &Kept,
        text: &str,
        now: Timestamp,
        force: bool,
    ) -> Result<Candidate, UseCaseError> {
        let (claims, signer) = licence::read(text, &self.tools.key).map_err(|error| unreadable(&error))?;
        if signer == Signer::Installation {
            let message = "An installation's own trial is started, not installed.";
            return Err(UseCaseError::invalid("licence", "invalid_signature", message));
        }
        let before = kept.signed().filter(|(_, signer)| *signer == Signer::Vendor).map(|(claims, _)| claims);
        if before.is_some_and(|before| claims.iat < before.iat) && !force {
            let message =
                "The licence was issued before the one that is installed; `force` installs it all the same.";
            return Err(UseCaseError::conflict(OLDER, message));
        }
        let next = InstallationState {
            licence: Some(text.trim().to_owned()),
            licence_installed_at: Some(now),
            revoked: revoked(&kept.state, &claims),
            high_water_mark: high_water(kept, before, &claims, now),
            ..kept.state.clone()
        };
        let next = self.tools.key.sealed(next)?;
        let clock = ClockFacts { now, high_water_mark: next.high_water_mark };
        let licence = Kept::new(next.clone(), &self.tools.key).licence(clock);
        match licence.state.restriction() {
            // A clock that was turned back is cured by the clock, or by the next licence; it does no harm to install.
            None | Some(Restriction::ClockRollback) => Ok(Candidate { claims, next, licence }),
            Some(reason) => Err(unfit(reason, &claims)),
        }
        .inspect(|candidate| tracing::debug!(licence = candidate.claims.jti, "a licence fits"))
    }

    /// Starts the installation's own trial; once.
    ///
    /// # Errors
    /// `Conflict` (`trialUsed`, `licensed`).
    pub async fn start_trial(
        &self,
        _: &AuthorizedKind<LicenceInstall>,
        context: &RequestContext,
        record: &JournalFor<'_, LicenceReport>,
    ) -> Result<LicenceReport, UseCaseError> {
        let kept = self.fresh().await?;
        if kept.state.trial_started_at.is_some() {
            return Err(UseCaseError::conflict("trialUsed", "The installation had its trial."));
        }
        if kept.signed().is_some_and(|(_, signer)| signer == Signer::Vendor) {
            return Err(UseCaseError::conflict(
                "licensed",
                "A licence is installed; a trial would take its place.",
            ));
        }
        let next = with_trial(kept.state.clone(), &self.tools.key, context.now())?;
        self.replace(&kept, next, context.now(), record).await
    }

    /// Reads the row again and writes down the time, so that other nodes' changes and a clock that is turned back are
    /// noticed. To be called each minute.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn tick(&self) -> Result<(), UseCaseError> {
        let now = self.tools.clock.now();
        let kept = self.fresh().await?;
        let state = self.licence_state().state;
        // A row with a wrong seal keeps it: a new seal over it would make it right.
        let due = now >= kept.state.high_water_mark.plus_seconds(HIGH_WATER_SECONDS);
        if due && self.tools.key.is_sealed(&kept.state) {
            let revision = kept.state.revision;
            let next = InstallationState { high_water_mark: now, revision: revision.next(), ..kept.state };
            let next = self.tools.key.sealed(next)?;
            match self.ports.installation.update(&next, revision, &Journal::default()).await {
                Ok(()) => self.licences.set(next, false),
                // Another node was faster.
                Err(StoreError::Stale) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.warn_of_licence();
        if let Some(before) = self.licences.tell(state) {
            self.state_changed(before, state).await?;
        }
        Ok(())
    }

    async fn state_changed(&self, before: LicenceState, after: LicenceState) -> Result<(), UseCaseError> {
        let event = Event {
            tenant: None,
            actor: system(),
            action: "licence.state_changed",
            resource: ("licence", None),
            outcome: Outcome::Succeeded,
            details: json!({
                "from": before.as_str(),
                "to": after.as_str(),
                "reason": after.restriction().map(Restriction::as_str),
            }),
        };
        Ok(self.ports.installation.audit(&self.entry(&self.own_request(), event)).await?)
    }
}

fn unreadable(error: &FileError) -> UseCaseError {
    UseCaseError::invalid("licence", "invalid_signature", format!("{error}."))
}

fn unfit(reason: Restriction, claims: &Claims) -> UseCaseError {
    let message = match reason {
        Restriction::Expired => format!("The licence ended at {}.", claims.exp),
        Restriction::NotYetValid => format!("The licence holds from {} on.", claims.nbf),
        Restriction::WrongInstallation => {
            format!("The licence is for the installation `{}`.", claims.installation_id)
        }
        Restriction::Revoked => "The licence was revoked.".to_owned(),
        Restriction::InvalidSignature if claims.v != CLAIMS_VERSION => {
            format!("The licence has form {}; form {CLAIMS_VERSION} is understood.", claims.v)
        }
        Restriction::Missing | Restriction::InvalidSignature | Restriction::ClockRollback => {
            "The licence is not right.".to_owned()
        }
    };
    UseCaseError::Invalid(vec![Problem::at("licence", reason.as_str(), message)])
}

fn revoked(state: &InstallationState, claims: &Claims) -> Vec<String> {
    let mut all = state.revoked.clone();
    all.extend(claims.revoked.iter().chain(&claims.supersedes).cloned());
    all.sort_unstable();
    all.dedup();
    all
}

/// The latest time seen, after a licence is installed. The vendor's time counts as seen. When the clock stands far
/// behind what was seen, a licence issued later than the one before tells which of the two was wrong: a licence from
/// about now, that the clock was once far ahead.
fn high_water(kept: &Kept, before: Option<&Claims>, claims: &Claims, now: Timestamp) -> Timestamp {
    let seen = kept.state.high_water_mark;
    let behind = now < seen.plus_seconds(-CLOCK_TOLERANCE_SECONDS);
    let newer = before.is_none_or(|before| claims.iat > before.iat);
    let believable =
        claims.iat <= now.plus_seconds(CLOCK_TOLERANCE_SECONDS) && claims.kind != Kind::Developer;
    if behind && newer && believable { claims.iat.max(now) } else { seen.max(claims.iat) }
}

/// The row with a trial that the installation signed for itself, from now on.
pub(crate) fn with_trial(
    state: InstallationState,
    key: &InstallationKey,
    now: Timestamp,
) -> Result<InstallationState, UseCaseError> {
    let claims = Claims {
        v: CLAIMS_VERSION,
        jti: format!("trial-{}", state.installation_id),
        sub: "Trial".to_owned(),
        iat: now,
        nbf: now,
        exp: now.plus_seconds(TRIAL_DAYS * DAY_SECONDS),
        grace_days: 0,
        installation_id: state.installation_id.clone(),
        kind: Kind::Trial,
        entitlements: Entitlement::ALL.iter().map(|one| (one.as_str().to_owned(), true)).collect(),
        limits: [(Limit::Nodes, 1), (Limit::Users, 25), (Limit::Organizations, 5)]
            .map(|(limit, most)| (limit.as_str().to_owned(), most))
            .into(),
        supersedes: Vec::new(),
        revoked: Vec::new(),
    };
    let text = licence::sign(&claims, INSTALLATION_KEY_ID, &key.signing()?)?;
    let licence = Some(text);
    let high_water_mark = state.high_water_mark.max(now);
    Ok(InstallationState {
        licence,
        licence_installed_at: Some(now),
        trial_started_at: Some(now),
        high_water_mark,
        ..state
    })
}
