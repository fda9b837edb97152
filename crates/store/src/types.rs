//! Three SQL types that exist on both databases: ids, JSON documents and instants.

use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::{Pg, PgValue};
use diesel::query_builder::QueryId;
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{BigInt, Binary, Jsonb, SqlType, Text, Uuid as PgUuid};
use diesel::sqlite::Sqlite;
use heddle_kernel::{
    BuildId, CaseId, CaseTypeId, ConnectionId, EventId, FileId, GrantId, GroupId, HookId, IngestionJobId,
    JobId, LicenceId, ModelConnectionId, ModelDeploymentId, RoleId, RunId, SessionId, TaskId, TenantId,
    Timestamp, TokenId, UserId, VectorDatabaseId, WebhookId, WorkflowId,
};
use serde_json::Value;
use uuid::Uuid;

/// An id: `uuid` in PostgreSQL, a blob of 16 bytes in SQLite. Both sort alike.
#[derive(Debug, Clone, Copy, Default, SqlType, QueryId)]
#[diesel(sqlite_type(name = "Binary"), postgres_type(oid = 2950, array_oid = 2951))]
pub struct DbUuid;

/// A JSON document: `jsonb` in PostgreSQL, text in SQLite.
#[derive(Debug, Clone, Copy, Default, SqlType, QueryId)]
#[diesel(sqlite_type(name = "Text"), postgres_type(oid = 3802, array_oid = 3807))]
pub struct DbJson;

/// An instant: `timestamptz` in PostgreSQL, microseconds since 1970 in SQLite.
#[derive(Debug, Clone, Copy, Default, SqlType, QueryId)]
#[diesel(sqlite_type(name = "Long"), postgres_type(oid = 1184, array_oid = 1185))]
pub struct DbInstant;

/// PostgreSQL counts instants from 2000-01-01T00:00:00Z.
const PG_EPOCH: i64 = 946_684_800_000_000;

/// Any id as the database holds it; made from every kind of id and turned into each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AsExpression, FromSqlRow)]
#[diesel(sql_type = DbUuid)]
pub struct Id(pub Uuid);

/// A JSON document as the database holds it.
#[derive(Debug, Clone, PartialEq, AsExpression, FromSqlRow)]
#[diesel(sql_type = DbJson)]
pub struct Json(pub Value);

/// An instant as the database holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, AsExpression, FromSqlRow)]
#[diesel(sql_type = DbInstant)]
pub struct At(pub Timestamp);

macro_rules! ids {
    ($($id:ident),+) => {$(
        impl From<$id> for Id {
            fn from(id: $id) -> Self {
                Self(id.0)
            }
        }
        impl From<Id> for $id {
            fn from(id: Id) -> Self {
                Self(id.0)
            }
        }
    )+};
}

ids!(
    TenantId,
    UserId,
    SessionId,
    TokenId,
    RoleId,
    GroupId,
    GrantId,
    LicenceId,
    WorkflowId,
    RunId,
    TaskId,
    JobId,
    EventId,
    ConnectionId,
    WebhookId,
    CaseId,
    CaseTypeId,
    HookId,
    VectorDatabaseId,
    FileId,
    IngestionJobId,
    BuildId,
    ModelConnectionId,
    ModelDeploymentId
);

impl From<Uuid> for Id {
    fn from(id: Uuid) -> Self {
        Self(id)
    }
}

impl From<Id> for Uuid {
    fn from(id: Id) -> Self {
        id.0
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self(value)
    }
}

impl From<Json> for Value {
    fn from(json: Json) -> Self {
        json.0
    }
}

impl From<Timestamp> for At {
    fn from(at: Timestamp) -> Self {
        Self(at)
    }
}

impl From<At> for Timestamp {
    fn from(at: At) -> Self {
        at.0
    }
}

impl ToSql<DbUuid, Sqlite> for Id {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0.as_bytes().as_slice());
        Ok(IsNull::No)
    }
}

impl FromSql<DbUuid, Sqlite> for Id {
    fn from_sql(bytes: <Sqlite as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        let bytes = <Vec<u8> as FromSql<Binary, Sqlite>>::from_sql(bytes)?;
        Ok(Self(Uuid::from_slice(&bytes)?))
    }
}

impl ToSql<DbUuid, Pg> for Id {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        ToSql::<PgUuid, Pg>::to_sql(&self.0, out)
    }
}

impl FromSql<DbUuid, Pg> for Id {
    fn from_sql(bytes: PgValue<'_>) -> deserialize::Result<Self> {
        <Uuid as FromSql<PgUuid, Pg>>::from_sql(bytes).map(Self)
    }
}

impl ToSql<DbJson, Sqlite> for Json {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(serde_json::to_string(&self.0)?);
        Ok(IsNull::No)
    }
}

impl FromSql<DbJson, Sqlite> for Json {
    fn from_sql(bytes: <Sqlite as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        let text = <String as FromSql<Text, Sqlite>>::from_sql(bytes)?;
        Ok(Self(serde_json::from_str(&text)?))
    }
}

impl ToSql<DbJson, Pg> for Json {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        ToSql::<Jsonb, Pg>::to_sql(&self.0, out)
    }
}

impl FromSql<DbJson, Pg> for Json {
    fn from_sql(bytes: PgValue<'_>) -> deserialize::Result<Self> {
        <Value as FromSql<Jsonb, Pg>>::from_sql(bytes).map(Self)
    }
}

impl ToSql<DbInstant, Sqlite> for At {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0.micros());
        Ok(IsNull::No)
    }
}

impl FromSql<DbInstant, Sqlite> for At {
    fn from_sql(bytes: <Sqlite as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        <i64 as FromSql<BigInt, Sqlite>>::from_sql(bytes).map(|micros| Self(Timestamp::from_micros(micros)))
    }
}

impl ToSql<DbInstant, Pg> for At {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        let micros = self.0.micros().saturating_sub(PG_EPOCH);
        ToSql::<BigInt, Pg>::to_sql(&micros, &mut out.reborrow())
    }
}

impl FromSql<DbInstant, Pg> for At {
    fn from_sql(bytes: PgValue<'_>) -> deserialize::Result<Self> {
        let micros = <i64 as FromSql<BigInt, Pg>>::from_sql(bytes)?;
        Ok(Self(Timestamp::from_micros(micros.saturating_add(PG_EPOCH))))
    }
}
