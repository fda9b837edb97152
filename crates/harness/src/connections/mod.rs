//! Connections of every type against services as people run them: let in with good credentials, and refused in the right
//! phase with bad ones, behind wrong certificates, where nobody listens and where nobody answers.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

mod cases;
mod services;

use anyhow::{Context, Result, bail};
use serde_json::json;

use heddle_harness_kit::client::{Client, Method};
use heddle_harness_kit::out;
use heddle_harness_kit::postgres::Postgres;
use heddle_harness_kit::server::{self, Backend, Build, Mode, Server};

use self::cases::Case;
use self::services::Services;

/// Options of `connections`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only cases whose name begins so, such as `smtp`.
    #[arg(long, default_value = "")]
    only: String,
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
}

/// Secret that stands in every connection, and must stand nowhere else.
const SECRET: &str = "canary-in-the-harness";
/// Answers of services, which nobody may read through a test.
const ANSWER: &str = "canary-of-an-answer";

/// Runs the cases; `false` when one of them ended other than it must, or a secret was seen.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let binary = server::binary(Build::Debug)?;
    let services = Services::start(SECRET)?;
    let database = Postgres::start().context("the database that a connection leads to")?;
    let port = with_passwords(&database)?;
    let postgres = server::postgres_for(options.backend)?;
    let mut server =
        Server::start(&binary, Mode { demo: true, test_clock: false }, postgres.as_ref()).await?;
    let facts = server.facts().clone();
    let email = facts.email.context("the ready file names no administrator")?;
    let password = facts.password.context("the ready file names no password")?;
    let client = Client::sign_in(&facts.address, &email, &password).await?;
    let mut all = true;
    for case in cases::all(services.facts(), port) {
        if !case.name.starts_with(&options.only) {
            continue;
        }
        let outcome = tried(&client, &case).await;
        let said =
            outcome.as_ref().map_or_else(|error| format!("FAILED {error:#}"), |said| format!("ok: {said}"));
        out::line(format_args!("{} {said}", case.name));
        all &= outcome.is_ok();
    }
    for (what, text) in [
        ("the list of connections", client.get("/api/connections?limit=200").await?.body.to_string()),
        ("the audit trail", client.get("/api/audit-events?limit=200").await?.body.to_string()),
        ("the server's log", server.log_text()),
    ] {
        if text.contains(SECRET) || text.contains(ANSWER) {
            out::line(format_args!("FAILED {what} shows a secret or an answer"));
            all = false;
        }
    }
    server.stop().await?;
    Ok(all)
}

/// Makes the connection of a case and tests it.
async fn tried(client: &Client, case: &Case) -> Result<String> {
    let mut body = case.body.clone();
    body["name"] = json!(case.name);
    let id = client.post("/api/connections", &body).await?.data().context("the creation")?["id"].take();
    let id = id.as_str().context("a connection has an id")?;
    let tested = client.call(Method::POST, &format!("/api/connections/{id}/test"), None).await?;
    let told = tested.body.to_string();
    if told.contains(SECRET) || told.contains(ANSWER) {
        bail!("the answer shows a secret or what the service answered: {told}");
    }
    let tested = tested.data().context("the test")?;
    let phase = tested["phase"].as_str().unwrap_or_default();
    if tested["ok"] != json!(case.fails.is_empty()) || !(case.fails.is_empty() || case.fails.contains(&phase))
    {
        bail!("must {}: {tested}", case.expected());
    }
    Ok(tested["message"].as_str().unwrap_or_default().to_owned())
}

/// Makes a user whose password the database asks for; the database's port.
fn with_passwords(database: &Postgres) -> Result<u16> {
    if database.postmaster().is_none() {
        bail!(
            "a PostgreSQL of its own is needed, whose rules of access can be changed: unset HEDDLE_DATABASE_URL"
        );
    }
    let file = database.sql("SHOW hba_file")?;
    database.sql(&format!("CREATE ROLE keeper LOGIN PASSWORD '{SECRET}'"))?;
    database.sql(&format!(
        "COPY (SELECT line FROM (VALUES (1, 'host all keeper all scram-sha-256'), (2, 'local all all trust'), \
         (3, 'host all all all trust')) AS lines (number, line) ORDER BY number) TO '{file}'"
    ))?;
    database.sql("SELECT pg_reload_conf()")?;
    database.sql("SHOW port")?.parse().context("the port of the database")
}
