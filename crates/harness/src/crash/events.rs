//! Case events under kills: callers send them, a fifth of the keys again, and the histories of the cases must show each key
//! once.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use heddle_harness_kit::client::{Answer, Client};
use heddle_harness_kit::out;
use heddle_harness_kit::prepare;
use heddle_harness_kit::random::Random;
use heddle_harness_kit::server::Server;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::check::{self, Findings, History};
use super::load::{Line, Outcome, judge};
use super::{Address, Options, kills};

/// Callers at the same time when nothing else is said.
const CALLERS: usize = 64;
/// Of so many keys one is sent again.
const REPEATED: u64 = 5;
/// Of so many events one opens a case.
const OPENING: u64 = 20;

/// An event whose receipt was acknowledged.
#[derive(Debug, Clone)]
struct Told {
    key: String,
    /// Correlation key of its case.
    case: String,
    opens: bool,
    /// Id of the stored event.
    event: String,
    /// Ids of the cases that it reached.
    reached: Vec<String>,
}

/// A mark in a case: the key of the event that left it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Mark {
    case: String,
    key: String,
}

/// Answers that callers have had.
#[derive(Debug, Default)]
struct Ledger {
    told: Vec<Told>,
    /// Keys that were sent again after their answer.
    repeats: usize,
    /// Keys whose last sending was not answered before the end.
    unsure: BTreeSet<String>,
    /// Repeats that were answered otherwise than the first time.
    unlike: Vec<String>,
    /// Answers that no crash explains.
    unexpected: Vec<String>,
}

impl Ledger {
    fn add(&mut self, other: Self) {
        self.told.extend(other.told);
        self.repeats += other.repeats;
        self.unsure.extend(other.unsure);
        self.unlike.extend(other.unlike);
        self.unexpected.extend(other.unexpected);
    }
}

/// Runs the test; `false` when an event was lost or counted twice, or a case is there twice.
pub(super) async fn run(options: &Options, seed: u64, mut server: Server, client: Client) -> Result<bool> {
    let token = client.token();
    let case_type = prepare::publish_case(&client, "crash-count", prepare::COUNTING).await?;
    let (address, receiver): (Address, _) = watch::channel(Some(Arc::new(client)));
    let stop = Arc::new(AtomicBool::new(false));
    let cases: Open = Arc::default();
    let callers = (0..options.callers.unwrap_or(CALLERS)).map(|number| {
        let caller = Caller {
            number,
            pause_ms: options.pause_ms,
            line: Line { server: receiver.clone(), stop: Arc::clone(&stop) },
            random: Random::new(seed ^ (number as u64 + 1).rotate_left(32)),
            cases: Arc::clone(&cases),
        };
        tokio::spawn(caller.work())
    });
    let callers: Vec<_> = callers.collect();
    let logged = kills(&mut server, options, &address, seed, &token).await?;
    stop.store(true, Ordering::Relaxed);
    let mut ledger = Ledger::default();
    for caller in callers {
        ledger.add(caller.await.context("a caller broke off")?);
    }
    server.has_said("background work begins", logged).await?;
    let client = Client::with_token(&server.facts().address, &token)?;
    let found = checked(&client, &case_type, &ledger).await?;
    server.stop().await?;
    Ok(report(options, seed, &ledger, &found))
}

fn report(options: &Options, seed: u64, ledger: &Ledger, found: &Findings) -> bool {
    let complaints = found.complaints.iter().chain(&ledger.unlike).chain(&ledger.unexpected);
    complaints.take(20).for_each(out::line);
    out::line(format_args!(
        "backend={} seed={seed} kills={} cases={} keys={} repeats={} unsure={} unlike={} unexpected={}",
        options.backend.name(),
        options.kills,
        found.runs,
        ledger.told.len(),
        ledger.repeats,
        ledger.unsure.len(),
        ledger.unlike.len(),
        ledger.unexpected.len()
    ));
    out::line(format_args!(
        "events={} lost={} doubled={} gaps={}",
        found.events, found.lost, found.doubled, found.gaps
    ));
    !ledger.told.is_empty() && ledger.unlike.is_empty() && ledger.unexpected.is_empty() && found.clean()
}

/// Correlation keys of the cases that are known to be open.
type Open = Arc<Mutex<Vec<String>>>;

/// One caller.
struct Caller {
    number: usize,
    pause_ms: u64,
    line: Line,
    random: Random,
    cases: Open,
}

