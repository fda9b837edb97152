//! PostgreSQL's statements over many rows: one array for each column, so that the text is the same for any
//! number of rows and its plan is kept. New runs and steps of present ones go in the same statements, one for each
//! table, which are sent without waiting for each other.

use std::collections::HashSet;

use crate::schema::{
    Delivered, JobsEnded, JobsWithdrawn, NewCandidates, NewEndings, NewEvents, NewInboxEvents, NewJobs,
    NewOutgoing, NewRuns, NewSubscriptions, NewTasks, NewTimers, RunChange, RunSteps, SubscriptionsGone,
    TaskEnded, TaskEnds, TimersGone,
};
use diesel_async::RunQueryDsl;
use heddle_store::journal::JournalRows;
use heddle_store::schema::NewErrands;
use heddle_store::{Error, PgConn};
use heddle_usecase::StoreError;

use super::statements::waiting;
use super::{InboxRows, TaskRows, UnitRows};

/// Whether two of the steps are of one run.
pub(super) fn repeats_a_run(units: &[&UnitRows]) -> bool {
    let mut seen = HashSet::new();
    units
        .iter()
        .flat_map(|rows| &rows.steps)
        .any(|step| !seen.insert((step.run.organization_id, step.run.id)))
}

/// Rows of units, by table.
#[derive(Default)]
struct Tables<'a> {
    runs: NewRuns<'a>,
    steps: RunSteps<'a>,
    events: NewEvents<'a>,
    timers_gone: TimersGone<'a>,
    timers: NewTimers<'a>,
    subscriptions_gone: SubscriptionsGone<'a>,
    subscriptions: NewSubscriptions<'a>,
    tasks: NewTasks<'a>,
    ends: TaskEnds<'a>,
    candidates: NewCandidates<'a>,
    jobs: NewJobs<'a>,
    jobs_ended: JobsEnded<'a>,
    endings: NewEndings<'a>,
    jobs_gone: JobsWithdrawn<'a>,
    outgoing: NewOutgoing<'a>,
    delivered: Delivered<'a>,
    inbox: NewInboxEvents<'a>,
    errands: NewErrands<'a>,
}

