//! PostgreSQL: one transaction for the batch. Its units are written together, with one statement over many rows for
//! each table, sent one behind the other without waiting. When that fails, a second transaction finds out which of them
//! can't be written: a group that fails is halved, and one unit alone has statements of its own, which tell what is
//! wrong with it.

use std::collections::{BTreeSet, HashSet};

use crate::schema::workflows;
use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use heddle_store::{Error, Id, PgConn, PgDb};
use heddle_usecase::StoreError;

use super::halves::{Groups, only};
use super::statements::waiting;
use super::{Answers, Prepared, UnitRows, admitted, begun, units_of, unnest};

/// Patience of a batch with a row that another node holds: who stands behind the row must not wait for it, too. And how
/// its rows are found: each by its key. Plans of its statements and triggers are kept, and one that was made while the
/// tables were small would go through the whole of them for every batch.
const BATCH: &str = "SET LOCAL lock_timeout = '500ms'; SET LOCAL enable_seqscan = off; \
     SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off";
/// Patience of a unit whose batch is itself alone, and how its rows are found.
const ALONE: &str = "SET LOCAL lock_timeout = '2s'; SET LOCAL enable_seqscan = off; \
     SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off";
/// Kind of the locks under which errands in order are written.
const LINES: i32 = 1_212_502_094;

/// Statements that take the locks under which errands in order are written, one for each organisation: the order of
/// writing is then that of commits, which is the order in which they are done. Locks are taken in one order, and before
/// any row is: who waits for one holds nobody up. Organisations without such errands take none.
fn in_line<'a>(units: impl IntoIterator<Item = &'a UnitRows>) -> String {
    let in_order = |rows: &&UnitRows| rows.errands.iter().any(|errand| !errand.line.is_empty());
    let key = |rows: &UnitRows| rows.tenant.0.as_bytes().last_chunk::<4>().copied().map(i32::from_be_bytes);
    let keys: BTreeSet<i32> = units.into_iter().filter(in_order).filter_map(key).collect();
    keys.iter().map(|key| format!("; SELECT pg_advisory_xact_lock({LINES}, {key})")).collect()
}

/// Writes the units in a transaction.
pub(crate) async fn write(postgres: &PgDb, prepared: &[Prepared]) -> Result<Answers, Error> {
    let mut conn = postgres.conn().await?;
    let units: Vec<&UnitRows> = prepared.iter().flatten().collect();
    if units.len() == prepared.len() && !unnest::repeats_a_run(&units) {
        PgDb::begin(&mut conn).await?;
        let written = at_once(&mut conn, prepared, &units).await;
        let is_written = written.is_ok();
        match PgDb::finish(&mut conn, written).await {
            Ok(()) => return Ok(prepared.iter().map(|_| Ok(())).collect()),
            // Nobody knows whether a commit that failed took place.
            Err(error) if is_written => return Err(error),
            Err(error) => tracing::debug!(%error, "units are not written together"),
        }
    }
    PgDb::begin(&mut conn).await?;
    let answers = match conn.batch_execute(if prepared.len() > 1 { BATCH } else { ALONE }).await {
        Ok(()) => write_all(&mut conn, prepared).await,
        Err(error) => Err(error.into()),
    };
    PgDb::finish(&mut conn, answers).await
}

/// Writes all units, or none of them.
async fn at_once(conn: &mut PgConn, prepared: &[Prepared], units: &[&UnitRows]) -> Result<(), Error> {
    let in_line = in_line(units.iter().copied());
    let with_rare = units.iter().any(|rows| rows.has_rare());
    let is_patient = with_rare || !in_line.is_empty();
    if is_patient {
        conn.batch_execute(&format!("{BATCH}{in_line}")).await?;
    }
    if with_rare {
        unnest::rare(conn, units).await?;
    }
    let (shared, keys): (&PgConn, _) = (conn, begun(prepared));
    // Patience is set by the first of the statements that are sent one behind the other, and costs no wait of its own.
    let patience = async {
        let mut conn = shared;
        if !is_patient {
            conn.batch_execute(BATCH).await?;
        }
        Ok::<(), Error>(())
    };
    let ((), there, ()) = futures::try_join!(patience, present(shared, &keys), unnest::write(shared, units))?;
    if !keys.iter().all(|key| there.contains(key)) {
        return Err(StoreError::NotFound.into());
    }
    unnest::assignments(conn, units).await
}

