//! Workers that wait for jobs. A commit that opens jobs wakes as many of those who stand in line for their type, the
//! longest waiting first. One that finds nothing, since it may not have what was opened or somebody else was faster,
//! hands its turn on to those who may have other jobs than it; whoever may have the same finds as little. Whoever
//! leaves in between, by an error or since its caller hung up, hands on what it was woken for.
//!
//! Workers that may have the same jobs are a group, and the first of each group alone keeps the time: when a lock or a
//! delay runs out, one of them looks, however many wait.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use heddle_kernel::{DefinitionKind, TenantId, Timestamp};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;
use uuid::Uuid;

use crate::ports::WantedType;

/// Most workers of one organisation that wait at a time; a further one is answered at once.
const MOST: usize = 1_024;

/// The workers that wait, by organisation.
#[derive(Default)]
pub(crate) struct JobLines(Mutex<Lines>);

#[derive(Default)]
struct Lines {
    count: u64,
    closed: bool,
    lines: HashMap<TenantId, Line>,
}

/// The workers of one organisation.
#[derive(Default)]
struct Line {
    waiting: BTreeMap<u64, Arc<Waiter>>,
    groups: HashMap<Arc<Interest>, Group>,
}

/// Jobs that a worker may have.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Interest {
    /// Types that it asks for.
    pub types: Vec<WantedType>,
    /// Ids of the instances and definitions of which it gets nothing.
    pub denied: Vec<Uuid>,
    /// Kind of the instances of none of which it gets anything.
    pub denied_kind: Option<DefinitionKind>,
    /// Name of the condition that its jobs fulfil.
    pub condition: Option<String>,
}

impl Interest {
    fn of(&self, job_type: &str) -> Option<&WantedType> {
        self.types.iter().find(|own| own.name == job_type)
    }

    /// Whether two may have the same jobs of a type.
    fn is_like(&self, other: &Self, job_type: &str) -> bool {
        self.of(job_type) == other.of(job_type)
            && self.denied == other.denied
            && self.denied_kind == other.denied_kind
            && self.condition == other.condition
    }
}

/// Workers that may have the same jobs.
#[derive(Default)]
struct Group {
    members: BTreeSet<u64>,
    /// Earliest instant at which a lock or a delay of theirs runs out, as far as it is known.
    due: Option<Timestamp>,
    /// Whether the store was asked for that instant since the last look for what ran out.
    measured: bool,
    /// Whether one of them has to look without having been woken for a job.
    owed: bool,
}

/// A job that was opened, on its way to somebody who takes it.
#[derive(Debug)]
struct Turn {
    job_type: String,
    /// Those who looked and found nothing of the type.
    tried: Vec<Arc<Interest>>,
}

struct Waiter {
    interest: Arc<Interest>,
    news: Mutex<News>,
    signal: Notify,
}

#[derive(Default)]
struct News {
    opened: Option<Turn>,
    /// Whether the state of the group is another one.
    changed: bool,
    closed: bool,
}

impl Waiter {
    /// Hands it a turn, unless it has one, can't use it, or is like one that had it; gives back a turn that it did not
    /// take.
    fn wake(&self, turn: Turn) -> Option<Turn> {
        let mut news = self.news.lock();
        let is_like = |other: &Arc<Interest>| self.interest.is_like(other, &turn.job_type);
        if news.opened.is_some()
            || self.interest.of(&turn.job_type).is_none()
            || turn.tried.iter().any(is_like)
        {
            return Some(turn);
        }
        news.opened = Some(turn);
        self.signal.notify_one();
        None
    }

    fn tell(&self, change: impl FnOnce(&mut News)) {
        change(&mut self.news.lock());
        self.signal.notify_one();
    }
}

impl Line {
    /// Hands a turn to the first in line who can use it.
    fn hand(&self, turn: Turn) -> bool {
        let mut turn = turn;
        for waiter in self.waiting.values() {
            match waiter.wake(turn) {
                None => return true,
                Some(back) => turn = back,
            }
        }
        false
    }

    /// Tells the first of a group that the group's state is another one.
    fn tell_first(&self, group: &Group) {
        let first = group.members.first().and_then(|number| self.waiting.get(number));
        if let Some(first) = first {
            first.tell(|news| news.changed = true);
        }
    }
}

/// End of a wait in line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// A job of a type was opened, or given back: it is this one's turn.
    Opened,
    /// The duty may be another one.
    Changed,
    /// The time is over.
    Over,
    /// Nobody waits any more: the server stops.
    Closed,
}

