//! Files of a kind's standard: definitions that are made from them, and those that are written as them.

use heddle_kernel::{DefinitionKind, Diagnostic, Patch};
use heddle_policy::{AuthorizedKind, Capability, RequestContext};
use heddle_usecase::{JournalFor, UseCaseError, sha256_hex, slug_from};

use crate::kind::Imported;
use crate::records::{Definition, DefinitionView, Draft, VersionChoice};
use crate::{Defines, DefinitionKey, Definitions, NewDefinition, Words};

/// The most characters of a name for people.
const NAME_MAX: usize = 200;

/// A file that becomes a definition. What is not said comes from the file.
#[derive(Debug, Clone, Default)]
pub struct ImportRequest {
    /// Bytes as they came.
    pub bytes: Vec<u8>,
    /// Name of the file.
    pub file_name: Option<String>,
    /// Slug of the definition; made of its name when absent.
    pub slug: Option<String>,
    /// Name for people.
    pub display_name: Option<String>,
    /// Description; empty when absent.
    pub description: Option<String>,
    /// A free label.
    pub folder_id: Patch<String>,
}

/// Names of a definition that is made from a file, where nobody names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggested {
    /// Name for people.
    pub display_name: String,
    /// Slug.
    pub slug: String,
}

impl Suggested {
    /// Names by what the file says, else by its own name, else by the kind.
    #[must_use]
    pub fn of(kind: DefinitionKind, name: Option<&str>, file_name: Option<&str>) -> Self {
        let said = name.map(shortened).filter(|name| !name.is_empty());
        let own = || file_name.map(stem).map(shortened).filter(|name| !name.is_empty());
        let display_name = said.or_else(own).unwrap_or_else(|| Words::of(kind).definition.to_owned());
        Self { slug: Self::slug(kind, &display_name), display_name }
    }

    fn slug(kind: DefinitionKind, display_name: &str) -> String {
        slug_from(display_name, &slug_from(Words::of(kind).definition, "imported"))
    }
}

/// A definition that was made from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedDefinition {
    /// The definition.
    pub view: DefinitionView,
    /// Result of reading the file.
    pub file: Imported,
}

/// A document for the caller.
#[derive(Debug, Clone)]
pub struct Exported {
    /// The definition, for the file's name.
    pub definition: Definition,
    /// Text of the file.
    pub content: String,
    /// Media type of the file.
    pub media_type: &'static str,
    /// SHA-256 (hex) of it.
    pub sha256: String,
    /// Findings.
    pub diagnostics: Vec<Diagnostic>,
}

impl Definitions {
    /// Creates a definition from a file.
    ///
    /// # Errors
    /// `Invalid` when the file can't be read, with line and column, or a name breaks a rule; `Conflict` (`notUnique`) when
    /// the slug is taken.
    pub async fn import<C: Capability>(
        &self,
        authorized: &AuthorizedKind<C>,
        context: &RequestContext,
        request: ImportRequest,
        record: &JournalFor<'_, ImportedDefinition>,
    ) -> Result<ImportedDefinition, UseCaseError>
    where
        C::On: Defines,
    {
        let file = self.kind.import(&request.bytes)?;
        let kind = <C::On as Defines>::KIND;
        let suggested = Suggested::of(kind, file.name.as_deref(), request.file_name.as_deref());
        let display_name = request.display_name.unwrap_or(suggested.display_name);
        let new = NewDefinition {
            slug: request.slug.unwrap_or_else(|| Suggested::slug(kind, &display_name)),
            display_name,
            description: request.description.unwrap_or_default(),
            folder_id: request.folder_id,
            draft: Draft::Value(file.document.clone()),
        };
        let record =
            |view: &DefinitionView| record(&ImportedDefinition { view: view.clone(), file: file.clone() });
        let view = self.create(authorized, context, new, &record).await?;
        Ok(ImportedDefinition { view, file })
    }

    /// The chosen text as a file of the kind's standard.
    ///
    /// # Errors
    /// `NotFound` also when there is no definition; `Conflict` when it can't be written.
    pub async fn export(
        &self,
        key: DefinitionKey,
        context: &RequestContext,
        choice: VersionChoice,
    ) -> Result<Exported, UseCaseError> {
        let view = self.store.get(key, context.user_id()).await?;
        let draft = self.chosen(&view, choice).await?;
        let written = self.kind.export(draft.value().ok_or(UseCaseError::NotFound)?)?;
        Ok(Exported {
            definition: view.definition,
            sha256: sha256_hex(written.content.as_bytes()),
            content: written.content,
            media_type: written.media_type,
            diagnostics: written.diagnostics,
        })
    }
}

/// A file's name without folders and without what stands behind its first dot.
fn stem(file_name: &str) -> &str {
    let name = file_name.rsplit(['/', '\\']).next().unwrap_or_default();
    name.split('.').next().unwrap_or_default().trim()
}

fn shortened(name: &str) -> String {
    name.trim().chars().take(NAME_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_its_definition_without_folder_and_extension() {
        for (file, name) in
            [("claim.cmmn", "claim"), ("a/b\\Claim v2.cmmn.xml", "Claim v2"), (".cmmn", ""), ("", "")]
        {
            assert_eq!(stem(file), name);
        }
    }

    #[test]
    fn what_nobody_names_is_named_by_its_file() {
        let named = |name, file| {
            let Suggested { display_name, slug } = Suggested::of(DefinitionKind::Case, name, file);
            (display_name, slug)
        };
        let both = |name: &str, slug: &str| (name.to_owned(), slug.to_owned());
        assert_eq!(named(Some(" Claim 2 "), Some("x.cmmn")), both("Claim 2", "claim-2"));
        assert_eq!(named(Some(""), Some("a/Big Claim.cmmn")), both("Big Claim", "big-claim"));
        assert_eq!(named(None, Some("請求.cmmn")), both("請求", "case-type"));
        assert_eq!(named(None, None), both("case type", "case-type"));
    }
}
