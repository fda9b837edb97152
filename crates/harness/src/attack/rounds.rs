//! Rounds of the honest organisation, one after the other.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use heddle_harness_kit::client::{Client, encode};
use heddle_harness_kit::http::{Answer, Base, Caller};
use reqwest::Method;
use serde_json::{Value, json};

use super::honest::Shared;
use super::person::{HONEST, PASSWORD, Person};
use super::sse::Reading;

/// Longest wait for a message, and for a stream's end.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longest wait for `/health/live`.
const LIVE: Duration = Duration::from_secs(10);

/// The honest organisation's account and workflows.
pub(crate) struct Tenant {
    /// Account that it works with.
    pub person: Person,
    /// A workflow with one human task.
    pub task: String,
    /// A workflow that waits for a message.
    pub waiting: String,
    /// A workflow that throws it.
    pub sending: String,
    /// State that it shares with the runner.
    pub shared: Arc<Shared>,
}

impl Tenant {
    /// Does rounds of one kind until told to stop; a round that was not done to its end has told why.
    pub(crate) async fn repeat(
        &self,
        kind: usize,
        pause: Duration,
        round: impl AsyncFn(&Self, u64) -> Option<()>,
    ) {
        let mut number = 0;
        while !self.stopped() {
            number += 1;
            if round(self, number).await.is_some()
                && let Some(count) = self.shared.rounds.get(kind)
            {
                count.fetch_add(1, Ordering::Relaxed);
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Starts a run, completes its task, and sees that it ended.
    pub(crate) async fn task(&self, number: u64) -> Option<()> {
        let run = self.start(&self.task, json!({"businessKey": format!("task-{number}")})).await?;
        self.complete(&run).await?;
        let now = self.ask(Method::GET, &self.path(&self.task, &run), None).await?;
        self.ended(&self.task, run, &now)
    }

    /// Lets a run wait for a message that another one throws.
    pub(crate) async fn message(&self, number: u64) -> Option<()> {
        let key = format!("message-{number}");
        let run = self.start(&self.waiting, json!({"correlationKey": key})).await?;
        let began = Instant::now();
        self.start(&self.sending, json!({"input": {"key": key}})).await?;
        let path = self.path(&self.waiting, &run);
        while began.elapsed() < PATIENCE && !self.stopped() {
            // Not counted: many quick reads would hide a slow call.
            if let Ok(now) = self.person.get(&path).await
                && now.json()["data"]["state"] == "completed"
            {
                self.shared.measured(|ledger| &mut ledger.messages, (began, began.elapsed()));
                return self.ended(&self.waiting, run, &now);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.lose(format!("the message {key} was not delivered within {} s", PATIENCE.as_secs()))
    }

    /// Reads the stream of a run from its start to its end, and comes back when it is cut.
    pub(crate) async fn stream(&self, number: u64) -> Option<()> {
        let run = self.start(&self.task, json!({"businessKey": format!("stream-{number}")})).await?;
        let path = format!("{}/events/stream", self.path(&self.task, &run));
        let mut reading = Reading::default();
        let began = Instant::now();
        let mut completed = false;
        while !reading.ended && began.elapsed() < PATIENCE {
            let request = self.person.request(Method::GET, &path);
            let request = request.header("last-event-id", &reading.last.to_string());
            let mut response = match request.open().await {
                Ok(response) if response.status().as_u16() == 200 => response,
                Ok(response) => return self.lose(format!("the stream of {run}: {}", response.status())),
                Err(error) => return self.lose(format!("the stream of {run}: {error:#}")),
            };
            if !completed {
                self.complete(&run).await?;
                completed = true;
            }
            let left = PATIENCE.saturating_sub(began.elapsed());
            let _ = tokio::time::timeout(left, reading.read(&mut response)).await;
        }
        if !reading.ended || reading.gaps > 0 {
            return self.lose(format!("the stream of {run}: {reading:?}"));
        }
        Some(())
    }

    /// Asks whether the server lives, each time on a new connection.
    pub(crate) async fn live(&self, base: &Base) {
        while !self.stopped() {
            let Ok(caller) = Caller::from_address(base.clone(), HONEST, false) else { return };
            let began = Instant::now();
            let asked = caller.request(&Method::GET, "/health/live").send();
            let answered = tokio::time::timeout(LIVE, asked).await;
            let took = match answered {
                Ok(Ok(answer)) if answer.status == 200 => began.elapsed(),
                // Nothing came, or not what should: as slow as can be.
                Ok(_) | Err(_) => LIVE,
            };
            self.shared.measured(|ledger| &mut ledger.lives, (began, took));
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Signs in and out again.
    pub(crate) async fn sign_in(&self, base: &Base, pause: Duration) {
        while !self.stopped() {
            let Ok(stranger) = Person::stranger(base, HONEST) else { return };
            let began = Instant::now();
            match stranger.try_sign_in(&self.person.email, PASSWORD).await {
                Ok(answer) if answer.status == 200 => {
                    self.shared.measured(|ledger| &mut ledger.sign_ins, (began, began.elapsed()));
                    let token = answer.json()["data"]["token"].as_str().unwrap_or_default().to_owned();
                    if let Ok(session) = stranger.bearer(&token) {
                        let _ = session.post("/api/auth/sign-out", &json!({})).await;
                    }
                }
                Ok(answer) => self.shared.lose(format!("the sign-in: {}", answer.status)),
                Err(error) => self.shared.lose(format!("the sign-in: {error:#}")),
            }
            let waited = Instant::now();
            while waited.elapsed() < pause && !self.stopped() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }

    async fn start(&self, workflow: &str, body: Value) -> Option<String> {
        let path = format!("/api/workflows/{workflow}/runs");
        let answer = self.ask(Method::POST, &path, Some(body)).await?;
        let run = answer.json()["data"]["id"].as_str().map(str::to_owned);
        if run.is_none() {
            return self.lose(format!("a start without an id: {}", answer.text()));
        }
        run
    }

    async fn complete(&self, run: &str) -> Option<()> {
        let path = format!("{}/human-tasks/work/complete", self.path(&self.task, run));
        self.ask(Method::POST, &path, Some(json!({"values": {"done": true}}))).await.map(|_| ())
    }

    fn ended(&self, workflow: &str, run: String, answer: &Answer) -> Option<()> {
        let state = answer.json()["data"]["state"].clone();
        if state != "completed" {
            return self.lose(format!("the run {run} is {state}"));
        }
        self.shared.ledger().ended.push((workflow.to_owned(), run));
        Some(())
    }

    fn path(&self, workflow: &str, run: &str) -> String {
        format!("/api/workflows/{workflow}/runs/{run}")
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Option<Answer> {
        let mut request = self.person.request(method, path);
        if let Some(body) = &body {
            request = request.json(body);
        }
        let began = Instant::now();
        let answer = request.send().await;
        self.shared.measured(|ledger| &mut ledger.calls, (began, began.elapsed()));
        let told = match answer {
            Ok(answer) if (200..300).contains(&answer.status) => return Some(answer),
            Ok(answer) => format!("{}: {} {}", answer.asked, answer.status, answer.text()),
            Err(error) => format!("{error:#}"),
        };
        // A server that is away is not asked without end.
        tokio::time::sleep(Duration::from_millis(50)).await;
        self.lose(told)
    }

    /// Tells what is lost; the round ends with it.
    fn lose<T>(&self, what: String) -> Option<T> {
        self.shared.lose(what);
        None
    }

    fn stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }
}

/// Sentences for runs that had ended and are no longer there, or not ended.
pub(crate) async fn missing(person: &Person, ended: &[(String, String)]) -> Result<Vec<String>> {
    let mut runs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (workflow, run) in ended {
        runs.entry(workflow).or_default().push(run);
    }
    let client = Client::with_token(&format!("http://{}", person.host()), person.token())?;
    let mut missing = Vec::new();
    for (workflow, runs) in runs {
        let path = format!("/api/workflows/{}/runs?state=completed", encode(workflow));
        let listed = client.all(&path).await.context("the honest organisation's runs")?;
        let there: BTreeSet<&str> = listed.iter().filter_map(|run| run["id"].as_str()).collect();
        let gone = runs.iter().filter(|run| !there.contains(*run));
        missing.extend(gone.map(|run| format!("the run {run} had ended and is not there")));
    }
    Ok(missing)
}
