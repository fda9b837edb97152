//! SQLite: the whole batch in one blocking call on the writer's connection, in one immediate transaction. A statement
//! costs no way to a server here, so that each row has one of its own, whose plan is kept. Units fail seldom: the first
//! try needs no savepoint, behind which SQLite would keep every page that changes.

use std::collections::HashSet;

use crate::schema::{run_commits, workflows};
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl, SqliteConnection};
use heddle_store::{Error, Id, anew, savepoint, stable};

use super::halves::{Groups, only};
use super::statements::blocking;
use super::{Answers, Prepared, UnitRows, admitted, begun, units_of};

/// Writes the units inside the batch's transaction.
pub(crate) fn write(conn: &mut SqliteConnection, mut prepared: Vec<Prepared>) -> Result<Answers, Error> {
    number(conn, &mut prepared)?;
    let there = present(conn, &prepared)?;
    if let [single] = prepared.as_slice() {
        // Its failure undoes the transaction: there is nobody else to spare.
        unit(conn, admitted(single, &there)?)?;
        return Ok(vec![Ok(())]);
    }
    let answers: Answers = prepared.iter().map(|one| admitted(one, &there).map(drop)).collect();
    let places: Vec<usize> =
        (0..answers.len()).filter(|place| answers.get(*place).is_some_and(Result::is_ok)).collect();
    if units_of(&prepared, &places).try_for_each(|rows| unit(conn, rows)).is_ok() {
        return Ok(answers);
    }
    anew(conn)?;
    number(conn, &mut prepared)?;
    apart(conn, &prepared, places, answers)
}

/// Writes the units at these places, of which at least one fails: the others stand.
fn apart(
    conn: &mut SqliteConnection,
    prepared: &[Prepared],
    places: Vec<usize>,
    mut answers: Answers,
) -> Result<Answers, Error> {
    let mut groups = Groups::of(places);
    while let Some(group) = groups.next() {
        let all = |conn: &mut SqliteConnection| {
            units_of(prepared, &group).try_for_each(|rows: &UnitRows| unit(conn, rows))
        };
        if let Err(error) = savepoint(conn, all)? {
            match only(&group).and_then(|place| answers.get_mut(place)) {
                Some(answer) => *answer = Err(error.into()),
                None => groups.halve(group),
            }
        }
    }
    Ok(answers)
}

/// Gives the steps that write events the number of this commit: the next one, whatever becomes of the units.
fn number(conn: &mut SqliteConnection, prepared: &mut [Prepared]) -> Result<(), Error> {
    let mut steps = prepared.iter_mut().flatten().flat_map(|rows| &mut rows.steps).peekable();
    if steps.peek().is_none() {
        return Ok(());
    }
    stable(run_commits::table, run_commits::number.eq(run_commits::number + 1)).execute(conn)?;
    let number: i64 = run_commits::table.select(run_commits::number).first(conn)?;
    steps.for_each(|step| step.commit = number);
    Ok(())
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
