//! Stores of definitions, drafts, versions, stars and imported files. Each method is one atomic unit; every query is held
//! to the tenant and the kind that it is given.

use std::ops::RangeInclusive;

use async_trait::async_trait;
use heddle_kernel::{
    Cursor, DefinitionKind, Page, PageRequest, Revision, TenantId, Timestamp, UserId, WorkflowId,
};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;
use serde_json::Value;

use crate::records::{
    Definition, DefinitionState, DefinitionView, Draft, ImportSource, ShownDefinition, Start, Version,
    VersionChoice,
};
use crate::{DefinitionAccess, DefinitionKey};

/// The order of a list of definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DefinitionSort {
    /// Last created first.
    #[default]
    CreatedDescending,
    /// First created first.
    CreatedAscending,
    /// Display name ascending, then id.
    DisplayName,
    /// Display name descending.
    DisplayNameDescending,
    /// Last changed first.
    UpdatedDescending,
    /// First changed first.
    UpdatedAscending,
}

/// Filter for definitions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DefinitionFilter {
    /// A part of slug, display name or description; letters of either case.
    pub q: Option<String>,
    /// State of the definitions.
    pub state: Option<DefinitionState>,
    /// Starred ones alone (or only others).
    pub starred: Option<bool>,
    /// Folder of the definitions.
    pub folder_id: Option<String>,
    /// The order.
    pub sort: DefinitionSort,
}

/// A change of a definition.
#[derive(Debug, Clone)]
pub struct DefinitionWrite<'a> {
    /// The definition as it shall be.
    pub definition: &'a Definition,
    /// The revision it must have now; none for a new one.
    pub expected: Option<Revision>,
    /// The draft as it shall be; none leaves it.
    pub draft: Option<&'a Draft>,
    /// Hashes (hex) of previewed files that the draft names: claimed for good, if they are there. The last one that
    /// is there becomes the definition's import source.
    pub claims: &'a [String],
    /// Start bindings of the active version from now on; none leaves the present ones. An archived definition has none in
    /// any case.
    pub starts: Option<&'a [Start]>,
}

/// A publication.
#[derive(Debug, Clone)]
pub struct PublishWrite<'a> {
    /// The definition with its new version.
    pub definition: &'a Definition,
    /// The revision it must have now.
    pub expected: Revision,
    /// The version.
    pub version: &'a Version,
    /// Text of the version.
    pub document: &'a Value,
    /// Start bindings of the version; these replace the former version's.
    pub starts: &'a [Start],
    /// Ids under which other definitions call it; these replace the former version's.
    pub callable: &'a [String],
}

/// Published definitions that a call may mean by a name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Callable {
    /// Those that have a process, or a case, of that id.
    pub processes: Vec<WorkflowId>,
    /// The one whose slug it is.
    pub slug: Option<WorkflowId>,
}

/// Outcome of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    /// Deletion by this call.
    Now,
    /// Deletion by an earlier call.
    Before,
    /// Refusal: so many instances have not ended; nothing was deleted.
    InUse(i64),
}

/// Quota of the unclaimed files of an organisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceQuota {
    /// Most files.
    pub files: usize,
    /// Most bytes of all of them.
    pub bytes: u64,
}

impl Default for SourceQuota {
    fn default() -> Self {
        Self { files: 1_000, bytes: 256 << 20 }
    }
}

