//! Circuit breakers: a deployment that failed time after time is not asked for a while, then once, and again by all when
//! that went well. They are a node's own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use heddle_kernel::ModelDeploymentId;
use tokio::time::Instant;

/// Failures in a row that open it.
const FAILURES: u32 = 5;
/// First pause.
const PAUSE: Duration = Duration::from_secs(10);
/// Longest pause.
const LONGEST: Duration = Duration::from_secs(300);

#[derive(Debug, Clone, Copy)]
struct Circuit {
    failures: u32,
    pause: Duration,
    open_until: Option<Instant>,
    probing: bool,
}

/// The breakers of a node: cheap to clone. Only what failed has an entry.
#[derive(Debug, Clone, Default)]
pub(crate) struct Breakers(Arc<Mutex<HashMap<ModelDeploymentId, Circuit>>>);

/// Leave to ask a deployment. Dropped without an outcome it says nothing of its health.
#[derive(Debug)]
pub(crate) struct Leave {
    breakers: Breakers,
    deployment: ModelDeploymentId,
    probes: bool,
}

impl Breakers {
    fn all(&self) -> MutexGuard<'_, HashMap<ModelDeploymentId, Circuit>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leave to ask a deployment.
    ///
    /// # Errors
    /// The wait after which it may be asked again.
    pub(crate) fn ask(&self, deployment: ModelDeploymentId) -> Result<Leave, Duration> {
        let mut all = self.all();
        let mut probes = false;
        if let Some(circuit) = all.get_mut(&deployment)
            && let Some(until) = circuit.open_until
        {
            let now = Instant::now();
            if now < until || circuit.probing {
                return Err(until.saturating_duration_since(now).max(Duration::from_secs(1)));
            }
            circuit.probing = true;
            probes = true;
        }
        Ok(Leave { breakers: self.clone(), deployment, probes })
    }

    /// Whether a deployment is not asked at present.
    pub(crate) fn is_open(&self, deployment: ModelDeploymentId) -> bool {
        let now = Instant::now();
        let all = self.all();
        all.get(&deployment).and_then(|circuit| circuit.open_until).is_some_and(|until| now < until)
    }
}

impl Leave {
    /// The deployment answered, or refused for a reason that is not its own.
    pub(crate) fn well(self) {
        self.breakers.all().remove(&self.deployment);
    }

    /// The deployment failed.
    pub(crate) fn ill(self) {
        let mut all = self.breakers.all();
        let first = Circuit { failures: 0, pause: PAUSE, open_until: None, probing: false };
        let circuit = all.entry(self.deployment).or_insert(first);
        circuit.failures = circuit.failures.saturating_add(1);
        if self.probes {
            circuit.pause = (circuit.pause * 2).min(LONGEST);
        }
        if self.probes || circuit.failures >= FAILURES {
            circuit.open_until = Some(Instant::now() + circuit.pause);
            circuit.probing = false;
        }
    }
}

impl Drop for Leave {
    fn drop(&mut self) {
        if self.probes
            && let Some(circuit) = self.breakers.all().get_mut(&self.deployment)
        {
            circuit.probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_opens_tries_once_and_closes() {
        let breakers = Breakers::default();
        let id = ModelDeploymentId(Uuid::from_u128(1));
        for _ in 0..FAILURES {
            breakers.ask(id).unwrap().ill();
        }
        assert_eq!(breakers.ask(id).unwrap_err(), PAUSE);
        assert!(breakers.is_open(id));
        tokio::time::advance(PAUSE).await;
        let probe = breakers.ask(id).unwrap();
        assert!(breakers.ask(id).is_err(), "one at a time");
        // A caller that goes away proves nothing, and takes the turn of nobody.
        drop(probe);
        breakers.ask(id).unwrap().ill();
        assert_eq!(breakers.ask(id).unwrap_err(), PAUSE * 2);
        tokio::time::advance(PAUSE * 2).await;
        breakers.ask(id).unwrap().well();
        drop((breakers.ask(id).unwrap(), breakers.ask(id).unwrap()));
        assert!(!breakers.is_open(id));
    }
}
