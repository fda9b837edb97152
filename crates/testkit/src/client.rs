//! A caller of a test server.
#![expect(clippy::expect_used, clippy::panic, reason = "a test whose server does not answer must fail")]

use std::sync::{Arc, RwLock};

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

/// The name of the session cookie.
pub const COOKIE: &str = "__Host-heddle-session";

/// Where a test server listens; it moves when the server is started again.
pub type Base = Arc<RwLock<String>>;

/// A caller: an address, and who calls.
#[derive(Debug, Clone)]
pub struct Client {
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

impl Client {
    /// Somebody who is not signed in.
    #[must_use]
    pub fn anonymous(base: Base) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        Self { http, base, headers: HeaderMap::new() }
    }

    /// The same caller with one more header on every request.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut other = self.clone();
        let name: HeaderName = name.parse().expect("a header's name");
        other.headers.insert(name, HeaderValue::from_str(value).expect("a header's value"));
        other
    }

    /// The same caller without a header.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        let mut other = self.clone();
        other.headers.remove(name);
        other
    }

    /// A caller with a token of a session or an API token.
    #[must_use]
    pub fn bearer(&self, token: &str) -> Self {
        self.without("cookie").with("authorization", &format!("Bearer {token}"))
    }

    /// A caller with the cookie of a session.
    #[must_use]
    pub fn cookie(&self, token: &str) -> Self {
        self.without("authorization").with("cookie", &format!("{COOKIE}={token}"))
    }

    /// A caller in an organisation.
    #[must_use]
    pub fn within(&self, organization: &str) -> Self {
        self.with("x-organization-id", organization)
    }

    /// The token that the caller comes with; empty without one.
    #[must_use]
    pub fn token(&self) -> String {
        let text =
            self.headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
        text.trim_start_matches("Bearer ").to_owned()
    }

    /// Begins a request.
    #[must_use]
    pub fn request(&self, method: &str, path: &str) -> Request {
        let base = self.base.read().expect("an address").clone();
        let verb = Method::from_bytes(method.as_bytes()).expect("a method");
        let builder = self.http.request(verb, format!("{base}{path}")).headers(self.headers.clone());
        Request { asked: format!("{method} {path}"), builder }
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Answer {
        self.request("GET", path).send().await
    }

    /// POST with a JSON body.
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.request("POST", path).json(&body).send().await
    }

    /// PUT with a JSON body.
    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.request("PUT", path).json(&body).send().await
    }

    /// PATCH with a JSON body.
    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.request("PATCH", path).json(&body).send().await
    }

    /// DELETE.
    pub async fn delete(&self, path: &str) -> Answer {
        self.request("DELETE", path).send().await
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

    /// Sends it; the answer is not read yet.
    ///
    /// # Errors
    /// When nobody answers.
    pub async fn open(self) -> Result<reqwest::Response, reqwest::Error> {
        self.builder.send().await
    }

    /// Sends it and reads the answer to its end.
    pub async fn send(self) -> Answer {
        let asked = self.asked.clone();
        let fail = |error: reqwest::Error| -> ! { panic!("{asked}: {error:?}") };
        let response = self.builder.send().await.unwrap_or_else(|error| fail(error));
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let bytes = response.bytes().await.unwrap_or_else(|error| fail(error)).to_vec();
        Answer { asked: self.asked, status, headers, bytes }
    }
}

impl Answer {
    /// Fails the test unless it has this status.
    #[track_caller]
    #[must_use]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.asked, self.text());
        self
    }

    /// Fails the test unless it is an error of this status with this reason among its details.
    #[track_caller]
    pub fn refused(self, status: u16, reason: &str) -> Value {
        let error = self.expect(status).json()["error"].clone();
        let details = error["details"].as_array().cloned().unwrap_or_default();
        assert!(details.iter().any(|detail| detail["reason"] == reason), "`{reason}` is not in {error}");
        error
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The body as JSON.
    #[track_caller]
    #[must_use]
    pub fn json(&self) -> Value {
        match serde_json::from_slice(&self.bytes) {
            Ok(value) => value,
            Err(error) => panic!("{}: {} is no JSON: {error}; {}", self.asked, self.status, self.text()),
        }
    }

    /// The body's `data`.
    #[track_caller]
    #[must_use]
    pub fn data(&self) -> Value {
        let mut body = self.json();
        assert!(body.get("data").is_some(), "{}: {body}", self.asked);
        body["data"].take()
    }

    /// The id of the body's resource.
    #[track_caller]
    #[must_use]
    pub fn id(&self) -> String {
        let data = self.data();
        let Some(id) = data["id"].as_str() else { panic!("{}: no id in {data}", self.asked) };
        id.to_owned()
    }

    /// A header; empty when it is absent.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The fields that the details of an error name.
    #[track_caller]
    #[must_use]
    pub fn fields(&self) -> Vec<String> {
        let body = self.json();
        let details = body["error"]["details"].as_array().cloned().unwrap_or_default();
        details.iter().filter_map(|detail| detail["field"].as_str().map(str::to_owned)).collect()
    }
}
