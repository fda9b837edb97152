//! Quality of retrieval on suites with judged questions, through the library and over HTTP.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures::StreamExt as _;
use heddle_harness::client::Client;
use heddle_harness::server::{self, Backend, Build, Mode, Server};
use heddle_harness::{out, workspace};
use serde_json::json;

use super::figures::Latencies;
use crate::vectors::retrieval::{Judged, Suite};
use crate::vectors::{self, Text};

/// Longest wait for a suite's files: a model takes a tenth of a second for each of some thousands.
const PATIENCE: Duration = Duration::from_secs(3_600);
/// Questions asked at the same time: quality does not depend on it.
const AT_ONCE: usize = 4;
/// Passages asked for: enough for ten documents of several passages each.
const PASSAGES: usize = 30;

/// Least nDCG@10 of a suite in a mode.
struct Bar {
    suite: &'static str,
    mode: &'static str,
    least: f64,
}

/// The bars; where there is none a figure is told and nothing held against it.
const BARS: &[Bar] = &[
    Bar { suite: "scifact", mode: "keyword", least: 0.675 },
    Bar { suite: "scifact", mode: "semantic", least: 0.64 },
    Bar { suite: "scifact", mode: "hybrid", least: 0.72 },
    Bar { suite: "cranfield", mode: "hybrid", least: 0.415 },
];

/// Options of `bench retrieval`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The folder of the suites; `retrieval` below the shared suites by default.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Suites, by the names of their folders.
    #[arg(long, value_delimiter = ',', default_values_t = ["cranfield".to_owned(), "scifact".to_owned()])]
    suite: Vec<String>,
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
    /// Leaves out what is asked over HTTP.
    #[arg(long)]
    library: bool,
    /// Embeds the documents over HTTP too, where a model is installed: a quarter of an hour for each suite.
    #[arg(long)]
    semantic: bool,
    /// Measures a debug build of the server.
    #[arg(long)]
    debug: bool,
}

/// Measures; `false` when a figure is below its bar.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let data = options.data.clone().unwrap_or_else(|| workspace::suites().join("retrieval"));
    if !data.is_dir() {
        bail!("{} is no folder: --data names that of the suites", data.display());
    }
    let mut holds = library(&data)?;
    if options.library {
        return Ok(holds);
    }
    let binary = server::binary(if options.debug { Build::Debug } else { Build::Release })?;
    let postgres = server::postgres_for(options.backend)?;
    let mode = Mode { demo: true, test_clock: false };
    let mut server = Server::start(&binary, mode, postgres.as_ref()).await?;
    let client = super::vectors::sign_in(&server).await?;
    let model = if options.semantic { vectors::model(&client).await? } else { None };
    if options.semantic && model.is_none() {
        out::note("no embedding model is ready: questions are asked by words alone");
    }
    for name in &options.suite {
        let suite = Suite::read(&data.join(name)).with_context(|| format!("the suite {name}"))?;
        let modes: &[&str] =
            if model.is_some() { &["keyword", "semantic", "hybrid"] } else { &["keyword"] };
        let database = format!("suite-{name}");
        fill(&client, &database, &suite, model.as_deref()).await?;
        for mode in modes {
            holds &= asked(&client, &database, name, mode, &suite).await?;
        }
    }
    server.stop().await?;
    Ok(holds)
}

/// The library's own figures; its example says whether they hold.
fn library(data: &Path) -> Result<bool> {
    let printed =
        super::example("heddle-passages", "bench-retrieval", &[], &[OsStr::new("--data"), data.as_os_str()])?;
    let mut holds = true;
    for line in printed.lines() {
        out::line(format_args!("subject=retrieval way=library {line}"));
        holds &= above_bar(line);
    }
    Ok(holds)
}

/// Whether a line `suite=... mode=... ndcg10=...` is not below its bar; a line of another kind is.
fn above_bar(line: &str) -> bool {
    let member = |name: &str| line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let (Some(suite), Some(mode)) = (member("suite"), member("mode")) else { return true };
    let Some(found) = member("ndcg10").and_then(|value| value.parse::<f64>().ok()) else { return true };
    held(suite, mode, found)
}

