//! Bounds of the calls of organisations: the configured ones, and the deployments that the licence in force allows.

use std::sync::Arc;

use heddle_identity::Identity;
use heddle_installation::config::ModelSettings;
use heddle_kernel::TenantId;
use heddle_models::ports::{Bounds, BoundsSource};
use heddle_policy::licence::Limit;

/// The bounds that hold at each moment.
pub(super) struct LicensedBounds {
    settings: ModelSettings,
    identity: Arc<Identity>,
}

impl LicensedBounds {
    /// The configured bounds, within the licence.
    pub(super) fn new(settings: &ModelSettings, identity: &Arc<Identity>) -> Self {
        Self { settings: settings.clone(), identity: Arc::clone(identity) }
    }
}

impl BoundsSource for LicensedBounds {
    fn bounds(&self, _tenant: TenantId) -> Bounds {
        Bounds {
            limits: self.settings.limits.clone(),
            deployments: Some(u64::from(self.settings.deployments)),
            licensed_deployments: self.identity.licence_state().limit(Limit::Deployments.as_str()),
        }
    }
}
