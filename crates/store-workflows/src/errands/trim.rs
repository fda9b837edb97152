//! Bounds of what waits in a lane. Rows go in slices, each in a transaction of its own: nobody waits behind a long one.

use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Text};
use diesel_async::RunQueryDsl;
use heddle_store::{At, Db, DbInstant, DbUuid, Id, read, write_tx};
use heddle_usecase::StoreError;
use heddle_usecase::errand::{Backlog, Lane, MOST_TRIMMED};

/// Most rows of a slice.
const SLICE: i64 = 1000;

/// The first rows of a lane up to a place in it that nobody holds.
const FIRST: &str = "DELETE FROM errands WHERE (organization_id, id) IN (
        SELECT organization_id, id FROM errands
        WHERE kind = $1 AND lane = $2 AND (turn, position) <= ($3, $4) AND node IS NULL
        ORDER BY turn, position LIMIT $5
    )";

/// Place of the last of those rows of a lane that stand before so many others: found by a walk over the others, in the
/// index alone.
const BEFORE: &str = "SELECT turn, position FROM errands WHERE kind = $1 AND lane = $2
    ORDER BY turn DESC, position DESC LIMIT 1 OFFSET $3";

/// Those of the first rows of a lane that are old.
const OLD: &str = "DELETE FROM errands WHERE (organization_id, id) IN (
        SELECT organization_id, id FROM (
            SELECT organization_id, id, node, created_at FROM errands WHERE kind = $1 AND lane = $2
            ORDER BY turn, position LIMIT $3
        ) AS first WHERE node IS NULL AND created_at < $4
    )";

/// Most slices of a round.
const SLICES: u64 = MOST_TRIMMED / SLICE.unsigned_abs();

/// Place of a row in its lane.
#[derive(Debug, Clone, Copy, QueryableByName)]
struct Place {
    #[diesel(sql_type = DbInstant)]
    turn: At,
    #[diesel(sql_type = BigInt)]
    position: i64,
}

/// Removes what is beyond a bound, or all of a lane: a round of it.
pub(super) async fn trim(db: &Db, lane: &Lane, backlog: Option<Backlog>) -> Result<u64, StoreError> {
    let Some(backlog) = backlog else {
        return match place(db, lane, 0).await? {
            Some(last) => first(db, lane, last, SLICES).await,
            None => Ok(0),
        };
    };
    let old = old(db, lane, At(backlog.since)).await?;
    let left = SLICES.saturating_sub(old / SLICE.unsigned_abs());
    if left == 0 {
        return Ok(old);
    }
    match place(db, lane, backlog.most).await? {
        Some(surplus) => Ok(old + first(db, lane, surplus, left).await?),
        None => Ok(old),
    }
}

/// Place of the last row of a lane that stands before so many others.
async fn place(db: &Db, lane: &Lane, others: i64) -> Result<Option<Place>, StoreError> {
    let found: Vec<Place> = read!(db, |conn| {
        let query = diesel::sql_query(BEFORE)
            .bind::<Text, _>(lane.kind.as_str())
            .bind::<DbUuid, _>(Id(lane.id()))
            .bind::<BigInt, _>(others);
        Ok(query.load(conn).await?)
    })?;
    Ok(found.into_iter().next())
}

/// Removes those of a lane that stand up to a place, the first ones, at most so many slices of them.
async fn first(db: &Db, lane: &Lane, last: Place, slices: u64) -> Result<u64, StoreError> {
    let mut gone = 0;
    for _ in 0..slices {
        let rows = write_tx!(db, |conn| {
            let query = diesel::sql_query(FIRST)
                .bind::<Text, _>(lane.kind.as_str())
                .bind::<DbUuid, _>(Id(lane.id()))
                .bind::<DbInstant, _>(last.turn)
                .bind::<BigInt, _>(last.position)
                .bind::<BigInt, _>(SLICE);
            Ok(query.execute(conn).await?)
        })?;
        gone += u64::try_from(rows).unwrap_or(0);
        if i64::try_from(rows).unwrap_or(SLICE) < SLICE {
            break;
        }
    }
    Ok(gone)
}

/// Removes the first ones of a lane that were asked for before an instant: a round of it.
async fn old(db: &Db, lane: &Lane, since: At) -> Result<u64, StoreError> {
    let mut gone = 0;
    for _ in 0..SLICES {
        let rows = write_tx!(db, |conn| {
            let query = diesel::sql_query(OLD)
                .bind::<Text, _>(lane.kind.as_str())
                .bind::<DbUuid, _>(Id(lane.id()))
                .bind::<BigInt, _>(SLICE)
                .bind::<DbInstant, _>(since);
            Ok(query.execute(conn).await?)
        })?;
        gone += u64::try_from(rows).unwrap_or(0);
        // What a node holds stays among the first rows, so that fewer than a slice may go of one.
        if rows == 0 {
            break;
        }
    }
    Ok(gone)
}
