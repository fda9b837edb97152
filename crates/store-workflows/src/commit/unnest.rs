//! PostgreSQL's statements over many rows: one array for each column, so that the text is the same for any
//! number of rows and its plan is kept.

use crate::schema::{
    CandidateRow, NewEvents, NewRuns, TaskDbRow, human_task_candidates, human_tasks, outbox,
    run_subscriptions, run_timers,
};
use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Array, Binary, Integer, Nullable, Text};
use diesel_async::RunQueryDsl;
use heddle_store::{At, DbInstant, DbJson, DbUuid, Error, Id, Json, PgConn, audit, idempotency};
use heddle_usecase::Journal;
use heddle_usecase::StoreError;

use super::{TaskRows, UnitRows};

/// Rows of one statement with a parameter for each value: 65,535 parameters at most.
const CHUNK: usize = 1000;

macro_rules! columns {
    ($(#[$doc:meta])* $name:ident, $table:literal, $tail:literal, { $($column:ident: $sql:ty = $rust:ty),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Default)]
        struct $name<'a> {
            $($column: Vec<$rust>,)+
        }

        impl QueryFragment<Pg> for $name<'_> {
            fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
                out.push_sql(concat!("INSERT INTO ", $table, " ("));
                let mut between = "";
                $(
                    out.push_sql(between);
                    out.push_identifier(stringify!($column))?;
                    between = ", ";
                )+
                out.push_sql(") SELECT * FROM unnest(");
                between = "";
                $(
                    out.push_sql(between);
                    out.push_bind_param::<Array<$sql>, _>(&self.$column)?;
                    between = ", ";
                )+
                let _ = between;
                out.push_sql(concat!(")", $tail));
                Ok(())
            }
        }

        impl QueryId for $name<'_> {
            type QueryId = $name<'static>;
            const HAS_STATIC_QUERY_ID: bool = true;
        }
    };
}

columns!(
    /// Audit events.
    NewAudit, "audit_events", "", {
        organization_id: DbUuid = Id,
        id: DbUuid = Id,
        at: DbInstant = At,
        actor_kind: Text = &'a str,
        actor_id: Nullable<Text> = Option<&'a str>,
        actor_display: Text = &'a str,
        action: Text = &'a str,
        resource_type: Text = &'a str,
        resource_id: Nullable<Text> = Option<&'a str>,
        outcome: Text = &'a str,
        request_id: Text = &'a str,
        client_ip: Nullable<Text> = Option<&'a str>,
        details: DbJson = Json,
    }
);

columns!(
    /// Answers for repeats; they take the place of expired ones.
    NewAnswers, "idempotency_keys",
    " ON CONFLICT (organization_id, operation, key) DO UPDATE SET body_sha256 = excluded.body_sha256, \
     status = excluded.status, body = excluded.body, etag = excluded.etag, created_at = excluded.created_at, \
     expires_at = excluded.expires_at WHERE idempotency_keys.expires_at <= excluded.created_at",
    {
        organization_id: DbUuid = Id,
        operation: Text = &'a str,
        key: Text = &'a str,
        body_sha256: Text = &'a str,
        status: Integer = i32,
        body: Binary = &'a [u8],
        etag: Nullable<Text> = Option<&'a str>,
        created_at: DbInstant = At,
        expires_at: DbInstant = At,
    }
);

#[derive(Default)]
struct AuditAndIdempotency<'a> {
    audit: NewAudit<'a>,
    answers: NewAnswers<'a>,
}

impl<'a> AuditAndIdempotency<'a> {
    fn push(&mut self, unit: &'a Journal) {
        if let Some(entry) = &unit.audit {
            let rows = &mut self.audit;
            rows.organization_id.push(entry.tenant.unwrap_or(audit::INSTALLATION).into());
            rows.id.push(entry.id.into());
            rows.at.push(entry.at.into());
            rows.actor_kind.push(entry.actor.kind);
            rows.actor_id.push(entry.actor.id.as_deref());
            rows.actor_display.push(&entry.actor.display);
            rows.action.push(&entry.action);
            rows.resource_type.push(&entry.resource_type);
            rows.resource_id.push(entry.resource_id.as_deref());
            rows.outcome.push(entry.outcome.as_str());
            rows.request_id.push(&entry.request_id);
            rows.client_ip.push(entry.client_ip.as_deref());
            rows.details.push(Json(entry.details.clone()));
        }
        if let Some(record) = &unit.idempotency {
            let rows = &mut self.answers;
            rows.organization_id.push(record.tenant.into());
            rows.operation.push(&record.operation);
            rows.key.push(&record.key);
            rows.body_sha256.push(&record.body_sha256);
            rows.status.push(i32::from(record.status));
            rows.body.push(&record.body);
            rows.etag.push(record.etag.as_deref());
            rows.created_at.push(record.created_at.into());
            rows.expires_at.push(record.created_at.plus_seconds(idempotency::KEPT_SECONDS).into());
        }
    }
}

/// Adds the rows of units that only add rows. Any failure is one of all of them.
pub async fn insert(conn: &mut PgConn, units: &[&UnitRows]) -> Result<(), Error> {
    let (mut runs, mut events, mut beside) =
        (NewRuns::default(), NewEvents::default(), AuditAndIdempotency::default());
    for rows in units {
        beside.push(&rows.unit);
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
    if !beside.audit.id.is_empty() {
        beside.audit.execute(conn).await?;
    }
    let answers = beside.answers.key.len();
    if answers > 0 && beside.answers.execute(conn).await? != answers {
        return Err(StoreError::Duplicate("idempotency_keys.key".to_owned()).into());
    }
    insert_waits(conn, units).await
}

/// What new runs wait for. Few units of a burst have any.
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
