//! Calls, their sums, budgets and what is set aside of them.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use async_trait::async_trait;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper, SqliteConnection};
use diesel_async::RunQueryDsl;
use heddle_kernel::{Page, PageRequest, TenantId, Timestamp};
use heddle_models::ports::{Reserved, UsageQuery, UsageStore};
use heddle_models::records::{
    Cap, Reservation, Settlement, UsageAxis, UsageKey, UsageRow, UsageSums, UsageTotal,
};
use heddle_models::{day_at, day_text};
use heddle_policy::{AccessFilter, resource};
use heddle_store::journal::JournalRows;
use heddle_store::{
    AsConn, At, Conn, Db, Error, Id, PgConn, StoreError, document, lock, on_conn, page, read, within,
    write_tx,
};
use uuid::Uuid;

use crate::SqlModelStore;
use crate::schema::{
    BudgetRow, CallRow, NewCalls, ReservationRow, SumRow, model_budgets, model_calls, model_reservations,
    model_sums,
};
use crate::words::AxisWord;

/// Reservations of an organisation that are given back at a time.
const EXPIRED: i64 = 100;
/// The id that stands for none.
const NONE: Id = Id(Uuid::nil());

/// Budgets of a reservation: each by its scope and the first instant of its period, in microseconds.
type Scopes = Vec<(Uuid, i64)>;

/// The name of the lock of an organisation's budgets.
fn lock_name(tenant: TenantId) -> String {
    format!("budgets of {tenant}")
}

/// An amount of a budget.
#[derive(Debug, Clone, Copy)]
struct Amount {
    micros: i64,
    tokens: i64,
}

/// Key of the sums of a day: organisation, axis, deployment, thing, day.
type SumKey = (Id, UsageAxis, Id, Id, i64);

/// Adds a call to all sums that it is part of.
fn add(sums: &mut BTreeMap<SumKey, UsageSums>, row: &UsageRow) {
    let (tenant, day) = (Id::from(row.tenant), i64::from(day_at(row.at)));
    let workflow = row.workflow.map(|workflow| (UsageAxis::Workflow, Id::from(workflow)));
    let things = [(UsageAxis::Day, NONE), (UsageAxis::User, Id::from(row.principal))];
    for deployment in [NONE, Id::from(row.deployment)] {
        for (axis, thing) in things.into_iter().chain(workflow) {
            sums.entry((tenant, axis, deployment, thing, day)).or_default().add(row);
        }
    }
}

/// Adds to the sums that are kept.
async fn write_sums<C: AsConn>(conn: &mut C, sums: BTreeMap<SumKey, UsageSums>) -> Result<(), Error> {
    for ((tenant, axis, deployment, thing, day), more) in sums {
        let row = SumRow {
            organization_id: tenant,
            axis: AxisWord(axis),
            deployment_id: deployment,
            thing_id: thing,
            day,
            calls: more.calls,
            failed: more.failed,
            aborted: more.aborted,
            input_tokens: more.tokens.input,
            output_tokens: more.tokens.output,
            cached_tokens: more.tokens.cached,
            reasoning_tokens: more.tokens.reasoning,
            cost_micros: more.cost_micros,
            total_ms: more.total_ms,
        };
        on_conn!(conn, |conn| {
            diesel::insert_into(model_sums::table)
                .values(&row)
                .on_conflict((
                    model_sums::organization_id,
                    model_sums::axis,
                    model_sums::deployment_id,
                    model_sums::thing_id,
                    model_sums::day,
                ))
                .do_update()
                .set((
                    model_sums::calls.eq(model_sums::calls + more.calls),
                    model_sums::failed.eq(model_sums::failed + more.failed),
                    model_sums::aborted.eq(model_sums::aborted + more.aborted),
                    model_sums::input_tokens.eq(model_sums::input_tokens + more.tokens.input),
                    model_sums::output_tokens.eq(model_sums::output_tokens + more.tokens.output),
                    model_sums::cached_tokens.eq(model_sums::cached_tokens + more.tokens.cached),
                    model_sums::reasoning_tokens.eq(model_sums::reasoning_tokens + more.tokens.reasoning),
                    model_sums::cost_micros.eq(model_sums::cost_micros + more.cost_micros),
                    model_sums::total_ms.eq(model_sums::total_ms + more.total_ms),
                ))
                .execute(conn)
                .await?;
        });
    }
    Ok(())
}

