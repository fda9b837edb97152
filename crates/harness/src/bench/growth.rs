//! Growth: what a read costs with few runs, cases and tasks stored, and with many.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use heddle_harness_kit::client::{Client, encode};
use heddle_harness_kit::out;
use heddle_harness_kit::postgres::Postgres;
use heddle_harness_kit::prepare;
use heddle_harness_kit::server::{self, Backend, Build, Mode, Server};
use serde_json::{Value, json};

use super::{searching, stored};
use heddle_harness_kit::figures::{Figure, Latencies};
use heddle_harness_kit::http1::{self, Connection};

/// Runs and cases, and as many tasks, of the small database.
const FEW: u64 = 20_000;
/// Workflows and case types among which they are shared.
const WORKFLOWS: usize = 20;
const CASE_TYPES: usize = 4;
/// Calls before a figure, and calls that are measured: so many that a figure is told again by the next run. Threads wake each
/// other on this core or that for some dozens of calls, which then take half as long or twice as long.
const WARM: usize = 40;
const CALLS: usize = 300;
/// Page that is measured beside the first one, or the last full one before it.
const DEEP: usize = 100;

/// Read that is measured.
pub(super) struct Read {
    name: &'static str,
    /// The path; `{workflow}`, `{run}`, `{caseType}`, `{case}`, `{task}`, `{key}`, `{business}` and `{user}` are put in.
    path: &'static str,
    /// Rows of a page; none for a single thing.
    page: Option<u32>,
}

pub(super) const fn one(name: &'static str, path: &'static str) -> Read {
    Read { name, path, page: None }
}

pub(super) const fn list(name: &'static str, path: &'static str, page: u32) -> Read {
    Read { name, path, page: Some(page) }
}

