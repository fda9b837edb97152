//! The stored selectors of rules, read once at the start: an area's slugs become ids, and what stays unreadable is named
//! in the log.

use async_trait::async_trait;
use heddle_identity::FindBySlug;
use heddle_installation::error::StartError;
use heddle_kernel::TenantId;
use heddle_policy::ResourceType;
use heddle_usecase::UseCaseError;
use uuid::Uuid;

use crate::acting::Acting;
use crate::app::App;
use crate::operator;

/// Most rules that the log names one by one.
const NAMED: usize = 20;

/// Finds workflows by their slugs.
struct Workflows<'a>(&'a App);

#[async_trait]
impl FindBySlug for Workflows<'_> {
    async fn find(
        &self,
        tenant: TenantId,
        kind: ResourceType,
        slug: &str,
    ) -> Result<Option<Uuid>, UseCaseError> {
        // Only a slug is looked for: another text would be searched for in vain.
        let slug = slug.to_lowercase();
        let mut problems = heddle_usecase::Problems::default();
        heddle_usecase::slug(&mut problems, "resourceId", &slug);
        if kind != ResourceType::Workflow || problems.finish().is_err() {
            return Ok(None);
        }
        match operator::find_workflow(self.0, &Acting::installation(tenant), &slug).await {
            Ok(id) => Ok(Some(id.0)),
            Err(StartError::NotFound(_)) => Ok(None),
            Err(error) => Err(UseCaseError::Internal(error.to_string())),
        }
    }
}

/// Reads what was stored in another spelling, and names what can't be read.
///
/// # Errors
/// `Store`.
pub(crate) async fn read_stored(app: &App) -> Result<(), StartError> {
    let unreadable = app.identity.read_stored_selectors(&Workflows(app)).await?;
    for rule in unreadable.iter().take(NAMED) {
        tracing::warn!(%rule, "a stored rule can't be read: an allow gives nothing, a deny denies all of its type");
    }
    if unreadable.len() > NAMED {
        tracing::warn!(count = unreadable.len(), "stored rules can't be read; `heddle doctor` names them");
    }
    Ok(())
}
