//! Requests as they go out.

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Uri};
use std::fmt;
use url::Url;

use crate::{EgressError, Fault, Host, Limits, Phase, TlsChoice};

/// Length up to which a URL goes, in bytes.
const LONGEST_URL: usize = 8 * 1024;

/// Headers that belong to the connection, and those that would let a request be taken for another's.
const OF_THE_CONNECTION: [HeaderName; 10] = [
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    header::EXPECT,
    header::PROXY_AUTHORIZATION,
    HeaderName::from_static("keep-alive"),
];

/// A request. Its `Debug` shows neither path, nor values of headers, nor body.
#[derive(Clone)]
pub struct OutRequest {
    /// Method.
    pub method: Method,
    /// URL: `http` or `https`, without user and password.
    pub url: Url,
    /// Headers. `Host` and those of the connection are set by it, and refused here.
    pub headers: HeaderMap,
    /// Body.
    pub body: Bytes,
    /// Bounds.
    pub limits: Limits,
    /// TLS of an `https` URL.
    pub tls: TlsChoice,
    /// Scope in which connections are used again, such as the id of a stored connection: two scopes share none.
    pub scope: String,
}

impl fmt::Debug for OutRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutRequest")
            .field("method", &self.method)
            .field("origin", &self.url.origin().ascii_serialization())
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("body", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl OutRequest {
    /// A request without headers and body.
    ///
    /// # Errors
    /// `BadUrl`, `BadHost`.
    pub fn new(method: Method, url: &str) -> Result<Self, EgressError> {
        let bad = |reason| EgressError::new(Phase::Request, Fault::BadUrl(reason));
        if url.len() > LONGEST_URL {
            return Err(bad("it is longer than 8 KiB"));
        }
        let url = Url::parse(url).map_err(|reason| match reason {
            url::ParseError::EmptyHost
            | url::ParseError::IdnaError
            | url::ParseError::InvalidIpv4Address
            | url::ParseError::InvalidIpv6Address
            | url::ParseError::InvalidDomainCharacter => EgressError::new(Phase::Request, Fault::BadHost),
            url::ParseError::InvalidPort => bad("its port is none"),
            url::ParseError::RelativeUrlWithoutBase => bad("it begins with neither http:// nor https://"),
            _ => bad("it is no URL"),
        })?;
        let request = Self {
            method,
            url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            limits: Limits::default(),
            tls: TlsChoice::default(),
            scope: String::new(),
        };
        request.target()?;
        Ok(request)
    }

    /// The request with a header more.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// The request with a body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// The request with other bounds.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The request with a choice of TLS.
    #[must_use]
    pub fn with_tls(mut self, tls: TlsChoice) -> Self {
        self.tls = tls;
        self
    }

    /// The request with a scope of connections.
    #[must_use]
    pub fn with_scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = scope.into();
        self
    }

    /// Destination of the request.
    ///
    /// # Errors
    /// `BadUrl`, `BadHost`.
    pub(crate) fn target(&self) -> Result<Target, EgressError> {
        let bad = |fault| EgressError::new(Phase::Request, fault);
        let is_https = match self.url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(bad(Fault::BadUrl("its scheme is neither http nor https"))),
        };
        if !self.url.username().is_empty() || self.url.password().is_some() {
            return Err(bad(Fault::BadUrl("it holds a user or a password: they belong to the secrets")));
        }
        let written = self.url.host().ok_or_else(|| bad(Fault::BadHost))?;
        let host = Host::of(written).map_err(bad)?;
        let port = match self.url.port_or_known_default() {
            Some(0) | None => return Err(bad(Fault::BadUrl("its port is none"))),
            Some(port) => port,
        };
        Ok(Target { host, port, is_https })
    }

    /// The headers that go out.
    ///
    /// # Errors
    /// `BadHeader`.
    pub(crate) fn out_headers(&self, target: &Target) -> Result<HeaderMap, EgressError> {
        let of_connection = |name: &&HeaderName| OF_THE_CONNECTION.contains(name);
        if let Some(name) = self.headers.keys().find(of_connection) {
            return Err(EgressError::new(Phase::Request, Fault::BadHeader(name.to_string())));
        }
        let authority = match self.url.port() {
            Some(port) => format!("{}:{port}", target.host),
            None => target.host.to_string(),
        };
        let bad_host = |_reason| EgressError::new(Phase::Request, Fault::BadHost);
        let mut headers = self.headers.clone();
        headers.insert(header::HOST, HeaderValue::try_from(authority).map_err(bad_host)?);
        headers
            .entry(header::USER_AGENT)
            .or_insert(HeaderValue::from_static(concat!("Heddle/", env!("CARGO_PKG_VERSION"))));
        headers.entry(header::ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        headers.entry(header::ACCEPT_ENCODING).or_insert(HeaderValue::from_static("gzip, deflate"));
        Ok(headers)
    }

    /// Path and query.
    ///
    /// # Errors
    /// `BadUrl`.
    pub(crate) fn path(&self) -> Result<Uri, EgressError> {
        let path = match self.url.query() {
            Some(query) => format!("{}?{query}", self.url.path()),
            None => self.url.path().to_owned(),
        };
        Uri::try_from(path)
            .map_err(|_reason| EgressError::new(Phase::Request, Fault::BadUrl("its path can't be sent")))
    }
}

/// Destination of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Target {
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) is_https: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_that_go_nowhere_are_refused() {
        for (url, reason) in [
            ("ftp://a.test/", "scheme"),
            ("file:///etc/passwd", "scheme"),
            ("gopher://127.0.0.1:6379/_", "scheme"),
            ("/relative", "neither http"),
            ("http://", "neither a name"),
            ("http://user@a.test/", "user"),
            ("http://:hunter2@a.test/", "user"),
            ("http://a.test:0/", "port"),
            ("http://a.test:99999/", "port"),
            ("http://a..b/", "neither a name"),
            ("http://[::1/", "neither a name"),
            ("http://a b/", "neither a name"),
            (&format!("http://a.test/{}", "a".repeat(9000)), "longer"),
        ] {
            let error = OutRequest::new(Method::GET, url).unwrap_err();
            assert!(error.to_string().contains(reason), "{url:.40}: {error}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn nothing_secret_is_shown() {
        let request = OutRequest::new(Method::POST, "https://a.test/hook/secret?token=secret")
            .unwrap()
            .with_header(header::AUTHORIZATION, HeaderValue::from_static("Bearer secret"))
            .with_body("secret");
        let shown = format!("{request:?}");
        assert!(shown.contains("https://a.test") && shown.contains("authorization"), "{shown}");
        assert!(!shown.contains("secret"), "{shown}");
    }

    #[test]
    fn headers_of_the_connection_are_refused() {
        for name in OF_THE_CONNECTION {
            let request = OutRequest::new(Method::GET, "http://a.test/")
                .unwrap()
                .with_header(name.clone(), HeaderValue::from_static("x"));
            let error = request.out_headers(&request.target().unwrap()).unwrap_err();
            assert!(error.to_string().contains(name.as_str()), "{error}");
        }
    }

    #[test]
    fn the_host_goes_out_as_it_was_understood() {
        for (url, host) in [
            ("http://A.test./x", "a.test"),
            ("https://a.test:8443/", "a.test:8443"),
            ("http://a.test:80/", "a.test"),
            ("http://[::1]:81/", "[::1]:81"),
            ("http://0x7f.1/", "127.0.0.1"),
        ] {
            let request = OutRequest::new(Method::GET, url).unwrap();
            let headers = request.out_headers(&request.target().unwrap()).unwrap();
            assert_eq!(headers[header::HOST], host, "{url}");
        }
    }
}
