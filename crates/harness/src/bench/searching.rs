//! Costs of vector databases over HTTP: queries beside the search within them, and ingestion.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use heddle_harness_kit::client::Client;
use heddle_harness_kit::server::{self, Backend, Build, Mode, Server};
use heddle_harness_kit::{out, process};
use serde_json::{Value, json};

use crate::vectors::{self, Text};
use heddle_harness_kit::figures::{Figure, Latencies};
use heddle_harness_kit::http1::{self, Connection};

/// Most milliseconds that a query over HTTP takes in the middle beyond the search within it.
const ADDED: f64 = 1.0;
/// Most milliseconds of the server's processor time for a passage that it embeds itself, and whatever else a passage takes.
const EMBEDDED: f64 = 50.0;
/// Queries before a figure, and queries that are measured.
const WARM: usize = 50;
const CALLS: usize = 1_000;
/// Longest wait for files.
const PATIENCE: Duration = Duration::from_secs(1_800);
/// Longest wait for room in the queue.
const ROOM: Duration = Duration::from_secs(300);
/// Paragraphs of a file, each about one passage.
const PARAGRAPHS: usize = 20;

/// Options of `bench vectors` of what goes over HTTP.
#[derive(clap::Args)]
pub(super) struct Served {
    /// Leaves the library and its peers out.
    #[arg(long)]
    pub(super) http: bool,
    /// Leaves out what goes over HTTP.
    #[arg(long, conflicts_with = "http")]
    pub(super) library: bool,
    /// Database of the started server; both by default.
    #[arg(long, value_enum)]
    backend: Vec<Backend>,
    /// Files that are uploaded over HTTP, of some twenty passages each.
    #[arg(long, default_value_t = 250)]
    files: usize,
    /// Measures a debug build of the server.
    #[arg(long)]
    debug: bool,
}

/// Measures; `false` when a bar does not hold.
pub(super) async fn run(options: &Served) -> Result<bool> {
    let mut holds = true;
    let binary = server::binary(if options.debug { Build::Debug } else { Build::Release })?;
    let both = vec![Backend::Sqlite, Backend::Postgres];
    let backends = if options.backend.is_empty() { both } else { options.backend.clone() };
    for backend in backends {
        let postgres = server::postgres_for(backend)?;
        let mode = Mode { demo: true, test_clock: false };
        let mut server = Server::start_in(&binary, mode, vectors::with_model()?, postgres.as_ref()).await?;
        let client = sign_in(&server).await?;
        holds &= over_http(&client, &server, backend, options.files).await?;
        server.stop().await?;
    }
    Ok(holds)
}

/// Signs the demo's administrator in.
pub(super) async fn sign_in(server: &Server) -> Result<Client> {
    let facts = server.facts();
    let email = facts.email.as_deref().context("the ready file names no administrator")?;
    let password = facts.password.as_deref().context("the ready file names no password")?;
    Client::sign_in(&facts.address, email, password).await
}

/// Files that one request may have.
pub(super) async fn files_at_once(client: &Client) -> Result<usize> {
    let policy = client.get(&format!("{}/upload-policy", vectors::PATH)).await?.data()?;
    let most = policy["maxFilesPerRequest"].as_u64().context("the policy has no maxFilesPerRequest")?;
    usize::try_from(most.clamp(1, 50)).context("files of a request")
}

