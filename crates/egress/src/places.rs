//! Places for work that holds a thread, divided fairly between parties.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// Places that parties take. A party gets another one only while more are free than it holds: one alone takes half of
/// them, and whoever holds none finds one for as long as few hold many. Of those that wait, the one that holds the
/// fewest comes first, and of these the one that has waited the longest.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// Number of places that each party holds; none is left out.
    held: HashMap<Arc<str>, usize>,
    /// Those that wait, in the order in which they came.
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    party: Arc<str>,
    place: oneshot::Sender<Place>,
}

/// A place that is held; dropped, it is free again.
#[derive(Debug)]
pub(crate) struct Place {
    places: Places,
    party: Arc<str>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.state.lock().release(&self.party);
        self.places.pass_on();
    }
}

impl State {
    fn held(&self, party: &str) -> usize {
        self.held.get(party).copied().unwrap_or_default()
    }

    fn release(&mut self, party: &str) {
        self.free += 1;
        let left = self.held(party).saturating_sub(1);
        if left == 0 {
            self.held.remove(party);
        } else if let Some(held) = self.held.get_mut(party) {
            *held = left;
        }
    }

    /// The next of those that wait, with its place taken; none when nobody may have one.
    fn next(&mut self) -> Option<Waiting> {
        // Who has gone meanwhile takes none.
        self.waiting.retain(|one| !one.place.is_closed());
        let fewest = |(at, one): (usize, &Waiting)| (self.held(&one.party), at);
        let (held, at) = self.waiting.iter().enumerate().map(fewest).min()?;
        if self.free == 0 || (held > 0 && held >= self.free) {
            return None;
        }
        let next = self.waiting.remove(at);
        self.free -= 1;
        *self.held.entry(Arc::clone(&next.party)).or_default() += 1;
        Some(next)
    }
}

impl Places {
    pub(crate) fn new(places: usize) -> Self {
        let state = State { free: places, held: HashMap::new(), waiting: Vec::new() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// A place for a party, as soon as it is its turn; none is taken by who stops waiting.
    pub(crate) async fn take(&self, party: &str) -> Option<Place> {
        let (place, taken) = oneshot::channel();
        self.state.lock().waiting.push(Waiting { party: Arc::from(party), place });
        self.pass_on();
        taken.await.ok()
    }

    /// Gives free places to those that wait.
    fn pass_on(&self) {
        loop {
            // Nobody is told under the lock: a place that is not taken comes back, and takes the lock for that.
            let next = self.state.lock().next();
            let Some(Waiting { party, place }) = next else { return };
            drop(place.send(Place { places: self.clone(), party }));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use futures::poll;

    use super::*;

    #[tokio::test]
    async fn a_party_that_holds_many_leaves_places_to_the_others() {
        let places = Places::new(8);
        let mut greedy = Vec::new();
        for _ in 0..4 {
            greedy.push(places.take("a").await.unwrap());
        }
        let mut fifth = Box::pin(places.take("a"));
        assert!(matches!(poll!(&mut fifth), Poll::Pending), "half of the places are one party's at most");
        let mut others = Vec::new();
        for party in ["b", "b", "c", "d"] {
            others.push(places.take(party).await.unwrap());
        }
        // With all of them taken, the next free one goes to who holds none, though it came last.
        let mut third = Box::pin(places.take("b"));
        let mut last = Box::pin(places.take("e"));
        assert!(matches!(poll!(&mut third), Poll::Pending) && matches!(poll!(&mut last), Poll::Pending));
        drop(greedy.pop());
        assert!(matches!(poll!(&mut fifth), Poll::Pending) && matches!(poll!(&mut third), Poll::Pending));
        let Poll::Ready(Some(_e)) = poll!(&mut last) else { panic!("it holds none and gets the place") };
        drop(fifth);
        drop(greedy);
        let Poll::Ready(Some(_b)) = poll!(&mut third) else { panic!("b holds two, and three are free") };
    }

    #[tokio::test]
    async fn who_stops_waiting_takes_no_place() {
        let places = Places::new(1);
        let only = places.take("a").await.unwrap();
        let mut gone = Box::pin(places.take("b"));
        let mut patient = Box::pin(places.take("c"));
        assert!(matches!(poll!(&mut gone), Poll::Pending) && matches!(poll!(&mut patient), Poll::Pending));
        drop(gone);
        drop(only);
        let Poll::Ready(Some(place)) = poll!(&mut patient) else { panic!("the place is free") };
        // A place that was given to somebody who went before it was taken is passed on.
        let mut given = Box::pin(places.take("d"));
        let mut behind = Box::pin(places.take("e"));
        assert!(matches!(poll!(&mut given), Poll::Pending) && matches!(poll!(&mut behind), Poll::Pending));
        drop(place);
        drop(given);
        assert!(matches!(poll!(&mut behind), Poll::Ready(Some(_))));
        let state = places.state.lock();
        assert_eq!((state.free, state.held.len(), state.waiting.len()), (1, 0, 0));
    }
}
