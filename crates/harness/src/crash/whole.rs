//! Runs with jobs, several instances, a call and compensation in flight: workers take and complete the jobs over HTTP, and
//! what was acknowledged is there once.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::check::{self, Findings, History};
use super::load::{Acknowledged, Ledger, Line, Outcome, judge};
use super::{Address, Options};
use heddle_harness_kit::client::Client;
use heddle_harness_kit::prepare;
use heddle_harness_kit::random::Random;

/// Lock of a job: short, so that a job whose activation was not answered comes again soon.
const LOCK_MS: u64 = 2_000;
/// Longest wait for the end of all runs after the last restart.
const END_LIMIT: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(250);

/// Types of the jobs.
const TYPES: [&str; 4] = ["crash-item", "crash-book", "crash-undo", "crash-called"];

/// The called process: one job.
const CALLED: &str = r#"
    <startEvent id="begin"/>
    <sequenceFlow id="f1" sourceRef="begin" targetRef="work"/>
    <serviceTask id="work" xmlns:camunda="http://camunda.org/schema/1.0/bpmn" camunda:type="external" camunda:topic="crash-called"/>
    <sequenceFlow id="f2" sourceRef="work" targetRef="done"/>
    <endEvent id="done"/>"#;

/// Three instances with a job each, a job with a handler that compensates it, a call, and the compensation.
const WHOLE: &str = r#"
    <startEvent id="begin"/>
    <sequenceFlow id="f1" sourceRef="begin" targetRef="items"/>
    <serviceTask id="items" xmlns:camunda="http://camunda.org/schema/1.0/bpmn" camunda:type="external" camunda:topic="crash-item">
      <multiInstanceLoopCharacteristics><loopCardinality xsi:type="tFormalExpression">3</loopCardinality></multiInstanceLoopCharacteristics>
    </serviceTask>
    <sequenceFlow id="f2" sourceRef="items" targetRef="book"/>
    <serviceTask id="book" xmlns:camunda="http://camunda.org/schema/1.0/bpmn" camunda:type="external" camunda:topic="crash-book"/>
    <boundaryEvent id="undone" attachedToRef="book"><compensateEventDefinition/></boundaryEvent>
    <serviceTask id="undo" isForCompensation="true" xmlns:camunda="http://camunda.org/schema/1.0/bpmn" camunda:type="external" camunda:topic="crash-undo"/>
    <sequenceFlow id="f3" sourceRef="book" targetRef="call"/>
    <callActivity id="call" calledElement="crash-called"/>
    <sequenceFlow id="f4" sourceRef="call" targetRef="regret"/>
    <endEvent id="regret"><compensateEventDefinition/></endEvent>
    <association id="a1" associationDirection="One" sourceRef="undone" targetRef="undo"/>"#;

/// Events of a type at a node, and how often they come in a run.
struct Wanted {
    kind: &'static str,
    node: &'static str,
    count: usize,
}

const fn once(kind: &'static str, node: &'static str) -> Wanted {
    Wanted { kind, node, count: 1 }
}

/// Events of a whole run.
const OF_WHOLE: [Wanted; 8] = [
    Wanted { kind: "job.created", node: "items", count: 3 },
    Wanted { kind: "job.completed", node: "items", count: 3 },
    once("job.created", "book"),
    once("job.completed", "book"),
    once("job.created", "undo"),
    once("job.completed", "undo"),
    once("run.called", "call"),
    once("call.completed", "call"),
];

/// Events of a called run.
const OF_CALLED: [Wanted; 2] = [once("job.created", "work"), once("job.completed", "work")];

/// The two workflows.
pub(super) struct Workflows {
    whole: String,
    called: String,
}

/// Deeds of starters and workers.
#[derive(Default)]
pub(super) struct Done {
    /// Starts.
    pub ledger: Ledger,
    /// Jobs whose completion was acknowledged.
    pub jobs: Vec<String>,
    /// Completions that came too late: another worker had the job.
    pub refused: usize,
}

/// Starters and workers under way.
pub(super) struct Hands {
    no_starts: Arc<AtomicBool>,
    no_work: Arc<AtomicBool>,
    starters: Vec<tokio::task::JoinHandle<Done>>,
    workers: Vec<tokio::task::JoinHandle<Done>>,
}

impl Hands {
    pub(super) fn start(workflows: &Workflows, options: &Options, address: &Address, seed: u64) -> Self {
        let (no_starts, no_work) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let line = |stop: &Arc<AtomicBool>| Line { server: address.subscribe(), stop: Arc::clone(stop) };
        let starters = (0..options.starters).map(|number| {
            let random = Random::new(seed ^ (number as u64 + 101).rotate_left(32));
            let starter =
                Starter { number, workflow: workflows.whole.clone(), line: line(&no_starts), random };
            tokio::spawn(starter.work(options.pause_ms))
        });
        let starters = starters.collect();
        let workers = (0..options.workers).map(|number| tokio::spawn(worker(number, line(&no_work))));
        let workers = workers.collect();
        Self { no_starts, no_work, starters, workers }
    }

