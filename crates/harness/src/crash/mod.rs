//! Kills the server at random moments under load, then checks that nothing acknowledged was lost or doubled.

mod check;
mod events;
mod files;
mod load;
mod models;
mod whole;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tokio::sync::watch;

use heddle_harness_kit::client::Client;
use heddle_harness_kit::out;
use heddle_harness_kit::prepare;
use heddle_harness_kit::random::{self, Random};
use heddle_harness_kit::server::{self, Backend, Build, Mode, Server};

/// Options of `crash`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Number of times the server is killed.
    #[arg(long, default_value_t = 50)]
    kills: u32,
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
    /// Callers at the same time; 16, with --cases 64 and with --vectors 6 when absent.
    #[arg(long)]
    callers: Option<usize>,
    /// Sends case events, a fifth of the keys again, in place of runs: each key must count once.
    #[arg(long)]
    cases: bool,
    /// Uploads, deletes and asks for files of a vector database in place of runs: each must end whole, or with a reason.
    #[arg(long, conflicts_with = "cases")]
    vectors: bool,
    /// Calls models in place of runs: each acknowledged call must count once, and budgets that were set aside come back.
    #[arg(long, conflicts_with_all = ["cases", "vectors"])]
    models: bool,
    /// Callers at the same time that start runs with jobs, instances, calls and compensation.
    #[arg(long, default_value_t = 4)]
    starters: usize,
    /// Workers at the same time.
    #[arg(long, default_value_t = 6)]
    workers: usize,
    /// Milliseconds that a caller waits between two runs at most.
    #[arg(long, default_value_t = 20)]
    pause_ms: u64,
    /// Shortest and longest life of the server between kills in milliseconds.
    #[arg(long, default_value_t = 150)]
    shortest_ms: u64,
    /// See --shortest-ms.
    #[arg(long, default_value_t = 1_500)]
    longest_ms: u64,
    /// Repeats the kill moments of an earlier run.
    #[arg(long)]
    seed: Option<u64>,
}

/// Runs the test; `false` when something was lost or doubled.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let seed = options.seed.unwrap_or_else(random::seed);
    let binary = server::binary(Build::Debug)?;
    let postgres = server::postgres_for(options.backend)?;
    let mode = Mode { demo: true, test_clock: false };
    let mut server = Server::start(&binary, mode, postgres.as_ref()).await?;
    let facts = server.facts().clone();
    let email = facts.email.context("the ready file names no administrator")?;
    let password = facts.password.context("the ready file names no password")?;
    let client = Client::sign_in(&facts.address, &email, &password).await?;
    let token = client.token();
    if options.cases {
        return events::run(&options, seed, server, client).await;
    }
    if options.vectors {
        return files::run(&options, seed, server, client).await;
    }
    if options.models {
        return models::run(&options, seed, server, client).await;
    }
    let workflow = prepare::publish(&client, "crash", prepare::TASK_AND_TIMER).await?;
    let whole = whole::Workflows::publish(&client).await?;

    let (address, callers) = start_callers(&options, &workflow, client, seed);
    let hands = whole::Hands::start(&whole, &options, &address, seed);
    let logged = kills(&mut server, &options, &address, seed, &token).await?;
    let ledger = callers.finish().await?;
    let client = Client::with_token(&server.facts().address, &token)?;
    // What the last start found three times under way is set aside before it begins anything.
    server.has_said("background work begins", logged).await?;
    let aside = done_again(&client).await?;
    let hands = hands.finish(&client, &whole).await?;
    let mut found = check::all(&client, &workflow, &ledger).await?;
    whole.check(&client, &hands, &mut found).await?;
    server.stop().await?;
    out::line(format_args!(
        "whole runs={} jobs={} refused={} set_aside={aside}",
        hands.ledger.runs.len(),
        hands.jobs.len(),
        hands.refused
    ));
    let ledger = ledger.with(&hands);
    Ok(report(&options, seed, &ledger, &found))
}

