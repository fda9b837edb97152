//! The members whom human tasks and definitions mean, as identity keeps them.

use std::sync::Arc;

use async_trait::async_trait;
use heddle_identity::ports::{AccessStore as _, DirectoryStore as _, SessionStore as _};
use heddle_kernel::{Clock, TenantId, UserId};
use heddle_store_identity::IdentityStore;
use heddle_usecase::StoreError;
use heddle_workflows::ports::{Directory, Person};

/// Directory of all organisations.
pub struct People {
    /// Store of the members.
    pub identity: Arc<IdentityStore>,
    /// Clock, since what has ended makes nobody a candidate.
    pub clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for People {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("People").finish_non_exhaustive()
    }
}

#[async_trait]
impl Directory for People {
    async fn person(&self, tenant: TenantId, name: &str) -> Result<Option<Person>, StoreError> {
        let id = match name.parse::<UserId>() {
            Ok(id) => Some(id),
            Err(_) => self.identity.user_by_email(&name.trim().to_lowercase()).await?.map(|user| user.id),
        };
        let Some(id) = id else { return Ok(None) };
        let Some((user, standing)) = self.identity.standing(tenant, id).await? else { return Ok(None) };
        let now = self.clock.now();
        let is_member =
            standing.membership.as_ref().is_some_and(|one| one.expires_at.is_none_or(|end| now < end));
        if !is_member {
            return Ok(None);
        }
        Ok(Some(Person { id: user.id, email: user.email, groups: standing.candidate_of(now) }))
    }

    async fn groups(&self, tenant: TenantId) -> Result<Vec<String>, StoreError> {
        let roles = self.identity.all_roles(tenant).await?;
        let groups = self.identity.all_groups(tenant).await?;
        let groups = groups.into_iter().flat_map(|(id, name)| [id.to_string(), name]);
        Ok(roles.into_iter().flat_map(|role| [role.id.to_string(), role.name]).chain(groups).collect())
    }
}
