//! Measures of the gateway: what a call through the service costs beyond one that goes to its provider directly, which is
//! a mock that answers at once. Direct calls and calls through the service take turns, so that both meet the same noise.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use heddle_harness_kit::figures::{Figure, Latencies};
use heddle_harness_kit::http::{Base, Caller};
use heddle_harness_kit::http1::{self, Connection};
use heddle_harness_kit::server::{self, Backend, Build, Mode, Server};
use heddle_harness_kit::{out, process, workspace};
use serde_json::json;

use crate::mock::Mock;
use crate::place::{Place, question, streamed};

/// Most milliseconds that a call takes longer than a direct one, in the middle and at its slowest hundredth.
const ADDED: [(&str, f64, f64); 2] = [("added_p50", 0.5, 0.5), ("added_p99", 0.99, 2.0)];
/// Most microseconds of processor time of a call, with all that is done for it.
const CPU: f64 = 150.0;
/// Fewest calls a second, with mock and callers on the same processors.
const RATE: f64 = 5_000.0;
/// Time after the last call behind which memory is looked at: what callers took for as long as they called is given back.
const REST: Duration = Duration::from_secs(15);
/// Most resident megabytes after many calls.
const RESIDENT: f64 = 60.0;
/// Most microseconds that each piece of a stream comes later.
const PIECE: f64 = 100.0;
/// Pieces of a measured stream.
const PIECES: u32 = 500;
/// Streams of a round.
const STREAMS: usize = 10;
/// Time before anything counts.
const WARM_UP: Duration = Duration::from_millis(500);

/// Options of `bench gateway`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
    /// Callers at the same time, by whom latencies are measured.
    #[arg(long, default_value_t = 10)]
    callers: usize,
    /// Callers at the same time, by whom the rate is measured.
    #[arg(long, default_value_t = 64)]
    most_callers: usize,
    /// Calls a second of all these callers together while the judged latencies are measured: half of what has to be
    /// possible. Callers that ask without a pause measure how long the processors take for all of them, which is the rate
    /// again; their latencies are printed beside.
    #[arg(long, default_value_t = 2_500.0)]
    pace: f64,
    /// Turns of direct calls and calls through the service.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of each.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Calls after which memory is looked at.
    #[arg(long, default_value_t = 1_000_000)]
    calls: usize,
    /// Measures a debug build; its figures say little.
    #[arg(long)]
    debug: bool,
}

/// Measures; whether the bars hold.
///
/// # Errors
/// When the server does not start, or a call fails.
pub async fn run(options: Options) -> Result<bool> {
    let build = if options.debug { Build::Debug } else { Build::Release };
    let binary = server::binary(build)?;
    let postgres = server::postgres_for(options.backend)?;
    let mock = Mock::start()?;
    let mut server =
        Server::start(&binary, Mode { demo: true, test_clock: false }, postgres.as_ref()).await?;
    let bench = Bench::prepare(&server, &mock, &options).await?;
    let mut holds = bench.latencies(&options).await?;
    holds &= bench.rate(&options).await?;
    holds &= bench.pieces(&options).await?;
    holds &= bench.memory(&options).await?;
    server.stop().await?;
    Ok(holds)
}

/// One side of a comparison.
struct Side {
    host: String,
    call: Arc<[u8]>,
    stream: Arc<[u8]>,
}

struct Bench {
    backend: Backend,
    direct: Side,
    through: Side,
    pid: u32,
    window: Duration,
}

/// Windows of direct calls and of calls through the service.
struct Turns {
    direct: Vec<Window>,
    through: Vec<Window>,
    /// Microseconds of the service's processor time of a call.
    cpu: f64,
}

/// Calls of a window.
struct Window {
    latencies: Latencies,
    /// All of them, the warm-up included.
    all: usize,
    seconds: f64,
}

