//! Sign-in by e-mail address and password.

use heddle_kernel::{SessionId, TenantId, Timestamp};
use heddle_policy::RequestFacts;
use heddle_usecase::{Journal, Outcome, StoreError};
use serde_json::json;

use crate::audit::{Event, acting, anonymous};
use crate::ports::{Attempt, FactorProof, NewSession};
use crate::records::{OwnOrganization, Session, User, UserKind, UserState};
use crate::throttle::Bucket;
use crate::ticket::TICKET_SECONDS;
use crate::token::{SESSION_PREFIX, Token};
use crate::told::UsedRecoveryCode;
use crate::{Identity, UseCaseError, device, password, ticket, token, tries, validate};

/// The longest `User-Agent` that is kept, in characters.
pub(crate) const USER_AGENT_MAX: usize = 300;

/// Most times that a session is tried to be opened while the account changes.
const OPENINGS: usize = 4;

/// A sign-in as it was sent.
#[derive(Clone, Default)]
pub struct SignIn {
    /// The e-mail address.
    pub email: String,
    /// The password.
    pub password: String,
    /// The organisation that counts when a request names none; the user's home by default.
    pub organization: Option<TenantId>,
    /// `User-Agent`.
    pub user_agent: Option<String>,
    /// The token of a session that came with it; that session ends, so that a token put under by somebody else is
    /// worth nothing after the sign-in.
    pub presented: Option<String>,
    /// The mark of a device on which an account was signed in before.
    pub device: Option<String>,
}

impl std::fmt::Debug for SignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignIn").field("organization", &self.organization).finish_non_exhaustive()
    }
}

/// An opened session.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// Token of the session; it is shown this once.
    pub token: Token,
    /// The session.
    pub session: Session,
    /// Mark of the device from now on: with it the next sign-in of the account is spared other people's failures.
    pub device: String,
    /// Account to which the session belongs.
    pub user: User,
    /// The organisations to which the user belongs.
    pub organizations: Vec<OwnOrganization>,
}

/// Answer to a right password.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "it is taken apart where it is given")]
pub enum SignInAnswer {
    /// An opened session.
    SignedIn(SignedIn),
    /// A code of the account's second factor is needed.
    CodeRequired(CodeRequired),
}

/// Ticket with which a sign-in goes on.
#[derive(Clone, PartialEq, Eq)]
pub struct CodeRequired {
    /// Ticket for the second call.
    pub ticket: String,
    /// Instant at which the ticket ends.
    pub expires_at: Timestamp,
}

impl std::fmt::Debug for CodeRequired {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CodeRequired").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// Account that was proven, with what, and the buckets in which that was counted.
pub(crate) struct Proven {
    /// Key of the account, as marks of devices name it.
    pub account: String,
    /// Buckets whose failures are forgotten.
    pub forgotten: Vec<Bucket>,
    /// Buckets from which the one failure is taken back that the sign-in counted as.
    pub forgiven: Vec<Bucket>,
    /// A new hash of the password, when the old one was made with lesser parameters.
    pub rehash: Option<String>,
    /// Code of the second factor.
    pub factor: Option<FactorProof>,
}

/// The session that is asked for.
pub(crate) struct Wanted<'a> {
    /// The organisation that counts when a request names none.
    pub organization: Option<TenantId>,
    /// `User-Agent`.
    pub user_agent: Option<&'a str>,
    /// The token of a session that this one takes the place of.
    pub presented: Option<&'a str>,
}

