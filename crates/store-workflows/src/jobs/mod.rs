//! Jobs for external workers: what may be taken, lists, and the ends that are kept for a while.

mod activation;
pub(crate) mod list;

pub(crate) use activation::{Dialect, WINDOW, again, free, last_seen, taking};

use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_kernel::Timestamp;
use heddle_store::{At, Db, write_tx};
use heddle_usecase::StoreError;

use crate::schema::job_endings;

/// The columns of a row of jobs, in its order.
pub(crate) const COLUMNS: &str = "organization_id, id, number, instance_kind, run_id, workflow_id, version, process_id, node_id, \
                       node_instance_id, kind, job_type, headers, priority, state, retries, attempt, due_at, \
                       epoch, worker, lapses, message, place, created_at";

/// Minutes for which the end of a job is kept.
const KEPT_MINUTES: i64 = 10;
/// Most ends that are removed at once: a commit in between waits no longer for it.
const SLICE: i64 = 10_000;

/// Removes the ends that are no longer kept.
pub(crate) async fn sweep(db: &Db, now: Timestamp) -> Result<u64, StoreError> {
    let over = At(now.plus_seconds(-60 * KEPT_MINUTES));
    let mut removed = 0_u64;
    loop {
        let gone = write_tx!(db, |conn| {
            let last: Option<At> = job_endings::table
                .filter(job_endings::ended_at.le(over))
                .order(job_endings::ended_at)
                .offset(SLICE)
                .select(job_endings::ended_at)
                .first(conn)
                .await
                .optional()?;
            // Those that ended at the same instant go together.
            let until = last.unwrap_or(over);
            Ok(diesel::delete(job_endings::table.filter(job_endings::ended_at.le(until)))
                .execute(conn)
                .await?)
        })?;
        removed += u64::try_from(gone).unwrap_or(u64::MAX);
        if i64::try_from(gone).unwrap_or(i64::MAX) < SLICE {
            return Ok(removed);
        }
    }
}
