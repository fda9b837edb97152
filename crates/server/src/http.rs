//! HTTP: actix requests in, answers out, and nothing else.

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use actix_web::http::header::HeaderValue;
use actix_web::http::{Method as HttpMethod, StatusCode, header};
use actix_web::web::{self, Payload, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use futures::StreamExt as _;
use heddle_api::contract::MediaType;
use heddle_api::operations::{OperationId, OperationSpec, Security};
use heddle_api::{ApiError, Detail, ErrorCode, Face};
use heddle_edge::connection::{Link, Open};
use heddle_edge::{HeldBody, Pace};
use heddle_identity::Authenticated;
use heddle_kernel::{Clock as _, RequestId};
use heddle_policy::RequestFacts;
use tokio::time::Instant;

use crate::accept::Accept;
use crate::answer::Answer;
use crate::app::App;
use crate::bind::Handler;
use crate::command_line::LocalCall;
use crate::credentials::{COOKIE, DEVICE_COOKIE, SIGN_IN_COOKIE};
use crate::dispatch::{Placed, dispatch};
use crate::failure::Failure;
use crate::gate::{Entered, enter};
use crate::incoming::{Headers, Incoming, RequestCredentials, parameter};
use crate::paths::{FILE, Found, Page, Paths, Place, Row};
use crate::reply::{Content, HandlerResult, Response};
use crate::request_log::{AtTheEnd, Line, NO_ROUTE};
use crate::sign_in_pages;
use crate::upload::{self, Upload, too_large, too_slow};

const JSON: &str = "application/json";
const PROBLEM: &str = "application/problem+json";

/// Puts every row of the operations table on its path, and the pages beside them.
///
/// Paths are found by a tree and not by actix's list, which tries one expression after the other: with some 300 of them
/// that takes longer than answering.
pub(crate) fn configure(config: &mut ServiceConfig, app: &Arc<App>) {
    let (paths, app) = (Rc::new(Paths::new(app.config.docs)), Arc::clone(app));
    config.default_service(web::to(move |request: HttpRequest, payload: Payload| {
        answered(Arc::clone(&app), Rc::clone(&paths), request, payload)
    }));
}

/// Answers a request by what stands on its path.
async fn answered(app: Arc<App>, paths: Rc<Paths>, request: HttpRequest, payload: Payload) -> HttpResponse {
    let found = paths.find(request.match_info().unprocessed());
    let (route, outcome) = match found {
        Some(Found { place: Place::Operations(rows), route, path }) => match rows.of(request.method()) {
            Some(row) => return serve(app, row, path, request, payload).await,
            None => (route, Err(not_allowed(rows.allow.clone()))),
        },
        Some(Found { place: Place::Page(page), route, path }) => match *request.method() {
            HttpMethod::GET | HttpMethod::HEAD => (route, shown(&app, *page, &path)),
            _ => (route, Err(not_allowed("GET, HEAD".to_owned()))),
        },
        None => (NO_ROUTE, Err(Failure::not_found())),
    };
    let exchange = Exchange::begin(&app, &request, route);
    respond(&app, &request, exchange, outcome)
}

fn not_allowed(allow: String) -> Failure {
    let mut failure = Failure::from(ApiError::new(ErrorCode::MethodNotAllowed));
    failure.allow = Some(allow);
    failure
}

fn shown(app: &App, page: Page, path: &[(String, String)]) -> HandlerResult {
    match page {
        Page::Compatibility => Ok(crate::handlers::platform::openapi_compatibility()),
        Page::Lead => Ok(Response { status: 302, ..Response::none() }.with("location", "/docs")),
        Page::DocsFile => parameter(path, FILE)
            .and_then(|file| crate::swagger::page(file, app.sign_ins.offered()))
            .ok_or_else(Failure::not_found),
    }
}

/// Request on its way to its answer.
struct Exchange {
    id: RequestId,
    open: Open,
    /// Whether the caller is known: strangers are told less.
    known: bool,
    /// Template of the path, for the log.
    route: &'static str,
    /// Whether the answer is worth nothing to a client that has hung up, and costs something elsewhere.
    infers: bool,
    begun: Instant,
}

impl Exchange {
    fn begin(app: &App, request: &HttpRequest, route: &'static str) -> Self {
        let (id, open) = (request_id(app, request), opened(request));
        Self { id, open, known: false, route, infers: false, begun: Instant::now() }
    }
}

async fn serve(
    app: Arc<App>,
    row: &Row,
    path: Vec<(String, String)>,
    request: HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let spec = row.spec;
    let mut exchange = Exchange::begin(&app, &request, spec.path);
    exchange.infers = spec.id.infers();
    let outcome = run(&app, row, path, &request, &mut exchange, payload).await;
    respond(&app, &request, exchange, outcome)
}

async fn run(
    app: &Arc<App>,
    row: &Row,
    path: Vec<(String, String)>,
    request: &HttpRequest,
    exchange: &mut Exchange,
    payload: Payload,
) -> HandlerResult {
    let Row { spec, handler } = row;
    announced_length(app, spec, request)?;
    let client = client(app, request);
    let facts = RequestFacts {
        request_id: exchange.id.clone(),
        now: app.clock.now(),
        client_ip: client.map(|client| client.to_string()),
    };
    if let (Some(peer), Some(client)) = (request.peer_addr(), client) {
        exchange.open.hold(app.edge.request(peer.ip(), client)?);
    }
    let headers = headers(request)?;
    let stranger = spec.security == Security::Public || headers.presented.token().is_none();
    if stranger {
        anonymous(app, spec, client)?;
    }
    let caller = match enter(app, spec, &facts, &headers, &path).await {
        // A token that is none makes nobody known.
        Err(failure) if !stranger && failure.error.code == ErrorCode::AuthenticationRequired => {
            anonymous(app, spec, client)?;
            return Err(failure);
        }
        entered => match entered? {
            Entered::Caller(caller) => caller,
            Entered::DoneBefore => return Ok(Response::none()),
        },
    };
    exchange.known = caller.is_some();
    let pace = app.edge.limits().pace;
    let (body, upload) = match is_upload(spec, headers.content_type.as_deref()) {
        true => (Bytes::new(), Some(Upload::begin(headers.content_type.as_deref(), pace, payload)?)),
        false => {
            let mut held = app.edge.body(caller.as_ref().and_then(Authenticated::tenant));
            let body = read(spec, pace, &mut held, payload).await?;
            exchange.open.has_read(held);
            (body, None)
        }
    };
    let incoming = Incoming {
        facts,
        path,
        raw_path: request.path().to_owned(),
        query: request.query_string().to_owned(),
        body,
        identity: None,
        upload,
        headers,
    };
    let (upload, tenant) = (incoming.upload.clone(), caller.as_ref().and_then(Authenticated::tenant));
    let work = carry_out(app, spec, handler, incoming, caller);
    let outcome = match spec.id.infers() {
        true => unless_left(exchange.open.left(), work).await,
        false => work.await,
    };
    if let (Some(upload), Some(tenant)) = (upload, tenant)
        && is_untaken(&outcome)
    {
        upload.discard(app, tenant).await;
    }
    outcome
}

/// Carries out what is given up as soon as its client hangs up.
async fn unless_left(
    left: impl Future<Output = ()>,
    work: impl Future<Output = HandlerResult>,
) -> HandlerResult {
    tokio::select! {
        biased;
        outcome = work => outcome,
        () = left => Err(Failure::because(
            ErrorCode::InvalidRequestBody,
            "hungUp",
            "The client hung up before there was an answer.",
        )),
    }
}

/// Whether a call surely took nothing of what was stored for it: it was refused, or it repeats another one.
fn is_untaken(outcome: &HandlerResult) -> bool {
    match outcome {
        Ok(answer) => answer.is_replay(),
        Err(failure) => failure.error.status() < 500,
    }
}

/// Most times that a call is decided anew because others changed what it rests on while it was decided.
const RACES: usize = 40;

/// Carries a call out. What was changed in the meantime, by calls of others, is looked at anew: the thing itself, or the
/// rights by which the caller may change it. Only a revision that the caller named is a reason to refuse.
async fn carry_out(
    app: &Arc<App>,
    spec: &'static OperationSpec,
    handler: &Handler,
    incoming: Incoming,
    mut caller: Option<Authenticated>,
) -> HandlerResult {
    let body = incoming.body.len();
    let place = |caller: Option<&Authenticated>| Placed {
        spec,
        tenant: caller.and_then(Authenticated::tenant),
        body,
    };
    if spec.audit_event.is_none() {
        let placed = place(caller.as_ref());
        return dispatch(app, placed, handler(Arc::clone(app), incoming, caller)).await;
    }
    let mut races = 0;
    loop {
        let work = handler(Arc::clone(app), incoming.clone(), caller.clone());
        match dispatch(app, place(caller.as_ref()), work).await {
            Err(failure) if races < RACES && failure.is_race() => races += 1,
            outcome => return outcome,
        }
        match enter(app, spec, &incoming.facts, &incoming.headers, &incoming.path).await? {
            Entered::Caller(present) => caller = present,
            Entered::DoneBefore => return Ok(Response::none()),
        }
    }
}

/// Counts a request of somebody who is not known. Whether the service lives is told to everybody at any time.
fn anonymous(app: &App, spec: &OperationSpec, client: Option<IpAddr>) -> Result<(), Failure> {
    let (Some(client), true) = (client, spec.id != OperationId::GetLiveness) else { return Ok(()) };
    app.edge.anonymous(client).map_err(|wait| {
        let limit = app.edge.limits().anonymous_per_second;
        let seconds = wait.as_secs() + 1;
        let message =
            format!("An address may make {limit} anonymous requests a second; try again in {seconds} s.");
        let detail = Detail::new("anonymousRate", message)
            .with("limit", "anonymous_requests_per_second")
            .with("retryAfterSeconds", seconds);
        let error = ApiError::because(ErrorCode::RateLimited, detail);
        Failure { retry_after: Some(seconds), ..error.into() }
    })
}

/// Whether a request brings files, which are stored as they come instead of being held.
fn is_upload(spec: &OperationSpec, content_type: Option<&str>) -> bool {
    spec.body.accepts(content_type) == Some(MediaType::Files)
}

/// The most bytes read for an operation that takes no body: enough to see that there is one.
const NO_BODY: usize = 1024;

fn announced_length(app: &App, spec: &OperationSpec, request: &HttpRequest) -> Result<(), Failure> {
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    let limit = match is_upload(spec, text(header::CONTENT_TYPE)) {
        true => upload::most_bytes(app),
        false => spec.body_limit as u64,
    };
    match text(header::CONTENT_LENGTH).and_then(|text| text.parse::<u64>().ok()) {
        Some(length) if length > limit.max(NO_BODY as u64) => Err(too_large(limit)),
        _ => Ok(()),
    }
}

/// Reads the body, which has to come at the least pace.
async fn read(
    spec: &OperationSpec,
    pace: Pace,
    held: &mut HeldBody,
    mut payload: Payload,
) -> Result<Bytes, Failure> {
    let begin = Instant::now();
    let mut body = BytesMut::new();
    loop {
        let deadline = pace.deadline(begin, body.len());
        let chunk = match tokio::time::timeout_at(deadline, payload.next()).await {
            Ok(Some(Ok(chunk))) => chunk,
            Ok(Some(Err(error))) => return Err(Failure::at("body", "incomplete", error.to_string())),
            Ok(None) => return Ok(body.freeze()),
            Err(_elapsed) => return Err(too_slow(pace)),
        };
        if body.len() + chunk.len() > spec.body_limit.max(NO_BODY) {
            return Err(too_large(spec.body_limit as u64));
        }
        held.reach(body.len() + chunk.len())?;
        body.extend_from_slice(&chunk);
    }
}

/// Begin of a request's answer: its connection learns of it.
fn opened(request: &HttpRequest) -> Open {
    let link = request.conn_data::<Rc<Link>>().cloned();
    Open::begin(link, request.headers().contains_key(header::TRANSFER_ENCODING))
}

fn request_id(app: &App, request: &HttpRequest) -> RequestId {
    app.request_id(request.headers().get("x-request-id").and_then(|value| value.to_str().ok()))
}

fn client(app: &App, request: &HttpRequest) -> Option<IpAddr> {
    let lines: Vec<&[u8]> = request.headers().get_all("x-forwarded-for").map(HeaderValue::as_bytes).collect();
    Some(app.edge.client(request.peer_addr()?.ip(), lines.into_iter()))
}

/// Headers that decide who asks, where and under which condition, by their names in errors: one line each, or another
/// reader on the way may have gone by the other one.
const ONCE: [&str; 4] = ["Authorization", "X-Organization-Id", "Idempotency-Key", "If-Match"];

fn headers(request: &HttpRequest) -> Result<Headers, Failure> {
    let all = request.headers();
    if let Some(name) = ONCE.into_iter().find(|name| all.get_all(*name).nth(1).is_some()) {
        return Err(Failure::at(name, "duplicate", "The header may stand in a request once."));
    }
    let text = |name: &str| all.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let authorization = text("authorization");
    let bearer = authorization.as_deref().and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        if scheme.eq_ignore_ascii_case("bearer") {
            return Some(token.trim().to_owned());
        }
        // Clients of other products know a name and a password: the token is the password.
        let takes_basic = matches!(Face::of_path(request.path()), Face::Camunda7 | Face::Camunda8);
        (takes_basic && scheme.eq_ignore_ascii_case("basic")).then(|| password(token.trim())).flatten()
    });
    let bearer = match (bearer, api_key(request)?) {
        (bearer, Some(key)) if authorization.is_some() && bearer.as_deref() != Some(key.as_str()) => {
            let message = "The header says another token than `Authorization`.";
            return Err(Failure::at(API_KEY, "notAllowed", message));
        }
        (bearer, key) => bearer.or(key),
    };
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
        accept: accept(request),
        if_match: text("if-match"),
        idempotency_key: text("idempotency-key"),
        last_event_id: text("last-event-id"),
        user_agent: text("user-agent").map(|agent| agent.chars().take(300).collect()),
        device: request.cookie(DEVICE_COOKIE).map(|cookie| cookie.value().to_owned()),
        sign_in: request.cookie(SIGN_IN_COOKIE).map(|cookie| cookie.value().to_owned()),
        all: headers_of_hook(request),
        local: LocalCall::of(request)?,
    })
}

