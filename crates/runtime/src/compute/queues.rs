//! Queues of the compute pool: one for each organisation, taken by deficit round robin over the time that their work
//! took (Shreedhar and Varghese, 1995), so that an organisation with long work does not hold up those with short work.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use heddle_kernel::TenantId;

/// Organisation of a queue; work of none has a queue of its own.
pub(crate) type Lane = Option<TenantId>;

/// Time that a queue gets in each round, in microseconds.
const QUANTUM: i64 = 1_000;

#[derive(Debug)]
struct Queue<J> {
    jobs: VecDeque<J>,
    /// Number of its jobs on a thread at present.
    running: usize,
    /// Number of its pieces of work that are not finished: in the queue, on a thread or waiting for something else.
    admitted: usize,
    /// Time that it may still take in this round, in microseconds; below zero it took too much.
    deficit: i64,
}

impl<J> Default for Queue<J> {
    fn default() -> Self {
        Self { jobs: VecDeque::new(), running: 0, admitted: 0, deficit: QUANTUM }
    }
}

/// Queues with jobs of kind `J`.
#[derive(Debug)]
pub(crate) struct Queues<J> {
    lanes: HashMap<Lane, Queue<J>>,
    /// Queues that have jobs, the next one first.
    ring: VecDeque<Lane>,
    /// Most jobs of one queue on threads at once.
    abreast: usize,
    /// Most unfinished pieces of work of one queue.
    places: usize,
}

impl<J> Queues<J> {
    pub(crate) fn new(abreast: usize, places: usize) -> Self {
        Self { lanes: HashMap::new(), ring: VecDeque::new(), abreast: abreast.max(1), places: places.max(1) }
    }

    /// Whether a piece of work has a place; it then counts until `leave`.
    pub(crate) fn admit(&mut self, lane: Lane) -> bool {
        let queue = self.lanes.entry(lane).or_default();
        let is_free = queue.admitted < self.places;
        if is_free {
            queue.admitted += 1;
        }
        is_free
    }

    /// Counts a piece of work although there may be no place.
    pub(crate) fn take_in(&mut self, lane: Lane) {
        self.lanes.entry(lane).or_default().admitted += 1;
    }

    /// Ends a piece of work.
    pub(crate) fn leave(&mut self, lane: Lane) {
        if let Some(queue) = self.lanes.get_mut(&lane) {
            queue.admitted = queue.admitted.saturating_sub(1);
        }
        self.forget(lane);
    }

    pub(crate) fn push(&mut self, lane: Lane, job: J) {
        let queue = self.lanes.entry(lane).or_default();
        if queue.jobs.is_empty() {
            self.ring.push_back(lane);
        }
        queue.jobs.push_back(job);
    }

    /// The next job whose queue may have one more on a thread.
    pub(crate) fn next(&mut self) -> Option<(Lane, J)> {
        let ready = |queue: &Queue<J>| queue.running < self.abreast && !queue.jobs.is_empty();
        // Rounds that pass until the first of them may take time again, all at once.
        let owed = self.lanes.values().filter(|queue| ready(queue)).map(|queue| -queue.deficit).min()?;
        if owed >= 0 {
            let rounds = owed / QUANTUM + 1;
            let abreast = self.abreast;
            for queue in self.lanes.values_mut() {
                if queue.running < abreast && !queue.jobs.is_empty() {
                    queue.deficit = queue.deficit.saturating_add(rounds * QUANTUM);
                }
            }
        }
        for _ in 0..self.ring.len() {
            let lane = self.ring.front().copied()?;
            let abreast = self.abreast;
            let queue = self.lanes.get_mut(&lane)?;
            if queue.running < abreast && queue.deficit > 0 {
                let job = queue.jobs.pop_front()?;
                queue.running += 1;
                if queue.jobs.is_empty() {
                    self.ring.pop_front();
                }
                return Some((lane, job));
            }
            self.ring.rotate_left(1);
        }
        None
    }

    /// Charges a job's time to its queue.
    pub(crate) fn finish(&mut self, lane: Lane, took: Duration) {
        let took = i64::try_from(took.as_micros()).unwrap_or(i64::MAX);
        if let Some(queue) = self.lanes.get_mut(&lane) {
            queue.running = queue.running.saturating_sub(1);
            queue.deficit = queue.deficit.saturating_sub(took.max(1));
            if queue.deficit <= 0 && self.ring.front() == Some(&lane) {
                self.ring.rotate_left(1);
            }
        }
        self.forget(lane);
    }

