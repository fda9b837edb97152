//! The way out.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use tokio::time::Instant;

use crate::body::{OutBody, WayBack};
use crate::connect::{self, Connected, Deadline, Names, Secured};
use crate::decode::Decoder;
use crate::pool::{Key, Link, Pool};
use crate::request::Target;
use crate::tls::{Configs, Roots, TlsChoice};
use crate::{EgressError, EgressRules, Fault, HEADER_BYTES, HEADERS, Host, OutRequest, Phase, Resolve};

/// The way out: rules, a resolver, and connections that wait. A clone is the same way out.
#[derive(Clone)]
pub struct Egress {
    inner: Arc<Inner>,
    /// Party on whose behalf names are resolved.
    party: Arc<str>,
}

struct Inner {
    rules: EgressRules,
    resolver: Arc<dyn Resolve>,
    configs: Configs,
    pool: Arc<Pool>,
}

impl fmt::Debug for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Egress").field("rules", &self.inner.rules).finish_non_exhaustive()
    }
}

/// Times of a request's phases; those of the connection are zero where an open one was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Resolution of the name.
    pub dns: Duration,
    /// Connection.
    pub connect: Duration,
    /// TLS handshake.
    pub tls: Duration,
    /// Time from the request to the answer's headers.
    pub first_byte: Duration,
    /// Whether an open connection was used.
    pub was_open: bool,
}

/// An answer whose body comes piece by piece.
#[derive(Debug)]
pub struct OutStream {
    /// Status. A redirect is an answer like any other.
    pub status: StatusCode,
    /// Headers, without those that told how the body was packed.
    pub headers: HeaderMap,
    /// Body.
    pub body: OutBody,
    /// Times.
    pub timings: Timings,
    /// Address that answered.
    pub peer: SocketAddr,
}

/// A whole answer. Its `Debug` shows no body.
#[derive(Clone)]
pub struct OutResponse {
    /// Status. A redirect is an answer like any other.
    pub status: StatusCode,
    /// Headers, without those that told how the body was packed.
    pub headers: HeaderMap,
    /// Body, unpacked.
    pub body: Bytes,
    /// Times.
    pub timings: Timings,
    /// Time of everything.
    pub total: Duration,
    /// Address that answered.
    pub peer: SocketAddr,
}

impl fmt::Debug for OutResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutResponse")
            .field("status", &self.status)
            .field("body", &self.body.len())
            .field("timings", &self.timings)
            .finish_non_exhaustive()
    }
}

impl Egress {
    /// A way out with the system's authorities.
    #[must_use]
    pub fn new(rules: EgressRules, resolver: Arc<dyn Resolve>) -> Self {
        Self::with_roots(rules, resolver, Roots::system())
    }

    /// A way out with chosen authorities.
    #[must_use]
    pub fn with_roots(rules: EgressRules, resolver: Arc<dyn Resolve>, roots: Roots) -> Self {
        let inner = Inner { rules, resolver, configs: Configs::new(roots), pool: Arc::default() };
        Self { inner: Arc::new(inner), party: Arc::from("") }
    }

    /// The same way out on behalf of a party, such as an organisation: what all share (the places of the resolver) is
    /// divided fairly between parties.
    #[must_use]
    pub fn on_behalf_of(&self, party: &str) -> Self {
        Self { inner: Arc::clone(&self.inner), party: Arc::from(party) }
    }

    /// Reads the authorities from their files now, which takes a while and holds the thread: the first connection with
    /// TLS does it otherwise.
    pub fn load_authorities(&self) {
        self.inner.configs.load();
    }

    /// Opens a connection to a host: a name or an address in any form.
    ///
    /// # Errors
    /// In [`Phase::Dns`] and [`Phase::Connect`]: `BadHost`, `Unresolved`, `Denied`, `Unreachable`, `TimedOut`.
    pub async fn connect(&self, host: &str, port: u16, deadline: Instant) -> Result<Connected, EgressError> {
        let host = Host::parse(host).map_err(|fault| EgressError::new(Phase::Dns, fault))?;
        self.dial(host, port, Deadline::at(deadline)).await
    }

