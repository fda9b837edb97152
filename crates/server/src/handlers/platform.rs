//! Health, the documents, and the test clock.

use std::sync::OnceLock;

use bytes::Bytes;
use heddle_api::operations::ops;
use heddle_api::{openapi, wire};
use heddle_kernel::Clock as _;

use crate::call::{PublicCall, SessionCall};
use crate::failure::Failure;
use crate::reply::{Content, HandlerResult, Response};

/// The checks of readiness, each with what is wrong.
async fn checks(app: &crate::app::App) -> Vec<wire::health::HealthCheck> {
    let check = |name: &str, problem: Option<String>| wire::health::HealthCheck {
        name: name.to_owned(),
        status: if problem.is_none() {
            wire::health::HealthStatus::Ok
        } else {
            wire::health::HealthStatus::Unavailable
        },
        message: problem,
    };
    let database = app.db.ping().await.err().map(|_| "The database does not answer.".to_owned());
    let migrations = match app.db.migrations_pending(&crate::stores::migrations()).await {
        Ok(pending) if pending.is_empty() => None,
        Ok(pending) => Some(format!("{} migrations are pending.", pending.len())),
        Err(_) => Some("The database does not answer.".to_owned()),
    };
    // The key was checked against the database at the start; a server with a wrong one does not run.
    vec![
        check("database", database),
        check("migrations", migrations),
        check("key", None),
        check("roles", app.config.roles.is_empty().then(|| "This node has no service role.".to_owned())),
    ]
}

fn is_ok(check: &wire::health::HealthCheck) -> bool {
    check.status == wire::health::HealthStatus::Ok
}

fn health_of(checks: &[wire::health::HealthCheck]) -> wire::health::HealthStatus {
    if checks.iter().all(is_ok) {
        wire::health::HealthStatus::Ok
    } else {
        wire::health::HealthStatus::Unavailable
    }
}

/// GET /health/live: touches nothing.
pub(crate) async fn live(_: PublicCall<ops::GetLiveness>) -> HandlerResult {
    Response::data(
        200,
        wire::health::Health { status: wire::health::HealthStatus::Ok, version: None, checks: None },
    )
}

/// GET /health/ready
pub(crate) async fn ready(call: PublicCall<ops::GetReadiness>) -> HandlerResult {
    let checks = checks(&call.app).await;
    if checks.iter().all(is_ok) {
        let status = wire::health::HealthStatus::Ok;
        return Response::data(200, wire::health::Health { status, version: None, checks: None });
    }
    let failed: Vec<_> = checks.iter().filter(|check| !is_ok(check)).collect();
    let mut failure = Failure::unavailable("");
    failure.cause = None;
    failure.error.details = failed
        .into_iter()
        .map(|check| {
            heddle_api::Detail::at(check.name.clone(), "notReady", check.message.clone().unwrap_or_default())
        })
        .collect();
    Err(failure)
}

/// GET /health: the status for everybody; version and checks for who is signed in and may read the organisation.
pub(crate) async fn health(call: PublicCall<ops::GetHealth>) -> HandlerResult {
    let checks = checks(&call.app).await;
    let status = health_of(&checks);
    let token = call.meta.token.as_deref();
    let caller = match token {
        Some(token) => call.app.identity.authenticate(token, None, call.facts.now).await.ok().flatten(),
        None => None,
    };
    let informed =
        caller.is_some_and(|caller| caller.snapshot.holds(heddle_policy::Permission::OrganizationsView));
    Response::data(
        200,
        wire::health::Health {
            status,
            version: informed.then(|| env!("CARGO_PKG_VERSION").to_owned()),
            checks: informed.then_some(checks),
        },
    )
}

/// GET /openapi.json
pub(crate) async fn openapi(_: PublicCall<ops::GetContractDocument>) -> HandlerResult {
    static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
    Ok(document(DOCUMENT.get_or_init(|| openapi::contract_json().to_string().into())))
}

/// GET /openapi-platform.json
pub(crate) async fn openapi_platform(_: PublicCall<ops::GetPlatformDocument>) -> HandlerResult {
    static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
    Ok(document(DOCUMENT.get_or_init(|| openapi::platform_json().to_string().into())))
}

fn document(text: &Bytes) -> Response {
    let content = Content::Bytes(text.clone(), "application/json".to_owned());
    Response { status: 200, headers: Vec::new(), content }
}

/// GET /docs
pub(crate) async fn docs(call: PublicCall<ops::GetDocs>) -> HandlerResult {
    if !call.app.config.docs {
        return Err(Failure::not_found());
    }
    crate::swagger::page("index.html").ok_or_else(Failure::not_found)
}

/// POST /api/test/clock
pub(crate) async fn advance_clock(call: SessionCall<ops::AdvanceTestClock>) -> HandlerResult {
    if !call.app.config.test_clock {
        return Err(Failure::not_found());
    }
    let target = call.app.clock.now().plus_millis(call.body.advance.millis());
    let now = call.app.worker.advance_clock(target).await?;
    Response::data(200, wire::health::ClockReading { now })
}
