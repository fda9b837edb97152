//! The chains of audit events: their places, and signed checkpoints.

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Binary, Text};
use diesel::{
    ExpressionMethods, OptionalExtension, QueryDsl, QueryResult, SelectableHelper, SqliteConnection,
};
use diesel_async::RunQueryDsl;
use heddle_identity::chain::{AuditRecord, ChainRow, Checkpoint, CheckpointKind, Content, Hash, Statement};
use heddle_identity::ports::{AuditChainStore, ChainLink};
use heddle_kernel::{EventId, TenantId};
use heddle_store::schema::{
    AuditCheckpointRow, AuditRow, SealedRow, audit_checkpoints, audit_events, audit_unsealed,
};
use heddle_store::{AsConn, Conn, DbUuid, Error, Id, StoreError, lock, read, write_tx};

use crate::IdentityStore;

/// Records between two checkpoints that stay: of those in between only the newest does.
const BLOCK: i64 = 1_000;

/// Rows of a query of audit events, sealed or not, as the table says. Where one can't be read, each is read by itself, and
/// that one is given as unreadable: one row must not hide the rest of the trail. In brackets stands `.await` where the connection
/// is waited for.
macro_rules! each_event {
    (@ row audit_events) => { heddle_store::schema::SealedRow };
    (@ row audit_unsealed) => { heddle_store::schema::AuditRow };
    // The id as the bytes that it is: in SQLite's column any may stand.
    (@ keys audit_events, $conn:expr, $query:expr, ($($wait:tt)*)) => {{
        let id = diesel::dsl::sql::<diesel::sql_types::Binary>("audit_events.id");
        let keys: Vec<(Vec<u8>, i64, Vec<u8>)> =
            $query.select((id, audit_events::sequence, audit_events::hash)).load($conn)$($wait)*?;
        keys.into_iter()
            .map(|(id, sequence, hash)| $crate::chain::Key { id, sequence: Some(sequence), hash: Some(hash) })
            .collect()
    }};
    (@ keys audit_unsealed, $conn:expr, $query:expr, ($($wait:tt)*)) => {{
        let id = diesel::dsl::sql::<diesel::sql_types::Binary>("audit_unsealed.id");
        let keys: Vec<Vec<u8>> = $query.select(id).load($conn)$($wait)*?;
        keys.into_iter().map(|id| $crate::chain::Key { id, sequence: None, hash: None }).collect()
    }};
    ($conn:expr, $trail:expr, $table:ident, $query:expr, ($($wait:tt)*)) => {{
        let whole: Result<Vec<$crate::chain::each_event!(@ row $table)>, diesel::result::Error> =
            $query.select(<$crate::chain::each_event!(@ row $table)>::as_select()).load($conn)$($wait)*;
        match whole {
            Ok(rows) => rows.into_iter().map($crate::chain::StoredEvent::chain_row).collect::<Vec<_>>(),
            Err(diesel::result::Error::DeserializationError(_)) => {
                let keys: Vec<$crate::chain::Key> =
                    $crate::chain::each_event!(@ keys $table, $conn, $query, ($($wait)*));
                let mut rows = Vec::with_capacity(keys.len());
                for mut key in keys {
                    let Ok(id) = uuid::Uuid::from_slice(&key.id).map(heddle_store::Id) else {
                        key.id = uuid::Uuid::nil().into();
                        rows.push(key.unreadable("its id is none".to_owned()));
                        continue;
                    };
                    let one: Result<$crate::chain::each_event!(@ row $table), diesel::result::Error> =
                        $table::table
                            .find(($trail, id))
                            .select(<$crate::chain::each_event!(@ row $table)>::as_select())
                            .first($conn)$($wait)*;
                    match one {
                        Ok(row) => rows.push($crate::chain::StoredEvent::chain_row(row)),
                        Err(diesel::result::Error::DeserializationError(why)) => {
                            rows.push(key.unreadable(why.to_string()));
                        }
                        Err(diesel::result::Error::NotFound) => {}
                        Err(error) => return Err(heddle_store::Error::from(error)),
                    }
                }
                rows
            }
            Err(error) => return Err(heddle_store::Error::from(error)),
        }
    }};
}
pub(crate) use each_event;