async fn write_all(conn: &mut PgConn, prepared: &[Prepared]) -> Result<Answers, Error> {
    let there = present(conn, &begun(prepared)).await?;
    if let [single] = prepared {
        let single = admitted(single, &there)?;
        // The lock alone is no reason to write less: it comes within the patience of the unit.
        conn.batch_execute(&format!("{ALONE}{}", in_line([single]))).await?;
        unit(conn, single).await?;
        return Ok(vec![Ok(())]);
    }
    let mut answers: Answers = prepared.iter().map(|one| admitted(one, &there).map(drop)).collect();
    let admitted = (0..answers.len()).filter(|place| answers.get(*place).is_some_and(Result::is_ok));
    let mut groups = Groups::of(admitted.collect());
    while let Some(group) = groups.next() {
        let units: Vec<&UnitRows> = units_of(prepared, &group).collect();
        // Two steps of one run have an order, which statements over many rows do not keep.
        if units.len() > 1 && unnest::repeats_a_run(&units) {
            groups.halve(group);
            continue;
        }
        if let Err(error) = in_savepoint(conn, &units).await? {
            match only(&group).and_then(|place| answers.get_mut(place)) {
                Some(answer) => *answer = Err(error.into()),
                None => groups.halve(group),
            }
        }
    }
    Ok(answers)
}

/// The outer error says that the connection is lost, the inner one is the units' own.
async fn in_savepoint(conn: &mut PgConn, units: &[&UnitRows]) -> Result<Result<(), Error>, Error> {
    // Halves down to the one unit that a held row stops must not each wait as long as that one does.
    let begin = match units {
        [_] => "SAVEPOINT heddle; SET LOCAL lock_timeout = '500ms'",
        _ => "SAVEPOINT heddle; SET LOCAL lock_timeout = '100ms'",
    };
    conn.batch_execute(begin).await?;
    let result = match conn.batch_execute(&format!("SELECT 1{}", in_line(units.iter().copied()))).await {
        Ok(()) => match units {
            [single] => unit(conn, single).await,
            units => together(conn, units).await,
        },
        Err(error) => Err(error.into()),
    };
    let end = if result.is_ok() {
        "RELEASE SAVEPOINT heddle"
    } else {
        "ROLLBACK TO SAVEPOINT heddle; RELEASE SAVEPOINT heddle"
    };
    conn.batch_execute(end).await?;
    Ok(result)
}

async fn unit(conn: &mut PgConn, rows: &UnitRows) -> Result<(), Error> {
    waiting::unit(conn, rows).await?;
    rows.journal.write(conn).await
}

async fn together(conn: &mut PgConn, units: &[&UnitRows]) -> Result<(), Error> {
    unnest::rare(conn, units).await?;
    unnest::write(conn, units).await?;
    unnest::assignments(conn, units).await
}

/// Which of the workflows are there; they are locked against deletion until the transaction ends.
async fn present(mut conn: &PgConn, keys: &BTreeSet<(Id, Id)>) -> Result<HashSet<(Id, Id)>, Error> {
    if keys.is_empty() {
        return Ok(HashSet::new());
    }
    let (tenants, ids): (Vec<_>, Vec<_>) = keys.iter().copied().unzip();
    let found: Vec<(Id, Id)> = workflows::table
        .filter(workflows::organization_id.eq_any(tenants))
        .filter(workflows::id.eq_any(ids))
        .order(workflows::id)
        .select((workflows::organization_id, workflows::id))
        .for_key_share()
        .load(&mut conn)
        .await?;
    Ok(found.into_iter().collect())
}
