//! Workers that wait for jobs. A commit that opens jobs wakes as many of those who stand in line for their type, the
//! longest waiting first; one that finds nothing, since it may not have what was opened or somebody else was faster,
//! hands its turn on to the next one behind it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use heddle_kernel::{TenantId, Timestamp};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Most workers of one organisation that wait at a time; a further one is answered at once.
const MOST: usize = 1_024;

/// The workers that wait, by organisation.
#[derive(Default)]
pub(crate) struct JobLines(Mutex<Lines>);

#[derive(Default)]
struct Lines {
    count: u64,
    closed: bool,
    waiting: HashMap<TenantId, BTreeMap<u64, Arc<Waiter>>>,
}

struct Waiter {
    types: Vec<String>,
    news: Mutex<News>,
    signal: Notify,
}

#[derive(Default)]
struct News {
    /// Type of a job that was opened.
    opened: Option<String>,
    /// Instant from which on another job may be taken.
    due: Option<Timestamp>,
    /// Whether anything may have changed.
    anything: bool,
    closed: bool,
}

impl Waiter {
    fn wants(&self, job_type: &str) -> bool {
        self.types.iter().any(|own| own == job_type)
    }

    /// Wakes it for a job, unless it is awake for another one.
    fn wake(&self, job_type: &str) -> bool {
        let mut news = self.news.lock();
        if news.opened.is_some() || !self.wants(job_type) {
            return false;
        }
        news.opened = Some(job_type.to_owned());
        self.signal.notify_one();
        true
    }

    fn tell(&self, change: impl FnOnce(&mut News)) {
        change(&mut self.news.lock());
        self.signal.notify_one();
    }
}

/// End of a wait in line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Told {
    /// A job of this type was opened, or given back.
    Opened(String),
    /// A job may be taken from this instant on.
    Due(Timestamp),
    /// Anything may have changed.
    Anything,
    /// The time is over.
    Over,
    /// Nobody waits any more: the server stops.
    Closed,
}

impl JobLines {
    /// Gets in line for jobs of these types; none when the line is full or closed.
    pub(super) fn stand(&self, tenant: TenantId, types: Vec<String>) -> Option<Standing<'_>> {
        let mut lines = self.0.lock();
        if lines.closed || lines.waiting.get(&tenant).is_some_and(|line| line.len() >= MOST) {
            return None;
        }
        lines.count += 1;
        let number = lines.count;
        let waiter = Arc::new(Waiter { types, news: Mutex::default(), signal: Notify::new() });
        lines.waiting.entry(tenant).or_default().insert(number, Arc::clone(&waiter));
        Some(Standing { lines: self, tenant, number, waiter })
    }

    /// Tells that so many jobs of a type may be taken.
    pub(crate) fn opened(&self, tenant: TenantId, job_type: &str, count: usize) {
        self.wake_behind(tenant, 0, job_type, count);
    }

    /// Tells that a job of a type may be taken from an instant on.
    pub(crate) fn due(&self, tenant: TenantId, job_type: &str, due: Timestamp) {
        let lines = self.0.lock();
        for waiter in lines.waiting.get(&tenant).into_iter().flat_map(BTreeMap::values) {
            if waiter.wants(job_type) {
                waiter.tell(|news| news.due = Some(news.due.map_or(due, |known| known.min(due))));
            }
        }
    }

    /// Has everybody look again: the clock was moved.
    pub(crate) fn look_again(&self) {
        let lines = self.0.lock();
        for waiter in lines.waiting.values().flat_map(BTreeMap::values) {
            waiter.tell(|news| news.anything = true);
        }
    }

    /// Sends everybody away: the server stops.
    pub(crate) fn close(&self) {
        let mut lines = self.0.lock();
        lines.closed = true;
        for waiter in lines.waiting.values().flat_map(BTreeMap::values) {
            waiter.tell(|news| news.closed = true);
        }
    }

    fn wake_behind(&self, tenant: TenantId, number: u64, job_type: &str, count: usize) {
        let lines = self.0.lock();
        let Some(line) = lines.waiting.get(&tenant) else { return };
        let mut left = count;
        for waiter in line.range(number + 1..).map(|(_, waiter)| waiter) {
            if left == 0 {
                return;
            }
            left -= usize::from(waiter.wake(job_type));
        }
    }
}

