//! Growth of vector databases: what lists and queries cost with few files and passages stored, and with many. The files go the
//! way that every file goes.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use heddle_harness_kit::client::Client;
use heddle_harness_kit::figures::Latencies;
use heddle_harness_kit::http1;
use heddle_harness_kit::out;
use heddle_harness_kit::postgres::Postgres;
use heddle_harness_kit::random::Random;
use heddle_harness_kit::server::{self, Backend, Mode, Server};
use serde_json::{Value, json};

use super::growth::{Figures, Read, Side, list, measure_reads, medians, middle, opened};
use super::searching::{files_at_once, sign_in, upload_patiently};
use crate::vectors::{self, Text};

/// The database that grows.
const GROWING: &str = "growth";
/// Databases beside it; fewer where a licence allows fewer.
const OTHERS: usize = 40;
/// Passages of a file.
const PASSAGES: u64 = 10;
/// Words of a passage: with fewer two would be one passage.
const WORDS: u64 = 130;
/// Of so many files one has no text, and fails.
const FAILING: u64 = 50;
/// Kinds by which the files' metadata tells them apart.
const KINDS: u64 = 20;
/// Longest wait for all files.
const PATIENCE: Duration = Duration::from_secs(4 * 3_600);
/// Pause between two looks at the counts.
const LOOK: Duration = Duration::from_secs(1);

/// Lists with each filter alone and the usual pairs.
const READS: &[Read] = &[
    list("databases", "/api/vector-databases", 5),
    list("databases?state=ready", "/api/vector-databases?state=ready", 5),
    list("databases?q", "/api/vector-databases?q=growth", 5),
    list("files", "/api/vector-databases/growth/files", 10),
    list("files?state=ready", "/api/vector-databases/growth/files?state=ready", 10),
    list("files?state=failed", "/api/vector-databases/growth/files?state=failed", 1),
    list("files?mediaType", "/api/vector-databases/growth/files?mediaType=text/plain", 10),
    list("files?state+sort", "/api/vector-databases/growth/files?state=failed&sort=name", 1),
    list("files?mediaType+sort", "/api/vector-databases/growth/files?mediaType=text/plain&sort=name", 10),
    list("files?q", "/api/vector-databases/growth/files?q=text", 10),
    list("files?metadata", "/api/vector-databases/growth/files?metadata.kind=kind-7", 5),
    list("files?state+metadata", "/api/vector-databases/growth/files?state=ready&metadata.kind=kind-7", 5),
    list("ingestion-jobs", "/api/vector-databases/ingestion-jobs", 2),
    list("ingestion-jobs?state", "/api/vector-databases/ingestion-jobs?state=completedWithErrors", 1),
    list("ingestion-jobs?vectorDatabase", "/api/vector-databases/ingestion-jobs?vectorDatabase=growth", 2),
    list("ingestion-jobs?kind", "/api/vector-databases/ingestion-jobs?kind=upload", 2),
];

/// Query that is measured.
struct Query {
    name: &'static str,
    filter: Option<&'static str>,
}

