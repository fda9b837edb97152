//! Services outside: phases of calls to them, results of tests, and the bound of the tests that run at a time: each may
//! wait for 30 s for a service that is slow on purpose.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use heddle_kernel::{TenantId, Timestamp, literals};
use serde::{Deserialize, Serialize};

use crate::UseCaseError;

literals! {
    /// Phase of a call to a service outside.
    pub enum Phase {
        /// The name is looked up.
        Dns = "dns",
        /// The connection is opened.
        Connect = "connect",
        /// Both sides agree on TLS.
        Tls = "tls",
        /// The service is told who calls.
        Auth = "auth",
        /// The service is asked.
        Request = "request",
    }
}

/// Result of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestResult {
    /// Whether the service answered as it must.
    pub ok: bool,
    /// Phase in which it failed; the last one when it did not.
    pub phase: Phase,
    /// Milliseconds that it took.
    pub latency_ms: u64,
    /// A sentence for people, without a secret and without what the service answered.
    pub message: String,
    /// Instant of the test.
    pub tested_at: Timestamp,
}

/// Tests of an organisation that run at a time on a node, of connections and webhooks together.
const AT_ONCE: usize = 4;

/// Tests that run now: cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct RunningTests(Arc<Mutex<HashMap<TenantId, usize>>>);

/// Place of a test that runs: given back when it is dropped.
#[derive(Debug)]
pub struct TestPlace {
    running: RunningTests,
    tenant: TenantId,
}

impl RunningTests {
    /// A place for one more test of the organisation.
    ///
    /// # Errors
    /// `Busy` when as many run as may.
    pub fn begin(&self, tenant: TenantId) -> Result<TestPlace, UseCaseError> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(tenant).or_default();
        if *count >= AT_ONCE {
            return Err(UseCaseError::Busy);
        }
        *count += 1;
        Ok(TestPlace { running: self.clone(), tenant })
    }
}

impl Drop for TestPlace {
    fn drop(&mut self) {
        let mut counts = self.running.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut count) = counts.entry(self.tenant) {
            *count.get_mut() = count.get().saturating_sub(1);
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn one_organisation_takes_no_place_of_another() {
        let running = RunningTests::default();
        let [one, other] = [1, 2].map(|number| TenantId(Uuid::from_u128(number)));
        let mut places: Vec<_> = (0..AT_ONCE).map(|_| running.begin(one).unwrap()).collect();
        assert!(matches!(running.begin(one), Err(UseCaseError::Busy)));
        drop(running.begin(other).unwrap());
        places.pop();
        places.push(running.clone().begin(one).unwrap());
        drop(places);
        assert!(running.0.lock().unwrap().is_empty());
    }
}
