//! Reading definitions, their versions and texts; stars.

use heddle_kernel::{Page, PageRequest};
use heddle_policy::capability::Lists;
use heddle_policy::{AuthorizedList, RequestContext};
use heddle_usecase::{Journal, UseCaseError};

use crate::ports::DefinitionFilter;
use crate::records::{DefinitionView, Draft, ShownDefinition, Star, Version, VersionChoice};
use crate::{Defines, DefinitionKey, Definitions};

impl Definitions {
    /// A page of the definitions that the caller may read.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn list<C: Lists>(
        &self,
        authorized: &AuthorizedList<C>,
        context: &RequestContext,
        filter: &DefinitionFilter,
        page: &PageRequest,
    ) -> Result<Page<DefinitionView>, UseCaseError>
    where
        C::On: Defines,
    {
        let access = <C::On as Defines>::access(authorized.filter());
        Ok(self.store.list(context.tenant(), context.user_id(), filter, access, page).await?)
    }

    /// One definition with the chosen text.
    ///
    /// # Errors
    /// `NotFound` also when the chosen version is not there, `Unavailable`.
    pub async fn get(
        &self,
        key: DefinitionKey,
        context: &RequestContext,
        choice: VersionChoice,
    ) -> Result<ShownDefinition, UseCaseError> {
        Ok(self.store.shown(key, context.user_id(), choice).await?)
    }

    /// Versions, newest first.
    ///
    /// # Errors
    /// `NotFound`, `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn versions(
        &self,
        key: DefinitionKey,
        context: &RequestContext,
        page: &PageRequest,
    ) -> Result<Page<Version>, UseCaseError> {
        self.store.get(key, context.user_id()).await?;
        Ok(self.store.versions(key, page).await?)
    }

    /// Sets or takes away the caller's star.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn star(
        &self,
        key: DefinitionKey,
        context: &RequestContext,
        starred: bool,
        journal: &Journal,
    ) -> Result<DefinitionView, UseCaseError> {
        let before = self.store.get(key, context.user_id()).await?;
        let journal = journal.clone().changing(Some(&Star(before.starred)), Some(&Star(starred)));
        self.store.star(key, context.user_id(), starred, &journal).await?;
        Ok(self.store.get(key, context.user_id()).await?)
    }

    /// The chosen text of a definition that was loaded.
    ///
    /// # Errors
    /// `NotFound` when the chosen version is not there, `Unavailable`.
    pub async fn chosen(&self, view: &DefinitionView, choice: VersionChoice) -> Result<Draft, UseCaseError> {
        let key = view.definition.key();
        let number = match choice {
            VersionChoice::Draft => return Ok(self.store.draft(key).await?),
            VersionChoice::Published => view.definition.published_version.ok_or(UseCaseError::NotFound)?,
            VersionChoice::Number(number) => number,
        };
        let (_, document) = self.store.version(key, number).await?;
        Ok(Draft::Value(document))
    }
}
