//! The only way out of the process. Whoever opens a connection to an address that a tenant names does it here:
//!
//! - [`Egress::connect`] gives a stream to a vetted address, for protocols of their own (SMTP, PostgreSQL);
//!   [`Egress::connect_tls`] and [`Egress::start_tls`] put TLS on it.
//! - [`Egress::send`] and [`Egress::open`] are an HTTP client on such streams.
//!
//! A name is resolved once, each of its addresses is held against [`EgressRules`], and the connection goes to one that
//! passed: what the name says a moment later moves nothing. An address that is written out, in whatever form, is held
//! against the same rules. No redirect is followed, no proxy is asked, no cookie is kept; headers, bodies, what they
//! unpack to, and each wait have bounds. Certificates are always checked.
//!
//! Errors name the phase in which it went wrong, and hold no body, no header and no path of a request.

mod address;
mod body;
mod client;
mod connect;
mod decode;
mod error;
mod host;
mod limits;
mod places;
mod pool;
mod request;
mod resolve;
mod rules;
mod tls;

pub use address::AddressClass;
pub use body::OutBody;
pub use client::{Egress, OutResponse, OutStream, Timings};
pub use connect::{Connected, Secured};
pub use error::{EgressError, Fault, Phase};
pub use host::Host;
pub use limits::{HEADER_BYTES, HEADERS, Limits};
pub use request::OutRequest;
pub use resolve::{Resolve, SystemResolver};
pub use rules::{AllowRule, AllowRuleError, EgressRules};
pub use tls::{Roots, TlsChoice};

pub use bytes::Bytes;
pub use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
pub use tokio::time::Instant;
pub use url::Url;