    /// Ends the starts, lets the workers end all runs, and gives what was acknowledged.
    pub(super) async fn finish(self, client: &Client, workflows: &Workflows) -> Result<Done> {
        let mut done = Done::default();
        self.no_starts.store(true, Ordering::Relaxed);
        for starter in self.starters {
            done.add(starter.await.context("a starter broke off")?);
        }
        let began = Instant::now();
        while began.elapsed() < END_LIMIT && workflows.open_runs(client).await? > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        self.no_work.store(true, Ordering::Relaxed);
        for worker in self.workers {
            done.add(worker.await.context("a worker broke off")?);
        }
        Ok(done)
    }
}

impl Done {
    fn add(&mut self, other: Self) {
        self.ledger.add(other.ledger);
        self.jobs.extend(other.jobs);
        self.refused += other.refused;
    }
}

/// A caller that starts whole runs. It repeats a start that was not answered, under its idempotency key.
struct Starter {
    number: usize,
    workflow: String,
    line: Line,
    random: Random,
}

impl Starter {
    async fn work(mut self, pause_ms: u64) -> Done {
        let mut done = Done::default();
        let path = format!("/api/workflows/{}/runs", self.workflow);
        for count in 1_u64.. {
            let key = format!("starter-{}-{count}", self.number);
            let body = json!({"businessKey": key});
            while let (false, Some(client)) = (self.line.stopped(), self.line.client().await) {
                match judge(client.post_keyed(&path, &body, Some(&key)).await) {
                    Outcome::Done(answer) => {
                        let run = answer.body["data"]["id"].as_str().unwrap_or_default().to_owned();
                        done.ledger.runs.push(Acknowledged { run, key: key.clone(), completed: false });
                        break;
                    }
                    Outcome::Unknown => tokio::time::sleep(Duration::from_millis(10)).await,
                    Outcome::Unexpected(told) => {
                        done.ledger.unexpected.push(format!("start of {key}: {}", told.refusal()));
                        break;
                    }
                }
            }
            if self.line.stopped() {
                break;
            }
            let pause = self.random.between(0, pause_ms.saturating_mul(4));
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        done
    }
}

/// A worker: it takes jobs and completes each, and repeats a completion that was not answered until it is.
async fn worker(number: usize, mut line: Line) -> Done {
    let mut done = Done::default();
    let wanted = json!({
        "types": TYPES, "worker": format!("crash-{number}"), "maxJobs": 4, "lockMs": LOCK_MS, "waitMs": 200,
    });
    while let (false, Some(client)) = (line.stopped(), line.client().await) {
        match judge(client.post("/api/jobs/activate", &wanted).await) {
            Outcome::Done(answer) => {
                for job in answer.body["data"].as_array().into_iter().flatten() {
                    complete(job, &mut line, &mut done).await;
                }
            }
            Outcome::Unknown => tokio::time::sleep(Duration::from_millis(10)).await,
            Outcome::Unexpected(told) => {
                done.ledger.unexpected.push(format!("activation: {}", told.refusal()));
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    done
}

async fn complete(job: &Value, line: &mut Line, done: &mut Done) {
    let id = job["id"].as_str().unwrap_or_default();
    let path = format!("/api/jobs/{id}/complete");
    let body = json!({"epoch": job["epoch"], "variables": {}});
    while let Some(client) = line.client().await {
        match judge(client.post(&path, &body).await) {
            Outcome::Done(_) => {
                done.jobs.push(id.to_owned());
                return;
            }
            Outcome::Unknown => tokio::time::sleep(Duration::from_millis(10)).await,
            // The lock ran out while the server was down, and another worker has the job or has completed it.
            Outcome::Unexpected(told) if told.status == 409 => {
                done.refused += 1;
                return;
            }
            Outcome::Unexpected(told) => {
                done.ledger.unexpected.push(format!("completion of {id}: {}", told.refusal()));
                return;
            }
        }
    }
}

impl Workflows {
    /// Publishes them, the called one first.
    pub(super) async fn publish(client: &Client) -> Result<Self> {
        let called = prepare::publish(client, "crash-called", CALLED).await?;
        let whole = prepare::publish(client, "crash-whole", WHOLE).await?;
        Ok(Self { whole, called })
    }

    async fn open_runs(&self, client: &Client) -> Result<usize> {
        let mut open = 0;
        for workflow in [&self.whole, &self.called] {
            let runs = client.all(&format!("/api/workflows/{workflow}/runs")).await?;
            let ended = |run: &&Value| {
                ["completed", "failed", "cancelled"].contains(&run["state"].as_str().unwrap_or_default())
            };
            open += runs.len() - runs.iter().filter(ended).count();
        }
        Ok(open)
    }

    /// Checks what the runs say against what was acknowledged.
    pub(super) async fn check(&self, client: &Client, done: &Done, found: &mut Findings) -> Result<()> {
        let base = format!("/api/workflows/{}/runs", self.whole);
        let listed = client.all(&base).await?;
        check::existence(&listed, &done.ledger, found);
        check::audit(&client.all("/api/audit-events").await?, &done.ledger, found);
        let mut completed = BTreeMap::new();
        for (id, history) in check::histories(client, &base, &ids(&listed)).await? {
            judge_run(&id, &history, &OF_WHOLE, found);
            count_completions(&history, &mut completed);
        }
        let base = format!("/api/workflows/{}/runs", self.called);
        let called = client.all(&base).await?;
        found.runs += called.len();
        if called.len() != listed.len() {
            let (fewer, more) =
                (listed.len().saturating_sub(called.len()), called.len().saturating_sub(listed.len()));
            found.lost += fewer;
            found.doubled += more;
            found.complaints.push(format!("{} runs called {} runs", listed.len(), called.len()));
        }
        for (id, history) in check::histories(client, &base, &ids(&called)).await? {
            judge_run(&id, &history, &OF_CALLED, found);
            count_completions(&history, &mut completed);
        }
        judge_jobs(&done.jobs, &completed, found);
        Ok(())
    }
}

fn ids(listed: &[Value]) -> Vec<String> {
    listed.iter().filter_map(|run| run["id"].as_str().map(str::to_owned)).collect()
}

/// One run has done everything, and once.
fn judge_run(id: &str, history: &History, wanted: &[Wanted], found: &mut Findings) {
    history.sequence(id, found);
    for &Wanted { kind, node, count } in wanted {
        let of_node =
            |event: &&Value| event["type"].as_str() == Some(kind) && event["nodeId"].as_str() == Some(node);
        let own = history.events.iter().filter(of_node).count();
        found.lost += count.saturating_sub(own);
        found.doubled += own.saturating_sub(count);
        if own != count {
            found.complaints.push(format!("run {id}: {own} events {kind} of `{node}` instead of {count}"));
        }
    }
    if history.state != "completed" || history.count("run.completed") != 1 {
        found.lost += 1;
        found.complaints.push(format!("run {id} is {} and should be completed", history.state));
    }
}

fn count_completions(history: &History, into: &mut BTreeMap<String, usize>) {
    for event in history.events.iter().filter(|event| event["type"].as_str() == Some("job.completed")) {
        let job = event["data"]["jobId"].as_str().unwrap_or_default();
        *into.entry(job.to_owned()).or_default() += 1;
    }
}

/// No job is completed twice, and every acknowledged completion is there. One that is acknowledged again is the same one.
fn judge_jobs(acknowledged: &[String], completed: &BTreeMap<String, usize>, found: &mut Findings) {
    for (job, count) in completed.iter().filter(|(_, count)| **count > 1) {
        found.doubled += count - 1;
        found.complaints.push(format!("job {job} was completed {count} times"));
    }
    let mut seen = BTreeSet::new();
    for job in acknowledged {
        if !seen.insert(job) {
            found.doubled += 1;
            found.complaints.push(format!("two workers were told that they completed the job {job}"));
        }
        if !completed.contains_key(job) {
            found.lost += 1;
            found.complaints.push(format!("the acknowledged completion of the job {job} is not there"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_that_are_lost_or_doubled_are_found() {
        let told = ["a", "b", "b", "d"].map(str::to_owned);
        let completed = [("a", 1), ("b", 1), ("c", 2)].map(|(job, count)| (job.to_owned(), count)).into();
        let mut found = Findings::default();
        judge_jobs(&told, &completed, &mut found);
        assert_eq!((found.lost, found.doubled), (1, 2), "{:?}", found.complaints);
    }

    #[test]
    fn a_run_has_done_everything_once() {
        let event = |sequence: u64, kind: &str, node: &str| json!({"sequence": sequence, "type": kind, "nodeId": node, "data": {"jobId": "j"}});
        let events = vec![
            event(1, "job.created", "work"),
            event(2, "job.completed", "work"),
            event(3, "job.completed", "work"),
        ];
        let history = History { state: "completed".to_owned(), events };
        let mut found = Findings::default();
        judge_run("r", &history, &OF_CALLED, &mut found);
        assert_eq!((found.lost, found.doubled, found.gaps), (1, 1, 0), "{:?}", found.complaints);
        let mut completed = BTreeMap::new();
        count_completions(&history, &mut completed);
        assert_eq!(completed.get("j"), Some(&2));
    }
}
