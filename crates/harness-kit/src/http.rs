//! The HTTP client of tests and runners: a caller with an address and headers, its requests, and what comes back.

use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use anyhow::{Context, Result};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response};
use serde_json::Value;

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Base URL of a server; it changes when the server is started again.
pub type Base = Arc<RwLock<String>>;

/// A caller: an address, and who calls.
#[derive(Debug, Clone)]
pub struct Caller {
    http: reqwest::Client,
    base: Base,
    headers: HeaderMap,
}

/// An answer, read to its end.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The method and path asked for.
    pub asked: String,
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub bytes: Vec<u8>,
}

/// A request in the making.
#[derive(Debug)]
pub struct Request {
    asked: String,
    builder: reqwest::RequestBuilder,
}

impl Caller {
    /// Somebody who is not signed in.
    ///
    /// # Errors
    /// When the system gives no HTTP client.
    #[expect(clippy::disallowed_methods, reason = "runners are clients of the server")]
    pub fn anonymous(base: Base) -> Result<Self> {
        let http = reqwest::Client::builder().no_proxy().build().context("no HTTP client")?;
        Ok(Self { http, base, headers: HeaderMap::new() })
    }

    /// Somebody who is not signed in and goes nowhere by themselves: a redirect is an answer.
    ///
    /// # Errors
    /// When the system gives no HTTP client.
    #[expect(clippy::disallowed_methods, reason = "runners are clients of the server")]
    pub fn that_stays(base: Base) -> Result<Self> {
        let builder = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        let http = builder.build().context("no HTTP client")?;
        Ok(Self { http, base, headers: HeaderMap::new() })
    }

    /// Somebody who is not signed in and calls from an address of this machine, on a new connection each time if
    /// none shall be kept.
    ///
    /// # Errors
    /// When the system gives no HTTP client.
    #[expect(clippy::disallowed_methods, reason = "runners are clients of the server")]
    pub fn from_address(base: Base, address: IpAddr, keeps: bool) -> Result<Self> {
        let mut builder = reqwest::Client::builder().no_proxy().local_address(address);
        if !keeps {
            builder = builder.pool_max_idle_per_host(0);
        }
        Ok(Self { http: builder.build().context("no HTTP client")?, base, headers: HeaderMap::new() })
    }

    /// The same caller with one more header on every request.
    ///
    /// # Errors
    /// When it is no header.
    pub fn with(&self, name: &str, value: &str) -> Result<Self> {
        let mut other = self.clone();
        let value = HeaderValue::from_str(value).context("no header's value")?;
        other.headers.insert(name.parse::<HeaderName>().context("no header's name")?, value);
        Ok(other)
    }

    /// The same caller without a header.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        let mut other = self.clone();
        other.headers.remove(name);
        other
    }

    /// A header that stands on every request; empty when it is absent.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The address called, without a slash at its end.
    #[must_use]
    pub fn address(&self) -> String {
        self.base.read().unwrap_or_else(PoisonError::into_inner).trim_end_matches('/').to_owned()
    }

    /// Begins a request.
    #[must_use]
    pub fn request(&self, method: &Method, path: &str) -> Request {
        let address = format!("{}{path}", self.address());
        let builder = self.http.request(method.clone(), address).headers(self.headers.clone());
        Request { asked: format!("{method} {path}"), builder }
    }
}

impl Request {
    /// With a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.builder = self.builder.header(name, value);
        self
    }

    /// With a JSON body.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string().into_bytes())
    }

    /// With a body of a media type; an empty type sends no `Content-Type`.
    #[must_use]
    pub fn body(mut self, media: &str, bytes: Vec<u8>) -> Self {
        if !media.is_empty() {
            self.builder = self.builder.header("content-type", media);
        }
        self.builder = self.builder.body(bytes);
        self
    }

    /// Sends it; the answer is not read yet, and may go on for as long as it likes.
    ///
    /// # Errors
    /// When nobody answers.
    pub async fn open(self) -> Result<Response> {
        self.builder.send().await.context(self.asked)
    }

    /// Sends it and reads the answer to its end.
    ///
    /// # Errors
    /// When nobody answers in time, or when the body breaks off.
    pub async fn send(self) -> Result<Answer> {
        let Self { asked, builder } = self;
        let sent = async {
            let response = builder.timeout(PATIENCE).send().await?;
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            Ok::<_, reqwest::Error>((status, headers, response.bytes().await?.to_vec()))
        };
        match sent.await {
            Ok((status, headers, bytes)) => Ok(Answer { asked, status, headers, bytes }),
            Err(error) => Err(error).context(asked),
        }
    }
}

impl Answer {
    /// The body as JSON; null when it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_default()
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// A header; empty when it is absent.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    /// A server of one answer; gives what it was asked.
    async fn once(answer: &'static str) -> (Base, tokio::task::JoinHandle<String>) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/", listener.local_addr().unwrap());
        let asked = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut bytes = vec![0; 4096];
            let read = stream.read(&mut bytes).await.unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
            String::from_utf8_lossy(&bytes[..read]).into_owned()
        });
        (Arc::new(RwLock::new(base)), asked)
    }

    #[tokio::test]
    async fn a_request_carries_the_callers_headers_and_its_own_and_the_answer_is_read_to_its_end() {
        let (base, asked) = once("HTTP/1.1 418 I'm a teapot\r\nx-a: b\r\ncontent-length: 3\r\n\r\nyes").await;
        let caller = Caller::anonymous(base).unwrap().with("x-who", "me").unwrap();
        let request = caller.request(&Method::POST, "/tea").header("x-how", "hot").json(&Value::Null);
        let answer = request.send().await.unwrap();
        assert_eq!((answer.status, answer.text().as_str(), answer.header("x-a")), (418, "yes", "b"));
        assert_eq!((answer.asked.as_str(), answer.header("x-b")), ("POST /tea", ""));
        let asked = asked.await.unwrap();
        for part in ["POST /tea HTTP/1.1", "x-who: me", "x-how: hot", "content-type: application/json"] {
            assert!(asked.contains(part), "{part} is not in {asked}");
        }
        assert_eq!((caller.header("x-who"), caller.without("x-who").header("x-who")), ("me", ""));
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_an_error_with_what_was_asked() {
        let base: Base = Arc::new(RwLock::new("http://127.0.0.1:1".to_owned()));
        let caller = Caller::anonymous(base).unwrap();
        let error = caller.request(&Method::GET, "/nothing").send().await.unwrap_err();
        assert_eq!(error.to_string(), "GET /nothing");
    }
}
