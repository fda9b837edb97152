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
    /// Streams in a row that broke behind their first piece.
    broken: u32,
    pause: Duration,
    open_until: Option<Instant>,
    probing: bool,
}

impl Circuit {
    const CLOSED: Self = Self { failures: 0, broken: 0, pause: PAUSE, open_until: None, probing: false };
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

    /// Notes that a stream came to its end.
    pub(crate) fn flowed(&self, deployment: ModelDeploymentId) {
        let mut all = self.all();
        if let Some(circuit) = all.get_mut(&deployment) {
            circuit.broken = 0;
            if circuit.failures == 0 && circuit.open_until.is_none() {
                all.remove(&deployment);
            }
        }
    }

    /// Notes that a stream broke behind its first piece: a deployment that begins each answer and ends none is left alone,
    /// too.
    pub(crate) fn broke(&self, deployment: ModelDeploymentId) {
        let mut all = self.all();
        let circuit = all.entry(deployment).or_insert(Circuit::CLOSED);
        circuit.broken = circuit.broken.saturating_add(1);
        if circuit.broken >= FAILURES {
            circuit.open_until = Some(Instant::now() + circuit.pause);
            circuit.probing = false;
        }
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
        let mut all = self.breakers.all();
        match all.get_mut(&self.deployment) {
            Some(circuit) if circuit.broken > 0 => {
                *circuit = Circuit { broken: circuit.broken, ..Circuit::CLOSED };
            }
            Some(_) => {
                all.remove(&self.deployment);
            }
            None => {}
        }
    }

    /// The deployment failed.
    pub(crate) fn ill(self) {
        let mut all = self.breakers.all();
        let circuit = all.entry(self.deployment).or_insert(Circuit::CLOSED);
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

    #[tokio::test(start_paused = true)]
    async fn it_opens_for_streams_that_all_break_and_closes_with_one_that_ends() {
        let breakers = Breakers::default();
        let id = ModelDeploymentId(Uuid::from_u128(1));
        for _ in 0..FAILURES {
            breakers.ask(id).unwrap().well();
            assert!(!breakers.is_open(id));
            breakers.broke(id);
        }
        assert!(breakers.ask(id).is_err());
        tokio::time::advance(PAUSE).await;
        // Its first piece lets others in, and its break keeps them out again.
        breakers.ask(id).unwrap().well();
        drop(breakers.ask(id).unwrap());
        breakers.broke(id);
        assert!(breakers.is_open(id));
        tokio::time::advance(PAUSE).await;
        breakers.ask(id).unwrap().well();
        breakers.flowed(id);
        breakers.broke(id);
        assert!(!breakers.is_open(id), "one that breaks among others is none of its health");
    }
}