impl Bench {
    async fn prepare(server: &Server, mock: &Mock, options: &Options) -> Result<Self> {
        let facts = server.facts();
        let email = facts.email.as_deref().context("the ready file names no administrator")?;
        let password = facts.password.as_deref().context("the ready file names no password")?;
        let token = sign_in(&facts.address, email, password).await?;
        let base: Base = Arc::new(std::sync::RwLock::new(facts.address.clone()));
        let caller = Caller::anonymous(base)?.with("authorization", &format!("Bearer {token}"))?;
        let place = Place::of(caller);
        let connection = place.connection("bench", "openai", &mock.base_url(), Some("sk-mock")).await?;
        let prices = json!({"prices": {"currency": "EUR", "input": 150_000, "output": 600_000},
            "limits": {"requestsPerMinute": 10_000_000, "concurrency": 1_000}});
        place.deployment(&connection, "bench", "instant", &prices).await?;
        let chunks = format!("chunks-{PIECES}");
        place.deployment(&connection, "bench-stream", &chunks, &prices).await?;
        let text = "How long does a heddle last when it is used every day, and what does it depend on?";
        let request = |token: Option<&str>, body: serde_json::Value| -> Arc<[u8]> {
            http1::request("POST", "/v1/chat/completions", token, Some(&body.to_string())).into()
        };
        Ok(Self {
            backend: options.backend,
            direct: Side {
                host: mock.host(),
                call: request(None, question("instant", text)),
                stream: request(None, streamed(&chunks, text)),
            },
            through: Side {
                host: facts.address.trim_start_matches("http://").to_owned(),
                call: request(Some(&token), question("bench", text)),
                stream: request(Some(&token), streamed("bench-stream", text)),
            },
            pid: facts.pid,
            window: Duration::try_from_secs_f64(options.seconds).context("--seconds is no duration")?,
        })
    }

    /// Latencies beside direct ones, at a pace and without one, and the processor time of a call.
    async fn latencies(&self, options: &Options) -> Result<bool> {
        let every = Duration::try_from_secs_f64(options.callers as f64 / options.pace)
            .context("--pace is no number of calls a second")?;
        let paced = self.turns(options, Some(every)).await?;
        let mut holds = true;
        for (name, share, bar) in ADDED {
            let added = self.added(options, &paced, name, share);
            holds &= self.judge(name, Some(options.callers), added, bar, "ms");
        }
        let free = self.turns(options, None).await?;
        for (name, share, _) in ADDED {
            let name = format!("{name}_unpaced");
            let added = self.added(options, &free, &name, share);
            self.figure(&name, Some(options.callers), added, "ms");
        }
        self.figure("cpu_paced", Some(options.callers), paced.cpu, "us/call");
        Ok(self.judge("cpu", Some(options.callers), free.cpu, CPU, "us/call") && holds)
    }

    /// Turns of direct calls and calls through the service.
    async fn turns(&self, options: &Options, every: Option<Duration>) -> Result<Turns> {
        let mut turns = Turns { direct: Vec::new(), through: Vec::new(), cpu: 0.0 };
        let (mut calls, mut seconds) = (0, 0.0);
        for _ in 0..options.rounds.max(1) {
            let direct = window(&self.direct, options.callers, self.window, every);
            turns.direct.push(direct.await.context("direct calls")?);
            let before = self.cpu();
            let through = window(&self.through, options.callers, self.window, every);
            let through = through.await.context("calls through")?;
            seconds += self.cpu() - before;
            calls += through.all;
            turns.through.push(through);
        }
        turns.cpu = seconds * 1_000_000.0 / calls.max(1) as f64;
        let all = turns.direct.iter_mut().chain(&mut turns.through);
        all.for_each(|one| one.latencies.sort());
        Ok(turns)
    }

    /// Time that the service adds to a share of the latencies; both sides are printed.
    fn added(&self, options: &Options, turns: &Turns, name: &str, share: f64) -> f64 {
        let of =
            |windows: &[Window]| median(windows.iter().map(|one| one.latencies.percentile(share)).collect());
        let (bare, gated) = (of(&turns.direct), of(&turns.through));
        let name = name.trim_start_matches("added");
        self.figure(&format!("direct{name}"), Some(options.callers), bare, "ms");
        self.figure(&format!("gateway{name}"), Some(options.callers), gated, "ms");
        gated - bare
    }

