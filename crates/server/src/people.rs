//! The members whom human tasks and definitions mean, as identity keeps them.

use std::sync::Arc;

use async_trait::async_trait;
use heddle_identity::ports::{AccessStore as _, DirectoryStore as _, SessionStore as _};
use heddle_kernel::{TenantId, UserId};
use heddle_store_identity::IdentityStore;
use heddle_usecase::StoreError;
use heddle_workflows::ports::{Directory, Person};

/// Directory of all organisations.
pub(crate) struct People(pub Arc<IdentityStore>);

#[async_trait]
impl Directory for People {
    async fn person(&self, tenant: TenantId, name: &str) -> Result<Option<Person>, StoreError> {
        let id = match name.parse::<UserId>() {
            Ok(id) => Some(id),
            Err(_) => self.0.user_by_email(&name.trim().to_lowercase()).await?.map(|user| user.id),
        };
        let Some(id) = id else { return Ok(None) };
        let Some((user, standing)) = self.0.standing(tenant, id).await? else { return Ok(None) };
        if standing.membership.is_none() {
            return Ok(None);
        }
        let groups = standing.roles.iter().flat_map(|role| [role.name.clone(), role.id.to_string()]);
        Ok(Some(Person { id: user.id, email: user.email, groups: groups.collect() }))
    }

    async fn groups(&self, tenant: TenantId) -> Result<Vec<String>, StoreError> {
        let roles = self.0.all_roles(tenant).await?;
        Ok(roles.into_iter().flat_map(|role| [role.id.to_string(), role.name]).collect())
    }
}
