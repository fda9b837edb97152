//! A client of the HTTP API that speaks JSON and stays signed in.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use anyhow::{Context, Result, bail};
pub use reqwest::Method;
use serde_json::{Value, json};

use crate::http::{self, Caller};

/// A caller of the API.
#[derive(Debug)]
pub struct Client {
    http: Caller,
    credentials: Option<(String, String)>,
    token: Mutex<String>,
}

/// A status with its body; null when there is none or when it is no JSON.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The whole body.
    pub body: Value,
}

impl Answer {
    /// Whether the server did what was asked.
    pub const fn ok(&self) -> bool {
        self.status >= 200 && self.status < 300
    }

    /// `data` of a good answer, else the refusal as an error.
    pub fn data(self) -> Result<Value> {
        if !self.ok() {
            bail!("{}", self.refusal());
        }
        let Self { mut body, .. } = self;
        Ok(body.get_mut("data").map(Value::take).unwrap_or_default())
    }

    /// `refused: <code> <elementId> <message>`, one after the other when there are several.
    pub fn refusal(&self) -> String {
        let error = &self.body["error"];
        let outer = error["code"].as_str().unwrap_or("?");
        let mut parts = Vec::new();
        for detail in error["details"].as_array().map(Vec::as_slice).unwrap_or_default() {
            if detail["severity"].as_str().is_some_and(|severity| severity != "error") {
                continue;
            }
            let code = detail["code"].as_str().or_else(|| detail["reason"].as_str()).unwrap_or(outer);
            let place =
                ["elementId", "field", "path"].iter().find_map(|key| detail[*key].as_str()).unwrap_or("-");
            let message = detail["message"].as_str().unwrap_or_default();
            parts.push(format!("{code} {place} {message}"));
        }
        if parts.is_empty() {
            parts.push(format!("{outer} - {}", error["message"].as_str().unwrap_or_default()));
        }
        let more = parts.len().saturating_sub(3);
        parts.truncate(3);
        let tail = if more == 0 { String::new() } else { format!(" (and {more} more)") };
        format!("refused: {} [{}]{tail}", parts.join("; "), self.status)
    }
}

impl Client {
    /// Signs in.
    pub async fn sign_in(address: &str, email: &str, password: &str) -> Result<Self> {
        let client = Self {
            http: caller(address)?,
            credentials: Some((email.to_owned(), password.to_owned())),
            token: Mutex::new(String::new()),
        };
        client.renew().await?;
        Ok(client)
    }

    /// Uses a token that somebody else got.
    pub fn with_token(address: &str, token: &str) -> Result<Self> {
        Ok(Self { http: caller(address)?, credentials: None, token: Mutex::new(token.to_owned()) })
    }

    /// The server's address without a slash at its end.
    pub fn address(&self) -> String {
        self.http.address()
    }

    /// The bearer token in use.
    pub fn token(&self) -> String {
        self.token.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Result<Answer> {
        self.call(Method::GET, path, None).await
    }

    /// POST with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Answer> {
        self.call(Method::POST, path, Some(body)).await
    }

    /// POST with a JSON body and perhaps an idempotency key.
    pub async fn post_keyed(&self, path: &str, body: &Value, key: Option<&str>) -> Result<Answer> {
        self.send(&Method::POST, path, Some(body), key).await
    }

    /// PUT of an XML document.
    pub async fn put_xml(&self, path: &str, text: String) -> Result<Answer> {
        let request = self.http.request(&Method::PUT, path);
        let request = request.header("authorization", &format!("Bearer {}", self.token()));
        Ok(request.body("application/xml", text.into_bytes()).send().await?.into())
    }

    /// DELETE.
    pub async fn delete(&self, path: &str) -> Result<Answer> {
        self.call(Method::DELETE, path, None).await
    }

    /// One call; signs in again once when the session has ended (a test clock may have outrun it).
    pub async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Answer> {
        let answer = self.send(&method, path, body, None).await?;
        if answer.status != 401 || self.credentials.is_none() {
            return Ok(answer);
        }
        self.renew().await?;
        self.send(&method, path, body, None).await
    }

