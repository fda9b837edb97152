//! Creating, changing and deleting definitions, and saving drafts.

use std::sync::Arc;

use heddle_kernel::{Diagnostic, Patch, Revision, WorkflowId};
use heddle_policy::{AuthorizedKind, Capability, RequestContext};
use heddle_usecase::{
    Admission, Journal, JournalFor, Problem, Problems, StoreError, UseCaseError, canonical_sha256,
    check_revision, computed, has_hidden, length, slug,
};
use serde_json::Value;

use crate::ports::{DefinitionWrite, Deleted};
use crate::records::{Definition, DefinitionState, DefinitionView, Draft, InstanceCounts, Start};
use crate::{Defines, DefinitionKey, Definitions, Words};

/// Properties of a new definition.
#[derive(Debug, Clone)]
pub struct NewDefinition {
    /// Unique within the organisation and the kind.
    pub slug: String,
    /// Name for people.
    pub display_name: String,
    /// Description, maybe empty.
    pub description: String,
    /// A free label.
    pub folder_id: Patch<String>,
    /// The definition as sent.
    pub draft: Draft,
}

/// A change of a definition; absent members stay.
#[derive(Debug, Clone, Default)]
pub struct DefinitionPatch {
    /// New name for people.
    pub display_name: Option<String>,
    /// New description.
    pub description: Option<String>,
    /// New slug.
    pub slug: Option<String>,
    /// New label.
    pub folder_id: Patch<String>,
    /// Move into or out of the archive.
    pub archived: Option<bool>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

/// A draft as it was sent.
#[derive(Debug, Clone)]
pub struct SavedDraft {
    /// The definition's JSON, or null.
    pub draft: Draft,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

impl Definitions {
    /// Creates a definition. A draft may be incomplete.
    ///
    /// # Errors
    /// `Invalid` with every member that breaks a rule, `Conflict` (`notUnique`) when the slug is taken.
    pub async fn create<C: Capability>(
        &self,
        _: &AuthorizedKind<C>,
        context: &RequestContext,
        new: NewDefinition,
        record: &JournalFor<'_, DefinitionView>,
    ) -> Result<DefinitionView, UseCaseError>
    where
        C::On: Defines,
    {
        let mut problems = Problems::default();
        slug(&mut problems, "slug", &new.slug);
        title(&mut problems, &new.display_name);
        length(&mut problems, "description", &new.description, 0..=4_000);
        if let Some(folder) = new.folder_id.value() {
            length(&mut problems, "folderId", folder, 1..=200);
        }
        problems.finish()?;
        let now = context.now();
        let definition = Definition {
            tenant: context.tenant(),
            kind: <C::On as Defines>::KIND,
            id: WorkflowId(self.ids.next(now)),
            slug: new.slug,
            display_name: new.display_name,
            description: new.description,
            folder_id: new.folder_id,
            state: DefinitionState::Draft,
            revision: Revision::FIRST,
            draft_revision: Revision::FIRST,
            draft_hash: new.draft.value().map(canonical_sha256),
            published_version: None,
            published_hash: None,
            created_at: now,
            created_by: context.user_id(),
            updated_at: now,
            updated_by: context.user_id(),
        };
        let view = DefinitionView { definition, starred: false, counts: InstanceCounts::default() };
        let journal = record(&view).changing(None, Some(&view.definition));
        let claims = claims(new.draft.value());
        let write = DefinitionWrite {
            definition: &view.definition,
            expected: None,
            draft: Some(&new.draft),
            claims: &claims,
            starts: None,
        };
        self.store.insert(write, &journal).await.map_err(|error| slug_taken(error, &view.definition))?;
        Ok(view)
    }

    /// Changes what the patch names.
    ///
    /// # Errors
    /// `NotFound`, `Invalid`, `Conflict` (`revisionMismatch`, `notUnique`).
    pub async fn patch(
        &self,
        key: DefinitionKey,
        context: &RequestContext,
        patch: DefinitionPatch,
        record: &JournalFor<'_, DefinitionView>,
    ) -> Result<DefinitionView, UseCaseError> {
        let mut view = self.store.get(key, context.user_id()).await?;
        let before = view.definition.clone();
        check_revision(patch.revision, before.revision)?;
        apply_patch(&mut view.definition, patch)?;
        if view.definition == before {
            // Nothing to write; an audit event of a change that was none would mislead.
            return Ok(view);
        }
        view.definition.touch(context);
        let back =
            before.state == DefinitionState::Archived && view.definition.state == DefinitionState::Published;
        let starts = if back { Some(self.starts(context, &view.definition).await?) } else { None };
        let journal = record(&view).changing(Some(&before), Some(&view.definition));
        let write = DefinitionWrite {
            definition: &view.definition,
            expected: Some(before.revision),
            draft: None,
            claims: &[],
            starts: starts.as_deref(),
        };
        self.store.update(write, &journal).await.map_err(|error| slug_taken(error, &view.definition))?;
        self.tell_timers(starts.as_deref().unwrap_or_default());
        Ok(view)
    }