impl Identity {
    /// Opens a session, or gives the ticket for the second call, of an account with a second factor. Known and unknown
    /// accounts get the same answers and take the same time.
    ///
    /// # Errors
    /// `Unauthenticated`; `Throttled` after too many failures of the account or from the address; `Busy` when too
    /// many wait; `Forbidden` (`notAMember`) for an organisation to which the user does not belong; `Unavailable`.
    pub async fn sign_in(&self, sent: &SignIn, request: &RequestFacts) -> Result<SignInAnswer, UseCaseError> {
        let email = validate::email_form(&sent.email);
        let account = tries::account_key(&email);
        let known = device::known(&self.tools.key, &account, sent.device.as_deref(), request.now);
        let tries = tries::of_sign_in(&account, request.client_ip.as_deref(), known.as_deref());
        // The count comes before the turn, so that a flood from one network takes no places in the queue.
        let counted = self.ports.sessions.attempt(&tries.all(), request.now).await?;
        if let Attempt::Refused { next_at } = counted {
            return Err(throttled(next_at, request.now));
        }
        let turn = match self.passwords.turn_of(&tries.origin).await {
            Ok(turn) => turn,
            Err(busy) => {
                // A busy server counts no failure.
                self.ports.sessions.forgive(&tries.all()).await?;
                return Err(busy);
            }
        };
        let user = self.ports.sessions.user_by_email(&email).await?;
        // A longer password than any that is taken is not even hashed, but the time is spent.
        let (given, possible) = match sent.password.len() <= password::MAX_LENGTH {
            true => (sent.password.as_str(), true),
            false => ("", false),
        };
        let stored = user.as_ref().and_then(|user| user.password_hash.as_deref()).filter(|_| possible);
        let fits = self.passwords.verify(turn, given, stored).await?;
        let user = match user {
            Some(user) if fits && user.state == UserState::Active && user.kind == UserKind::Person => user,
            other => return Err(self.refuse(other.as_ref(), request).await),
        };
        if user.totp_enrolled_at.is_some() {
            // The password was right; what is still to be proven has a count of its own.
            self.ports.sessions.forgive(&tries.all()).await?;
            return self.ask_for_code(&user, sent, request).await.map(SignInAnswer::CodeRequired);
        }
        let rehash = self.rehash(&user, &sent.password).await;
        let (forgotten, forgiven) = (tries.own, tries.shared);
        let proven = Proven { account, forgotten, forgiven, rehash, factor: None };
        let wanted = Wanted {
            organization: sent.organization,
            user_agent: sent.user_agent.as_deref(),
            presented: sent.presented.as_deref(),
        };
        self.open(user, proven, wanted, request).await.map(SignInAnswer::SignedIn)
    }

    /// Ticket with which the sign-in goes on.
    async fn ask_for_code(
        &self,
        user: &User,
        sent: &SignIn,
        request: &RequestFacts,
    ) -> Result<CodeRequired, UseCaseError> {
        let organizations = self.ports.sessions.organizations_of(user.id, request.now).await?;
        chosen(user, sent.organization, &organizations)?;
        if let Some(hash) = self.rehash(user, &sent.password).await {
            self.ports.sessions.rehash(user.id, user.revision, &hash).await?;
        }
        let ticket = ticket::make(&self.tools.key, user, sent.organization, request.now)?;
        Ok(CodeRequired { ticket, expires_at: request.now.plus_seconds(TICKET_SECONDS) })
    }

    async fn refuse(&self, user: Option<&User>, request: &RequestFacts) -> UseCaseError {
        self.refuse_with(user, json!({ "knownAccount": user.is_some() }), request).await
    }

    /// Refusal of a ticket or a code.
    pub(crate) async fn refuse_code(&self, user: Option<&User>, request: &RequestFacts) -> UseCaseError {
        self.refuse_with(user, json!({ "knownAccount": user.is_some(), "reason": "codeRefused" }), request)
            .await
    }

    async fn refuse_with(
        &self,
        user: Option<&User>,
        details: serde_json::Value,
        request: &RequestFacts,
    ) -> UseCaseError {
        let event = Event {
            tenant: user.map(|user| user.home),
            actor: anonymous(),
            action: "session.refused",
            resource: ("user", user.map(|user| user.id.to_string())),
            outcome: Outcome::Denied,
            details,
        };
        match self.ports.installation.audit(&self.entry(request, event)).await {
            Ok(()) => UseCaseError::Unauthenticated,
            Err(error) => error.into(),
        }
    }

