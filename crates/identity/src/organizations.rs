//! Organisations.

use heddle_kernel::{Page, PageRequest, Revision, TenantId, UserId};
use heddle_policy::capability::{
    OrganizationCreate, OrganizationDelete, OrganizationList, OrganizationRead, OrganizationUpdate,
};
use heddle_policy::licence::Limit;
use heddle_policy::{Authorized, AuthorizedKind, AuthorizedList, RequestContext};
use heddle_usecase::{Journal, StoreError};

use crate::ports::Tombstone;
use crate::records::Organization;
use crate::rights::{capped, changed, covers_owner};
use crate::{Identity, JournalFor, UseCaseError};
use heddle_usecase::Problems;
use heddle_usecase::check_revision;

/// An organisation to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateOrganization {
    /// `^[a-z0-9]+(-[a-z0-9]+)*$`, 1 to 100, unique in the installation.
    pub slug: String,
    /// 1 to 200 characters.
    pub display_name: String,
}

/// Changes to an organisation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PatchOrganization {
    /// A new slug.
    pub slug: Option<String>,
    /// A new name.
    pub display_name: Option<String>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

impl Identity {
    /// Organisations to which the caller belongs and that they may read; with `q` those whose slug or name has it.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn organizations(
        &self,
        authorized: &AuthorizedList<OrganizationList>,
        context: &RequestContext,
        q: Option<&str>,
        page: &PageRequest,
    ) -> Result<Page<Organization>, UseCaseError> {
        Ok(self.ports.directory.organizations(context.user_id(), q, authorized.filter(), page).await?)
    }

    /// The selected organisation. Rights hold in one organisation, so another one must be selected to be read.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn organization(
        &self,
        authorized: &Authorized<OrganizationRead>,
        context: &RequestContext,
    ) -> Result<Organization, UseCaseError> {
        let id = authorized.id();
        self.selected(context, id).await
    }

    async fn selected(&self, context: &RequestContext, id: TenantId) -> Result<Organization, UseCaseError> {
        if id != context.tenant() {
            return Err(UseCaseError::NotFound);
        }
        Ok(self.ports.directory.organization(context.user_id(), id).await?)
    }

    /// Creates an organisation with its system roles; the caller becomes its owner.
    ///
    /// # Errors
    /// `Invalid`; `Conflict` (`notUnique`) for the slug; `LimitReached`; `Forbidden` (`exceedsOwnRights`) for who is
    /// not as strong as an owner.
    pub async fn create_organization(
        &self,
        _: &AuthorizedKind<OrganizationCreate>,
        context: &RequestContext,
        new: CreateOrganization,
        record: &JournalFor<'_, Organization>,
    ) -> Result<Organization, UseCaseError> {
        let mut problems = Problems::default();
        heddle_usecase::slug(&mut problems, "slug", &new.slug);
        heddle_usecase::name(&mut problems, "displayName", &new.display_name, 200);
        problems.finish()?;
        // Its owner may do all that the licence allows, the licence itself included.
        covers_owner(context)?;
        let organization = Organization {
            id: TenantId(self.new_id(context.now())),
            slug: new.slug,
            display_name: new.display_name,
            revision: Revision::FIRST,
            created_at: context.now(),
            updated_at: context.now(),
        };
        let founding = self.founding(organization.clone(), context.user_id());
        let limit = self.limit(Limit::Organizations);
        let journal = record(&organization).changing(None, Some(&organization));
        let done = self.ports.directory.insert_organization(&founding, limit, &journal).await;
        capped(
            done.map_err(|error| slug_taken(error, &organization.slug))?,
            Limit::Organizations.as_str(),
            limit,
        )?;
        Ok(organization)
    }

    /// Changes the selected organisation.
    ///
    /// # Errors
    /// `NotFound`; `Invalid`; `Conflict` (`revisionMismatch`, `notUnique`).
    pub async fn update_organization(
        &self,
        authorized: &Authorized<OrganizationUpdate>,
        context: &RequestContext,
        patch: PatchOrganization,
        record: &JournalFor<'_, Organization>,
    ) -> Result<Organization, UseCaseError> {
        let id = authorized.id();
        let mut problems = Problems::default();
        if let Some(slug) = &patch.slug {
            heddle_usecase::slug(&mut problems, "slug", slug);
        }
        if let Some(name) = &patch.display_name {
            heddle_usecase::name(&mut problems, "displayName", name, 200);
        }
        problems.finish()?;
        let mut organization = self.selected(context, id).await?;
        let (seen, before) = (organization.revision, organization.clone());
        check_revision(patch.revision, seen)?;
        organization.slug = patch.slug.unwrap_or(organization.slug);
        organization.display_name = patch.display_name.unwrap_or(organization.display_name);
        if organization == before {
            return Ok(organization);
        }
        organization.revision = seen.next();
        organization.updated_at = context.now();
        let journal = record(&organization).changing(Some(&before), Some(&organization));
        let done = self.ports.directory.update_organization(&organization, seen, &journal).await;
        done.map_err(|error| slug_taken(error, &organization.slug))?;
        Ok(organization)
    }

    /// Whether a user has deleted such an organisation: to do it again is done already. They are no member of it any
    /// more, so nothing can be authorized.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn has_deleted_organization(&self, by: UserId, id: TenantId) -> Result<bool, UseCaseError> {
        Ok(self.ports.directory.has_deleted_organization(by, id).await?)
    }

    /// Deletes the selected organisation.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`inUse` while it is the home of any account, `revisionMismatch`).
    pub async fn delete_organization(
        &self,
        authorized: &Authorized<OrganizationDelete>,
        context: &RequestContext,
        revision: Option<Revision>,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let id = authorized.id();
        let organization = match self.selected(context, id).await {
            Ok(organization) => organization,
            Err(UseCaseError::NotFound) => return self.gone(context, Tombstone::Organization(id)).await,
            Err(error) => return Err(error),
        };
        check_revision(revision, organization.revision)?;
        let journal = journal.clone().changing(Some(&organization), None);
        changed(self.ports.directory.delete_organization(id, organization.revision, &journal).await?)
    }
}

/// The store's error, with the slug that another organisation has.
fn slug_taken(error: StoreError, slug: &str) -> UseCaseError {
    match error {
        StoreError::Duplicate(columns) if columns.contains("slug") => {
            UseCaseError::not_unique("slug", format!("Another organisation has the slug `{slug}`."))
        }
        other => other.into(),
    }
}