    async fn rate(&self, options: &Options) -> Result<bool> {
        let mut rates = Vec::new();
        for _ in 0..options.rounds.max(1) {
            let one = window(&self.through, options.most_callers, self.window, None).await?;
            rates.push(one.latencies.len() as f64 / one.seconds);
        }
        let rate = median(rates);
        self.figure("rate", Some(options.most_callers), rate, "calls/s");
        out::line(format_args!("rate bar={RATE} {}", word(rate >= RATE)));
        Ok(rate >= RATE)
    }

    /// Streams one after the other: what each piece is later than directly, by the clock, and its processor time.
    async fn pieces(&self, options: &Options) -> Result<bool> {
        let (mut direct, mut through, mut cpu) = (Vec::new(), Vec::new(), 0.0);
        for _ in 0..options.rounds.max(1) {
            direct.push(stream_seconds(&self.direct).await.context("direct streams")?);
            let before = self.cpu();
            through.push(stream_seconds(&self.through).await.context("streams through")?);
            cpu += self.cpu() - before;
        }
        let pieces = (STREAMS * PIECES as usize) as f64;
        let later = (median(through) - median(direct)) * 1_000_000.0 / pieces;
        let each = cpu * 1_000_000.0 / (pieces * options.rounds.max(1) as f64);
        self.figure("piece_cpu", Some(1), each, "us/piece");
        Ok(self.judge("piece_added", Some(1), later, PIECE, "us/piece"))
    }

    async fn memory(&self, options: &Options) -> Result<bool> {
        let mut done = 0;
        while done < options.calls {
            done += window(&self.through, options.most_callers, Duration::from_secs(10), None).await?.all;
        }
        let resident = || process::resident_megabytes(self.pid).context("the server's memory is not told");
        self.figure("resident_under_load", Some(options.most_callers), resident()?, "MB");
        tokio::time::sleep(REST).await;
        let holds = self.judge(&format!("resident_after_{done}_calls"), None, resident()?, RESIDENT, "MB");
        if !holds && !workspace::is_order_of_now()? {
            out::line(
                "The order of the program's functions is of other names than theirs: `cargo xtask order`.",
            );
        }
        Ok(holds)
    }

    fn cpu(&self) -> f64 {
        process::cpu_seconds(self.pid).unwrap_or_default()
    }

    /// Prints a figure that may be at most its bar.
    fn judge(&self, name: &str, callers: Option<usize>, value: f64, bar: f64, unit: &'static str) -> bool {
        self.figure(name, callers, value, unit);
        out::line(format_args!("{name} bar={bar} {}", word(value <= bar)));
        value <= bar
    }

    fn figure(&self, name: &str, callers: Option<usize>, value: f64, unit: &'static str) {
        let backend = self.backend.name();
        out::line(Figure { backend, build: None, name: format!("gateway_{name}"), callers, value, unit });
    }
}

const fn word(holds: bool) -> &'static str {
    if holds { "ok" } else { "FAILED" }
}

async fn sign_in(address: &str, email: &str, password: &str) -> Result<String> {
    Ok(heddle_harness_kit::client::Client::sign_in(address, email, password).await?.token())
}

/// Calls of so many callers within a window; each begins one `every` so often, or one behind the other.
async fn window(side: &Side, callers: usize, length: Duration, every: Option<Duration>) -> Result<Window> {
    let begin = Instant::now() + WARM_UP;
    let end = begin + length;
    let tasks: Vec<_> = (0..callers)
        .map(|number| {
            let pace = every.map(|every| {
                let share = number as f64 / callers as f64;
                Pace { next: Instant::now() + every.mul_f64(share), every }
            });
            tokio::spawn(calls(side.host.clone(), Arc::clone(&side.call), begin, end, pace))
        })
        .collect();
    let mut window = Window { latencies: Latencies::default(), all: 0, seconds: length.as_secs_f64() };
    for task in tasks {
        let own = task.await.context("a caller broke off")??;
        window.latencies.join(own.latencies);
        window.all += own.all;
    }
    Ok(window)
}

