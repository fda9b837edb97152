//! PostgreSQL's statements over many rows: one array for each column, so that the text is the same for any
//! number of rows and its plan is kept.

use crate::schema::{
    CandidateRow, NewEvents, NewRuns, TaskDbRow, human_task_candidates, human_tasks, outbox,
    run_subscriptions, run_timers,
};
use diesel_async::RunQueryDsl;
use heddle_store::journal::JournalRows;
use heddle_store::{Error, PgConn};

use super::{TaskRows, UnitRows};

/// Rows of one statement with a parameter for each value: 65,535 parameters at most.
const CHUNK: usize = 1000;

/// Adds the rows of units that only add rows. Any failure is one of all of them.
pub(crate) async fn insert(conn: &mut PgConn, units: &[&UnitRows]) -> Result<(), Error> {
    let (mut runs, mut events) = (NewRuns::default(), NewEvents::default());
    for rows in units {
        for step in &rows.steps {
            runs.push(&step.run);
            step.events.iter().for_each(|row| events.push(row));
        }
    }
    if !runs.is_empty() {
        runs.execute(conn).await?;
    }
    if !events.is_empty() {
        events.execute(conn).await?;
    }
    JournalRows::write_many(conn, units.iter().map(|rows| &rows.journal)).await?;
    insert_waits(conn, units).await
}

/// Inserts the timers, subscriptions, tasks and outgoing messages of new runs. Few units of a burst have any.
async fn insert_waits(conn: &mut PgConn, units: &[&UnitRows]) -> Result<(), Error> {
    macro_rules! add {
        ($table:expr, $rows:expr) => {
            let rows: Vec<_> = $rows.collect();
            for chunk in rows.chunks(CHUNK) {
                diesel::insert_into($table).values(chunk.to_vec()).execute(conn).await?;
            }
        };
    }
    let steps = || units.iter().flat_map(|rows| &rows.steps);
    let tasks = || {
        steps().flat_map(|step| &step.tasks).filter_map(|task| match task {
            TaskRows::Open(row, candidates) => Some((&**row, candidates)),
            TaskRows::Assign(..) | TaskRows::End { .. } => None,
        })
    };
    add!(run_timers::table, steps().flat_map(|step| &step.timers));
    add!(run_subscriptions::table, steps().flat_map(|step| &step.subscriptions));
    add!(human_tasks::table, tasks().map(|(row, _): (&TaskDbRow, _)| row));
    add!(human_task_candidates::table, tasks().flat_map(|(_, names): (_, &Vec<CandidateRow>)| names));
    add!(outbox::table, steps().flat_map(|step| &step.outgoing));
    Ok(())
}