    /// Opens the session of a proven account.
    pub(crate) async fn open(
        &self,
        user: User,
        proven: Proven,
        wanted: Wanted<'_>,
        request: &RequestFacts,
    ) -> Result<SignedIn, UseCaseError> {
        let now = request.now;
        let organizations = self.ports.sessions.organizations_of(user.id, now).await?;
        let tenant = chosen(&user, wanted.organization, &organizations)?;
        let secret = Token::random(SESSION_PREFIX)?;
        let session = Session {
            id: SessionId(self.new_id(now)),
            user_id: user.id,
            tenant,
            token_sha256: secret.sha256(),
            created_at: now,
            last_seen_at: now,
            expires_at: now.plus_seconds(self.settings.absolute_seconds),
            client_ip: request.client_ip.clone(),
            user_agent: wanted.user_agent.map(|agent| agent.chars().take(USER_AGENT_MAX).collect()),
            second_factor: proven.factor.as_ref().map(FactorProof::kind),
            provider: None,
        };
        let event = Event {
            tenant: Some(tenant),
            actor: acting(&user),
            action: "session.created",
            resource: ("session", Some(session.id.to_string())),
            outcome: Outcome::Succeeded,
            details: match session.second_factor {
                Some(factor) => json!({ "method": "password", "secondFactor": factor.as_str() }),
                None => json!({ "method": "password" }),
            },
        };
        let new = NewSession {
            session: session.clone(),
            seen: user.revision,
            forgotten: proven.forgotten,
            forgiven: proven.forgiven,
            rehash: proven.rehash,
            replaces: wanted.presented.and_then(token::read).map(|(_, sha256)| sha256),
            factor: proven.factor,
        };
        let device = device::mark(&self.tools.key, &proven.account, now)?;
        let journal = match &new.factor {
            Some(FactorProof::RecoveryCode { sha256 }) => {
                self.journal(request, event).changing(Some(&UsedRecoveryCode(sha256)), None)
            }
            Some(FactorProof::Code { .. }) | None => self.journal(request, event),
        };
        if !self.write_session(&user, new, &journal).await? {
            return Err(match session.second_factor {
                Some(_) => self.refuse_code(Some(&user), request).await,
                None => self.refuse(Some(&user), request).await,
            });
        }
        Ok(SignedIn { token: secret, session, device, user, organizations })
    }

    /// Writes a session, if the account still has the password and the second factor that were looked at and is still in
    /// use, and the code was not used before. A change of something else in the meantime is none of its business.
    async fn write_session(
        &self,
        user: &User,
        mut new: NewSession,
        journal: &Journal,
    ) -> Result<bool, UseCaseError> {
        for _ in 0..OPENINGS {
            match self.ports.sessions.open(&new, journal).await {
                Err(StoreError::Stale) => {}
                Err(StoreError::NotFound) if new.factor.is_some() => return Ok(false),
                other => return Ok(other.map(|()| true)?),
            }
            let same = |now: &User| {
                now.password_changed_at == user.password_changed_at
                    && now.totp_enrolled_at == user.totp_enrolled_at
                    && now.state == UserState::Active
            };
            let Some(present) = self.ports.sessions.user(user.id).await?.filter(same) else {
                return Ok(false);
            };
            new.seen = present.revision;
        }
        Err(UseCaseError::Busy)
    }

    /// A new hash when the costs have risen; without a turn to spare the old one serves on.
    async fn rehash(&self, user: &User, password: &str) -> Option<String> {
        let outdated = user.password_hash.as_ref().is_some_and(|stored| self.passwords.is_outdated(stored));
        if !outdated {
            return None;
        }
        let turn = self.passwords.turn().await.ok()?;
        self.passwords.hash(turn, password).await.ok()
    }
}

/// The organisation of a new session.
fn chosen(
    user: &User,
    wanted: Option<TenantId>,
    organizations: &[OwnOrganization],
) -> Result<TenantId, UseCaseError> {
    let belongs = |id: TenantId| organizations.iter().any(|own| own.organization.id == id);
    match wanted {
        Some(wanted) if belongs(wanted) => Ok(wanted),
        Some(_) => {
            Err(UseCaseError::forbidden("notAMember", "The user is not a member of the organisation."))
        }
        None if belongs(user.home) => Ok(user.home),
        None => Ok(organizations.first().map_or(user.home, |own| own.organization.id)),
    }
}

pub(crate) fn throttled(next_at: Timestamp, now: Timestamp) -> UseCaseError {
    let micros = next_at.micros().saturating_sub(now.micros()).max(0);
    let seconds = u64::try_from(micros).unwrap_or(0).div_ceil(1_000_000);
    UseCaseError::Throttled { retry_after_seconds: seconds.max(1) }
}