/// Header in which clients of Anthropic's interface send their token.
const API_KEY: &str = "x-api-key";

/// The token that a client of Anthropic's interface sends, at the paths of that interface alone.
fn api_key(request: &HttpRequest) -> Result<Option<String>, Failure> {
    if Face::of_path(request.path()) != Face::Anthropic {
        return Ok(None);
    }
    let mut lines = request.headers().get_all(API_KEY);
    let (first, second) = (lines.next(), lines.next());
    if second.is_some() {
        return Err(Failure::at(API_KEY, "duplicate", "The header may stand in a request once."));
    }
    Ok(first.and_then(|value| value.to_str().ok()).map(|key| key.trim().to_owned()))
}

/// Most headers of a call at a hook that are looked at.
const HOOK_HEADERS: usize = 100;

/// All headers that are text, of a call at a hook; none of any other.
fn headers_of_hook(request: &HttpRequest) -> Vec<(String, String)> {
    if !request.path().starts_with("/api/hooks/") {
        return Vec::new();
    }
    let text = |(name, value): (&header::HeaderName, &HeaderValue)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    };
    request.headers().iter().filter_map(text).take(HOOK_HEADERS).collect()
}

/// The password of basic authentication (RFC 7617, 2), whatever the name before it.
fn password(credentials: &str) -> Option<String> {
    let bytes = STANDARD.decode(credentials).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    text.split_once(':').map(|(_, password)| password.to_owned())
}

