//! Requests, durable starts and round trips over HTTP.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::jobs;
use heddle_harness_kit::client::Client;
use heddle_harness_kit::figures::{Figure, Latencies, medians};
use heddle_harness_kit::http1::{self, Connection};
use heddle_harness_kit::out;
use heddle_harness_kit::postgres::Postgres;
use heddle_harness_kit::prepare;
use heddle_harness_kit::process;
use heddle_harness_kit::server::{self, Backend, Build, Mode, Server};

/// Connections are opened and caches filled before anything counts.
const WARM_UP: Duration = Duration::from_millis(500);

/// Names of what is measured.
const MEASURES: [&str; 5] =
    ["health_live", "evaluate_decision", "get_workflow", "durable_start", "start_and_complete"];

/// Model whose decision is evaluated, below the suites, and the call of its first case.
const TABLE: &str = "dmn-tck/compliance-level-2/0004-simpletable-U/0004-simpletable-U.dmn";
const TABLE_CALL: &str =
    r#"{"decision":"Approval Status","input":{"Age":18,"RiskCategory":"Medium","isAffordable":true}}"#;
/// Name of the measure of jobs.
const JOBS: &str = "jobs";

/// Options of `bench http`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Database of the started server; both by default.
    #[arg(long, value_enum)]
    backend: Vec<Backend>,
    /// Callers at the same time.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64])]
    callers: Vec<usize>,
    /// Seconds of each measurement.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Measures a debug build; its figures say little.
    #[arg(long)]
    debug: bool,
    /// Program to measure instead of the one that is built here; several, each given as NAME=PATH or PATH, are measured
    /// in turns and compared with the first.
    #[arg(long)]
    binary: Vec<String>,
    /// Rounds; of several the medians are told at the end.
    #[arg(long, default_value_t = 1)]
    rounds: usize,
    /// Measures these alone: health_live, evaluate_decision, get_workflow, durable_start, start_and_complete, jobs.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// A program to measure.
struct Program {
    name: Option<String>,
    path: PathBuf,
}

impl Program {
    fn all(options: &Options) -> Result<Vec<Self>> {
        if options.binary.is_empty() {
            let build = if options.debug { Build::Debug } else { Build::Release };
            return Ok(vec![Self { name: None, path: server::binary(build)? }]);
        }
        let several = options.binary.len() > 1;
        options.binary.iter().map(|given| Self::of(given, several)).collect()
    }

    fn of(given: &str, several: bool) -> Result<Self> {
        let (name, path) = match given.split_once('=') {
            Some((name, path)) => (Some(name.to_owned()), path),
            None => (several.then(|| given.to_owned()), given),
        };
        let path = std::path::absolute(path).with_context(|| format!("{path} is no path"))?;
        if !path.is_file() {
            bail!("{} is no file", path.display());
        }
        Ok(Self { name, path })
    }
}

/// Measures and prints.
pub(crate) async fn run(options: Options) -> Result<bool> {
    if let Some(unknown) =
        options.only.iter().find(|name| *name != JOBS && !MEASURES.contains(&name.as_str()))
    {
        bail!("there is no measure `{unknown}`: {}, {JOBS}", MEASURES.join(", "));
    }
    let programs = Program::all(&options)?;
    let backends = if options.backend.is_empty() {
        vec![Backend::Sqlite, Backend::Postgres]
    } else {
        options.backend.clone()
    };
    let mut all = Vec::new();
    for backend in backends {
        for round in 0..options.rounds.max(1) {
            for program in &programs {
                if options.rounds > 1 {
                    out::note(format_args!("round {} of {}", round + 1, options.rounds));
                }
                all.extend(one_round(program, backend, &options).await?);
            }
        }
    }
    if options.rounds > 1 || programs.len() > 1 {
        medians(&all).into_iter().for_each(out::line);
    }
    Ok(true)
}