/// Instants at which a caller begins its calls.
struct Pace {
    next: Instant,
    every: Duration,
}

impl Pace {
    /// Waits for the next instant. One that has passed by then is the begin of its call all the same: who waited for the
    /// call before has waited for this one, too.
    async fn begin(&mut self) -> Instant {
        let planned = self.next;
        self.next += self.every;
        if planned <= Instant::now() {
            return planned;
        }
        tokio::time::sleep_until(planned.into()).await;
        Instant::now()
    }
}

async fn calls(
    host: String,
    request: Arc<[u8]>,
    begin: Instant,
    end: Instant,
    mut pace: Option<Pace>,
) -> Result<Window> {
    let mut connection = Connection::open(&host).await?;
    let mut own = Window { latencies: Latencies::default(), all: 0, seconds: 0.0 };
    loop {
        let started = match &mut pace {
            Some(pace) => pace.begin().await,
            None => Instant::now(),
        };
        if started >= end {
            return Ok(own);
        }
        let (status, body) = connection.exchange(&request).await?;
        if status != 200 {
            bail!("{status} {}", String::from_utf8_lossy(body));
        }
        own.all += 1;
        let ended = Instant::now();
        if started >= begin && ended <= end {
            own.latencies.add(ended - started);
        }
    }
}

/// Seconds of several streams, one after the other, each read to its end.
async fn stream_seconds(side: &Side) -> Result<f64> {
    let mut connection = Connection::open(&side.host).await?;
    let began = Instant::now();
    for _ in 0..STREAMS {
        let (status, body) = connection.exchange(&side.stream).await?;
        let text = String::from_utf8_lossy(body);
        let pieces = text.matches("word ").count();
        if status != 200 || pieces != PIECES as usize || !text.contains("[DONE]") {
            bail!(
                "{status}, {pieces} pieces of {PIECES}: {}",
                text.chars().rev().take(300).collect::<String>()
            );
        }
    }
    Ok(began.elapsed().as_secs_f64())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_mock_answers_calls_and_streams_as_they_are_measured() {
        let mock = Mock::start().unwrap();
        let body = |model: &str| question(model, "Hi?").to_string();
        let stream = streamed(&format!("chunks-{PIECES}"), "Hi?").to_string();
        let request = |body: &str| http1::request("POST", "/v1/chat/completions", None, Some(body)).into();
        let side = Side { host: mock.host(), call: request(&body("instant")), stream: request(&stream) };
        let now = Instant::now();
        let end = now + Duration::from_millis(50);
        let own = calls(side.host.clone(), Arc::clone(&side.call), now, end, None).await.unwrap();
        assert!(own.all > 1 && mock.seen().requests() >= own.all);
        assert!(stream_seconds(&side).await.unwrap() > 0.0);
        assert!(mock.seen().kept().is_empty());
        // The mock sees a little later than its caller that an answer is over.
        let ended = async {
            while mock.seen().open() > 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), ended).await.unwrap();
    }

    #[tokio::test]
    async fn a_call_that_is_late_began_when_it_should_have() {
        let now = Instant::now();
        let mut pace = Pace { next: now - Duration::from_secs(3), every: Duration::from_secs(2) };
        assert_eq!(pace.begin().await, now - Duration::from_secs(3));
        assert_eq!(pace.begin().await, now - Duration::from_secs(1));
        pace = Pace { next: now + Duration::from_millis(5), every: Duration::from_secs(2) };
        assert!(pace.begin().await >= now + Duration::from_millis(5));
    }

    #[test]
    fn the_median_is_the_middle_one() {
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!(median(Vec::new()).is_nan());
    }
}
