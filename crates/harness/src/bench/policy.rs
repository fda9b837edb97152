//! Benchmark of decisions and listings with few grants and with many, and of what a sign-in and a caller who is known cost
//! a server.

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::json;

use super::example;
use heddle_harness_kit::client::Client;
use heddle_harness_kit::http1::{self, Connection};
use heddle_harness_kit::out;
use heddle_harness_kit::process::cpu_seconds;
use heddle_harness_kit::server::{self, Backend, Build, Mode, Server, Surroundings};

/// Most CPU nanoseconds of a decision.
const DECISION: f64 = 150.0;
/// Most that a decision with the most grants may cost of one with the fewest.
const GROWTH: f64 = 2.0;
/// Most CPU milliseconds of a page of all rights, and of all their pages.
const EFFECTIVE: f64 = 5.0;
/// Calls before a figure, and calls of one: processor time is counted in hundredths of a second.
const WARM: usize = 500;
const CALLS: usize = 20_000;
const SIGN_INS: usize = 40;

#[derive(Deserialize)]
struct Figures {
    grants: u32,
    decision_ns: f64,
    list_decision_ns: f64,
    compile_ms: f64,
    effective_page_ms: f64,
    effective_whole_ms: f64,
}

/// Options of `bench policy`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Leaves the server out, and with it the figures of sign-ins and callers.
    #[arg(long)]
    alone: bool,
}

/// Measures; whether the bars hold.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let line = example("heddle-policy", "bench-policy", &[], &[])?;
    let all: Vec<Figures> = serde_json::from_str(&line).context("the benchmark printed no figures")?;
    let holds = decisions(&all)?;
    if !options.alone {
        callers().await?;
    }
    Ok(holds)
}

fn decisions(all: &[Figures]) -> Result<bool> {
    let mut holds = true;
    for figures in all {
        let grants = figures.grants;
        let bars = [
            ("decision", figures.decision_ns, DECISION, "cpu-ns"),
            ("list-decision", figures.list_decision_ns, DECISION, "cpu-ns"),
            ("effective-access-page", figures.effective_page_ms, EFFECTIVE, "cpu-ms"),
            ("effective-access-whole", figures.effective_whole_ms, EFFECTIVE, "cpu-ms"),
        ];
        for (figure, value, bar, unit) in bars {
            holds &= value <= bar;
            out::line(format_args!(
                "subject=policy figure={figure} grants={grants} value={value:.2} bar={bar} unit={unit}"
            ));
        }
        let value = figures.compile_ms;
        out::line(format_args!("subject=policy figure=compile grants={grants} value={value:.3} unit=cpu-ms"));
    }
    let (Some(few), Some(many)) = (all.first(), all.last()) else { bail!("no figures") };
    for (figure, few, many) in [
        ("decision-growth", few.decision_ns, many.decision_ns),
        ("list-decision-growth", few.list_decision_ns, many.list_decision_ns),
    ] {
        let growth = many / few;
        holds &= growth <= GROWTH;
        out::line(format_args!("subject=policy figure={figure} value={growth:.2} bar={GROWTH} unit=times"));
    }
    Ok(holds)
}

/// CPU time of a sign-in, and of a call of a known caller beside one of anybody.
async fn callers() -> Result<()> {
    let binary = server::binary(Build::Release)?;
    let variables = vec![("HEDDLE_ANONYMOUS_REQUESTS_PER_SECOND", "0".to_owned())];
    let surroundings = Surroundings { variables, ..Surroundings::default() };
    let mode = Mode { demo: true, test_clock: false };
    let postgres = server::postgres_for(Backend::Sqlite)?;
    let mut server = Server::start_in(&binary, mode, surroundings, postgres.as_ref()).await?;
    let measured = measure(&server).await;
    server.stop().await?;
    measured
}

async fn measure(server: &Server) -> Result<()> {
    let facts = server.facts();
    let email = facts.email.as_deref().context("the ready file names no administrator")?;
    let password = facts.password.as_deref().context("the ready file names no password")?;
    let client = Client::sign_in(&facts.address, email, password).await?;
    let host = facts.address.strip_prefix("http://").context("the address is none of HTTP")?;
    let mut caller = Caller { connection: Connection::open(host).await?, pid: facts.pid };
    let open = http1::request("GET", "/health/live", None, None);
    let question = json!({ "action": "read", "resource": { "type": "workflow" } }).to_string();
    let token = client.token();
    let known = http1::request("POST", "/api/authorization/check-access", Some(&token), Some(&question));
    let sign_in = json!({ "email": email, "password": password }).to_string();
    let sign_in = http1::request("POST", "/api/auth/sign-in", None, Some(&sign_in));
    let open = caller.cost(&open, WARM, CALLS).await?;
    let known = caller.cost(&known, WARM, CALLS).await?;
    let sign_in = caller.cost(&sign_in, 1, SIGN_INS).await?;
    for (figure, value) in [
        ("anonymous-request", open),
        ("authenticated-request", known),
        ("authentication-overhead", known - open),
        ("sign-in", sign_in),
    ] {
        out::line(format_args!("subject=policy figure={figure} value={value:.1} unit=cpu-us"));
    }
    Ok(())
}

/// A caller that counts what a server spends on its calls.
struct Caller {
    connection: Connection,
    pid: u32,
}

impl Caller {
    /// CPU microseconds of the server for one call.
    async fn cost(&mut self, request: &[u8], warm: usize, calls: usize) -> Result<f64> {
        self.repeat(request, warm).await?;
        let before = self.spent()?;
        self.repeat(request, calls).await?;
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
        let each = (self.spent()? - before) * 1e6 / calls as f64;
        Ok(each)
    }

    async fn repeat(&mut self, request: &[u8], times: usize) -> Result<()> {
        for _ in 0..times {
            let (status, body) = self.connection.exchange(request).await?;
            if status != 200 {
                bail!("status {status}: {}", String::from_utf8_lossy(body));
            }
        }
        Ok(())
    }

    fn spent(&self) -> Result<f64> {
        cpu_seconds(self.pid).context("the server's processor time is not known")
    }
}
