//! Events from outside, and what ends by itself.

use crate::schema::{case_events, import_sources};
use diesel::NullableExpressionMethods;
use diesel::{BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_kernel::{EventId, TenantId, Timestamp};
use heddle_store::{At, Db, Id, idempotency, read, write_tx};
use heddle_usecase::StoreError;
use heddle_workflows::records::{InboxEvent, InboxState};

use crate::schema::InboxDbRow;
use crate::words::InboxStateWord;

/// One event.
pub(crate) async fn one(db: &Db, tenant: TenantId, id: EventId) -> Result<InboxEvent, StoreError> {
    read!(db, |conn| {
        let row: InboxDbRow = case_events::table
            .find((Id::from(tenant), Id::from(id)))
            .select(InboxDbRow::as_select())
            .first(conn)
            .await?;
        row.record()
    })
}

/// The event of a key.
pub(crate) async fn by_key(db: &Db, tenant: TenantId, key: &str) -> Result<Option<InboxEvent>, StoreError> {
    read!(db, |conn| {
        let row: Option<InboxDbRow> = case_events::table
            .filter(case_events::organization_id.eq(Id::from(tenant)))
            .filter(case_events::idempotency_key.eq(key))
            .select(InboxDbRow::as_select())
            .first(conn)
            .await
            .optional()?;
        row.map(InboxDbRow::record).transpose()
    })
}

/// Kept events at an instant, the oldest first.
macro_rules! kept {
    ($now:expr) => {
        case_events::table
            .filter(case_events::state.eq(InboxStateWord(InboxState::Buffered)))
            .filter(case_events::expires_at.is_null().or(case_events::expires_at.assume_not_null().gt($now)))
            .order((case_events::received_at, case_events::id))
            .select(InboxDbRow::as_select())
    };
}

/// Kept events for one that begins to listen.
pub(crate) async fn buffered(
    db: &Db,
    tenant: TenantId,
    event_type: &str,
    correlation_key: Option<&str>,
    now: Timestamp,
) -> Result<Vec<InboxEvent>, StoreError> {
    read!(db, |conn| {
        let query = kept!(At(now))
            .filter(case_events::organization_id.eq(Id::from(tenant)))
            .filter(case_events::event_type.eq(event_type))
            .into_boxed();
        let query = match correlation_key {
            Some(key) => query.filter(case_events::correlation_key.eq(key)),
            None => query.filter(case_events::correlation_key.is_null()),
        };
        let rows: Vec<InboxDbRow> = query.load(conn).await?;
        rows.into_iter().map(InboxDbRow::record).collect()
    })
}

/// Ends what is over.
pub(crate) async fn sweep(db: &Db, now: Timestamp) -> Result<u64, StoreError> {
    let ended = write_tx!(db, |conn| {
        let over = case_events::table
            .filter(case_events::state.eq(InboxStateWord(InboxState::Buffered)))
            .filter(case_events::expires_at.le(At(now)));
        let expired = diesel::update(over)
            .set(case_events::state.eq(InboxStateWord(InboxState::Expired)))
            .execute(conn)
            .await?;
        let unclaimed = import_sources::table.filter(import_sources::expires_at.le(At(now)));
        Ok(expired + diesel::delete(unclaimed).execute(conn).await?)
    })?;
    let answers = idempotency::sweep(db, now).await?;
    Ok(u64::try_from(ended + answers).unwrap_or(u64::MAX))
}
