//! A caller of a test server.

#![expect(clippy::indexing_slicing, reason = "members of JSON: an absent one reads as null")]
#![expect(clippy::expect_used, clippy::panic, reason = "a test whose server does not answer must fail")]

use std::ops::Deref;

pub use heddle_harness_kit::http::Base;
use heddle_harness_kit::http::{self, Caller};
use reqwest::Method;
use serde_json::Value;

/// The name of the session cookie.
pub const COOKIE: &str = "__Host-heddle-session";

/// A caller whose every request must be answered.
#[derive(Debug, Clone)]
pub struct Client(Caller);

/// An answer that a test holds against what it expects.
#[derive(Debug, Clone)]
pub struct Answer(http::Answer);

/// A request in the making.
#[derive(Debug)]
pub struct Request(http::Request);

impl Deref for Answer {
    type Target = http::Answer;

    fn deref(&self) -> &http::Answer {
        &self.0
    }
}

impl Client {
    /// Somebody who is not signed in.
    #[must_use]
    pub fn anonymous(base: Base) -> Self {
        Self(Caller::anonymous(base).expect("a client"))
    }

    /// Somebody who is not signed in and follows no redirect.
    #[must_use]
    pub fn that_stays(base: Base) -> Self {
        Self(Caller::that_stays(base).expect("a client"))
    }

    /// The same caller with one more header on every request.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        Self(self.0.with(name, value).expect("a header"))
    }

    /// The same caller without a header.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        Self(self.0.without(name))
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
        self.0.header("authorization").trim_start_matches("Bearer ").to_owned()
    }

    /// Begins a request.
    #[must_use]
    pub fn request(&self, method: &str, path: &str) -> Request {
        Request(self.0.request(&Method::from_bytes(method.as_bytes()).expect("a method"), path))
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
    pub fn header(self, name: &str, value: &str) -> Self {
        Self(self.0.header(name, value))
    }

    /// With a JSON body.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        Self(self.0.json(body))
    }

    /// With a body of a media type; an empty type sends no `Content-Type`.
    #[must_use]
    pub fn body(self, media: &str, bytes: Vec<u8>) -> Self {
        Self(self.0.body(media, bytes))
    }

    /// Sends it; the answer is not read yet. None when nobody answers.
    pub async fn open(self) -> Option<reqwest::Response> {
        self.0.open().await.ok()
    }

    /// Sends it and reads the answer to its end.
    pub async fn send(self) -> Answer {
        Answer(self.0.send().await.unwrap_or_else(|error| panic!("{error:?}")))
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

    /// The fields that the details of an error name.
    #[track_caller]
    #[must_use]
    pub fn fields(&self) -> Vec<String> {
        let body = self.json();
        let details = body["error"]["details"].as_array().cloned().unwrap_or_default();
        details.iter().filter_map(|detail| detail["field"].as_str().map(str::to_owned)).collect()
    }
}
