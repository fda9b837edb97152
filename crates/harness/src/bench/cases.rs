//! Case events: how many are correlated a second to one of many open cases, and what one costs in memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use heddle_harness_kit::client::Client;
use heddle_harness_kit::out;
use heddle_harness_kit::prepare;
use heddle_harness_kit::random::Random;
use heddle_harness_kit::server::{self, Backend, Build, Mode, Server};
use serde_json::json;

use heddle_harness_kit::figures::{Figure, Latencies};
use heddle_harness_kit::http1::{self, Connection};

/// Connections are opened and caches filled before anything counts.
const WARM_UP: Duration = Duration::from_millis(500);

/// Options of `bench cases`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
    /// Open cases to one of which each event is correlated.
    #[arg(long, default_value_t = 100_000)]
    open: u64,
    /// Callers at the same time.
    #[arg(long, default_value_t = 64)]
    callers: u64,
    /// Seconds of the measurement.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Measures a debug build; its figures say little.
    #[arg(long)]
    debug: bool,
    /// Leaves the server out, and measures the engine alone.
    #[arg(long)]
    memory: bool,
}

/// Measures and prints, one figure a line with its unit.
pub(crate) async fn run(options: Options) -> Result<bool> {
    if !options.memory {
        over_http(&options).await?;
    }
    let lines = super::example("heddle-engine", "bench-cases", &[], &[])?;
    lines.lines().for_each(|line| out::line(format_args!("subject=engine {}", line.trim())));
    Ok(true)
}

/// State that all callers share.
struct Load {
    host: String,
    token: String,
    case_type: String,
    open: u64,
    callers: u64,
}

async fn over_http(options: &Options) -> Result<()> {
    let window = Duration::try_from_secs_f64(options.seconds).context("--seconds is no duration")?;
    if options.callers == 0 || options.open == 0 {
        bail!("there must be callers and open cases");
    }
    let postgres = server::postgres_for(options.backend)?;
    let binary = server::binary(if options.debug { Build::Debug } else { Build::Release })?;
    let mode = Mode { demo: true, test_clock: false };
    let mut server = Server::start(&binary, mode, postgres.as_ref()).await?;
    let facts = server.facts();
    let email = facts.email.as_deref().context("the ready file names no administrator")?;
    let password = facts.password.as_deref().context("the ready file names no password")?;
    let client = Client::sign_in(&facts.address, email, password).await?;
    let load = Arc::new(Load {
        host: facts.address.trim_start_matches("http://").to_owned(),
        token: client.token(),
        case_type: prepare::publish_case(&client, "bench-count", prepare::COUNTING).await?,
        open: options.open,
        callers: options.callers,
    });
    let print = |name: &str, value: f64, unit: &'static str| {
        let callers = usize::try_from(options.callers).ok();
        let backend = options.backend.name();
        out::line(Figure { backend, build: None, name: name.to_owned(), callers, value, unit });
    };
    let began = Instant::now();
    let starters: Vec<_> =
        (0..options.callers).map(|number| tokio::spawn(start(Arc::clone(&load), number))).collect();
    for starter in starters {
        starter.await.context("a starter broke off")??;
    }
    print("case_starts", options.open as f64 / began.elapsed().as_secs_f64(), "starts/s");
    let begin = Instant::now() + WARM_UP;
    let callers: Vec<_> = (0..options.callers)
        .map(|number| tokio::spawn(send(Arc::clone(&load), number, begin, begin + window)))
        .collect();
    let mut latencies = Latencies::default();
    for caller in callers {
        latencies.join(caller.await.context("a caller broke off")??);
    }
    latencies.sort();
    let name = format!("case_events_correlated open={}", options.open);
    print(&name, latencies.len() as f64 / window.as_secs_f64(), "events/s");
    print(&format!("{name} p50"), latencies.percentile(0.5), "ms");
    print(&format!("{name} p99"), latencies.percentile(0.99), "ms");
    server.stop().await?;
    Ok(())
}

/// Starts every case whose number is the caller's among the callers.
async fn start(load: Arc<Load>, number: u64) -> Result<()> {
    let mut connection = Connection::open(&load.host).await?;
    let mut case = number;
    while case < load.open {
        let body = json!({"caseTypeId": load.case_type, "correlationKey": format!("order-{case}")});
        let request = http1::request("POST", "/api/cases", Some(&load.token), Some(&body.to_string()));
        let (status, body) = connection.exchange(&request).await?;
        if status != 201 {
            bail!("start: {status} {}", String::from_utf8_lossy(body));
        }
        case += load.callers;
    }
    Ok(())
}

/// Sends events to open cases until the end, and counts those that ended within the window and reached a case.
async fn send(load: Arc<Load>, number: u64, begin: Instant, end: Instant) -> Result<Latencies> {
    let mut connection = Connection::open(&load.host).await?;
    let mut random = Random::new(number + 1);
    let mut latencies = Latencies::default();
    for count in 1_u64.. {
        let started = Instant::now();
        if started >= end {
            break;
        }
        let key = format!("event-{number}-{count}");
        let case = format!("order-{}", random.between(0, load.open - 1));
        let body = json!({
            "correlationKey": case, "eventType": "order.counted", "idempotencyKey": key, "payload": {"mark": key},
        });
        let request = http1::request("POST", "/api/case-events", Some(&load.token), Some(&body.to_string()));
        let (status, body) = connection.exchange(&request).await?;
        let text = String::from_utf8_lossy(body);
        if status != 202 || text.contains("\"caseIds\":[]") {
            bail!("event: {status} {text}");
        }
        let ended = Instant::now();
        if started >= begin && ended <= end {
            latencies.add(ended - started);
        }
    }
    Ok(latencies)
}
