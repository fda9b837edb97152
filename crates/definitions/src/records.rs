//! The records of definitions as the domain sees them. Rows and wire types are made from these by plain functions.

use std::sync::Arc;

use heddle_kernel::{DefinitionKind, Patch, Revision, TenantId, Timestamp, UserId, WorkflowId, literals};
use heddle_policy::RequestContext;
use heddle_usecase::{AuditView, Audited};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::DefinitionKey;

pub use heddle_usecase::VersionChoice;

literals! {
    /// Lifecycle state of a definition.
    pub enum DefinitionState {
        /// Never published.
        Draft = "draft",
        /// Has an active version.
        Published = "published",
        /// Starts no new instances.
        Archived = "archived",
    }
}

/// A draft: the definition's JSON as it was sent, member for member.
pub type Draft = Patch<Value>;

/// A definition without its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The organisation.
    pub tenant: TenantId,
    /// The kind.
    pub kind: DefinitionKind,
    /// The id; of a case type the same under its own name.
    pub id: WorkflowId,
    /// Unique name within the organisation and the kind, 1 to 100 characters of `a-z0-9-`.
    pub slug: String,
    /// 1 to 200 characters.
    pub display_name: String,
    /// 0 to 4,000 characters.
    pub description: String,
    /// A free label of 1 to 200 characters.
    pub folder_id: Patch<String>,
    /// Lifecycle state.
    pub state: DefinitionState,
    /// Grows with every change.
    pub revision: Revision,
    /// Grows with every change of the draft.
    pub draft_revision: Revision,
    /// SHA-256 (hex) of the draft's canonical JSON; none while there is no definition.
    pub draft_hash: Option<String>,
    /// The active version's number, counted from 1.
    pub published_version: Option<i32>,
    /// The active version's hash.
    pub published_hash: Option<String>,
    /// Instant of creation.
    pub created_at: Timestamp,
    /// User who created it.
    pub created_by: UserId,
    /// Instant of the last change.
    pub updated_at: Timestamp,
    /// User who last changed it.
    pub updated_by: UserId,
}

impl Definition {
    /// The key.
    #[must_use]
    pub const fn key(&self) -> DefinitionKey {
        DefinitionKey::of_stored(self.tenant, self.kind, self.id)
    }

    /// Notes that it was changed, by whom and when.
    pub fn touch(&mut self, context: &RequestContext) {
        self.revision = self.revision.next();
        self.updated_at = context.now();
        self.updated_by = context.user_id();
    }

    /// Whether the draft differs from the active version.
    #[must_use]
    pub fn has_unpublished_changes(&self) -> bool {
        self.draft_hash.is_some() && self.draft_hash != self.published_hash
    }
}

/// A definition with what a reader sees beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct DefinitionView {
    /// The definition.
    pub definition: Definition,
    /// Whether the reader starred it.
    pub starred: bool,
    /// Numbers of its instances by state.
    pub counts: InstanceCounts,
}

/// A definition as a reader sees it, with the chosen text.
#[derive(Debug, Clone)]
pub struct ShownDefinition {
    /// The definition.
    pub view: Arc<DefinitionView>,
    /// JSON of the text as it was sent; none while there is no draft.
    pub document: Option<Arc<RawValue>>,
}

/// Numbers of a definition's instances by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InstanceCounts {
    /// Running, waiting, suspended or queued ones.
    pub active: i64,
    /// Active ones with an incident.
    pub incidents: i64,
    /// Completed ones.
    pub completed: i64,
    /// Failed ones.
    pub failed: i64,
    /// Cancelled ones; of cases those that were terminated.
    pub cancelled: i64,
}

/// A published version; immutable but for its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Counted from 1.
    pub number: i32,
    /// SHA-256 (hex) of the definition's canonical JSON.
    pub hash: String,
    /// Instant of publication.
    pub published_at: Timestamp,
    /// User who published it.
    pub published_by: UserId,
    /// Note of the publisher on the change.
    pub change_note: Option<String>,
    /// Whether new instances use it.
    pub active: bool,
    /// Whether a lane is the candidate group of its tasks that name nobody: so in versions that were published while that
    /// was the rule, never in new ones.
    pub lane_groups: bool,
    /// Number of the rules under which it was published, as its kind counts them.
    pub edition: i32,
}

/// The bytes of an imported file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportSource {
    /// SHA-256 (hex) of the bytes.
    pub sha256: String,
    /// Media type of the file.
    pub media_type: String,
    /// Name of the file.
    pub file_name: Option<String>,
    /// The bytes as they came.
    pub bytes: Vec<u8>,
}

literals! {
    /// Kind of event that starts an instance without a caller.
    pub enum StartKind {
        /// A message, or the event type of a case event.
        Message = "message",
        /// A signal by name.
        Signal = "signal",
        /// A timer.
        Timer = "timer",
    }
}

/// Event that can start an instance of a published version without a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The process, or the case, within the definition.
    pub entry: String,
    /// The start event; of a case the case itself.
    pub node_id: String,
    /// Kind of event.
    pub kind: StartKind,
    /// The name of the message or signal; empty for a timer.
    pub name: String,
    /// Next due time of a timer; none for a message or a signal.
    pub next_due_at: Option<Timestamp>,
    /// Recurrence of a timer: the engine's own form.
    pub timer: Option<Value>,
}

/// Definitions are told by their hashes.
impl Audited for Definition {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("slug", &self.slug)
            .shown("displayName", &self.display_name)
            .hidden("description", &self.description)
            .hidden("folderId", format!("{:?}", self.folder_id))
            .shown("state", self.state)
            .shown("draftHash", &self.draft_hash)
            .shown("draftRevision", self.draft_revision)
            .shown("publishedVersion", self.published_version)
            .shown("publishedHash", &self.published_hash)
            .shown("revision", self.revision)
    }
}

/// Star of a caller on a definition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Star(pub(crate) bool);

impl Audited for Star {
    fn view(&self) -> AuditView {
        AuditView::default().shown("starred", self.0)
    }
}
