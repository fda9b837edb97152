//! Reasons for which a way out ends.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::AddressClass;

/// Part of a way out, in the order in which they follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Resolution of the name.
    Dns,
    /// Connection to an address.
    Connect,
    /// TLS handshake.
    Tls,
    /// Proof of who we are. Egress itself never ends in it; clients of a protocol do.
    Auth,
    /// Exchange of request and answer.
    Request,
}

impl Phase {
    /// The phase as text: `dns`, `connect`, `tls`, `auth`, `request`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Auth => "auth",
            Self::Request => "request",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Error of a way out. It may be shown to the tenant: it has no body, no header, no path, and of addresses only those
/// that the tenant wrote.
#[derive(Debug, thiserror::Error)]
#[error("{fault}")]
pub struct EgressError {
    /// Phase in which it went wrong.
    pub phase: Phase,
    /// Fault.
    #[source]
    pub fault: Fault,
    /// Whether the peer may have got the request: a repeat may then be a second one.
    pub may_have_been_sent: bool,
}

impl EgressError {
    /// An error before anything was sent.
    #[must_use]
    pub const fn new(phase: Phase, fault: Fault) -> Self {
        Self { phase, fault, may_have_been_sent: false }
    }

    pub(crate) const fn after_sending(fault: Fault) -> Self {
        Self { phase: Phase::Request, fault, may_have_been_sent: true }
    }

    /// Whether the same may go well later without anybody's doing: what was refused by a rule, a certificate or a bound
    /// will be refused again.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        match &self.fault {
            Fault::Unresolved { .. }
            | Fault::Unreachable(_)
            | Fault::TimedOut(_)
            | Fault::TlsFailed(_)
            | Fault::Broken => true,
            Fault::BadUrl(_)
            | Fault::BadHost
            | Fault::BadHeader(_)
            | Fault::Denied { .. }
            | Fault::Certificate(_)
            | Fault::BadTls(_)
            | Fault::NotHttp(_)
            | Fault::HeadersTooLarge
            | Fault::BodyTooLarge(_)
            | Fault::UnpackedTooLarge(_)
            | Fault::BadEncoding(_) => false,
        }
    }
}

/// Fault of a way out.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The URL can't be used.
    #[error("the URL can't be used: {0}")]
    BadUrl(&'static str),
    /// The host is neither a name nor an address.
    #[error("the host is neither a name nor an address")]
    BadHost,
    /// A header can't be set by the request.
    #[error("the header `{0}` is set by the connection and can't be set by a request")]
    BadHeader(String),
    /// The rules let nobody go there.
    #[error("`{host}` is at an address to which no connection may go ({class}); the operator can allow it")]
    Denied {
        /// Host as it was written.
        host: String,
        /// Class of an address that was refused.
        class: AddressClass,
    },
    /// The name has no address.
    #[error("the name `{host}` has no address")]
    Unresolved {
        /// Name.
        host: String,
    },
    /// Nobody listens, or no way leads there.
    #[error("no connection: {0}")]
    Unreachable(&'static str),
    /// The time is up.
    #[error("no answer within {} s", seconds(*.0))]
    TimedOut(Duration),
    /// The peer's certificate does not pass.
    #[error("the certificate does not pass: {0}")]
    Certificate(String),
    /// The peer speaks no TLS, or none that we speak.
    #[error("TLS failed: {0}")]
    TlsFailed(String),
    /// Certificates or a key for TLS that can't be used.
    #[error("{0}")]
    BadTls(String),
    /// The peer's answer is not HTTP.
    #[error("the answer is not HTTP: {0}")]
    NotHttp(&'static str),
    /// The answer's headers are larger than their bound.
    #[error(
        "the headers of the answer are larger than {} bytes, or more than {}",
        crate::HEADER_BYTES,
        crate::HEADERS
    )]
    HeadersTooLarge,
    /// The answer's body is larger than its bound.
    #[error("the body of the answer is larger than {0} bytes")]
    BodyTooLarge(u64),
    /// The answer's body unpacks to more than its bound.
    #[error("the body of the answer unpacks to more than {0} bytes")]
    UnpackedTooLarge(u64),
    /// The answer's body is packed in a way that we can't unpack, or broken.
    #[error("the body of the answer can't be unpacked: {0}")]
    BadEncoding(&'static str),
    /// The connection ended in the middle.
    #[error("the connection ended before the answer was whole")]
    Broken,
}

impl Fault {
    /// Fault of a connection that speaks HTTP.
    pub(crate) fn of_http(error: &hyper::Error) -> Self {
        if error.is_parse() && error.to_string().contains("too large") {
            Self::HeadersTooLarge
        } else if error.is_parse() {
            Self::NotHttp("it can't be read")
        } else {
            Self::Broken
        }
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:.3}", duration.as_secs_f64()).trim_end_matches('0').trim_end_matches('.').to_owned()
}
