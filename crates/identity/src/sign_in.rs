//! Sign-in by e-mail address and password.

use heddle_kernel::{SessionId, TenantId};
use heddle_policy::RequestFacts;
use heddle_usecase::Outcome;
use serde_json::json;

use crate::audit::{Event, acting, anonymous};
use crate::ports::{Attempt, NewSession};
use crate::records::{OwnOrganization, Session, User, UserState};
use crate::token::{SESSION_PREFIX, Token};
use crate::{Identity, UseCaseError, password, token, validate};

/// The longest `User-Agent` that is kept, in characters.
const USER_AGENT_MAX: usize = 300;

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
    /// Account to which the session belongs.
    pub user: User,
    /// The organisations to which the user belongs.
    pub organizations: Vec<OwnOrganization>,
}

impl Identity {
    /// Opens a session. Known and unknown accounts get the same answers and take the same time.
    ///
    /// # Errors
    /// `Unauthenticated`; `Throttled` after five failures; `Busy` when too many wait; `Forbidden` (`notAMember`) for
    /// an organisation to which the user does not belong; `Unavailable`.
    pub async fn sign_in(&self, sent: &SignIn, request: &RequestFacts) -> Result<SignedIn, UseCaseError> {
        let email = validate::email_form(&sent.email);
        let account_key = heddle_usecase::sha256_hex(format!("sign-in|{email}").as_bytes());
        // The turn comes before the count, so that a busy server counts no failure.
        let turn = self.passwords.turn().await?;
        if let Attempt::Refused { next_at } = self.ports.sessions.attempt(&account_key, request.now).await? {
            return Err(throttled(next_at, request.now));
        }
        let user = self.ports.sessions.user_by_email(&email).await?;
        // A longer password than any that is taken is not even hashed, but the time is spent.
        let (given, possible) = match sent.password.len() <= password::MAX_LENGTH {
            true => (sent.password.as_str(), true),
            false => ("", false),
        };
        let stored = user.as_ref().and_then(|user| user.password_hash.as_deref()).filter(|_| possible);
        let fits = self.passwords.verify(turn, given, stored).await?;
        let user = match user {
            Some(user) if fits && user.state == UserState::Active => user,
            other => return Err(self.refuse(other.as_ref(), request).await),
        };
        self.open(user, account_key, sent, request).await
    }

    async fn refuse(&self, user: Option<&User>, request: &RequestFacts) -> UseCaseError {
        let event = Event {
            tenant: user.map(|user| user.home),
            actor: anonymous(),
            action: "session.refused",
            resource: ("user", user.map(|user| user.id.to_string())),
            outcome: Outcome::Denied,
            details: json!({ "knownAccount": user.is_some() }),
        };
        match self.ports.installation.audit(&self.entry(request, event)).await {
            Ok(()) => UseCaseError::Unauthenticated,
            Err(error) => error.into(),
        }
    }

    async fn open(
        &self,
        user: User,
        account_key: String,
        sent: &SignIn,
        request: &RequestFacts,
    ) -> Result<SignedIn, UseCaseError> {
        let now = request.now;
        let organizations = self.ports.sessions.organizations_of(user.id, now).await?;
        let tenant = chosen(&user, sent.organization, &organizations)?;
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
            user_agent: sent.user_agent.as_ref().map(|agent| agent.chars().take(USER_AGENT_MAX).collect()),
        };
        let event = Event {
            tenant: Some(tenant),
            actor: acting(&user),
            action: "session.created",
            resource: ("session", Some(session.id.to_string())),
            outcome: Outcome::Succeeded,
            details: json!({ "method": "password" }),
        };
        let new = NewSession {
            session: session.clone(),
            account_key,
            rehash: self.rehash(&user, &sent.password).await,
            replaces: sent.presented.as_deref().and_then(token::read).map(|(_, sha256)| sha256),
        };
        self.ports.sessions.open(&new, &self.journal(request, event)).await?;
        Ok(SignedIn { token: secret, session, user, organizations })
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

pub(crate) fn throttled(next_at: heddle_kernel::Timestamp, now: heddle_kernel::Timestamp) -> UseCaseError {
    let micros = next_at.micros().saturating_sub(now.micros()).max(0);
    let seconds = u64::try_from(micros).unwrap_or(0).div_ceil(1_000_000);
    UseCaseError::Throttled { retry_after_seconds: seconds.max(1) }
}
