//! The edge: actix requests in, answers out. Everything that is HTTP and nothing else.

use std::future::ready;
use std::sync::Arc;

use actix_web::http::{Method as HttpMethod, StatusCode, header};
use actix_web::web::{self, Payload, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use bytes::{Bytes, BytesMut};
use futures::StreamExt as _;
use heddle_api::operations::{Method, OperationId, OperationSpec};
use heddle_api::{ApiError, Detail, ErrorCode};
use heddle_identity::Authenticated;
use heddle_kernel::{Clock as _, RequestId};
use heddle_policy::RequestFacts;

use crate::app::App;
use crate::bind::Handler;
use crate::credentials::{COOKIE, DEVICE_COOKIE};
use crate::dispatch::{Placed, dispatch};
use crate::failure::Failure;
use crate::gate::enter;
use crate::incoming::{Headers, Incoming, RequestCredentials};
use crate::reply::{Content, HandlerResult, Response};
use crate::routes;

/// Puts every row of the operations table on its path.
pub(crate) fn configure(config: &mut ServiceConfig, app: &Arc<App>) {
    let mut paths: Vec<&'static str> = OperationId::ALL.iter().map(|id| id.spec().path).collect();
    // A literal segment stands before a parameter, or the parameter would take it.
    paths.sort_by_key(|path| path.split('/').map(|part| part.starts_with('{')).collect::<Vec<_>>());
    paths.dedup();
    for path in paths {
        config.service(resource(path, app));
    }
    if app.config.docs {
        let app = Arc::clone(app);
        // The files of the page at `/docs`: parts of one operation, not operations of their own.
        config.route(
            "/docs/{file}",
            web::get().to(move |request: HttpRequest, file: web::Path<String>| {
                let answer = crate::swagger::page(&file).ok_or_else(Failure::not_found);
                ready(respond(&app, &request, request_id(&app, &request), answer))
            }),
        );
    }
    let fallback = Arc::clone(app);
    config.default_service(web::to(move |request: HttpRequest| {
        let failure = Failure::not_found();
        ready(respond(&fallback, &request, request_id(&fallback, &request), Err(failure)))
    }));
}

fn resource(path: &'static str, app: &Arc<App>) -> actix_web::Resource {
    let rows: Vec<_> = OperationId::ALL.iter().copied().filter(|id| id.spec().path == path).collect();
    let allow = rows.iter().map(|id| id.spec().method.as_str()).collect::<Vec<_>>().join(", ");
    let mut resource = web::resource(path);
    for id in rows {
        let (spec, handler, app) = (id.spec(), routes::handler(id), Arc::clone(app));
        let answer = move |request: HttpRequest, payload: Payload| {
            serve(Arc::clone(&app), spec, Arc::clone(&handler), request, payload)
        };
        resource = match spec.method {
            Method::Get => {
                resource.route(web::get().to(answer.clone())).route(web::method(HttpMethod::HEAD).to(answer))
            }
            Method::Post => resource.route(web::post().to(answer)),
            Method::Put => resource.route(web::put().to(answer)),
            Method::Patch => resource.route(web::patch().to(answer)),
            Method::Delete => resource.route(web::delete().to(answer)),
        };
    }
    let app = Arc::clone(app);
    resource.default_service(web::to(move |request: HttpRequest| {
        let mut failure = Failure::from(ApiError::new(ErrorCode::MethodNotAllowed));
        failure.allow = Some(allow.clone());
        ready(respond(&app, &request, request_id(&app, &request), Err(failure)))
    }))
}

async fn serve(
    app: Arc<App>,
    spec: &'static OperationSpec,
    handler: Handler,
    request: HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let id = request_id(&app, &request);
    let outcome = run(&app, spec, handler, &request, id.clone(), payload).await;
    respond(&app, &request, id, outcome)
}

async fn run(
    app: &Arc<App>,
    spec: &'static OperationSpec,
    handler: Handler,
    request: &HttpRequest,
    id: RequestId,
    payload: Payload,
) -> HandlerResult {
    announced_length(spec, request)?;
    let facts = RequestFacts { request_id: id, now: app.clock.now(), client_ip: client_ip(app, request) };
    let headers = headers(request)?;
    let path: Vec<(String, String)> =
        request.match_info().iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let caller = enter(app, spec, &facts, &headers, &path).await?;
    let incoming = Incoming {
        facts,
        path,
        raw_path: request.path().to_owned(),
        query: request.query_string().to_owned(),
        body: read(spec, payload).await?,
        headers,
    };
    let tenant = caller.as_ref().and_then(Authenticated::tenant);
    let placed = Placed { spec, tenant, body: incoming.body.len() };
    dispatch(app, placed, handler(Arc::clone(app), incoming, caller)).await
}

fn too_large(spec: &OperationSpec) -> Failure {
    let message = format!("The body may have {} bytes.", spec.body_limit);
    let detail = Detail::new("tooLarge", message).with("limit", spec.body_limit);
    ApiError::because(ErrorCode::PayloadTooLarge, detail).into()
}

/// The most bytes read for an operation that takes no body: enough to see that there is one.
const NO_BODY: usize = 1024;

fn announced_length(spec: &OperationSpec, request: &HttpRequest) -> Result<(), Failure> {
    let announced = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    match announced.and_then(|text| text.parse::<usize>().ok()) {
        Some(length) if length > spec.body_limit.max(NO_BODY) => Err(too_large(spec)),
        _ => Ok(()),
    }
}

async fn read(spec: &OperationSpec, mut payload: Payload) -> Result<Bytes, Failure> {
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let broken =
            |error: actix_web::error::PayloadError| Failure::at("body", "incomplete", error.to_string());
        let chunk = chunk.map_err(broken)?;
        if body.len() + chunk.len() > spec.body_limit.max(NO_BODY) {
            return Err(too_large(spec));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

fn request_id(app: &App, request: &HttpRequest) -> RequestId {
    app.request_id(request.headers().get("x-request-id").and_then(|value| value.to_str().ok()))
}

fn client_ip(app: &App, request: &HttpRequest) -> Option<String> {
    let peer = request.peer_addr()?.ip();
    if !app.config.trusted_proxies.contains(&peer) {
        return Some(peer.to_string());
    }
    // The last address that is not one of our proxies: what stands before it can be made up.
    let forwarded =
        request.headers().get("x-forwarded-for").and_then(|value| value.to_str().ok()).unwrap_or("");
    let theirs = |text: &str| {
        text.trim().parse::<std::net::IpAddr>().ok().filter(|ip| !app.config.trusted_proxies.contains(ip))
    };
    Some(forwarded.rsplit(',').find_map(theirs).unwrap_or(peer).to_string())
}

fn headers(request: &HttpRequest) -> Result<Headers, Failure> {
    let all = request.headers();
    let text = |name: &str| all.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let authorization = text("authorization");
    let bearer = authorization.as_deref().and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
    });
    let unreadable = all.iter().find(|(name, value)| {
        matches!(name.as_str(), "x-organization-id" | "idempotency-key" | "if-match")
            && value.to_str().is_err()
    });
    if let Some((name, _)) = unreadable {
        return Err(Failure::at(name.as_str(), "wrongType", "The header holds characters outside of ASCII."));
    }
    Ok(Headers {
        presented: RequestCredentials {
            bearer,
            cookie: request.cookie(COOKIE).map(|cookie| cookie.value().to_owned()),
            fetch_site: text("sec-fetch-site"),
            origin: text("origin"),
            host: text("host"),
        },
        organization: text("x-organization-id"),
        content_type: text("content-type"),
        accept: text("accept"),
        if_match: text("if-match"),
        idempotency_key: text("idempotency-key"),
        last_event_id: text("last-event-id"),
        user_agent: text("user-agent").map(|agent| agent.chars().take(300).collect()),
        device: request.cookie(DEVICE_COOKIE).map(|cookie| cookie.value().to_owned()),
    })
}

fn respond(app: &App, request: &HttpRequest, id: RequestId, outcome: HandlerResult) -> HttpResponse {
    let answer = outcome.unwrap_or_else(|failure| failed(request, &id, failure));
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = HttpResponse::build(status);
    common_headers(app, &mut response, &id);
    for (name, value) in answer.headers {
        // Each cookie is a line of its own.
        match name {
            "set-cookie" => response.append_header((name, value)),
            _ => response.insert_header((name, value)),
        };
    }
    match answer.content {
        Content::Empty => response.finish(),
        Content::Bytes(bytes, media) => response.insert_header((header::CONTENT_TYPE, media)).body(bytes),
        Content::Stream(stream, media) => {
            response.insert_header((header::CONTENT_TYPE, media)).streaming(stream)
        }
    }
}

fn common_headers(app: &App, response: &mut HttpResponseBuilder, id: &RequestId) {
    response
        .insert_header(("x-request-id", id.as_str()))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
    if let Some(warning) = app.identity.licence_state().state.warning() {
        response.insert_header(("x-licence-warning", warning));
    }
}

/// The error body, in the form that the caller accepts; the cause goes to the log once.
fn failed(request: &HttpRequest, id: &RequestId, failure: Failure) -> Response {
    if let Some(cause) = &failure.cause {
        tracing::error!(request_id = %id, code = %failure.error.code, cause, "a request failed");
    }
    let accept = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("");
    let problem = accept.contains("application/problem+json");
    let encoded = if problem {
        serde_json::to_vec(&failure.error.to_problem(id))
    } else {
        serde_json::to_vec(&failure.error.to_body(id))
    };
    let media = if problem { "application/problem+json" } else { "application/json" };
    let mut headers = Vec::new();
    headers.extend(failure.retry_after.map(|seconds| ("retry-after", seconds.to_string())));
    headers.extend(failure.allow.map(|methods| ("allow", methods)));
    if failure.error.code == ErrorCode::AuthenticationRequired {
        headers.push(("www-authenticate", "Bearer".to_owned()));
    }
    // The body is made of texts: it always encodes.
    let content = Content::Bytes(encoded.unwrap_or_default(), media.to_owned());
    Response { status: failure.error.status(), headers, content }
}
