//! SQLite: the whole batch in one blocking call on the writer's connection, in one immediate transaction. New rows of a
//! table are added some at a time, by statements whose plans are kept; what changes has a statement each, which costs no way
//! to a server here. Units fail seldom: the first try needs no savepoint, behind which SQLite would keep every page that
//! changes.

use std::collections::HashSet;

use crate::schema::{CandidateRow, FeedRow, RunDbRow, TaskDbRow, run_commits, workflows};
use diesel::query_builder::AstPass;
use diesel::sql_types::Text;
use diesel::sqlite::Sqlite;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl, QueryResult, RunQueryDsl, SqliteConnection};
use heddle_store::journal::JournalRows;
use heddle_store::{Addition, At, DbInstant, DbUuid, Error, Id, add, add_all, anew, savepoint, update};

use super::halves::{Groups, only};
use super::statements::blocking;
use super::unnest::repeats_a_run;
use super::{Answers, Prepared, StepRows, TaskRows, UnitRows, admitted, begun, units_of};
use crate::words::DefinitionKindWord;

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
    let units: Vec<&UnitRows> = units_of(&prepared, &places).collect();
    // Two steps of one run have an order, which the way by tables does not keep.
    let written = match repeats_a_run(&units) {
        true => units.iter().try_for_each(|rows| unit(conn, rows)),
        false => together(conn, &units),
    };
    if written.is_ok() {
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
    update(run_commits::table).set(run_commits::number.eq(run_commits::number + 1)).execute(conn)?;
    let number: i64 = run_commits::table.select(run_commits::number).first(conn)?;
    steps.filter_map(|step| step.events.as_mut()).for_each(|feed| feed.commit = number);
    Ok(())
}

/// Writes units of which each run has one step, table by table.
fn together(conn: &mut SqliteConnection, units: &[&UnitRows]) -> Result<(), Error> {
    // All that is not a run comes first: it tells soonest that somebody else was faster.
    for rows in units {
        blocking::beside(conn, rows)?;
    }
    let steps: Vec<&StepRows> = units.iter().flat_map(|rows| &rows.steps).collect();
    let begun: Vec<&RunDbRow> =
        steps.iter().filter(|step| step.expected.is_none()).map(|step| &step.run).collect();
    add_all(conn, &begun)?;
    for step in &steps {
        if let Some(expected) = step.expected {
            blocking::went_on(conn, &step.run, expected)?;
        }
    }
    let feed: Vec<&FeedRow> = steps.iter().filter_map(|step| step.events.as_ref()).collect();
    add_all(conn, &feed)?;
    let (mut opened, mut meant): (Vec<&TaskDbRow>, Vec<&CandidateRow>) = (Vec::new(), Vec::new());
    for change in steps.iter().flat_map(|step| &step.tasks) {
        match change {
            TaskRows::Open(task, candidates) => {
                opened.push(&**task);
                meant.extend(candidates);
            }
            TaskRows::Assign(..) | TaskRows::End { .. } => {}
        }
    }
    add_all(conn, &opened)?;
    add_all(conn, &meant)?;
    for rows in units {
        for step in &rows.steps {
            blocking::waits(conn, step)?;
            for change in &step.tasks {
                match change {
                    TaskRows::Open(..) => {}
                    TaskRows::Assign(..) | TaskRows::End { .. } => {
                        blocking::task(conn, rows.tenant, step.run.id, change)?;
                    }
                }
            }
            blocking::jobs_of(conn, step)?;
        }
        for errand in &rows.errands {
            add(conn, errand)?;
        }
        blocking::held(conn, rows)?;
    }
    completed(conn, units)?;
    JournalRows::write_all_blocking(conn, units.iter().map(|rows| &rows.journal))
}

fn unit(conn: &mut SqliteConnection, rows: &UnitRows) -> Result<(), Error> {
    blocking::unit(conn, rows)?;
    completed(conn, &[rows])?;
    rows.journal.write_blocking(conn)
}

/// Writes who has completed a task of which run, whose own it is from then on. A trigger would look for the run once more, and
/// make a statement of its own for each.
fn completed(conn: &mut SqliteConnection, units: &[&UnitRows]) -> Result<(), Error> {
    let steps = units.iter().flat_map(|rows| &rows.steps);
    let completers: Vec<Completer> = steps
        .flat_map(|step| {
            step.tasks.iter().filter_map(|change| match change {
                TaskRows::End { completed_by: Some(by), .. } => Some(Completer::of(&step.run, *by)),
                TaskRows::End { completed_by: None, .. } | TaskRows::Open(..) | TaskRows::Assign(..) => None,
            })
        })
        .collect();
    Ok(add_all(conn, &completers.iter().collect::<Vec<_>>())?)
}

/// A person who has completed a task of a run, as a row of those whose own the run is.
struct Completer {
    organization_id: Id,
    run_id: Id,
    instance_kind: DefinitionKindWord,
    name: String,
    created_at: At,
}

impl Completer {
    fn of(run: &RunDbRow, by: Id) -> Self {
        Self {
            organization_id: run.organization_id,
            run_id: run.id,
            instance_kind: run.kind,
            name: by.0.to_string(),
            created_at: run.created_at,
        }
    }
}

impl Addition for Completer {
    const HEAD: &'static str = "INSERT OR FAIL INTO run_people \
        (organization_id, run_id, instance_kind, kind, name, created_at, tasks) VALUES ";
    const TAIL: &'static str =
        " ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = tasks + 1";

    fn values<'b>(&'b self, out: &mut AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("(");
        out.push_bind_param::<DbUuid, _>(&self.organization_id)?;
        out.push_sql(", ");
        out.push_bind_param::<DbUuid, _>(&self.run_id)?;
        out.push_sql(", ");
        out.push_bind_param::<Text, _>(&self.instance_kind)?;
        out.push_sql(", 'user', ");
        out.push_bind_param::<Text, _>(&self.name)?;
        out.push_sql(", ");
        out.push_bind_param::<DbInstant, _>(&self.created_at)?;
        out.push_sql(", 1)");
        Ok(())
    }
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
