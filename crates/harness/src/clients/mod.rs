//! Workers that people have, unchanged, against a started server: they fetch, complete with variables of every type, fail,
//! throw BPMN errors and extend; two of them share the work, one is killed in the middle, and one outlives its lock.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

mod library;
mod worker;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use heddle_harness_kit::client::Client;
use heddle_harness_kit::out;
use heddle_harness_kit::prepare;
use heddle_harness_kit::server::{self, Backend, Build, Mode, Server};

use self::library::Library;
use self::worker::Worker;

/// Options of `clients`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only this client.
    #[arg(long, value_enum)]
    only: Option<Library>,
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
    /// Time for which the workers lock a task, in milliseconds.
    #[arg(long, default_value_t = 2_000)]
    lock_ms: u64,
    /// Runs that two workers share.
    #[arg(long, default_value_t = 40)]
    shared: usize,
}

/// The longest wait for the end of a run.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the clients; `false` when one of them did not get what it gets from its own product.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let binary = server::binary(Build::Debug)?;
    let postgres = server::postgres_for(options.backend)?;
    let mut server =
        Server::start(&binary, Mode { demo: true, test_clock: false }, postgres.as_ref()).await?;
    let facts = server.facts().clone();
    let email = facts.email.context("the ready file names no administrator")?;
    let password = facts.password.context("the ready file names no password")?;
    let client = Client::sign_in(&facts.address, &email, &password).await?;
    let made = client.post("/api/auth/tokens", &json!({"name": "workers"})).await?.data()?;
    let token = made["token"].as_str().context("a token has its secret")?;
    let mut all = true;
    for library in Library::ALL.into_iter().filter(|one| options.only.is_none_or(|only| only == *one)) {
        let workflow = publish(&client, library).await?;
        let stage = Stage { options: &options, client: &client, library, token, workflow };
        for act in Act::ALL.into_iter().filter(|act| library.extends() || *act != Act::Extend) {
            let outcome = stage.play(act).await;
            let said =
                outcome.as_ref().map_or_else(|error| format!("FAILED {error:#}"), |()| "ok".to_owned());
            out::line(format_args!("{} {} {said}", library.name(), act.word()));
            all &= outcome.is_ok();
        }
    }
    server.stop().await?;
    Ok(all)
}

async fn publish(client: &Client, library: Library) -> Result<String> {
    let name = library.name();
    let source = json!({"source": {"format": "bpmn", "fileName": format!("{name}.bpmn"),
        "content": library.model(name, name)}});
    let preview = client.post("/api/workflows/transform/preview", &source).await?.data();
    let definition = preview.context("transform/preview")?["definition"].take();
    let body = json!({"slug": name, "displayName": name, "description": "", "definition": definition});
    let created = client.post("/api/workflows", &body).await?.data().context("create")?;
    let id = created["id"].as_str().context("a created workflow has an id")?.to_owned();
    client.post(&format!("/api/workflows/{id}/publish"), &json!({})).await?.data().context("publish")?;
    Ok(id)
}

/// Act that a client plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    /// Completion with variables of every type.
    Complete,
    /// A failure, and a second try.
    Fail,
    /// A BPMN error that is caught.
    Error,
    /// A longer lock.
    Extend,
    /// Two workers at the same work.
    Shared,
    /// A worker that is killed in the middle.
    Hang,
    /// A worker whose lock runs out before it completes.
    Late,
}

impl Act {
    const ALL: [Self; 7] =
        [Self::Complete, Self::Fail, Self::Error, Self::Extend, Self::Shared, Self::Hang, Self::Late];

    /// Word of the act, which the worker reads in the variable `act`.
    const fn word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Fail => "fail",
            Self::Error => "error",
            Self::Extend => "extend",
            Self::Shared => "shared",
            Self::Hang => "hang",
            Self::Late => "late",
        }
    }
}

/// A client with its workflow.
struct Stage<'a> {
    options: &'a Options,
    client: &'a Client,
    library: Library,
    token: &'a str,
    workflow: String,
}

