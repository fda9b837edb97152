//! Bound of the tests that run at a time: each may wait for 30 s for a service that is slow on purpose.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use heddle_kernel::TenantId;

use crate::UseCaseError;

/// Tests of an organisation that run at a time on a node, of connections and webhooks together.
const AT_ONCE: usize = 4;

/// Tests that run now: cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunningTests(Arc<Mutex<HashMap<TenantId, usize>>>);

/// Place of a test that runs: given back when it is dropped.
#[derive(Debug)]
pub(crate) struct TestPlace {
    running: RunningTests,
    tenant: TenantId,
}

impl RunningTests {
    /// A place for one more test of the organisation.
    ///
    /// # Errors
    /// `Busy` when as many run as may.
    pub(crate) fn begin(&self, tenant: TenantId) -> Result<TestPlace, UseCaseError> {
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
