//! Macro that declares the wire types of what is drafted, published and versioned: those of workflows and those of case
//! types are the same but for their names and for what stands under them.

/// Wire types of a kind of definitions: the thing itself, its draft and versions, and what changes them.
macro_rules! drafted {
    (
        definition $Definition:ident
        thing [$($thing_doc:tt)*] $Thing:ident { $($own:tt)* } { $($counts:tt)* }
        saved [$($saved_doc:tt)*] $Saved:ident { $($saved_thing:tt)* }
        version [$($version_doc:tt)*] $Version:ident
        create [$($create_doc:tt)*] $Create:ident
        patch [$($patch_doc:tt)*] $Patch:ident
        save [$($save_doc:tt)*] $Save:ident
        publish [$($publish_doc:tt)*] $Publish:ident
        query [$($query_doc:tt)*] $Query:ident { $($asked:tt)* }
    ) => {
        response! {
            $($thing_doc)*
            struct $Thing {
                /// Stable identifier.
                id: String,
                /// Unique name within the organisation.
                slug: String,
                /// Display name.
                display_name: String,
                /// Description.
                description: String,
                /// Folder; absent or null as it was sent.
                #[serde(skip_serializing_if = "Option::is_none")]
                #[schema(value_type = Option<String>)]
                folder_id: Option<Option<String>>,
                /// Lifecycle state.
                state: WorkflowState,
                $($own)*
                /// Grows with every change; the `ETag`.
                #[schema(minimum = 1)]
                revision: i64,
                /// Grows with every change of the draft.
                #[schema(minimum = 0)]
                draft_revision: i64,
                /// The active version's number; null when never published.
                #[schema(required = true, minimum = 1)]
                published_version: Option<i32>,
                /// Whether the draft differs from the active version.
                has_unpublished_changes: bool,
                /// The definition as it was sent; left out of lists, and while none was sent.
                #[serde(skip_serializing_if = "Option::is_none")]
                #[schema(value_type = AnyJson)]
                definition: Option<Document>,
                $($counts)*
                /// Instant of creation.
                #[schema(value_type = Instant)]
                created_at: Timestamp,
                /// User who created it.
                created_by: String,
                /// Instant of the last change.
                #[schema(value_type = Instant)]
                updated_at: Timestamp,
                /// User who last changed it.
                updated_by: String,
            }

            $($saved_doc)*
            struct $Saved {
                $($saved_thing)*
                /// Findings of the checks; a draft may be incomplete.
                diagnostics: Vec<Diagnostic>,
            }

            $($version_doc)*
            struct $Version {
                /// Counted from 1.
                #[schema(minimum = 1)]
                number: i32,
                /// SHA-256 of the definition's canonical JSON in hex.
                hash: String,
                /// Instant of publication.
                #[schema(value_type = Instant)]
                published_at: Timestamp,
                /// User who published it.
                published_by: String,
                /// Change note of the publisher; null when none was given.
                #[schema(required = true)]
                change_note: Option<String>,
                /// Whether what starts now uses it.
                state: VersionState,
                /// Warnings and hints about it; in the answer to its publication.
                #[serde(skip_serializing_if = "Option::is_none")]
                #[schema(nullable = false)]
                diagnostics: Option<Vec<Diagnostic>>,
            }
        }

        request! {
            $($create_doc)*
            struct $Create {
                /// The definition; a draft may be incomplete.
                #[serde(default)]
                #[schema(value_type = Option<$Definition>)]
                definition: Patch<$Definition>,
                /// Description.
                #[schema(max_length = 4000)]
                description: String,
                /// Display name.
                #[schema(min_length = 1, max_length = 200)]
                display_name: String,
                /// Folder: a free label.
                #[serde(default)]
                #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
                folder_id: Patch<String>,
                /// Slug, unique within the organisation.
                #[schema(min_length = 1, max_length = 100, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")]
                slug: String,
            }

            $($patch_doc)*
            struct $Patch {
                /// Display name.
                #[schema(nullable = false, min_length = 1, max_length = 200)]
                display_name: Option<String>,
                /// Description.
                #[schema(nullable = false, max_length = 4000)]
                description: Option<String>,
                /// Slug.
                #[schema(nullable = false, min_length = 1, max_length = 100, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")]
                slug: Option<String>,
                /// Folder; null clears it.
                #[serde(default)]
                #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
                folder_id: Patch<String>,
                /// Whether nothing new is started of it.
                #[schema(nullable = false)]
                archived: Option<bool>,
                /// The revision that the change is made to.
                #[schema(nullable = false, minimum = 1)]
                revision: Option<i64>,
            }

            $($save_doc)*
            struct $Save {
                /// The definition; null takes the draft's definition away.
                #[schema(required = true, value_type = Option<$Definition>)]
                definition: Patch<$Definition>,
                /// The revision that the draft was made from.
                #[schema(nullable = false, minimum = 1)]
                revision: Option<i64>,
            }

            $($publish_doc)*
            struct $Publish {
                /// Change note: what differs from the version before.
                #[schema(max_length = 4000)]
                change_note: Option<String>,
                /// The revision that is published.
                #[schema(nullable = false, minimum = 1)]
                revision: Option<i64>,
            }

            $($query_doc)*
            struct $Query {
                /// The most rows of the page.
                #[schema(minimum = 1, maximum = 200, default = 50)]
                limit: Option<u32>,
                /// `page.nextCursor` of the page before.
                #[schema(min_length = 1, max_length = 1024)]
                cursor: Option<String>,
                /// Text that slug, name or description must contain; case is ignored.
                #[schema(min_length = 1, max_length = 200)]
                q: Option<String>,
                /// Only those in this state.
                state: Option<WorkflowState>,
                $($asked)*
                /// Only those in this folder.
                #[schema(min_length = 1, max_length = 200)]
                folder_id: Option<String>,
                /// The order; `-createdAt` when absent.
                sort: Option<WorkflowSort>,
            }
        }

        json_bodies!($Create, $Patch, $Save, $Publish);
    };
}
