//! Events from outside, and what ends by itself.

use crate::schema::{case_events, import_sources};
use diesel::NullableExpressionMethods;
use diesel::sql_types::Bool;
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
    let found = read!(db, |conn| {
        let row: Option<InboxDbRow> = case_events::table
            .filter(case_events::organization_id.eq(Id::from(tenant)))
            .filter(case_events::idempotency_key.eq(key))
            .select(InboxDbRow::as_select())
            .first(conn)
            .await
            .optional()?;
        row.map(InboxDbRow::record).transpose()
    })?;
    // A repeat is answered by it.
    if found.is_some() {
        db.settled().await?;
    }
    Ok(found)
}

/// Whether an event is kept, in the words of the indexes of kept events: they are not found by a bound value.
pub(crate) fn is_kept() -> diesel::expression::SqlLiteral<Bool> {
    diesel::dsl::sql("case_events.state = 'buffered'")
}

/// Kept events at an instant, the oldest first.
macro_rules! kept {
    ($now:expr) => {
        case_events::table
            .filter(is_kept())
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

/// Looks anew which kept events runs wait for. On PostgreSQL an event and a subscription that are written at the same
/// moment don't see each other; and a run that ended waits no more.
async fn await_anew(db: &Db) -> Result<(), StoreError> {
    let text = "UPDATE case_events SET awaited = NOT awaited WHERE state = 'buffered' AND awaited <> (
        EXISTS (
            SELECT 1 FROM run_subscriptions AS s
            WHERE s.organization_id = case_events.organization_id AND s.kind = 'message'
                AND s.name = case_events.event_type AND s.correlation_key = case_events.correlation_key
        ) OR case_events.correlation_key IS NULL AND EXISTS (
            SELECT 1 FROM run_subscriptions AS s
            WHERE s.organization_id = case_events.organization_id AND s.kind = 'message'
                AND s.name = case_events.event_type AND s.correlation_key IS NULL
        )
    )";
    write_tx!(db, |conn| {
        diesel::sql_query(text).execute(conn).await?;
        Ok(())
    })
}

/// Ends what is over.
pub(crate) async fn sweep(db: &Db, now: Timestamp) -> Result<u64, StoreError> {
    let ended = write_tx!(db, |conn| {
        let over = case_events::table.filter(is_kept()).filter(case_events::expires_at.le(At(now)));
        let expired = diesel::update(over)
            .set(case_events::state.eq(InboxStateWord(InboxState::Expired)))
            .execute(conn)
            .await?;
        let unclaimed = import_sources::table.filter(import_sources::expires_at.le(At(now)));
        Ok(expired + diesel::delete(unclaimed).execute(conn).await?)
    })?;
    await_anew(db).await?;
    let answers = idempotency::sweep(db, now).await?;
    Ok(u64::try_from(ended + answers).unwrap_or(u64::MAX))
}
