//! Quality of retrieval over HTTP, on suites with judged questions.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures::StreamExt as _;
use heddle_harness_kit::client::Client;
use heddle_harness_kit::out;
use heddle_harness_kit::server::{self, Backend, Build, Mode, Server};
use serde_json::{Value, json};

use super::{retrieval, searching};
use crate::vectors;
use crate::vectors::retrieval::{Document, Judged, Suite};
use heddle_harness_kit::figures::Latencies;

/// Longest wait for a suite's files: a model takes a tenth of a second for each of some thousands.
const PATIENCE: Duration = Duration::from_secs(3_600);
/// Questions asked at the same time: quality does not depend on it.
const AT_ONCE: usize = 4;
/// Passages asked for: enough for ten documents of several passages each.
const PASSAGES: usize = 30;

/// Options of `bench retrieval` of what goes over HTTP.
#[derive(clap::Args)]
pub(super) struct Served {
    /// Suites that are asked over HTTP, by the names of their folders.
    #[arg(long, value_delimiter = ',', default_values_t = ["cranfield".to_owned(), "scifact".to_owned()])]
    suite: Vec<String>,
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
    /// Leaves out what is asked over HTTP.
    #[arg(long)]
    pub(super) library: bool,
    /// Embeds the documents over HTTP too, where a model is installed: a quarter of an hour for each suite.
    #[arg(long)]
    semantic: bool,
    /// Measures a debug build of the server.
    #[arg(long)]
    debug: bool,
}

/// Measures; `false` when a figure is below its bar.
pub(super) async fn run(options: &Served, data: &Path) -> Result<bool> {
    let mut holds = true;
    let binary = server::binary(if options.debug { Build::Debug } else { Build::Release })?;
    let postgres = server::postgres_for(options.backend)?;
    let mode = Mode { demo: true, test_clock: false };
    let mut server = Server::start_in(&binary, mode, vectors::with_model()?, postgres.as_ref()).await?;
    let client = searching::sign_in(&server).await?;
    let model = if options.semantic { vectors::model(&client).await? } else { None };
    if options.semantic && model.is_none() {
        out::note(
            "no embedding model is ready (`cargo xtask setup` fetches it): questions are asked by words alone",
        );
    }
    for name in &options.suite {
        let suite = Suite::read(&data.join(name)).with_context(|| format!("the suite {name}"))?;
        let modes: &[&str] = if model.is_some() { &["keyword", "semantic", "hybrid"] } else { &["keyword"] };
        let database = format!("suite-{name}");
        let body = json!({"name": database, "embeddingModelId": model, "methodologyId": "whole-document",
            "backend": vectors::keeper(options.backend)});
        vectors::create_as(&client, &body).await?;
        fill(&client, &database, &suite).await?;
        for mode in modes {
            holds &= asked(&client, &database, name, mode, &suite).await?;
        }
    }
    server.stop().await?;
    Ok(holds)
}

/// Whether a figure is not below its bar.
fn held(suite: &str, mode: &str, found: f64) -> bool {
    match retrieval::least(suite, mode) {
        Some(least) if found < least => {
            out::line(format_args!("BELOW: {suite} {mode} is {found:.4}, must be {least}"));
            false
        }
        Some(_) | None => true,
    }
}

/// Uploads every document as one file of one passage, and waits until they can be found.
async fn fill(client: &Client, database: &str, suite: &Suite) -> Result<()> {
    let at_once = searching::files_at_once(client).await?;
    let began = Instant::now();
    // An empty one is refused, and has nothing to be found by.
    let there: Vec<&Document> =
        suite.documents.iter().filter(|document| !document.text.trim().is_empty()).collect();
    for part in there.chunks(at_once) {
        let files: Vec<Value> = part.iter().map(|document| document.file()).collect();
        searching::upload_patiently(client, database, &json!({ "files": files })).await?;
    }
    let files = vectors::settled(client, database, PATIENCE).await?;
    // The same text twice is refused.
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
        assert!(held("scifact", "keyword", 0.684) && !held("scifact", "keyword", 0.61));
        assert!(held("cranfield", "semantic", 0.1));
    }
}
