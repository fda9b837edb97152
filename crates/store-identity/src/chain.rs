//! The chains of audit events: their places, and signed checkpoints.

use async_trait::async_trait;
use diesel::{
    ExpressionMethods, OptionalExtension, QueryDsl, QueryResult, SelectableHelper, SqliteConnection,
};
use diesel_async::RunQueryDsl;
use heddle_identity::chain::{AuditRecord, ChainRow, Checkpoint, CheckpointKind, Content, Hash, Statement};
use heddle_identity::ports::{AuditChainStore, ChainLink};
use heddle_kernel::{EventId, TenantId};
use heddle_store::schema::{AuditCheckpointRow, AuditRow, AuditSeal, audit_checkpoints, audit_events};
use heddle_store::{AsConn, Conn, Error, Id, StoreError, change_many, lock, read, stable, write_tx};

use crate::IdentityStore;

change_many! {
    /// Places of audit events in their chains.
    pub(crate) AuditSeals of AuditSeal on audit_events
    where (organization: Id as organization_id, event: Id as id)
    set (sequence: Option<i64>, hash: Option<Vec<u8>>)
}

/// Records between two checkpoints that stay: of those in between only the newest does.
const BLOCK: i64 = 1_000;

/// Rows of a query of audit events, each by `$read`. Where one can't be read, each is read by itself, and that one is given
/// by `$unreadable`: one row must not hide the rest of the trail.
macro_rules! each_event {
    ($conn:expr, $trail:expr, $query:expr, $read:expr, $unreadable:expr) => {{
        let whole: Result<Vec<AuditRow>, diesel::result::Error> =
            $query.select(AuditRow::as_select()).load($conn).await;
        match whole {
            Ok(rows) => rows.into_iter().map($read).collect::<Vec<_>>(),
            Err(diesel::result::Error::DeserializationError(_)) => {
                // The id as the bytes that it is: in SQLite's column any may stand.
                let id = diesel::dsl::sql::<diesel::sql_types::Binary>("audit_events.id");
                let keys: Vec<(Vec<u8>, Option<i64>, Option<Vec<u8>>)> =
                    $query.select((id, audit_events::sequence, audit_events::hash)).load($conn).await?;
                let mut rows = Vec::with_capacity(keys.len());
                for (id, sequence, hash) in keys {
                    let Ok(id) = uuid::Uuid::from_slice(&id).map(Id) else {
                        let key = $crate::chain::Key { id: Id(uuid::Uuid::nil()), sequence, hash };
                        rows.push($unreadable(key, "its id is none".to_owned()));
                        continue;
                    };
                    let one: Result<AuditRow, diesel::result::Error> = audit_events::table
                        .find(($trail, id))
                        .select(AuditRow::as_select())
                        .first($conn)
                        .await;
                    match one {
                        Ok(row) => rows.push($read(row)),
                        Err(diesel::result::Error::DeserializationError(why)) => {
                            let key = $crate::chain::Key { id, sequence, hash };
                            rows.push($unreadable(key, why.to_string()));
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
    pub(crate) id: Id,
    pub(crate) sequence: Option<i64>,
    pub(crate) hash: Option<Vec<u8>>,
}

/// The row of a trail.
pub(crate) fn chain_row(row: AuditRow) -> ChainRow {
    let AuditRow {
        organization_id,
        id,
        at,
        actor_kind,
        actor_id,
        actor_display,
        actor_credential,
        action,
        resource_type,
        resource_id,
        target_type,
        target_id,
        outcome,
        request_id,
        client_ip,
        details,
        sequence,
        hash,
    } = row;
    let record = AuditRecord {
        tenant: organization_id.into(),
        id: id.into(),
        at: at.into(),
        actor_kind: actor_kind.into_owned(),
        actor_id,
        actor_display,
        actor_credential,
        action,
        resource_type,
        resource_id,
        target_type,
        target_id,
        outcome: outcome.into_owned(),
        request_id,
        client_ip,
        details: details.into(),
    };
    ChainRow { id: id.into(), sequence, hash, content: Content::Readable(Box::new(record)) }
}

/// A row that can't be read.
pub(crate) fn unreadable(key: Key, why: String) -> ChainRow {
    tracing::warn!(event = %key.id.0, why, "an audit event can't be read");
    let Key { id, sequence, hash } = key;
    ChainRow { id: id.into(), sequence, hash, content: Content::Unreadable(why) }
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

/// A link as its columns are written.
#[derive(Clone)]
struct Place {
    event: Id,
    sequence: Option<i64>,
    hash: Option<Vec<u8>>,
}

impl From<&ChainLink> for Place {
    fn from(link: &ChainLink) -> Self {
        let ChainLink { event, sequence, hash } = *link;
        Self { event: event.into(), sequence: Some(sequence), hash: Some(hash.bytes().to_vec()) }
    }
}

impl Place {
    const fn seal(&self) -> AuditSeal<'_> {
        AuditSeal { sequence: &self.sequence, hash: &self.hash }
    }
}

/// Writes places; gives the number of events that were met. On PostgreSQL whoever seals the trail holds its lock, on
/// SQLite everybody's: there it is one way to the database's thread and back.
async fn put<C: AsConn>(conn: &mut C, trail: Id, places: &[Place]) -> Result<usize, Error> {
    match conn.as_conn() {
        Conn::Sqlite(conn) => {
            let places = places.to_vec();
            let all = move |conn: &mut SqliteConnection| -> QueryResult<usize> {
                let mut met = 0;
                for place in &places {
                    let open = audit_events::table
                        .filter(audit_events::organization_id.eq(trail))
                        .filter(audit_events::id.eq(place.event))
                        .filter(audit_events::sequence.is_null());
                    met += diesel::RunQueryDsl::execute(stable(open, place.seal().set()), conn)?;
                }
                Ok(met)
            };
            Ok(conn.spawn_blocking(all).await?)
        }
        Conn::Postgres(conn) => {
            let mut seals = AuditSeals::default();
            for place in places {
                seals.push(&trail, &place.event, place.seal());
            }
            let wanted = seals.len();
            let met = seals.execute(conn).await?;
            Ok(met.min(wanted))
        }
    }
}

impl IdentityStore {
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
            let mut query = audit_events::table.filter(audit_events::sequence.is_null()).into_boxed();
            if let Some(after) = after {
                query = query.filter(audit_events::organization_id.gt(Id::from(after)));
            }
            Ok(query
                .order((audit_events::organization_id.asc(), audit_events::id.asc()))
                .select(audit_events::organization_id)
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
                audit_events::table
                    .filter(audit_events::organization_id.eq(trail))
                    .filter(audit_events::sequence.is_null())
                    .filter(audit_events::id.gt(after))
                    .order(audit_events::id.asc())
                    .limit(bound(most)),
                chain_row,
                unreadable
            ))
        })?;
        // One without an id can't be told from another, and gets no place; it must not keep the others from theirs.
        rows.retain(|row| !row.id.0.is_nil());
        Ok(rows)
    }

    async fn unsealed_count(&self, trail: TenantId) -> Result<u64, StoreError> {
        let trail = Id::from(trail);
        let count: i64 = read!(&self.db, |conn| {
            Ok(audit_events::table
                .filter(audit_events::organization_id.eq(trail))
                .filter(audit_events::sequence.is_null())
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
        let places: Vec<Place> = links.iter().map(Place::from).collect();
        let row = checkpoint_row(checkpoint);
        let block = |sequence: i64| sequence.div_euclid(BLOCK);
        let outdated = expected.filter(|before| block(*before) == block(row.sequence));
        let done = write_tx!(&self.db, |conn| {
            lock::serialise(conn, &name).await?;
            if newest_sequence!(conn, tenant, CheckpointKind::Head) != expected {
                return Ok(false);
            }
            if put(conn, tenant, &places).await? != places.len() {
                return Err(Error::Store(StoreError::Stale));
            }
            if let Some(before) = outdated {
                let key = (tenant, CheckpointKind::Head.as_str(), before);
                diesel::delete(audit_checkpoints::table.find(key)).execute(conn).await?;
            }
            diesel::insert_into(audit_checkpoints::table).values(&row).execute(conn).await?;
            Ok(true)
        });
        // The trail went on in the meantime.
        if done == Err(StoreError::Stale) { Ok(false) } else { done }
    }

    async fn sealed(&self, trail: TenantId, after: i64, most: usize) -> Result<Vec<ChainRow>, StoreError> {
        let trail = Id::from(trail);
        read!(&self.db, |conn| {
            Ok(each_event!(
                conn,
                trail,
                audit_events::table
                    .filter(audit_events::organization_id.eq(trail))
                    .filter(audit_events::sequence.gt(after))
                    .order(audit_events::sequence.asc())
                    .limit(bound(most)),
                chain_row,
                unreadable
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
