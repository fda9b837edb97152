//! Sharing of a round: the organisations that have something ready, found by one look into an index for each, however
//! much each has.

use diesel::QueryableByName;
use diesel_async::RunQueryDsl;
use heddle_kernel::{TenantId, Timestamp};
use heddle_store::{At, Db, DbInstant, DbUuid, Id, read};
use heddle_usecase::StoreError;
use heddle_workflows::ports::Queue;

#[derive(QueryableByName)]
struct Organization {
    #[diesel(sql_type = DbUuid)]
    id: Id,
}

/// The text of the query: the next organisation behind the last one, again and again.
fn text(queue: Queue) -> String {
    let (table, rows, ready) = match queue {
        Queue::Outbox => ("outbox", "TRUE", "not_before <= $1"),
        Queue::Timers => ("run_timers", "TRUE", "due_at <= $1"),
        Queue::Starts => ("start_bindings", "next_due_at IS NOT NULL", "next_due_at <= $1"),
        Queue::Kept => {
            ("case_events", "state = 'buffered' AND awaited", "(retry_at IS NULL OR retry_at <= $1)")
        }
    };
    format!(
        "WITH RECURSIVE own(id) AS (
            SELECT * FROM (
                SELECT organization_id FROM {table} WHERE {rows} ORDER BY organization_id LIMIT 1
            ) AS lowest
            UNION ALL
            SELECT (
                SELECT organization_id FROM {table} WHERE {rows} AND organization_id > own.id
                ORDER BY organization_id LIMIT 1
            ) FROM own WHERE own.id IS NOT NULL
        )
        SELECT id FROM own WHERE id IS NOT NULL
        AND EXISTS (SELECT 1 FROM {table} WHERE organization_id = own.id AND {rows} AND {ready})
        ORDER BY id"
    )
}

/// Organisations with something ready, beginning behind the one that was served last.
pub(crate) async fn in_turn(
    db: &Db,
    queue: Queue,
    now: Timestamp,
    after: Option<TenantId>,
) -> Result<Vec<TenantId>, StoreError> {
    let text = text(queue);
    let found: Vec<Organization> =
        read!(db, |conn| Ok(diesel::sql_query(&text).bind::<DbInstant, _>(At(now)).load(conn).await?))?;
    let mut tenants: Vec<TenantId> = found.into_iter().map(|row| row.id.into()).collect();
    let served = tenants.iter().take_while(|id| after.is_some_and(|after| **id <= after)).count();
    tenants.rotate_left(served);
    Ok(tenants)
}