impl Caller {
    async fn work(mut self) -> Ledger {
        let mut ledger = Ledger::default();
        for count in 1_u64.. {
            if self.line.stopped() {
                break;
            }
            let key = format!("key-{}-{count}", self.number);
            let counted = if count.is_multiple_of(OPENING) { None } else { self.known() };
            let opens = counted.is_none();
            let case = counted.unwrap_or_else(|| format!("order-{}-{count}", self.number));
            if let Some(told) = self.send(&key, &case, opens, &mut ledger).await {
                if opens {
                    self.cases.lock().unwrap_or_else(PoisonError::into_inner).push(case);
                }
                if self.random.between(1, REPEATED) == 1 {
                    self.again(&told, &mut ledger).await;
                }
                ledger.told.push(told);
            }
            let pause = self.random.between(0, self.pause_ms);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        ledger
    }

    /// One of the open cases; none when there is none yet.
    fn known(&mut self) -> Option<String> {
        let cases = self.cases.lock().unwrap_or_else(PoisonError::into_inner);
        let last = u64::try_from(cases.len()).ok()?.checked_sub(1)?;
        let at = self.random.between(0, last);
        cases.get(usize::try_from(at).ok()?).cloned()
    }

    /// Sends an event until it is answered.
    async fn send(&mut self, key: &str, case: &str, opens: bool, ledger: &mut Ledger) -> Option<Told> {
        let body = body(key, case, opens);
        while let Some(client) = self.line.client().await {
            match judge(client.post("/api/case-events", &body).await) {
                Outcome::Done(answer) => {
                    ledger.unsure.remove(key);
                    return Some(told(key, case, opens, &answer));
                }
                Outcome::Unknown => {
                    ledger.unsure.insert(key.to_owned());
                    if self.line.stopped() {
                        return None;
                    }
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                Outcome::Unexpected(refused) => {
                    ledger.unsure.remove(key);
                    ledger.unexpected.push(format!("event {key}: {}", refused.refusal()));
                    return None;
                }
            }
        }
        None
    }

    /// Sends an event that was answered again: the answer must be the same.
    async fn again(&mut self, first: &Told, ledger: &mut Ledger) {
        let Some(second) = self.send(&first.key, &first.case, first.opens, ledger).await else { return };
        ledger.repeats += 1;
        if (&first.event, &first.reached) != (&second.event, &second.reached) {
            ledger.unlike.push(format!(
                "event {}: {} reached {:?}, and again {} reached {:?}",
                first.key, first.event, first.reached, second.event, second.reached
            ));
        }
    }
}

fn body(key: &str, case: &str, opens: bool) -> Value {
    let event_type = if opens { "order.opened" } else { "order.counted" };
    let payload = if opens { json!({}) } else { json!({"mark": key}) };
    json!({"correlationKey": case, "eventType": event_type, "idempotencyKey": key, "payload": payload})
}

fn told(key: &str, case: &str, opens: bool, answer: &Answer) -> Told {
    let data = &answer.body["data"];
    let reached = data["caseIds"].as_array().into_iter().flatten();
    Told {
        key: key.to_owned(),
        case: case.to_owned(),
        opens,
        event: data["event"]["id"].as_str().unwrap_or_default().to_owned(),
        reached: reached.filter_map(|id| id.as_str().map(str::to_owned)).collect(),
    }
}

/// Reads the histories of all cases and compares them with what was acknowledged.
async fn checked(client: &Client, case_type: &str, ledger: &Ledger) -> Result<Findings> {
    let mut found = Findings::default();
    let listed = client.all(&format!("/api/cases?caseTypeId={case_type}")).await?;
    opened(&listed, ledger, &mut found);
    let ids: Vec<String> = listed.iter().filter_map(|case| case["id"].as_str().map(str::to_owned)).collect();
    let mut marks = BTreeMap::new();
    for (id, history) in check::histories(client, "/api/cases", &ids).await? {
        history.sequence(&id, &mut found);
        counted(&id, &history, &mut marks, &mut found);
    }
    compare(&marks, ledger, &mut found);
    Ok(found)
}

/// Each key that opens has one case, and each case a key that opened it.
fn opened(listed: &[Value], ledger: &Ledger, found: &mut Findings) {
    found.runs += listed.len();
    let mut cases: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for case in listed {
        let key = case["correlationKey"].as_str().unwrap_or_default();
        cases.entry(key).or_default().push(case["id"].as_str().unwrap_or_default());
    }
    for (key, ids) in cases.iter().filter(|(_, ids)| ids.len() > 1) {
        found.doubled += ids.len() - 1;
        found.complaints.push(format!("{} cases have the correlation key {key}", ids.len()));
    }
    for told in ledger.told.iter().filter(|told| told.opens) {
        let there = cases.get(told.case.as_str()).is_some_and(|ids| ids.iter().eq(told.reached.iter()));
        if !there {
            found.lost += 1;
            let reached = &told.reached;
            found
                .complaints
                .push(format!("{} was told to have opened {reached:?} for {}", told.key, told.case));
        }
    }
}

/// Counts the marks of a case: each came with one occurrence of the listener, and each of these is told by the milestone.
fn counted(id: &str, history: &History, marks: &mut BTreeMap<Mark, usize>, found: &mut Findings) {
    let of = |event: &&Value, item: &str| {
        event["type"] == "item.transitioned"
            && event["data"]["event"] == "occur"
            && event["nodeId"].as_str() == Some(item)
    };
    let occurred = |item: &str| history.events.iter().filter(|event| of(event, item)).count();
    let mut own = 0_usize;
    for event in history.events.iter().filter(|event| event["type"] == "caseFile.changed") {
        if let Some(mark) = event["data"]["value"].as_str().filter(|_| event["data"]["item"] == "mark") {
            own += 1;
            *marks.entry(Mark { case: id.to_owned(), key: mark.to_owned() }).or_default() += 1;
        }
    }
    for (item, count) in [("counted", occurred("counted")), ("reached", occurred("reached"))] {
        found.lost += own.saturating_sub(count);
        found.doubled += count.saturating_sub(own);
        if own != count {
            found.complaints.push(format!("case {id}: `{item}` occurred {count} times with {own} marks"));
        }
    }
}

/// Each key that was acknowledged is counted once, in the case that the answer named; no other is counted at all, but for
/// those that were never answered, at most once.
fn compare(marks: &BTreeMap<Mark, usize>, ledger: &Ledger, found: &mut Findings) {
    let mut by_key: BTreeMap<&str, usize> = BTreeMap::new();
    for (mark, count) in marks {
        *by_key.entry(&mark.key).or_default() += count;
    }
    let mut known = BTreeSet::new();
    for told in ledger.told.iter().filter(|told| !told.opens) {
        known.insert(told.key.as_str());
        let [case] = told.reached.as_slice() else {
            found.lost += 1;
            found.complaints.push(format!("event {} reached {:?}", told.key, told.reached));
            continue;
        };
        if !marks.contains_key(&Mark { case: case.clone(), key: told.key.clone() }) {
            found.lost += 1;
            found.complaints.push(format!("event {} is not counted in the case {case}", told.key));
        }
    }
    for (key, count) in by_key {
        if count > 1 {
            found.doubled += count - 1;
            found.complaints.push(format!("event {key} is counted {count} times"));
        }
        if !known.contains(key) && !ledger.unsure.contains(key) {
            found.doubled += 1;
            found.complaints.push(format!("event {key} is counted, and nobody sent it"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(key: &str, opens: bool, reached: &[&str]) -> Told {
        let reached = reached.iter().map(|id| (*id).to_owned()).collect();
        let case = if opens { format!("of-{key}") } else { "of-o".to_owned() };
        Told { key: key.to_owned(), case, opens, event: "e".to_owned(), reached }
    }

    #[test]
    fn cases_that_are_lost_or_doubled_are_found() {
        let told = vec![event("o", true, &["1"]), event("p", true, &["2"]), event("q", true, &["9"])];
        let ledger = Ledger { told, ..Ledger::default() };
        let listed = [
            json!({"id": "1", "correlationKey": "of-o"}),
            json!({"id": "2", "correlationKey": "of-p"}),
            json!({"id": "3", "correlationKey": "of-p"}),
        ];
        let mut found = Findings::default();
        opened(&listed, &ledger, &mut found);
        assert_eq!((found.runs, found.lost, found.doubled), (3, 2, 1), "{:?}", found.complaints);
    }

    #[test]
    fn every_key_counts_once_in_its_case() {
        let told = vec![
            event("a", false, &["1"]),
            event("b", false, &["1"]),
            event("c", false, &["2"]),
            event("d", false, &[]),
        ];
        let unsure = ["u".to_owned()].into();
        let ledger = Ledger { told, unsure, ..Ledger::default() };
        let mark =
            |case: &str, key: &str, count| (Mark { case: case.to_owned(), key: key.to_owned() }, count);
        let marks = [
            mark("1", "a", 1),
            mark("1", "b", 2),
            mark("1", "c", 1),
            mark("1", "u", 1),
            mark("1", "nobody", 1),
        ];
        let mut found = Findings::default();
        compare(&marks.into(), &ledger, &mut found);
        // `c` stands in another case than told, `d` reached none; `b` counts twice, and one is nobody's.
        assert_eq!((found.lost, found.doubled), (2, 2), "{:?}", found.complaints);
    }

    #[test]
    fn marks_are_compared_with_what_occurred() {
        let occurred =
            |item: &str| json!({"type": "item.transitioned", "nodeId": item, "data": {"event": "occur"}});
        let marked = json!({"type": "caseFile.changed", "data": {"item": "mark", "value": "a"}});
        let events = vec![marked, occurred("counted"), occurred("reached"), occurred("reached")];
        let history = History { state: "active".to_owned(), events };
        let (mut marks, mut found) = (BTreeMap::new(), Findings::default());
        counted("1", &history, &mut marks, &mut found);
        assert_eq!(marks.get(&Mark { case: "1".to_owned(), key: "a".to_owned() }), Some(&1));
        assert_eq!((found.lost, found.doubled), (0, 1), "{:?}", found.complaints);
    }
}
