//! Files under kills: callers upload, delete and ask; every acknowledged file must end with its passages, each once, or with a
//! reason, and of what was deleted nothing may be found.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use heddle_harness_kit::client::{Answer, Client};
use heddle_harness_kit::out;
use heddle_harness_kit::server::Server;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::load::{Line, Outcome, judge};
use super::{Address, Options, done_again, kills};
use crate::vectors::{self, Text};
use heddle_harness_kit::random::Random;

/// The database.
const DATABASE: &str = "crash";
/// Callers at the same time when nothing else is said.
const CALLERS: usize = 6;
/// Paragraphs of a file, each with a word of its own.
const PARAGRAPHS: usize = 40;
/// Words of a paragraph; every few of them comes the file's own word, so that no passage is without it.
const WORDS: usize = 60;
/// Words from one such to the next.
const APART: usize = 6;
/// Of so many files one is deleted again.
const DELETED: u64 = 3;
/// Longest wait for the files after the last restart.
const PATIENCE: Duration = Duration::from_secs(600);
/// Longest time for which a full queue is waited on.
const FULL: Duration = Duration::from_secs(60);

/// A file whose upload was acknowledged.
#[derive(Debug, Clone)]
struct Uploaded {
    id: String,
    /// The word that all of its paragraphs have and no other file has.
    key: String,
    deletion: Deletion,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deletion {
    None,
    /// Nobody knows whether it happened.
    Unsure,
    Acknowledged,
}

/// Answers that callers have had.
#[derive(Debug, Default)]
struct Ledger {
    files: Vec<Uploaded>,
    queries: usize,
    unexpected: Vec<String>,
}

/// Findings after the last restart.
#[derive(Debug, Default)]
struct Found {
    ready: usize,
    failed: usize,
    passages: usize,
    lost: usize,
    doubled: usize,
    undead: usize,
    complaints: Vec<String>,
}

impl Found {
    fn clean(&self) -> bool {
        self.lost + self.doubled + self.undead == 0
    }
}

/// Runs the test; `false` when a file or a passage is lost, is there twice, or is found after its deletion.
pub(super) async fn run(options: &Options, seed: u64, mut server: Server, client: Client) -> Result<bool> {
    let token = client.token();
    let body =
        json!({"name": DATABASE, "embeddingModelId": null, "backend": vectors::keeper(options.backend)});
    vectors::create_as(&client, &body).await?;
    let (address, receiver): (Address, _) = watch::channel(Some(Arc::new(client)));
    let stop = Arc::new(AtomicBool::new(false));
    let callers = (0..options.callers.unwrap_or(CALLERS)).map(|number| {
        let caller = Caller {
            number,
            pause_ms: options.pause_ms,
            line: Line { server: receiver.clone(), stop: Arc::clone(&stop) },
            random: Random::new(seed ^ (number as u64 + 1).rotate_left(32)),
        };
        tokio::spawn(caller.work())
    });
    let callers: Vec<_> = callers.collect();
    let logged = kills(&mut server, options, &address, seed, &token).await?;
    stop.store(true, Ordering::Relaxed);
    let mut ledger = Ledger::default();
    for caller in callers {
        let other: Ledger = caller.await.context("a caller broke off")?;
        ledger.files.extend(other.files);
        ledger.queries += other.queries;
        ledger.unexpected.extend(other.unexpected);
    }
    server.has_said("background work begins", logged).await?;
    let client = Client::with_token(&server.facts().address, &token)?;
    let aside = done_again(&client).await?;
    let found = checked(&client, &ledger).await?;
    server.stop().await?;
    Ok(report(options, seed, &ledger, &found, aside))
}

fn report(options: &Options, seed: u64, ledger: &Ledger, found: &Found, aside: usize) -> bool {
    found.complaints.iter().chain(&ledger.unexpected).take(20).for_each(out::line);
    let deleted = ledger.files.iter().filter(|file| file.deletion == Deletion::Acknowledged).count();
    out::line(format_args!(
        "backend={} seed={seed} kills={} files={} ready={} failed={} deleted={deleted} passages={} queries={} \
         set_aside={aside} unexpected={}",
        options.backend.name(),
        options.kills,
        ledger.files.len(),
        found.ready,
        found.failed,
        found.passages,
        ledger.queries,
        ledger.unexpected.len(),
    ));
    out::line(format_args!(
        "kills={} acknowledged={} lost={} doubled={} undead={}",
        options.kills,
        ledger.files.len() + deleted,
        found.lost,
        found.doubled,
        found.undead
    ));
    found.ready > 0 && ledger.unexpected.is_empty() && found.clean()
}

/// One caller.
struct Caller {
    number: usize,
    pause_ms: u64,
    line: Line,
    random: Random,
}

impl Caller {
    async fn work(mut self) -> Ledger {
        let mut ledger = Ledger::default();
        let mut count = 0_u64;
        while !self.line.stopped() {
            count += 1;
            let key = key(self.number, count);
            if let Some(id) = self.upload(&key, &mut ledger).await {
                let mut file = Uploaded { id, key, deletion: Deletion::None };
                if count.is_multiple_of(DELETED) {
                    // At any stage of its way.
                    tokio::time::sleep(Duration::from_millis(self.random.between(0, 400))).await;
                    file.deletion = self.delete(&file.id, &mut ledger).await;
                }
                self.asked_after(&file, &mut ledger).await;
                ledger.files.push(file);
            }
            let pause = self.random.between(0, self.pause_ms);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        ledger
    }

    /// Uploads one file. An unanswered upload is repeated under its idempotency key by odd callers; even ones give it up.
    async fn upload(&mut self, key: &str, ledger: &mut Ledger) -> Option<String> {
        let repeats = self.number % 2 == 1;
        let body = vectors::texts(&[text(key)]);
        let path = vectors::files_path(DATABASE);
        let began = std::time::Instant::now();
        loop {
            let client = self.line.client().await?;
            let answer = client.post_keyed(&path, &body, repeats.then_some(key)).await;
            if full(&answer) && began.elapsed() < FULL {
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
            match judge(answer) {
                Outcome::Done(answer) => {
                    let id = answer.body["data"]["files"][0]["id"].as_str().map(str::to_owned);
                    if id.is_none() {
                        ledger.unexpected.push(format!("upload of {key}: an answer without a file's id"));
                    }
                    return id;
                }
                Outcome::Unknown if repeats => tokio::time::sleep(Duration::from_millis(10)).await,
                Outcome::Unknown => return None,
                Outcome::Unexpected(told) => {
                    ledger.unexpected.push(format!("upload of {key}: {}", told.refusal()));
                    return None;
                }
            }
        }
    }

    async fn delete(&mut self, id: &str, ledger: &mut Ledger) -> Deletion {
        let Some(client) = self.line.client().await else { return Deletion::None };
        let path = format!("{}/{id}", vectors::files_path(DATABASE));
        match judge(client.delete(&path).await) {
            Outcome::Done(_) => Deletion::Acknowledged,
            Outcome::Unknown => Deletion::Unsure,
            Outcome::Unexpected(told) => {
                ledger.unexpected.push(format!("deletion of {id}: {}", told.refusal()));
                Deletion::None
            }
        }
    }

    /// Asks for a file: from the very next query on nothing of a deleted one is found.
    async fn asked_after(&mut self, file: &Uploaded, ledger: &mut Ledger) {
        let Some(client) = self.line.client().await else { return };
        let body = json!({"query": file.key, "mode": "keyword", "limit": 5});
        match judge(vectors::ask(&client, DATABASE, &body).await) {
            Outcome::Done(answer) => {
                ledger.queries += 1;
                if file.deletion == Deletion::Acknowledged && has_passages_of(&answer, &file.id) {
                    ledger.unexpected.push(format!("{} is found after its deletion", file.key));
                }
            }
            Outcome::Unknown => {}
            Outcome::Unexpected(told) => {
                ledger.unexpected.push(format!("query for {}: {}", file.key, told.refusal()));
            }
        }
    }
}

/// Whether an upload was put off because too many wait.
fn full(answer: &Result<Answer>) -> bool {
    answer.as_ref().is_ok_and(|answer| answer.status == 429)
}

fn has_passages_of(answer: &Answer, file: &str) -> bool {
    answer.body["data"]["passages"].as_array().into_iter().flatten().any(|one| one["fileId"] == file)
}

/// A word that no other file has.
fn key(caller: usize, count: u64) -> String {
    format!("zq{caller}x{count}")
}

/// Word of one paragraph of a file, which no other paragraph has.
fn mark(key: &str, paragraph: usize) -> String {
    format!("{key}p{paragraph}")
}

fn text(key: &str) -> Text {
    let paragraphs = (0..PARAGRAPHS).map(|number| {
        let filling = (0..WORDS).map(|word| match word % APART {
            0 => key.to_owned(),
            _ => format!("word{}", (word * 7 + number * 13) % 997),
        });
        format!("{key} {} {}", mark(key, number), filling.collect::<Vec<_>>().join(" "))
    });
    Text { name: format!("{key}.txt"), text: paragraphs.collect::<Vec<_>>().join("\n\n") }
}

/// Holds what is there against what was acknowledged.
async fn checked(client: &Client, ledger: &Ledger) -> Result<Found> {
    let files = vectors::settled(client, DATABASE, PATIENCE).await?;
    let mut found = Found::default();
    for uploaded in &ledger.files {
        let listed = files.iter().find(|file| file["id"] == uploaded.id);
        match (listed, uploaded.deletion) {
            (None, Deletion::None) => {
                found.lost += 1;
                found.complaints.push(format!("{} was acknowledged and is not there", uploaded.key));
            }
            (Some(file), Deletion::Acknowledged) => {
                found.undead += 1;
                found.complaints.push(format!("{} was deleted and is there: {file}", uploaded.key));
            }
            (Some(file), Deletion::None | Deletion::Unsure) => {
                whole(client, uploaded, file, &mut found).await?;
            }
            (None, Deletion::Acknowledged | Deletion::Unsure) => gone(client, uploaded, &mut found).await?,
        }
    }
    let jobs = client.all(&format!("{}/ingestion-jobs", vectors::PATH)).await?;
    for job in jobs.iter().filter(|job| job["finishedAt"].is_null()) {
        found.lost += 1;
        found.complaints.push(format!("a job does not end: {job}"));
    }
    Ok(found)
}

/// Of a file that is there: it is ready with each of its paragraphs, no passage twice, or failed with a reason.
async fn whole(client: &Client, uploaded: &Uploaded, file: &Value, found: &mut Found) -> Result<()> {
    if file["state"] != "ready" {
        found.failed += 1;
        if file["error"]["code"].as_str().is_none_or(str::is_empty) {
            found.lost += 1;
            found.complaints.push(format!("{} ended without a reason: {file}", uploaded.key));
        }
        return Ok(());
    }
    found.ready += 1;
    let body = json!({"query": uploaded.key, "mode": "keyword", "limit": 100,
        "filter": {"field": "fileId", "eq": uploaded.id}});
    let passages = vectors::passages(client, DATABASE, &body).await?;
    found.passages += passages.len();
    let places: BTreeSet<String> = passages.iter().map(|one| one["locator"].to_string()).collect();
    let ids: BTreeSet<String> = passages.iter().map(|one| one["id"].to_string()).collect();
    let counted = file["passages"].as_u64().unwrap_or_default();
    if places.len() != passages.len() || ids.len() != passages.len() || counted != passages.len() as u64 {
        found.doubled += 1;
        found.complaints.push(format!(
            "{}: {} passages found, {} places, {} ids, {counted} counted",
            uploaded.key,
            passages.len(),
            places.len(),
            ids.len()
        ));
    }
    let text: String = passages.iter().filter_map(|one| one["text"].as_str()).collect::<Vec<_>>().join(" ");
    let words: BTreeSet<&str> = text.split_whitespace().collect();
    let missing = (0..PARAGRAPHS).map(|number| mark(&uploaded.key, number));
    let missing: Vec<String> = missing.filter(|mark| !words.contains(mark.as_str())).collect();
    if !missing.is_empty() {
        found.lost += 1;
        found.complaints.push(format!("{}: nothing is found of {missing:?}", uploaded.key));
    }
    Ok(())
}

/// Of a file that is gone nothing is found.
async fn gone(client: &Client, uploaded: &Uploaded, found: &mut Found) -> Result<()> {
    let body = json!({"query": uploaded.key, "mode": "keyword", "limit": 10});
    let answer = vectors::ask(client, DATABASE, &body).await?;
    if !answer.ok() {
        found.complaints.push(format!("the query for {}: {}", uploaded.key, answer.refusal()));
        found.lost += 1;
    }
    if has_passages_of(&answer, &uploaded.id) {
        found.undead += 1;
        found.complaints.push(format!("{} is gone, and its passages are found", uploaded.key));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_paragraph_of_every_file_has_a_word_of_its_own() {
        let marks: BTreeSet<String> = [key(1, 12), key(11, 2)]
            .iter()
            .flat_map(|key| (0..PARAGRAPHS).map(move |at| mark(key, at)))
            .collect();
        assert_eq!(marks.len(), 2 * PARAGRAPHS);
        let text = text("zq1x1").text;
        assert!(marks.iter().all(|mark| !text.contains(mark.as_str())));
        assert_eq!(text.split("\n\n").count(), PARAGRAPHS);
    }

    #[test]
    fn only_a_full_queue_is_waited_on() {
        let answer = |status: u16| Ok(Answer { status, body: Value::Null });
        assert!(full(&answer(429)) && !full(&answer(503)) && !full(&Err(anyhow::anyhow!("reset"))));
    }

    #[test]
    fn passages_of_other_files_are_not_the_files() {
        let body = json!({"data": {"passages": [{"fileId": "a"}]}});
        let answer = Answer { status: 200, body };
        assert!(has_passages_of(&answer, "a") && !has_passages_of(&answer, "b"));
    }
}
