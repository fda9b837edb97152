//! Background work: group commit, timers, delivery of thrown messages, and telling readers of new events. It
//! knows the use cases and their ports; it knows neither HTTP nor SQL.

mod clock;
mod commit;
mod compute;
mod hub;
mod ids;
mod worker;

pub use clock::ServerClock;
pub use commit::{CommitOptions, GroupCommitter};
pub use compute::{ComputeError, ComputeOptions, ComputePool, Job, QUEUE_LIMIT};
pub use hub::{EventNotifier, OrganizationWatch, RunWatch};
pub use ids::RandomIds;
pub use worker::{Permit, Worker, WorkerOptions};
