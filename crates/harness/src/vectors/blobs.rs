//! Bytes of files in an S3 service, moto: what is there while files are, and nothing once they are gone.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use heddle_harness_kit::client::{Client, Method};
use heddle_harness_kit::out;
use heddle_harness_kit::server::{self, Backend, Build, Mode, Server, Surroundings};
use serde_json::{Value, json};

use super::Text;
use heddle_harness_kit::pip::Environment;

const REQUIREMENT: &str = "moto[server,s3,iam]>=5,<6";
const SCRIPT: &str = include_str!("bucket.py");
/// The database.
const DATABASE: &str = "in-a-bucket";
/// Longest wait for files, and for bytes that go.
const PATIENCE: Duration = Duration::from_secs(120);
/// Repetitions of a line that are more than one part of an upload to such a service.
const LINES: usize = 250_000;

/// Options of `blobs`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
}

/// The service: a process that serves until this value goes, and tells what it holds.
struct Bucket {
    child: Child,
    ask: ChildStdin,
    told: BufReader<ChildStdout>,
    facts: Value,
}

impl Bucket {
    fn start() -> Result<Self> {
        let mut command = Environment::install("blobs", REQUIREMENT)?.python("bucket.py", SCRIPT)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("the bucket cannot be started")?;
        let ask = child.stdin.take().context("the bucket has no input")?;
        let mut told = BufReader::new(child.stdout.take().context("the bucket has no output")?);
        let facts = line(&mut told).context("the bucket does not start")?;
        Ok(Self { child, ask, told, facts })
    }

    /// Every object, with its bytes' number.
    fn objects(&mut self) -> Result<Vec<Value>> {
        let listed = self.say("list")?;
        listed.as_array().cloned().context("a list of objects")
    }

    fn say(&mut self, words: &str) -> Result<Value> {
        writeln!(self.ask, "{words}").context("the bucket is gone")?;
        self.ask.flush().context("the bucket is gone")?;
        line(&mut self.told)
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        // One that is gone needs no end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn line(told: &mut BufReader<ChildStdout>) -> Result<Value> {
    let mut line = String::new();
    told.read_line(&mut line).context("the bucket says nothing")?;
    serde_json::from_str(&line).context("what the bucket says is no JSON")
}

/// The server's surroundings: its files in the bucket.
fn surroundings(facts: &Value) -> Surroundings {
    let text = |name: &str| facts[name].as_str().unwrap_or_default().to_owned();
    let variables = vec![
        ("HEDDLE_EGRESS_ALLOW", text("url").trim_start_matches("http://").to_owned()),
        ("HEDDLE_VECTORS_S3_ENDPOINT", text("url")),
        ("HEDDLE_VECTORS_S3_REGION", "us-east-1".to_owned()),
        ("HEDDLE_VECTORS_FILES", "s3://archive/files".to_owned()),
        ("HEDDLE_VECTORS_S3_ACCESS_KEY_ID", text("id")),
        ("HEDDLE_VECTORS_S3_SECRET_ACCESS_KEY", text("secret")),
    ];
    Surroundings { variables, ..Surroundings::default() }
}

/// Runs it; `false` when something is in the bucket that must not be, or is not that must.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let binary = server::binary(Build::Debug)?;
    let mut bucket = Bucket::start()?;
    let postgres = server::postgres_for(options.backend)?;
    let mode = Mode { demo: true, test_clock: false };
    let around = surroundings(&bucket.facts);
    let mut server = Server::start_in(&binary, mode, around, postgres.as_ref()).await?;
    let facts = server.facts().clone();
    let email = facts.email.context("the ready file names no administrator")?;
    let password = facts.password.context("the ready file names no password")?;
    let client = Client::sign_in(&facts.address, &email, &password).await?;
    let before = bucket.objects()?.len();
    super::create(&client, DATABASE).await?;
    let mut trial = Trial { client, bucket, before, wrong: Vec::new() };
    let outcome = trial.all().await;
    let log = server.log_text();
    let secret = trial.bucket.facts["secret"].as_str().unwrap_or_default().to_owned();
    trial.must(!log.contains(&secret), "the server's log shows the secret");
    server.stop().await?;
    outcome?;
    trial.wrong.iter().for_each(|what| out::line(format_args!("WRONG {what}")));
    out::line(format_args!("backend={} wrong={}", options.backend.name(), trial.wrong.len()));
    Ok(trial.wrong.is_empty())
}

/// Trial with its complaints.
struct Trial {
    client: Client,
    bucket: Bucket,
    /// Objects that were there before: those of the demo.
    before: usize,
    wrong: Vec<String>,
}

impl Trial {
    fn must(&mut self, holds: bool, otherwise: &str) {
        if !holds {
            self.wrong.push(otherwise.to_owned());
        }
    }

    async fn all(&mut self) -> Result<()> {
        let small = Text { name: "small-heddle.txt".to_owned(), text: "The small heddle.".to_owned() };
        let large = Text {
            name: "large-loom.txt".to_owned(),
            text: "the warp and the weft of the loom\n".repeat(LINES),
        };
        let sizes = [small.text.len(), large.text.len()];
        let mut ids = Vec::new();
        for text in [small, large] {
            let uploaded = super::upload(&self.client, DATABASE, &super::texts(&[text])).await?;
            ids.extend(super::ids(&uploaded));
        }
        let objects = self.bucket.objects()?;
        self.must(objects.len() == self.before + 2, "an acknowledged file has its bytes in the bucket");
        for size in sizes {
            let there = objects.iter().any(|object| object["bytes"] == json!(size));
            self.must(there, &format!("no object has {size} bytes: {objects:?}"));
        }
        let named = objects.iter().any(|object| {
            object["key"].as_str().is_none_or(|key| key.contains("heddle.txt") || !key.starts_with("files/"))
        });
        self.must(!named, "an object is called by its file's name, or stands outside of its folder");
        let files = super::settled(&self.client, DATABASE, PATIENCE).await?;
        self.must(files.iter().any(|file| file["state"] == "ready"), "no file is ready");
        let [small, large] = ids.as_slice() else { bail!("two files") };
        self.deletion(large).await?;
        self.lost(small).await
    }

    /// The bytes of a deleted file go.
    async fn deletion(&mut self, file: &str) -> Result<()> {
        let path = format!("{}/{file}", super::files_path(DATABASE));
        let deleted = self.client.delete(&path).await?;
        self.must(deleted.status == 204, "the deletion");
        let began = Instant::now();
        while self.bucket.objects()?.len() > self.before + 1 {
            if began.elapsed() > PATIENCE {
                self.must(false, "the bytes of a deleted file stay");
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        Ok(())
    }

    /// A file whose bytes are lost stays findable, and says so when it shall be made anew.
    async fn lost(&mut self, file: &str) -> Result<()> {
        self.bucket.say("lose")?;
        let query = json!({"query": "heddle", "mode": "keyword"});
        let found = super::passages(&self.client, DATABASE, &query).await?;
        self.must(!found.is_empty(), "what was ready is not found without its bytes");
        let path = format!("{}/{file}", super::files_path(DATABASE));
        let anew = self.client.call(Method::PATCH, &path, Some(&json!({"reprocess": true}))).await?;
        anew.data().context("the file anew")?;
        let files = super::settled(&self.client, DATABASE, PATIENCE).await?;
        let error = files.iter().find(|one| one["id"] == file).map(|one| one["error"].clone());
        let error = error.unwrap_or_default();
        self.must(error["code"] == "bytesMissing", &format!("lost bytes are told as {error}"));
        Ok(())
    }
}
