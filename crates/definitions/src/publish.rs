//! Validation and publication: a version is frozen and what can start it is bound, in one transaction.

use heddle_kernel::{Diagnostic, Revision, Severity};
use heddle_policy::RequestContext;
use heddle_usecase::{JournalFor, Problem, UseCaseError, canonical_sha256, check_revision};
use serde_json::Value;

use crate::findings::problem;
use crate::kind::Examination;
use crate::ports::PublishWrite;
use crate::records::{DefinitionState, DefinitionView, Version};
use crate::{DefinitionKey, Definitions, Words, is_error};

/// Result of a validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationReport {
    /// No finding is an error.
    pub valid: bool,
    /// An instance could be started.
    pub executable: bool,
    /// The findings.
    pub diagnostics: Vec<Diagnostic>,
}

/// Request for a publication.
#[derive(Debug, Clone, Default)]
pub struct PublishRequest {
    /// Note of the publisher on the change.
    pub change_note: Option<String>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

/// A publication's result.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// The definition after it.
    pub view: DefinitionView,
    /// The active version.
    pub version: Version,
    /// Warnings and hints about it.
    pub diagnostics: Vec<Diagnostic>,
}

impl Definitions {
    /// Checks the given text, or the draft.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`. What is wrong with the text stands in the report.
    pub async fn validate(
        &self,
        key: DefinitionKey,
        context: &RequestContext,
        document: Option<Value>,
    ) -> Result<ValidationReport, UseCaseError> {
        self.store.get(key, context.user_id()).await?;
        let document = match document {
            Some(document) => Some(document),
            None => self.store.draft(key).await?.value().cloned(),
        };
        let Some(document) = document else {
            let nothing =
                Diagnostic::new(Severity::Error, "definitionMissing", "The draft has no definition.");
            let nothing = nothing.with_remedy("Save a draft with a definition, or send one.");
            return Ok(ValidationReport { valid: false, executable: false, diagnostics: vec![nothing] });
        };
        let Examination { diagnostics, executable } = self.kind.examine(key, &document).await?;
        let valid = !diagnostics.iter().any(is_error);
        Ok(ValidationReport { valid, executable, diagnostics })
    }

    /// Publishes the draft as a new version, or answers with the active one when nothing changed: neither the text nor
    /// what it means.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` with every reason why the draft can't be executed; `Conflict` (`revisionMismatch`,
    /// `archived`).
    pub async fn publish(
        &self,
        key: DefinitionKey,
        context: &RequestContext,
        request: PublishRequest,
        record: &JournalFor<'_, Published>,
    ) -> Result<Published, UseCaseError> {
        let mut view = self.store.get(key, context.user_id()).await?;
        let whole = view.definition.clone();
        check_revision(request.revision, whole.revision)?;
        if whole.state == DefinitionState::Archived {
            let message = format!("The {} is archived; take it out first.", Words::of(key.kind()).definition);
            return Err(UseCaseError::conflict("archived", message));
        }
        let draft = self.store.draft(key).await?;
        let Some(document) = draft.value() else {
            return Err(UseCaseError::invalid("definition", "required", "The draft has no definition."));
        };
        let diagnostics = self.kind.examine(key, document).await?.diagnostics;
        let errors: Vec<Problem> = diagnostics.iter().filter(|found| is_error(found)).map(problem).collect();
        if !errors.is_empty() {
            return Err(UseCaseError::Invalid(errors));
        }
        let hash = canonical_sha256(document);
        if let (Some(number), true) = (whole.published_version, whole.published_hash.as_ref() == Some(&hash))
        {
            let (version, _) = self.store.version(key, number).await?;
            if !self.kind.has_changed_meaning(document, &version, &diagnostics)? {
                return Ok(Published { view, version, diagnostics });
            }
        }
        let version = Version {
            number: whole.published_version.unwrap_or(0) + 1,
            hash: hash.clone(),
            published_at: context.now(),
            published_by: context.user_id(),
            change_note: request.change_note,
            active: true,
            lane_groups: false,
            edition: self.kind.edition(),
        };
        view.definition.touch(context);
        view.definition.state = DefinitionState::Published;
        view.definition.published_version = Some(version.number);
        view.definition.published_hash = Some(hash);
        let entries = self.kind.entries(document, &version, context.now())?;
        let published = Published { view, version, diagnostics };
        let journal = record(&published).changing(Some(&whole), Some(&published.view.definition));
        let write = PublishWrite {
            definition: &published.view.definition,
            expected: whole.revision,
            version: &published.version,
            document,
            starts: &entries.starts,
            callable: &entries.callable,
        };
        self.store.publish(write, &journal).await?;
        self.tell_timers(&entries.starts);
        Ok(published)
    }
}
