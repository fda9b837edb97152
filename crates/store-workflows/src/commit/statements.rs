//! The statements of one unit: one text, made once as blocking calls on SQLite's connection and once as
//! waiting calls on PostgreSQL's.

macro_rules! statements {
    ($conn:ty, $dsl:path, $dialect:ident, $added:ident, ($($async:tt)?), ($($wait:tt)*)) => {
        use diesel::{ExpressionMethods, QueryDsl, insert_into};
        use heddle_usecase::StoreError;
        use heddle_store::{At, Error, Id, update};
        use crate::schema::{
            case_events, data_stores, dead_letters, human_tasks, jobs, outbox, run_subscriptions, run_timers, runs,
            start_bindings,
        };
        use heddle_workflows::ports::{Activation, LockChange, Taken, TakenJob};
        use std::collections::BTreeMap;
        use heddle_workflows::records::{InboxState, JobState};
        use $dsl as _;

        use crate::commit::{AdvanceRow, InboxRows, StandRow, StepRows, TaskRows, UnitRows};
        use crate::jobs::{Dialect, again, taking};
        use crate::schema::{BindingAdvanced, DataStoreChange, DataStoreRow, EventConsumed, JobDbRow, RunChange, TaskAssigned, TaskEnded};
        use crate::words::{InboxStateWord, JobStateWord};

        /// `Stale` when no row was as it had to be.
        fn one(changed: usize) -> Result<(), Error> {
            if changed == 0 { Err(StoreError::Stale.into()) } else { Ok(()) }
        }

        /// Writes a unit. All that is not a run comes first: it tells soonest that somebody else was faster.
        pub(crate) $($async)? fn unit(conn: &mut $conn, rows: &UnitRows) -> Result<(), Error> {
            beside(conn, rows)$($wait)*?;
            for write in &rows.steps {
                run(conn, write)$($wait)*?;
                waits(conn, write)$($wait)*?;
                for change in &write.tasks {
                    task(conn, rows.tenant, write.run.id, change)$($wait)*?;
                }
                jobs_of(conn, write)$($wait)*?;
            }
            for row in &rows.errands {
                $added!(conn, errands, row)$($wait)*?;
            }
            held(conn, rows)$($wait)*
        }

        /// Writes what of a unit is no run.
        pub(crate) $($async)? fn beside(conn: &mut $conn, rows: &UnitRows) -> Result<(), Error> {
            if let Some(id) = rows.delivered {
                let row = outbox::table.find((rows.tenant, id));
                one(diesel::delete(row).execute(conn)$($wait)*?)?;
            }
            rare(conn, rows)$($wait)*?;
            stores_of(conn, &[rows])$($wait)*?;
            if let Some(InboxRows::Insert(row)) = &rows.inbox {
                $added!(conn, case_events, &**row)$($wait)*?;
            }
            Ok(())
        }

        /// Writes the jobs that a step opened and those that ended with it.
        pub(crate) $($async)? fn jobs_of(conn: &mut $conn, write: &StepRows) -> Result<(), Error> {
            let tenant = write.run.organization_id;
            for job in &write.jobs.opened {
                $added!(conn, jobs, job)$($wait)*?;
            }
            for ending in &write.jobs.ended {
                let open = jobs::table.find((tenant, ending.id)).filter(jobs::epoch.eq(ending.epoch));
                one(diesel::delete(open).execute(conn)$($wait)*?)?;
                $added!(conn, job_endings, ending)$($wait)*?;
            }
            for ending in &write.jobs.withdrawn {
                diesel::delete(jobs::table.find((tenant, ending.id))).execute(conn)$($wait)*?;
                $added!(conn, job_endings, ending)$($wait)*?;
            }
            Ok(())
        }

        /// Writes who holds jobs from now on, behind the jobs themselves.
        pub(crate) $($async)? fn held(conn: &mut $conn, rows: &UnitRows) -> Result<(), Error> {
            for write in &rows.steps {
                for change in &write.jobs.stood {
                    stand(conn, rows.tenant, write.run.id, change)$($wait)*?;
                }
            }
            for change in &rows.locks {
                lock(conn, rows.tenant, change)$($wait)*?;
            }
            if let Some(wanted) = &rows.activation {
                activate(conn, rows.tenant, wanted)$($wait)*?;
            }
            Ok(())
        }

        /// Takes a job from whoever holds it, and writes how it stands now.
        $($async)? fn stand(conn: &mut $conn, tenant: Id, of: Id, change: &StandRow) -> Result<(), Error> {
            let job = jobs::table.find((tenant, change.job)).filter(jobs::run_id.eq(of));
            let now = (
                jobs::state.eq(&change.state),
                jobs::retries.eq(change.retries),
                jobs::attempt.eq(change.attempt),
                jobs::due_at.eq(change.due_at),
                jobs::worker.eq(None::<String>),
                jobs::lapses.eq(0),
                jobs::epoch.eq(jobs::epoch + 1_i64),
                change.message.as_ref().map(|message| jobs::message.eq(message)),
            );
            match change.epoch {
                Some(epoch) => {
                    one(diesel::update(job.filter(jobs::epoch.eq(epoch))).set(now).execute(conn)$($wait)*?)
                }
                None => {
                    // Another number of attempts leaves a job with the worker that holds it.
                    let stays = change.stays || matches!(change.state.0, JobState::Ready | JobState::Delayed);
                    let held = jobs::table.find((tenant, change.job)).filter(jobs::run_id.eq(of));
                    let held = held.filter(jobs::state.eq(JobStateWord(JobState::Locked)));
                    let only =
                        (jobs::retries.eq(change.retries), jobs::attempt.eq(change.attempt), jobs::lapses.eq(0));
                    if stays && diesel::update(held).set(only).execute(conn)$($wait)*? > 0 {
                        return Ok(());
                    }
                    one(diesel::update(job).set(now).execute(conn)$($wait)*?)
                }
            }
        }

        $($async)? fn lock(conn: &mut $conn, tenant: Id, change: &LockChange) -> Result<(), Error> {
            let held = jobs::table
                .find((tenant, Id::from(change.job)))
                .filter(jobs::epoch.eq(change.epoch))
                .filter(jobs::state.eq(JobStateWord(JobState::Locked)))
                .filter(jobs::due_at.gt(At(change.now)));
            match change.until {
                Some(until) => {
                    one(diesel::update(held).set(jobs::due_at.eq(Some(At(until)))).execute(conn)$($wait)*?)
                }
                None => {
                    let free = (
                        jobs::state.eq(JobStateWord(JobState::Ready)),
                        jobs::due_at.eq(None::<At>),
                        jobs::worker.eq(None::<String>),
                        jobs::lapses.eq(0),
                        jobs::epoch.eq(jobs::epoch + 1_i64),
                    );
                    one(diesel::update(held).set(free).execute(conn)$($wait)*?)
                }
            }
        }

        /// Takes jobs for a worker, and leaves them where the activation says.
        $($async)? fn activate(conn: &mut $conn, tenant: Id, wanted: &Activation) -> Result<(), Error> {
            if wanted.types.is_empty() {
                wanted.taken.put(Taken::default());
                return Ok(());
            }
            let noted: Vec<String> = again(tenant, wanted, Dialect::$dialect).load(conn)$($wait)*?;
            let mut ran_out: BTreeMap<String, usize> = BTreeMap::new();
            for job_type in noted {
                *ran_out.entry(job_type).or_default() += 1;
            }
            if !wanted.takes() {
                wanted.taken.put(Taken { jobs: Vec::new(), ran_out });
                return Ok(());
            }
            let rows: Vec<JobDbRow> = taking(tenant, wanted, Dialect::$dialect).load(conn)$($wait)*?;
            let ids: Vec<Id> = rows.iter().map(|row| row.run_id).collect();
            let mut revisions: Vec<(Id, i64)> = Vec::new();
            if !ids.is_empty() {
                revisions = runs::table
                    .filter(runs::organization_id.eq(tenant))
                    .filter(runs::id.eq_any(ids))
                    .select((runs::id, runs::revision))
                    .load(conn)$($wait)*?;
            }
            let mut taken = Vec::with_capacity(rows.len());
            for row in rows {
                let found = revisions.iter().find(|(run, _)| *run == row.run_id);
                let run_revision = found.map_or(0, |(_, revision)| *revision);
                let id = row.id;
                match row.record() {
                    Ok(job) => taken.push(TakenJob { job, run_revision }),
                    // It stays locked until its time is over, and holds up no other.
                    Err(error) => tracing::error!(%error, job = ?id, "a job does not read"),
                }
            }
            wanted.taken.put(Taken { jobs: taken, ran_out });
            Ok(())
        }

        /// Writes the part of a unit that few units have.
        pub(crate) $($async)? fn rare(conn: &mut $conn, rows: &UnitRows) -> Result<(), Error> {
            if let Some(id) = rows.settled {
                let row = dead_letters::table.find((rows.tenant, id));
                one(diesel::delete(row).execute(conn)$($wait)*?)?;
            }
            for letter in &rows.letters {
                insert_into(dead_letters::table).values(letter).execute(conn)$($wait)*?;
            }
            if let Some(InboxRows::Consume { id, run_ids, case_ids }) = &rows.inbox {
                let kept = case_events::table
                    .find((rows.tenant, *id))
                    .filter(case_events::state.eq(InboxStateWord(InboxState::Buffered)));
                let state = InboxStateWord(InboxState::Consumed);
                let change = EventConsumed { state: &state, run_ids, case_ids }.set();
                one(update(kept).set(change).execute(conn)$($wait)*?)?;
            }
            if let Some(write) = &rows.advance {
                advance(conn, write)$($wait)*?;
            }
            Ok(())
        }

        /// Writes the data stores of units: of one store the last value alone, and all of them in one order, in which every
        /// transaction locks them.
        pub(crate) $($async)? fn stores_of(conn: &mut $conn, units: &[&UnitRows]) -> Result<(), Error> {
            let rows = units.iter().flat_map(|rows| &rows.steps).flat_map(|step| &step.stores);
            let last: BTreeMap<(Id, &str), &DataStoreRow> =
                rows.map(|row| ((row.organization_id, row.name.as_str()), row)).collect();
            for row in last.into_values() {
                insert_into(data_stores::table)
                    .values(row)
                    .on_conflict((data_stores::organization_id, data_stores::name))
                    .do_update()
                    .set(DataStoreChange::from(row).set())
                    .execute(conn)$($wait)*?;
            }
            Ok(())
        }

        $($async)? fn advance(conn: &mut $conn, write: &AdvanceRow) -> Result<(), Error> {
            let now = &write.binding;
            let present = start_bindings::table
                .find((now.organization_id, now.workflow_id, &now.process_id, &now.node_id, &now.kind, &now.name))
                .filter(start_bindings::version.eq(now.version))
                .filter(start_bindings::next_due_at.eq(now.next_due_at));
            if write.next_due_at.is_none() {
                return one(diesel::delete(present).execute(conn)$($wait)*?);
            }
            let change = BindingAdvanced {
                next_due_at: &write.next_due_at,
                timer: &write.timer,
                attempts: &0,
                crashes: &0,
            }
            .set();
            one(update(present).set(change).execute(conn)$($wait)*?)
        }

        /// Writes a step of a run that is there as its expected revision.
        pub(crate) $($async)? fn went_on(conn: &mut $conn, row: &RunDbRow, expected: i64) -> Result<(), Error> {
            if advanced(conn, row, expected)$($wait)*? {
                return Ok(());
            }
            let present = runs::table.find((row.organization_id, row.id)).filter(runs::revision.eq(expected));
            let change = RunChange::from(row).set();
            one(update(present).set(change).execute(conn)$($wait)*?)
        }

        $($async)? fn run(conn: &mut $conn, write: &StepRows) -> Result<(), Error> {
            let row = &write.run;
            if let Some(expected) = write.expected {
                went_on(conn, row, expected)$($wait)*?;
            } else {
                $added!(conn, runs, row)$($wait)*?;
            }
            events(conn, write)$($wait)*
        }

        /// Writes what a run waits for. A timer or subscription may be set anew under its own id: what goes goes first.
        pub(crate) $($async)? fn waits(conn: &mut $conn, write: &StepRows) -> Result<(), Error> {
            let (tenant, id) = (write.run.organization_id, write.run.id);
            for timer in &write.timers_removed {
                diesel::delete(run_timers::table.find((tenant, id, timer))).execute(conn)$($wait)*?;
            }
            for subscription in &write.subscriptions_removed {
                let row = run_subscriptions::table.find((tenant, id, subscription));
                diesel::delete(row).execute(conn)$($wait)*?;
            }
            for timer in &write.timers {
                $added!(conn, run_timers, timer)$($wait)*?;
            }
            for subscription in &write.subscriptions {
                $added!(conn, run_subscriptions, subscription)$($wait)*?;
            }
            for thrown in &write.outgoing {
                $added!(conn, outbox, thrown)$($wait)*?;
            }
            Ok(())
        }

        $($async)? fn assign(
            conn: &mut $conn,
            tenant: Id,
            task: Id,
            of: Id,
            assignee: &Option<String>,
        ) -> Result<(), Error> {
            let row = human_tasks::table.find((tenant, task)).filter(human_tasks::run_id.eq(of));
            let change = TaskAssigned { assignee }.set();
            one(update(row).set(change).execute(conn)$($wait)*?)
        }

        /// Writes a change of a task.
        pub(crate) $($async)? fn task(
            conn: &mut $conn,
            tenant: Id,
            of: Id,
            change: &TaskRows,
        ) -> Result<(), Error> {
            match change {
                TaskRows::Open(row, candidates) => {
                    $added!(conn, human_tasks, &**row)$($wait)*?;
                    for candidate in candidates {
                        $added!(conn, human_task_candidates, candidate)$($wait)*?;
                    }
                    Ok(())
                }
                TaskRows::Assign(id, assignee) => assign(conn, tenant, *id, of, assignee)$($wait)*,
                TaskRows::End { task, state, ended_at, completed_by } => {
                    let row = human_tasks::table.find((tenant, *task)).filter(human_tasks::run_id.eq(of));
                    let change = TaskEnded { state, ended_at, completed_by }.set();
                    one(update(row).set(change).execute(conn)$($wait)*?)
                }
            }
        }
    };
}