/// Media types that the caller takes, from all lines of the header.
fn accept(request: &HttpRequest) -> Option<String> {
    let lines: Vec<&str> =
        request.headers().get_all(header::ACCEPT).filter_map(|value| value.to_str().ok()).collect();
    (!lines.is_empty()).then(|| lines.join(", "))
}

/// The answer to a request that is no operation's.
pub(crate) async fn answer(
    app: &App,
    request: &HttpRequest,
    route: &'static str,
    outcome: impl Future<Output = HandlerResult>,
) -> HttpResponse {
    let exchange = Exchange::begin(app, request, route);
    respond(app, request, exchange, outcome.await)
}

fn respond(app: &App, request: &HttpRequest, exchange: Exchange, outcome: HandlerResult) -> HttpResponse {
    let Exchange { id, open, known, route, infers, begun } = exchange;
    let open = open.answered();
    let cause = outcome.as_ref().err().and_then(|failure| failure.cause.clone());
    let answer = outcome.unwrap_or_else(|failure| failed(request, &id, failure));
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = HttpResponse::build(status);
    common_headers(&mut response, &id, app.config.speaks_tls());
    if Face::of_path(request.path()) == Face::Anthropic {
        response.insert_header(("request-id", id.as_str()));
    }
    let line = Line { method: request.method().clone(), route, status: answer.status, id, begun, cause };
    if let (true, Some(warning)) = (known, app.identity.licence_warning()) {
        response.insert_header(("x-licence-warning", warning));
    }
    if app.edge.is_crowded() {
        response.force_close();
    }
    for (name, value) in answer.headers {
        // Each cookie is a line of its own.
        match name {
            "set-cookie" => response.append_header((name, value)),
            _ => response.insert_header((name, value)),
        };
    }
    match answer.content {
        Content::Empty => {
            line.write();
            response.finish()
        }
        Content::Bytes(bytes, media) => {
            line.write();
            response.insert_header((header::CONTENT_TYPE, media)).body(Answer::bytes(bytes, open))
        }
        Content::Stream(stream, media) => response
            .insert_header((header::CONTENT_TYPE, media))
            .body(Answer::stream(stream, open, AtTheEnd(line)).ending_with_reader(infers)),
    }
}

