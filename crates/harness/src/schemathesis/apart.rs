//! Operations that end the session or shut the caller out: each has a server and a session of its own.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::document::{Document, Operation};
use super::fixtures::Fixtures;
use super::report::Seen;
use super::tool::Start;
use super::{Setting, fetch, make, sign_in};
use crate::licence::licence;
use heddle_harness_kit::client::Client;
use heddle_harness_kit::server::{Mode, Server, Surroundings};

/// Precondition of an operation that is tried apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// A signed-in administrator.
    Session,
    /// The administrator's e-mail and password.
    Password,
    /// A server that nobody has set up.
    Nothing,
    /// A server that was set up by hand and has no licence yet.
    SetUp,
    /// A signed-in administrator of a server on which nothing that waits is begun.
    Waiting,
}

const APART: &[(&str, Needs)] = &[
    ("POST /api/setup", Needs::Nothing),
    ("POST /api/auth/sign-in", Needs::Password),
    ("POST /api/auth/sign-out", Needs::Session),
    ("DELETE /api/auth/sessions/{sessionId}", Needs::Session),
    ("PUT /api/auth/password", Needs::Password),
    ("POST /api/auth/totp", Needs::Password),
    ("DELETE /api/auth/totp", Needs::Session),
    ("PUT /api/licence", Needs::Session),
    ("POST /api/licence/trial", Needs::SetUp),
    ("PATCH /api/organizations/{organizationId}", Needs::Session),
    ("DELETE /api/organizations/{organizationId}", Needs::Session),
    ("PATCH /api/users/{userId}", Needs::Session),
    ("DELETE /api/users/{userId}", Needs::Session),
    ("PUT /api/members/{userId}", Needs::Session),
    ("DELETE /api/members/{userId}", Needs::Session),
    ("POST /api/grants", Needs::Session),
    ("POST /api/test/clock", Needs::Session),
    // A job that has ended can't be cancelled, and a job that is begun soon has.
    ("DELETE /api/vector-databases/ingestion-jobs/{jobId}", Needs::Waiting),
];

/// Whether an operation runs apart.
pub(crate) fn is_apart(operation: &Operation) -> bool {
    needs(operation).is_some()
}

fn needs(operation: &Operation) -> Option<Needs> {
    let label = operation.label();
    APART.iter().find(|(name, _)| *name == label).map(|(_, needs)| *needs)
}

/// Runs the tool over one operation on a fresh server.
pub(crate) async fn run(
    setting: &Setting<'_>,
    document_name: &str,
    operation: &Operation,
    seen: &mut Seen,
) -> Result<bool> {
    let needs = needs(operation).unwrap_or(Needs::Session);
    let demo = matches!(needs, Needs::Session | Needs::Password | Needs::Waiting);
    let arguments = if needs == Needs::Waiting { vec!["--no-background"] } else { Vec::new() };
    let around = Surroundings { arguments, ..Surroundings::default() };
    let mut server = setting.server(Mode { demo, test_clock: true }, around).await?;
    let label = operation.label();
    let (token, fixtures, address) = prepare(&server, document_name, operation, needs)
        .await
        .with_context(|| format!("the fixtures of {label}"))?;
    let name: String = label
        .chars()
        .map(|mark| if mark.is_ascii_alphanumeric() { mark.to_ascii_lowercase() } else { '-' })
        .collect();
    let start = Start {
        name: &name,
        document: address,
        token: token.as_deref(),
        only: &[label],
        fixtures: &fixtures,
        max_examples: setting.options.max_examples,
        phases: &setting.options.phases,
        seed: setting.seed,
    };
    let clean = setting.start(&start, seen)?;
    server.stop().await?;
    Ok(clean)
}

async fn prepare(
    server: &Server,
    document_name: &str,
    operation: &Operation,
    needs: Needs,
) -> Result<(Option<String>, Fixtures, String)> {
    let facts = server.facts();
    let address = format!("{}/{document_name}.json", facts.address);
    let anonymous = Client::with_token(&facts.address, "")?;
    let document = fetch(&anonymous, document_name).await?;
    match needs {
        Needs::Nothing => {
            let body = set_up_body(&document, server)?;
            Ok((None, one(operation, body), address))
        }
        Needs::SetUp => {
            let body = set_up_body(&document, server)?;
            anonymous.post("/api/setup", &body).await?.data().context("POST /api/setup")?;
            let text = |name: &str| find(&body, name).and_then(Value::as_str).map(str::to_owned);
            let email = text("email").context("the set-up names no e-mail")?;
            let password = text("password").context("the set-up names no password")?;
            let client = Client::sign_in(&facts.address, &email, &password).await?;
            let mut fixtures = Fixtures { organization: client.organization().await?, ..Fixtures::default() };
            fixtures.cases.insert(operation.label(), vec![json!({})]);
            Ok((Some(client.token()), fixtures, address))
        }
        Needs::Password => {
            let client = sign_in(server).await?;
            let mut body = document.sample(operation).context("the operation takes no JSON")?;
            let password = facts.password.as_deref().context("the ready file names no password")?;
            for (member, value) in body.as_object_mut().into_iter().flatten() {
                match member.as_str() {
                    "email" => *value = json!(facts.email),
                    "password" | "currentPassword" | "oldPassword" => *value = json!(password),
                    _ => {}
                }
            }
            let anonymous = operation.path.ends_with("/sign-in");
            let token = (!anonymous).then(|| client.token());
            Ok((token, one(operation, body), address))
        }
        Needs::Session | Needs::Waiting => {
            let client = sign_in(server).await?;
            let mut fixtures = make(&client, &document, std::slice::from_ref(operation)).await?;
            if operation.path == "/api/licence" {
                let body = json!({"licence": licence()?});
                fixtures.cases.insert(operation.label(), vec![json!({ "body": body })]);
            }
            Ok((Some(client.token()), fixtures, address))
        }
    }
}

/// A set-up with the server's own one-time token.
fn set_up_body(document: &Document, server: &Server) -> Result<Value> {
    let operation = Operation { method: "POST".to_owned(), path: "/api/setup".to_owned() };
    let mut body = document.sample(&operation).context("POST /api/setup takes no JSON")?;
    let token = server.facts().setup_token.as_deref().context("the ready file names no set-up token")?;
    for (member, value) in body.as_object_mut().into_iter().flatten() {
        if matches!(member.as_str(), "token" | "setupToken") {
            *value = json!(token);
        }
    }
    Ok(body)
}

fn one(operation: &Operation, body: Value) -> Fixtures {
    let mut fixtures = Fixtures::default();
    fixtures.cases.insert(operation.label(), vec![json!({ "body": body })]);
    fixtures
}

/// A member by its name, at any depth.
fn find<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    let members = value.as_object()?;
    members.get(name).or_else(|| members.values().find_map(|member| find(member, name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_that_shut_the_caller_out_run_apart() {
        let operation =
            |method: &str, path: &str| Operation { method: method.to_owned(), path: path.to_owned() };
        assert!(is_apart(&operation("POST", "/api/auth/sign-out")));
        assert_eq!(needs(&operation("POST", "/api/setup")), Some(Needs::Nothing));
        assert!(!is_apart(&operation("GET", "/api/auth/session")));
        assert!(!is_apart(&operation("POST", "/api/workflows")));
    }

    #[test]
    fn members_are_found_at_any_depth() {
        let body = json!({"a": 1, "administrator": {"email": "e"}});
        assert_eq!(find(&body, "email"), Some(&json!("e")));
        assert_eq!(find(&body, "none"), None);
    }
}
