//! Bounds of what waits in a lane. Rows go in slices, each in a transaction of its own: nobody waits behind a long one.

use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Text};
use diesel_async::RunQueryDsl;
use heddle_store::{At, Db, DbInstant, DbUuid, Id, read, write_tx};
use heddle_usecase::StoreError;
use heddle_usecase::errand::{Backlog, Lane};

/// Most rows of a slice.
const SLICE: i64 = 1000;

/// The first rows of a lane that nobody holds.
const FIRST: &str = "DELETE FROM errands WHERE (organization_id, id) IN (
        SELECT organization_id, id FROM errands WHERE kind = $1 AND lane = $2 AND node IS NULL
        ORDER BY turn, position LIMIT $3
    )";

/// Those of the first rows of a lane that are old.
const OLD: &str = "DELETE FROM errands WHERE (organization_id, id) IN (
        SELECT organization_id, id FROM (
            SELECT organization_id, id, node, created_at FROM errands WHERE kind = $1 AND lane = $2
            ORDER BY turn, position LIMIT $3
        ) AS first WHERE node IS NULL AND created_at < $4
    )";

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// Removes what is beyond a bound, or all of a lane.
pub(super) async fn trim(db: &Db, lane: &Lane, backlog: Option<Backlog>) -> Result<u64, StoreError> {
    let Some(backlog) = backlog else { return first(db, lane, i64::MAX).await };
    let old = old(db, lane, At(backlog.since)).await?;
    let surplus = waiting(db, lane).await?.saturating_sub(backlog.most);
    Ok(old + if surplus > 0 { first(db, lane, surplus).await? } else { 0 })
}

async fn waiting(db: &Db, lane: &Lane) -> Result<i64, StoreError> {
    let found: Number = read!(db, |conn| {
        let query = diesel::sql_query("SELECT count(*) AS number FROM errands WHERE kind = $1 AND lane = $2")
            .bind::<Text, _>(lane.kind.as_str())
            .bind::<DbUuid, _>(Id(lane.id()));
        Ok(query.get_result(conn).await?)
    })?;
    Ok(found.number)
}

/// Removes so many of a lane, the first ones.
async fn first(db: &Db, lane: &Lane, mut left: i64) -> Result<u64, StoreError> {
    let mut gone = 0;
    while left > 0 {
        let slice = left.min(SLICE);
        let rows = write_tx!(db, |conn| {
            let query = diesel::sql_query(FIRST)
                .bind::<Text, _>(lane.kind.as_str())
                .bind::<DbUuid, _>(Id(lane.id()))
                .bind::<BigInt, _>(slice);
            Ok(query.execute(conn).await?)
        })?;
        let rows = i64::try_from(rows).unwrap_or(slice);
        gone += rows.unsigned_abs();
        if rows < slice {
            break;
        }
        left -= rows;
    }
    Ok(gone)
}

/// Removes the first ones of a lane that were asked for before an instant.
async fn old(db: &Db, lane: &Lane, since: At) -> Result<u64, StoreError> {
    let mut gone = 0;
    loop {
        let rows = write_tx!(db, |conn| {
            let query = diesel::sql_query(OLD)
                .bind::<Text, _>(lane.kind.as_str())
                .bind::<DbUuid, _>(Id(lane.id()))
                .bind::<BigInt, _>(SLICE)
                .bind::<DbInstant, _>(since);
            Ok(query.execute(conn).await?)
        })?;
        gone += u64::try_from(rows).unwrap_or(0);
        if rows == 0 {
            return Ok(gone);
        }
    }
}