/// Uploads, and waits where the queue has no room yet.
pub(super) async fn upload_patiently(client: &Client, database: &str, body: &Value) -> Result<Value> {
    let began = Instant::now();
    loop {
        let answer = client.post(&vectors::files_path(database), body).await?;
        if !matches!(answer.status, 429 | 503) || began.elapsed() > ROOM {
            return answer.data().context("the upload");
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Ingestion and queries of one server.
async fn over_http(client: &Client, server: &Server, backend: Backend, files: usize) -> Result<bool> {
    let model = vectors::model(client).await?;
    if model.is_none() {
        out::note(
            "no embedding model is ready (`cargo xtask setup` fetches it): hybrid queries are left out",
        );
    }
    let mut holds = true;
    let modes: &[Option<&str>] = if model.is_some() { &[None, model.as_deref()] } else { &[None] };
    for model in modes {
        let (name, mode) = model.map_or(("bench-words", "keyword"), |_| ("bench-hybrid", "hybrid"));
        let body = json!({"name": name, "embeddingModelId": model, "backend": vectors::keeper(backend)});
        vectors::create_as(client, &body).await?;
        // A model takes tens of milliseconds for each passage.
        let files = if model.is_some() { files.div_ceil(10) } else { files };
        let before = process::cpu_seconds(server.facts().pid);
        let Ingested { passages, seconds } = ingest(client, name, files).await?;
        let figure = format!("ingestion mode={mode} files={files}");
        print(backend, figure.clone(), passages / seconds, "passages/s");
        if let (Some(before), Some(after)) = (before, process::cpu_seconds(server.facts().pid)) {
            let each = (after - before) * 1_000.0 / passages;
            print(backend, format!("{figure} server_cpu"), each, "ms/passage");
            if model.is_some() && each > EMBEDDED {
                out::line(format_args!(
                    "BEYOND: a passage takes {each:.1} ms of processor time, may be {EMBEDDED}"
                ));
                holds = false;
            }
        }
        holds &= queries(client, server, backend, Asked { name, mode }).await?;
    }
    Ok(holds)
}

fn print(backend: Backend, name: String, value: f64, unit: &'static str) {
    out::line(Figure { backend: backend.name(), build: None, name, callers: None, value, unit });
}

/// Passages that became ready, and the seconds that they took.
struct Ingested {
    passages: f64,
    seconds: f64,
}

/// Uploads files, and waits until the last is ready.
async fn ingest(client: &Client, database: &str, files: usize) -> Result<Ingested> {
    let at_once = files_at_once(client).await?;
    let texts: Vec<Text> = (0..files).map(text).collect();
    let began = Instant::now();
    for part in texts.chunks(at_once) {
        upload_patiently(client, database, &vectors::texts(part)).await?;
    }
    let files = vectors::settled(client, database, PATIENCE).await?;
    if let Some(failed) = files.iter().find(|file| file["state"] != "ready") {
        bail!("a text is not ready: {failed}");
    }
    let passages: u64 = files.iter().filter_map(|file| file["passages"].as_u64()).sum();
    if passages == 0 {
        bail!("no text has a passage");
    }
    Ok(Ingested { passages: passages as f64, seconds: began.elapsed().as_secs_f64() })
}

/// A text of words that repeat as those of a language do: few are frequent.
fn text(number: usize) -> Text {
    let mut random = heddle_harness_kit::random::Random::new(number as u64 + 1);
    let mut word = || {
        let (one, other) = (random.between(1, 5_000), random.between(1, 5_000));
        format!("word{}", one * other / 5_000)
    };
    let paragraphs: Vec<String> =
        (0..PARAGRAPHS).map(|_| (0..120).map(|_| word()).collect::<Vec<_>>().join(" ")).collect();
    Text { name: format!("text-{number}.txt"), text: paragraphs.join("\n\n") }
}

/// A database and the mode in which it is asked.
struct Asked<'a> {
    name: &'a str,
    mode: &'a str,
}

/// Medians and last hundredths over HTTP and of the search within; whether what lies between stays within its bar.
async fn queries(client: &Client, server: &Server, backend: Backend, asked: Asked<'_>) -> Result<bool> {
    let Asked { name, mode } = asked;
    let host = server.facts().address.trim_start_matches("http://").to_owned();
    let mut connection = Connection::open(&host).await?;
    let path = format!("{}/query", vectors::path(name));
    let mut random = heddle_harness_kit::random::Random::new(7);
    let (mut whole, mut within) = (Latencies::default(), Latencies::default());
    for call in 0..WARM + CALLS {
        let words = (0..6).map(|_| format!("word{}", random.between(1, 2_000)));
        let query = words.collect::<Vec<_>>().join(" ");
        let body = json!({"query": query, "mode": mode, "limit": 8}).to_string();
        let request = http1::request("POST", &path, Some(&client.token()), Some(&body));
        let began = Instant::now();
        let (status, answer) = connection.exchange(&request).await?;
        let took = began.elapsed();
        if status != 200 {
            bail!("POST {path}: {status} {}", String::from_utf8_lossy(answer));
        }
        let answer: Value = serde_json::from_slice(answer).context("an answer that is no JSON")?;
        let inside = answer["data"]["took"]["totalMs"].as_f64().context("an answer without took.totalMs")?;
        if call >= WARM {
            whole.add(took);
            within.add(Duration::from_secs_f64(inside.max(0.0) / 1_000.0));
        }
    }
    whole.sort();
    within.sort();
    let added = whole.percentile(0.5) - within.percentile(0.5);
    for (what, value) in [
        ("p50", whole.percentile(0.5)),
        ("p99", whole.percentile(0.99)),
        ("library-p50", within.percentile(0.5)),
        ("library-p99", within.percentile(0.99)),
        ("added-p50", added),
    ] {
        print(backend, format!("query mode={mode} {what}"), value, "ms");
    }
    if added > ADDED {
        out::line(format_args!("BEYOND: {mode} takes {added:.2} ms more over HTTP, may be {ADDED}"));
    }
    Ok(added <= ADDED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_differ_and_are_the_same_each_time() {
        assert_eq!(text(1).text, text(1).text);
        assert_ne!(text(1).text, text(2).text);
        assert_eq!(text(3).text.split("\n\n").count(), PARAGRAPHS);
    }
}
