//! Background work: group commit, timers, delivery of thrown messages, and telling readers of new events. It
//! knows the use cases and their ports; it knows neither HTTP nor SQL.

mod clock;
mod commit;
mod compute;
mod hub;
mod ids;
mod runner;
mod service;
mod webhooks;
mod worker;

pub use clock::ServerClock;
pub use commit::{CommitOptions, GroupCommitter};
pub use compute::{ComputeError, ComputeOptions, ComputePool, Job, QUEUE_LIMIT};
pub use heddle_workflows::ports::Permit;
pub use hub::{EventNotifier, OrganizationWatch, RunWatch};
pub use ids::RandomIds;
pub use runner::{MOST_TRIES, Runner, RunnerOptions, RunnerPorts, system_random};
pub use service::ServiceExecutor;
pub use webhooks::{
    Sent, WebhookChanges, WebhookDelivery, WebhookDirectory, WebhookExecutor, WebhookMessage, WebhookSender,
    WebhookSource, WebhookState,
};
pub use worker::{Worker, WorkerOptions};
