//! Leases: taken, renewed, given back, and ended when their node left them behind.

use diesel::sql_types::BigInt;
use diesel::{BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_kernel::Timestamp;
use heddle_store::schema::{ErrandRow, errands};
use heddle_store::{AsConn, At, Conn, Db, Error, Id, errands as rows, on_conn, write_tx};
use heddle_usecase::StoreError;
use heddle_usecase::errand::{Claim, Claimed, Errand, Held, Holder, Lane};
use uuid::Uuid;

/// The rows of a lane, in its order.
macro_rules! of_lane {
    ($lane:expr) => {
        errands::table
            .filter(errands::kind.eq($lane.kind.as_str()))
            .filter(errands::lane.eq(Id($lane.id())))
            .order((errands::turn, diesel::dsl::sql::<BigInt>("errands.position")))
    };
}

/// The row of an errand.
macro_rules! errand_row {
    ($tenant:expr, $id:expr) => {
        errands::table.filter(errands::organization_id.eq($tenant)).filter(errands::id.eq($id))
    };
}

/// The row of an errand while a node holds it under a lease.
macro_rules! held {
    ($held:expr, $node:expr) => {
        errands::table
            .filter(errands::organization_id.eq(Id::from($held.tenant)))
            .filter(errands::id.eq(Id::from($held.id)))
            .filter(errands::node.eq(Some(Id($node))))
            .filter(errands::epoch.eq($held.epoch))
    };
}

pub(super) use held;

/// Takes errands.
pub(super) async fn claim(db: &Db, claims: &[Claim], holder: Holder) -> Result<Claimed, StoreError> {
    write_tx!(db, |conn| {
        let mut claimed = Claimed::default();
        for claim in claims {
            let rows = if claim.lane.is_in_order() {
                first_of(conn, claim, At(holder.now)).await?
            } else {
                due_of(conn, claim, At(holder.now)).await?
            };
            if let Some(first) =
                rows.as_slice().first().filter(|row| claim.lane.is_in_order() && row.node.is_some())
            {
                free_behind(conn, &claim.lane, first, At(holder.now)).await?;
            }
            let mut unreadable = 0;
            for (place, row) in rows.into_iter().enumerate() {
                let may_have_begun = place == 0 || !claim.lane.is_in_order();
                match take(conn, row, may_have_begun, holder).await? {
                    Some(errand) => claimed.taken.push(errand),
                    None => unreadable += 1,
                }
            }
            if unreadable > 0 {
                claimed.unreadable.push((claim.lane.clone(), unreadable));
            }
        }
        Ok(claimed)
    })
}

/// The first errands of a lane in order, if the very first is due. On PostgreSQL it is locked: another node that is at
/// the same lane passes by.
async fn first_of<C: AsConn>(conn: &mut C, claim: &Claim, now: At) -> Result<Vec<ErrandRow>, Error> {
    let first: Vec<(Id, Id)> = on_conn!(conn, |conn| {
        let first = of_lane!(claim.lane).limit(1).select((errands::organization_id, errands::id));
        first.load(conn).await?
    });
    let Some((tenant, id)) = first.as_slice().first().copied() else { return Ok(Vec::new()) };
    if let Conn::Postgres(conn) = conn.as_conn() {
        let first = errand_row!(tenant, id).select(errands::id).for_update().skip_locked();
        let locked: Vec<Id> = first.load(conn).await?;
        if locked.is_empty() {
            return Ok(Vec::new());
        }
    }
    // What stands behind the first is held by nobody else while that is locked.
    let rows: Vec<ErrandRow> = on_conn!(conn, |conn| {
        of_lane!(claim.lane).limit(claim.most).select(ErrandRow::as_select()).load(conn).await?
    });
    Ok(rows.into_iter().take_while(|row| row.due_at <= now).collect())
}

/// Errands of a lane without an order that are due.
async fn due_of<C: AsConn>(conn: &mut C, claim: &Claim, now: At) -> Result<Vec<ErrandRow>, Error> {
    let due = of_lane!(claim.lane).filter(errands::turn.le(now)).limit(claim.most);
    Ok(match conn.as_conn() {
        Conn::Sqlite(conn) => due.select(ErrandRow::as_select()).load(conn).await?,
        Conn::Postgres(conn) => {
            due.select(ErrandRow::as_select()).for_update().skip_locked().load(conn).await?
        }
    })
}

/// Frees what stands behind the first of a lane in order and was left behind with it. It was not begun, since the first
/// was not ended, and is not under suspicion.
async fn free_behind<C: AsConn>(conn: &mut C, lane: &Lane, first: &ErrandRow, now: At) -> Result<(), Error> {
    let behind = errands::table
        .filter(errands::node.eq(first.node))
        .filter(errands::kind.eq(lane.kind.as_str()))
        .filter(errands::lane.eq(Id(lane.id())))
        .filter(errands::id.ne(first.id))
        .filter(errands::due_at.le(now));
    on_conn!(conn, |conn| {
        heddle_store::update(behind).set(errands::node.eq(None::<Id>)).execute(conn).await?;
    });
    Ok(())
}

/// Puts a row under a lease. One that may have begun under another, which ran out, is under suspicion from now on, and if
/// it was so before, that was a crash of its own. None that does not read: it goes.
async fn take<C: AsConn>(
    conn: &mut C,
    mut row: ErrandRow,
    may_have_begun: bool,
    holder: Holder,
) -> Result<Option<Errand>, Error> {
    let lapsed = may_have_begun && row.node.is_some();
    row.crashes = row.crashes.saturating_add(i32::from(lapsed && row.suspect));
    row.suspect |= lapsed;
    row.epoch = row.epoch.saturating_add(1);
    let until = At(holder.until);
    let present = errand_row!(row.organization_id, row.id);
    let lease = (
        errands::node.eq(Some(Id(holder.node))),
        errands::due_at.eq(until),
        errands::turn.eq(rows::turn(&row.line, until)),
        errands::epoch.eq(row.epoch),
        errands::suspect.eq(row.suspect),
        errands::crashes.eq(row.crashes),
        errands::hastened.eq(false),
    );
    on_conn!(conn, |conn| {
        heddle_store::update(present).set(lease).execute(conn).await?;
    });
    let (tenant, id) = (row.organization_id, row.id);
    match row.record() {
        Ok(errand) => Ok(Some(errand)),
        Err(error) => {
            // It can never be done, and would hold up its lane for ever.
            tracing::error!(%error, organization = %tenant.0, errand = %id.0, "an errand does not read, and goes");
            let gone = errand_row!(tenant, id);
            on_conn!(conn, |conn| {
                diesel::delete(gone).execute(conn).await?;
            });
            Ok(None)
        }
    }
}

/// Makes leases last.
pub(super) async fn renew(db: &Db, held: &[Held], holder: Holder) -> Result<Vec<Held>, StoreError> {
    let until = At(holder.until);
    write_tx!(db, |conn| {
        let mut renewed = Vec::new();
        for one in held {
            let in_order = held!(one, holder.node).filter(errands::line.ne(""));
            let alone = held!(one, holder.node).filter(errands::line.eq(""));
            let both = (errands::due_at.eq(until), errands::turn.eq(until));
            let mut rows =
                heddle_store::update(in_order).set(errands::due_at.eq(until)).execute(conn).await?;
            if rows == 0 {
                rows = heddle_store::update(alone).set(both).execute(conn).await?;
            }
            if rows > 0 {
                renewed.push(*one);
            }
        }
        Ok(renewed)
    })
}

/// Gives errands back.
pub(super) async fn release(db: &Db, held: &[Held], node: Uuid, now: Timestamp) -> Result<(), StoreError> {
    let now = At(now);
    write_tx!(db, |conn| {
        for one in held {
            let in_order = held!(one, node).filter(errands::line.ne(""));
            let alone = held!(one, node).filter(errands::line.eq(""));
            let free = (errands::node.eq(None::<Id>), errands::due_at.eq(now));
            let both = (errands::node.eq(None::<Id>), errands::due_at.eq(now), errands::turn.eq(now));
            if heddle_store::update(in_order).set(free).execute(conn).await? == 0 {
                heddle_store::update(alone).set(both).execute(conn).await?;
            }
        }
        Ok(())
    })
}

/// Ends the leases of a node; it stays in the rows, which tells whoever takes them next that they were held.
pub(super) async fn recover(db: &Db, node: Uuid, now: Timestamp) -> Result<u64, StoreError> {
    let now = At(now);
    let rows = write_tx!(db, |conn| {
        let mine = || errands::table.filter(errands::node.eq(Some(Id(node))));
        let in_order = mine().filter(errands::line.ne(""));
        let alone = mine().filter(errands::line.eq(""));
        let both = (errands::due_at.eq(now), errands::turn.eq(now));
        let rows = heddle_store::update(in_order).set(errands::due_at.eq(now)).execute(conn).await?;
        Ok(rows + heddle_store::update(alone).set(both).execute(conn).await?)
    })?;
    Ok(u64::try_from(rows).unwrap_or(u64::MAX))
}

/// Lets the first errand of a lane be tried now; one that a node is at, as soon as that ends without success.
pub(super) async fn hasten(db: &Db, lane: &Lane, now: Timestamp) -> Result<(), StoreError> {
    let now = At(now);
    write_tx!(db, |conn| {
        let first = of_lane!(lane).limit(1).select((errands::organization_id, errands::id));
        let first: Vec<(Id, Id)> = first.load(conn).await?;
        for (tenant, id) in first {
            // In this order: one that is ended between the two is met by the second.
            let held = errand_row!(tenant, id).filter(errands::node.is_not_null());
            heddle_store::update(held).set(errands::hastened.eq(true)).execute(conn).await?;
            let waits = errands::node.is_null().and(errands::due_at.gt(now));
            let row = errand_row!(tenant, id).filter(waits);
            let due = (errands::due_at.eq(now), errands::turn.eq(rows::turn(lane_line(lane), now)));
            heddle_store::update(row).set(due).execute(conn).await?;
        }
        Ok(())
    })
}

fn lane_line(lane: &Lane) -> &str {
    lane.line.as_deref().unwrap_or_default()
}