/// Single reads, lists, every filter alone, and the usual pairs. Pages are so small that the small database has deep ones.
const READS: &[Read] = &[
    one("workflow", "/api/workflows/{workflow}"),
    one("run", "/api/workflows/{workflow}/runs/{run}"),
    one("task", "/api/human-tasks/{task}"),
    list("workflows", "/api/workflows", 2),
    list("workflows?state", "/api/workflows?state=published", 2),
    list("workflows?starred", "/api/workflows?starred=false", 2),
    list("workflows?q", "/api/workflows?q=growth", 2),
    list("workflows?folderId", "/api/workflows?folderId=none", 2),
    list("workflows?sort=updatedAt", "/api/workflows?sort=-updatedAt", 2),
    list("workflows?sort=displayName", "/api/workflows?sort=displayName", 2),
    list("versions", "/api/workflows/{workflow}/versions", 2),
    list("runs", "/api/workflows/{workflow}/runs", 5),
    list("runs?state=waiting", "/api/workflows/{workflow}/runs?state=waiting", 5),
    list("runs?state=failed", "/api/workflows/{workflow}/runs?state=failed", 1),
    list("runs?hasIncident=true", "/api/workflows/{workflow}/runs?hasIncident=true", 1),
    list("runs?hasIncident=false", "/api/workflows/{workflow}/runs?hasIncident=false", 5),
    list("runs?version", "/api/workflows/{workflow}/runs?version=1", 5),
    list("runs?correlationKey", "/api/workflows/{workflow}/runs?correlationKey={key}", 5),
    list("runs?waitingLongerThan", "/api/workflows/{workflow}/runs?waitingLongerThan=PT1S", 5),
    list("runs?nodeId", "/api/workflows/{workflow}/runs?nodeId=work", 5),
    list("runs?state+hasIncident", "/api/workflows/{workflow}/runs?state=waiting&hasIncident=true", 1),
    list("runs?state+version", "/api/workflows/{workflow}/runs?state=failed&version=1", 1),
    list("runs?rare-state+version", "/api/workflows/{workflow}/runs?state=cancelled&version=1", 1),
    list("runs?state+rare-version", "/api/workflows/{workflow}/runs?state=waiting&version=9", 1),
    list("runs?hasIncident+version", "/api/workflows/{workflow}/runs?hasIncident=true&version=1", 1),
    list(
        "runs?state+waitingLongerThan",
        "/api/workflows/{workflow}/runs?state=waiting&waitingLongerThan=PT1S",
        5,
    ),
    list("all-runs", "/api/runs", 50),
    list("all-runs?sort=-hasIncident", "/api/runs?sort=-hasIncident", 50),
    list("all-runs?workflowId", "/api/runs?workflowId={workflow}", 5),
    list("all-runs?state=waiting", "/api/runs?state=waiting", 50),
    list("all-runs?state=failed", "/api/runs?state=failed", 50),
    list("all-runs?hasIncident=true", "/api/runs?hasIncident=true", 5),
    list("all-runs?hasIncident=false", "/api/runs?hasIncident=false", 50),
    list("all-runs?businessKey", "/api/runs?businessKey={business}", 5),
    list("all-runs?correlationKey", "/api/runs?correlationKey={key}", 5),
    list("all-runs?nodeId", "/api/runs?nodeId=work", 50),
    list("all-runs?startedBy=me", "/api/runs?startedBy=me", 50),
    list("all-runs?startedBy", "/api/runs?startedBy={user}", 50),
    list("all-runs?from", "/api/runs?from=2024-06-01T00:00:01Z", 50),
    list("all-runs?to", "/api/runs?to=2024-06-01T00:00:10Z", 50),
    list("all-runs?waitingBefore", "/api/runs?waitingBefore=2030-01-01T00:00:00Z", 50),
    list("all-runs?state+hasIncident", "/api/runs?state=waiting&hasIncident=true", 5),
    list("all-runs?workflowId+state", "/api/runs?workflowId={workflow}&state=waiting", 5),
    list("all-runs?startedBy=me+state", "/api/runs?startedBy=me&state=failed", 50),
    list("events", "/api/workflows/{workflow}/runs/{run}/events", 1),
    list("events?types", "/api/workflows/{workflow}/runs/{run}/events?types=run.started", 1),
    list("events?nodeId", "/api/workflows/{workflow}/runs/{run}/events?nodeId=work", 1),
    list("events?after", "/api/workflows/{workflow}/runs/{run}/events?after=1", 1),
    list("case-types", "/api/case-types", 1),
    list("case-types?state", "/api/case-types?state=published", 1),
    list("case-types?q", "/api/case-types?q=growth", 1),
    one("case", "/api/cases/{case}"),
    list("case-history", "/api/cases/{case}/events", 1),
    list("case-history?types", "/api/cases/{case}/events?types=case.opened", 1),
    list("case-history?itemId", "/api/cases/{case}/events?itemId=work", 1),
    list("case-history?after", "/api/cases/{case}/events?after=1", 1),
    list("cases", "/api/cases", 10),
    list("cases?sort=incidents", "/api/cases?sort=incidents", 10),
    list("cases?caseTypeId", "/api/cases?caseTypeId={caseType}", 5),
    list("cases?state=active", "/api/cases?state=active", 10),
    list("cases?state=failed", "/api/cases?state=failed", 5),
    list("cases?hasIncident=true", "/api/cases?hasIncident=true", 1),
    list("cases?hasIncident=false", "/api/cases?hasIncident=false", 10),
    list("cases?businessKey", "/api/cases?businessKey={business}", 2),
    list("cases?correlationKey", "/api/cases?correlationKey={key}", 2),
    list("cases?startedBy=me", "/api/cases?startedBy=me", 10),
    list("cases?from", "/api/cases?from=2024-06-01T00:00:01Z", 10),
    list("cases?to", "/api/cases?to=2024-06-01T00:00:10Z", 10),
    list("cases?caseTypeId+state", "/api/cases?caseTypeId={caseType}&state=active", 5),
    list("cases?state+hasIncident", "/api/cases?state=active&hasIncident=true", 1),
    list("tasks", "/api/human-tasks", 50),
    list("tasks?state=open", "/api/human-tasks?state=open", 50),
    list("tasks?state=completed", "/api/human-tasks?state=completed", 50),
    list("tasks?assignee=me", "/api/human-tasks?assignee=me", 50),
    list("tasks?assignee", "/api/human-tasks?assignee=user-3", 3),
    list("tasks?candidate=me", "/api/human-tasks?candidate=me", 20),
    list("tasks?workflowId", "/api/human-tasks?workflowId={workflow}", 5),
    list("tasks?runId", "/api/human-tasks?runId={run}", 5),
    list("tasks?candidate", "/api/human-tasks?candidate={user}", 3),
    list("tasks?caseTypeId", "/api/human-tasks?caseTypeId={caseType}", 5),
    list("tasks?caseId", "/api/human-tasks?caseId={case}", 1),
    list("tasks?followUp", "/api/human-tasks?followUp=2030-01-01T00:00:00Z", 2),
    list("tasks?followUp-of-many", "/api/human-tasks?followUp=2100-01-01T00:00:00Z", 20),
    list("tasks?due", "/api/human-tasks?due=2035-01-01T00:00:00Z", 50),
    list("tasks?state+workflowId", "/api/human-tasks?state=open&workflowId={workflow}", 5),
    list("tasks?state+candidate=me", "/api/human-tasks?state=open&candidate=me", 20),
    list("tasks?candidate=me+due", "/api/human-tasks?candidate=me&due=2035-01-01T00:00:00Z", 5),
    list("tasks?candidate=me+workflowId", "/api/human-tasks?candidate=me&workflowId={workflow}", 1),
    list("jobs", "/api/jobs", 5),
    list("jobs?type", "/api/jobs?type=type-7", 5),
    list("jobs?state=ready", "/api/jobs?state=ready", 5),
    list("jobs?state=locked", "/api/jobs?state=locked", 5),
    list("jobs?state=delayed", "/api/jobs?state=delayed", 5),
    list("jobs?state=failed", "/api/jobs?state=failed", 5),
    list("jobs?state=suspended", "/api/jobs?state=suspended", 5),
    list("jobs?workflowId", "/api/jobs?workflowId={workflow}", 5),
    list("jobs?runId", "/api/jobs?runId={run}", 1),
    list("jobs?caseTypeId", "/api/jobs?caseTypeId={caseType}", 5),
    list("jobs?caseId", "/api/jobs?caseId={case}", 1),
    list("jobs?worker", "/api/jobs?worker=worker-3", 5),
    list("dead-letters", "/api/dead-letters", 5),
    list("dead-letters?kind", "/api/dead-letters?kind=timer", 5),
    list("dead-letters?rare-kind", "/api/dead-letters?kind=webhook", 5),
    list("dead-letters?workflowId", "/api/dead-letters?workflowId={workflow}", 5),
    list("dead-letters?runId", "/api/dead-letters?runId={run}", 1),
    list("dead-letters?caseTypeId", "/api/dead-letters?caseTypeId={caseType}", 5),
    list("dead-letters?caseId", "/api/dead-letters?caseId={case}", 1),
    list("audit-events", "/api/audit-events", 5),
    list("audit-events?action", "/api/audit-events?action=role.updated", 5),
    list("audit-events?action=role.*", "/api/audit-events?action=role.*", 5),
    list("audit-events?action=workflow.*", "/api/audit-events?action=workflow.*", 5),
    list("audit-events?actor", "/api/audit-events?actor=user-3", 5),
    list("audit-events?resource", "/api/audit-events?resource={workflow}", 5),
    list("audit-events?resource=type/id", "/api/audit-events?resource=workflow/{workflow}", 5),
    list("audit-events?resource=role", "/api/audit-events?resource=role", 5),
    list("audit-events?resource=workflow", "/api/audit-events?resource=workflow", 5),
    list("audit-events?resource=grant", "/api/audit-events?resource=grant", 5),
    list("audit-events?from", "/api/audit-events?from=2025-01-01T00:00:00Z", 5),
    list("audit-events?to", "/api/audit-events?to=2024-06-01T00:00:10Z", 5),
    list("audit-events?from+to", "/api/audit-events?from=2024-06-01T00:00:01Z&to=2024-06-01T00:00:02Z", 5),
    list("users", "/api/users", 5),
    list("users?q", "/api/users?q=requester", 5),
    list("users?state", "/api/users?state=active", 5),
    list("users?kind", "/api/users?kind=person", 5),
    list("members", "/api/members", 5),
    list("members?q", "/api/members?q=requester", 5),
];

