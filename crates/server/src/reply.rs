//! Answers of handlers, before they become HTTP.

use std::pin::Pin;

use bytes::Bytes;
use futures::Stream;
use heddle_api::wire::envelope::{Data, List};
use heddle_kernel::{Page, Revision};
use serde::Serialize;

use crate::failure::Failure;

/// Header of a first answer that is given again.
pub(crate) const REPLAYED: &str = "idempotent-replayed";

/// A stream of bytes for the caller.
pub(crate) type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, std::convert::Infallible>> + Send>>;

/// Content of an answer.
pub(crate) enum Content {
    /// Nothing.
    Empty,
    /// Bytes of a media type.
    Bytes(Bytes, String),
    /// Bytes as they come.
    Stream(ByteStream, &'static str),
}

/// An answer.
pub(crate) struct Response {
    /// The HTTP status.
    pub status: u16,
    /// Headers beside those of every answer.
    pub headers: Vec<(&'static str, String)>,
    /// Content of the answer.
    pub content: Content,
}

/// Result of a handler: the answer, or the failure.
pub(crate) type HandlerResult = Result<Response, Failure>;

impl Response {
    /// JSON.
    ///
    /// # Errors
    /// A fault of ours when the value has no JSON form.
    pub(crate) fn json<T: Serialize + ?Sized>(status: u16, value: &T) -> HandlerResult {
        let bytes = serde_json::to_vec(value).map_err(|error| Failure::internal(error.to_string()))?;
        let content = Content::Bytes(bytes.into(), "application/json".to_owned());
        Ok(Self { status, headers: Vec::new(), content })
    }

    /// `{"data": ...}`.
    ///
    /// # Errors
    /// As [`Self::json`].
    pub(crate) fn data<T: Serialize>(status: u16, data: T) -> HandlerResult {
        Self::json(status, &Data::of(data))
    }

    /// `{"data": [...], "page": {...}}`.
    ///
    /// # Errors
    /// As [`Self::json`].
    pub(crate) fn list<T: Serialize, U>(
        page: Page<U>,
        limit: u32,
        change: impl FnMut(U) -> T,
    ) -> HandlerResult {
        Self::json(200, &List::of(page, limit, change))
    }

    /// 204.
    #[must_use]
    pub(crate) const fn none() -> Self {
        Self { status: 204, headers: Vec::new(), content: Content::Empty }
    }

    /// Whether it is the first answer under a key, given again.
    #[must_use]
    pub(crate) fn is_replay(&self) -> bool {
        self.headers.iter().any(|(name, _)| *name == REPLAYED)
    }

    /// A document of its own media type.
    #[must_use]
    pub(crate) fn document(bytes: Vec<u8>, media_type: &str, file_name: &str) -> Self {
        // Only what needs no escape stands in the name; the rest becomes a hyphen.
        let safe = |letter: char| {
            if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '-' }
        };
        let name: String = file_name.chars().take(120).map(safe).collect();
        Self {
            status: 200,
            headers: vec![("content-disposition", format!("attachment; filename=\"{name}\""))],
            content: Content::Bytes(bytes.into(), media_type.to_owned()),
        }
    }

    /// A page for people, without anything that is loaded or run.
    #[must_use]
    pub(crate) fn page(html: String) -> Self {
        Self {
            status: 200,
            headers: vec![(
                "content-security-policy",
                "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'".to_owned(),
            )],
            content: Content::Bytes(html.into(), "text/html; charset=utf-8".to_owned()),
        }
    }

    /// With one more header.
    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// With the resource's revision as entity tag.
    #[must_use]
    pub(crate) fn tagged(self, revision: Revision) -> Self {
        self.with("etag", format!("\"{revision}\""))
    }
}
