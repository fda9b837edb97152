//! SQLite: the whole batch in one blocking call on the writer's connection, in one immediate transaction.

use std::collections::HashSet;

use crate::schema::workflows;
use diesel::{OptionalExtension, QueryDsl, RunQueryDsl, SqliteConnection};
use heddle_store::{Error, Id, savepoint};
use heddle_usecase::StoreError;

use super::statements::blocking;
use super::{Answers, Prepared, UnitRows, admitted, begun};

/// Writes the units inside the batch's transaction.
pub(crate) fn write(conn: &mut SqliteConnection, prepared: &[Prepared]) -> Result<Answers, Error> {
    let there = present(conn, prepared)?;
    if let [only] = prepared {
        // Its failure undoes the transaction: a savepoint would tell nothing more.
        unit(conn, admitted(only, &there)?)?;
        return Ok(vec![Ok(())]);
    }
    let mut answers = Vec::with_capacity(prepared.len());
    for one in prepared {
        answers.push(match admitted(one, &there) {
            Ok(rows) => savepoint(conn, |conn| unit(conn, rows))?.map_err(StoreError::from),
            Err(refused) => Err(refused),
        });
    }
    Ok(answers)
}

fn unit(conn: &mut SqliteConnection, rows: &UnitRows) -> Result<(), Error> {
    blocking::unit(conn, rows)?;
    rows.journal.write_blocking(conn)
}

/// Which of the workflows are there. Nobody else writes until the batch is done.
fn present(conn: &mut SqliteConnection, prepared: &[Prepared]) -> Result<HashSet<(Id, Id)>, Error> {
    let mut there = HashSet::new();
    for key in begun(prepared) {
        let found = workflows::table.find(key).select(workflows::id).first::<Id>(conn).optional()?;
        there.extend(found.map(|_| key));
    }
    Ok(there)
}