/// Reads of somebody who sees only what is their own: they started every second run.
const OWN_READS: &[Read] = &[
    list("own-runs", "/api/runs", 50),
    list("own-runs?sort=-hasIncident", "/api/runs?sort=-hasIncident", 50),
    list("own-runs?state=waiting", "/api/runs?state=waiting", 50),
    list("own-runs?state=failed", "/api/runs?state=failed", 50),
    list("own-tasks", "/api/human-tasks", 20),
    list("own-tasks?state=completed", "/api/human-tasks?state=completed", 20),
];

/// Names of the calls that are measured beside the reads.
const ROUND_TRIP: [&str; 2] = ["start", "complete"];

/// Address and password of that somebody.
const REQUESTER: (&str, &str) = ("requester@growth.local", "slow reeds beside a deep canal");

/// Options of `bench growth`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Database of the started server; both by default.
    #[arg(long, value_enum)]
    backend: Vec<Backend>,
    /// Runs and cases, and as many tasks, of the large database.
    #[arg(long, default_value_t = 1_000_000)]
    rows: u64,
    /// Measures vector databases in place of runs: a file for each ten rows, and a passage for each row.
    #[arg(long)]
    vectors: bool,
    /// Measures only what has this text in its name: `own-tasks`, `start` (with the completions of what is started).
    #[arg(long, value_name = "TEXT", conflicts_with = "vectors")]
    only: Option<String>,
    /// Measures a debug build; its figures say little.
    #[arg(long)]
    debug: bool,
}

