//! Starts whose jobs workers take and complete: from one end to the other, over HTTP.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use heddle_harness_kit::client::Client;
use heddle_harness_kit::http1::{self, Connection};

/// Number of workers.
pub(crate) const WORKERS: usize = 16;
/// Callers that start runs.
const STARTERS: usize = 32;
/// Most runs that wait for a worker.
const AHEAD: usize = 512;
/// Most jobs that a worker takes at once.
const TAKEN: usize = 16;

/// Publishes a process with one job.
pub(crate) async fn publish(client: &Client) -> Result<String> {
    let definition = json!({
        "nodes": [
            { "id": "begin", "type": "startEvent", "displayName": "begin" },
            { "id": "work", "type": "serviceTask", "displayName": "work", "configuration": { "jobType": "bench" } },
            { "id": "done", "type": "endEvent", "displayName": "done" },
        ],
        "edges": [
            { "id": "f1", "source": "begin", "target": "work" }, { "id": "f2", "source": "work", "target": "done" },
        ],
    });
    let body = json!({
        "slug": "bench-job", "displayName": "bench-job", "description": "", "definition": definition,
    });
    let created = client.post("/api/workflows", &body).await?.data().context("create")?;
    let id = created["id"].as_str().context("a created workflow has an id")?.to_owned();
    client.post(&format!("/api/workflows/{id}/publish"), &json!({})).await?.data().context("publish")?;
    Ok(id)
}

/// State that starters and workers share.
struct Shared {
    host: String,
    token: String,
    start: Vec<u8>,
    begin: Instant,
    end: Instant,
    /// Runs that may be started before a job of the others is completed.
    ahead: Semaphore,
    /// Jobs that were completed within the window.
    completed: AtomicUsize,
}

/// Jobs that were started, taken and completed a second.
pub(crate) async fn measure(host: &str, token: &str, workflow: &str, window: Duration) -> Result<f64> {
    let begin = Instant::now() + Duration::from_millis(500);
    let path = format!("/api/workflows/{workflow}/runs");
    let shared = Arc::new(Shared {
        host: host.to_owned(),
        token: token.to_owned(),
        start: http1::request("POST", &path, Some(token), Some("{}")),
        begin,
        end: begin + window,
        ahead: Semaphore::new(AHEAD),
        completed: AtomicUsize::new(0),
    });
    let starters = (0..STARTERS).map(|_| tokio::spawn(start(Arc::clone(&shared))));
    let workers = (0..WORKERS).map(|_| tokio::spawn(work(Arc::clone(&shared))));
    let all: Vec<_> = starters.chain(workers).collect();
    for one in all {
        one.await.context("a caller broke off")??;
    }
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
    let completed = shared.completed.load(Ordering::Relaxed) as f64;
    Ok(completed / window.as_secs_f64())
}

async fn start(shared: Arc<Shared>) -> Result<()> {
    let mut connection = Connection::open(&shared.host).await?;
    while Instant::now() < shared.end {
        let Ok(room) = tokio::time::timeout_at(shared.end.into(), shared.ahead.acquire()).await else {
            return Ok(());
        };
        room.context("the room for starts is gone")?.forget();
        let (status, body) = connection.exchange(&shared.start).await?;
        if status != 201 {
            bail!("{status} {}", String::from_utf8_lossy(body));
        }
    }
    Ok(())
}

async fn work(shared: Arc<Shared>) -> Result<()> {
    let mut connection = Connection::open(&shared.host).await?;
    let ask =
        json!({ "types": ["bench"], "worker": "bench", "maxJobs": TAKEN, "lockMs": 60_000, "waitMs": 1_000 });
    let ask = http1::request("POST", "/api/jobs/activate", Some(&shared.token), Some(&ask.to_string()));
    while Instant::now() < shared.end {
        let (status, body) = connection.exchange(&ask).await?;
        if status != 200 {
            bail!("{status} {}", String::from_utf8_lossy(body));
        }
        let taken: Value = serde_json::from_slice(body).context("an activation is JSON")?;
        for job in taken["data"].as_array().into_iter().flatten() {
            let id = job["id"].as_str().context("a job has an id")?;
            let completion = json!({ "epoch": job["epoch"], "variables": { "done": true } }).to_string();
            let path = format!("/api/jobs/{id}/complete");
            let request = http1::request("POST", &path, Some(&shared.token), Some(&completion));
            let (status, body) = connection.exchange(&request).await?;
            if status != 200 {
                bail!("{status} {}", String::from_utf8_lossy(body));
            }
            shared.ahead.add_permits(1);
            let now = Instant::now();
            if now >= shared.begin && now <= shared.end {
                shared.completed.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    Ok(())
}
