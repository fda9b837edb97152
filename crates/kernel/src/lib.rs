//! Types that every layer of Heddle shares: ids, the tenant, time, revisions, pages, the request id, patches,
//! enums of literals and the two ports through which time and ids come in. No I/O and no async.

mod budget;
mod diagnostic;
mod duration;
mod id;
mod kind;
mod literals;
mod name;
mod page;
mod patch;
mod request_id;
mod shorten;
mod time;

pub use budget::{Budget, Inline};
pub use diagnostic::{Diagnostic, ExpressionPosition, Severity};
pub use duration::IsoDuration;
pub use id::{
    BuildId, CaseId, CaseTypeId, ConnectionId, EventId, FileId, GrantId, GroupId, HookId, IdError, IdSource,
    IngestionJobId, JobId, LicenceId, ModelConnectionId, ModelDeploymentId, RoleId, RunId, SequentialIds,
    SessionId, TaskId, TenantId, TokenId, UserId, VectorDatabaseId, WebhookId, WorkflowId, uuid_v7,
};
pub use kind::DefinitionKind;
pub use literals::Stored;
#[doc(hidden)]
pub use literals::deserialize_literal;
pub use name::{DatabaseName, NameFault};
pub use page::{Cursor, CursorError, DEFAULT_LIMIT, MAX_LIMIT, Page, PageRequest};
pub use patch::Patch;
pub use request_id::RequestId;
#[doc(hidden)]
pub use serde;
pub use shorten::shortened;
pub use time::{Clock, FixedClock, TimeError, Timestamp};

/// A counter that grows by one with every change of a resource; it is the resource's `ETag`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize, Default,
)]
#[serde(transparent)]
pub struct Revision(pub i64);

impl Revision {
    /// The revision of something just created.
    pub const FIRST: Self = Self(1);

    /// The revision after one more change.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl std::fmt::Display for Revision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}