/// Measures and prints.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let build = if options.debug { Build::Debug } else { Build::Release };
    let binary = server::binary(build)?;
    let only = options.only.as_deref().unwrap_or_default();
    let names = [READS, OWN_READS].into_iter().flatten().map(|read| read.name).chain(ROUND_TRIP);
    if !options.vectors && !names.into_iter().any(|name| name.contains(only)) {
        bail!("--only {only:?}: nothing that is measured has it in its name");
    }
    let backends = if options.backend.is_empty() {
        vec![Backend::Sqlite, Backend::Postgres]
    } else {
        options.backend.clone()
    };
    for backend in backends {
        let sizes = [FEW.min(options.rows), options.rows];
        let figures = if options.vectors {
            stored::measure(&binary, backend, sizes).await?
        } else {
            measure(&binary, backend, sizes, only).await?
        };
        for (place, rows) in sizes.iter().enumerate() {
            for (name, values) in &figures {
                print(backend, format!("{name} rows={rows}"), values[place], "ms");
            }
        }
        for (name, [few, many]) in &figures {
            print(backend, format!("{name} ratio"), many / few, "x");
        }
    }
    Ok(true)
}

fn print(backend: Backend, name: String, value: f64, unit: &'static str) {
    out::line(Figure { backend: backend.name(), build: None, name, callers: None, value, unit });
}

/// Medians in milliseconds by name, of the small database and of the large one.
pub(super) type Figures = BTreeMap<String, [f64; 2]>;

/// A server that is asked: the one with the small database, or the one with the large.
pub(super) struct Side<'a> {
    pub connection: &'a mut Connection,
    pub client: &'a Client,
    /// Puts the server's own ids into a path.
    pub put_in: &'a dyn Fn(&str) -> String,
}

