//! The servers that run on the database.

use diesel::{BoolExpressionMethods, ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_identity::ports::LimitOutcome;
use heddle_identity::records::NODE_SECONDS;
use heddle_kernel::Timestamp;
use heddle_store::{At, Id, StoreError, read, write_tx};
use uuid::Uuid;

use crate::IdentityStore;
use crate::rights::lock_counted;
use crate::schema::{NodeRow, nodes};

/// Earliest and latest sign of life of a server that counts. Clocks of servers differ: one from the future counts as far
/// as one from the past.
const fn window(now: Timestamp) -> [At; 2] {
    [At(now.plus_seconds(-NODE_SECONDS)), At(now.plus_seconds(NODE_SECONDS))]
}

pub(crate) async fn join(
    store: &IdentityStore,
    node: Uuid,
    now: Timestamp,
    limit: Option<u64>,
) -> Result<LimitOutcome, StoreError> {
    // A file has one server at a time: whichever stands in it is gone.
    let alone = store.db.postgres().is_none();
    let [from, to] = window(now);
    write_tx!(&store.db, |conn| {
        lock_counted(conn).await?;
        let id = Id(node);
        if alone {
            diesel::delete(nodes::table).execute(conn).await?;
        } else {
            let gone = nodes::seen_at.lt(from).or(nodes::seen_at.gt(to)).or(nodes::id.eq(id));
            diesel::delete(nodes::table.filter(gone)).execute(conn).await?;
        }
        let used: i64 = nodes::table.count().get_result(conn).await?;
        if limit.is_some_and(|limit| used.unsigned_abs() >= limit) {
            return Ok(LimitOutcome::LimitReached { used: used.unsigned_abs() });
        }
        diesel::insert_into(nodes::table).values(&NodeRow { id, seen_at: At(now) }).execute(conn).await?;
        Ok(LimitOutcome::Done)
    })
}

pub(crate) async fn stay(store: &IdentityStore, node: Uuid, now: Timestamp) -> Result<(), StoreError> {
    write_tx!(&store.db, |conn| {
        let row = NodeRow { id: Id(node), seen_at: At(now) };
        let known = diesel::update(nodes::table.find(row.id)).set(nodes::seen_at.eq(row.seen_at));
        if known.execute(conn).await? == 0 {
            // Another server took it for gone while the database was away; it runs all the same.
            diesel::insert_into(nodes::table).values(&row).execute(conn).await?;
        }
        Ok(())
    })
}

pub(crate) async fn leave(store: &IdentityStore, node: Uuid) -> Result<(), StoreError> {
    write_tx!(&store.db, |conn| {
        diesel::delete(nodes::table.find(Id(node))).execute(conn).await?;
        Ok(())
    })
}

pub(crate) async fn count(store: &IdentityStore, now: Timestamp) -> Result<u64, StoreError> {
    let [from, to] = window(now);
    read!(&store.db, |conn| {
        let counted = nodes::table.filter(nodes::seen_at.ge(from).and(nodes::seen_at.le(to)));
        let count: i64 = counted.count().get_result(conn).await?;
        Ok(count.unsigned_abs())
    })
}
