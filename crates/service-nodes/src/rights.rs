//! Rights of the work of a node: the present ones of who started the instance, else of who published the version that
//! it follows.

use std::sync::Arc;

use async_trait::async_trait;
use heddle_definitions::DefinitionKey;
use heddle_definitions::ports::DefinitionStore;
use heddle_execution::ports::{ServiceJob, ServiceRights};
use heddle_identity::Identity;
use heddle_kernel::{Cursor, IdSource, PageRequest, RequestId, Timestamp, UserId};
use heddle_policy::{RequestContext, RequestFacts};
use heddle_settings::service::entitlement_of;
use heddle_usecase::{Problem, StoreError, UseCaseError};

/// Rights of starters and publishers.
pub struct StarterRights {
    identity: Arc<Identity>,
    definitions: Arc<dyn DefinitionStore>,
    ids: Arc<dyn IdSource>,
}

impl std::fmt::Debug for StarterRights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StarterRights").finish_non_exhaustive()
    }
}

impl StarterRights {
    /// Over the accounts and the published versions.
    #[must_use]
    pub const fn new(
        identity: Arc<Identity>,
        definitions: Arc<dyn DefinitionStore>,
        ids: Arc<dyn IdSource>,
    ) -> Self {
        Self { identity, definitions, ids }
    }

    /// The user who published the version that an instance follows; none when it is gone.
    async fn publisher(&self, job: &ServiceJob) -> Result<Option<UserId>, StoreError> {
        let key = DefinitionKey::of_stored(job.tenant, job.instance_kind, job.definition);
        let page = PageRequest { limit: 1, cursor: Some(Cursor::after(&job.version.saturating_add(1))) };
        let found = match self.definitions.versions(key, &page).await {
            Ok(found) => found,
            Err(StoreError::NotFound) => return Ok(None),
            Err(error) => return Err(error),
        };
        let version = found.items.into_iter().find(|version| version.number == job.version);
        Ok(version.map(|version| version.published_by))
    }
}

#[async_trait]
impl ServiceRights for StarterRights {
    async fn context(
        &self,
        job: &ServiceJob,
        now: Timestamp,
    ) -> Result<Option<RequestContext>, UseCaseError> {
        if let Some(entitlement) = entitlement_of(&job.kind)
            && !self.identity.licence_state().allows(entitlement)
        {
            let message = format!("The licence does not include `{entitlement}`.");
            return Err(UseCaseError::Forbidden(Problem::new("notEntitled", message)));
        }
        let user = match job.starter {
            Some(user) => user,
            None => match self.publisher(job).await? {
                Some(user) => user,
                None => return Ok(None),
            },
        };
        let found = self.identity.of_maker(user, job.tenant, now).await?;
        let Some(found) = found.filter(heddle_identity::Authenticated::is_member) else { return Ok(None) };
        let request = RequestFacts { request_id: RequestId::made(self.ids.next(now)), now, client_ip: None };
        Ok(Some(found.context(request)))
    }
}
