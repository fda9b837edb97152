//! The statements of one unit: one text, made once as blocking calls on SQLite's connection and once as
//! waiting calls on PostgreSQL's.

macro_rules! statements {
    ($conn:ty, $dsl:path, $dialect:ident, ($($async:tt)?), ($($wait:tt)*)) => {
        use diesel::{ExpressionMethods, QueryDsl, insert_into};
                use heddle_usecase::StoreError;
        use heddle_store::{At, Error, Id};
        use crate::schema::{
            case_events, dead_letters, human_task_candidates, human_tasks, job_endings, jobs, outbox, run_events,
            run_subscriptions, run_timers, runs, start_bindings,
        };
        use heddle_workflows::ports::{Activation, LockChange, TakenJob};
        use heddle_workflows::records::{InboxState, JobState};
        use $dsl as _;

        use crate::commit::{AdvanceRow, InboxRows, StandRow, StepRows, TaskRows, UnitRows};
        use crate::jobs::{Dialect, again, taking};
        use crate::schema::{BindingAdvanced, EventConsumed, JobDbRow, RunChange, TaskAssigned, TaskEnded};
        use crate::words::{InboxStateWord, JobStateWord};

        /// `Stale` when no row was as it had to be.
        fn one(changed: usize) -> Result<(), Error> {
            if changed == 0 { Err(StoreError::Stale.into()) } else { Ok(()) }
        }

        /// Writes a unit. All that is not a run comes first: it tells soonest that somebody else was faster.
        pub(crate) $($async)? fn unit(conn: &mut $conn, rows: &UnitRows) -> Result<(), Error> {
            if let Some(id) = rows.delivered {
                let row = outbox::table.find((rows.tenant, id));
                one(diesel::delete(row).execute(conn)$($wait)*?)?;
            }
            rare(conn, rows)$($wait)*?;
            if let Some(InboxRows::Insert(row)) = &rows.inbox {
                insert_into(case_events::table).values(&**row).execute(conn)$($wait)*?;
            }
            for write in &rows.steps {
                run(conn, write)$($wait)*?;
                waits(conn, write)$($wait)*?;
                for change in &write.tasks {
                    task(conn, rows.tenant, write.run.id, change)$($wait)*?;
                }
                jobs_of(conn, write)$($wait)*?;
            }
            held(conn, rows)$($wait)*
        }

        /// Writes the jobs that a step opened and those that ended with it.
        $($async)? fn jobs_of(conn: &mut $conn, write: &StepRows) -> Result<(), Error> {
            let tenant = write.run.organization_id;
            for job in &write.jobs.opened {
                insert_into(jobs::table).values(job).execute(conn)$($wait)*?;
            }
            for ending in &write.jobs.ended {
                let open = jobs::table.find((tenant, ending.id)).filter(jobs::epoch.eq(ending.epoch));
                one(diesel::delete(open).execute(conn)$($wait)*?)?;
                insert_into(job_endings::table).values(ending).execute(conn)$($wait)*?;
            }
            for ending in &write.jobs.withdrawn {
                diesel::delete(jobs::table.find((tenant, ending.id))).execute(conn)$($wait)*?;
                insert_into(job_endings::table).values(ending).execute(conn)$($wait)*?;
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
                jobs::epoch.eq(jobs::epoch + 1_i64),
                change.message.as_ref().map(|message| jobs::message.eq(message)),
            );
            match change.epoch {
                Some(epoch) => {
                    one(diesel::update(job.filter(jobs::epoch.eq(epoch))).set(now).execute(conn)$($wait)*?)
                }
                None => one(diesel::update(job).set(now).execute(conn)$($wait)*?),
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
                        jobs::epoch.eq(jobs::epoch + 1_i64),
                    );
                    one(diesel::update(held).set(free).execute(conn)$($wait)*?)
                }
            }
        }

        /// Takes jobs for a worker, and leaves them where the activation says.
        $($async)? fn activate(conn: &mut $conn, tenant: Id, wanted: &Activation) -> Result<(), Error> {
            if wanted.types.is_empty() {
                wanted.taken.put(Vec::new());
                return Ok(());
            }
            again(tenant, wanted, Dialect::$dialect).execute(conn)$($wait)*?;
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
                taken.push(TakenJob { job: row.record()?, run_revision });
            }
            wanted.taken.put(taken);
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
            if let Some(InboxRows::Consume { id, run_ids }) = &rows.inbox {
                let kept = case_events::table
                    .find((rows.tenant, *id))
                    .filter(case_events::state.eq(InboxStateWord(InboxState::Buffered)));
                let state = InboxStateWord(InboxState::Consumed);
                let change = EventConsumed { state: &state, run_ids }.set();
                one(diesel::update(kept).set(change).execute(conn)$($wait)*?)?;
            }
            if let Some(write) = &rows.advance {
                advance(conn, write)$($wait)*?;
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
            one(diesel::update(present).set(change).execute(conn)$($wait)*?)
        }

        $($async)? fn run(conn: &mut $conn, write: &StepRows) -> Result<(), Error> {
            let row = &write.run;
            if let Some(expected) = write.expected {
                let present =
                    runs::table.find((row.organization_id, row.id)).filter(runs::revision.eq(expected));
                let change = RunChange::from(row).set();
                one(diesel::update(present).set(change).execute(conn)$($wait)*?)?;
            } else {
                insert_into(runs::table).values(row).execute(conn)$($wait)*?;
            }
            if let Some(events) = &write.events {
                insert_into(run_events::table).values(events).execute(conn)$($wait)*?;
            }
            Ok(())
        }

        /// A timer or subscription may be set anew under its own id: what goes goes first.
        $($async)? fn waits(conn: &mut $conn, write: &StepRows) -> Result<(), Error> {
            let (tenant, id) = (write.run.organization_id, write.run.id);
            for timer in &write.timers_removed {
                diesel::delete(run_timers::table.find((tenant, id, timer))).execute(conn)$($wait)*?;
            }
            for subscription in &write.subscriptions_removed {
                let row = run_subscriptions::table.find((tenant, id, subscription));
                diesel::delete(row).execute(conn)$($wait)*?;
            }
            for timer in &write.timers {
                insert_into(run_timers::table).values(timer).execute(conn)$($wait)*?;
            }
            for subscription in &write.subscriptions {
                insert_into(run_subscriptions::table).values(subscription).execute(conn)$($wait)*?;
            }
            for thrown in &write.outgoing {
                insert_into(outbox::table).values(thrown).execute(conn)$($wait)*?;
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
            one(diesel::update(row).set(change).execute(conn)$($wait)*?)
        }

        $($async)? fn task(
            conn: &mut $conn,
            tenant: Id,
            of: Id,
            change: &TaskRows,
        ) -> Result<(), Error> {
            match change {
                TaskRows::Open(row, candidates) => {
                    insert_into(human_tasks::table).values(&**row).execute(conn)$($wait)*?;
                    for candidate in candidates {
                        insert_into(human_task_candidates::table)
                            .values(candidate)
                            .execute(conn)$($wait)*?;
                    }
                    Ok(())
                }
                TaskRows::Assign(id, assignee) => assign(conn, tenant, *id, of, assignee)$($wait)*,
                TaskRows::End { task, state, ended_at, completed_by } => {
                    let row = human_tasks::table.find((tenant, *task)).filter(human_tasks::run_id.eq(of));
                    let change = TaskEnded { state, ended_at, completed_by }.set();
                    one(diesel::update(row).set(change).execute(conn)$($wait)*?)
                }
            }
        }
    };
}

/// Statements on SQLite's own connection.
pub(crate) mod blocking {
    statements!(diesel::SqliteConnection, diesel::RunQueryDsl, Sqlite, (), ());
}

/// Statements on PostgreSQL's connection.
pub(crate) mod waiting {
    statements!(heddle_store::PgConn, diesel_async::RunQueryDsl, Postgres, (async), (.await));

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