/// Statements on SQLite's own connection.
pub(crate) mod blocking {
    use diesel::SqliteExpressionMethods as _;

    use crate::schema::RunDbRow;

    /// Insertion of a row.
    macro_rules! one_added {
        ($conn:ident, $table:ident, $row:expr) => {
            heddle_store::add($conn, $row)
        };
    }

    statements!(diesel::SqliteConnection, diesel::RunQueryDsl, Sqlite, one_added, (), ());

    /// Writes a step of a run that changes no indexed column, and gives whether it did. SQLite takes an entry out of an index
    /// and puts it back whenever its column is named in an update, whatever it is set to: six pages of indexes for a step
    /// that leaves the run as active as it was.
    fn advanced(conn: &mut diesel::SqliteConnection, row: &RunDbRow, expected: i64) -> Result<bool, Error> {
        if row.ended_at.is_some() {
            return Ok(false);
        }
        let same = runs::table
            .find((row.organization_id, row.id))
            .filter(runs::revision.eq(expected))
            .filter(runs::state.eq(row.state))
            .filter(runs::has_incident.eq(row.has_incident))
            .filter(runs::business_key.is(&row.business_key))
            .filter(runs::correlation_key.is(&row.correlation_key))
            .filter(runs::ended_at.is(row.ended_at));
        let change = (
            runs::snapshot.eq(&row.snapshot),
            runs::last_sequence.eq(row.last_sequence),
            runs::revision.eq(row.revision),
            runs::updated_at.eq(row.updated_at),
            runs::waiting_since.eq(row.waiting_since),
            runs::bytes.eq(row.bytes),
        );
        Ok(update(same).set(change).execute(conn)? > 0)
    }

