//! Calls.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;

use super::wire::{Answer, Call};
use super::{Client, Form};
use crate::failure::Refusal;

/// Parameters of a query.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query(String);

impl Query {
    /// The same with a parameter.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.0.push(if self.0.is_empty() { '?' } else { '&' });
        self.0 += name;
        self.0.push('=');
        self.0 += &escaped(value);
        self
    }

    /// The same with a parameter, where there is a value.
    pub(crate) fn maybe(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

/// A text as a part of a path or query: all but letters, digits and `-._~` in hexadecimal.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A page of a list.
#[derive(Debug)]
pub(crate) struct Rows {
    /// The rows.
    pub rows: Vec<Value>,
    /// Cursor of the next page; none at the end.
    pub next: Option<String>,
}

impl Client {
    /// `data` of the answer to GET.
    ///
    /// # Errors
    /// [`Refusal`], [`Unreachable`].
    pub(crate) async fn get(&self, path: &str) -> Result<Value> {
        self.call(Method::GET, path, None).await
    }

    /// `data` of the answer to GET with a query.
    ///
    /// # Errors
    /// [`Refusal`], [`Unreachable`].
    pub(crate) async fn get_with(&self, path: &str, query: &Query) -> Result<Value> {
        self.get(&format!("{path}{}", query.0)).await
    }

    /// `data` of the answer to POST.
    ///
    /// # Errors
    /// [`Refusal`], [`Unreachable`].
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.call(Method::POST, path, Some(body)).await
    }

    /// `data` of the answer to PUT.
    ///
    /// # Errors
    /// [`Refusal`], [`Unreachable`].
    pub(crate) async fn put(&self, path: &str, body: &Value) -> Result<Value> {
        self.call(Method::PUT, path, Some(body)).await
    }

    /// `data` of the answer to PATCH.
    ///
    /// # Errors
    /// [`Refusal`], [`Unreachable`].
    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Result<Value> {
        self.call(Method::PATCH, path, Some(body)).await
    }

    /// DELETE.
    ///
    /// # Errors
    /// [`Refusal`], [`Unreachable`].
    pub(crate) async fn delete(&self, path: &str) -> Result<()> {
        self.call(Method::DELETE, path, None).await.map(|_| ())
    }

    /// DELETE with a query.
    ///
    /// # Errors
    /// [`Refusal`], [`Unreachable`].
    pub(crate) async fn delete_with(&self, path: &str, query: &Query) -> Result<()> {
        self.delete(&format!("{path}{}", query.0)).await
    }

    /// The rows of a list, page after page, at most `most`.
    ///
    /// # Errors
    /// [`Refusal`], [`Unreachable`].
    pub(crate) async fn list(&self, path: &str, query: &Query, most: usize) -> Result<Vec<Value>> {
        let mut rows = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let wanted = (most - rows.len()).clamp(1, 200);
            let page = self.page(path, query, wanted, cursor.as_deref()).await?;
            rows.extend(page.rows);
            cursor = page.next;
            if cursor.is_none() || rows.len() >= most {
                rows.truncate(most);
                return Ok(rows);
            }
        }
    }

    /// One page of a list.
    ///
    /// # Errors
    /// [`Refusal`], [`Unreachable`].
    pub(crate) async fn page(
        &self,
        path: &str,
        query: &Query,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Rows> {
        let query = query.clone().with("limit", &limit.to_string()).maybe("cursor", cursor);
        let mut body = self.whole(Method::GET, &format!("{path}{}", query.0), None).await?;
        let next = body.pointer("/page/nextCursor").and_then(Value::as_str).map(str::to_owned);
        let rows = match body.get_mut("data").map(Value::take) {
            Some(Value::Array(rows)) => rows,
            Some(_) | None => Vec::new(),
        };
        Ok(Rows { rows, next })
    }

    /// The answer to GET as it comes, for a stream of events behind one that was seen.
    ///
    /// # Errors
    /// [`Refusal`], [`Unreachable`].
    pub(crate) async fn stream(&self, path: &str, seen: u64) -> Result<Answer> {
        let mut headers = self.headers.clone();
        headers.insert("last-event-id", HeaderValue::from(seen));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let call = Call { method: Method::GET, base: &self.base, path, headers, body: None };
        let answer = self.wire.send(call).await?;
        let status = answer.status();
        if (200..300).contains(&status) {
            return Ok(answer);
        }
        let bytes = answer.bytes().await.unwrap_or_default();
        Err(Refusal::of(status, &serde_json::from_slice(&bytes).unwrap_or_default()).into())
    }

    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        let mut body = self.whole(method, path, body).await?;
        Ok(body.get_mut("data").map(Value::take).unwrap_or_default())
    }

    /// `data` of the answer to POST with files.
    ///
    /// # Errors
    /// [`Refusal`], [`Unreachable`].
    pub(crate) async fn upload(&self, path: &str, form: Form) -> Result<Value> {
        let (media, bytes) = form.into_parts();
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::try_from(media)?);
        let mut body = self.sent(Method::POST, path, headers, Some(bytes)).await?;
        Ok(body.get_mut("data").map(Value::take).unwrap_or_default())
    }

    /// The whole body of an answer; null where there is none.
    async fn whole(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        let body = body.filter(|body| !body.is_null()).map(serde_json::to_vec).transpose()?;
        self.sent(method, path, self.headers.clone(), body).await
    }

    async fn sent(
        &self,
        method: Method,
        path: &str,
        mut headers: HeaderMap,
        body: Option<Vec<u8>>,
    ) -> Result<Value> {
        // What could be a document comes as JSON, with its diagnostics.
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let answer = self.wire.send(Call { method, base: &self.base, path, headers, body }).await?;
        let status = answer.status();
        let bytes = answer.bytes().await?;
        let body = serde_json::from_slice(&bytes);
        if !(200..300).contains(&status) {
            return Err(Refusal::of(status, &body.unwrap_or_default()).into());
        }
        if bytes.is_empty() {
            return Ok(Value::Null);
        }
        body.with_context(|| format!("the answer of {} is no JSON", self.base))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_holds_any_text() {
        let query = Query::default().with("q", "a b&c=ä").maybe("state", None).maybe("limit", Some("1"));
        assert_eq!(query.0, "?q=a%20b%26c%3D%C3%A4&limit=1");
    }
}
