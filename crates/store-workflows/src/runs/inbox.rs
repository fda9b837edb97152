//! Events from outside, thrown messages, and what ends by itself.

use crate::schema::{case_events, import_sources, outbox, run_subscriptions};
use diesel::NullableExpressionMethods;
use diesel::dsl::exists;
use diesel::{BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_kernel::{EventId, TenantId, Timestamp};
use heddle_store::{At, Db, Id, idempotency, read, write_tx};
use heddle_usecase::StoreError;
use heddle_workflows::records::{BindingKind, InboxEvent, InboxState, Outgoing};

use crate::schema::{InboxDbRow, OutgoingDbRow};
use crate::words::{InboxStateWord, KindWord};

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

/// Messages and signals to be delivered.
pub(crate) async fn outgoing(db: &Db, limit: i64) -> Result<Vec<Outgoing>, StoreError> {
    read!(db, |conn| {
        let rows: Vec<OutgoingDbRow> = outbox::table
            .order((outbox::created_at, outbox::id))
            .limit(limit)
            .select(OutgoingDbRow::as_select())
            .load(conn)
            .await?;
        rows.into_iter().map(OutgoingDbRow::record).collect()
    })
}

/// Kept events for which a run waits.
pub(crate) async fn undelivered(db: &Db, now: Timestamp, limit: i64) -> Result<Vec<InboxEvent>, StoreError> {
    read!(db, |conn| {
        let same_key = run_subscriptions::correlation_key
            .is_null()
            .and(case_events::correlation_key.is_null())
            .or(run_subscriptions::correlation_key
                .is_not_null()
                .and(case_events::correlation_key.is_not_null())
                .and(
                    run_subscriptions::correlation_key
                        .assume_not_null()
                        .eq(case_events::correlation_key.assume_not_null()),
                ));
        let waiting = run_subscriptions::table
            .filter(run_subscriptions::organization_id.eq(case_events::organization_id))
            .filter(run_subscriptions::kind.eq(KindWord(BindingKind::Message)))
            .filter(run_subscriptions::name.eq(case_events::event_type))
            .filter(same_key);
        let rows: Vec<InboxDbRow> = kept!(At(now)).filter(exists(waiting)).limit(limit).load(conn).await?;
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
