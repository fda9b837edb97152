//! A call of an operation after the gate: who, with what proof, and the decoded parts.

use std::sync::Arc;

use bytes::Bytes;
use heddle_api::operations::{Operation, OperationSpec};
use heddle_identity::Authenticated;
use heddle_kernel::{PageRequest, Revision, UserId};
use heddle_policy::{Access, RequestContext, RequestFacts};
use heddle_usecase::{IdempotencyRecord, Journal};
use heddle_workflows::ports::FeedMark;
use serde_json::Value;
use uuid::Uuid;

use crate::accept::Accept;
use crate::app::App;
use crate::audit::{self, About};
use crate::failure::Failure;
use crate::reply::{Content, HandlerResult, REPLAYED, Response};

/// Idempotency key of a call, and the code of the call, which tells another call under the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdempotencyKey {
    /// The key under which it is kept: the caller's own.
    pub key: String,
    /// The code of the call.
    pub call_code: String,
}

/// The first answer under an idempotency key, as it was kept.
#[derive(Debug, Clone)]
pub(crate) struct FirstAnswer {
    /// The status.
    pub status: u16,
    /// The entity tag.
    pub etag: Option<String>,
    /// The path of what was made.
    pub location: Option<String>,
    /// The body, maybe empty.
    pub body: Bytes,
}

impl FirstAnswer {
    /// The same answer again.
    #[must_use]
    pub(crate) fn again(self) -> Response {
        let content = match self.body.is_empty() {
            true => Content::Empty,
            false => Content::Bytes(self.body, "application/json".to_owned()),
        };
        let mut headers = vec![(REPLAYED, "true".to_owned())];
        headers.extend(self.etag.map(|etag| ("etag", etag)));
        headers.extend(self.location.map(|location| ("location", location)));
        Response { status: self.status, headers, content }
    }
}

impl From<IdempotencyRecord> for FirstAnswer {
    fn from(record: IdempotencyRecord) -> Self {
        let IdempotencyRecord { status, etag, location, body, .. } = record;
        Self { status, etag, location, body: body.into() }
    }
}

impl Meta {
    /// Whether the caller takes JSON rather than the document itself.
    #[must_use]
    pub(crate) fn wants_json(&self) -> bool {
        self.media == Some("application/json")
    }

    /// Whether the caller takes a page rather than JSON.
    #[must_use]
    pub(crate) fn wants_html(&self) -> bool {
        self.media == Some("text/html")
    }

    /// Whether the caller takes JSON lines.
    #[must_use]
    pub(crate) fn wants_lines(&self) -> bool {
        self.media == Some("application/x-ndjson")
    }
}

/// The headers and other facts that a handler may need.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meta {
    /// The revision of `If-Match`.
    pub if_match: Option<Revision>,
    /// The idempotency key under which the answer is kept.
    pub idempotency: Option<IdempotencyKey>,
    /// The first answer under the key, where the repeat of a call that waits has to wait again.
    pub first: Option<FirstAnswer>,
    /// Media types that the caller takes.
    pub accept: Accept,
    /// The media type of those that the operation gives that the caller likes best.
    pub media: Option<&'static str>,
    /// `Last-Event-ID` of a run's stream.
    pub last_event_id: Option<u64>,
    /// `Last-Event-ID` of the stream over all runs.
    pub last_position: Option<FeedMark>,
    /// `User-Agent`.
    pub user_agent: Option<String>,
    /// `Host`: the address that the caller knows the service by.
    pub host: Option<String>,
    /// The token that the caller came with.
    pub token: Option<String>,
    /// Mark of the device that the caller came with.
    pub device: Option<String>,
    /// Sign-in by a provider that was begun in the caller's browser.
    pub sign_in: Option<String>,
}

/// A call of an operation that a permission guards.
pub(crate) struct Call<O: Operation> {
    /// The service.
    pub app: Arc<App>,
    /// Context: the caller, the organisation, and the request.
    pub context: RequestContext,
    /// The proof.
    pub authorized: <O::Access as Access>::Proof,
    /// The path's parameters.
    pub path: O::Path,
    /// The query.
    pub query: O::Query,
    /// The body.
    pub body: O::Body,
    /// The rest.
    pub meta: Meta,
}

impl<O: Operation> Call<O> {
    /// Journal beside a change of a thing: the audit event of the operation's row and, when the caller sent an
    /// idempotency key, the answer.
    pub(crate) fn journal(&self, about: impl Into<About>, answer: impl FnOnce() -> HandlerResult) -> Journal {
        let spec = O::ID.spec();
        Journal {
            audit: audit::done(&self.app, spec, &self.context, about.into()),
            idempotency: self
                .meta
                .idempotency
                .as_ref()
                .and_then(|key| remembered(spec, &self.context, key, answer().ok()?)),
            ..Journal::default()
        }
    }

