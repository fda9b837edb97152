//! Places of calls that run at a time on a node: for all, for each organisation and for each deployment. Who waits comes
//! when a place is free, organisations in turn.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use heddle_kernel::{ModelConnectionId, ModelDeploymentId, TenantId};
use tokio::sync::oneshot;

/// Calls of an organisation that wait at most.
const WAITING: usize = 1_000;

/// Things of which a call takes a place, with the most calls that run there at a time; none is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) tenant: TenantId,
    pub(crate) connection: ModelConnectionId,
    pub(crate) deployment: ModelDeploymentId,
    pub(crate) most_of_tenant: Option<u32>,
    pub(crate) most_of_connection: Option<u32>,
    pub(crate) most_of_deployment: Option<u32>,
}

/// Reason for which no place came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoPlace {
    /// Too many wait.
    Full,
    /// None came free in time.
    Late,
}

struct Waiter {
    wanted: Wanted,
    grant: oneshot::Sender<Place>,
}

#[derive(Default)]
struct State {
    running: usize,
    of_tenant: HashMap<TenantId, u32>,
    of_connection: HashMap<ModelConnectionId, u32>,
    of_deployment: HashMap<ModelDeploymentId, u32>,
    waiting: HashMap<TenantId, VecDeque<Waiter>>,
    /// Organisations with calls that wait, the next one first.
    turns: VecDeque<TenantId>,
}

fn below<K: std::hash::Hash + Eq>(counts: &HashMap<K, u32>, key: &K, most: Option<u32>) -> bool {
    most.is_none_or(|most| counts.get(key).copied().unwrap_or(0) < most)
}

fn less<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, u32>, key: K) {
    if let Entry::Occupied(mut count) = counts.entry(key) {
        *count.get_mut() = count.get().saturating_sub(1);
        if *count.get() == 0 {
            count.remove();
        }
    }
}

impl State {
    fn fits(&self, wanted: &Wanted, most: usize) -> bool {
        self.running < most
            && below(&self.of_tenant, &wanted.tenant, wanted.most_of_tenant)
            && below(&self.of_connection, &wanted.connection, wanted.most_of_connection)
            && below(&self.of_deployment, &wanted.deployment, wanted.most_of_deployment)
    }

    fn enter(&mut self, wanted: &Wanted) {
        self.running += 1;
        *self.of_tenant.entry(wanted.tenant).or_default() += 1;
        *self.of_connection.entry(wanted.connection).or_default() += 1;
        *self.of_deployment.entry(wanted.deployment).or_default() += 1;
    }

    fn leave(&mut self, wanted: &Wanted) {
        self.running = self.running.saturating_sub(1);
        less(&mut self.of_tenant, wanted.tenant);
        less(&mut self.of_connection, wanted.connection);
        less(&mut self.of_deployment, wanted.deployment);
    }

