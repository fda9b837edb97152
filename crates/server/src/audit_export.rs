//! The audit trail as JSON lines, all of it: bit by bit, with what one needs to verify it elsewhere. The reader's rights are
//! looked at again on the way, as with every stream.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use heddle_api::ErrorCode;
use heddle_api::wire;
use heddle_edge::Places;
use heddle_faces::audit_view::{checkpoint, event};
use heddle_identity::Authenticated;
use heddle_identity::chain::{ChainRow, Checkpoint, Hash, sealed_text};
use heddle_identity::ports::{AuditEvent, AuditFilter};
use heddle_kernel::{Clock as _, Cursor, EventId, PageRequest, TenantId};
use heddle_policy::capability::{AuditList, InstallationAuditList};
use heddle_policy::{AccessFilter, RequestContext, SessionKind, resource};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::answer::PIECE;
use crate::app::App;
use crate::failure::Failure;
use crate::reply::{Content, HandlerResult, Response};

/// Most records that are read ahead of the reader.
const READ_AHEAD: usize = 200;

/// Trail of an export.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trail {
    /// An organisation's.
    Organization(TenantId),
    /// The installation's own.
    Installation,
}

impl Trail {
    fn id(self) -> TenantId {
        self.tenant().unwrap_or(heddle_identity::chain::INSTALLATION_TRAIL)
    }

    const fn tenant(self) -> Option<TenantId> {
        match self {
            Self::Organization(tenant) => Some(tenant),
            Self::Installation => None,
        }
    }

    /// The reach of a caller, with the rights of now.
    fn reach(self, caller: &Authenticated) -> Option<AccessFilter<resource::AuditEvent>> {
        match self {
            Self::Organization(_) => {
                caller.snapshot.authorize_list::<AuditList>().ok().map(|list| list.filter().clone())
            }
            Self::Installation => caller
                .snapshot
                .authorize_list::<InstallationAuditList>()
                .ok()
                .map(|list| list.filter().clone()),
        }
    }
}

/// Export that is asked for.
pub(crate) struct Asked {
    pub(crate) app: Arc<App>,
    pub(crate) context: RequestContext,
    pub(crate) token: Option<String>,
    pub(crate) trail: Trail,
    pub(crate) access: AccessFilter<resource::AuditEvent>,
    pub(crate) filter: AuditFilter,
}

/// Answers with the lines of a trail. Without a filter, and for a caller who may list all of it, they are in the order of
/// the chain with what proves it; otherwise they are what fits, newest first.
///
/// # Errors
/// The limit of open streams; when the database fails.
pub(crate) async fn stream(asked: Asked) -> HandlerResult {
    let Asked { app, context, token, trail, access, filter } = asked;
    let places = app.edge.stream(context.principal().session, context.tenant())?;
    let is_whole = filter == AuditFilter::default() && access.is_everything();
    let place = if is_whole {
        app.audit.seal_now(trail.id()).await?;
        Place::Beginning
    } else {
        Place::Page(None)
    };
    let mut lines = Lines {
        next_check: Instant::now() + app.edge.limits().stream_check,
        stop: app.stop.clone(),
        token: token.unwrap_or_default(),
        app,
        context,
        trail,
        access,
        filter,
        place,
        waiting: VecDeque::new(),
        _places: places,
    };
    // What can't be read at all is told by a status, not by an empty list.
    lines.read().await?;
    let content =
        Content::Stream(Box::pin(futures::stream::unfold(lines, Lines::next)), "application/x-ndjson");
    Ok(Response { status: 200, headers: vec![("x-accel-buffering", "no".to_owned())], content })
}

/// Place that an export has reached.
enum Place {
    Beginning,
    /// Behind a record of the chain.
    Chain {
        after: i64,
        hash: Hash,
    },
    /// Among what is not sealed yet, behind an event.
    Unsealed(Option<EventId>),
    /// Before a page of what fits.
    Page(Option<Cursor>),
    End,
}

struct Lines {
    app: Arc<App>,
    context: RequestContext,
    token: String,
    trail: Trail,
    access: AccessFilter<resource::AuditEvent>,
    filter: AuditFilter,
    place: Place,
    waiting: VecDeque<Bytes>,
    next_check: Instant,
    stop: watch::Receiver<bool>,
    _places: Places,
}