impl<'a> Tables<'a> {
    fn of(units: &[&'a UnitRows]) -> Self {
        let mut all = Self::default();
        for rows in units {
            if let Some(thrown) = &rows.delivered {
                all.delivered.push(&rows.tenant, thrown);
            }
            if let Some(InboxRows::Insert(row)) = &rows.inbox {
                all.inbox.push(row);
            }
            rows.errands.iter().for_each(|row| all.errands.push(row));
            for step in &rows.steps {
                let run = &step.run;
                match &step.expected {
                    None => all.runs.push(run),
                    Some(expected) => {
                        all.steps.push(&run.organization_id, &run.id, expected, RunChange::from(run));
                    }
                }
                step.events.iter().for_each(|feed| all.events.push(&feed.row));
                for timer in &step.timers_removed {
                    all.timers_gone.push(&run.organization_id, &run.id, timer);
                }
                step.timers.iter().for_each(|row| all.timers.push(row));
                for subscription in &step.subscriptions_removed {
                    all.subscriptions_gone.push(&run.organization_id, &run.id, subscription);
                }
                step.subscriptions.iter().for_each(|row| all.subscriptions.push(row));
                step.outgoing.iter().for_each(|row| all.outgoing.push(row));
                step.jobs.opened.iter().for_each(|row| all.jobs.push(row));
                for ending in &step.jobs.ended {
                    all.jobs_ended.push(&rows.tenant, &ending.id, &ending.epoch);
                    all.endings.push(ending);
                }
                for ending in &step.jobs.withdrawn {
                    all.jobs_gone.push(&rows.tenant, &ending.id);
                    all.endings.push(ending);
                }
                for task in &step.tasks {
                    match task {
                        TaskRows::Open(row, candidates) => {
                            all.tasks.push(row);
                            candidates.iter().for_each(|row| all.candidates.push(row));
                        }
                        TaskRows::End { task, state, ended_at, completed_by } => {
                            let change = TaskEnded { state, ended_at, completed_by };
                            all.ends.push(&rows.tenant, task, &run.id, change);
                        }
                        TaskRows::Assign(..) => {}
                    }
                }
            }
        }
        all
    }
}

/// `Stale` when not every row was as it had to be.
fn met(changed: usize, all: usize) -> Result<(), Error> {
    if changed == all { Ok(()) } else { Err(StoreError::Stale.into()) }
}

/// Writes what is rare, by statements of its own.
pub(super) async fn rare(conn: &mut PgConn, units: &[&UnitRows]) -> Result<(), Error> {
    for rows in units {
        waiting::rare(conn, rows).await?;
    }
    waiting::stores_of(conn, units).await
}

/// Writes who works on tasks and who holds jobs from now on: behind the tasks and jobs themselves.
pub(super) async fn assignments(conn: &mut PgConn, units: &[&UnitRows]) -> Result<(), Error> {
    for rows in units {
        waiting::assignments(conn, rows).await?;
        waiting::held(conn, rows).await?;
    }
    Ok(())
}

/// Adds the rows of a table, if there are any.
macro_rules! add {
    ($shared:ident, $rows:ident) => {
        async {
            let mut conn = $shared;
            if !$rows.is_empty() {
                $rows.execute(&mut conn).await?;
            }
            Ok::<(), Error>(())
        }
    };
}

/// Changes or removes rows of a table, each of which must be as it is expected.
macro_rules! change {
    ($shared:ident, $rows:ident) => {
        async {
            let (mut conn, all) = ($shared, $rows.len());
            if all > 0 {
                met($rows.execute(&mut conn).await?, all)?;
            }
            Ok::<(), Error>(())
        }
    };
}

/// Removes rows of a table and then adds others: a timer or subscription may be set anew under its own id.
macro_rules! exchange {
    ($shared:ident, $gone:ident, $new:ident) => {
        async {
            let mut conn = $shared;
            if $gone.len() > 0 {
                $gone.execute(&mut conn).await?;
            }
            if !$new.is_empty() {
                $new.execute(&mut conn).await?;
            }
            Ok::<(), Error>(())
        }
    };
}

/// Writes the rows of units. Any failure is one of all of them.
pub(super) async fn write(shared: &PgConn, units: &[&UnitRows]) -> Result<(), Error> {
    let Tables {
        runs,
        steps,
        events,
        timers_gone,
        timers,
        subscriptions_gone,
        subscriptions,
        tasks,
        ends,
        candidates,
        jobs,
        jobs_ended,
        endings,
        jobs_gone,
        outgoing,
        delivered,
        inbox,
        errands,
    } = Tables::of(units);
    // A task may be opened and ended by one step, and its end is told to those who might take it.
    let tasks = async {
        let (mut conn, all) = (shared, ends.len());
        let opened = async {
            let mut conn = shared;
            if !tasks.is_empty() {
                tasks.execute(&mut conn).await?;
            }
            Ok::<(), Error>(())
        };
        futures::try_join!(opened, add!(shared, candidates))?;
        if all > 0 {
            met(ends.execute(&mut conn).await?, all)?;
        }
        Ok::<(), Error>(())
    };
    let withdrawn = async {
        let mut conn = shared;
        // A job that its worker ended is gone already.
        if jobs_gone.len() > 0 {
            jobs_gone.execute(&mut conn).await?;
        }
        Ok::<(), Error>(())
    };
    futures::try_join!(
        change!(shared, delivered),
        add!(shared, inbox),
        add!(shared, runs),
        change!(shared, steps),
        add!(shared, events),
        exchange!(shared, timers_gone, timers),
        exchange!(shared, subscriptions_gone, subscriptions),
        tasks,
        add!(shared, jobs),
        change!(shared, jobs_ended),
        add!(shared, endings),
        withdrawn,
        add!(shared, outgoing),
        add!(shared, errands),
        JournalRows::write_many(shared, units.iter().map(|rows| &rows.journal)),
    )?;
    Ok(())
}
