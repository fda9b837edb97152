//! Requests without their connection, as the gate takes them.

use heddle_policy::RequestFacts;

use crate::command_line::LocalCall;
use crate::upload::Upload;

/// A request without its connection.
#[derive(Clone)]
pub(crate) struct Incoming {
    /// Facts about the request: id, time, address.
    pub facts: RequestFacts,
    /// The path's parameters as text.
    pub path: Vec<(String, String)>,
    /// The path as sent.
    pub raw_path: String,
    /// The query as text.
    pub query: String,
    /// The body; of an upload a list of its files, once they are stored.
    pub body: bytes::Bytes,
    /// Text by which a repeat of an upload is told; of other calls it is the body.
    pub identity: Option<bytes::Bytes>,
    /// Files that are still to come, of an upload.
    pub upload: Option<Upload>,
    /// The headers that matter.
    pub headers: Headers,
}

/// The headers that matter.
#[derive(Debug, Default, Clone)]
pub(crate) struct Headers {
    /// The credentials.
    pub presented: RequestCredentials,
    /// `x-organization-id`.
    pub organization: Option<String>,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `Accept`.
    pub accept: Option<String>,
    /// `If-Match`.
    pub if_match: Option<String>,
    /// `Idempotency-Key`.
    pub idempotency_key: Option<String>,
    /// `Last-Event-ID`.
    pub last_event_id: Option<String>,
    /// `User-Agent`.
    pub user_agent: Option<String>,
    /// The cookie that marks a device on which an account was signed in before.
    pub device: Option<String>,
    /// The cookie with a sign-in by a provider that was begun in this browser.
    pub sign_in: Option<String>,
    /// All headers, by their names in small letters, of a call at a hook: its signature and its expressions are over them.
    pub all: Vec<(String, String)>,
    /// Words of a call over the socket of the machine's own commands.
    pub local: Option<LocalCall>,
}

/// Credentials that a request presents.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestCredentials {
    /// The token of `Authorization: Bearer`.
    pub bearer: Option<String>,
    /// The token of the cookie.
    pub cookie: Option<String>,
    /// `Sec-Fetch-Site`.
    pub fetch_site: Option<String>,
    /// `Origin`.
    pub origin: Option<String>,
    /// `Host`.
    pub host: Option<String>,
}

impl RequestCredentials {
    /// The token, whichever way it came.
    #[must_use]
    pub(crate) fn token(&self) -> Option<&str> {
        self.bearer.as_deref().or(self.cookie.as_deref())
    }
}

/// A parameter of the path, as text.
pub(crate) fn parameter<'a>(path: &'a [(String, String)], name: &str) -> Option<&'a str> {
    path.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}
