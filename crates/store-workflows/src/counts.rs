//! Numbers that triggers keep with the changes that they count: read, never counted.

use std::collections::HashMap;

use diesel::sql_types::BigInt;
use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_kernel::TenantId;
use heddle_store::{AsConn, Db, Error, Id, on_conn, read};
use heddle_usecase::StoreError;
use heddle_workflows::quotas::Used;
use heddle_workflows::records::RunCounts;

use crate::schema::{CountsRow, stored_counts};

/// The rows of numbers of these workflows: a few for each, one for each shard.
macro_rules! counts_of {
    ($tenant:expr, $workflows:expr) => {
        $crate::schema::stored_counts::table
            .filter($crate::schema::stored_counts::organization_id.eq(Id::from($tenant)))
            .filter($crate::schema::stored_counts::workflow_id.eq_any($workflows))
            .select($crate::schema::CountsRow::as_select())
    };
}
pub(crate) use counts_of;

/// Numbers of runs by workflow, over the shards.
pub(crate) fn by_workflow(rows: Vec<CountsRow>) -> HashMap<Id, RunCounts> {
    let mut counts: HashMap<Id, RunCounts> = HashMap::new();
    for row in rows {
        let of = counts.entry(row.workflow_id).or_default();
        of.active += row.active;
        of.incidents += row.incidents;
        of.completed += row.completed;
        of.failed += row.failed;
        of.cancelled += row.cancelled;
    }
    counts
}

/// A sum of numbers; none are 0.
macro_rules! sum {
    ($text:literal) => {
        diesel::dsl::sql::<BigInt>(concat!("CAST(coalesce(sum(", $text, "), 0) AS BIGINT)"))
    };
}

/// All that an organisation has stored: one row for each of its workflows is added up.
pub(crate) async fn used(db: &Db, tenant: TenantId) -> Result<Used, StoreError> {
    read!(db, |conn| used_on(conn, tenant).await)
}

/// The same on a connection.
pub(crate) async fn used_on<C: AsConn>(conn: &mut C, tenant: TenantId) -> Result<Used, Error> {
    let (runs, open_tasks, bytes, letters): (i64, i64, i64, i64) = on_conn!(conn, |conn| {
        stored_counts::table
            .filter(stored_counts::organization_id.eq(Id::from(tenant)))
            .select((
                sum!("active + completed + failed + cancelled"),
                sum!("open_tasks"),
                sum!("bytes"),
                sum!("letters"),
            ))
            .first(conn)
            .await?
    });
    let number = |sum: i64| u64::try_from(sum).unwrap_or(0);
    Ok(Used {
        runs: number(runs),
        open_tasks: number(open_tasks),
        stored_bytes: number(bytes),
        dead_letters: number(letters),
    })
}