    /// Opens a connection to a host with TLS on it.
    ///
    /// # Errors
    /// As [`Self::connect`], and in [`Phase::Tls`]: `Certificate`, `TlsFailed`, `TimedOut`.
    pub async fn connect_tls(
        &self,
        host: &str,
        port: u16,
        tls: &TlsChoice,
        deadline: Instant,
    ) -> Result<Secured, EgressError> {
        let connected = self.connect(host, port, deadline).await?;
        self.start_tls(connected, tls, deadline).await
    }

    /// Puts TLS on an open connection, for protocols that begin without it (SMTP's STARTTLS, PostgreSQL).
    ///
    /// # Errors
    /// In [`Phase::Tls`]: `Certificate`, `TlsFailed`, `TimedOut`.
    pub async fn start_tls(
        &self,
        connected: Connected,
        tls: &TlsChoice,
        deadline: Instant,
    ) -> Result<Secured, EgressError> {
        self.inner.configs.secure(connected, tls, false, Deadline::at(deadline)).await
    }

    /// Sends a request and reads the whole answer, within the request's bounds.
    ///
    /// # Errors
    /// In every phase but [`Phase::Auth`], each [`Fault`]. A status of any kind is no error.
    pub async fn send(&self, request: OutRequest) -> Result<OutResponse, EgressError> {
        let began = Instant::now();
        let OutStream { status, headers, mut body, timings, peer } = self.open(request).await?;
        let body = body.whole().await?;
        Ok(OutResponse { status, headers, body, timings, total: began.elapsed(), peer })
    }

    /// Sends a request; the answer's body comes piece by piece, within the same bounds.
    ///
    /// # Errors
    /// As [`Self::send`], but for those of the body.
    pub async fn open(&self, request: OutRequest) -> Result<OutStream, EgressError> {
        let total = Deadline::within(request.limits.total);
        let target = request.target()?;
        let headers = request.out_headers(&target)?;
        let path = request.path()?;
        let is_raw = request.headers.contains_key(http::header::ACCEPT_ENCODING);
        let key =
            Key { target: target.clone(), tls: request.tls.fingerprint(), scope: request.scope.clone() };
        let first_byte = request.limits.first_byte;
        let parts = Parts { method: request.method.clone(), path, headers, body: request.body.clone() };
        let patience = total.earlier(Deadline::within(first_byte));
        let mut timings = Timings::default();
        let mut found = match self.inner.pool.take(&key) {
            Some(link) => {
                timings.was_open = true;
                exchange(link, &parts, true, patience).await
            }
            None => Outcome::NotSent,
        };
        if matches!(found, Outcome::NotSent) {
            timings.was_open = false;
            let within = total.earlier(Deadline::within(request.limits.connect));
            let link = self.link(target, &request.tls, within, &mut timings).await?;
            let patience = total.earlier(Deadline::within(first_byte));
            found = exchange(link, &parts, false, patience).await;
        }
        match found {
            Outcome::NotSent => Err(EgressError::new(Phase::Request, Fault::Broken)),
            Outcome::Failed(fault) => Err(EgressError::after_sending(fault)),
            Outcome::Answered(answer) => {
                timings.first_byte = answer.took;
                let way_back = |link| WayBack { pool: Arc::clone(&self.inner.pool), key, link };
                answered(*answer, &request, is_raw, total, timings, way_back)
            }
        }
    }

    async fn dial(&self, host: Host, port: u16, deadline: Deadline) -> Result<Connected, EgressError> {
        let names = Names { resolver: &*self.inner.resolver, party: &self.party };
        connect::connect(&self.inner.rules, names, host, port, deadline).await
    }

