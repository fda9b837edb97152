//! Case types: create, import, list, change, draft, validate, publish, versions and exports. What is done is done as for
//! workflows, with another kind in every key; what a case definition says is [`CaseTypeKind`]'s.

mod decisions;
mod kind;
mod people;

pub use heddle_cmmn::Meaning;
pub use heddle_definitions::{
    DefinitionPatch as CaseTypePatch, Exported, ImportRequest, ImportedDefinition,
    NewDefinition as NewCaseType, PublishRequest, Published, SavedDraft, ValidationReport,
};
pub use kind::CaseTypeKind;
pub(crate) use kind::{meaning_of, typed};

use std::sync::Arc;

use heddle_cmmn::xml::Imported;
use heddle_definitions::ports::{DefinitionFilter, DefinitionStore};
use heddle_definitions::records::{DefinitionView, ShownDefinition, Version, VersionChoice};
use heddle_definitions::{Alarm, DefinitionKey, Definitions, Suggested};
use heddle_execution::ports::Directory;
use heddle_kernel::{DefinitionKind, Diagnostic, IdSource, Page, PageRequest, Revision};
use heddle_policy::capability::{
    CaseTypeCreate, CaseTypeDelete, CaseTypeExport, CaseTypeImport, CaseTypeList, CaseTypePublish,
    CaseTypeRead, CaseTypeUpdate, CaseTypeValidate,
};
use heddle_policy::{Authorized, AuthorizedKind, AuthorizedList, RequestContext};
use heddle_usecase::{Compute, Journal, JournalFor, UseCaseError};
use serde_json::Value;

/// A CMMN file as a case type.
#[derive(Debug, Clone)]
pub struct PreviewedCaseType {
    /// The definition, what became of its elements, and the findings.
    pub read: Imported,
    /// The names that an import gives it.
    pub names: Suggested,
}

/// The use cases of case types.
pub struct CaseTypes {
    shared: Definitions,
    store: Arc<dyn DefinitionStore>,
    directory: Arc<dyn Directory>,
    meaning: Meaning,
}

impl std::fmt::Debug for CaseTypes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CaseTypes").field("meaning", &self.meaning).finish_non_exhaustive()
    }
}

impl CaseTypes {
    /// Builds the use cases on their ports.
    #[must_use]
    pub fn new(
        store: Arc<dyn DefinitionStore>,
        directory: Arc<dyn Directory>,
        ids: Arc<dyn IdSource>,
        alarm: Arc<dyn Alarm>,
    ) -> Self {
        let meaning = Meaning::default();
        let kind = CaseTypeKind::new(meaning)
            .with_directory(Arc::clone(&directory))
            .with_published(Arc::clone(&store));
        let shared = Definitions::new(Arc::clone(&store), Arc::new(kind), ids, alarm);
        Self { shared, store, directory, meaning }
    }

    /// The same with what the installation decides where the standard leaves it open.
    #[must_use]
    pub fn with_meaning(self, meaning: Meaning) -> Self {
        let kind = CaseTypeKind::new(meaning)
            .with_directory(Arc::clone(&self.directory))
            .with_published(Arc::clone(&self.store));
        Self { shared: self.shared.with_kind(Arc::new(kind)), meaning, ..self }
    }

    /// The same with threads on which versions are compiled.
    #[must_use]
    pub fn with_compute(self, compute: Arc<dyn Compute>) -> Self {
        Self { shared: self.shared.with_compute(compute), ..self }
    }