/// Columns of a row that can't be read as a whole: its id, and its place in the chain.
pub(crate) struct Key {
    pub(crate) id: Vec<u8>,
    pub(crate) sequence: Option<i64>,
    pub(crate) hash: Option<Vec<u8>>,
}

impl Key {
    /// The row as one that can't be read.
    pub(crate) fn unreadable(self, why: String) -> ChainRow {
        let Self { id, sequence, hash } = self;
        let id = uuid::Uuid::from_slice(&id).unwrap_or_default();
        tracing::warn!(event = %id, why, "an audit event can't be read");
        ChainRow { id: EventId(id), sequence, hash, content: Content::Unreadable(why) }
    }
}

/// A row of an audit event.
pub(crate) trait StoredEvent {
    /// The row of a trail.
    fn chain_row(self) -> ChainRow;
}

/// The row of a trail, of a row of either table.
macro_rules! chain_row {
    ($row:ident, $sequence:expr, $hash:expr) => {{
        let record = AuditRecord {
            tenant: $row.organization_id.into(),
            id: $row.id.into(),
            at: $row.at.into(),
            actor_kind: $row.actor_kind.into_owned(),
            actor_id: $row.actor_id,
            actor_display: $row.actor_display,
            actor_credential: $row.actor_credential,
            action: $row.action,
            resource_type: $row.resource_type,
            resource_id: $row.resource_id,
            target_type: $row.target_type,
            target_id: $row.target_id,
            outcome: $row.outcome.into_owned(),
            request_id: $row.request_id,
            client_ip: $row.client_ip,
            details: $row.details.into(),
        };
        let content = Content::Readable(Box::new(record));
        ChainRow { id: $row.id.into(), sequence: $sequence, hash: $hash, content }
    }};
}

impl StoredEvent for AuditRow {
    fn chain_row(self) -> ChainRow {
        let row = self;
        chain_row!(row, None, None)
    }
}

impl StoredEvent for SealedRow {
    fn chain_row(self) -> ChainRow {
        let row = self;
        chain_row!(row, Some(row.sequence), Some(row.hash))
    }
}

fn checkpoint_row(checkpoint: &Checkpoint) -> AuditCheckpointRow {
    let Checkpoint { statement, key_id, signature } = checkpoint;
    let Statement { tenant, kind, sequence, hash, dropped, at } = *statement;
    AuditCheckpointRow {
        organization_id: tenant.into(),
        kind: kind.as_str().into(),
        sequence,
        hash: hash.bytes().to_vec(),
        dropped,
        at: at.into(),
        key_id: key_id.clone(),
        signature: signature.clone(),
    }
}

/// The checkpoint of a row. A hash that is none of ours is taken for zeros, which nobody signed.
fn checkpoint(row: AuditCheckpointRow, kind: CheckpointKind) -> Checkpoint {
    Checkpoint {
        statement: Statement {
            tenant: row.organization_id.into(),
            kind,
            sequence: row.sequence,
            hash: Hash::of(&row.hash).unwrap_or(Hash::NONE),
            dropped: row.dropped,
            at: row.at.into(),
        },
        key_id: row.key_id,
        signature: row.signature,
    }
}

/// Columns that move with an event when it gets its place; a test holds them against the table.
#[doc(hidden)]
pub const MOVED: [&str; 16] = [
    "organization_id",
    "id",
    "at",
    "actor_kind",
    "actor_id",
    "actor_display",
    "actor_credential",
    "action",
    "resource_type",
    "resource_id",
    "target_type",
    "target_id",
    "outcome",
    "request_id",
    "client_ip",
    "details",
];

