//! Subscribers of events: those outside to whom the events of an organisation's runs are told.

use std::sync::Arc;

use async_trait::async_trait;
use heddle_kernel::{TenantId, WorkflowId};
use heddle_usecase::StoreError;
use uuid::Uuid;

/// A subscriber of events. Who made it was asked what they may read then: it is told of no other workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSubscriber {
    /// Id of the subscription: its events are told in their order.
    pub id: Uuid,
    /// Target that is asked to tell it, such as a connection's id.
    pub target: String,
    /// Types of the events; all when absent.
    pub types: Option<Vec<String>>,
    /// Workflows of the runs; all when absent.
    pub workflows: Option<Vec<WorkflowId>>,
}

impl EventSubscriber {
    /// Whether it is told of runs of a workflow.
    #[must_use]
    pub fn wants_runs_of(&self, workflow: WorkflowId) -> bool {
        self.workflows.as_ref().is_none_or(|wanted| wanted.contains(&workflow))
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
