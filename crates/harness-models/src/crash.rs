//! Calls under kills: callers chat while the server is killed. Each acknowledged call is counted once, of the others none
//! is counted twice, and what was set aside of a budget by calls whose process died comes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use heddle_harness_kit::client::Client;
use heddle_harness_kit::http::{Base, Caller};
use heddle_harness_kit::random::Random;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::mock::Mock;
use crate::place::{Place, question, streamed};

/// Model that takes its time, so that kills meet calls under way.
const MODEL: &str = "slow-30";
/// Model that takes longer than a server lives on.
const LONG: &str = "slow-4000";
/// Tokens that a held call sets aside at least, and those of the budget: three fit, a fourth doesn't.
const HELD_TOKENS: u64 = 1_000;
const BUDGET: u64 = 3_900;
/// Calls that hold the budget while their process dies.
const HELD: usize = 3;
/// Longest wait until a budget is free again.
const BACK: Duration = Duration::from_secs(120);

/// Line to a server that is killed now and then: none while it is down.
pub type Line = watch::Receiver<Option<Arc<Client>>>;

/// Deployments that are called.
#[derive(Debug)]
pub struct Calls {
    mock: Mock,
    deployment: String,
}

/// Answers that callers have had.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Calls that were answered to their end.
    pub acknowledged: u64,
    /// Calls of which nobody knows.
    pub unknown: u64,
    /// Answers that no kill explains.
    pub unexpected: Vec<String>,
}

/// Findings after the last restart.
#[derive(Debug, Default)]
pub struct Found {
    /// Calls that were counted.
    pub counted: u64,
    /// Acknowledged calls that were not.
    pub lost: u64,
    /// Calls that were counted beyond those that were made.
    pub doubled: u64,
}

impl Found {
    /// Whether each call counts once.
    #[must_use]
    pub const fn clean(&self) -> bool {
        self.lost + self.doubled == 0
    }
}

impl Calls {
    /// Starts the provider and makes the deployments.
    ///
    /// # Errors
    /// When they are refused.
    pub async fn prepare(client: &Client) -> Result<Self> {
        let mock = Mock::start()?;
        let place = place(client)?;
        let connection = place.connection("crash", "openai", &mock.base_url(), Some("sk-crash")).await?;
        let deployment = place.deployment(&connection, "crash", MODEL, &json!({})).await?;
        let tight = json!({"limits": {"budget": {"period": "day", "tokens": BUDGET}},
            "timeouts": {"firstTokenMs": 10_000, "totalMs": 10_000}});
        place.deployment(&connection, "crash-tight", LONG, &tight).await?;
        Ok(Self { mock, deployment })
    }

    /// Callers at work until they are told to stop.
    #[must_use]
    pub fn start(
        &self,
        count: usize,
        line: &Line,
        stop: &Arc<AtomicBool>,
        pause_ms: u64,
        seed: u64,
    ) -> Vec<JoinHandle<Ledger>> {
        let caller = |number: usize| {
            let random = Random::new(seed ^ (number as u64 + 1).rotate_left(32));
            tokio::spawn(work(number, line.clone(), Arc::clone(stop), pause_ms, random))
        };
        (0..count).map(caller).collect()
    }

    /// Count of the calls, once every answered one is in it.
    ///
    /// # Errors
    /// When usage is not told.
    pub async fn check(&self, client: &Client, ledger: &Ledger) -> Result<Found> {
        let counted = place(client)?.comes_to(&self.deployment, ledger.acknowledged).await?.calls;
        let most = ledger.acknowledged + ledger.unknown;
        Ok(Found {
            counted,
            lost: ledger.acknowledged.saturating_sub(counted),
            doubled: counted.saturating_sub(most),
        })
    }

