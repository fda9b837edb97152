//! Quotas and rates of organisations: the configured ones, or the lower ones that the licence in force names.

use std::sync::Arc;

use heddle_identity::Identity;
use heddle_workflows::limits::{Limits, RateSource};
use heddle_workflows::quotas::{QuotaSource, Quotas};

use crate::config::Config;

struct LicensedQuotas {
    configured: Quotas,
    identity: Arc<Identity>,
}

impl QuotaSource for LicensedQuotas {
    fn quotas(&self) -> Quotas {
        let licence = self.identity.licence_state();
        self.configured.at_most(|name| licence.limit(name))
    }
}

struct LicensedRates(Arc<Identity>);

impl RateSource for LicensedRates {
    fn licensed(&self, name: &str) -> Option<u64> {
        self.0.licence_state().limit(name)
    }
}

/// The quotas that hold at each moment.
pub fn quotas(config: &Config, identity: &Arc<Identity>) -> Arc<dyn QuotaSource> {
    Arc::new(LicensedQuotas { configured: config.quotas, identity: Arc::clone(identity) })
}

/// The rates that hold at each moment.
pub fn rates(config: &Config, identity: &Arc<Identity>) -> Arc<Limits> {
    let configured = Limits::per_second(config.starts_per_second, config.messages_per_second);
    Arc::new(configured.within(Arc::new(LicensedRates(Arc::clone(identity)))))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use heddle_policy::licence::OrganizationLimit;

    use super::*;

    #[test]
    fn a_licence_may_name_every_quota_and_rate() {
        let named: BTreeSet<&str> = OrganizationLimit::ALL.iter().map(|one| one.as_str()).collect();
        let quotas = Quotas::DEFAULT.named().map(|one| one.name);
        let own: BTreeSet<&str> =
            quotas.into_iter().chain(["startsPerSecond", "messagesPerSecond"]).collect();
        assert_eq!(named, own);
    }
}