const QUERIES: &[Query] = &[
    Query { name: "query", filter: None },
    Query { name: "query?kind", filter: Some(r#"{"field":"metadata.kind","eq":"kind-7"}"#) },
    Query { name: "query?notKind", filter: Some(r#"{"not":{"field":"metadata.kind","eq":"kind-7"}}"#) },
    Query { name: "query?mediaType", filter: Some(r#"{"field":"mediaType","eq":"text/plain"}"#) },
];

/// A server whose database is filled.
struct Filled {
    server: Server,
    /// The server's own cluster of PostgreSQL, which ends with it.
    _postgres: Option<Postgres>,
    client: Client,
}

/// Medians with so many passages stored; both servers are asked in turn.
pub(super) async fn measure(binary: &Path, backend: Backend, [few, many]: [u64; 2]) -> Result<Figures> {
    let mut few = Filled::start(binary, backend, few).await?;
    let mut many = Filled::start(binary, backend, many).await?;
    let mut figures = Figures::new();
    let as_it_is = |path: &str| path.to_owned();
    // Opened when there is something to ask: an idle one is closed.
    let [mut to_few, mut to_many] = [opened(&few.server).await?, opened(&many.server).await?];
    let mut sides = [
        Side { connection: &mut to_few, client: &few.client, put_in: &as_it_is },
        Side { connection: &mut to_many, client: &many.client, put_in: &as_it_is },
    ];
    measure_reads(READS, &mut sides, &mut figures).await?;
    for query in QUERIES {
        figures.insert(query.name.to_owned(), asked(&mut sides, query).await?);
    }
    figures.insert("delete-file".to_owned(), deleted([&few.client, &many.client]).await?);
    few.server.stop().await?;
    many.server.stop().await?;
    Ok(figures)
}

impl Filled {
    /// Starts a server, and stores so many passages.
    async fn start(binary: &Path, backend: Backend, rows: u64) -> Result<Self> {
        let postgres = server::postgres_for(backend)?;
        let server = Server::start(binary, Mode { demo: true, test_clock: false }, postgres.as_ref()).await?;
        let client = sign_in(&server).await?;
        for number in 0..OTHERS {
            let body = json!({"name": format!("other-{number}"), "embeddingModelId": null});
            let answer = client.post(vectors::PATH, &body).await?;
            if !answer.ok() {
                out::note(format_args!("{number} databases: {}", answer.refusal()));
                break;
            }
        }
        let schema = json!({"kind": {"type": "string", "filterable": true}});
        let body = json!({"name": GROWING, "embeddingModelId": null, "metadataSchema": schema});
        vectors::create_as(&client, &body).await?;
        let files = rows / PASSAGES;
        let began = Instant::now();
        fill(&client, files).await?;
        out::note(format_args!("{files} files in {} s", began.elapsed().as_secs()));
        Ok(Self { server, _postgres: postgres, client })
    }
}

/// Uploads so many files, and waits until nothing more becomes of any.
async fn fill(client: &Client, files: u64) -> Result<()> {
    let at_once = files_at_once(client).await? as u64;
    let mut next = 0;
    while next < files {
        let until = (next + at_once).min(files);
        let texts: Vec<Text> = (next..until).map(text).collect();
        let mut body = vectors::texts(&texts);
        let given = body["files"].as_array_mut().into_iter().flatten();
        for (number, file) in (next..until).zip(given) {
            file["metadata"] = json!({"kind": format!("kind-{}", number % KINDS)});
        }
        upload_patiently(client, GROWING, &body).await?;
        next = until;
    }
    let began = Instant::now();
    loop {
        let databases = client.get(&format!("{}?q={GROWING}", vectors::PATH)).await?.data()?;
        let growing = databases.as_array().into_iter().flatten().find(|one| one["name"] == GROWING);
        let counts = growing.map(|one| one["counts"].clone()).context("the database is not listed")?;
        let count = |name: &str| counts[name].as_u64().unwrap_or_default();
        if count("readyFiles") + count("failedFiles") >= files {
            out::note(format_args!("{} passages", count("passages")));
            return Ok(());
        }
        if began.elapsed() > PATIENCE {
            bail!("files are under way still: {counts}");
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn name(number: u64) -> String {
    format!("text-{number}.txt")
}

/// A text of some passages; one of fifty has blanks alone.
fn text(number: u64) -> Text {
    if number % FAILING == FAILING - 1 {
        return Text {
            name: name(number),
            text: " \n".repeat(usize::try_from(number / FAILING).unwrap_or(0) + 1),
        };
    }
    let mut random = Random::new(number + 1);
    let mut passage = || {
        let words = (0..WORDS)
            .map(|_| format!("word{}", random.between(1, 3_000) * random.between(1, 3_000) / 3_000));
        words.collect::<Vec<_>>().join(" ")
    };
    let passages: Vec<String> = (0..PASSAGES).map(|_| passage()).collect();
    Text { name: name(number), text: passages.join("\n\n") }
}

/// The medians of queries with one filter.
async fn asked(sides: &mut [Side<'_>; 2], query: &Query) -> Result<[f64; 2]> {
    let path = format!("{}/query", vectors::path(GROWING));
    let mut random = Random::new(11);
    let filter: Option<Value> = query.filter.map(serde_json::from_str).transpose().context("a filter")?;
    let tokens = sides.each_ref().map(|side| side.client.token());
    let mut words = String::new();
    let question = |_, place: usize| {
        if place == 0 {
            let four: Vec<String> = (0..4).map(|_| format!("word{}", random.between(1, 2_000))).collect();
            words = four.join(" ");
        }
        let mut body = json!({"query": words, "mode": "keyword", "limit": 8});
        if let Some(filter) = &filter {
            body["filter"] = filter.clone();
        }
        http1::request("POST", &path, Some(&tokens[place]), Some(&body.to_string()))
    };
    medians(sides, question).await
}

/// The medians of deletions.
async fn deleted(clients: [&Client; 2]) -> Result<[f64; 2]> {
    let path = vectors::files_path(GROWING);
    let mut ids = Vec::new();
    for client in clients {
        let files = client.get(&format!("{path}?state=ready&limit=60")).await?.data()?;
        let of = files.as_array().into_iter().flatten().filter_map(|file| file["id"].as_str());
        ids.push(of.map(str::to_owned).collect::<Vec<_>>());
    }
    let mut latencies = [Latencies::default(), Latencies::default()];
    for number in 0..ids.iter().map(Vec::len).min().unwrap_or_default() {
        for ((client, ids), latencies) in clients.iter().zip(&ids).zip(&mut latencies) {
            let began = Instant::now();
            let answer = client.delete(&format!("{path}/{}", ids[number])).await?;
            if answer.status != 204 {
                bail!("DELETE: {}", answer.refusal());
            }
            latencies.add(began.elapsed());
        }
    }
    Ok(latencies.map(middle))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_fifty_texts_is_blank_and_no_two_are_the_same() {
        let texts: Vec<String> = (0..500).map(|number| text(number).text).collect();
        assert_eq!(texts.iter().filter(|text| text.trim().is_empty()).count(), 10);
        let distinct: std::collections::BTreeSet<&String> = texts.iter().collect();
        assert_eq!(distinct.len(), texts.len());
    }
}
