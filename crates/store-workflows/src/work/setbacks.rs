//! Setbacks: tries that did not succeed, rows that go, and letters that come in their place.

use crate::schema::{
    LetterDbRow, case_events, dead_letters, outbox, run_subscriptions, run_timers, runs, start_bindings,
};
use crate::words::{DefinitionKindWord, InboxStateWord, KindWord};
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl, insert_into};
use diesel_async::RunQueryDsl;
use heddle_kernel::Timestamp;
use heddle_store::{AsConn, At, Db, Error, Id, on_conn, write_tx};
use heddle_usecase::StoreError;
use heddle_workflows::records::{
    BindingKind, DeadLetter, InboxEvent, InboxState, SetAsideReason, Setback, Tries, Work, WorkKey,
};

use crate::counts::used_on;
use crate::rows::count;

/// Instant that never comes: what is set aside is not tried until then. The year 9999.
const NEVER: At = At(Timestamp::from_micros(253_370_764_800_000_000));

/// Time after which work is tried again that would be set aside if there were room for more dead letters.
pub(crate) const NO_ROOM_SECONDS: i64 = 3600;

/// Records tries that did not succeed. Work of an organisation that has as many dead letters as it may waits in its
/// place, unless it ends the process.
pub(crate) async fn record(db: &Db, setbacks: Vec<Setback>, most_letters: u64) -> Result<(), StoreError> {
    write_tx!(db, |conn| {
        for setback in &setbacks {
            match setback {
                Setback::Later { work, tries, not_before } => {
                    later(conn, work, *tries, At(*not_before)).await?;
                }
                Setback::Aside(letter) => {
                    let may_wait = letter.reason != SetAsideReason::Crashed;
                    if may_wait && used_on(conn, letter.tenant).await?.dead_letters >= most_letters {
                        let again = At(letter.created_at.plus_seconds(NO_ROOM_SECONDS));
                        tracing::warn!(
                            organization = %letter.tenant, most = most_letters,
                            "no room for another dead letter: the work waits for an hour"
                        );
                        later(conn, &letter.work, letter.tries, again).await?;
                    } else {
                        aside(conn, letter).await?;
                    }
                }
            }
        }
        Ok(())
    })
}

/// Removes the row of a piece of work.
pub(crate) async fn forget(db: &Db, key: &WorkKey) -> Result<(), StoreError> {
    write_tx!(db, |conn| {
        remove(conn, key).await?;
        Ok(())
    })
}

async fn later<C: AsConn>(conn: &mut C, work: &Work, tries: Tries, not_before: At) -> Result<(), Error> {
    let (attempts, crashes) = (count(tries.attempts), count(tries.crashes));
    macro_rules! put_off {
        ($table:ident, $row:expr, $due:expr) => {{
            let change = ($table::attempts.eq(attempts), $table::crashes.eq(crashes), $due);
            on_conn!(conn, |conn| {
                diesel::update($row).set(change).execute(conn).await?;
            });
        }};
    }
    match work {
        Work::Thrown(thrown) => {
            let row = outbox::table.find((Id::from(thrown.tenant), Id::from(thrown.id)));
            put_off!(outbox, row, outbox::not_before.eq(not_before));
        }
        Work::Timer(timer) => {
            let (tenant, run) = (Id::from(timer.tenant), Id::from(timer.run));
            let row = run_timers::table
                .find((tenant, run, &timer.timer_id))
                .filter(run_timers::due_at.eq(At(timer.due_at)));
            put_off!(run_timers, row, run_timers::due_at.eq(not_before));
        }
        Work::TimerStart(of) => {
            let (tenant, workflow) = (Id::from(of.tenant), Id::from(of.workflow));
            let row = start_bindings::table
                .find((tenant, workflow, &of.process_id, &of.node_id, KindWord(of.kind), &of.name))
                .filter(start_bindings::version.eq(of.version))
                .filter(start_bindings::next_due_at.eq(of.next_due_at.map(At)));
            put_off!(start_bindings, row, start_bindings::next_due_at.eq(Some(not_before)));
        }
        Work::Kept(event) => {
            let row = case_events::table.find((Id::from(event.tenant), Id::from(event.id)));
            put_off!(case_events, row, case_events::retry_at.eq(Some(not_before)));
        }
        // Only among what was set aside; an errand has leases of its own.
        Work::Start(_) | Work::Errand(_) => {}
    }
    Ok(())
}

