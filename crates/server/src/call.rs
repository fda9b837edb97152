//! A call of an operation after the gate: who, with what proof, and the decoded parts.

use std::sync::Arc;

use heddle_api::operations::{Operation, OperationSpec};
use heddle_identity::Authenticated;
use heddle_kernel::{PageRequest, Revision};
use heddle_policy::{Access, RequestContext, RequestFacts};
use heddle_usecase::{IdempotencyRecord, Journal};
use serde_json::Value;

use crate::app::App;
use crate::audit::{self, About};
use crate::failure::Failure;
use crate::reply::{Content, HandlerResult, Response};

/// Idempotency key of a call, and the hash of the call, which tells another call under the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdempotencyKey {
    /// The key.
    pub key: String,
    /// The hash of the call.
    pub body_sha256: String,
}

/// The headers and other facts that a handler may need.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meta {
    /// The revision of `If-Match`.
    pub if_match: Option<Revision>,
    /// The idempotency key under which the answer is kept.
    pub idempotency: Option<IdempotencyKey>,
    /// The caller takes JSON rather than the document itself.
    pub wants_json: bool,
    /// The caller takes a page rather than JSON.
    pub wants_html: bool,
    /// The caller takes JSON lines.
    pub wants_lines: bool,
    /// `Last-Event-ID`.
    pub last_event_id: Option<u64>,
    /// `User-Agent`.
    pub user_agent: Option<String>,
    /// The token that the caller came with.
    pub token: Option<String>,
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
        Journal { audit, idempotency: None }
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

fn remembered(
    spec: &OperationSpec,
    context: &RequestContext,
    kept: &IdempotencyKey,
    answer: Response,
) -> Option<IdempotencyRecord> {
    let body = match answer.content {
        Content::Bytes(bytes, _) => bytes,
        Content::Empty => Vec::new(),
        Content::Stream(..) => return None,
    };
    let etag = answer.headers.into_iter().find(|(name, _)| *name == "etag").map(|(_, value)| value);
    Some(IdempotencyRecord {
        tenant: context.tenant(),
        operation: spec.operation_id.to_owned(),
        key: kept.key.clone(),
        body_sha256: kept.body_sha256.clone(),
        status: answer.status,
        body,
        etag,
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
}

/// A call that needs nothing.
pub(crate) struct PublicCall<O: Operation> {
    /// The service.
    pub app: Arc<App>,
    /// The request.
    pub facts: RequestFacts,
    /// The body.
    pub body: O::Body,
    /// The rest.
    pub meta: Meta,
}
