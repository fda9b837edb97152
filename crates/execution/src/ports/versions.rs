//! Published versions of definitions, as far as what runs by them has to know: one implementation for each kind.

use std::ops::RangeInclusive;
use std::sync::Arc;

use async_trait::async_trait;
use heddle_dmn::Model;
use heddle_kernel::{DefinitionKind, TenantId, Timestamp, UserId, WorkflowId};
use heddle_usecase::{StoreError, UseCaseError};

use crate::compiled::CompiledVersion;

/// Standing of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Whether it is archived: it starts nothing.
    pub is_archived: bool,
    /// Number of the active version; none while there is none.
    pub latest: Option<i32>,
}

/// Names of a definition, as people know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionNames {
    /// The definition.
    pub id: WorkflowId,
    /// Unique name within the organisation.
    pub slug: String,
    /// Name for people.
    pub display_name: String,
}

/// Published definitions that a call may mean by a name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamedDefinitions {
    /// Those that have a process or a case of that id.
    pub processes: Vec<WorkflowId>,
    /// The one whose slug it is.
    pub slug: Option<WorkflowId>,
}

/// Name by which [`Versions::callable`] finds the workflows with a decision of this id or name. No process is called so.
#[must_use]
pub fn decision_name(decision: &str) -> String {
    format!("\u{1f}decision:{decision}")
}

/// Knows the versions of the definitions of one kind. The methods answer `Unavailable` when the database does not, and
/// `NotFound` where there is no such definition of the kind.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Versions: Send + Sync {
    /// The compiled model of a version.
    async fn plan(
        &self,
        tenant: TenantId,
        definition: WorkflowId,
        number: i32,
    ) -> Result<Arc<CompiledVersion>, UseCaseError>;
    /// The same, if it was used lately.
    fn known(&self, tenant: TenantId, definition: WorkflowId, number: i32) -> Option<Arc<CompiledVersion>>;
    /// Standing of a definition: the short way for a start.
    async fn standing(&self, tenant: TenantId, definition: WorkflowId) -> Result<Standing, StoreError>;
    /// Names of a definition.
    async fn names(&self, tenant: TenantId, definition: WorkflowId) -> Result<DefinitionNames, StoreError>;
    /// Published definitions, archived ones apart, that have a process or a case of this id or this slug.
    async fn callable<'a>(&self, tenant: TenantId, name: &'a str) -> Result<NamedDefinitions, StoreError>;
    /// Definitions, in whatever state, of which a version of a process may have this number (see
    /// [`crate::runs::process_number`]).
    async fn numbered(&self, tenant: TenantId, number: i64) -> Result<Vec<WorkflowId>, StoreError>;
    /// The last of these versions of a definition that has a tag.
    async fn tagged<'a>(
        &self,
        tenant: TenantId,
        definition: WorkflowId,
        versions: RangeInclusive<i32>,
        tag: &'a str,
    ) -> Result<Option<i32>, StoreError>;
    /// Instant at which a version was published.
    async fn published_at(
        &self,
        tenant: TenantId,
        definition: WorkflowId,
        number: i32,
    ) -> Result<Timestamp, StoreError>;
    /// Number of the version that was active at an instant; none before the first.
    async fn version_at(
        &self,
        tenant: TenantId,
        definition: WorkflowId,
        at: Timestamp,
    ) -> Result<Option<i32>, StoreError>;
    /// The decisions of the draft as it is now; none when it has none.
    async fn draft_decisions(
        &self,
        tenant: TenantId,
        definition: WorkflowId,
        user: UserId,
    ) -> Result<Option<Model>, UseCaseError>;
}

/// The versions of each kind of definitions.
#[derive(Clone)]
pub struct Kinds {
    workflows: Arc<dyn Versions>,
    cases: Option<Arc<dyn Versions>>,
}

impl std::fmt::Debug for Kinds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kinds").field("has_cases", &self.cases.is_some()).finish_non_exhaustive()
    }
}

impl Kinds {
    /// Workflows alone.
    #[must_use]
    pub fn workflows(workflows: Arc<dyn Versions>) -> Self {
        Self { workflows, cases: None }
    }

    /// The same with cases.
    #[must_use]
    pub fn with_cases(self, cases: Arc<dyn Versions>) -> Self {
        Self { cases: Some(cases), ..self }
    }

    /// The versions of a kind.
    ///
    /// # Errors
    /// `NotFound` for a kind that nobody implements here: nothing of it runs.
    pub fn of(&self, kind: DefinitionKind) -> Result<&dyn Versions, StoreError> {
        match kind {
            DefinitionKind::Workflow => Ok(&*self.workflows),
            DefinitionKind::Case => self.cases.as_deref().ok_or(StoreError::NotFound),
        }
    }
}
