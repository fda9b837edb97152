//! Models as callers see them: deployments that they may call.

use std::sync::Arc;

use heddle_kernel::{Page, PageRequest};
use heddle_policy::capability::{DeploymentChat, DeploymentEmbed, ModelList};
use heddle_policy::{AccessFilter, AuthorizedList, RequestContext, resource};

use crate::UseCaseError;
use crate::ports::{DeploymentFilter, ModelStore};
use crate::records::{Capability, Deployment};

/// Pages that are read for one of the caller's at most, where many deployments are not theirs to call.
const PAGES: u32 = 20;

/// The use case of models.
#[derive(Clone)]
pub struct Models {
    store: Arc<dyn ModelStore>,
}

impl std::fmt::Debug for Models {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Models").finish_non_exhaustive()
    }
}

/// Deployments that a caller may call: for chats, and for vectors and scores; none where they may call no deployment so.
struct Callable {
    chats: Option<AccessFilter<resource::Deployment>>,
    embeds: Option<AccessFilter<resource::Deployment>>,
}

impl Callable {
    fn of(context: &RequestContext) -> Self {
        let snapshot = context.snapshot();
        Self {
            chats: snapshot.authorize_some::<DeploymentChat>().ok(),
            embeds: snapshot.authorize_some::<DeploymentEmbed>().ok(),
        }
    }

    /// Whether a deployment can do anything that the caller may call it for.
    fn permits(&self, deployment: &Deployment) -> bool {
        let within = |filter: &Option<AccessFilter<resource::Deployment>>| {
            filter.as_ref().is_some_and(|filter| {
                !filter.is_empty()
                    && (filter.all() || filter.listed().contains(&deployment.id))
                    && !filter.denied().contains(&deployment.id)
            })
        };
        let has = |capability: Capability| deployment.capabilities.has(capability);
        let embeds = has(Capability::Embeddings) || has(Capability::Rerank);
        (has(Capability::Chat) && within(&self.chats)) || (embeds && within(&self.embeds))
    }

    fn is_empty(&self) -> bool {
        [&self.chats, &self.embeds].into_iter().flatten().all(AccessFilter::is_empty)
    }

    fn is_everything(&self) -> bool {
        let whole = |filter: &Option<AccessFilter<resource::Deployment>>| {
            filter.as_ref().is_some_and(AccessFilter::is_everything)
        };
        whole(&self.chats) && whole(&self.embeds)
    }
}

impl Models {
    /// The use case on its store.
    #[must_use]
    pub fn new(store: Arc<dyn ModelStore>) -> Self {
        Self { store }
    }

    /// A page of the deployments that the caller may call: enabled, over enabled connections, within the reach of the list
    /// and of chats or embeddings. By alias. Who may only look at models and call none sees all of the list's reach.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn list(
        &self,
        authorized: &AuthorizedList<ModelList>,
        context: &RequestContext,
        filter: &DeploymentFilter,
        page: &PageRequest,
    ) -> Result<Page<Deployment>, UseCaseError> {
        let filter = DeploymentFilter { callable: true, ..filter.clone() };
        let callable = Callable::of(context);
        let (tenant, access) = (context.tenant(), authorized.filter());
        if callable.is_everything() || callable.is_empty() {
            return Ok(self.store.models(tenant, &filter, access, page).await?);
        }
        let wanted = page.limit as usize;
        let (mut items, mut cursor) = (Vec::new(), page.cursor.clone());
        for _ in 0..PAGES {
            let limit = u32::try_from(wanted - items.len()).unwrap_or(page.limit).max(1);
            let read = self.store.models(tenant, &filter, access, &PageRequest { limit, cursor }).await?;
            items.extend(read.items.into_iter().filter(|deployment| callable.permits(deployment)));
            cursor = read.next;
            if cursor.is_none() || items.len() >= wanted {
                break;
            }
        }
        Ok(Page { items, next: cursor })
    }
}