/// Kills the server as often as asked, and tells how long its log was before its last start.
async fn kills(
    server: &mut Server,
    options: &Options,
    address: &Address,
    seed: u64,
    token: &str,
) -> Result<usize> {
    let mut random = Random::new(seed);
    let mut logged = 0;
    for kill in 1..=options.kills {
        let life = random.between(options.shortest_ms, options.longest_ms.max(options.shortest_ms));
        tokio::time::sleep(Duration::from_millis(life)).await;
        address.send_replace(None);
        server.kill().await?;
        logged = server.log_text().len();
        server.launch().await.with_context(|| format!("the restart after kill {kill} (seed {seed})"))?;
        address.send_replace(Some(Arc::new(Client::with_token(&server.facts().address, token)?)));
    }
    tokio::time::sleep(Duration::from_millis(options.shortest_ms)).await;
    Ok(logged)
}

/// Has the work done that was set aside, and tells how much that was: kills that meet the same piece three times one after
/// the other look as if it ended the process, and an operator says that it did not.
async fn done_again(client: &Client) -> Result<usize> {
    let letters = client.all("/api/dead-letters").await?;
    for letter in &letters {
        let id = letter.get("id").and_then(Value::as_str).context("a dead letter has no id")?;
        if letter.get("reason").and_then(Value::as_str) != Some("crashed") {
            bail!("a dead letter that no kill explains: {letter}");
        }
        let told = client.post(&format!("/api/dead-letters/{id}/retry"), &json!({})).await?;
        if !told.ok() {
            bail!("a dead letter is not taken again: {}", told.refusal());
        }
    }
    Ok(letters.len())
}

/// The callers under way.
struct Callers {
    stop: Arc<AtomicBool>,
    tasks: Vec<tokio::task::JoinHandle<load::Ledger>>,
}

type Address = watch::Sender<Option<Arc<Client>>>;

fn start_callers(options: &Options, workflow: &str, client: Client, seed: u64) -> (Address, Callers) {
    let (sender, receiver) = watch::channel(Some(Arc::new(client)));
    let stop = Arc::new(AtomicBool::new(false));
    let tasks = (0..options.callers.unwrap_or(16))
        .map(|number| {
            let caller = load::Caller {
                number,
                workflow: workflow.to_owned(),
                pause_ms: options.pause_ms,
                line: load::Line { server: receiver.clone(), stop: Arc::clone(&stop) },
                random: Random::new(seed ^ (number as u64 + 1).rotate_left(32)),
            };
            tokio::spawn(caller.work())
        })
        .collect();
    (sender, Callers { stop, tasks })
}

impl Callers {
    async fn finish(self) -> Result<load::Ledger> {
        self.stop.store(true, Ordering::Relaxed);
        let mut ledger = load::Ledger::default();
        for task in self.tasks {
            ledger.add(task.await.context("a caller broke off")?);
        }
        Ok(ledger)
    }
}

fn report(options: &Options, seed: u64, ledger: &load::Ledger, found: &check::Findings) -> bool {
    for complaint in found.complaints.iter().chain(&ledger.unexpected).take(20) {
        out::line(complaint);
    }
    out::line(format_args!(
        "backend={} seed={seed} runs={} completions={} events={} gaps={} audit_missing={} unexpected={}",
        options.backend.name(),
        found.runs,
        ledger.runs.iter().filter(|run| run.completed).count(),
        found.events,
        found.gaps,
        found.audit_missing,
        ledger.unexpected.len()
    ));
    out::line(format_args!(
        "kills={} acknowledged={} lost={} doubled={} timers_lost={}",
        options.kills,
        ledger.acknowledged(),
        found.lost,
        found.doubled,
        found.timers_lost
    ));
    ledger.acknowledged() > 0 && ledger.unexpected.is_empty() && found.clean()
}