fn held(suite: &str, mode: &str, found: f64) -> bool {
    let bar = BARS.iter().find(|bar| bar.suite == suite && bar.mode == mode);
    match bar {
        Some(bar) if found < bar.least => {
            out::line(format_args!("BELOW: {suite} {mode} is {found:.4}, must be {}", bar.least));
            false
        }
        Some(_) | None => true,
    }
}

/// Uploads every document as one file of one passage, and waits until they can be found.
async fn fill(client: &Client, database: &str, suite: &Suite, model: Option<&str>) -> Result<()> {
    let body = json!({"name": database, "embeddingModelId": model, "methodologyId": "whole-document"});
    vectors::create_as(client, &body).await?;
    let at_once = super::vectors::files_at_once(client).await?;
    let began = Instant::now();
    for part in suite.documents.chunks(at_once) {
        let texts: Vec<Text> = part
            .iter()
            .map(|document| Text { name: format!("{}.txt", document.id), text: document.whole() })
            .collect();
        super::vectors::upload_patiently(client, database, &vectors::texts(&texts)).await?;
    }
    let files = vectors::settled(client, database, PATIENCE).await?;
    // The same text twice is refused, and an empty one has nothing to be found by.
    let ready = files.iter().filter(|file| file["state"] == "ready").count();
    out::line(format_args!(
        "subject=retrieval way=http database={database} documents={} ready={ready} seconds={:.1}",
        suite.documents.len(),
        began.elapsed().as_secs_f64()
    ));
    if ready * 100 < suite.documents.len() * 99 {
        let failed = files.iter().find(|file| file["state"] != "ready");
        bail!("{ready} of {} documents are ready, and this is not: {failed:?}", suite.documents.len());
    }
    Ok(())
}

/// Asks every judged question; whether the mean is not below its bar.
async fn asked(client: &Client, database: &str, name: &str, mode: &str, suite: &Suite) -> Result<bool> {
    let questions: Vec<Judged<'_>> = suite.judged().collect();
    let asking = futures::stream::iter(&questions).map(|question| async move {
        let body = json!({"query": question.text, "mode": mode, "limit": PASSAGES, "includeText": false});
        let began = Instant::now();
        let passages = vectors::passages(client, database, &body).await?;
        let took = began.elapsed();
        let ids: Vec<String> = passages
            .iter()
            .filter_map(|one| one["fileName"].as_str()?.strip_suffix(".txt").map(str::to_owned))
            .collect();
        anyhow::Ok(Graded { ndcg: question.ndcg(&ids), took })
    });
    let graded: Vec<Result<Graded>> = asking.buffer_unordered(AT_ONCE).collect().await;
    let (mut sum, mut latencies) = (0.0, Latencies::default());
    for one in graded {
        let one = one?;
        sum += one.ndcg;
        latencies.add(one.took);
    }
    latencies.sort();
    let mean = sum / questions.len().max(1) as f64;
    out::line(format_args!(
        "subject=retrieval way=http suite={name} mode={mode} queries={} ndcg10={mean:.4} p50_ms={:.2} p99_ms={:.2}",
        questions.len(),
        latencies.percentile(0.5),
        latencies.percentile(0.99)
    ));
    Ok(held(name, mode, mean))
}

/// Quality and duration of one answer.
struct Graded {
    ndcg: f64,
    took: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_below_its_bar_does_not_hold_and_one_without_a_bar_does() {
        assert!(above_bar("suite=scifact mode=keyword queries=300 ndcg10=0.684 ms=0.3"));
        assert!(!above_bar("suite=scifact mode=keyword queries=300 ndcg10=0.61 ms=0.3"));
        assert!(above_bar("suite=cranfield mode=keyword ndcg10=0.1"));
        assert!(above_bar("documents=5183 seconds=2"));
    }
}