/// A place in line. Whoever leaves it hands on what they were woken for.
pub(super) struct Standing<'l> {
    lines: &'l JobLines,
    tenant: TenantId,
    number: u64,
    waiter: Arc<Waiter>,
}

impl Standing<'_> {
    /// Waits until there is news, or an instant comes.
    pub(super) async fn wait(&self, until: Instant) -> Told {
        loop {
            {
                let mut news = self.waiter.news.lock();
                if news.closed {
                    return Told::Closed;
                }
                if let Some(job_type) = news.opened.take() {
                    return Told::Opened(job_type);
                }
                if std::mem::take(&mut news.anything) {
                    return Told::Anything;
                }
                if let Some(due) = news.due.take() {
                    return Told::Due(due);
                }
            }
            tokio::select! {
                () = self.waiter.signal.notified() => {}
                () = tokio::time::sleep_until(until) => return Told::Over,
            }
        }
    }

    /// Hands a job that is not for this one on to the next in line.
    pub(super) fn hand_on(&self, job_type: &str) {
        self.lines.wake_behind(self.tenant, self.number, job_type, 1);
    }
}

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        {
            let mut lines = self.lines.0.lock();
            if let Some(line) = lines.waiting.get_mut(&self.tenant) {
                line.remove(&self.number);
                if line.is_empty() {
                    lines.waiting.remove(&self.tenant);
                }
            }
        }
        let left = self.waiter.news.lock().opened.take();
        if let Some(job_type) = left {
            self.lines.opened(self.tenant, &job_type, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use uuid::Uuid;

    const TENANT: TenantId = TenantId(Uuid::from_u128(1));

    fn stand<'l>(lines: &'l JobLines, types: &[&str]) -> Standing<'l> {
        lines.stand(TENANT, types.iter().map(|name| (*name).to_owned()).collect()).unwrap()
    }

    /// News that are there now.
    async fn now(standing: &Standing<'_>) -> Told {
        standing.wait(Instant::now()).await
    }

    #[tokio::test]
    async fn as_many_are_woken_as_jobs_were_opened_the_first_in_line_first() {
        let lines = JobLines::default();
        let (one, other, two, three) =
            (stand(&lines, &["a"]), stand(&lines, &["b"]), stand(&lines, &["b", "a"]), stand(&lines, &["a"]));
        lines.opened(TENANT, "a", 2);
        lines.opened(TenantId(Uuid::from_u128(2)), "a", 9);
        assert_eq!(now(&one).await, Told::Opened("a".to_owned()));
        assert_eq!(now(&two).await, Told::Opened("a".to_owned()));
        assert_eq!((now(&other).await, now(&three).await), (Told::Over, Told::Over));
    }

    #[tokio::test]
    async fn what_one_may_not_have_or_leaves_goes_to_the_next_and_ends_at_the_last() {
        let lines = JobLines::default();
        let (one, two, three) = (stand(&lines, &["a"]), stand(&lines, &["a"]), stand(&lines, &["a"]));
        lines.opened(TENANT, "a", 1);
        assert_eq!(now(&one).await, Told::Opened("a".to_owned()));
        one.hand_on("a");
        assert_eq!(now(&one).await, Told::Over);
        drop(two);
        assert_eq!(now(&one).await, Told::Opened("a".to_owned()), "whoever leaves gives back to the line");
        one.hand_on("a");
        assert_eq!(now(&three).await, Told::Opened("a".to_owned()));
        three.hand_on("a");
        assert_eq!(now(&one).await, Told::Over);
    }

    #[tokio::test]
    async fn a_line_is_bounded_and_closed_with_the_server() {
        let lines = JobLines::default();
        let all: Vec<_> = (0..MOST).map(|_| stand(&lines, &["a"])).collect();
        assert!(lines.stand(TENANT, Vec::new()).is_none());
        drop(all);
        let last = stand(&lines, &["a"]);
        lines.due(TENANT, "a", Timestamp::from_micros(9));
        lines.due(TENANT, "a", Timestamp::from_micros(5));
        assert_eq!(now(&last).await, Told::Due(Timestamp::from_micros(5)));
        lines.look_again();
        assert_eq!(now(&last).await, Told::Anything);
        let waiting = last.wait(Instant::now() + Duration::from_secs(60));
        lines.close();
        assert_eq!(waiting.await, Told::Closed);
        assert!(lines.stand(TENANT, Vec::new()).is_none());
        drop(last);
        assert!(lines.0.lock().waiting.is_empty());
    }
}