/// Duty of whoever stands in line, while it is not woken for a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Duty {
    /// To look now.
    Look,
    /// To ask the store when the next lock or delay runs out.
    Measure,
    /// To look when something runs out.
    Keep(Option<Timestamp>),
    /// Nothing: somebody in front keeps the time.
    Rest,
}

impl JobLines {
    /// Gets in line for jobs; none when the line is full or closed.
    pub(super) fn stand(&self, tenant: TenantId, interest: Interest) -> Option<Standing<'_>> {
        let mut lines = self.0.lock();
        if lines.closed || lines.lines.get(&tenant).is_some_and(|line| line.waiting.len() >= MOST) {
            return None;
        }
        lines.count += 1;
        let number = lines.count;
        let interest = Arc::new(interest);
        let waiter = Arc::new(Waiter {
            interest: Arc::clone(&interest),
            news: Mutex::default(),
            signal: Notify::new(),
        });
        let line = lines.lines.entry(tenant).or_default();
        line.waiting.insert(number, Arc::clone(&waiter));
        line.groups.entry(interest).or_default().members.insert(number);
        Some(Standing { lines: self, tenant, number, waiter, held: Mutex::default() })
    }

    /// Tells that so many jobs of a type may be taken.
    pub(crate) fn opened(&self, tenant: TenantId, job_type: &str, count: usize) {
        let lines = self.0.lock();
        let Some(line) = lines.lines.get(&tenant) else { return };
        for _ in 0..count.min(MOST) {
            if !line.hand(Turn { job_type: job_type.to_owned(), tried: Vec::new() }) {
                return;
            }
        }
    }

    /// Tells that a job of a type may be taken from an instant on.
    pub(crate) fn due(&self, tenant: TenantId, job_type: &str, due: Timestamp) {
        let mut lines = self.0.lock();
        let Some(line) = lines.lines.get_mut(&tenant) else { return };
        let mut told = Vec::new();
        for (interest, group) in &mut line.groups {
            if interest.of(job_type).is_some() && group.due.is_none_or(|known| due < known) {
                group.due = Some(due);
                told.extend(group.members.first().copied());
            }
        }
        for first in told.iter().filter_map(|number| line.waiting.get(number)) {
            first.tell(|news| news.changed = true);
        }
    }

    /// Has one of each group look again: the clock was moved.
    pub(crate) fn look_again(&self) {
        let mut lines = self.0.lock();
        for line in lines.lines.values_mut() {
            line.groups.values_mut().for_each(Group::owe);
            line.groups.values().for_each(|group| line.tell_first(group));
        }
    }

    /// Sends everybody away: the server stops.
    pub(crate) fn close(&self) {
        let mut lines = self.0.lock();
        lines.closed = true;
        for waiter in lines.lines.values().flat_map(|line| line.waiting.values()) {
            waiter.tell(|news| news.closed = true);
        }
    }
}

impl Group {
    /// Has one of them look, and ask then for the next instant.
    fn owe(&mut self) {
        (self.owed, self.measured, self.due) = (true, false, None);
    }
}

/// Duty that one in line is about to do for others.
#[derive(Default)]
struct Held {
    turn: Option<Turn>,
    /// Whether it looks for its group.
    owing: bool,
}

