//! Quotas of vector databases: the configured ones, or the lower ones that the licence in force names.

use std::sync::Arc;

use heddle_identity::Identity;
use heddle_kernel::TenantId;
use heddle_policy::licence::Limit;
use heddle_vectors::QuotaSource;
use heddle_vectors::ports::Quotas;

/// The quotas that hold at each moment.
pub(super) struct LicensedQuotas {
    configured: Quotas,
    identity: Arc<Identity>,
}

impl LicensedQuotas {
    /// The configured quotas, within the licence.
    pub(super) fn new(configured: Quotas, identity: &Arc<Identity>) -> Self {
        Self { configured, identity: Arc::clone(identity) }
    }
}

/// The lower of two bounds; none is no bound.
fn lower(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

impl QuotaSource for LicensedQuotas {
    fn quotas(&self, _tenant: TenantId) -> Quotas {
        let licence = self.identity.licence_state();
        let licensed = licence.limit(Limit::VectorDatabases.as_str());
        Quotas { licensed_databases: lower(self.configured.licensed_databases, licensed), ..self.configured }
    }
}

#[cfg(test)]
mod tests {
    use super::lower;

    #[test]
    fn the_lower_bound_holds() {
        assert_eq!(lower(Some(2), Some(1)), Some(1));
        assert_eq!((lower(None, Some(3)), lower(Some(3), None), lower(None, None)), (Some(3), Some(3), None));
    }
}
