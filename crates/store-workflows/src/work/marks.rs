//! Marks of what nodes are doing.

use crate::schema::{MarkChange, MarkDbRow, work_marks};
use crate::words::QueueWord;
use diesel::{BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper, insert_into};
use diesel_async::RunQueryDsl;
use heddle_kernel::Timestamp;
use heddle_store::document::{decode, encode};
use heddle_store::{At, Db, Error, Id, write_tx};
use heddle_usecase::StoreError;
use heddle_workflows::ports::Queue;
use heddle_workflows::records::WorkMark;
use uuid::Uuid;

/// Puts a mark in the place of the last one.
pub(crate) async fn write(
    db: &Db,
    node: Uuid,
    queue: Queue,
    mark: &WorkMark,
    now: Timestamp,
) -> Result<(), StoreError> {
    let row = MarkDbRow {
        node: Id(node),
        queue: QueueWord(queue),
        single: mark.single,
        marked_at: At(now),
        pieces: encode(&mark.pieces).map_err(StoreError::from)?,
    };
    write_tx!(db, |conn| {
        insert_into(work_marks::table)
            .values(&row)
            .on_conflict((work_marks::node, work_marks::queue))
            .do_update()
            .set(MarkChange::from(&row).set())
            .execute(conn)
            .await?;
        Ok(())
    })
}

/// Removes a mark.
pub(crate) async fn remove(db: &Db, node: Uuid, queue: Queue) -> Result<(), StoreError> {
    write_tx!(db, |conn| {
        diesel::delete(work_marks::table.find((Id(node), QueueWord(queue)))).execute(conn).await?;
        Ok(())
    })
}

/// Takes the marks of a node, and those that nobody renewed since an instant.
pub(crate) async fn left_behind(db: &Db, node: Uuid, since: Timestamp) -> Result<Vec<WorkMark>, StoreError> {
    write_tx!(db, |conn| {
        let rows: Vec<MarkDbRow> = work_marks::table
            .filter(work_marks::node.eq(Id(node)).or(work_marks::marked_at.lt(At(since))))
            .select(MarkDbRow::as_select())
            .load(conn)
            .await?;
        for row in &rows {
            // One that was renewed in the meantime is still its node's.
            let same = work_marks::table.find((row.node, row.queue));
            diesel::delete(same.filter(work_marks::marked_at.eq(row.marked_at))).execute(conn).await?;
        }
        let mark = |row: MarkDbRow| Ok(WorkMark { single: row.single, pieces: decode(&row.pieces)? });
        rows.into_iter().map(mark).collect::<Result<Vec<_>, Error>>()
    })
}
