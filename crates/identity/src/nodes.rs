//! The numbers of the installation that a licence may limit, and the servers among them.

use std::collections::BTreeMap;

use heddle_kernel::Timestamp;
use heddle_policy::licence::Limit;
use uuid::Uuid;

use crate::rights::capped;
use crate::{Identity, UseCaseError};

/// Present numbers of what a licence may limit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Numbers(BTreeMap<Limit, u64>);

impl Numbers {
    /// The present number; 0 of what no area keeps.
    #[must_use]
    pub fn of(&self, limit: Limit) -> u64 {
        self.0.get(&limit).copied().unwrap_or_default()
    }

    /// The numbers, each with its limit's name, all of them.
    pub fn all(&self) -> impl Iterator<Item = Number> {
        Limit::ALL.iter().map(|limit| Number { limit: *limit, used: self.of(*limit) })
    }
}

/// Present number of something that a licence may limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// Name of what is counted.
    pub limit: Limit,
    /// The number.
    pub used: u64,
}

impl Identity {
    /// Present numbers of what a licence may limit.
    pub(crate) async fn numbers(&self, now: Timestamp) -> Result<Numbers, UseCaseError> {
        let usage = self.ports.installation.usage().await?;
        let nodes = self.ports.installation.nodes(now).await?;
        let mut all = BTreeMap::from([
            (Limit::Organizations, usage.organizations),
            (Limit::Users, usage.users),
            (Limit::Nodes, nodes),
        ]);
        for counter in &self.counters {
            let count = counter.count().await?;
            *all.entry(counter.counts()).or_default() += count;
        }
        Ok(Numbers(all))
    }

    /// Takes this server in among those that run on the database. One that is in already, or that comes back, is none
    /// more. While only remediation is open, which it may serve, the licence sets it no limit.
    ///
    /// # Errors
    /// `LimitReached` when as many others run as the licence allows; `Unavailable`.
    pub async fn join(&self, node: Uuid) -> Result<(), UseCaseError> {
        let licence = self.licence_state();
        let name = Limit::Nodes.as_str();
        let limit = licence.limit(name).filter(|_| licence.restriction().is_none());
        capped(self.ports.installation.join(node, self.tools.clock.now(), limit).await?, name, limit)
    }

    /// Notes that this server runs. To be called each minute.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn stay(&self, node: Uuid) -> Result<(), UseCaseError> {
        Ok(self.ports.installation.stay(node, self.tools.clock.now()).await?)
    }

    /// Takes this server out, which stops.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn leave(&self, node: Uuid) -> Result<(), UseCaseError> {
        Ok(self.ports.installation.leave(node).await?)
    }
}
