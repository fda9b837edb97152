//! The licence as a node knows it, and what follows from it at an instant.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use heddle_kernel::Timestamp;
use heddle_policy::licence::{
    Claims, ClockFacts, Installation, Licence, LicenceState, PresentedLicence, Signer, evaluate,
};
use parking_lot::{Mutex, RwLock};

use crate::key::InstallationKey;
use crate::records::InstallationState;

/// Result of reading the row's licence.
#[derive(Debug, Clone)]
enum Reading {
    Missing,
    Invalid,
    Signed(Arc<Claims>, Signer),
}

/// The installation's row with its licence read.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) state: InstallationState,
    reading: Reading,
}

impl Kept {
    pub(crate) fn new(state: InstallationState, key: &InstallationKey) -> Self {
        let reading = match &state.licence {
            // A row that was changed from outside counts for nothing: neither its trial nor its time.
            _ if !key.is_sealed(&state) => Reading::Invalid,
            None => Reading::Missing,
            Some(text) => match super::read(text, key) {
                Ok((_, Signer::Installation)) if state.trial_started_at.is_none() => Reading::Invalid,
                Ok((claims, signer)) => Reading::Signed(Arc::new(claims), signer),
                Err(_) => Reading::Invalid,
            },
        };
        Self { state, reading }
    }

    /// The licence and who signed it, if it can be read.
    pub(crate) fn signed(&self) -> Option<(&Claims, Signer)> {
        match &self.reading {
            Reading::Signed(claims, signer) => Some((claims, *signer)),
            Reading::Missing | Reading::Invalid => None,
        }
    }

    pub(crate) fn licence(&self, clock: ClockFacts) -> Licence {
        let presented = match &self.reading {
            Reading::Missing => PresentedLicence::Missing,
            Reading::Invalid => PresentedLicence::Invalid,
            Reading::Signed(claims, signer) => PresentedLicence::Signed(claims, *signer),
        };
        let installation = Installation { id: &self.state.installation_id, revoked: &self.state.revoked };
        let claims = match &self.reading {
            Reading::Signed(claims, _) => Some(Arc::clone(claims)),
            Reading::Missing | Reading::Invalid => None,
        };
        Licence { state: evaluate(presented, clock, installation), claims }
    }
}

/// The licence as this node last read it. It changes with the clock alone, without any I/O.
#[derive(Debug)]
pub(crate) struct Licences {
    key: InstallationKey,
    kept: RwLock<Option<Kept>>,
    // The latest time that this process saw; in microseconds.
    seen: AtomicI64,
    // The state that was last told of.
    told: Mutex<Option<LicenceState>>,
    // The day on which was last warned; none while nothing presses.
    warned: Mutex<Option<i64>>,
}

const DAY_MICROS: i64 = 24 * 3600 * 1_000_000;

impl Licences {
    pub(crate) const fn new(key: InstallationKey) -> Self {
        let (told, warned) = (Mutex::new(None), Mutex::new(None));
        Self { key, kept: RwLock::new(None), seen: AtomicI64::new(i64::MIN), told, warned }
    }

    /// Takes a row that was read or written. With `reset` the row's time counts even if a later one was seen; so does the
    /// time of a later row that was put back, which another server's cure of a clock does.
    pub(crate) fn set(&self, state: InstallationState, reset: bool) {
        let is_cured = self.kept.read().as_ref().is_some_and(|kept| {
            let before = &kept.state;
            state.revision > before.revision && state.high_water_mark < before.high_water_mark
        });
        if reset || is_cured && self.key.is_sealed(&state) {
            self.seen.store(state.high_water_mark.micros(), Ordering::SeqCst);
        }
        *self.kept.write() = Some(Kept::new(state, &self.key));
    }

    pub(crate) fn kept(&self) -> Option<Kept> {
        self.kept.read().clone()
    }

    pub(crate) fn clock(&self, now: Timestamp, state: &InstallationState) -> ClockFacts {
        let seen = self.seen.fetch_max(now.micros(), Ordering::SeqCst);
        ClockFacts { now, high_water_mark: state.high_water_mark.max(Timestamp::from_micros(seen)) }
    }

    pub(crate) fn licence(&self, now: Timestamp) -> Licence {
        match &*self.kept.read() {
            Some(kept) => kept.licence(self.clock(now, &kept.state)),
            None => {
                let clock = ClockFacts { now, high_water_mark: now };
                let installation = Installation { id: "", revoked: &[] };
                Licence { state: evaluate(PresentedLicence::Missing, clock, installation), claims: None }
            }
        }
    }

    /// A warning that presses, if it was not given today.
    pub(crate) fn due_warning(&self, now: Timestamp, warning: Option<String>) -> Option<String> {
        let today = warning.as_ref().map(|_| now.micros().div_euclid(DAY_MICROS));
        let before = std::mem::replace(&mut *self.warned.lock(), today);
        warning.filter(|_| before != today)
    }

    /// Notes the present state as told of; says the one before, if it was of another kind.
    pub(crate) fn tell(&self, state: LicenceState) -> Option<LicenceState> {
        let before = self.told.lock().replace(state)?;
        let same = before.as_str() == state.as_str() && before.restriction() == state.restriction();
        (!same).then_some(before)
    }
}