/// A place in line. Whoever leaves it hands on what they were woken for.
pub(super) struct Standing<'l> {
    lines: &'l JobLines,
    tenant: TenantId,
    number: u64,
    waiter: Arc<Waiter>,
    held: Mutex<Held>,
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
                if let Some(turn) = news.opened.take() {
                    self.held.lock().turn = Some(turn);
                    return Told::Opened;
                }
                if std::mem::take(&mut news.changed) {
                    return Told::Changed;
                }
            }
            tokio::select! {
                () = self.waiter.signal.notified() => {}
                () = tokio::time::sleep_until(until) => return Told::Over,
            }
        }
    }

    /// Duty while there is no news. Who is told to look does it for the group.
    pub(super) fn duty(&self) -> Duty {
        self.of_group(|group, is_first| {
            if !is_first {
                return Duty::Rest;
            }
            if std::mem::take(&mut group.owed) {
                self.held.lock().owing = true;
                return Duty::Look;
            }
            if group.measured {
                return Duty::Keep(group.due);
            }
            // What is told from now on counts beside what the store says.
            group.due = None;
            Duty::Measure
        })
        .unwrap_or(Duty::Rest)
    }

    /// Notes when the next lock or delay runs out.
    pub(super) fn measured(&self, due: Option<Timestamp>) {
        self.of_group(|group, _| {
            group.due = [group.due, due].into_iter().flatten().min();
            group.measured = true;
        });
    }

    /// Has the first of the group look, which this one is: its time has come.
    pub(super) fn owe(&self) {
        self.of_group(|group, is_first| {
            if is_first {
                group.owe();
            }
        });
    }

    /// Notes the end of a look: types of which jobs were taken, and whether there was no room for more of them.
    pub(super) fn looked(&self, taken: &BTreeSet<String>, full: bool) {
        let Held { turn, owing } = std::mem::take(&mut *self.held.lock());
        if owing && full {
            self.of_group(|group, _| group.owed = true);
        }
        let Some(mut turn) = turn else { return };
        if taken.contains(&turn.job_type) {
            return;
        }
        if !full {
            turn.tried.push(Arc::clone(&self.waiter.interest));
        }
        self.hand_on(turn);
    }

    fn of_group<T>(&self, act: impl FnOnce(&mut Group, bool) -> T) -> Option<T> {
        let mut lines = self.lines.0.lock();
        let group = lines.lines.get_mut(&self.tenant)?.groups.get_mut(&self.waiter.interest)?;
        let is_first = group.members.first() == Some(&self.number);
        Some(act(group, is_first))
    }

    fn hand_on(&self, turn: Turn) {
        if let Some(line) = self.lines.0.lock().lines.get(&self.tenant) {
            line.hand(turn);
        }
    }
}

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        let Held { turn, owing } = std::mem::take(&mut *self.held.lock());
        {
            let mut lines = self.lines.0.lock();
            if let Some(line) = lines.lines.get_mut(&self.tenant) {
                line.waiting.remove(&self.number);
                let mut next = None;
                if let Some(group) = line.groups.get_mut(&self.waiter.interest) {
                    let was_first = group.members.first() == Some(&self.number);
                    group.members.remove(&self.number);
                    group.owed |= owing;
                    next = group.members.first().filter(|_| was_first || owing).copied();
                    if group.members.is_empty() {
                        line.groups.remove(&self.waiter.interest);
                    }
                }
                if let Some(next) = next.and_then(|number| line.waiting.get(&number)) {
                    next.tell(|news| news.changed = true);
                }
                if line.waiting.is_empty() {
                    lines.lines.remove(&self.tenant);
                }
            }
        }
        let unread = self.waiter.news.lock().opened.take();
        for turn in [turn, unread].into_iter().flatten() {
            self.hand_on(turn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::Narrowed;
    use std::time::Duration;

    const TENANT: TenantId = TenantId(Uuid::from_u128(1));

    fn interest(types: &[&str], denied: &[u128]) -> Interest {
        let of = |name: &&str| WantedType {
            name: (*name).to_owned(),
            within: None,
            narrowed: Narrowed::default(),
        };
        Interest {
            types: types.iter().map(of).collect(),
            denied: denied.iter().copied().map(Uuid::from_u128).collect(),
            denied_kind: None,
            condition: None,
        }
    }

    fn stand<'l>(lines: &'l JobLines, types: &[&str]) -> Standing<'l> {
        lines.stand(TENANT, interest(types, &[])).unwrap()
    }

    /// News that are there now.
    async fn now(standing: &Standing<'_>) -> Told {
        standing.wait(Instant::now()).await
    }

    /// A look that finds nothing.
    fn nothing(standing: &Standing<'_>) {
        standing.looked(&BTreeSet::new(), false);
    }

    fn of(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[tokio::test]
    async fn as_many_are_woken_as_jobs_were_opened_the_first_in_line_first() {
        let lines = JobLines::default();
        let (one, other, two, three) =
            (stand(&lines, &["a"]), stand(&lines, &["b"]), stand(&lines, &["b", "a"]), stand(&lines, &["a"]));
        lines.opened(TENANT, "a", 2);
        lines.opened(TenantId(Uuid::from_u128(2)), "a", 9);
        assert_eq!((now(&one).await, now(&two).await), (Told::Opened, Told::Opened));
        assert_eq!((now(&other).await, now(&three).await), (Told::Over, Told::Over));
    }

    #[tokio::test]
    async fn a_thousand_wait_one_job_comes_and_one_of_them_looks() {
        let lines = JobLines::default();
        let all: Vec<_> = (0..1_000).map(|_| stand(&lines, &["a"])).collect();
        lines.opened(TENANT, "a", 1);
        let mut looks = 0;
        for _ in 0..3 {
            for one in &all {
                if now(one).await == Told::Opened {
                    looks += 1;
                    // Somebody else was faster.
                    nothing(one);
                }
            }
        }
        assert_eq!(looks, 1, "who may have the same jobs finds as little");
    }

    #[tokio::test]
    async fn what_one_may_not_have_goes_to_those_who_may_have_more_once() {
        let lines = JobLines::default();
        let narrow: Vec<_> = (0..3).map(|_| lines.stand(TENANT, interest(&["a"], &[7])).unwrap()).collect();
        let (wide, last) = (stand(&lines, &["a", "b"]), stand(&lines, &["a"]));
        lines.opened(TENANT, "a", 1);
        assert_eq!(now(&narrow[0]).await, Told::Opened);
        nothing(&narrow[0]);
        assert_eq!((now(&narrow[1]).await, now(&narrow[2]).await), (Told::Over, Told::Over));
        assert_eq!(now(&wide).await, Told::Opened);
        nothing(&wide);
        assert_eq!(now(&last).await, Told::Over, "it may have of this type what the one before it may have");
    }

    #[tokio::test]
    async fn a_turn_is_not_lost_by_who_leaves_fails_or_takes_another_job() {
        let lines = JobLines::default();
        let mut all: Vec<_> = (0..5).map(|_| stand(&lines, &["a", "b"])).collect();
        lines.opened(TENANT, "a", 1);
        drop(all.remove(0));
        let told = (now(&all[0]).await, now(&all[0]).await);
        assert_eq!(
            told,
            (Told::Opened, Told::Changed),
            "who hung up before it looked; and the next keeps the time"
        );
        drop(all.remove(0));
        let told = (now(&all[0]).await, now(&all[0]).await);
        assert_eq!(told, (Told::Opened, Told::Changed), "or in its look");
        all[0].looked(&of(&["b"]), true);
        assert_eq!(now(&all[0]).await, Told::Opened, "it has no news but this, and is the first in line");
        all[0].looked(&of(&["a"]), true);
        for one in &all {
            assert_eq!(now(one).await, Told::Over, "taken");
        }
    }

    #[tokio::test]
    async fn one_of_those_who_may_have_the_same_keeps_the_time() {
        let lines = JobLines::default();
        let (one, two, other) = (stand(&lines, &["a"]), stand(&lines, &["a"]), stand(&lines, &["b"]));
        assert_eq!((one.duty(), two.duty(), other.duty()), (Duty::Measure, Duty::Rest, Duty::Measure));
        lines.due(TENANT, "a", Timestamp::from_micros(9));
        one.measured(Some(Timestamp::from_micros(12)));
        assert_eq!(one.duty(), Duty::Keep(Some(Timestamp::from_micros(9))), "told while the store was asked");
        lines.due(TENANT, "a", Timestamp::from_micros(5));
        assert_eq!((now(&one).await, now(&two).await), (Told::Changed, Told::Over));
        assert_eq!(one.duty(), Duty::Keep(Some(Timestamp::from_micros(5))));
        drop(one);
        assert_eq!(now(&two).await, Told::Changed);
        assert_eq!(two.duty(), Duty::Keep(Some(Timestamp::from_micros(5))), "handed on without a query");
        two.owe();
        assert_eq!(two.duty(), Duty::Look);
        let three = stand(&lines, &["a"]);
        drop(two);
        assert_eq!(now(&three).await, Told::Changed);
        assert_eq!(three.duty(), Duty::Look, "a look that did not end is made by the next");
        three.looked(&of(&["a"]), true);
        assert_eq!(three.duty(), Duty::Look, "there may be more than it had room for");
        nothing(&three);
        assert_eq!(three.duty(), Duty::Measure);
    }

    #[tokio::test]
    async fn a_line_is_bounded_and_closed_with_the_server() {
        let lines = JobLines::default();
        let all: Vec<_> = (0..MOST).map(|_| stand(&lines, &["a"])).collect();
        assert!(lines.stand(TENANT, Interest::default()).is_none());
        drop(all);
        let last = stand(&lines, &["a"]);
        lines.look_again();
        assert_eq!((now(&last).await, last.duty()), (Told::Changed, Duty::Look));
        let waiting = last.wait(Instant::now() + Duration::from_secs(60));
        lines.close();
        assert_eq!(waiting.await, Told::Closed);
        assert!(lines.stand(TENANT, Interest::default()).is_none());
        drop(last);
        assert!(lines.0.lock().lines.is_empty());
    }
}
