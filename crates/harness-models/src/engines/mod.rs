//! Real engines and faulty ones through the gateway: llama.cpp's server with SmolLM2, llmock with its faults and its
//! verdict, and the official clients. Each check is a line, `ok` or `FAILED`.

mod faulty;
mod real;
mod services;

use std::sync::{Arc, RwLock};

use anyhow::{Context as _, Result, anyhow, ensure};
use heddle_harness_kit::client::Client;
use heddle_harness_kit::http::{Answer, Base, Caller};
use heddle_harness_kit::out;
use heddle_harness_kit::server::{self, Backend, Build, Mode, Server};
use serde_json::{Value, json};

use self::services::{Gateway, Service};
use crate::place::{ANSWERER, Place, data};

/// Key of every connection, which must be seen nowhere.
const KEY: &str = "canary-of-a-providers-key";
/// Words of every question, which no log and no audit event may have.
const PROMPT: &str = "canary-of-a-prompt";

/// Options of `models`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Only checks whose name begins so: `engine`, `llmock`, `clients`, `extractive`, `shown`.
    #[arg(long, default_value = "")]
    only: String,
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
}

/// Lines of checks.
struct Lines {
    only: String,
    all: bool,
}

impl Lines {
    fn wants(&self, name: &str) -> bool {
        name.starts_with(&self.only) || self.only.starts_with(name)
    }

    fn tell(&mut self, name: &str, outcome: Result<String>) {
        if !name.starts_with(&self.only) {
            return;
        }
        self.all &= outcome.is_ok();
        let said = outcome.map_or_else(|error| format!("FAILED {error:#}"), |said| format!("ok: {said}"));
        out::line(format_args!("{name} {said}"));
    }
}

/// Runs the checks; `false` when one of them failed.
///
/// # Errors
/// When a service or the server does not start.
pub async fn run(options: Options) -> Result<bool> {
    let binary = server::binary(Build::Debug)?;
    let postgres = server::postgres_for(options.backend)?;
    let mut server =
        Server::start(&binary, Mode { demo: true, test_clock: false }, postgres.as_ref()).await?;
    let facts = server.facts().clone();
    let email = facts.email.context("the ready file names no administrator")?;
    let password = facts.password.context("the ready file names no password")?;
    let token = Client::sign_in(&facts.address, &email, &password).await?.token();
    let base: Base = Arc::new(RwLock::new(facts.address.clone()));
    let caller = Caller::anonymous(base)?.with("authorization", &format!("Bearer {token}"))?;
    let place = Place::of(caller);
    let mut lines = Lines { only: options.only, all: true };
    if lines.wants("extractive") {
        lines.tell("extractive answer", extractive(&place).await);
    }
    if lines.wants("engine") {
        let engine = Service::engine(KEY)?;
        real::checks(&place, &engine, &mut lines).await?;
    }
    if lines.wants("llmock") || lines.wants("clients") {
        let faults = Service::faults()?;
        let scene = faulty::Scene::prepare(place.clone(), &faults).await?;
        if lines.wants("llmock") {
            scene.checks(&mut lines).await;
        }
        if lines.wants("clients") {
            clients(&facts.address, &place, &scene, &mut lines).await?;
        }
    }
    lines.tell("shown nowhere", shown(&place, &server).await);
    server.stop().await?;
    Ok(lines.all)
}

async fn clients(address: &str, place: &Place, scene: &faulty::Scene, lines: &mut Lines) -> Result<()> {
    let made = data(place.post("/api/auth/tokens", &json!({"name": "clients"})).await?)?;
    let token = made.get("token").and_then(Value::as_str).context("no token")?;
    let (chat, embed) = scene.of_clients();
    let gateway = Gateway { url: address, token, chat, embed };
    for done in services::clients(&gateway)? {
        lines.tell(&format!("clients {}", done.name), done.outcome.map_err(|why| anyhow!(why)));
    }
    Ok(())
}

