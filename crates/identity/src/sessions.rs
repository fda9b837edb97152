//! A user's own sessions and password.

use heddle_kernel::SessionId;
use heddle_policy::{Permission, RequestContext, SessionKind};
use heddle_usecase::Journal;

use crate::ports::{Attempt, PasswordChange};
use crate::records::{OwnOrganization, Session, User};
use crate::sign_in::throttled;
use crate::{Identity, UseCaseError, password, tries};

/// Account that is signed in, with its organisations and its permissions in the selected one.
#[derive(Debug, Clone)]
pub struct SessionInfo {
    /// The account.
    pub user: User,
    /// The organisations to which it belongs.
    pub organizations: Vec<OwnOrganization>,
    /// The permissions held in the selected organisation.
    pub permissions: Vec<Permission>,
}

/// The own session; an API token may not do what only its owner in person may.
pub(crate) fn own_session(context: &RequestContext) -> Result<SessionId, UseCaseError> {
    match context.principal().session {
        SessionKind::Session(id) | SessionKind::CommandLine(id) => Ok(id),
        SessionKind::ApiToken(_) | SessionKind::ServiceToken(_) => Err(UseCaseError::forbidden(
            "sessionRequired",
            "This takes a signed-in session, not an API token.",
        )),
    }
}

impl Identity {
    pub(crate) async fn own_account(&self, context: &RequestContext) -> Result<User, UseCaseError> {
        self.ports.sessions.user(context.user_id()).await?.ok_or(UseCaseError::NotFound)
    }

    /// Account that is signed in, with its organisations.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn session_info(&self, context: &RequestContext) -> Result<SessionInfo, UseCaseError> {
        let user = self.own_account(context).await?;
        let organizations = self.ports.sessions.organizations_of(user.id, context.now()).await?;
        let permissions = Permission::ALL.iter().copied().filter(|name| context.holds(*name)).collect();
        Ok(SessionInfo { user, organizations, permissions })
    }

    /// Ends the own session.
    ///
    /// # Errors
    /// `Forbidden` (`sessionRequired`), `Unavailable`.
    pub async fn sign_out(&self, context: &RequestContext, journal: &Journal) -> Result<(), UseCaseError> {
        Ok(self.ports.sessions.end(own_session(context)?, journal).await?)
    }

    /// The own sessions that have not ended, newest first. An API token that is narrowed, or bound to one
    /// organisation, sees none.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn sessions(&self, context: &RequestContext) -> Result<Vec<Session>, UseCaseError> {
        if context.snapshot().is_limited() {
            return Ok(Vec::new());
        }
        let idle = context.now().plus_seconds(-self.settings.idle_seconds);
        let mut sessions = self.ports.sessions.sessions(context.user_id(), context.now()).await?;
        sessions.retain(|session| session.last_seen_at > idle);
        Ok(sessions)
    }

    /// Ends a session: an own one, or, for who manages members, one of an account at home in the organisation.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` (`sessionRequired`, `exceedsOwnRights`); `Unavailable`.
    pub async fn end_session(
        &self,
        context: &RequestContext,
        id: SessionId,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        own_session(context)?;
        let Some((session, home)) = self.ports.sessions.session(id).await? else {
            // Done again it is done, for whoever did it.
            return match self.ports.sessions.was_ended(context.user_id(), id).await? {
                true => Ok(()),
                false => Err(UseCaseError::NotFound),
            };
        };
        if session.user_id != context.user_id() {
            if home != context.tenant() || !context.holds(Permission::MembersManage) {
                return Err(UseCaseError::NotFound);
            }
            self.outranks(context, session.user_id).await?;
        }
        Ok(self.ports.sessions.end(id, journal).await?)
    }

    /// Changes the own password. All other sessions end.
    ///
    /// # Errors
    /// `Invalid` for a wrong present or a weak new password; `Throttled`, `Busy`; `Forbidden` (`sessionRequired`);
    /// `Conflict` when the account was changed in the meantime.
    pub async fn change_password(
        &self,
        context: &RequestContext,
        present: &str,
        new: &str,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let session = own_session(context)?;
        let user = self.own_account(context).await?;
        if let Some(problem) = password::problem("newPassword", new, &[&user.email, &user.display_name]) {
            return Err(UseCaseError::Invalid(vec![problem]));
        }
        let turn = self.passwords.turn().await?;
        // Whoever found an open session shall not guess the password through it.
        let tries = [tries::of_password(user.id)];
        if let Attempt::Refused { next_at } = self.ports.sessions.attempt(&tries, context.now()).await? {
            return Err(throttled(next_at, context.now()));
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
            at: context.now(),
        };
        let after = User {
            password_changed_at: Some(change.at),
            revision: user.revision.next(),
            updated_at: change.at,
            ..user.clone()
        };
        let journal = journal.clone().changing(Some(&user), Some(&after));
        Ok(self.ports.sessions.set_password(&change, &journal).await?)
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