impl Lines {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        loop {
            if Instant::now() >= self.next_check {
                if !self.may_read().await {
                    return None;
                }
                self.next_check = Instant::now() + self.app.edge.limits().stream_check;
            }
            if let Some(piece) = self.piece() {
                return Some((Ok(piece), self));
            }
            if matches!(self.place, Place::End) || *self.stop.borrow() {
                return None;
            }
            if let Err(failure) = self.read().await {
                // The last line then has no checkpoint, by which the reader knows.
                tracing::warn!(cause = failure.cause, "an export of the audit trail was cut");
                return None;
            }
        }
    }

    /// Next bytes that wait to be handed over.
    fn piece(&mut self) -> Option<Bytes> {
        let front = self.waiting.front_mut()?;
        if front.len() > PIECE {
            return Some(front.split_to(PIECE));
        }
        self.waiting.pop_front()
    }

    /// Takes what comes next.
    async fn read(&mut self) -> Result<(), Failure> {
        match std::mem::replace(&mut self.place, Place::End) {
            Place::Beginning => {
                let dropped = self.app.audit.chain.store().dropped(self.trail.id()).await?;
                let (after, hash) = dropped
                    .as_ref()
                    .map_or((0, Hash::NONE), |dropped| (dropped.statement.sequence, dropped.statement.hash));
                self.sealed(after, hash, dropped).await
            }
            Place::Chain { after, hash } => self.sealed(after, hash, None).await,
            Place::Unsealed(after) => self.unsealed(after).await,
            Place::Page(cursor) => self.page(cursor).await,
            Place::End => Ok(()),
        }
    }

    async fn sealed(&mut self, after: i64, hash: Hash, first: Option<Checkpoint>) -> Result<(), Failure> {
        let (store, trail) = (self.app.audit.chain.store(), self.trail.id());
        let rows = store.sealed(trail, after, READ_AHEAD).await?;
        let Some(last) = rows.iter().filter_map(|row| row.sequence).max() else {
            self.place = Place::Unsealed(None);
            return Ok(());
        };
        let mut told: BTreeMap<i64, Vec<Checkpoint>> = BTreeMap::new();
        for one in store.checkpoints(trail, after, last).await? {
            told.entry(one.statement.sequence).or_default().push(one);
        }
        let (mut reached, mut before, mut first) = (after, hash, first);
        let mut lines = Vec::with_capacity(rows.len());
        for row in rows {
            let sequence = row.sequence.unwrap_or(reached);
            let text = sealed_text(trail, &row, sequence, &before);
            let stored = row.hash.as_deref().and_then(Hash::of);
            let checkpoints: Vec<_> =
                first.take().into_iter().chain(told.remove(&sequence).into_iter().flatten()).collect();
            lines.push(line(&whole(trail, row, text, &checkpoints))?);
            (reached, before) = (sequence, stored.unwrap_or(Hash::NONE));
        }
        self.waiting.extend(lines);
        self.place = Place::Chain { after: reached, hash: before };
        Ok(())
    }

    async fn unsealed(&mut self, after: Option<EventId>) -> Result<(), Failure> {
        let trail = self.trail.id();
        let rows = self.app.audit.chain.store().unsealed(trail, after, READ_AHEAD).await?;
        if let Some(last) = rows.last() {
            self.place = Place::Unsealed(Some(last.id));
        }
        for row in rows {
            self.waiting.push_back(line(&event(AuditEvent::of_row(trail, row)))?);
        }
        Ok(())
    }

    async fn page(&mut self, cursor: Option<Cursor>) -> Result<(), Failure> {
        let page = PageRequest { limit: READ_AHEAD as u32, cursor };
        let identity = &self.app.identity;
        let found = identity.audit_page(self.trail.tenant(), &self.access, &self.filter, &page).await?;
        if let Some(next) = found.next {
            self.place = Place::Page(Some(next));
        }
        for one in found.items {
            self.waiting.push_back(line(&event(one))?);
        }
        Ok(())
    }

    /// Whether session, grants and licence still allow it, with the rights of now.
    async fn may_read(&mut self) -> bool {
        let app = &self.app;
        let session = self.context.principal().session;
        let is_local = matches!(session, SessionKind::CommandLine(_));
        if !is_local && app.identity.licence_state().restriction().is_some() {
            return false;
        }
        let (tenant, now) = (self.context.tenant(), app.clock.now());
        if is_local && tenant.0.is_nil() {
            // The installation itself, which has all rights there.
            return true;
        }
        let known = match session {
            SessionKind::CommandLine(_) => {
                app.identity.of_command_line(self.context.user_id(), tenant, now).await
            }
            SessionKind::Session(_) | SessionKind::ApiToken(_) | SessionKind::ServiceToken(_) => {
                app.identity.recognize(&self.token, Some(tenant), now).await
            }
        };
        match known {
            // Lines that were read with other rights are not handed over.
            Ok(Some(caller)) => self.trail.reach(&caller).is_some_and(|reach| reach == self.access),
            Ok(None) => false,
            // A database that is away for a moment takes no right away; the stream itself ends by its own reads.
            Err(error) => Failure::from(error).error.code == ErrorCode::DependencyUnavailable,
        }
    }
}

/// The line of a record of the chain, with what proves it.
fn whole(
    trail: TenantId,
    row: ChainRow,
    text: String,
    checkpoints: &[Checkpoint],
) -> wire::audit::AuditEvent {
    let checkpoints: Vec<_> = checkpoints.iter().map(checkpoint).collect();
    wire::audit::AuditEvent {
        record: Some(text),
        checkpoints: Some(checkpoints).filter(|told| !told.is_empty()),
        ..event(AuditEvent::of_row(trail, row))
    }
}

fn line<T: Serialize>(value: &T) -> Result<Bytes, Failure> {
    let mut text = serde_json::to_vec(value).map_err(|error| Failure::internal(error.to_string()))?;
    text.push(b'\n');
    Ok(text.into())
}