/// A server whose database is filled.
struct Filled {
    server: Server,
    /// The server's own cluster of PostgreSQL, which ends with it.
    _postgres: Option<Postgres>,
    client: Client,
    requester: Client,
    facts: Facts,
}

/// Medians with so many runs and tasks stored. Both servers run at the same time, and are asked in turn: what else the machine
/// does meets both alike.
async fn measure(
    binary: &std::path::Path,
    backend: Backend,
    [few, many]: [u64; 2],
    only: &str,
) -> Result<Figures> {
    let mut few = Filled::start(binary, backend, few).await?;
    let mut many = Filled::start(binary, backend, many).await?;
    // Opened when there is something to ask: an idle one is closed.
    let mut connections = [opened(&few.server).await?, opened(&many.server).await?];
    let mut figures = Figures::new();
    for (reads, is_own) in [(READS, false), (OWN_READS, true)] {
        let put_in = [&few, &many].map(|filled| |path: &str| filled.facts.put_in(path));
        let [of_few, of_many] = &put_in;
        let [to_few, to_many] = &mut connections;
        let mut sides = [
            Side { connection: to_few, client: few.client(is_own), put_in: of_few },
            Side { connection: to_many, client: many.client(is_own), put_in: of_many },
        ];
        let wanted = reads.iter().filter(|read| read.name.contains(only));
        measure_reads(wanted, &mut sides, &mut figures).await?;
    }
    if ROUND_TRIP.iter().any(|name| name.contains(only)) {
        let medians = round_trips([&few, &many], &mut connections).await?;
        figures.extend(ROUND_TRIP.map(str::to_owned).into_iter().zip(medians));
    }
    few.server.stop().await?;
    many.server.stop().await?;
    Ok(figures)
}

impl Filled {
    /// Starts a server, and stores so many runs and tasks.
    async fn start(binary: &std::path::Path, backend: Backend, rows: u64) -> Result<Self> {
        let postgres = server::postgres_for(backend)?;
        let mut server =
            Server::start(binary, Mode { demo: true, test_clock: false }, postgres.as_ref()).await?;
        let client = searching::sign_in(&server).await?;
        let requester = requester(&client, &server).await?;
        let mut workflows = Vec::new();
        for number in 0..WORKFLOWS {
            let workflow =
                prepare::publish(&client, &format!("growth-{number}"), prepare::HUMAN_TASK).await?;
            let starter = if number % 2 == 0 { &client } else { &requester };
            prepare::start(starter, &workflow, &json!({})).await?;
            workflows.push(workflow);
        }
        let mut case_types = Vec::new();
        for number in 0..CASE_TYPES {
            let case_type =
                prepare::publish_case(&client, &format!("growth-case-{number}"), prepare::HUMAN_CASE).await?;
            prepare::start_case(&client, &case_type, "growth").await?;
            case_types.push(case_type);
        }
        server.stop().await?;
        let began = Instant::now();
        let (database, many) = (server.database(), rows.to_string());
        let caller = server.facts().email.clone().context("the ready file names no administrator")?;
        let arguments = [database.as_str(), &many, &caller].map(OsStr::new);
        super::example("heddle-store-workflows", "fill", &[], &arguments)?;
        out::note(format_args!("{rows} rows in {} s", began.elapsed().as_secs()));
        written()?;
        server.launch().await?;
        let client = searching::sign_in(&server).await?;
        let workflow = workflows.first().context("no workflow")?;
        let facts = facts(&client, workflow, case_types.first().context("no case type")?).await?;
        let requester = Client::sign_in(&server.facts().address, REQUESTER.0, REQUESTER.1).await?;
        Ok(Self { server, _postgres: postgres, client, requester, facts })
    }

    /// The administrator, or the requester.
    const fn client(&self, is_own: bool) -> &Client {
        if is_own { &self.requester } else { &self.client }
    }
}