    /// Every item of a list, page after page.
    pub async fn all(&self, path: &str) -> Result<Vec<Value>> {
        let join = if path.contains('?') { '&' } else { '?' };
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut address = format!("{path}{join}limit=200");
            if let Some(cursor) = &cursor {
                address.push_str("&cursor=");
                address.push_str(&encode(cursor));
            }
            let answer = self.get(&address).await?;
            if !answer.ok() {
                bail!("GET {address}: {}", answer.refusal());
            }
            items.extend(
                answer.body["data"].as_array().context("a list without an array as data")?.iter().cloned(),
            );
            let next = answer.body["page"]["nextCursor"].as_str().map(str::to_owned);
            if next.is_some() && next == cursor {
                bail!("GET {path}: the cursor does not move");
            }
            cursor = next;
            if cursor.is_none() {
                return Ok(items);
            }
        }
    }

    async fn send(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Result<Answer> {
        let mut request = self.http.request(method, path);
        let token = self.token();
        if !token.is_empty() {
            request = request.header("authorization", &format!("Bearer {token}"));
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        Ok(request.send().await?.into())
    }

    /// The organisation of the session.
    pub async fn organization(&self) -> Result<Option<String>> {
        let data = self.get("/api/auth/session").await?.data().context("GET session")?;
        Ok(data["organizationId"].as_str().map(str::to_owned))
    }

    async fn renew(&self) -> Result<()> {
        let token = self.second_session().await?;
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = token;
        Ok(())
    }

    /// Signs in once more and gives the token, without using it.
    pub async fn second_session(&self) -> Result<String> {
        let (email, password) = self.credentials.as_ref().context("no credentials")?;
        let body = json!({"email": email, "password": password});
        // Without the token in use: a sign-in may end the session that comes with it.
        let request = self.http.request(&Method::POST, "/api/auth/sign-in").json(&body);
        let data = Answer::from(request.send().await?).data().context("sign-in")?;
        Ok(data["token"].as_str().context("sign-in gave no token")?.to_owned())
    }
}

impl From<http::Answer> for Answer {
    fn from(answer: http::Answer) -> Self {
        Self { status: answer.status, body: serde_json::from_slice(&answer.bytes).unwrap_or_default() }
    }
}

fn caller(address: &str) -> Result<Caller> {
    // Documents come as JSON with their content, too; streams as they are.
    Caller::anonymous(Arc::new(RwLock::new(address.to_owned())))?
        .with("accept", "application/json, */*;q=0.1")
}

/// Percent-encodes what is not unreserved, for one path segment or query value.
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_code_element_and_message() {
        let answer = |details: Value| Answer {
            status: 400,
            body: json!({"error": {"code": "INVALID_REQUEST_BODY", "message": "No.", "details": details}}),
        };
        for (details, expected) in [
            (json!([]), "refused: INVALID_REQUEST_BODY - No. [400]"),
            (
                json!([{"code": "unsupported", "elementId": "T", "message": "Not yet."}]),
                "refused: unsupported T Not yet. [400]",
            ),
            (
                json!([{"severity": "warning", "code": "w"}, {"reason": "required", "field": "slug", "message": "Say it."}]),
                "refused: required slug Say it. [400]",
            ),
            (
                json!([{"reason": "a"}, {"reason": "b"}, {"reason": "c"}, {"reason": "d"}]),
                "refused: a - ; b - ; c -  (and 1 more)",
            ),
        ] {
            let said = answer(details).refusal();
            if expected.ends_with("more)") {
                assert!(
                    said.starts_with("refused: a - ; b - ; c - ") && said.ends_with("(and 1 more)"),
                    "{said}"
                );
            } else {
                assert_eq!(said, expected);
            }
        }
    }

    #[test]
    fn data_is_taken_from_good_answers_only() {
        let good = Answer { status: 201, body: json!({"data": {"id": "1"}}) };
        assert_eq!(good.data().unwrap(), json!({"id": "1"}));
        assert!(Answer { status: 409, body: Value::Null }.data().is_err());
        assert_eq!(Answer { status: 204, body: Value::Null }.data().unwrap(), Value::Null);
    }

    #[test]
    fn names_are_encoded_for_an_address() {
        assert_eq!(encode("a b/ü-1"), "a%20b%2F%C3%BC-1");
    }
}