async fn aside<C: AsConn>(conn: &mut C, letter: &DeadLetter) -> Result<(), Error> {
    let run = match &letter.work {
        Work::Kept(event) => waiting_run(conn, event).await?,
        Work::Thrown(_) | Work::Timer(_) | Work::TimerStart(_) | Work::Start(_) | Work::Errand(_) => {
            letter.run.map(Id::from)
        }
    };
    if remove(conn, &letter.work.key()).await? == 0 {
        return Ok(());
    }
    let tenant = Id::from(letter.tenant);
    let (mut workflow, mut instance_kind) = (letter.workflow.map(Id::from), letter.instance_kind);
    if let (Some(run), None) = (run, workflow) {
        let row = runs::table.find((tenant, run)).select((runs::workflow_id, runs::kind));
        let found: Option<(Id, DefinitionKindWord)> =
            on_conn!(conn, |conn| row.first(conn).await.optional()?);
        if let Some((of, kind)) = found {
            (workflow, instance_kind) = (Some(of), kind.0);
        }
    }
    let (workflow, run) = (workflow.map(Into::into), run.map(Into::into));
    let letter = DeadLetter { instance_kind, workflow, run, ..letter.clone() };
    let row = LetterDbRow::of(letter)?;
    on_conn!(conn, |conn| {
        insert_into(dead_letters::table).values(&row).execute(conn).await?;
    });
    Ok(())
}

/// The run for which a kept event is.
async fn waiting_run<C: AsConn>(conn: &mut C, event: &InboxEvent) -> Result<Option<Id>, Error> {
    let found: Option<Id> = on_conn!(conn, |conn| {
        let query = run_subscriptions::table
            .filter(run_subscriptions::organization_id.eq(Id::from(event.tenant)))
            .filter(run_subscriptions::kind.eq(KindWord(BindingKind::Message)))
            .filter(run_subscriptions::name.eq(&event.event_type))
            .order((run_subscriptions::run_id, run_subscriptions::subscription_id))
            .select(run_subscriptions::run_id)
            .into_boxed();
        let query = match &event.correlation_key {
            Some(key) => query.filter(run_subscriptions::correlation_key.eq(key)),
            None => query.filter(run_subscriptions::correlation_key.is_null()),
        };
        query.first(conn).await.optional()?
    });
    Ok(found)
}

/// Removes a row, or keeps a kept event from being tried; the number of rows.
async fn remove<C: AsConn>(conn: &mut C, key: &WorkKey) -> Result<usize, Error> {
    macro_rules! delete {
        ($row:expr) => {{
            let row = $row;
            on_conn!(conn, |conn| diesel::delete(row).execute(conn).await?)
        }};
    }
    Ok(match key {
        WorkKey::Thrown(tenant, id) => delete!(outbox::table.find((Id::from(*tenant), Id::from(*id)))),
        WorkKey::Timer(tenant, run, timer) => {
            delete!(run_timers::table.find((Id::from(*tenant), Id::from(*run), timer)))
        }
        WorkKey::TimerStart(tenant, workflow, process, node) => {
            let (tenant, workflow) = (Id::from(*tenant), Id::from(*workflow));
            delete!(start_bindings::table.find((
                tenant,
                workflow,
                process,
                node,
                KindWord(BindingKind::Timer),
                ""
            )))
        }
        WorkKey::Kept(tenant, id) => {
            let row = case_events::table
                .find((Id::from(*tenant), Id::from(*id)))
                .filter(case_events::state.eq(InboxStateWord(InboxState::Buffered)));
            let never = case_events::retry_at.eq(Some(NEVER));
            on_conn!(conn, |conn| diesel::update(row).set(never).execute(conn).await?)
        }
        WorkKey::Start(..) | WorkKey::Errand(..) => 0,
    })
}
