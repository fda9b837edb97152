//! Errands: work outside of this process (a webhook's delivery) that a change asks for and that is written in the
//! change's own transaction. The runner does them at least once, each under a lease that one node holds.

use std::time::Duration;

use async_trait::async_trait;
use heddle_kernel::{EventId, RunId, TenantId, Timestamp, WorkflowId, literals};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::StoreError;

literals! {
    /// Kind of errands, each with an executor of its own.
    pub enum ErrandKind {
        /// Delivery of an event to a webhook's subscription.
        Webhook = "webhook",
        /// Work on the files of a vector database.
        Ingestion = "ingestion",
        /// Work of a node that the service does itself.
        Service = "service",
    }
}

/// Lane of errands: what is kept in order, or shares a target without an order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lane {
    /// The organisation.
    pub tenant: TenantId,
    /// Kind of the errands.
    pub kind: ErrandKind,
    /// Target that is asked to do them (a connection's id, a host): so many at a time.
    pub target: String,
    /// Line that keeps its order (a subscription's id): its errands are done one behind the other. None for errands
    /// without an order.
    pub line: Option<String>,
}

impl Lane {
    /// Id of the lane: the same wherever it is made. A lane in order stays the same when its target changes. Never nil.
    #[must_use]
    pub fn id(&self) -> Uuid {
        let mut digest = Sha256::new();
        digest.update(self.tenant.0.as_bytes());
        let of = self.line.as_ref().unwrap_or(&self.target);
        let order = if self.is_in_order() { "line" } else { "target" };
        for part in [self.kind.as_str(), order, of] {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part.as_bytes());
        }
        let mut bytes = [0; 16];
        for (byte, of) in bytes.iter_mut().zip(digest.finalize()) {
            *byte = of;
        }
        Uuid::from_bytes(bytes)
    }

    /// Whether its errands are done one behind the other.
    #[must_use]
    pub const fn is_in_order(&self) -> bool {
        self.line.is_some()
    }
}

/// An errand that nobody has begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewErrand {
    /// Id of the errand: the same over all tries.
    pub id: EventId,
    /// Lane of the errand.
    pub lane: Lane,
    /// The workflow that it belongs to, where there is one.
    pub workflow: Option<WorkflowId>,
    /// The run that it belongs to, where there is one.
    pub run: Option<RunId>,
    /// Name where people see it: an event's type.
    pub name: String,
    /// Content that its executor needs, as text.
    pub payload: String,
    /// Instant of the change that asked for it.
    pub created_at: Timestamp,
}

/// An errand under a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Errand {
    /// The errand.
    pub errand: NewErrand,
    /// Number of the lease: what is said under another has no effect.
    pub epoch: i64,
    /// Tries that failed.
    pub attempts: u32,
    /// Times that the process ended while it was done and already under suspicion.
    pub crashes: u32,
    /// Whether an earlier lease ran out, or the process ended while this was done: it is done apart from others.
    pub is_suspect: bool,
}

/// Holder of leases, until an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// The node, which has the same id after a restart.
    pub node: Uuid,
    /// The present time.
    pub now: Timestamp,
    /// End of the leases.
    pub until: Timestamp,
}

/// An errand that somebody holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Held {
    /// The organisation.
    pub tenant: TenantId,
    /// The errand.
    pub id: EventId,
    /// Number of the lease.
    pub epoch: i64,
}

impl Held {
    /// The lease of an errand.
    #[must_use]
    pub const fn of(errand: &Errand) -> Self {
        Self { tenant: errand.errand.lane.tenant, id: errand.errand.id, epoch: errand.epoch }
    }
}

/// A lane of which an errand may be done now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyLane {
    /// The lane.
    pub lane: Lane,
    /// Whether the first of its errands is under suspicion.
    pub is_suspect: bool,
}

/// Result of a look at the lanes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Look {
    /// Lanes of which an errand may be done now.
    pub ready: Vec<ReadyLane>,
    /// The next instant at which one of the other lanes is ready, or a lease on it ends.
    pub next_due: Option<Timestamp>,
    /// Lane behind which the look goes on; none when it has seen them all.
    pub reached: Option<Uuid>,
}

/// Errands to be taken of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The lane.
    pub lane: Lane,
    /// The most errands of it. More than one of a lane in order are done one behind the other by whoever takes them.
    pub most: i64,
}

/// Errands that were taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Claimed {
    /// Those that are held from now on.
    pub taken: Vec<Errand>,
    /// Lanes of which errands did not read and went, since they can never be done, with their number.
    pub unreadable: Vec<(Lane, u64)>,
}

/// Reason for which an errand is set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsideReason {
    /// Refusal: it can't succeed as things stand.
    Refused,
    /// As many tries failed as it has.
    Failed,
    /// The process ended again and again while it was done.
    Crashed,
}

/// End of a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// Done, or there is nothing to do: it goes.
    Done,
    /// Another try, not before an instant.
    Later {
        /// The instant.
        not_before: Timestamp,
        /// Tries that failed so far.
        attempts: u32,
    },
    /// Setting aside: it becomes a dead letter.
    Aside {
        /// The reason.
        reason: AsideReason,
        /// The last error, in words.
        message: String,
        /// Tries that failed.
        attempts: u32,
        /// Crashes that it had.
        crashes: u32,
    },
}

/// A lease with its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// The errand as it was held.
    pub errand: Errand,
    /// End of the lease.
    pub settlement: Settlement,
}