/// The state of a budget: what was spent in its period, and what is set aside of it.
#[derive(Debug, Clone, Copy)]
struct BudgetState {
    spent: Amount,
    held: Amount,
}

/// The state of a budget, with a row that holds what is set aside. What was spent is the sum of the days of its period, so
/// that it counts calls that ended while there was no budget, or one of another period.
async fn budget<C: AsConn>(
    conn: &mut C,
    tenant: Id,
    scope: Id,
    start: Timestamp,
) -> Result<BudgetState, Error> {
    let days = model_sums::table
        .filter(model_sums::organization_id.eq(tenant))
        .filter(model_sums::axis.eq(AxisWord(UsageAxis::Day)))
        .filter(model_sums::deployment_id.eq(scope))
        .filter(model_sums::thing_id.eq(NONE))
        .filter(model_sums::day.ge(i64::from(day_at(start))))
        .select((model_sums::cost_micros, model_sums::input_tokens, model_sums::output_tokens));
    let days: Vec<(i64, i64, i64)> = on_conn!(conn, |conn| days.load(conn).await?);
    let spent = Amount {
        micros: days.iter().fold(0, |sum, (micros, _, _)| sum.saturating_add(*micros)),
        tokens: days
            .iter()
            .fold(0, |sum, (_, input, output)| sum.saturating_add(input.saturating_add(*output))),
    };
    let key = (tenant, scope, At(start));
    let found: Option<BudgetRow> = on_conn!(conn, |conn| {
        model_budgets::table.find(key).select(BudgetRow::as_select()).first(conn).await.optional()?
    });
    if let Some(found) = found {
        return Ok(BudgetState {
            spent,
            held: Amount { micros: found.held_micros, tokens: found.held_tokens },
        });
    }
    let row = BudgetRow {
        organization_id: tenant,
        scope_id: scope,
        period_start: At(start),
        held_micros: 0,
        held_tokens: 0,
    };
    on_conn!(conn, |conn| {
        diesel::insert_into(model_budgets::table).values(&row).on_conflict_do_nothing().execute(conn).await?;
    });
    Ok(BudgetState { spent, held: Amount { micros: 0, tokens: 0 } })
}

/// Key of a budget in one of its periods.
#[derive(Debug, Clone, Copy)]
struct BudgetKey {
    tenant: Id,
    scope: Uuid,
    /// First instant of the period, in microseconds.
    start: i64,
}

