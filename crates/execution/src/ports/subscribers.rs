//! Subscribers of events: those outside to whom the events of an organisation's runs are told.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use heddle_kernel::{DefinitionKind, TenantId, WorkflowId};
use heddle_usecase::StoreError;
use heddle_usecase::errand::NewErrand;
use serde::Deserialize;
use uuid::Uuid;

/// A subscriber of events. Who made it was asked what they may read then: it is told of no other workflow, and of the cases
/// of those case types alone that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSubscriber {
    /// Id of the subscription: its events are told in their order.
    pub id: Uuid,
    /// Target that is asked to tell it, such as a connection's id.
    pub target: String,
    /// Types of the events; all when absent.
    pub types: Option<Vec<String>>,
    /// Workflows of the runs, and case types of the cases; all workflows, and no case type, when absent.
    pub workflows: Option<Vec<WorkflowId>>,
}

/// The member of an event of a case that one of a run does not have.
#[derive(Deserialize)]
struct Told<'a> {
    #[serde(rename = "caseId", borrow, default)]
    case: Option<Cow<'a, str>>,
}

/// Kind of the instance that an errand tells of.
fn kind_of(errand: &NewErrand) -> DefinitionKind {
    let told: serde_json::Result<Told<'_>> = serde_json::from_str(&errand.payload);
    match told.is_ok_and(|told| told.case.is_some()) {
        true => DefinitionKind::Case,
        false => DefinitionKind::Workflow,
    }
}

impl EventSubscriber {
    /// Whether it is told of runs of a workflow, or of cases of a case type.
    #[must_use]
    pub fn concerns(&self, kind: DefinitionKind, definition: WorkflowId) -> bool {
        match &self.workflows {
            Some(named) => named.contains(&definition),
            None => kind == DefinitionKind::Workflow,
        }
    }

    /// Whether it is still told of an event that has waited for it.
    #[must_use]
    pub fn still_wants(&self, errand: &NewErrand) -> bool {
        let concerns = |definition| self.concerns(kind_of(errand), definition);
        self.wants(&errand.name) && errand.workflow.is_none_or(concerns)
    }

    /// Whether it is told of events of a type.
    #[must_use]
    pub fn wants(&self, kind: &str) -> bool {
        self.types.as_ref().is_none_or(|wanted| wanted.iter().any(|one| one == kind))
    }
}

/// The subscribers of an organisation, asked for with each commit.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait EventSubscribers: Send + Sync {
    /// All of them, paused ones too; kept between calls, so that an organisation without any costs nothing.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn of(&self, tenant: TenantId) -> Result<Arc<[EventSubscriber]>, StoreError>;
}