    /// Calls that set a budget aside and are under way when this returns: the server is to be killed then.
    ///
    /// # Errors
    /// When they do not reach the provider.
    pub async fn hold(&self, client: &Client) -> Result<Vec<JoinHandle<()>>> {
        let before = self.mock.seen().requests();
        let mut held = Vec::new();
        for number in 0..HELD {
            let (place, body) = (place(client)?, held_call(number));
            held.push(tokio::spawn(async move {
                // It breaks off with the server.
                let _ = place.chat(&body).await;
            }));
        }
        let began = Instant::now();
        while self.mock.seen().requests() < before + HELD {
            ensure!(began.elapsed() < Duration::from_secs(20), "the calls do not reach the provider");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(held)
    }

    /// Waits until the budget is free again, and tells how long that took.
    ///
    /// # Errors
    /// When it does not come back in time.
    pub async fn comes_back(&self, client: &Client) -> Result<Duration> {
        let place = place(client)?;
        let began = Instant::now();
        loop {
            let answer = place.chat(&held_call(HELD)).await.context("a call behind the restart")?;
            if answer.status == 200 {
                return Ok(began.elapsed());
            }
            ensure!(
                matches!(answer.status, 402 | 403 | 409 | 429 | 503),
                "{} {}",
                answer.status,
                answer.text()
            );
            ensure!(began.elapsed() < BACK, "the budget is not free after {BACK:?}: {}", answer.text());
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }
}

fn held_call(number: usize) -> serde_json::Value {
    let mut body = question("crash-tight", &format!("Hold {number}."));
    if let Some(members) = body.as_object_mut() {
        members.insert("max_tokens".to_owned(), json!(HELD_TOKENS));
    }
    body
}

impl Ledger {
    /// Joins another caller's.
    pub fn add(&mut self, other: Self) {
        self.acknowledged += other.acknowledged;
        self.unknown += other.unknown;
        self.unexpected.extend(other.unexpected);
    }
}

fn place(client: &Client) -> Result<Place> {
    let base: Base = Arc::new(std::sync::RwLock::new(client.address()));
    Ok(Place::of(Caller::anonymous(base)?.with("authorization", &format!("Bearer {}", client.token()))?))
}

/// One caller: every second call is a stream.
async fn work(
    number: usize,
    mut line: Line,
    stop: Arc<AtomicBool>,
    pause_ms: u64,
    mut random: Random,
) -> Ledger {
    let mut ledger = Ledger::default();
    let mut known: Option<(Arc<Client>, Place)> = None;
    let mut count = 0_u64;
    while let Some(client) = up(&mut line, &stop).await {
        if known.as_ref().is_none_or(|(before, _)| !Arc::ptr_eq(before, &client)) {
            known = place(&client).ok().map(|place| (Arc::clone(&client), place));
        }
        let Some((_, place)) = &known else { continue };
        count += 1;
        let text = format!("Hello {number}-{count}?");
        let streams = count.is_multiple_of(2);
        let body = if streams { streamed("crash", &text) } else { question("crash", &text) };
        match place.chat(&body).await {
            Ok(answer) if answer.status == 200 && (!streams || answer.text().contains("[DONE]")) => {
                ledger.acknowledged += 1;
            }
            Ok(answer) if answer.status == 200 || answer.status == 503 => ledger.unknown += 1,
            Ok(answer) => ledger.unexpected.push(format!("{} {}", answer.status, answer.text())),
            Err(_broken) => ledger.unknown += 1,
        }
        tokio::time::sleep(Duration::from_millis(random.between(0, pause_ms))).await;
    }
    ledger
}

/// The server, once it is up; none when the end came first.
async fn up(line: &mut Line, stop: &AtomicBool) -> Option<Arc<Client>> {
    loop {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        if let Some(client) = line.borrow_and_update().clone() {
            return Some(client);
        }
        line.changed().await.ok()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_counts_once() {
        let found = |counted: u64| Found {
            counted,
            lost: 10_u64.saturating_sub(counted),
            doubled: counted.saturating_sub(12),
        };
        assert!(found(10).clean() && found(12).clean() && !found(9).clean() && !found(13).clean());
        let mut ledger = Ledger { acknowledged: 1, unknown: 2, unexpected: Vec::new() };
        ledger.add(Ledger { acknowledged: 3, unknown: 4, unexpected: vec!["a".to_owned()] });
        assert_eq!((ledger.acknowledged, ledger.unknown, ledger.unexpected.len()), (4, 6, 1));
    }

    #[test]
    fn a_held_budget_takes_three_calls_and_no_fourth() {
        assert!(HELD as u64 * HELD_TOKENS < BUDGET && (HELD as u64 + 1) * HELD_TOKENS > BUDGET);
    }
}