/// Changes what is set aside of a budget.
async fn hold<C: AsConn>(conn: &mut C, key: BudgetKey, more: Amount) -> Result<(), Error> {
    let BudgetKey { tenant, scope, start } = key;
    let row = model_budgets::table.find((tenant, Id(scope), At(Timestamp::from_micros(start))));
    on_conn!(conn, |conn| {
        diesel::update(row)
            .set((
                model_budgets::held_micros.eq(model_budgets::held_micros + more.micros),
                model_budgets::held_tokens.eq(model_budgets::held_tokens + more.tokens),
            ))
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Gives a reservation back, where it is there; gives whether it was.
async fn give_back<C: AsConn>(conn: &mut C, row: &ReservationRow) -> Result<bool, Error> {
    let present = model_reservations::table.find((row.organization_id, row.id));
    let met = on_conn!(conn, |conn| diesel::delete(present).execute(conn).await?);
    if met == 0 {
        return Ok(false);
    }
    let held = Amount { micros: -row.cost_micros, tokens: -row.tokens };
    let scopes: Scopes = document::decode(&row.scopes)?;
    for (scope, start) in scopes {
        hold(conn, BudgetKey { tenant: row.organization_id, scope, start }, held).await?;
    }
    Ok(true)
}

/// Whether a budget holds a further amount.
fn holds(cap: &Cap, state: BudgetState, amount: Amount) -> bool {
    let BudgetState { spent, held } = state;
    let fits = |most: Option<i64>, spent: i64, held: i64, more: i64| {
        most.is_none_or(|most| spent.saturating_add(held).saturating_add(more) <= most)
    };
    fits(cap.cost_micros, spent.micros, held.micros, amount.micros)
        && fits(cap.tokens, spent.tokens, held.tokens, amount.tokens)
}

fn row_of(reservation: &Reservation) -> Result<ReservationRow, Error> {
    let scopes: Scopes =
        reservation.caps.iter().map(|cap| (cap.scope.id(), cap.period_start.micros())).collect();
    Ok(ReservationRow {
        organization_id: reservation.tenant.into(),
        id: Id(reservation.id),
        scopes: document::encode(&scopes)?,
        cost_micros: reservation.cost_micros,
        tokens: reservation.tokens,
        expires_at: reservation.expires_at.into(),
    })
}

/// Rows of an end of a call, made before the connection is taken.
struct EndRows {
    call: CallRow,
    journal: JournalRows,
}

/// Writes the records and journals of calls on SQLite: one way to its thread, whatever their number. Gives for each
/// whether it was written now.
fn write_calls(conn: &mut SqliteConnection, rows: &[EndRows]) -> Result<Vec<bool>, Error> {
    rows.iter().map(|row| write_call(conn, row)).collect()
}

/// Writes the record and the journal of a call, unless they were written before.
fn write_call(conn: &mut SqliteConnection, row: &EndRows) -> Result<bool, Error> {
    let insert = diesel::insert_into(model_calls::table).values(&row.call).on_conflict_do_nothing();
    let written = diesel::RunQueryDsl::execute(insert, conn)? > 0;
    if written {
        row.journal.write_blocking(conn)?;
    }
    Ok(written)
}

/// The same on PostgreSQL: one statement for each table. Of many, each must be new; who has an old one among them writes
/// them singly.
async fn write_calls_there(conn: &mut PgConn, rows: &[EndRows]) -> Result<Vec<bool>, Error> {
    if let [row] = rows {
        let insert = diesel::insert_into(model_calls::table).values(&row.call).on_conflict_do_nothing();
        let written = insert.execute(conn).await? > 0;
        if written {
            row.journal.write(conn).await?;
        }
        return Ok(vec![written]);
    }
    let mut calls = NewCalls::default();
    rows.iter().for_each(|row| calls.push(&row.call));
    if !calls.is_empty() {
        calls.execute(conn).await?;
    }
    JournalRows::write_many(conn, rows.iter().map(|row| &row.journal)).await?;
    Ok(vec![true; rows.len()])
}

/// Gives back what a call set aside: what it cost is in the sums, which are written with it.
async fn settle_budgets<C: AsConn>(conn: &mut C, reservation: &Reservation) -> Result<(), Error> {
    lock::serialise(conn, &lock_name(reservation.tenant)).await?;
    give_back(conn, &row_of(reservation)?).await?;
    Ok(())
}

/// Writes ends of calls in one transaction; one that was written before counts no second time.
async fn write_all(db: &Db, ends: &[&Settlement]) -> Result<(), StoreError> {
    let rows_of = |end: &&Settlement| EndRows {
        call: CallRow::from(&end.usage),
        journal: JournalRows::from(end.journal.clone()),
    };
    let rows: Vec<EndRows> = ends.iter().map(rows_of).collect();
    write_tx!(db, |conn| {
        let written = match conn.as_conn() {
            Conn::Sqlite(conn) => conn.spawn_blocking(move |conn| Ok(write_calls(conn, &rows))).await??,
            Conn::Postgres(conn) => write_calls_there(conn, &rows).await?,
        };
        let mut sums = BTreeMap::new();
        for (end, _) in ends.iter().zip(written).filter(|(_, written)| *written) {
            if let Some(reservation) = &end.reservation {
                settle_budgets(conn, reservation).await?;
            }
            add(&mut sums, &end.usage);
        }
        write_sums(conn, sums).await
    })
}

/// Keys of those of these ends that are written.
async fn known(db: &Db, ends: &[&Settlement]) -> Result<HashSet<(Id, Id)>, StoreError> {
    let tenants: BTreeSet<TenantId> = ends.iter().map(|end| end.usage.tenant).collect();
    let tenants: Vec<Id> = tenants.into_iter().map(Id::from).collect();
    let calls: Vec<Id> = ends.iter().map(|end| Id(end.usage.id)).collect();
    read!(db, |conn| {
        let found: Vec<(Id, Id)> = model_calls::table
            .filter(model_calls::organization_id.eq_any(tenants.clone()))
            .filter(model_calls::id.eq_any(calls.clone()))
            .select((model_calls::organization_id, model_calls::id))
            .load(conn)
            .await?;
        Ok(found.into_iter().collect())
    })
}

/// Filter of a page of sums: those of a day and axis, of all deployments or of one.
macro_rules! sums_of {
    ($tenant:expr, $axis:expr, $query:expr) => {
        model_sums::table
            .filter(model_sums::organization_id.eq(Id::from($tenant)))
            .filter(model_sums::axis.eq(AxisWord($axis)))
            .filter(model_sums::day.between(i64::from($query.from_day), i64::from($query.to_day)))
    };
}

impl SqlModelStore {
    async fn by_day(
        &self,
        tenant: TenantId,
        query: &UsageQuery,
        page: &PageRequest,
    ) -> Result<Page<UsageTotal>, StoreError> {
        let last: Option<i64> = page::position(page)?;
        let of = query.deployment.map_or(NONE, Id::from);
        let rows: Vec<SumRow> = read!(&self.db, |conn| {
            let mut rows = sums_of!(tenant, UsageAxis::Day, query)
                .filter(model_sums::deployment_id.eq(of))
                .filter(model_sums::thing_id.eq(NONE))
                .into_boxed();
            if let Some(day) = last {
                rows = rows.filter(model_sums::day.gt(day));
            }
            Ok(rows
                .order(model_sums::day)
                .limit(page::surplus(page))
                .select(SumRow::as_select())
                .load(conn)
                .await?)
        })?;
        let page = Page::from_surplus(rows, page.limit, |row: &SumRow| row.day);
        Ok(page.map(|row| {
            let day = day_text(i32::try_from(row.day).unwrap_or(i32::MAX));
            UsageTotal { key: UsageKey::Day(day), sums: row.sums() }
        }))
    }

    async fn by_deployment(
        &self,
        tenant: TenantId,
        query: &UsageQuery,
        access: &AccessFilter<resource::Deployment>,
        page: &PageRequest,
    ) -> Result<Page<UsageTotal>, StoreError> {
        let last: Option<Uuid> = page::position(page)?;
        if access.is_empty() {
            return Ok(page::empty());
        }
        read!(&self.db, |conn| {
            let mut things = sums_of!(tenant, UsageAxis::Day, query)
                .filter(model_sums::thing_id.eq(NONE))
                .filter(model_sums::deployment_id.gt(Id(last.unwrap_or_default())))
                .into_boxed();
            if let Some(one) = query.deployment {
                things = things.filter(model_sums::deployment_id.eq(Id::from(one)));
            }
            let things: Vec<Id> = within!(things, access, model_sums::deployment_id)
                .select(model_sums::deployment_id)
                .distinct()
                .order(model_sums::deployment_id)
                .limit(page::surplus(page))
                .load(conn)
                .await?;
            let rows: Vec<SumRow> = sums_of!(tenant, UsageAxis::Day, query)
                .filter(model_sums::thing_id.eq(NONE))
                .filter(model_sums::deployment_id.eq_any(things.clone()))
                .select(SumRow::as_select())
                .load(conn)
                .await?;
            Ok(totals(things, rows, page, |row| row.deployment_id))
        })
    }

    async fn by_thing(
        &self,
        tenant: TenantId,
        query: &UsageQuery,
        page: &PageRequest,
    ) -> Result<Page<UsageTotal>, StoreError> {
        let last: Option<Uuid> = page::position(page)?;
        let (axis, of) = (query.by, query.deployment.map_or(NONE, Id::from));
        read!(&self.db, |conn| {
            let things: Vec<Id> = sums_of!(tenant, axis, query)
                .filter(model_sums::deployment_id.eq(of))
                .filter(model_sums::thing_id.gt(Id(last.unwrap_or_default())))
                .select(model_sums::thing_id)
                .distinct()
                .order(model_sums::thing_id)
                .limit(page::surplus(page))
                .load(conn)
                .await?;
            let rows: Vec<SumRow> = sums_of!(tenant, axis, query)
                .filter(model_sums::deployment_id.eq(of))
                .filter(model_sums::thing_id.eq_any(things.clone()))
                .select(SumRow::as_select())
                .load(conn)
                .await?;
            Ok(totals(things, rows, page, |row| row.thing_id))
        })
    }
}

/// A page of things with the sums of their days.
fn totals(
    things: Vec<Id>,
    rows: Vec<SumRow>,
    page: &PageRequest,
    thing: impl Fn(&SumRow) -> Id,
) -> Page<UsageTotal> {
    let mut all: BTreeMap<Id, UsageSums> = BTreeMap::new();
    for row in &rows {
        let (sums, more) = (all.entry(thing(row)).or_default(), row.sums());
        sums.calls += more.calls;
        sums.failed += more.failed;
        sums.aborted += more.aborted;
        sums.tokens.input = sums.tokens.input.saturating_add(more.tokens.input);
        sums.tokens.output = sums.tokens.output.saturating_add(more.tokens.output);
        sums.tokens.cached = sums.tokens.cached.saturating_add(more.tokens.cached);
        sums.tokens.reasoning = sums.tokens.reasoning.saturating_add(more.tokens.reasoning);
        sums.cost_micros = sums.cost_micros.saturating_add(more.cost_micros);
        sums.total_ms = sums.total_ms.saturating_add(more.total_ms);
    }
    let page = Page::from_surplus(things, page.limit, |id: &Id| id.0);
    page.map(|id| UsageTotal { key: UsageKey::Id(id.0), sums: all.remove(&id).unwrap_or_default() })
}

#[async_trait]
impl UsageStore for SqlModelStore {
    async fn reserve(&self, reservation: &Reservation) -> Result<Reserved, StoreError> {
        let tenant = Id::from(reservation.tenant);
        let amount = Amount { micros: reservation.cost_micros, tokens: reservation.tokens };
        write_tx!(&self.db, |conn| {
            // Who sets aside at the same time waits: two that fit alone never exceed a budget together.
            lock::serialise(conn, &lock_name(reservation.tenant)).await?;
            let expired: Vec<ReservationRow> = model_reservations::table
                .filter(model_reservations::organization_id.eq(tenant))
                .filter(model_reservations::expires_at.le(At(reservation.at)))
                .order((model_reservations::expires_at, model_reservations::id))
                .limit(EXPIRED)
                .select(ReservationRow::as_select())
                .load(conn)
                .await?;
            for row in &expired {
                give_back(conn, row).await?;
            }
            for cap in &reservation.caps {
                let state = budget(conn, tenant, Id(cap.scope.id()), cap.period_start).await?;
                if !holds(cap, state, amount) {
                    // What expired stays given back.
                    return Ok(Reserved::Exhausted(cap.scope));
                }
            }
            for cap in &reservation.caps {
                let start = cap.period_start.micros();
                hold(conn, BudgetKey { tenant, scope: cap.scope.id(), start }, amount).await?;
            }
            let row = row_of(reservation)?;
            diesel::insert_into(model_reservations::table).values(&row).execute(conn).await?;
            Ok(Reserved::Yes)
        })
    }

    async fn release(&self, reservation: &Reservation) -> Result<(), StoreError> {
        write_tx!(&self.db, |conn| {
            lock::serialise(conn, &lock_name(reservation.tenant)).await?;
            let row = row_of(reservation)?;
            give_back(conn, &row).await?;
            Ok(())
        })
    }

    async fn settle(&self, settlements: &[Settlement]) -> Result<(), StoreError> {
        // The same order everywhere: two nodes never wait for each other's rows.
        let mut ends: Vec<&Settlement> = settlements.iter().collect();
        ends.sort_by_key(|end| (end.usage.tenant, end.usage.id));
        let several = ends.len() > 1;
        let mut done = write_all(&self.db, &ends).await;
        if several && matches!(done, Err(StoreError::Duplicate(_))) {
            // What is read from the spill is often there already: the new ones are written together all the same.
            let known = known(&self.db, &ends).await?;
            ends.retain(|end| !known.contains(&(Id::from(end.usage.tenant), Id(end.usage.id))));
            done = write_all(&self.db, &ends).await;
        }
        match done {
            // The end of a call whose organisation is gone is told to nobody; it holds up no other.
            Err(StoreError::NotFound) if !several => Ok(()),
            Err(StoreError::NotFound | StoreError::Duplicate(_)) if several => {
                for end in ends {
                    match write_all(&self.db, &[end]).await {
                        Ok(()) | Err(StoreError::NotFound | StoreError::Duplicate(_)) => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(())
            }
            done => done,
        }
    }

    async fn expire(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let rows: Vec<ReservationRow> = read!(&self.db, |conn| {
            Ok(model_reservations::table
                .filter(model_reservations::expires_at.le(At(now)))
                .order((
                    model_reservations::expires_at,
                    model_reservations::organization_id,
                    model_reservations::id,
                ))
                .limit(i64::from(limit))
                .select(ReservationRow::as_select())
                .load(conn)
                .await?)
        })?;
        let mut given = 0;
        for row in &rows {
            let tenant = TenantId::from(row.organization_id);
            let was_there = write_tx!(&self.db, |conn| {
                lock::serialise(conn, &lock_name(tenant)).await?;
                give_back(conn, row).await
            })?;
            given += u64::from(was_there);
        }
        Ok(given)
    }

    async fn usage(
        &self,
        tenant: TenantId,
        query: &UsageQuery,
        access: &AccessFilter<resource::Deployment>,
        page: &PageRequest,
    ) -> Result<Page<UsageTotal>, StoreError> {
        match query.by {
            UsageAxis::Day => self.by_day(tenant, query, page).await,
            UsageAxis::Deployment => self.by_deployment(tenant, query, access, page).await,
            UsageAxis::User | UsageAxis::Workflow => self.by_thing(tenant, query, page).await,
        }
    }

    async fn forget(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        write_tx!(&self.db, |conn| {
            let old: Vec<(Id, Id)> = model_calls::table
                .filter(model_calls::at.lt(At(before)))
                .order((model_calls::at, model_calls::organization_id, model_calls::id))
                .limit(i64::from(limit))
                .select((model_calls::organization_id, model_calls::id))
                .load(conn)
                .await?;
            let mut forgotten = 0;
            for (tenant, id) in old {
                forgotten +=
                    diesel::delete(model_calls::table.find((tenant, id))).execute(conn).await? as u64;
            }
            Ok(forgotten)
        })
    }
}