impl Stage<'_> {
    async fn play(&self, act: Act) -> Result<()> {
        match act {
            Act::Complete | Act::Fail | Act::Extend => self.done_by_one(act).await,
            Act::Error => self.error().await,
            Act::Shared => self.shared().await,
            Act::Hang => self.taken_over(act).await,
            Act::Late => self.taken_over(act).await,
        }
    }

    /// One worker, whose completion ends the run with its variables.
    async fn done_by_one(&self, act: Act) -> Result<()> {
        let mut worker = self.worker("one", false)?;
        let run = self.start(act).await?;
        let run = self.ended(&run).await.with_context(|| worker.tail())?;
        worker.until("did", act.word()).await?;
        self.holds_values(&run["output"], "one")?;
        let took = worker.said().iter().filter(|said| said.word == "took").count();
        let expected = if act == Act::Fail { 2 } else { 1 };
        if took != expected {
            bail!("the task was taken {took} times instead of {expected}");
        }
        worker.kill().await
    }

    async fn error(&self) -> Result<()> {
        let worker = self.worker("one", false)?;
        let run = self.start(Act::Error).await?;
        let run = self.ended(&run).await.with_context(|| worker.tail())?;
        if run["output"]["reason"] != "empty" {
            bail!("the variables of the error are lost: {}", run["output"]);
        }
        let path = format!("/api/workflows/{}/runs/{}/events", self.workflow, text(&run["id"])?);
        let events = self.client.all(&path).await?;
        if !events.iter().any(|event| event["nodeId"] == "refused") {
            bail!("the error was not caught");
        }
        worker.kill().await
    }

    /// Two workers share the work, and each task is one worker's.
    async fn shared(&self) -> Result<()> {
        let workers = [self.worker("one", false)?, self.worker("two", false)?];
        let mut runs = Vec::new();
        for _ in 0..self.options.shared {
            runs.push(self.start(Act::Shared).await?);
        }
        for run in &runs {
            self.ended(run).await.with_context(|| workers.each_ref().map(Worker::tail).join("\n"))?;
        }
        let said = workers.each_ref().map(Worker::said).concat();
        let took: Vec<&str> =
            said.iter().filter(|said| said.word == "took").map(|said| said.id.as_str()).collect();
        let tasks: BTreeSet<&str> = took.iter().copied().collect();
        if tasks.len() != runs.len() || took.len() != runs.len() {
            bail!("{} runs, {} tasks, taken {} times", runs.len(), tasks.len(), took.len());
        }
        for worker in workers {
            worker.kill().await?;
        }
        Ok(())
    }

    /// The first worker takes the task and is killed, or sleeps for longer than its lock; the second one does it.
    async fn taken_over(&self, act: Act) -> Result<()> {
        let mut first = self.worker("one", true)?;
        let run = self.start(act).await?;
        first.until("took", act.word()).await?;
        let first = if act == Act::Hang {
            first.kill().await?;
            None
        } else {
            Some(first)
        };
        let mut second = self.worker("two", false)?;
        let run = self.ended(&run).await.with_context(|| second.tail())?;
        second.until("did", act.word()).await?;
        self.holds_values(&run["output"], "two")?;
        if let Some(mut first) = first {
            first.until("refused", act.word()).await?;
            first.kill().await?;
        }
        second.kill().await
    }

    fn worker(&self, name: &str, late: bool) -> Result<Worker> {
        let mut command = self.library.command()?;
        command.env("HEDDLE_ADDRESS", self.client.address()).env("HEDDLE_TOKEN", self.token);
        command.env("HEDDLE_TYPE", self.library.name()).env("HEDDLE_WORKER", name);
        command.env("HEDDLE_LOCK_MS", self.options.lock_ms.to_string()).env_remove("HEDDLE_LATE");
        if late {
            command.env("HEDDLE_LATE", "yes");
        }
        Worker::start(command)
    }

    async fn start(&self, act: Act) -> Result<String> {
        let run = prepare::start(self.client, &self.workflow, &json!({"input": {"act": act.word()}})).await?;
        text(&run["id"])
    }

    /// The run when it has completed.
    async fn ended(&self, run: &str) -> Result<Value> {
        let (begin, path) = (Instant::now(), format!("/api/workflows/{}/runs/{run}", self.workflow));
        loop {
            let now = self.client.get(&path).await?.data()?;
            let state = now["state"].as_str().unwrap_or_default().to_owned();
            match state.as_str() {
                "completed" => return Ok(now),
                "failed" | "cancelled" => bail!("the run ended as {state}"),
                _ if now["hasIncident"] == true => bail!("the run has an incident: {}", now["incidents"]),
                _ if begin.elapsed() > PATIENCE => bail!("the run does not end: {}", now["activeNodes"]),
                _ => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }

    fn holds_values(&self, output: &Value, by: &str) -> Result<()> {
        let mut expected = self.library.values();
        expected["by"] = by.into();
        for (name, value) in expected.as_object().into_iter().flatten() {
            if output.get(name) != Some(value) {
                bail!("the variable `{name}` is {} instead of {value}", output[name.as_str()]);
            }
        }
        Ok(())
    }
}

fn text(value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).with_context(|| format!("{value} is no text"))
}