/// Headers of every answer. Pages, which load something, say themselves what.
fn common_headers(response: &mut HttpResponseBuilder, id: &RequestId, is_tls: bool) {
    // Over plain HTTP the header would mean nothing (RFC 6797, 8.1); a proxy with TLS sets its own.
    if is_tls {
        response.insert_header((header::STRICT_TRANSPORT_SECURITY, "max-age=31536000"));
    }
    response
        .insert_header(("x-request-id", id.as_str()))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .insert_header((header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"));
}

/// The failure as a page, for who is led through a sign-in by a provider in a browser.
fn failure_page(request: &HttpRequest, id: &RequestId, failure: &Failure) -> Option<Response> {
    let offers = [JSON, PROBLEM, sign_in_pages::HTML];
    let is_led = request.path().starts_with(sign_in_pages::PATHS);
    let best = Accept::read(accept(request).as_deref()).best(&offers);
    (is_led && best == Some(sign_in_pages::HTML)).then(|| {
        let mut page = Response::page(sign_in_pages::failure(&failure.error, id));
        page.status = failure.error.status();
        page.headers.extend(failure.retry_after.map(|seconds| ("retry-after", seconds.to_string())));
        page
    })
}

/// The error body, in the form that the caller accepts; the cause goes to the log with the request's line.
fn failed(request: &HttpRequest, id: &RequestId, failure: Failure) -> Response {
    if let Some(page) = failure_page(request, id, &failure) {
        return page;
    }
    let problem = Accept::read(accept(request).as_deref()).prefers_problem();
    let face = Face::of_path(request.path());
    let (encoded, media) = match face {
        Face::Own if problem => (serde_json::to_vec(&failure.error.to_problem(id)), PROBLEM),
        Face::Own => (serde_json::to_vec(&failure.error.to_body(id)), JSON),
        Face::Camunda7 => (serde_json::to_vec(&failure.error.to_camunda7()), JSON),
        Face::Camunda8 => (serde_json::to_vec(&failure.error.to_camunda8(request.path())), PROBLEM),
        Face::OpenAi => (serde_json::to_vec(&failure.error.to_openai(id)), JSON),
        Face::Anthropic => (serde_json::to_vec(&failure.error.to_anthropic(id)), JSON),
    };
    let mut headers = Vec::new();
    headers.extend(failure.retry_after.map(|seconds| ("retry-after", seconds.to_string())));
    headers.extend(failure.allow.map(|methods| ("allow", methods)));
    if failure.error.code == ErrorCode::AuthenticationRequired {
        let schemes = match face {
            Face::Own | Face::OpenAi | Face::Anthropic => "Bearer",
            Face::Camunda7 | Face::Camunda8 => "Bearer, Basic realm=\"Heddle\"",
        };
        headers.push(("www-authenticate", schemes.to_owned()));
    }
    // The body is made of texts: it always encodes.
    let content = Content::Bytes(encoded.unwrap_or_default().into(), media.to_owned());
    Response { status: failure.error.status(), headers, content }
}
