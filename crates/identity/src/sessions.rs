//! A user's own sessions and password.

use heddle_kernel::SessionId;
use heddle_policy::permission::PERMISSIONS;
use heddle_policy::unit::Unit;
use heddle_policy::{Scope, SessionKind};

use crate::ports::{Attempt, PasswordChange};
use crate::records::{OwnOrganization, Session, User};
use crate::sign_in::throttled;
use crate::{Identity, UseCaseError, password, token};

/// Who is signed in, and what he may where.
#[derive(Debug, Clone)]
pub struct SessionInfo {
    /// The account.
    pub user: User,
    /// The organisations to which it belongs.
    pub organizations: Vec<OwnOrganization>,
    /// The permissions held in the selected organisation.
    pub permissions: Vec<&'static str>,
}

/// The own session; an API token may not do what only its owner in person may.
pub(crate) fn own_session(scope: &Scope) -> Result<SessionId, UseCaseError> {
    match scope.principal().session {
        SessionKind::Session(id) => Ok(id),
        SessionKind::ApiToken(_) => Err(UseCaseError::forbidden(
            "sessionRequired",
            "This takes a signed-in session, not an API token.",
        )),
    }
}

impl Identity {
    pub(crate) async fn own_account(&self, scope: &Scope) -> Result<User, UseCaseError> {
        self.ports.sessions.user(scope.user_id()).await?.ok_or(UseCaseError::NotFound)
    }

    /// Who is signed in.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn session_info(&self, scope: &Scope) -> Result<SessionInfo, UseCaseError> {
        let user = self.own_account(scope).await?;
        let organizations = self.ports.sessions.organizations_of(user.id, scope.now()).await?;
        let permissions = PERMISSIONS.iter().copied().filter(|name| scope.holds(name)).collect();
        Ok(SessionInfo { user, organizations, permissions })
    }

    /// Ends the own session.
    ///
    /// # Errors
    /// `Forbidden` (`sessionRequired`), `Unavailable`.
    pub async fn sign_out(&self, scope: &Scope, unit: &Unit) -> Result<(), UseCaseError> {
        Ok(self.ports.sessions.end(own_session(scope)?, unit).await?)
    }

    /// The own sessions that have not ended, newest first.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn sessions(&self, scope: &Scope) -> Result<Vec<Session>, UseCaseError> {
        let idle = scope.now().plus_seconds(-self.settings.idle_seconds);
        let mut sessions = self.ports.sessions.sessions(scope.user_id(), scope.now()).await?;
        sessions.retain(|session| session.last_seen_at > idle);
        Ok(sessions)
    }

    /// Ends a session: an own one, or, for who manages members, one of an account at home in the organisation.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` (`sessionRequired`, `exceedsOwnRights`); `Unavailable`.
    pub async fn end_session(&self, scope: &Scope, id: SessionId, unit: &Unit) -> Result<(), UseCaseError> {
        own_session(scope)?;
        let Some((session, home)) = self.ports.sessions.session(id).await? else {
            return Err(UseCaseError::NotFound);
        };
        if session.user_id != scope.user_id() {
            if home != scope.tenant() || !scope.holds("members.manage") {
                return Err(UseCaseError::NotFound);
            }
            self.outranks(scope, session.user_id).await?;
        }
        Ok(self.ports.sessions.end(id, unit).await?)
    }

    /// Changes the own password. All other sessions end.
    ///
    /// # Errors
    /// `Invalid` for a wrong present or a weak new password; `Throttled`, `Busy`; `Forbidden` (`sessionRequired`);
    /// `Conflict` when the account was changed in the meantime.
    pub async fn change_password(
        &self,
        scope: &Scope,
        (present, new): (&str, &str),
        unit: &Unit,
    ) -> Result<(), UseCaseError> {
        let session = own_session(scope)?;
        let user = self.own_account(scope).await?;
        if let Some(problem) = password::problem("newPassword", new, &[&user.email, &user.display_name]) {
            return Err(UseCaseError::Invalid(vec![problem]));
        }
        let turn = self.passwords.turn().await?;
        // Whoever found an open session shall not guess the password through it.
        let key = token::sha256_hex(format!("password|{}", user.id).as_bytes());
        if let Attempt::Refused { next_at } = self.ports.sessions.attempt(&key, scope.now()).await? {
            return Err(throttled(next_at, scope.now()));
        }
        let fits = present.len() <= password::MAX_LENGTH
            && self.passwords.verify(turn, present, user.password_hash.as_deref()).await?;
        if !fits {
            return Err(UseCaseError::invalid(
                "currentPassword",
                "wrong",
                "The present password is another.",
            ));
        }
        if present == new {
            return Err(UseCaseError::invalid(
                "newPassword",
                "notNew",
                "The new password is the present one.",
            ));
        }
        let hash = self.passwords.hash(self.passwords.turn().await?, new).await?;
        let change = PasswordChange {
            user_id: user.id,
            hash,
            expected: user.revision,
            keep: Some(session),
            at: scope.now(),
        };
        Ok(self.ports.sessions.set_password(&change, unit).await?)
    }

    /// Removes what has long ended; says how many. To be called now and then.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn sweep(&self) -> Result<u64, UseCaseError> {
        let day_ago = self.tools.clock.now().plus_seconds(-24 * 3600);
        Ok(self.ports.sessions.sweep(day_ago).await?)
    }
}