    /// An idle queue is not kept, so that memory does not grow with the number of organisations.
    fn forget(&mut self, lane: Lane) {
        let idle = |queue: &Queue<J>| queue.jobs.is_empty() && queue.running == 0 && queue.admitted == 0;
        if self.lanes.get(&lane).is_some_and(idle) {
            self.lanes.remove(&lane);
        }
    }

    /// Whether any work is unfinished.
    #[cfg(test)]
    pub(crate) fn is_used(&self) -> bool {
        !self.lanes.is_empty()
    }

    /// Takes all jobs out, at the end of the pool.
    pub(crate) fn drain(&mut self) -> Vec<J> {
        self.ring.clear();
        self.lanes.values_mut().flat_map(|queue| queue.jobs.drain(..)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn lane(number: u128) -> Lane {
        Some(TenantId(Uuid::from_u128(number)))
    }

    const LONG: Duration = Duration::from_millis(100);
    const SHORT: Duration = Duration::from_micros(100);

    /// Jobs in the order in which one thread takes them; each tells the time that it takes.
    fn order(queues: &mut Queues<(char, Duration)>) -> String {
        let mut taken = String::new();
        while let Some((lane, (name, took))) = queues.next() {
            queues.finish(lane, took);
            taken.push(name);
        }
        taken
    }

    #[test]
    fn short_work_does_not_wait_for_the_long_work_of_another() {
        let mut queues = Queues::new(2, 100);
        (0..5).for_each(|_| queues.push(lane(1), ('L', LONG)));
        (0..20).for_each(|_| queues.push(lane(2), ('s', SHORT)));
        let taken = order(&mut queues);
        // One long piece at most comes before all of the short ones.
        assert!(taken.find('L').is_none_or(|_| taken.rfind('s') < Some(21)), "{taken}");
        assert_eq!(taken.matches('L').count(), 5);
        assert_eq!(taken.matches('s').count(), 20);
    }

    #[test]
    fn two_with_equal_work_take_turns() {
        let mut queues = Queues::new(1, 100);
        for _ in 0..4 {
            queues.push(lane(1), ('a', LONG));
        }
        for _ in 0..4 {
            queues.push(lane(2), ('b', LONG));
        }
        let taken = order(&mut queues);
        assert!(!taken.contains("aaa") && !taken.contains("bbb"), "{taken}");
    }

    #[test]
    fn one_organisation_leaves_a_thread_to_the_others() {
        let mut queues = Queues::new(1, 100);
        queues.push(lane(1), ('a', LONG));
        queues.push(lane(1), ('a', LONG));
        let (first, _) = queues.next().unwrap();
        assert!(queues.next().is_none(), "one runs already");
        queues.push(lane(2), ('b', LONG));
        assert_eq!(queues.next().unwrap().1.0, 'b');
        queues.finish(first, LONG);
        assert_eq!(queues.next().unwrap().1.0, 'a');
    }

    #[test]
    fn a_full_queue_refuses_its_own_organisation_alone_and_is_forgotten_when_idle() {
        let mut queues = Queues::<char>::new(1, 2);
        assert!(queues.admit(lane(1)) && queues.admit(lane(1)));
        assert!(!queues.admit(lane(1)));
        assert!(queues.admit(lane(2)));
        queues.leave(lane(1));
        assert!(queues.admit(lane(1)));
        (0..2).for_each(|_| queues.leave(lane(1)));
        queues.leave(lane(2));
        assert!(queues.lanes.is_empty());
    }

    #[test]
    fn debts_are_remembered_while_work_is_left_and_ended_in_one_look() {
        let mut queues = Queues::new(1, 100);
        queues.push(lane(1), ('a', LONG));
        queues.push(lane(1), ('a', LONG));
        let (first, _) = queues.next().unwrap();
        queues.finish(first, Duration::from_secs(1_000_000));
        // Alone, it goes on at once.
        assert_eq!(queues.next().unwrap().1.0, 'a');
    }
}