    /// A page of the case types that the caller may read.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn list(
        &self,
        authorized: &AuthorizedList<CaseTypeList>,
        context: &RequestContext,
        filter: &DefinitionFilter,
        page: &PageRequest,
    ) -> Result<Page<DefinitionView>, UseCaseError> {
        self.shared.list(authorized, context, filter, page).await
    }

    /// One case type with the chosen definition.
    ///
    /// # Errors
    /// `NotFound` also when the chosen version is not there, `Unavailable`.
    pub async fn get(
        &self,
        authorized: &Authorized<CaseTypeRead>,
        context: &RequestContext,
        choice: VersionChoice,
    ) -> Result<ShownDefinition, UseCaseError> {
        self.shared.get(DefinitionKey::of(authorized.key()), context, choice).await
    }

    /// Versions, newest first.
    ///
    /// # Errors
    /// `NotFound`, `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn versions(
        &self,
        authorized: &Authorized<CaseTypeRead>,
        context: &RequestContext,
        page: &PageRequest,
    ) -> Result<Page<Version>, UseCaseError> {
        self.shared.versions(DefinitionKey::of(authorized.key()), context, page).await
    }

    /// Creates a case type. A draft may be incomplete.
    ///
    /// # Errors
    /// `Invalid` with every member that breaks a rule, `Conflict` (`notUnique`) when the slug is taken.
    pub async fn create(
        &self,
        authorized: &AuthorizedKind<CaseTypeCreate>,
        context: &RequestContext,
        new: NewCaseType,
        record: &JournalFor<'_, DefinitionView>,
    ) -> Result<DefinitionView, UseCaseError> {
        self.shared.create(authorized, context, new, record).await
    }

    /// Creates a case type from a CMMN file.
    ///
    /// # Errors
    /// `Invalid` when the file can't be read, with line and column; `Conflict` (`notUnique`) when the slug is taken.
    pub async fn import(
        &self,
        authorized: &AuthorizedKind<CaseTypeImport>,
        context: &RequestContext,
        request: ImportRequest,
        record: &JournalFor<'_, ImportedDefinition>,
    ) -> Result<ImportedDefinition, UseCaseError> {
        self.shared.import(authorized, context, request, record).await
    }

    /// Looks at a CMMN file; nothing is stored.
    ///
    /// # Errors
    /// `Invalid` when the file can't be read, with line and column.
    pub fn preview(
        &self,
        _: &AuthorizedKind<CaseTypeImport>,
        bytes: &[u8],
        file_name: Option<&str>,
    ) -> Result<PreviewedCaseType, UseCaseError> {
        let mut read = kind::read(bytes)?;
        let (findings, _) = kind::examined(&read.definition, self.meaning);
        read.diagnostics = kind::merged(read.diagnostics, findings);
        let names = Suggested::of(DefinitionKind::Case, kind::name(&read.definition), file_name);
        Ok(PreviewedCaseType { read, names })
    }

    /// Changes what the patch names.
    ///
    /// # Errors
    /// `NotFound`, `Invalid`, `Conflict` (`revisionMismatch`, `notUnique`).
    pub async fn patch(
        &self,
        authorized: &Authorized<CaseTypeUpdate>,
        context: &RequestContext,
        patch: CaseTypePatch,
        record: &JournalFor<'_, DefinitionView>,
    ) -> Result<DefinitionView, UseCaseError> {
        self.shared.patch(DefinitionKey::of(authorized.key()), context, patch, record).await
    }

    /// Deletes a case type with its versions and its ended cases.
    ///
    /// # Errors
    /// `NotFound`, `Conflict` (`inUse`) while cases are open, `Conflict` (`revisionMismatch`).
    pub async fn delete(
        &self,
        authorized: &Authorized<CaseTypeDelete>,
        context: &RequestContext,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        self.shared.delete(DefinitionKey::of(authorized.key()), context, expected, journal).await
    }

    /// Replaces the draft as a whole.
    ///
    /// # Errors
    /// `NotFound`, `Conflict` (`revisionMismatch`).
    pub async fn save_draft(
        &self,
        authorized: &Authorized<CaseTypeUpdate>,
        context: &RequestContext,
        saved: SavedDraft,
        record: &JournalFor<'_, (DefinitionView, Vec<Diagnostic>)>,
    ) -> Result<(DefinitionView, Vec<Diagnostic>), UseCaseError> {
        self.shared.save_draft(DefinitionKey::of(authorized.key()), context, saved, record).await
    }

    /// Checks the given definition, or the draft.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`. What is wrong with the definition stands in the report.
    pub async fn validate(
        &self,
        authorized: &Authorized<CaseTypeValidate>,
        context: &RequestContext,
        definition: Option<Value>,
    ) -> Result<ValidationReport, UseCaseError> {
        self.shared.validate(DefinitionKey::of(authorized.key()), context, definition).await
    }

    /// Publishes the draft as a new version, or answers with the active one when nothing changed.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` with every reason why the draft can't be executed; `Conflict` (`revisionMismatch`,
    /// `archived`).
    pub async fn publish(
        &self,
        authorized: &Authorized<CaseTypePublish>,
        context: &RequestContext,
        request: PublishRequest,
        record: &JournalFor<'_, Published>,
    ) -> Result<Published, UseCaseError> {
        self.shared.publish(DefinitionKey::of(authorized.key()), context, request, record).await
    }

    /// The chosen definition as CMMN XML.
    ///
    /// # Errors
    /// `NotFound` also when there is no definition; `Conflict` when it can't be written as CMMN.
    pub async fn export(
        &self,
        authorized: &Authorized<CaseTypeExport>,
        context: &RequestContext,
        choice: VersionChoice,
    ) -> Result<Exported, UseCaseError> {
        self.shared.export(DefinitionKey::of(authorized.key()), context, choice).await
    }
}