    /// The same with details for the audit.
    pub(crate) fn journal_with(
        &self,
        about: impl Into<About>,
        details: Value,
        answer: impl FnOnce() -> HandlerResult,
    ) -> Journal {
        self.journal(about.into().with(details), answer)
    }

    /// Journal beside a deletion: no answer has to be kept.
    pub(crate) fn audited(&self, about: impl Into<About>) -> Journal {
        let audit = audit::done(&self.app, O::ID.spec(), &self.context, about.into());
        Journal { audit, ..Journal::default() }
    }

    /// Names the key under which an operation whose key is in its body keeps its answer, unless the header names one. It is
    /// the organisation's: whoever sends the same event again gets the first answer.
    ///
    /// # Errors
    /// A fault of ours without the installation's key.
    pub(crate) fn keep_by(&mut self, key: &str) -> Result<(), Failure> {
        if self.meta.idempotency.is_none() {
            let nobody = UserId(Uuid::nil());
            let code = |word: &[u8]| self.app.identity.call_code(nobody, &[word, key.as_bytes()]);
            self.meta.idempotency = Some(IdempotencyKey {
                key: code(b"key of the body")?,
                call_code: code(b"call of the body")?,
            });
        }
        Ok(())
    }

    /// The first answer to a call that turned out to be a repeat, as long as it is kept.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) async fn first_answer(&self) -> Result<Option<Response>, Failure> {
        let Some(key) = &self.meta.idempotency else { return Ok(None) };
        let (tenant, keys) = (self.context.tenant(), [key.key.clone()]);
        let operation = O::ID.spec().operation_id;
        let kept = self.app.identity.idempotent(tenant, operation, &keys, self.context.now()).await?;
        Ok(kept.map(|record| FirstAnswer::from(record).again()))
    }

    /// The revision that the caller saw: `If-Match`, else the body's.
    ///
    /// # Errors
    /// 400 when they differ.
    pub(crate) fn seen(&self, body: Option<i64>) -> Result<Option<Revision>, Failure> {
        match (self.meta.if_match, body.map(Revision)) {
            (Some(header), Some(body)) if header != body => {
                Err(Failure::at("revision", "contradiction", "`If-Match` and `revision` differ."))
            }
            (header, body) => Ok(header.or(body)),
        }
    }
}

/// The record of an answer under a call's key; none of an answer that comes bit by bit.
pub(crate) fn remembered(
    spec: &OperationSpec,
    context: &RequestContext,
    kept: &IdempotencyKey,
    answer: Response,
) -> Option<IdempotencyRecord> {
    let body = match answer.content {
        Content::Bytes(bytes, _) => bytes.into(),
        Content::Empty => Vec::new(),
        Content::Stream(..) => return None,
    };
    let header = |wanted: &str| {
        answer.headers.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.clone())
    };
    let (etag, location) = (header("etag"), header("location"));
    Some(IdempotencyRecord {
        tenant: context.tenant(),
        operation: spec.operation_id.to_owned(),
        key: kept.key.clone(),
        body_sha256: kept.call_code.clone(),
        status: answer.status,
        body,
        etag,
        location,
        created_at: context.now(),
    })
}

/// The part of a list that is asked for.
#[must_use]
pub(crate) fn page(limit: Option<u32>, cursor: Option<String>) -> PageRequest {
    let fallback = PageRequest::default();
    PageRequest {
        limit: limit.unwrap_or(fallback.limit),
        cursor: cursor.map(heddle_kernel::Cursor::from_text),
    }
}

/// A call that needs a session and nothing else.
pub(crate) struct SessionCall<O: Operation> {
    /// The service.
    pub app: Arc<App>,
    /// Caller, signed in.
    pub caller: Authenticated,
    /// The request.
    pub facts: RequestFacts,
    /// The path's parameters.
    pub path: O::Path,
    /// The query.
    pub query: O::Query,
    /// The body.
    pub body: O::Body,
    /// The rest.
    pub meta: Meta,
}

/// A call that needs nothing.
pub(crate) struct PublicCall<O: Operation> {
    /// The service.
    pub app: Arc<App>,
    /// The request.
    pub facts: RequestFacts,
    /// The path's parameters.
    pub path: O::Path,
    /// The query.
    pub query: O::Query,
    /// The body.
    pub body: O::Body,
    /// The rest.
    pub meta: Meta,
    /// All headers, of a call at a hook.
    pub headers: Vec<(String, String)>,
    /// The query as it came.
    pub raw_query: String,
}
