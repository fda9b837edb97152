//! The use cases' common ground: ports, clock, ids, key.

use std::sync::Arc;

use heddle_kernel::{Clock, IdSource, Timestamp};
use heddle_policy::licence::{Licence, Limit};
use uuid::Uuid;

use crate::UseCaseError;
use crate::compiled::CompiledRights;
use crate::key::InstallationKey;
use crate::licence::Licences;
use crate::password::{Cost, Passwords};
use crate::ports::{
    AccessStore, DirectoryStore, FactorSealer, FactorStore, InstallationStore, LimitCounter, SessionStore,
};

/// The ways to storage.
#[derive(Clone)]
pub struct Ports {
    /// Store of the users and permissions behind tokens.
    pub access: Arc<dyn AccessStore>,
    /// Sign-ins, sessions, API tokens.
    pub sessions: Arc<dyn SessionStore>,
    /// Second factors.
    pub factors: Arc<dyn FactorStore>,
    /// Sealer of their secrets.
    pub sealer: Arc<dyn FactorSealer>,
    /// Organisations, users, members, roles, grants.
    pub directory: Arc<dyn DirectoryStore>,
    /// The installation, its audit trail, kept answers.
    pub installation: Arc<dyn InstallationStore>,
}

impl std::fmt::Debug for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ports").finish_non_exhaustive()
    }
}

/// Time, ids and the installation key.
#[derive(Clone)]
pub struct Tools {
    /// The present time, for what no request asks for.
    pub clock: Arc<dyn Clock>,
    /// New ids.
    pub ids: Arc<dyn IdSource>,
    /// The installation key.
    pub key: InstallationKey,
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tools").finish_non_exhaustive()
    }
}

/// Settings of sessions and password hashing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Seconds after which an unused session ends.
    pub idle_seconds: i64,
    /// Seconds after which a session ends, however much it is used.
    pub absolute_seconds: i64,
    /// The cost of a password's hash.
    pub cost: Cost,
    /// Most hashes that are computed at once.
    pub hashes_at_once: usize,
    /// Most callers that may wait for a hash.
    pub hash_queue: usize,
}

impl Default for Settings {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            idle_seconds: 30 * 60,
            absolute_seconds: 12 * 3600,
            cost: Cost::default(),
            hashes_at_once: cores,
            hash_queue: 64,
        }
    }
}

/// The use cases of identity.
pub struct Identity {
    pub(crate) ports: Ports,
    pub(crate) tools: Tools,
    pub(crate) settings: Settings,
    pub(crate) passwords: Passwords,
    pub(crate) licences: Licences,
    pub(crate) rights: CompiledRights,
    /// Counters of other areas.
    pub(crate) counters: Vec<Arc<dyn LimitCounter>>,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Identity {
    /// Before anything else is called, [`Identity::start`] must be.
    ///
    /// # Errors
    /// `Internal` when the hash cost is out of range or the system gives no random bytes.
    pub fn new(ports: Ports, tools: Tools, settings: Settings) -> Result<Self, UseCaseError> {
        let passwords = Passwords::new(settings.cost, settings.hashes_at_once, settings.hash_queue)?;
        let licences = Licences::new(tools.key.clone());
        let (rights, counters) = (CompiledRights::default(), Vec::new());
        Ok(Self { ports, tools, settings, passwords, licences, rights, counters })
    }

    /// The same with counters of what other areas keep and a licence limits.
    #[must_use]
    pub fn with_counters(self, counters: Vec<Arc<dyn LimitCounter>>) -> Self {
        Self { counters, ..self }
    }

    /// Id of the installation, which follows from its key.
    #[must_use]
    pub fn installation_id(&self) -> String {
        self.tools.key.installation_id()
    }

    /// The licence in force at present.
    #[must_use]
    pub fn licence_state(&self) -> Licence {
        self.licences.licence(self.tools.clock.now())
    }

    /// Warning about the licence for callers; none while it is active.
    #[must_use]
    pub fn licence_warning(&self) -> Option<String> {
        let now = self.tools.clock.now();
        self.licences.licence(now).state.warning(now)
    }

    /// The same once the end is near, has come, or is past: for whoever operates the installation.
    #[must_use]
    pub fn pressing_warning(&self) -> Option<String> {
        let now = self.tools.clock.now();
        let state = self.licences.licence(now).state;
        state.warning(now).filter(|_| state.is_pressing(now))
    }

    /// Writes what presses about the licence to the log: when it begins to, and once each day. To be called at the start of
    /// a server and each minute.
    pub fn warn_of_licence(&self) {
        let warning = self.pressing_warning();
        if let Some(warning) = self.licences.due_warning(self.tools.clock.now(), warning) {
            tracing::warn!(licence = warning, "the licence needs attention");
        }
    }

    pub(crate) fn new_id(&self, now: Timestamp) -> Uuid {
        self.tools.ids.next(now)
    }

    pub(crate) fn limit(&self, limit: Limit) -> Option<u64> {
        self.licence_state().limit(limit.as_str())
    }
}
