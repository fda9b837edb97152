//! The server, the signed-in client and the test clock that cases run with.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use heddle_kernel::Timestamp;
use serde_json::{Value, json};

use heddle_harness_kit::client::{Answer, Client, Method};
use heddle_harness_kit::postgres::Postgres;
use heddle_harness_kit::server::{self, Backend, Build, Mode, Server};

/// A server whose clock moved further than this is replaced: its trial licence must not run out.
const CLOCK_LIMIT: Duration = Duration::from_secs(8 * 24 * 3600);

/// Server, client and clock that cases run with.
pub(crate) struct Scene {
    origin: Origin,
    client: Arc<Client>,
    /// Somebody in each case role that somebody had to be in.
    people: BTreeMap<String, Arc<Client>>,
    began: Option<Timestamp>,
    moved: bool,
}

enum Origin {
    /// Somebody else's server: it is taken as it is.
    Given,
    /// Our own, which can be replaced.
    Own(Box<Own>),
}

struct Own {
    binary: PathBuf,
    server: Server,
    postgres: Option<Postgres>,
}

const MODE: Mode = Mode { demo: true, test_clock: true };

/// Password of whoever fills a case role.
const PASSWORD: &str = "seven warps under the beam";

impl Scene {
    /// Starts a server of our own.
    pub(crate) async fn start(backend: Backend) -> Result<Self> {
        let binary = server::binary(Build::Debug)?;
        let postgres = server::postgres_for(backend)?;
        let server = Server::start(&binary, MODE, postgres.as_ref()).await?;
        let client = sign_in(&server).await?;
        Ok(Self {
            origin: Origin::Own(Box::new(Own { binary, server, postgres })),
            client: Arc::new(client),
            people: BTreeMap::new(),
            began: None,
            moved: false,
        })
    }

    /// Uses a server that runs already.
    pub(crate) fn given(address: &str, token: &str) -> Result<Self> {
        let client = Client::with_token(address, token)?;
        let client = Arc::new(client);
        Ok(Self { origin: Origin::Given, client, people: BTreeMap::new(), began: None, moved: false })
    }

    /// The caller.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Somebody who has this case role and no other: an operator in a group of its name. Without a role the caller.
    pub(crate) async fn person(&mut self, role: Option<&str>) -> Result<Arc<Client>> {
        let Some(role) = role else { return Ok(Arc::clone(&self.client)) };
        if let Some(person) = self.people.get(role) {
            return Ok(Arc::clone(person));
        }
        let client = &self.client;
        let email = format!("{role}-{:x}@example.com", heddle_harness_kit::random::seed());
        let roles = client.all("/api/roles").await?;
        let operator = roles.iter().find(|own| own["name"] == "operator").context("no role operator")?;
        let body =
            json!({"email": email, "displayName": role, "password": PASSWORD, "roles": [operator["id"]]});
        let user = client.post("/api/users", &body).await?.data().context("a user for a case role")?;
        let groups = client.all("/api/groups").await?;
        let group = groups.iter().find(|own| own["name"].as_str() == Some(role));
        let answer = match group.and_then(|own| own["id"].as_str()) {
            Some(id) => {
                let body = json!({"addMembers": [user["id"]]});
                client.call(Method::PATCH, &format!("/api/groups/{id}"), Some(&body)).await?
            }
            None => client.post("/api/groups", &json!({"name": role, "members": [user["id"]]})).await?,
        };
        answer.data().context("a group for a case role")?;
        let person = Arc::new(Client::sign_in(&client.address(), &email, PASSWORD).await?);
        self.people.insert(role.to_owned(), Arc::clone(&person));
        Ok(person)
    }

    /// The clock's time.
    pub(crate) async fn now(&mut self) -> Result<Timestamp> {
        let now = clock(&self.turn("PT0S").await?)?;
        self.began.get_or_insert(now);
        Ok(now)
    }

    /// Moves the clock by an ISO 8601 duration and runs what became due.
    pub(crate) async fn advance(&mut self, duration: &str) -> Result<Timestamp> {
        self.now().await?;
        self.moved = true;
        clock(&self.turn(duration).await?)
    }

    async fn turn(&self, duration: &str) -> Result<Answer> {
        self.client.post("/api/test/clock", &json!({ "advance": duration })).await
    }

    /// Replaces our own server when its clock ran far ahead, or when it no longer answers.
    pub(crate) async fn refresh(&mut self) -> Result<()> {
        let lives = self.client.get("/health/live").await.is_ok_and(|answer| answer.ok());
        let ahead = if lives && self.moved { self.ahead().await? } else { Duration::ZERO };
        if lives && ahead < CLOCK_LIMIT {
            return Ok(());
        }
        if let Origin::Own(own) = &mut self.origin {
            let Own { binary, server, postgres } = own.as_mut();
            if !lives {
                heddle_harness_kit::out::note(format_args!(
                    "the server no longer answers:\n{}",
                    server.log_tail()
                ));
            }
            server.kill().await?;
            *server = Server::start(binary, MODE, postgres.as_ref()).await?;
            self.client = Arc::new(sign_in(server).await?);
            self.people.clear();
            self.began = None;
            self.moved = false;
        }
        Ok(())
    }

    async fn ahead(&mut self) -> Result<Duration> {
        let now = self.now().await?;
        Ok(now.duration_since(self.began.unwrap_or(now)))
    }

    /// Ends our own server.
    pub(crate) async fn end(mut self) -> Result<()> {
        if let Origin::Own(own) = &mut self.origin {
            own.server.stop().await?;
        }
        Ok(())
    }
}

async fn sign_in(server: &Server) -> Result<Client> {
    let facts = server.facts();
    let email = facts.email.as_deref().context("the ready file names no administrator")?;
    let password = facts.password.as_deref().context("the ready file names no password")?;
    Client::sign_in(&facts.address, email, password).await
}

/// The time that the test clock answers with.
fn clock(answer: &Answer) -> Result<Timestamp> {
    let data = answer.clone().data().context("the test clock")?;
    let text = ["now", "time", "at"].iter().find_map(|key| data[*key].as_str()).or_else(|| data.as_str());
    let text = text.with_context(|| format!("the test clock gives no time: {data}"))?;
    text.parse().with_context(|| format!("not a time: {text}"))
}

/// A duration between two instants as ISO 8601, rounded up to milliseconds.
pub(crate) fn iso(duration: Duration) -> String {
    let micros = duration.as_micros();
    let millis = micros / 1_000 + u128::from(!micros.is_multiple_of(1_000));
    let seconds = millis / 1_000;
    format!("P{}DT{}.{:03}S", seconds / 86_400, seconds % 86_400, millis % 1_000)
}

/// The instant of a member, if it has one.
pub(crate) fn instant(value: &Value) -> Option<Timestamp> {
    value.as_str().and_then(|text| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_rounded_up_to_milliseconds() {
        for (micros, expected) in [
            (0, "P0DT0.000S"),
            (1, "P0DT0.001S"),
            (1_500_000, "P0DT1.500S"),
            (61_000_001, "P0DT61.001S"),
            (86_400_000_000, "P1DT0.000S"),
        ] {
            assert_eq!(iso(Duration::from_micros(micros)), expected);
        }
    }

    #[test]
    fn the_clock_is_read_from_the_answer() {
        let answer = |data: Value| Answer { status: 200, body: json!({ "data": data }) };
        let expected: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(clock(&answer(json!({"now": "2026-01-01T00:00:00.000Z"}))).unwrap(), expected);
        assert!(clock(&answer(json!({}))).is_err());
        assert!(clock(&Answer { status: 404, body: Value::Null }).is_err());
    }
}