/// Keeps definitions. All methods answer `Unavailable` when the database does not; what is of another kind is not found.
#[async_trait]
pub trait DefinitionStore: Send + Sync {
    /// Writes a new definition. `Duplicate("slug")` when another of its kind has the slug.
    async fn insert<'a>(&self, write: DefinitionWrite<'a>, unit: &Journal) -> Result<(), StoreError>;
    /// Writes a change. `Stale` when the revision is another, `NotFound`, `Duplicate("slug")`. All of it
    /// is written in one transaction, the start bindings too.
    async fn update<'a>(&self, write: DefinitionWrite<'a>, unit: &Journal) -> Result<(), StoreError>;
    /// A definition as the user sees it.
    async fn get(&self, key: DefinitionKey, user: UserId) -> Result<DefinitionView, StoreError>;
    /// A definition as the user sees it, with a text. `NotFound` also when there is no such version. On
    /// the path of every reader: what has not changed is not built anew, and what has is read at once.
    async fn shown(
        &self,
        key: DefinitionKey,
        user: UserId,
        choice: VersionChoice,
    ) -> Result<ShownDefinition, StoreError>;
    /// Lifecycle state of a definition and its active version's number: the short way for a start of an instance.
    async fn standing(&self, key: DefinitionKey) -> Result<(DefinitionState, Option<i32>), StoreError>;
    /// Draft of a definition.
    async fn draft(&self, key: DefinitionKey) -> Result<Draft, StoreError>;
    /// A page of the definitions that `access` lets through, which says their kind.
    async fn list<'a>(
        &self,
        tenant: TenantId,
        user: UserId,
        filter: &DefinitionFilter,
        access: DefinitionAccess<'a>,
        page: &PageRequest,
    ) -> Result<Page<DefinitionView>, StoreError>;
    /// Deletes a definition with its versions and ended instances; leaves a tombstone. `Stale` when `expected` is
    /// another.
    async fn delete(
        &self,
        key: DefinitionKey,
        expected: Option<Revision>,
        unit: &Journal,
    ) -> Result<Deleted, StoreError>;
    /// Writes a version, makes it the active one and moves the start bindings to it, in one transaction.
    async fn publish<'a>(&self, write: PublishWrite<'a>, unit: &Journal) -> Result<(), StoreError>;
    /// Published definitions of a kind, archived ones apart, that have a process or case of this id, or this slug.
    async fn callable<'a>(
        &self,
        tenant: TenantId,
        kind: DefinitionKind,
        name: &'a str,
    ) -> Result<Callable, StoreError>;
    /// Workflows, in whatever state, of which a version of a process may have this number. Case types have none.
    async fn numbered(&self, tenant: TenantId, number: i64) -> Result<Vec<WorkflowId>, StoreError>;
    /// The last of these versions of a definition that has a tag.
    async fn tagged<'a>(
        &self,
        key: DefinitionKey,
        versions: RangeInclusive<i32>,
        tag: &'a str,
    ) -> Result<Option<i32>, StoreError>;
    /// Versions, newest first.
    async fn versions(&self, key: DefinitionKey, page: &PageRequest) -> Result<Page<Version>, StoreError>;
    /// Instant at which a version was published.
    async fn published_at(&self, key: DefinitionKey, number: i32) -> Result<Timestamp, StoreError> {
        let page = PageRequest { limit: 1, cursor: Some(Cursor::after(&number.saturating_add(1))) };
        let found = self.versions(key, &page).await?;
        let version = found.items.first().filter(|version| version.number == number);
        version.map(|version| version.published_at).ok_or(StoreError::NotFound)
    }
    /// Number of the version that was active at an instant; none before the first.
    async fn version_at(&self, key: DefinitionKey, at: Timestamp) -> Result<Option<i32>, StoreError> {
        let mut page = PageRequest { limit: 100, cursor: None };
        loop {
            let found = self.versions(key, &page).await?;
            if let Some(version) = found.items.iter().find(|version| version.published_at <= at) {
                return Ok(Some(version.number));
            }
            match found.next {
                Some(next) => page.cursor = Some(next),
                None => return Ok(None),
            }
        }
    }
    /// One version with its text.
    async fn version(&self, key: DefinitionKey, number: i32) -> Result<(Version, Value), StoreError>;
    /// Sets or takes away a user's star; done twice is done once. Returns whether anything changed; the unit is
    /// written only then.
    async fn star(
        &self,
        key: DefinitionKey,
        user: UserId,
        starred: bool,
        unit: &Journal,
    ) -> Result<bool, StoreError>;
    /// Keeps a previewed file until it is claimed or the time is over. What an organisation has unclaimed beyond the
    /// quota goes, the oldest first; the file itself stays in any case.
    async fn keep_source(
        &self,
        tenant: TenantId,
        source: &ImportSource,
        expires_at: Timestamp,
        quota: SourceQuota,
    ) -> Result<(), StoreError>;
    /// The file that a definition was imported from.
    async fn source(&self, key: DefinitionKey) -> Result<ImportSource, StoreError>;
}
