//! Definitions between wire and domain, drafted, published and versioned: workflows and case types have the same members
//! but for a few, so that one list of them serves both.

use heddle_api::wire;
use heddle_kernel::Patch;
use heddle_workflows::ports::WorkflowSort;
use heddle_workflows::records::Draft;
use serde_json::Value;

/// A definition for the caller, as the wire type of its kind; the text stands in it as it was sent.
macro_rules! told {
    ($module:ident :: $thing:ident, $view:expr, $draft:expr, { $($own:ident: $value:expr),+ $(,)? }) => {{
        let definition = &$view.definition;
        heddle_api::wire::$module::$thing {
            id: definition.id.to_string(),
            slug: definition.slug.clone(),
            display_name: definition.display_name.clone(),
            description: definition.description.clone(),
            folder_id: $crate::handlers::drafted::folder(&definition.folder_id),
            state: heddle_faces::literals::workflow_state(definition.state),
            revision: definition.revision.0,
            draft_revision: definition.draft_revision.0,
            published_version: definition.published_version,
            has_unpublished_changes: definition.has_unpublished_changes(),
            definition: $crate::handlers::drafted::document($draft),
            created_at: definition.created_at,
            created_by: definition.created_by.to_string(),
            updated_at: definition.updated_at,
            updated_by: definition.updated_by.to_string(),
            $($own: $value,)+
        }
    }};
}

/// A version for the caller, as the wire type of its kind.
macro_rules! told_version {
    ($module:ident :: $thing:ident, $version:expr) => {
        heddle_api::wire::$module::$thing {
            number: $version.number,
            hash: $version.hash.clone(),
            published_at: $version.published_at,
            published_by: $version.published_by.to_string(),
            change_note: $version.change_note.clone(),
            state: $crate::handlers::drafted::version_state($version.active),
            diagnostics: None,
        }
    };
}

/// New definition as a body describes it.
macro_rules! new_of {
    ($body:expr, $draft:expr) => {
        heddle_definitions::NewDefinition {
            slug: $body.slug.clone(),
            display_name: $body.display_name.clone(),
            description: $body.description.clone(),
            folder_id: $body.folder_id.clone(),
            draft: $draft,
        }
    };
}

/// Patch of a definition that a body asks for.
macro_rules! patch_of {
    ($body:expr, $revision:expr) => {
        heddle_definitions::DefinitionPatch {
            display_name: $body.display_name.clone(),
            description: $body.description.clone(),
            slug: $body.slug.clone(),
            folder_id: $body.folder_id.clone(),
            archived: $body.archived,
            revision: $revision,
        }
    };
}

/// Details of the audit event of a change: the members that a body sets.
macro_rules! changed {
    ($body:expr) => {{
        let body = $body;
        let mut set = $crate::handlers::changes::set!(
            body, "displayName" display_name, "description" description, "slug" slug
        );
        set.extend((!body.folder_id.is_absent()).then_some("folderId"));
        set.extend(body.archived.map(|_| "archived"));
        serde_json::json!({ "set": set, "archived": body.archived })
    }};
}

/// Filter that a query asks of a list.
macro_rules! filter_of {
    ($query:expr, starred: $starred:expr) => {
        heddle_definitions::ports::DefinitionFilter {
            q: $query.q,
            state: $query.state.map(heddle_faces::literals::workflow_state_of),
            starred: $starred,
            folder_id: $query.folder_id,
            sort: $query.sort.map($crate::handlers::drafted::sort_of).unwrap_or_default(),
        }
    };
}

pub(super) use {changed, filter_of, new_of, patch_of, told, told_version};

/// A draft as it was sent.
pub(super) fn draft_of<M>(sent: &Patch<M>, json: impl FnOnce(&M) -> &Value) -> Draft {
    match sent {
        Patch::Absent => Draft::Absent,
        Patch::Null => Draft::Null,
        Patch::Value(model) => Draft::Value(json(model).clone()),
    }
}

/// A draft in an answer; one that was taken away is null.
pub(super) fn document(draft: &Draft) -> Option<wire::envelope::Document> {
    match draft {
        Draft::Absent => None,
        Draft::Null => Some(Value::Null.into()),
        Draft::Value(definition) => Some(definition.clone().into()),
    }
}

/// A folder: absent, null, or its label.
pub(super) fn folder(folder: &Patch<String>) -> Option<Option<String>> {
    match folder {
        Patch::Absent => None,
        Patch::Null => Some(None),
        Patch::Value(folder) => Some(Some(folder.clone())),
    }
}

/// Whether what starts now uses a version.
pub(super) const fn version_state(is_active: bool) -> wire::workflows::VersionState {
    if is_active { wire::workflows::VersionState::Active } else { wire::workflows::VersionState::Superseded }
}

/// The order of a list.
pub(super) const fn sort_of(word: wire::workflows::WorkflowSort) -> WorkflowSort {
    match word {
        wire::workflows::WorkflowSort::CreatedAt => WorkflowSort::CreatedAscending,
        wire::workflows::WorkflowSort::CreatedAtDescending => WorkflowSort::CreatedDescending,
        wire::workflows::WorkflowSort::UpdatedAt => WorkflowSort::UpdatedAscending,
        wire::workflows::WorkflowSort::UpdatedAtDescending => WorkflowSort::UpdatedDescending,
        wire::workflows::WorkflowSort::DisplayName => WorkflowSort::DisplayName,
        wire::workflows::WorkflowSort::DisplayNameDescending => WorkflowSort::DisplayNameDescending,
    }
}
