//! Bytes of a call on their way: over a socket or plain HTTP, or over TLS.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use heddle_egress::{
    AllowRule, Bytes, Egress, EgressError, EgressRules, Fault, Limits, OutBody, OutRequest, Roots,
    SystemResolver,
};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, USER_AGENT};
use reqwest::{Method, Url};

use super::{AGENT, CONNECT};
use crate::failure::{Failure, Unreachable};

/// Time that is longer than any command runs: a command waits for as long as its user does.
const FOREVER: Duration = Duration::from_hours(24 * 365);

/// Way of bytes to a server.
#[derive(Debug)]
pub(super) enum Wire {
    /// HTTP, over TCP or a socket.
    Plain(reqwest::Client),
    /// HTTP over TLS. The certificate is always checked.
    Tls(Egress),
}

/// A call.
#[derive(Debug)]
pub(super) struct Call<'a> {
    /// Method.
    pub(super) method: Method,
    /// Address of the server, for messages.
    pub(super) base: &'a str,
    /// Path and query.
    pub(super) path: &'a str,
    /// Headers.
    pub(super) headers: HeaderMap,
    /// Body, as JSON unless the headers say otherwise.
    pub(super) body: Option<Vec<u8>>,
}

/// An answer whose body is still to come.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Address of the server, for messages.
    base: String,
    /// Status.
    status: u16,
    body: Body,
}

/// Body of an answer.
#[derive(Debug)]
enum Body {
    Plain(Box<reqwest::Response>),
    Tls(Box<OutBody>),
}

impl Wire {
    /// TLS, with the system's authorities and those of a file.
    ///
    /// # Errors
    /// `Configuration` for a file without authorities; why it can't be read.
    pub(super) fn tls(authorities: Option<&Path>) -> Result<Self> {
        let mut roots = Roots::system();
        if let Some(path) = authorities {
            let pem = std::fs::read_to_string(path).with_context(|| format!("`{}`", path.display()))?;
            let refused =
                |fault: Fault| Failure::Configuration(format!("--ca-file `{}`: {fault}", path.display()));
            roots = roots.with_pem(&pem).map_err(refused)?;
        }
        // The user of a command names the server, which may stand in the same house.
        let everywhere: Result<Vec<AllowRule>, _> =
            ["0.0.0.0/0", "::/0"].into_iter().map(str::parse).collect();
        let rules = EgressRules { allow: everywhere?, loopback: true, ..EgressRules::default() };
        Ok(Self::Tls(Egress::with_roots(rules, Arc::new(SystemResolver::default()), roots)))
    }

    /// Sends a call.
    ///
    /// # Errors
    /// [`Unreachable`]; `Configuration` for an address that is none and a certificate that does not pass.
    pub(super) async fn send(&self, call: Call<'_>) -> Result<Answer> {
        let Call { method, base, path, mut headers, body } = call;
        let url = format!("{base}{path}");
        if body.is_some() && !headers.contains_key(CONTENT_TYPE) {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        match self {
            Self::Plain(http) => {
                let mut request = http.request(method, url).headers(headers);
                if let Some(body) = body {
                    request = request.body(body);
                }
                let answer = request.send().await.map_err(|error| Unreachable::new(base, &error))?;
                let status = answer.status().as_u16();
                Ok(Answer { base: base.to_owned(), status, body: Body::Plain(Box::new(answer)) })
            }
            Self::Tls(egress) => {
                headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
                headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
                let mut request = OutRequest::new(method, &url).map_err(|error| failed(base, &error))?;
                request.headers = headers;
                request.body = body.map(Bytes::from).unwrap_or_default();
                let request = request.with_limits(limits());
                let answer = egress.open(request).await.map_err(|error| failed(base, &error))?;
                let status = answer.status.as_u16();
                Ok(Answer { base: base.to_owned(), status, body: Body::Tls(Box::new(answer.body)) })
            }
        }
    }
}

impl Answer {
    /// Status.
    pub(super) const fn status(&self) -> u16 {
        self.status
    }

    /// The next piece of the body; none at its end.
    ///
    /// # Errors
    /// [`Unreachable`].
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>> {
        match &mut self.body {
            Body::Plain(answer) => {
                Ok(answer.chunk().await.map_err(|error| Unreachable::new(&self.base, &error))?)
            }
            Body::Tls(body) => body.chunk().await.map_err(|error| failed(&self.base, &error)),
        }
    }

    /// The whole body.
    ///
    /// # Errors
    /// [`Unreachable`].
    pub(super) async fn bytes(mut self) -> Result<Bytes> {
        if let Body::Tls(body) = &mut self.body {
            return body.whole().await.map_err(|error| failed(&self.base, &error));
        }
        let mut all = Vec::new();
        while let Some(piece) = self.chunk().await? {
            all.extend_from_slice(&piece);
        }
        Ok(all.into())
    }
}

/// Bounds of a call: the connection must come about; how long an answer takes, and how large it is, is the server's.
fn limits() -> Limits {
    Limits {
        connect: CONNECT,
        first_byte: FOREVER,
        idle: FOREVER,
        total: FOREVER,
        body_bytes: u64::MAX,
        unpacked_bytes: u64::MAX,
    }
}

/// Whether a text is the address of a server that can be called.
pub(super) fn is_address(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| url.has_host() && url.query().is_none() && url.fragment().is_none())
}

/// Failure of a call over TLS. What the user can mend is told as a wrong setting, which is not tried again.
fn failed(base: &str, error: &EgressError) -> anyhow::Error {
    match &error.fault {
        Fault::Certificate(reason) => Failure::Configuration(format!(
            "the certificate of {base} does not pass: {reason}. Name the authority that issued it, or the certificate \
             itself where it is self-signed, with --ca-file FILE (PEM); the check is never left out"
        ))
        .into(),
        Fault::BadUrl(_) | Fault::BadHost | Fault::BadHeader(_) | Fault::BadTls(_) | Fault::Denied { .. } => {
            Failure::Configuration(format!("`{base}`: {}", error.fault)).into()
        }
        Fault::Unresolved { .. }
        | Fault::Unreachable(_)
        | Fault::TimedOut(_)
        | Fault::TlsFailed(_)
        | Fault::NotHttp(_)
        | Fault::HeadersTooLarge
        | Fault::BodyTooLarge(_)
        | Fault::UnpackedTooLarge(_)
        | Fault::BadEncoding(_)
        | Fault::Broken => {
            Unreachable { address: base.to_owned(), cause: error.fault.to_string() }.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_and_nothing_behind_its_path() {
        for (text, expected) in [
            ("https://heddle.test", true),
            ("http://127.0.0.1:8080/behind", true),
            ("https://[::1]:8443", true),
            ("https://", false),
            ("https://heddle.test?a=b", false),
            ("https://heddle.test#a", false),
            ("heddle.test", false),
        ] {
            assert_eq!(is_address(text), expected, "{text}");
        }
    }
}
