//! Health, the documents, and the test clock.

use std::sync::OnceLock;

use bytes::Bytes;
use heddle_api::operations::ops;
use heddle_api::{openapi, wire};
use heddle_kernel::Clock as _;

use crate::call::{PublicCall, SessionCall};
use crate::failure::Failure;
use crate::readiness;
use crate::reply::{Content, HandlerResult, Response};

/// GET /health/live: touches nothing.
pub(crate) async fn live(_: PublicCall<ops::GetLiveness>) -> HandlerResult {
    Response::data(
        200,
        wire::health::Health { status: wire::health::HealthStatus::Ok, version: None, checks: None },
    )
}

/// GET /health/ready
pub(crate) async fn ready(call: PublicCall<ops::GetReadiness>) -> HandlerResult {
    let checks = readiness::checks(&call.app).await;
    let failed: Vec<_> =
        checks.iter().filter(|check| check.status == wire::health::HealthStatus::Unavailable).collect();
    if failed.is_empty() {
        let status = wire::health::HealthStatus::Ok;
        return Response::data(200, wire::health::Health { status, version: None, checks: None });
    }
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
    let checks = readiness::checks(&call.app).await;
    let status = readiness::health_of(&checks);
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

/// GET /openapi-compatibility.json
pub(crate) fn openapi_compatibility() -> Response {
    static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
    document(DOCUMENT.get_or_init(|| openapi::compatibility_json().to_string().into()))
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
    crate::swagger::page("index.html", &[]).ok_or_else(Failure::not_found)
}

/// POST /api/test/clock
pub(crate) async fn advance_clock(call: SessionCall<ops::AdvanceTestClock>) -> HandlerResult {
    if !call.app.config.test_clock {
        return Err(Failure::not_found());
    }
    let target = call.app.clock.now().plus_millis(call.body.advance.millis());
    let now = call.app.worker.advance_clock(target).await?;
    // What each minute brings has come in the time that passed: the time is noted, and a change of the licence's state.
    call.app.identity.tick().await?;
    Response::data(200, wire::health::ClockReading { now })
}
