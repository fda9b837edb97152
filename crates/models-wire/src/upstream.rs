//! Requests as they go to a provider.

use bytes::Bytes;
use std::fmt;

/// A method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `GET`.
    Get,
    /// `POST`.
    Post,
}

impl Method {
    /// The method's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// A header that the wire demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Name, in lower case.
    pub name: &'static str,
    /// Value.
    pub value: &'static str,
}

/// A request to a provider, but for its base address and its key, which whoever sends it adds
/// ([`Family::key_header`](crate::Family::key_header)).
///
/// The base addresses to which `path` is appended: OpenAI's kind with its version (`https://api.openai.com/v1`), those of
/// the others without (`https://api.anthropic.com`, `https://generativelanguage.googleapis.com`,
/// `https://NAME.openai.azure.com`, `http://localhost:11434`).
#[derive(Clone, PartialEq, Eq)]
pub struct UpstreamRequest {
    /// Method.
    pub method: Method,
    /// Path behind the base address, with its query; begins with `/`.
    pub path: String,
    /// Headers of the wire.
    pub headers: Vec<Header>,
    /// Body: JSON, or empty for `GET`.
    pub body: Bytes,
}

impl fmt::Debug for UpstreamRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpstreamRequest")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("body", &self.body.len())
            .finish_non_exhaustive()
    }
}

const JSON: Header = Header { name: "content-type", value: "application/json" };

impl UpstreamRequest {
    pub(crate) fn post(path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self { method: Method::Post, path: path.into(), headers: vec![JSON], body: body.into() }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self { method: Method::Get, path: path.into(), headers: Vec::new(), body: Bytes::new() }
    }

    pub(crate) fn with(mut self, header: Header) -> Self {
        self.headers.push(header);
        self
    }
}