/// Waits until what was stored is on the disk: while that is written, the calls' own writes wait for it.
fn written() -> Result<()> {
    let status = Command::new("sync").status().context("sync is not there")?;
    if !status.success() {
        bail!("sync: {status}");
    }
    Ok(())
}

/// A connection to a server.
pub(super) async fn opened(server: &Server) -> Result<Connection> {
    Connection::open(server.facts().address.trim_start_matches("http://")).await
}

/// Adds the medians of reads, whose paths get their ids first.
pub(super) async fn measure_reads<'a>(
    reads: impl IntoIterator<Item = &'a Read>,
    sides: &mut [Side<'_>; 2],
    figures: &mut Figures,
) -> Result<()> {
    for read in reads {
        let paths = sides.each_ref().map(|side| (side.put_in)(read.path));
        let Some(page) = read.page else {
            figures.insert(read.name.to_owned(), gets(sides, &paths).await?);
            continue;
        };
        let first = paths.map(|path| with(&path, &format!("limit={page}")));
        figures.insert(format!("{} page=1", read.name), gets(sides, &first).await?);
        let [few, many] = &first;
        let deep = (deep(sides[0].client, few).await?, deep(sides[1].client, many).await?);
        if let (Some(few), Some(many)) = deep {
            figures.insert(format!("{} page=deep", read.name), gets(sides, &[few, many]).await?);
        }
    }
    Ok(())
}