    /// A new connection for HTTP.
    async fn link(
        &self,
        target: Target,
        tls: &TlsChoice,
        deadline: Deadline,
        timings: &mut Timings,
    ) -> Result<Link, EgressError> {
        let connected = self.dial(target.host, target.port, deadline).await?;
        (timings.dns, timings.connect) = (connected.dns, connected.connect);
        let peer = connected.peer;
        if !target.is_https {
            return drive(TokioIo::new(connected.stream), peer).await;
        }
        let secured = self.inner.configs.secure(connected, tls, true, deadline).await?;
        timings.tls = secured.tls;
        drive(TokioIo::new(secured.stream), peer).await
    }
}

/// A request in parts: a connection that was closed meanwhile takes one with it.
struct Parts {
    method: Method,
    path: Uri,
    headers: HeaderMap,
    body: Bytes,
}

impl Parts {
    fn request(&self) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.path.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }
}

/// An answer, and the connection on which it came.
struct Answer {
    response: Response<Incoming>,
    link: Link,
    took: Duration,
}

/// Outcome of an exchange.
enum Outcome {
    Answered(Box<Answer>),
    /// The connection was closed before the request went out, or an idempotent request met one that had waited.
    NotSent,
    Failed(Fault),
}

/// Starts what moves a connection's bytes.
async fn drive<I>(io: I, peer: SocketAddr) -> Result<Link, EgressError>
where
    I: Read + Write + Unpin + Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder.max_buf_size(2 * HEADER_BYTES).max_header_size(HEADER_BYTES).max_headers(HEADERS);
    let (sender, connection) = builder
        .handshake(io)
        .await
        .map_err(|error| EgressError::new(Phase::Request, Fault::of_http(&error)))?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection ended");
        }
    });
    Ok(Link { sender, peer, opened: Instant::now(), thread: std::thread::current().id() })
}

async fn exchange(mut link: Link, parts: &Parts, was_open: bool, deadline: Deadline) -> Outcome {
    let began = Instant::now();
    match deadline.hold(link.sender.ready()).await {
        Ok(Ok(())) => {}
        Ok(Err(_closed)) => return Outcome::NotSent,
        Err(fault) => return Outcome::Failed(fault),
    }
    let sent = deadline.hold(link.sender.try_send_request(parts.request())).await;
    match sent {
        Ok(Ok(response)) => Outcome::Answered(Box::new(Answer { response, link, took: began.elapsed() })),
        Ok(Err(error)) if error.message().is_some() => Outcome::NotSent,
        // A server that closes what waited too long may do so while a request is on its way. Those that can be
        // repeated are (RFC 9110, 9.2.2).
        Ok(Err(error))
            if was_open && parts.method.is_idempotent() && error.error().is_incomplete_message() =>
        {
            Outcome::NotSent
        }
        Ok(Err(error)) => Outcome::Failed(Fault::of_http(error.error())),
        Err(fault) => Outcome::Failed(fault),
    }
}

/// The answer with its body within the request's bounds.
fn answered(
    answer: Answer,
    request: &OutRequest,
    is_raw: bool,
    total: Deadline,
    timings: Timings,
    way_back: impl FnOnce(Link) -> WayBack,
) -> Result<OutStream, EgressError> {
    let Answer { response, link, took: _ } = answer;
    let (mut head, incoming) = response.into_parts();
    if head.status.is_informational() {
        let fault = Fault::NotHttp("it goes over to another protocol");
        return Err(EgressError::after_sending(fault));
    }
    let limits = &request.limits;
    let decoder = match is_raw {
        true => None,
        false => Decoder::of(&head.headers, limits.unpacked_bytes).map_err(EgressError::after_sending)?,
    };
    if decoder.is_some() {
        head.headers.remove(CONTENT_ENCODING);
        head.headers.remove(CONTENT_LENGTH);
    }
    let peer = link.peer;
    let body = OutBody {
        incoming,
        decoder,
        left: limits.body_bytes,
        limit: limits.body_bytes,
        idle: limits.idle,
        total,
        way_back: Some(way_back(link)),
        is_over: false,
    };
    Ok(OutStream { status: head.status, headers: head.headers, body, timings, peer })
}