/// Moves events of a trail to the chain; gives the number of those that were met. As bytes, whatever stands in them: one that
/// can't be read moves, too. Whoever seals the trail holds its lock on PostgreSQL, and everybody's on SQLite.
async fn put<C: AsConn>(conn: &mut C, trail: Id, links: &[ChainLink]) -> Result<usize, Error> {
    let (columns, moved) = (MOVED.join(", "), MOVED.map(|column| format!("u.{column}")).join(", "));
    match conn.as_conn() {
        Conn::Sqlite(conn) => {
            // One statement for all of them: each is found by its key, and goes behind the one before it.
            let places: Vec<_> = links
                .iter()
                .map(|link| {
                    let event = link.event.0.simple().to_string();
                    serde_json::json!([event, link.sequence, link.hash.to_string()])
                })
                .collect();
            let places = serde_json::Value::Array(places).to_string();
            let insertion = format!(
                "INSERT INTO audit_events ({columns}, sequence, hash) \
                 SELECT {moved}, s.value ->> 1, unhex(s.value ->> 2) \
                 FROM json_each(?) AS s CROSS JOIN audit_unsealed AS u \
                 WHERE u.organization_id = ? AND u.id = unhex(s.value ->> 0)"
            );
            let removal = "DELETE FROM audit_unsealed WHERE organization_id = ? \
                 AND id IN (SELECT unhex(value ->> 0) FROM json_each(?))";
            let all = move |conn: &mut SqliteConnection| -> QueryResult<usize> {
                let insertion =
                    diesel::sql_query(insertion).bind::<Text, _>(&places).bind::<DbUuid, _>(trail);
                diesel::RunQueryDsl::execute(insertion, conn)?;
                let removal = diesel::sql_query(removal).bind::<DbUuid, _>(trail).bind::<Text, _>(&places);
                diesel::RunQueryDsl::execute(removal, conn)
            };
            Ok(conn.spawn_blocking(all).await?)
        }
        Conn::Postgres(conn) => {
            let events: Vec<Id> = links.iter().map(|link| link.event.into()).collect();
            let sequences: Vec<i64> = links.iter().map(|link| link.sequence).collect();
            let hashes: Vec<Vec<u8>> = links.iter().map(|link| link.hash.bytes().to_vec()).collect();
            let text = format!(
                "WITH moved AS ( \
                     DELETE FROM audit_unsealed AS u USING unnest($2, $3, $4) AS s (event, sequence, hash) \
                     WHERE u.organization_id = $1 AND u.id = s.event \
                     RETURNING {moved}, s.sequence, s.hash \
                 ) INSERT INTO audit_events ({columns}, sequence, hash) SELECT {columns}, sequence, hash FROM moved"
            );
            let moving = diesel::sql_query(text)
                .bind::<DbUuid, _>(trail)
                .bind::<Array<DbUuid>, _>(events)
                .bind::<Array<BigInt>, _>(sequences)
                .bind::<Array<Binary>, _>(hashes);
            Ok(moving.execute(conn).await?)
        }
    }
}

impl IdentityStore {
    /// Removes events that have their place already, and gives their number: whoever did not hear that theirs was written may
    /// write it again.
    async fn drop_repeated(&self, trail: Id) -> Result<usize, StoreError> {
        write_tx!(&self.db, |conn| {
            let sealed = audit_events::table
                .filter(audit_events::organization_id.eq(audit_unsealed::organization_id))
                .filter(audit_events::id.eq(audit_unsealed::id));
            let repeated = audit_unsealed::table
                .filter(audit_unsealed::organization_id.eq(trail))
                .filter(diesel::dsl::exists(sealed));
            Ok(diesel::delete(repeated).execute(conn).await?)
        })
    }

    /// The newest checkpoint of a kind.
    async fn newest(&self, trail: TenantId, kind: CheckpointKind) -> Result<Option<Checkpoint>, StoreError> {
        let trail = Id::from(trail);
        let found: Option<AuditCheckpointRow> = read!(&self.db, |conn| {
            Ok(audit_checkpoints::table
                .filter(audit_checkpoints::organization_id.eq(trail))
                .filter(audit_checkpoints::kind.eq(kind.as_str()))
                .order(audit_checkpoints::sequence.desc())
                .select(AuditCheckpointRow::as_select())
                .first(conn)
                .await
                .optional()?)
        })?;
        Ok(found.map(|row| checkpoint(row, kind)))
    }
}