/// The built-in answerer cites, says that it does, and says when nothing answers.
async fn extractive(place: &Place) -> Result<String> {
    let ask = |question: &str| {
        json!({"model": ANSWERER, "messages": [
            {"role": "system", "content": "Answer from it.\n\n[contract.pdf] The notice period is three months. Rent is due on the third."},
            {"role": "user", "content": question}]})
    };
    let told = data(place.chat(&ask("How long is the notice period?")).await?)?;
    let text = content(&told)?;
    ensure!(text == "The notice period is three months. [1]", "{text}");
    let label = told.pointer("/heddle/extractive").and_then(Value::as_bool);
    ensure!(label == Some(true), "it is not labelled: {told}");
    let again = data(place.chat(&ask("How long is the notice period?")).await?)?;
    ensure!(content(&again)? == text, "another answer to the same question");
    let nothing = data(place.chat(&ask("Who won the cup?")).await?)?;
    ensure!(content(&nothing)?.starts_with("None of the passages"), "{nothing}");
    Ok(text)
}

/// No list, audit event, metric or log line shows a key or a prompt.
async fn shown(place: &Place, server: &Server) -> Result<String> {
    let mut seen = vec![("the server's log".to_owned(), server.log_text())];
    for path in [
        "/api/model-providers/connections?limit=200",
        "/api/model-providers/deployments?limit=200",
        "/api/audit-events?limit=200",
        "/api/usage?by=deployment",
        "/metrics",
    ] {
        seen.push((path.to_owned(), place.get(path).await?.text()));
    }
    for (place, text) in &seen {
        ensure!(!text.contains(KEY), "{place} shows a key");
        ensure!(!text.contains(PROMPT), "{place} shows a prompt");
    }
    Ok(format!("{} places", seen.len()))
}

/// Text of an answer's first choice.
fn content(told: &Value) -> Result<String> {
    let text = told.pointer("/choices/0/message/content").and_then(Value::as_str);
    Ok(text.with_context(|| format!("no text: {told}"))?.to_owned())
}

/// Events of a stream as it came.
struct Stream {
    text: String,
    finish: Option<String>,
    usage: Option<Value>,
    error: Option<Value>,
    done: bool,
}

/// Reads a stream of OpenAI's form that was read to its end.
fn stream(answer: &Answer) -> Result<Stream> {
    let body = answer.text();
    ensure!(answer.status == 200, "{} {body}", answer.status);
    ensure!(
        answer.header("content-type").starts_with("text/event-stream"),
        "{}",
        answer.header("content-type")
    );
    let mut stream = Stream { text: String::new(), finish: None, usage: None, error: None, done: false };
    for line in body.lines().filter_map(|line| line.strip_prefix("data: ")) {
        if line == "[DONE]" {
            stream.done = true;
            continue;
        }
        let event: Value = serde_json::from_str(line).with_context(|| format!("no JSON: {line}"))?;
        let text = |path: &str| event.pointer(path).and_then(Value::as_str).map(str::to_owned);
        stream.text.push_str(&text("/choices/0/delta/content").unwrap_or_default());
        stream.finish = text("/choices/0/finish_reason").or(stream.finish);
        stream.usage = event.get("usage").filter(|usage| !usage.is_null()).cloned().or(stream.usage);
        stream.error = event.get("error").cloned().or(stream.error);
    }
    Ok(stream)
}

impl Stream {
    /// A whole one: words, a reason to end, and its mark.
    fn whole(&self) -> Result<()> {
        ensure!(self.error.is_none(), "an error: {:?}", self.error);
        ensure!(
            self.done && self.finish.is_some(),
            "it has no end: done={} finish={:?}",
            self.done,
            self.finish
        );
        ensure!(!self.text.is_empty(), "it has no words");
        Ok(())
    }

    /// One that broke: an error, and no mark of an end.
    fn broken(&self) -> Result<()> {
        ensure!(self.error.is_some(), "no error is told behind `{}`", self.text);
        ensure!(!self.done, "it ends as if it were whole");
        Ok(())
    }
}
