//! Connections to vetted addresses.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_rustls::client::TlsStream;

use crate::{EgressError, EgressRules, Fault, Host, Phase, Resolve};

/// Number of addresses of a name that are tried.
const MOST_ADDRESSES: usize = 8;
/// Time after which the next address is tried beside the one before (RFC 8305, 5).
const STAGGER: Duration = Duration::from_millis(250);

/// A connection to a vetted address.
#[derive(Debug)]
pub struct Connected {
    /// The stream, without delays of small packets.
    pub stream: TcpStream,
    /// Host to which it goes.
    pub host: Host,
    /// Address to which it goes.
    pub peer: SocketAddr,
    /// Time of the resolution.
    pub dns: Duration,
    /// Time of the connection.
    pub connect: Duration,
}

/// A connection to a vetted address with TLS on it.
#[derive(Debug)]
pub struct Secured {
    /// The stream.
    pub stream: TlsStream<TcpStream>,
    /// Host for which the certificate passed.
    pub host: Host,
    /// Address to which it goes.
    pub peer: SocketAddr,
    /// Time of the resolution.
    pub dns: Duration,
    /// Time of the connection.
    pub connect: Duration,
    /// Time of the handshake.
    pub tls: Duration,
}

/// Time that ends a phase: the instant, and how long the caller gave for the message about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    at: Instant,
    given: Duration,
}

impl Deadline {
    pub(crate) fn at(at: Instant) -> Self {
        Self { at, given: at.saturating_duration_since(Instant::now()) }
    }

    pub(crate) fn within(given: Duration) -> Self {
        let now = Instant::now();
        // Durations that no clock holds are as good as no deadline.
        Self { at: now.checked_add(given).unwrap_or_else(|| now + Duration::from_hours(24 * 365)), given }
    }

    pub(crate) fn earlier(self, other: Self) -> Self {
        if other.at < self.at { other } else { self }
    }

    pub(crate) const fn fault(self) -> Fault {
        Fault::TimedOut(self.given)
    }

    /// The future's outcome, or the fault of the time.
    pub(crate) async fn hold<T>(self, future: impl Future<Output = T>) -> Result<T, Fault> {
        timeout_at(self.at, future).await.map_err(|_elapsed| self.fault())
    }
}

/// Source of the addresses of names, on behalf of a party.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) resolver: &'a dyn Resolve,
    pub(crate) party: &'a str,
}

/// Opens a connection: the host's addresses, those that pass, and the first of them that answers.
pub(crate) async fn connect(
    rules: &EgressRules,
    names: Names<'_>,
    host: Host,
    port: u16,
    deadline: Deadline,
) -> Result<Connected, EgressError> {
    let began = Instant::now();
    let phase = if host.own_addresses().is_some() { Phase::Connect } else { Phase::Dns };
    let vetted =
        vetted(rules, names, &host, port, deadline).await.map_err(|fault| EgressError::new(phase, fault))?;
    let dns = began.elapsed();
    let began = Instant::now();
    let stream = deadline
        .hold(first_of(vetted, port))
        .await
        .and_then(|found| found.map_err(|error| unreachable_by(&error)))
        .map_err(|fault| EgressError::new(Phase::Connect, fault))?;
    let peer =
        stream.peer_addr().map_err(|error| EgressError::new(Phase::Connect, unreachable_by(&error)))?;
    Ok(Connected { stream, host, peer, dns, connect: began.elapsed() })
}

/// The addresses of a host to which a connection may go, in order.
async fn vetted(
    rules: &EgressRules,
    names: Names<'_>,
    host: &Host,
    port: u16,
    deadline: Deadline,
) -> Result<Vec<IpAddr>, Fault> {
    let unresolved = || Fault::Unresolved { host: host.to_string() };
    let found = match (host.own_addresses(), host) {
        (Some(addresses), _) => addresses,
        (None, Host::Name(name)) => {
            deadline.hold(names.resolver.resolve_for(names.party, name)).await?.map_err(|error| {
                tracing::debug!(%host, %error, "no address");
                unresolved()
            })?
        }
        (None, Host::Address(_)) => return Err(unresolved()),
    };
    let mut vetted = Vec::new();
    let mut denied = None;
    for address in found {
        match rules.judge(address, port) {
            Ok(()) if vetted.len() < MOST_ADDRESSES && !vetted.contains(&address) => vetted.push(address),
            Ok(()) => {}
            Err(class) => {
                tracing::debug!(%host, %address, port, %class, "no connection may go there");
                denied.get_or_insert(class);
            }
        }
    }
    match denied {
        _ if !vetted.is_empty() => Ok(vetted),
        Some(class) => Err(Fault::Denied { host: host.to_string(), class }),
        None => Err(unresolved()),
    }
}

/// A stream to the first address that answers; each next one is tried when the one before failed or takes long.
async fn first_of(addresses: Vec<IpAddr>, port: u16) -> io::Result<TcpStream> {
    let mut waiting = addresses.into_iter();
    let mut tries = FuturesUnordered::new();
    let mut failure = io::Error::from(io::ErrorKind::HostUnreachable);
    loop {
        let next = waiting.next();
        let is_last = next.is_none();
        tries.extend(next.map(|address| open(SocketAddr::new(address, port))));
        let patience = Instant::now() + STAGGER;
        loop {
            let ended = tokio::select! {
                ended = tries.next() => ended,
                () = sleep_until(patience), if !is_last => break,
            };
            match ended {
                Some(Ok(stream)) => return Ok(stream),
                Some(Err(error)) => failure = error,
                None if is_last => return Err(failure),
                None => break,
            }
            if !is_last {
                break;
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place from which connections go, to vetted addresses")]
async fn open(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn unreachable_by(error: &io::Error) -> Fault {
    Fault::Unreachable(match error.kind() {
        io::ErrorKind::ConnectionRefused => "it was refused",
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted => "it was reset",
        io::ErrorKind::TimedOut => "nobody answers",
        io::ErrorKind::AddrNotAvailable => "this machine has no free port or address for it",
        _ => "no way leads there",
    })
}