/// The medians of a `GET`.
async fn gets(sides: &mut [Side<'_>; 2], paths: &[String; 2]) -> Result<[f64; 2]> {
    let token = |place: usize| sides[place].client.token();
    let request = |place: usize| http1::request("GET", &paths[place], Some(&token(place)), None);
    let requests = [request(0), request(1)];
    medians(sides, |_, place| requests[place].clone()).await
}

/// The warm medians of what each server is asked, in milliseconds: `question` gives the request by the number of the call and
/// the place of the server.
pub(super) async fn medians(
    sides: &mut [Side<'_>; 2],
    mut question: impl FnMut(usize, usize) -> Vec<u8>,
) -> Result<[f64; 2]> {
    let mut latencies = [Latencies::default(), Latencies::default()];
    for call in 0..WARM + CALLS {
        for (place, (side, latencies)) in sides.iter_mut().zip(&mut latencies).enumerate() {
            let request = question(call, place);
            let began = Instant::now();
            let (status, body) = side.connection.exchange(&request).await?;
            if status != 200 {
                let asked = String::from_utf8_lossy(&request).lines().next().unwrap_or_default().to_owned();
                bail!("{asked}: {status} {}", String::from_utf8_lossy(body));
            }
            if call >= WARM {
                latencies.add(began.elapsed());
            }
        }
    }
    Ok(latencies.map(middle))
}

/// The median, in milliseconds.
pub(super) fn middle(mut latencies: Latencies) -> f64 {
    latencies.sort();
    latencies.percentile(0.5)
}

/// Makes a user with the role `requester`, and signs them in.
async fn requester(admin: &Client, server: &Server) -> Result<Client> {
    let roles = admin.get("/api/roles?limit=200").await?.data()?;
    let role = roles.as_array().into_iter().flatten().find(|role| role["name"] == "requester");
    let role = role.and_then(|role| role["id"].as_str()).context("there is no role `requester`")?;
    let (email, password) = REQUESTER;
    let user = json!({ "email": email, "displayName": "Requester", "password": password, "roles": [role] });
    admin.post("/api/users", &user).await?.data()?;
    Client::sign_in(&server.facts().address, email, password).await
}

/// Values that are put into paths.
struct Facts {
    workflow: String,
    run: String,
    case_type: String,
    case: String,
    task: String,
    key: String,
    business: String,
    user: String,
}

impl Facts {
    fn put_in(&self, path: &str) -> String {
        path.replace("{workflow}", &self.workflow)
            .replace("{run}", &self.run)
            .replace("{caseType}", &self.case_type)
            .replace("{case}", &self.case)
            .replace("{task}", &self.task)
            .replace("{key}", &encode(&self.key))
            .replace("{business}", &encode(&self.business))
            .replace("{user}", &self.user)
    }
}

/// A run of the workflow that stands in the middle, with a correlation key that ten runs have, and a case.
async fn facts(client: &Client, workflow: &str, case_type: &str) -> Result<Facts> {
    let path = format!("/api/workflows/{workflow}/runs?state=waiting&limit=100");
    let runs = client.get(&path).await?.data()?;
    let filled = runs.as_array().into_iter().flatten().rev().find(|run| run["correlationKey"].is_string());
    let run = filled.context("no run has a correlation key: the database was not filled")?;
    let text = |name: &str| run[name].as_str().map(str::to_owned).with_context(|| format!("no {name}"));
    let tasks = client.get(&format!("/api/human-tasks?workflowId={workflow}&limit=1")).await?.data()?;
    let task = tasks[0]["id"].as_str().context("the workflow has no open task")?.to_owned();
    let (id, key, business) = (text("id")?, text("correlationKey")?, text("businessKey")?);
    let user = text("createdBy")?;
    let cases =
        client.get(&format!("/api/cases?caseTypeId={case_type}&state=active&limit=100")).await?.data()?;
    let case = cases.as_array().into_iter().flatten().next_back().and_then(|case| case["id"].as_str());
    let case = case.context("the case type has no open case")?.to_owned();
    let case_type = case_type.to_owned();
    Ok(Facts { workflow: workflow.to_owned(), run: id, case_type, case, task, key, business, user })
}

fn with(path: &str, parameter: &str) -> String {
    format!("{path}{}{parameter}", if path.contains('?') { '&' } else { '?' })
}

/// Path of the hundredth page, or of the last full one before it; none where that is the first.
async fn deep(client: &Client, first: &str) -> Result<Option<String>> {
    let (mut before, mut path) = (None, None);
    for _ in 1..DEEP {
        let answer = client.get(path.as_deref().unwrap_or(first)).await?;
        if !answer.ok() {
            bail!("GET {first}: {}", answer.refusal());
        }
        // The last one may be short, and then costs less than those of a longer list.
        let Some(cursor) = answer.body["page"]["nextCursor"].as_str() else { return Ok(before) };
        before = path.replace(with(first, &format!("cursor={}", encode(cursor))));
    }
    Ok(path)
}

/// Medians of a start, and of the completion of its task.
async fn round_trips(sides: [&Filled; 2], connections: &mut [Connection; 2]) -> Result<[[f64; 2]; 2]> {
    let mut starts = [Latencies::default(), Latencies::default()];
    let mut completions = [Latencies::default(), Latencies::default()];
    for call in 0..WARM + CALLS {
        for (place, (filled, connection)) in sides.iter().zip(connections.iter_mut()).enumerate() {
            let Filled { client, facts, .. } = *filled;
            let base = format!("/api/workflows/{}/runs", facts.workflow);
            let start = http1::request("POST", &base, Some(&client.token()), Some("{}"));
            let began = Instant::now();
            let (status, body) = connection.exchange(&start).await?;
            let started = began.elapsed();
            let body: Value = serde_json::from_slice(body).unwrap_or_default();
            let Some(run) = body["data"]["id"].as_str().filter(|_| status == 201) else {
                bail!("start: {status} {body}");
            };
            let path = format!("{base}/{run}/human-tasks/work/complete");
            let complete = http1::request("POST", &path, Some(&client.token()), Some("{}"));
            let began = Instant::now();
            let (status, body) = connection.exchange(&complete).await?;
            if status != 200 {
                bail!("complete: {status} {}", String::from_utf8_lossy(body));
            }
            if call >= WARM {
                starts[place].add(started);
                completions[place].add(began.elapsed());
            }
        }
    }
    Ok([starts.map(middle), completions.map(middle)])
}
