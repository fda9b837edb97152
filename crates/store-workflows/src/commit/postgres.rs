//! PostgreSQL: one transaction for the batch. Units that only add rows are tried together with statements
//! over many rows; when that fails, and for units that change rows, each stands in a savepoint.

use std::collections::HashSet;

use crate::schema::workflows;
use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use heddle_store::{Error, Id, PgConn, PgDb};
use heddle_usecase::StoreError;

use super::statements::waiting;
use super::{Answers, Prepared, UnitRows, admitted, begun, unnest};

/// Writes the units in a transaction.
pub(crate) async fn write(postgres: &PgDb, prepared: &[Prepared]) -> Result<Answers, Error> {
    let mut conn = postgres.conn().await?;
    PgDb::begin(&mut conn).await?;
    let answers = write_all(&mut conn, prepared).await;
    PgDb::finish(&mut conn, answers).await
}

async fn write_all(conn: &mut PgConn, prepared: &[Prepared]) -> Result<Answers, Error> {
    let there = present(conn, prepared).await?;
    if let [only] = prepared {
        unit(conn, admitted(only, &there)?).await?;
        return Ok(vec![Ok(())]);
    }
    let mut answers: Answers = prepared.iter().map(|one| admitted(one, &there).map(drop)).collect();
    let adding: Vec<&UnitRows> = prepared
        .iter()
        .zip(&answers)
        .filter_map(|(one, answer)| one.as_ref().ok().filter(|rows| answer.is_ok() && rows.only_adds()))
        .collect();
    let together = adding.len() > 1 && in_savepoint(conn, Work::Together(&adding)).await?.is_ok();
    for (one, answer) in prepared.iter().zip(&mut answers) {
        let Ok(rows) = one else { continue };
        if answer.is_ok() && !(together && rows.only_adds()) {
            *answer = in_savepoint(conn, Work::Alone(rows)).await?.map_err(StoreError::from);
        }
    }
    Ok(answers)
}

/// Work of one savepoint.
enum Work<'a> {
    Together(&'a [&'a UnitRows]),
    Alone(&'a UnitRows),
}

/// The outer error says that the connection is lost, the inner one is the work's own.
async fn in_savepoint(conn: &mut PgConn, work: Work<'_>) -> Result<Result<(), Error>, Error> {
    conn.batch_execute("SAVEPOINT heddle").await?;
    let result = match work {
        Work::Together(units) => unnest::insert(conn, units).await,
        Work::Alone(rows) => unit(conn, rows).await,
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

/// Which of the workflows are there; they are locked against deletion until the transaction ends.
async fn present(conn: &mut PgConn, prepared: &[Prepared]) -> Result<HashSet<(Id, Id)>, Error> {
    let keys = begun(prepared);
    if keys.is_empty() {
        return Ok(HashSet::new());
    }
    let (tenants, ids): (Vec<_>, Vec<_>) = keys.into_iter().unzip();
    let found: Vec<(Id, Id)> = workflows::table
        .filter(workflows::organization_id.eq_any(tenants))
        .filter(workflows::id.eq_any(ids))
        .order(workflows::id)
        .select((workflows::organization_id, workflows::id))
        .for_key_share()
        .load(conn)
        .await?;
    Ok(found.into_iter().collect())
}