    /// Deletes a definition with its versions and its ended instances.
    ///
    /// # Errors
    /// `NotFound`, `Conflict` (`inUse`) while instances have not ended, `Conflict` (`revisionMismatch`).
    pub async fn delete(
        &self,
        key: DefinitionKey,
        context: &RequestContext,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let found = self.store.get(key, context.user_id()).await;
        let journal = journal.deleting(found.map(|view| view.definition))?;
        let deleted = match self.store.delete(key, expected, &journal).await {
            Err(StoreError::Stale) => {
                // The caller is told the present revision, where it is not the one that they saw.
                let present = self.store.get(key, context.user_id()).await?;
                check_revision(expected, present.definition.revision)?;
                Err(StoreError::Stale)
            }
            other => other,
        };
        match deleted? {
            Deleted::Now | Deleted::Before => Ok(()),
            Deleted::InUse(count) => {
                let Words { definition, instance, instances, in_use } = Words::of(key.kind());
                let message = format!("{count} {instances} of the {definition} {in_use}.");
                let used_by = serde_json::json!([{ "type": instance, "count": count }]);
                Err(UseCaseError::Conflict(vec![Problem::new("inUse", message).with("usedBy", used_by)]))
            }
        }
    }

    /// Replaces the draft as a whole.
    ///
    /// # Errors
    /// `NotFound`, `Conflict` (`revisionMismatch`).
    pub async fn save_draft(
        &self,
        key: DefinitionKey,
        context: &RequestContext,
        saved: SavedDraft,
        record: &JournalFor<'_, (DefinitionView, Vec<Diagnostic>)>,
    ) -> Result<(DefinitionView, Vec<Diagnostic>), UseCaseError> {
        let mut view = self.store.get(key, context.user_id()).await?;
        let whole = view.definition.clone();
        check_revision(saved.revision, whole.revision)?;
        let structure = |document: &Value| self.kind.structure(document);
        let diagnostics = saved.draft.value().map(structure).transpose()?.unwrap_or_default();
        view.definition.draft_hash = saved.draft.value().map(canonical_sha256);
        view.definition.draft_revision = view.definition.draft_revision.next();
        view.definition.touch(context);
        let claims = claims(saved.draft.value());
        let result = (view, diagnostics);
        let journal = record(&result).changing(Some(&whole), Some(&result.0.definition));
        let write = DefinitionWrite {
            definition: &result.0.definition,
            expected: Some(whole.revision),
            draft: Some(&saved.draft),
            claims: &claims,
            starts: None,
        };
        self.store.update(write, &journal).await?;
        Ok(result)
    }

    /// Start bindings of the active version.
    async fn starts(
        &self,
        context: &RequestContext,
        definition: &Definition,
    ) -> Result<Vec<Start>, UseCaseError> {
        let Some(number) = definition.published_version else { return Ok(Vec::new()) };
        let (version, document) = self.store.version(definition.key(), number).await?;
        let (kind, now) = (Arc::clone(&self.kind), context.now());
        let compile = move || kind.entries(&document, &version, now);
        Ok(computed(&*self.compute, definition.tenant, Admission::Take, compile).await??.starts)
    }
}

/// Hashes of imported files that a definition names.
#[must_use]
pub fn claims(document: Option<&Value>) -> Vec<String> {
    let imports = document.and_then(|document| document.get("imports")).and_then(Value::as_array);
    let hash = |import: &Value| import.get("sourceSha256").and_then(Value::as_str).map(str::to_owned);
    imports.into_iter().flatten().filter_map(hash).collect()
}

fn apply_patch(definition: &mut Definition, patch: DefinitionPatch) -> Result<(), UseCaseError> {
    let mut problems = Problems::default();
    if let Some(wanted) = patch.slug {
        slug(&mut problems, "slug", &wanted);
        definition.slug = wanted;
    }
    if let Some(name) = patch.display_name {
        title(&mut problems, &name);
        definition.display_name = name;
    }
    if let Some(description) = patch.description {
        length(&mut problems, "description", &description, 0..=4_000);
        definition.description = description;
    }
    match patch.folder_id {
        Patch::Absent => {}
        Patch::Null => definition.folder_id = Patch::Null,
        Patch::Value(folder) => {
            length(&mut problems, "folderId", &folder, 1..=200);
            definition.folder_id = Patch::Value(folder);
        }
    }
    match patch.archived {
        Some(true) => definition.state = DefinitionState::Archived,
        Some(false) if definition.state == DefinitionState::Archived => {
            let published = definition.published_version.is_some();
            definition.state = if published { DefinitionState::Published } else { DefinitionState::Draft };
        }
        Some(false) | None => {}
    }
    problems.finish()
}

fn slug_taken(error: StoreError, definition: &Definition) -> UseCaseError {
    match error {
        StoreError::Duplicate(what) if what.contains("slug") => {
            let word = Words::of(definition.kind).definition;
            let message = format!("Another {word} has the slug `{}`.", definition.slug);
            UseCaseError::Conflict(vec![Problem::at("slug", "notUnique", message)])
        }
        other => other.into(),
    }
}

/// Checks the name of a definition: 1 to 200 characters, none of which nobody sees. Lines may end in it, as names in
/// models have it.
fn title(problems: &mut Problems, name: &str) {
    length(problems, "displayName", name, 1..=200);
    if has_hidden(&name.replace(['\n', '\r', '\t'], " ")) {
        let message = "None that turn the direction of writing or can't be seen.";
        problems.add("displayName", "wrongFormat", message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_definition_claims_the_files_that_its_imports_name() {
        let document =
            json!({ "imports": [{ "sourceSha256": "aa" }, { "format": "x" }, { "sourceSha256": "bb" }] });
        assert_eq!(claims(Some(&document)), ["aa", "bb"]);
        assert!(claims(Some(&json!({ "imports": null }))).is_empty() && claims(None).is_empty());
    }
}
