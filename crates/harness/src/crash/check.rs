//! Checks after the last restart.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures::StreamExt as _;
use serde_json::Value;

use super::load::Ledger;
use heddle_harness_kit::client::Client;

/// Longest wait for due timers after the last restart.
const TIMER_LIMIT: Duration = Duration::from_secs(60);
const AT_ONCE: usize = 8;

/// Counts of what does not hold, with sentences.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Runs that exist.
    pub runs: usize,
    /// Events that exist.
    pub events: usize,
    /// Acknowledged starts or completions that are not there.
    pub lost: usize,
    /// Runs, events, completions or timers that are there twice.
    pub doubled: usize,
    /// Missing sequence numbers.
    pub gaps: usize,
    /// Timers that were scheduled and never fired.
    pub timers_lost: usize,
    /// Acknowledged mutations without an audit event.
    pub audit_missing: usize,
    /// One sentence for each.
    pub complaints: Vec<String>,
}

impl Findings {
    /// Whether everything holds.
    pub(crate) const fn clean(&self) -> bool {
        self.lost == 0
            && self.doubled == 0
            && self.gaps == 0
            && self.timers_lost == 0
            && self.audit_missing == 0
    }
}

/// Checks everything.
pub(crate) async fn all(client: &Client, workflow: &str, ledger: &Ledger) -> Result<Findings> {
    let mut found = Findings::default();
    let base = format!("/api/workflows/{workflow}/runs");
    let listed = client.all(&base).await?;
    existence(&listed, ledger, &mut found);
    let acknowledged: HashMap<&str, bool> =
        ledger.runs.iter().map(|run| (run.run.as_str(), run.completed)).collect();
    let mut open: Vec<String> =
        listed.iter().filter_map(|run| run["id"].as_str().map(str::to_owned)).collect();
    let began = Instant::now();
    // A timer that is still to fire gets time; every other check of the run waits for it.
    loop {
        let last = began.elapsed() > TIMER_LIMIT;
        let mut again = Vec::new();
        for (id, history) in histories(client, &base, &open).await? {
            if history.timers_open() && !last {
                again.push(id);
            } else {
                let completed = acknowledged.get(id.as_str()).copied().unwrap_or(false);
                history.judge(&id, completed, &mut found);
            }
        }
        if again.is_empty() {
            break;
        }
        open = again;
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    audit(&client.all("/api/audit-events").await?, ledger, &mut found);
    Ok(found)
}

/// Every acknowledged run is there, and none twice.
pub(super) fn existence(listed: &[Value], ledger: &Ledger, found: &mut Findings) {
    found.runs += listed.len();
    let mut ids = BTreeSet::new();
    let mut keys: BTreeMap<&str, usize> = BTreeMap::new();
    for run in listed {
        if !ids.insert(run["id"].as_str().unwrap_or_default()) {
            found.doubled += 1;
            found.complaints.push(format!("run {} is listed twice", run["id"]));
        }
        *keys.entry(run["businessKey"].as_str().unwrap_or_default()).or_default() += 1;
    }
    for (key, count) in keys.into_iter().filter(|(_, count)| *count > 1) {
        found.doubled += count - 1;
        found.complaints.push(format!("{count} runs carry the business key {key}"));
    }
    for run in ledger.runs.iter().filter(|run| !ids.contains(run.run.as_str())) {
        found.lost += 1;
        found.complaints.push(format!("the acknowledged run {} ({}) does not exist", run.run, run.key));
    }
}

/// The histories of runs.
pub(super) async fn histories(client: &Client, base: &str, ids: &[String]) -> Result<Vec<(String, History)>> {
    let mut reads = futures::stream::iter(ids.iter().cloned().map(|id| async move {
        // The events first: a timer that fires in between is then still open here, and the run is read again.
        let events = client.all(&format!("{base}/{id}/events")).await?;
        let run = client.get(&format!("{base}/{id}")).await?.data().with_context(|| format!("run {id}"))?;
        let state = run["state"].as_str().unwrap_or_default().to_owned();
        anyhow::Ok((id, History { state, events }))
    }))
    .buffer_unordered(AT_ONCE);
    let mut found = Vec::with_capacity(ids.len());
    while let Some(read) = reads.next().await {
        found.push(read?);
    }
    Ok(found)
}

/// A run's state and its events.
pub(super) struct History {
    /// Word of the API.
    pub state: String,
    /// All of them, in order.
    pub events: Vec<Value>,
}

impl History {
    /// Number of the events of a type.
    pub(super) fn count(&self, kind: &str) -> usize {
        self.events.iter().filter(|event| event["type"].as_str() == Some(kind)).count()
    }

    fn timers_open(&self) -> bool {
        self.count("timer.scheduled") > self.count("timer.fired")
    }

    /// The events are numbered without a gap and without a repeat.
    pub(super) fn sequence(&self, id: &str, found: &mut Findings) {
        found.events += self.events.len();
        let mut complain = |text: String| found.complaints.push(format!("run {id}: {text}"));
        let mut next = 1;
        for event in &self.events {
            let sequence = event["sequence"].as_u64().unwrap_or_default();
            if sequence > next {
                found.gaps += 1;
                complain(format!("events {next} to {} are missing", sequence - 1));
            } else if sequence < next {
                found.doubled += 1;
                complain(format!("event {sequence} comes again"));
            }
            next = next.max(sequence + 1);
        }
    }

    fn judge(&self, id: &str, completion_acknowledged: bool, found: &mut Findings) {
        self.sequence(id, found);
        let mut complain = |text: String| found.complaints.push(format!("run {id}: {text}"));
        for kind in ["run.started", "timer.scheduled"] {
            let count = self.count(kind);
            if count == 0 {
                found.gaps += 1;
                complain(format!("no {kind}"));
            }
            found.doubled += count.saturating_sub(1);
        }
        let (scheduled, fired) = (self.count("timer.scheduled"), self.count("timer.fired"));
        if scheduled > fired {
            found.timers_lost += scheduled - fired;
            complain("its timer never fired".to_owned());
        } else if fired > scheduled {
            found.doubled += fired - scheduled;
            complain("its timer fired twice".to_owned());
        }
        let completions = self.count("task.completed");
        if completions > 1 {
            found.doubled += completions - 1;
            complain("its task was completed twice".to_owned());
        }
        if completion_acknowledged && completions == 0 {
            found.lost += 1;
            complain("the acknowledged completion is not there".to_owned());
        }
        let ended = completions > 0 && fired > 0;
        let expected = if ended { "completed" } else { "waiting" };
        if self.state != expected {
            found.lost += 1;
            complain(format!("is {} and should be {expected}", self.state));
        }
    }
}

/// Every acknowledged mutation has its audit event.
pub(super) fn audit(events: &[Value], ledger: &Ledger, found: &mut Findings) {
    let mut seen: HashMap<(String, String), usize> = HashMap::new();
    for event in events {
        let action = event["action"].as_str().unwrap_or_default();
        let done = event["outcome"].as_str().is_none_or(|outcome| outcome == "success");
        if done && matches!(action, "workflow.run_started" | "workflow.human_task_completed") {
            let mut texts = BTreeSet::new();
            collect(event, &mut texts);
            for text in texts {
                *seen.entry((action.to_owned(), text.to_owned())).or_default() += 1;
            }
        }
    }
    let times =
        |action: &str, run: &str| seen.get(&(action.to_owned(), run.to_owned())).copied().unwrap_or_default();
    for run in &ledger.runs {
        let mut wanted = vec!["workflow.run_started"];
        if run.completed {
            wanted.push("workflow.human_task_completed");
        }
        for action in wanted {
            match times(action, &run.run) {
                0 => {
                    found.audit_missing += 1;
                    found.complaints.push(format!("run {}: no audit event {action}", run.run));
                }
                1 => {}
                count => {
                    found.doubled += count - 1;
                    found.complaints.push(format!("run {}: {count} audit events {action}", run.run));
                }
            }
        }
    }
}

/// Every text in a value.
fn collect<'a>(value: &'a Value, into: &mut BTreeSet<&'a str>) {
    match value {
        Value::String(text) => {
            into.insert(text);
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
        Value::Object(members) => members.values().for_each(|member| collect(member, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::load::Acknowledged;
    use super::*;

    fn ledger(runs: &[(&str, bool)]) -> Ledger {
        let runs = runs
            .iter()
            .map(|(run, completed)| Acknowledged {
                run: (*run).to_owned(),
                key: format!("key-{run}"),
                completed: *completed,
            })
            .collect();
        Ledger { runs, unexpected: Vec::new() }
    }

    fn history(state: &str, kinds: &[(u64, &str)]) -> History {
        let events =
            kinds.iter().map(|(sequence, kind)| json!({"sequence": sequence, "type": kind})).collect();
        History { state: state.to_owned(), events }
    }

    #[test]
    fn lost_and_doubled_runs_are_found() {
        let listed = [
            json!({"id": "a", "businessKey": "key-a"}),
            json!({"id": "b", "businessKey": "key-b"}),
            json!({"id": "c", "businessKey": "key-b"}),
        ];
        let mut found = Findings::default();
        existence(&listed, &ledger(&[("a", false), ("b", true), ("d", false)]), &mut found);
        assert_eq!((found.runs, found.lost, found.doubled), (3, 1, 1), "{:?}", found.complaints);
        assert!(!found.clean());
    }

    #[test]
    fn histories_are_judged() {
        let whole: &[(u64, &str)] = &[
            (1, "run.started"),
            (2, "timer.scheduled"),
            (3, "task.completed"),
            (4, "timer.fired"),
            (5, "run.completed"),
        ];
        type Row<'a> = (&'a str, &'a [(u64, &'a str)], bool, [usize; 4]);
        let cases: &[Row<'_>] = &[
            ("completed", whole, true, [0, 0, 0, 0]),
            (
                "waiting",
                &[(1, "run.started"), (2, "timer.scheduled"), (3, "timer.fired")],
                false,
                [0, 0, 0, 0],
            ),
            (
                "waiting",
                &[(1, "run.started"), (2, "timer.scheduled"), (3, "timer.fired")],
                true,
                [1, 0, 0, 0],
            ),
            ("waiting", &[(1, "run.started"), (2, "timer.scheduled")], false, [0, 0, 0, 1]),
            (
                "waiting",
                &[(1, "run.started"), (3, "timer.scheduled"), (4, "timer.fired")],
                false,
                [0, 0, 1, 0],
            ),
            (
                "waiting",
                &[(1, "run.started"), (2, "timer.scheduled"), (2, "timer.fired")],
                false,
                [0, 1, 0, 0],
            ),
            ("running", whole, true, [1, 0, 0, 0]),
            ("completed", &[whole, &[(6, "timer.fired")]].concat(), true, [0, 1, 0, 0]),
        ];
        for (state, kinds, acknowledged, expected) in cases {
            let mut found = Findings::default();
            history(state, kinds).judge("r", *acknowledged, &mut found);
            let counts = [found.lost, found.doubled, found.gaps, found.timers_lost];
            assert_eq!(&counts, expected, "{state} {kinds:?}: {:?}", found.complaints);
        }
    }

    #[test]
    fn each_acknowledged_mutation_has_one_audit_event() {
        let event =
            |action: &str, run: &str| json!({"action": action, "resource": {"type": "run", "id": run}});
        let events = [
            event("workflow.run_started", "a"),
            event("workflow.human_task_completed", "a"),
            event("workflow.run_started", "b"),
            event("workflow.run_started", "b"),
        ];
        let mut found = Findings::default();
        audit(&events, &ledger(&[("a", true), ("b", true), ("c", false)]), &mut found);
        assert_eq!((found.audit_missing, found.doubled), (2, 1), "{:?}", found.complaints);
    }
}
