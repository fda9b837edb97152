//! Identity over the stores of the installation.

use std::sync::Arc;

use heddle_identity::ports::FactorSealer;
use heddle_identity::{Identity, InstallationKey, Ports, Settings, Tools};
use heddle_runtime::{RandomIds, ServerClock};
use heddle_store_identity::IdentityStore;

use crate::config::Config;
use crate::data_dir::KEY_LENGTH;
use crate::denials::{CountedRefusals, Denials};
use crate::error::StartError;

/// Puts identity together.
///
/// # Errors
/// `Internal` when the key or the system's randomness is unusable.
pub fn open(
    config: &Config,
    store: &Arc<IdentityStore>,
    denials: &Denials,
    key: [u8; KEY_LENGTH],
    clock: &Arc<ServerClock>,
    sealer: Arc<dyn FactorSealer>,
) -> Result<Identity, StartError> {
    let ports = Ports {
        access: store.clone(),
        sessions: store.clone(),
        factors: store.clone(),
        sealer,
        directory: store.clone(),
        installation: Arc::new(CountedRefusals { store: store.clone(), denials: denials.clone() }),
    };
    let tools = Tools { clock: clock.clone(), ids: Arc::new(RandomIds), key: InstallationKey::new(key)? };
    let settings = Settings {
        idle_seconds: i64::from(config.session_idle_minutes) * 60,
        absolute_seconds: i64::from(config.session_hours) * 3600,
        ..Settings::default()
    };
    Ok(Identity::new(ports, tools, settings)?)
}