/// Number of the newest checkpoint of a kind, within a transaction.
macro_rules! newest_sequence {
    ($conn:expr, $trail:expr, $kind:expr) => {{
        let newest: Option<i64> = audit_checkpoints::table
            .filter(audit_checkpoints::organization_id.eq($trail))
            .filter(audit_checkpoints::kind.eq($kind.as_str()))
            .order(audit_checkpoints::sequence.desc())
            .select(audit_checkpoints::sequence)
            .first($conn)
            .await
            .optional()?;
        newest
    }};
}

/// The name of the lock of a trail's chain.
fn lock_name(trail: TenantId) -> String {
    format!("audit-chain {trail}")
}

/// Rows that a query may give.
fn bound(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

#[async_trait]
impl AuditChainStore for IdentityStore {
    async fn unsealed_trail(&self, after: Option<TenantId>) -> Result<Option<TenantId>, StoreError> {
        let found: Option<Id> = read!(&self.db, |conn| {
            let mut query = audit_unsealed::table.into_boxed();
            if let Some(after) = after {
                query = query.filter(audit_unsealed::organization_id.gt(Id::from(after)));
            }
            Ok(query
                .order((audit_unsealed::organization_id.asc(), audit_unsealed::id.asc()))
                .select(audit_unsealed::organization_id)
                .first(conn)
                .await
                .optional()?)
        })?;
        Ok(found.map(TenantId::from))
    }

    async fn unsealed(
        &self,
        trail: TenantId,
        after: Option<EventId>,
        most: usize,
    ) -> Result<Vec<ChainRow>, StoreError> {
        let (trail, after) = (Id::from(trail), Id::from(after.unwrap_or(EventId(uuid::Uuid::nil()))));
        let mut rows: Vec<ChainRow> = read!(&self.db, |conn| {
            Ok(each_event!(
                conn,
                trail,
                audit_unsealed,
                audit_unsealed::table
                    .filter(audit_unsealed::organization_id.eq(trail))
                    .filter(audit_unsealed::id.gt(after))
                    .order(audit_unsealed::id.asc())
                    .limit(bound(most)),
                (.await)
            ))
        })?;
        // One without an id can't be told from another, and gets no place; it must not keep the others from theirs.
        rows.retain(|row| !row.id.0.is_nil());
        Ok(rows)
    }

    async fn unsealed_count(&self, trail: TenantId) -> Result<u64, StoreError> {
        let trail = Id::from(trail);
        let count: i64 = read!(&self.db, |conn| {
            Ok(audit_unsealed::table
                .filter(audit_unsealed::organization_id.eq(trail))
                .count()
                .get_result(conn)
                .await?)
        })?;
        Ok(count.unsigned_abs())
    }

    async fn chain(&self, after: Option<TenantId>) -> Result<Option<TenantId>, StoreError> {
        let found: Option<Id> = read!(&self.db, |conn| {
            let mut query = audit_checkpoints::table.into_boxed();
            if let Some(after) = after {
                query = query.filter(audit_checkpoints::organization_id.gt(Id::from(after)));
            }
            Ok(query
                .order(audit_checkpoints::organization_id.asc())
                .select(audit_checkpoints::organization_id)
                .first(conn)
                .await
                .optional()?)
        })?;
        Ok(found.map(TenantId::from))
    }

    async fn head(&self, trail: TenantId) -> Result<Option<Checkpoint>, StoreError> {
        self.newest(trail, CheckpointKind::Head).await
    }

    async fn dropped(&self, trail: TenantId) -> Result<Option<Checkpoint>, StoreError> {
        self.newest(trail, CheckpointKind::Dropped).await
    }

    async fn seal(
        &self,
        links: &[ChainLink],
        expected: Option<i64>,
        checkpoint: &Checkpoint,
    ) -> Result<bool, StoreError> {
        let trail = checkpoint.statement.tenant;
        let (name, tenant) = (lock_name(trail), Id::from(trail));
        let row = checkpoint_row(checkpoint);
        let block = |sequence: i64| sequence.div_euclid(BLOCK);
        let outdated = expected.filter(|before| block(*before) == block(row.sequence));
        let done = write_tx!(&self.db, |conn| {
            lock::serialise(conn, &name).await?;
            if newest_sequence!(conn, tenant, CheckpointKind::Head) != expected {
                return Ok(false);
            }
            if put(conn, tenant, links).await? != links.len() {
                return Err(Error::Store(StoreError::Stale));
            }
            if let Some(before) = outdated {
                let key = (tenant, CheckpointKind::Head.as_str(), before);
                diesel::delete(audit_checkpoints::table.find(key)).execute(conn).await?;
            }
            diesel::insert_into(audit_checkpoints::table).values(&row).execute(conn).await?;
            Ok(true)
        });
        // Without any, somebody has taken the next place, which is told.
        if matches!(done, Err(StoreError::Duplicate(_))) && self.drop_repeated(tenant).await? > 0 {
            return Ok(false);
        }
        // The trail went on in the meantime.
        if done == Err(StoreError::Stale) { Ok(false) } else { done }
    }

    async fn sealed(&self, trail: TenantId, after: i64, most: usize) -> Result<Vec<ChainRow>, StoreError> {
        let trail = Id::from(trail);
        read!(&self.db, |conn| {
            Ok(each_event!(
                conn,
                trail,
                audit_events,
                audit_events::table
                    .filter(audit_events::organization_id.eq(trail))
                    .filter(audit_events::sequence.gt(after))
                    .order(audit_events::sequence.asc())
                    .limit(bound(most)),
                (.await)
            ))
        })
    }

    async fn checkpoints(
        &self,
        trail: TenantId,
        after: i64,
        through: i64,
    ) -> Result<Vec<Checkpoint>, StoreError> {
        let trail = Id::from(trail);
        let kind = CheckpointKind::Head;
        let rows: Vec<AuditCheckpointRow> = read!(&self.db, |conn| {
            Ok(audit_checkpoints::table
                .filter(audit_checkpoints::organization_id.eq(trail))
                .filter(audit_checkpoints::kind.eq(kind.as_str()))
                .filter(audit_checkpoints::sequence.gt(after))
                .filter(audit_checkpoints::sequence.le(through))
                .order(audit_checkpoints::sequence.asc())
                .select(AuditCheckpointRow::as_select())
                .load(conn)
                .await?)
        })?;
        Ok(rows.into_iter().map(|row| checkpoint(row, kind)).collect())
    }

    async fn drop_through(&self, expected: Option<i64>, checkpoint: &Checkpoint) -> Result<bool, StoreError> {
        let trail = checkpoint.statement.tenant;
        let (name, tenant, through) = (lock_name(trail), Id::from(trail), checkpoint.statement.sequence);
        let row = checkpoint_row(checkpoint);
        write_tx!(&self.db, |conn| {
            lock::serialise(conn, &name).await?;
            if newest_sequence!(conn, tenant, CheckpointKind::Dropped) != expected {
                return Ok(false);
            }
            let over = audit_events::table
                .filter(audit_events::organization_id.eq(tenant))
                .filter(audit_events::sequence.le(through));
            diesel::delete(over).execute(conn).await?;
            // The newest checkpoint of the head is at the last of these events, or behind it.
            let before = audit_checkpoints::table
                .filter(audit_checkpoints::organization_id.eq(tenant))
                .filter(audit_checkpoints::sequence.lt(through));
            diesel::delete(before).execute(conn).await?;
            diesel::insert_into(audit_checkpoints::table).values(&row).execute(conn).await?;
            Ok(true)
        })
    }
}