/// Figures of a fresh server on a fresh database.
async fn one_round(program: &Program, backend: Backend, options: &Options) -> Result<Vec<Figure>> {
    let postgres = server::postgres_for(backend)?;
    let path: &Path = &program.path;
    let mut server = Server::start(path, Mode { demo: true, test_clock: false }, postgres.as_ref()).await?;
    let mut bench = Bench::prepare(&server, backend, postgres.as_ref(), options).await?;
    bench.build.clone_from(&program.name);
    bench.start_figures(&server);
    bench.measure(options).await?;
    server.stop().await?;
    Ok(bench.told.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// A server ready to be measured.
struct Bench {
    backend: Backend,
    build: Option<String>,
    /// Figures so far.
    told: Mutex<Vec<Figure>>,
    host: String,
    token: String,
    pid: u32,
    postmaster: Option<u32>,
    window: Duration,
    quick: String,
    human: String,
    /// Workflow with a job; none where the program has no jobs yet.
    job: Option<String>,
    /// Workflow with the decision; none where the suites are not at hand.
    table: Option<String>,
}

/// Work that a caller repeats.
#[derive(Clone)]
enum Work {
    /// The same request.
    Same(Arc<[u8]>),
    /// Starts a run and completes its human task.
    RoundTrip { start: Arc<[u8]>, base: Arc<str>, token: Arc<str> },
}

/// A kind of work with the names of its figures.
struct Measure {
    name: &'static str,
    unit: &'static str,
    work: Work,
    callers: usize,
    /// Whether each is a run, so that processor time per run makes sense.
    runs: bool,
}

/// Result of one measurement.
struct Measured {
    latencies: Latencies,
    seconds: f64,
    /// Everything that was done, the warm-up included.
    all: usize,
}

impl Bench {
    async fn prepare(
        server: &Server,
        backend: Backend,
        postgres: Option<&Postgres>,
        options: &Options,
    ) -> Result<Self> {
        let facts = server.facts();
        let email = facts.email.as_deref().context("the ready file names no administrator")?;
        let password = facts.password.as_deref().context("the ready file names no password")?;
        let client = Client::sign_in(&facts.address, email, password).await?;
        let quick = prepare::publish(&client, "bench-one-task", prepare::ONE_TASK).await?;
        let human = prepare::publish(&client, "bench-human-task", prepare::HUMAN_TASK).await?;
        let job = match jobs::publish(&client).await {
            Ok(job) => Some(job),
            Err(error) => {
                out::note(format_args!("jobs are not measured: {error:#}"));
                None
            }
        };
        let table = table(&client).await?;
        let probe = prepare::start(&client, &quick, &json!({})).await?;
        if probe["state"].as_str() != Some("completed") {
            bail!("the one-task workflow does not end at once: {}", probe["state"]);
        }
        Ok(Self {
            backend,
            build: None,
            told: Mutex::default(),
            host: facts.address.trim_start_matches("http://").to_owned(),
            token: client.token(),
            pid: facts.pid,
            postmaster: postgres.and_then(Postgres::postmaster),
            window: Duration::try_from_secs_f64(options.seconds).context("--seconds is no duration")?,
            quick,
            human,
            job,
            table,
        })
    }

    fn start_figures(&self, server: &Server) {
        self.print("ready_after", None, server.started_in().as_secs_f64() * 1_000.0, "ms");
        if let Some(megabytes) = process::resident_megabytes(self.pid) {
            self.print("resident", None, megabytes, "MB");
        }
    }

    async fn measure(&self, options: &Options) -> Result<()> {
        let request = |method, path: &str, body| -> Arc<[u8]> {
            http1::request(method, path, Some(&self.token), body).into()
        };
        let live: Arc<[u8]> = http1::request("GET", "/health/live", None, None).into();
        let workflow = request("GET", &format!("/api/workflows/{}", self.quick), None);
        let start = request("POST", &format!("/api/workflows/{}/runs", self.quick), Some("{}"));
        let base: Arc<str> = format!("/api/workflows/{}/runs", self.human).into();
        let round = Work::RoundTrip {
            start: request("POST", &base, Some("{}")),
            base,
            token: self.token.as_str().into(),
        };
        let [live_name, evaluate, get, starts, trips] = MEASURES;
        let evaluation = self.table.as_ref().map(|table| {
            let call = request("POST", &format!("/api/workflows/{table}/dmn/evaluate"), Some(TABLE_CALL));
            (evaluate, "evaluations/s", Work::Same(call), false)
        });
        let plan: [(&'static str, &'static str, Work, bool); 4] = [
            (live_name, "requests/s", Work::Same(live), false),
            (get, "requests/s", Work::Same(workflow), false),
            (starts, "starts/s", Work::Same(start), true),
            (trips, "round-trips/s", round, true),
        ];
        let wanted = |name: &str| options.only.is_empty() || options.only.iter().any(|only| only == name);
        // Beside the request that does nothing, by which it is judged.
        let mut plan = Vec::from(plan);
        drop(plan.splice(1..1, evaluation));
        for (name, unit, work, runs) in plan.into_iter().filter(|(name, ..)| wanted(name)) {
            for &callers in &options.callers {
                self.one(Measure { name, unit, work: work.clone(), callers, runs }).await?;
            }
        }
        if let Some(job) = self.job.as_ref().filter(|_| wanted(JOBS)) {
            let rate = jobs::measure(&self.host, &self.token, job, self.window).await.context(JOBS)?;
            let name = format!("start, job activated and completed, {} workers", jobs::WORKERS);
            self.print(&name, None, rate, "jobs/s");
        }
        if let Some(megabytes) = process::resident_megabytes(self.pid) {
            self.print("resident_after_load", None, megabytes, "MB");
        }
        Ok(())
    }

    async fn one(&self, measure: Measure) -> Result<()> {
        let cpu = |pid: Option<u32>, family: bool| {
            pid.and_then(
                |pid| if family { process::family_cpu_seconds(pid) } else { process::cpu_seconds(pid) },
            )
        };
        let before = (cpu(Some(self.pid), false), cpu(self.postmaster, true));
        let mut measured = self.drive(&measure).await.with_context(|| measure.name.to_owned())?;
        let after = (cpu(Some(self.pid), false), cpu(self.postmaster, true));
        measured.latencies.sort();
        let callers = Some(measure.callers);
        self.print(measure.name, callers, measured.latencies.len() as f64 / measured.seconds, measure.unit);
        for (suffix, share) in [("p50", 0.5), ("p99", 0.99)] {
            self.print(
                &format!("{}_{suffix}", measure.name),
                callers,
                measured.latencies.percentile(share),
                "ms",
            );
        }
        if measure.runs {
            let thousands = measured.all as f64 / 1_000.0;
            for (who, before, after) in [("server", before.0, after.0), ("database", before.1, after.1)] {
                if let (Some(before), Some(after)) = (before, after) {
                    let name = format!("{}_{who}_cpu", measure.name);
                    self.print(&name, callers, (after - before) / thousands, "cpu-seconds/1000-runs");
                }
            }
        }
        Ok(())
    }

    async fn drive(&self, measure: &Measure) -> Result<Measured> {
        let begin = Instant::now() + WARM_UP;
        let end = begin + self.window;
        let callers: Vec<_> = (0..measure.callers)
            .map(|_| tokio::spawn(call(self.host.clone(), measure.work.clone(), begin, end)))
            .collect();
        let mut measured =
            Measured { latencies: Latencies::default(), seconds: self.window.as_secs_f64(), all: 0 };
        for caller in callers {
            let (latencies, all) = caller.await.context("a caller broke off")??;
            measured.latencies.join(latencies);
            measured.all += all;
        }
        Ok(measured)
    }

    fn print(&self, name: &str, callers: Option<usize>, value: f64, unit: &'static str) {
        let (backend, build) = (self.backend.name(), self.build.clone());
        let figure = Figure { backend, build, name: name.to_owned(), callers, value, unit };
        out::line(&figure);
        self.told.lock().unwrap_or_else(PoisonError::into_inner).push(figure);
    }
}

/// Publishes the workflow with the decision that is measured; none, with a note, where the suites are not at hand.
async fn table(client: &Client) -> Result<Option<String>> {
    let path = heddle_harness_kit::workspace::suites().join(TABLE);
    let Ok(source) = std::fs::read_to_string(&path) else {
        out::note(format_args!("evaluate_decision is left out: the suites have no {TABLE}"));
        return Ok(None);
    };
    let body = json!({"slug": "bench-table", "displayName": "Bench table", "description": "",
        "definition": {"dmn": {"sourceXml": source}}});
    let created = client.post("/api/workflows", &body).await?.data().context("create")?;
    let id = created["id"].as_str().context("a created workflow has an id")?.to_owned();
    client.post(&format!("/api/workflows/{id}/publish"), &json!({})).await?.data().context("publish")?;
    let call: serde_json::Value = serde_json::from_str(TABLE_CALL)?;
    let path = format!("/api/workflows/{id}/dmn/evaluate");
    let told = client.post(&path, &call).await?.data().context("evaluate")?;
    if told["output"] != "Approved" {
        bail!("the decision is {}", told["output"]);
    }
    Ok(Some(id))
}

/// One caller: works until the end and counts what ended within the window.
async fn call(host: String, work: Work, begin: Instant, end: Instant) -> Result<(Latencies, usize)> {
    let mut connection = Connection::open(&host).await?;
    let mut latencies = Latencies::default();
    let mut all = 0;
    loop {
        let started = Instant::now();
        if started >= end {
            return Ok((latencies, all));
        }
        work.once(&mut connection).await?;
        all += 1;
        let ended = Instant::now();
        if started >= begin && ended <= end {
            latencies.add(ended - started);
        }
    }
}

impl Work {
    async fn once(&self, connection: &mut Connection) -> Result<()> {
        match self {
            Self::Same(request) => {
                let (status, body) = connection.exchange(request).await?;
                good(status, body)
            }
            Self::RoundTrip { start, base, token } => {
                let (status, body) = connection.exchange(start).await?;
                let path = match http1::first_id(body) {
                    Some(id) if status == 201 => format!("{base}/{id}/human-tasks/work/complete"),
                    _ => bail!("{status} {}", String::from_utf8_lossy(body)),
                };
                let complete = http1::request("POST", &path, Some(token), Some("{}"));
                let (status, body) = connection.exchange(&complete).await?;
                good(status, body)
            }
        }
    }
}

fn good(status: u16, body: &[u8]) -> Result<()> {
    if (200..300).contains(&status) {
        return Ok(());
    }
    bail!("{status} {}", String::from_utf8_lossy(body))
}