    /// Writes the events of a step with the number of their commit.
    fn events(conn: &mut diesel::SqliteConnection, write: &StepRows) -> Result<(), Error> {
        if let Some(feed) = &write.events {
            heddle_store::add(conn, feed)?;
        }
        Ok(())
    }
}

/// Statements on PostgreSQL's connection.
pub(crate) mod waiting {
    use crate::schema::{RunDbRow, human_task_candidates, job_endings, run_events};
    use heddle_store::schema::errands;

    /// Insertion of a row.
    macro_rules! one_added {
        ($conn:ident, $table:ident, $row:expr) => {
            insert_into($table::table).values($row).execute($conn)
        };
    }

    statements!(heddle_store::PgConn, diesel_async::RunQueryDsl, Postgres, one_added, (async), (.await));

    /// None is written apart: PostgreSQL compares what is set with what is there before it touches an index.
    #[expect(clippy::unused_async, reason = "the twin of what waits for no connection")]
    async fn advanced(_: &mut heddle_store::PgConn, _: &RunDbRow, _: i64) -> Result<bool, Error> {
        Ok(false)
    }

    /// Writes the events of a step; the database gives them the number of the transaction.
    async fn events(conn: &mut heddle_store::PgConn, write: &StepRows) -> Result<(), Error> {
        if let Some(feed) = &write.events {
            insert_into(run_events::table).values(&feed.row).execute(conn).await?;
        }
        Ok(())
    }

    /// Writes who works on the tasks of a unit from now on: few units change that.
    pub(crate) async fn assignments(conn: &mut heddle_store::PgConn, rows: &UnitRows) -> Result<(), Error> {
        for write in &rows.steps {
            for change in &write.tasks {
                if let TaskRows::Assign(id, assignee) = change {
                    assign(conn, rows.tenant, *id, write.run.id, assignee).await?;
                }
            }
        }
        Ok(())
    }
}
