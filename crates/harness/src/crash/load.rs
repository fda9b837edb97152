//! The callers: they start runs, complete tasks, and write down what was acknowledged.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;

use heddle_harness_kit::client::{Answer, Client};
use heddle_harness_kit::random::Random;

/// A run whose start was acknowledged.
#[derive(Debug, Clone)]
pub(crate) struct Acknowledged {
    /// Id of the run.
    pub run: String,
    /// The caller's own name for it, unique.
    pub key: String,
    /// Whether the completion of its task was acknowledged.
    pub completed: bool,
}

/// Answers that callers have had.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Acknowledged starts.
    pub runs: Vec<Acknowledged>,
    /// Answers that no crash explains.
    pub unexpected: Vec<String>,
}

impl Ledger {
    /// Joins another caller's.
    pub(crate) fn add(&mut self, other: Self) {
        self.runs.extend(other.runs);
        self.unexpected.extend(other.unexpected);
    }

    /// With the answers that could not be explained of those who did the rest.
    pub(super) fn with(mut self, hands: &super::whole::Done) -> Self {
        self.unexpected.extend(hands.ledger.unexpected.iter().cloned());
        self
    }

    /// Acknowledged mutations.
    pub(crate) fn acknowledged(&self) -> usize {
        self.runs.len() + self.runs.iter().filter(|run| run.completed).count()
    }
}

/// One caller.
pub(crate) struct Caller {
    /// Counted from 0.
    pub number: usize,
    /// The workflow it runs.
    pub workflow: String,
    /// Longest pause between two runs.
    pub pause_ms: u64,
    /// Line to the server.
    pub line: Line,
    /// Think times.
    pub random: Random,
}

/// Line to a server that is killed now and then.
#[derive(Clone)]
pub(crate) struct Line {
    /// The server; none while it is down.
    pub server: watch::Receiver<Option<Arc<Client>>>,
    /// Set at the end.
    pub stop: Arc<AtomicBool>,
}

impl Line {
    /// The server, once it is up; none when the end came first.
    pub(super) async fn client(&mut self) -> Option<Arc<Client>> {
        loop {
            if let Some(client) = self.server.borrow_and_update().clone() {
                return Some(client);
            }
            if self.stopped() || self.server.changed().await.is_err() {
                return None;
            }
        }
    }

    /// Whether the end has come.
    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Outcome of one call.
pub(super) enum Outcome {
    Done(Answer),
    /// Nobody knows whether it happened.
    Unknown,
    Unexpected(Answer),
}

impl Caller {
    /// Works until told to stop.
    pub(crate) async fn work(mut self) -> Ledger {
        let mut ledger = Ledger::default();
        let mut count = 0_u64;
        while !self.line.stopped() {
            count += 1;
            let key = format!("caller-{}-{count}", self.number);
            if let Some(run) = self.start(&key, &mut ledger).await {
                // Some tasks stay open, so that waiting runs are killed as well.
                let completed = !count.is_multiple_of(4) && self.complete(&run, &mut ledger).await;
                ledger.runs.push(Acknowledged { run, key, completed });
            }
            let pause = self.random.between(0, self.pause_ms);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        ledger
    }

    /// Starts a run. Odd callers repeat an unanswered start under its idempotency key until it is answered: it must
    /// exist once all the same. Even ones give it up.
    async fn start(&mut self, key: &str, ledger: &mut Ledger) -> Option<String> {
        let repeats = self.number % 2 == 1;
        let path = format!("/api/workflows/{}/runs", self.workflow);
        let body = json!({"businessKey": key, "correlationKey": key, "input": {"caller": self.number}});
        loop {
            let client = self.line.client().await?;
            match judge(client.post_keyed(&path, &body, repeats.then_some(key)).await) {
                Outcome::Done(answer) => {
                    let id = answer.body["data"]["id"].as_str().map(str::to_owned);
                    if id.is_none() {
                        ledger.unexpected.push(format!("start of {key}: an answer without an id"));
                    }
                    return id;
                }
                Outcome::Unknown if repeats => tokio::time::sleep(Duration::from_millis(10)).await,
                Outcome::Unknown => return None,
                Outcome::Unexpected(told) => {
                    ledger.unexpected.push(format!("start of {key}: {}", told.refusal()));
                    return None;
                }
            }
        }
    }

    async fn complete(&mut self, run: &str, ledger: &mut Ledger) -> bool {
        let path = format!("/api/workflows/{}/runs/{run}/human-tasks/work/complete", self.workflow);
        let Some(client) = self.line.client().await else { return false };
        match judge(client.post(&path, &json!({"values": {"done": true}})).await) {
            Outcome::Done(_) => true,
            Outcome::Unknown => false,
            Outcome::Unexpected(told) => {
                ledger.unexpected.push(format!("completion in {run}: {}", told.refusal()));
                false
            }
        }
    }
}

/// Outcome that an answer tells.
pub(super) fn judge(answer: anyhow::Result<Answer>) -> Outcome {
    match answer {
        Ok(answer) if answer.ok() => Outcome::Done(answer),
        Ok(answer) if answer.status == 503 => Outcome::Unknown,
        Ok(answer) => Outcome::Unexpected(answer),
        Err(_broken) => Outcome::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn only_a_broken_connection_or_503_leaves_an_outcome_open() {
        let answer = |status: u16| Ok(Answer { status, body: Value::Null });
        assert!(matches!(judge(answer(201)), Outcome::Done(_)));
        assert!(matches!(judge(answer(503)), Outcome::Unknown));
        assert!(matches!(judge(Err(anyhow::anyhow!("reset"))), Outcome::Unknown));
        assert!(matches!(judge(answer(500)), Outcome::Unexpected(_)));
        assert!(matches!(judge(answer(404)), Outcome::Unexpected(_)));
    }

    #[test]
    fn starts_and_completions_are_both_acknowledgements() {
        let run = |completed: bool| Acknowledged { run: "r".to_owned(), key: "k".to_owned(), completed };
        let mut ledger = Ledger { runs: vec![run(true)], unexpected: Vec::new() };
        ledger.add(Ledger { runs: vec![run(false)], unexpected: vec!["x".to_owned()] });
        assert_eq!(ledger.acknowledged(), 3);
        assert_eq!(ledger.unexpected.len(), 1);
    }
}