/// Record of the end of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// The end as it was asked for.
    Settled,
    /// Another try later: there was no room to set it aside, so it stays the first of its lane.
    Waits,
    /// Nothing: somebody else has the errand by now, or its end can't be written and the lease runs out.
    Lost,
}

/// Bound of what waits in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// The most errands.
    pub most: i64,
    /// Those that were asked for before go in any case.
    pub since: Timestamp,
}

/// Number of errands after which a round of [`ErrandStore::trim`] ends.
pub const MOST_TRIMMED: u64 = 10_000;

/// Keeps errands. All methods answer `Unavailable` when the database does not, and what is said under a lease that
/// somebody else has by now is without effect.
#[async_trait]
pub trait ErrandStore: Send + Sync {
    /// A look at the lanes of a kind behind one of them, at most so many, in the order of their ids. It costs as much as
    /// there are lanes, however much waits in each.
    async fn look(
        &self,
        kind: ErrandKind,
        now: Timestamp,
        after: Option<Uuid>,
        lanes: i64,
    ) -> Result<Look, StoreError>;
    /// Takes errands that may be done now, in the order of each lane. One of a lane in order is taken only when it is the
    /// lane's first, or right behind one that is taken with it. Two nodes never take the same.
    async fn claim(&self, claims: &[Claim], holder: Holder) -> Result<Claimed, StoreError>;
    /// Makes leases last until the holder's end; the ones that are still the node's.
    async fn renew(&self, held: &[Held], holder: Holder) -> Result<Vec<Held>, StoreError>;
    /// Ends leases; what was written of each, in their order. One row's failure spares the others: a lease whose end
    /// can't be written runs out by itself.
    async fn settle(
        &self,
        settled: &[Settled],
        node: Uuid,
        now: Timestamp,
    ) -> Result<Vec<Written>, StoreError>;
    /// Gives errands back as if nobody had taken them.
    async fn release(&self, held: &[Held], node: Uuid, now: Timestamp) -> Result<(), StoreError>;
    /// Ends the leases that a node left behind when its process ended: its errands are under suspicion. Their number.
    async fn recover(&self, node: Uuid, now: Timestamp) -> Result<u64, StoreError>;
    /// Lets the first errand of a lane be tried now. One that a node is at, whichever, is tried again at once when that ends
    /// without success.
    async fn hasten(&self, lane: &Lane, now: Timestamp) -> Result<(), StoreError>;
    /// Removes what waits in a lane beyond a bound, the oldest first, and what nobody holds of it; the number that went.
    /// With no bound all of it goes. It is done in rounds: after one in which [`MOST_TRIMMED`] or more went there may be
    /// more. It costs as much as goes, and a look at as many rows as the bound lets wait.
    async fn trim(&self, lane: &Lane, backlog: Option<Backlog>) -> Result<u64, StoreError>;
}

/// Bounds of a kind's errands on one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The most at a time.
    pub total: usize,
    /// The most of one organisation at a time.
    pub organization: usize,
    /// The most of one target at a time.
    pub target: usize,
    /// The most of a lane in order that are taken at once, to be done one behind the other.
    pub ahead: usize,
    /// Time that one may take.
    pub time_limit: Duration,
    /// The most that wait in a lane that is held or fails.
    pub backlog: i64,
    /// Time that one may wait in such a lane.
    pub oldest: Duration,
}

/// Result of a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Success.
    Done,
    /// Failure: another try may do.
    Failed {
        /// The reason, in words, without secrets.
        message: String,
        /// The least time before the next try that the target asked for.
        after: Option<Duration>,
    },
    /// Refusal: it can't succeed as things stand.
    Refused {
        /// The reason, in words, without secrets.
        message: String,
    },
    /// Nothing is to be done of this lane for a while; this is not a try.
    Held {
        /// Time before the next look.
        wait: Duration,
    },
    /// Nothing is left that the lane belongs to: the lane goes, too.
    Gone,
}

/// Does the errands of a kind. It may be asked for the same errand more than once.
#[async_trait]
pub trait Executor: Send + Sync {
    /// Kind of the errands.
    fn kind(&self) -> ErrandKind;
    /// Bounds of the kind.
    fn bounds(&self) -> Bounds;
    /// Whether this node does the errands of a lane. Those of another lane are left to the nodes that do them.
    fn does(&self, _lane: &Lane) -> bool {
        true
    }
    /// Does an errand. Dropped when it takes longer than the bounds allow.
    async fn run(&self, errand: &Errand) -> Outcome;
    /// Hears how a try ended, when the end is written.
    async fn ended(&self, _settled: &Settled) {}
    /// Hears that so many that waited in a lane went, because they were beyond the bounds or did not read.
    async fn trimmed(&self, _lane: &Lane, _count: u64) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_told_apart_and_are_the_same_everywhere() {
        let lane = |tenant: u128, target: &str, line: Option<&str>| Lane {
            tenant: TenantId(Uuid::from_u128(tenant)),
            kind: ErrandKind::Webhook,
            target: target.to_owned(),
            line: line.map(str::to_owned),
        };
        let lanes =
            [lane(1, "a", Some("b")), lane(2, "a", Some("b")), lane(1, "a", None), lane(1, "b", None)];
        for (place, one) in lanes.iter().enumerate() {
            assert_eq!(one.id(), one.clone().id());
            for other in lanes.iter().skip(place + 1) {
                assert_ne!(one.id(), other.id(), "{one:?} and {other:?}");
            }
        }
        assert_eq!(lanes[0].id(), lane(1, "c", Some("b")).id(), "another target, the same line");
        assert!(lanes[0].is_in_order() && !lanes[3].is_in_order());
    }
}
