//! Taking the link of an account to its person at a provider.

use heddle_kernel::Revision;
use heddle_policy::capability::UserUpdate;
use heddle_policy::{Authorized, RequestContext};
use heddle_usecase::{Journal, check_revision};

use crate::rights::resting;
use crate::{Identity, UseCaseError};

impl Identity {
    /// Unlinks an account from a provider: its person there signs in to it no more, and the sessions that they opened end.
    /// Roles that their groups gave stay, as if they were given by hand.
    ///
    /// # Errors
    /// `NotFound` for the account, and for a provider that it is not linked to; `Conflict` (`lastWayIn`,
    /// `revisionMismatch`); `Forbidden` (`foreignAccount`, `exceedsOwnRights`, `outrankedElsewhere`, `limitedToken`).
    pub async fn unlink_user(
        &self,
        authorized: &Authorized<UserUpdate>,
        context: &RequestContext,
        provider: &str,
        revision: Option<Revision>,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let before = self.changeable(context, authorized.id()).await?;
        check_revision(revision, before.revision)?;
        let linked = self.ports.directory.providers_of(before.id).await?;
        if !linked.iter().any(|name| name == provider) {
            return Err(UseCaseError::NotFound);
        }
        if before.password_hash.is_none() && linked.iter().all(|name| name == provider) {
            let message =
                "Nobody could sign in to the account any more: give it a password first, or switch it off.";
            return Err(UseCaseError::conflict("lastWayIn", message));
        }
        let rights = self.outranks_elsewhere(context, before.id).await?;
        let mut user = before.clone();
        user.revision = before.revision.next();
        user.updated_at = context.now();
        let journal = resting(journal.clone(), rights).changing(Some(&before), Some(&user));
        Ok(self.ports.directory.unlink_provider(&user, provider, before.revision, &journal).await?)
    }
}