    /// The next call that may run, organisations in turn; those that nobody waits for any more are dropped.
    fn next(&mut self, most: usize) -> Option<Waiter> {
        for _ in 0..self.turns.len() {
            let tenant = self.turns.pop_front()?;
            let mut queue = self.waiting.remove(&tenant).unwrap_or_default();
            queue.retain(|waiter| !waiter.grant.is_closed());
            let at = queue.iter().position(|waiter| self.fits(&waiter.wanted, most));
            let found = at.and_then(|at| queue.remove(at));
            if !queue.is_empty() {
                self.waiting.insert(tenant, queue);
                self.turns.push_back(tenant);
            }
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

struct Inner {
    most: usize,
    state: Mutex<State>,
}

/// The places of a node: cheap to clone.
#[derive(Clone)]
pub(crate) struct Places(Arc<Inner>);

/// A place: given back when it is dropped.
pub(crate) struct Place {
    places: Places,
    wanted: Wanted,
    held: bool,
}

impl std::fmt::Debug for Places {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Places").field("most", &self.0.most).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}

impl Places {
    /// So many places for all.
    pub(crate) fn new(most: usize) -> Self {
        Self(Arc::new(Inner { most: most.max(1), state: Mutex::new(State::default()) }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place; waits for one where none is free.
    pub(crate) async fn enter(&self, wanted: Wanted, patience: Duration) -> Result<Place, NoPlace> {
        let granted = {
            let mut state = self.state();
            let waiting = state.waiting.get(&wanted.tenant).map_or(0, VecDeque::len);
            if waiting == 0 && state.fits(&wanted, self.0.most) {
                state.enter(&wanted);
                return Ok(Place { places: self.clone(), wanted, held: true });
            }
            if waiting >= WAITING || patience.is_zero() {
                return Err(NoPlace::Full);
            }
            let (grant, granted) = oneshot::channel();
            if waiting == 0 {
                state.turns.push_back(wanted.tenant);
            }
            state.waiting.entry(wanted.tenant).or_default().push_back(Waiter { wanted, grant });
            granted
        };
        // The one that waits may be the first that fits, behind others that don't.
        self.serve();
        match tokio::time::timeout(patience, granted).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) | Err(_) => Err(NoPlace::Late),
        }
    }

    /// Lets in whoever may come now.
    fn serve(&self) {
        loop {
            let waiter = {
                let mut state = self.state();
                let Some(waiter) = state.next(self.0.most) else { return };
                state.enter(&waiter.wanted);
                waiter
            };
            let place = Place { places: self.clone(), wanted: waiter.wanted, held: true };
            if let Err(mut unwanted) = waiter.grant.send(place) {
                // Nobody waits for it any more: given back here, without another round within this one.
                unwanted.held = false;
                self.state().leave(&unwanted.wanted);
            }
        }
    }

    /// Number of the calls that run.
    pub(crate) fn running(&self) -> usize {
        self.state().running
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.held {
            return;
        }
        self.places.state().leave(&self.wanted);
        self.places.serve();
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn wanted(tenant: u128, deployment: u128, most: Option<u32>) -> Wanted {
        Wanted {
            tenant: TenantId(Uuid::from_u128(tenant)),
            connection: ModelConnectionId(Uuid::from_u128(deployment)),
            deployment: ModelDeploymentId(Uuid::from_u128(deployment)),
            most_of_tenant: None,
            most_of_connection: None,
            most_of_deployment: most,
        }
    }

    const PATIENT: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_one_organisation_does_not_keep_another_waiting() {
        let places = Places::new(1);
        let first = places.enter(wanted(1, 1, None), PATIENT).await.unwrap();
        let mut flood = Vec::new();
        for _ in 0..50 {
            let places = places.clone();
            flood.push(tokio::spawn(async move { places.enter(wanted(1, 1, None), PATIENT).await }));
            tokio::task::yield_now().await;
        }
        let honest = {
            let places = places.clone();
            tokio::spawn(async move { places.enter(wanted(2, 2, None), PATIENT).await })
        };
        tokio::task::yield_now().await;
        drop(first);
        // The one of the flood that was next, and then the other organisation.
        drop(flood.remove(0).await.unwrap().unwrap());
        drop(honest.await.unwrap().unwrap());
        for one in flood {
            drop(one.await.unwrap().unwrap());
        }
        assert_eq!(places.running(), 0);
        assert!(places.state().of_tenant.is_empty() && places.state().waiting.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_deployment_holds_up_no_other_and_who_leaves_the_queue_costs_no_place() {
        let places = Places::new(10);
        let held = places.enter(wanted(1, 1, Some(1)), PATIENT).await.unwrap();
        let late = places.enter(wanted(1, 1, Some(1)), Duration::from_secs(1));
        assert_eq!(late.await.unwrap_err(), NoPlace::Late);
        let waiting = {
            let places = places.clone();
            tokio::spawn(async move { places.enter(wanted(1, 1, Some(1)), PATIENT).await })
        };
        tokio::task::yield_now().await;
        drop(places.enter(wanted(1, 2, None), PATIENT).await.unwrap());
        waiting.abort();
        assert!(waiting.await.is_err());
        drop(held);
        drop(places.enter(wanted(1, 1, Some(1)), PATIENT).await.unwrap());
        assert_eq!(places.enter(wanted(1, 1, Some(0)), Duration::ZERO).await.unwrap_err(), NoPlace::Full);
        assert_eq!(places.running(), 0);
    }
}
