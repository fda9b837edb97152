//! Connections and their sealed secrets.

use std::collections::BTreeMap;

use async_trait::async_trait;
use diesel::{
    BoolExpressionMethods, EscapeExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl,
    SelectableHelper, TextExpressionMethods,
};
use diesel_async::RunQueryDsl;
use heddle_connections::ports::{
    ConnectionFilter, ConnectionStore, ConnectionWrite, Deleted, SealedRow, Use,
};
use heddle_connections::records::{Connection, StoredConnection, Subscription, TestResult};
use heddle_connections::secret::SealedSecret;
use heddle_kernel::{ConnectionId, Page, PageRequest, Revision, TenantId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::tombstone::{self, Tombstone};
use heddle_store::{
    AsConn, At, Db, Error, Id, StoreError, document, journal, lock, on_conn, page, read, revision, search,
    within, write_tx,
};
use heddle_usecase::Journal;

use crate::schema::{
    ConnectionChange, ConnectionRow, SecretChange, SecretRow, WebhookRow, connection_secrets, connections,
    webhooks,
};
use crate::words::KindWord;
use crate::{deleted_at, known, lock_name, tomb};

/// Most uses that a refused deletion tells.
const TOLD: i64 = 20;
/// Readings of a connection with its secrets, until both are of one revision.
const READINGS: usize = 5;

/// Keeps connections, and what a rotation of keys needs.
#[derive(Clone)]
pub struct SqlConnectionStore {
    pub(crate) db: Db,
}

impl std::fmt::Debug for SqlConnectionStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlConnectionStore").finish_non_exhaustive()
    }
}

impl SqlConnectionStore {
    /// Store on a database whose migrations have run.
    #[must_use]
    pub const fn new(db: Db) -> Self {
        Self { db }
    }

    /// A connection with its secrets, unless it was changed between two of the statements.
    async fn read_whole(&self, key: Key) -> Result<Option<StoredConnection>, StoreError> {
        read!(&self.db, |conn| {
            let row: ConnectionRow = connections::table
                .find((key.tenant, key.id))
                .select(ConnectionRow::as_select())
                .first(conn)
                .await?;
            let secrets: Vec<SecretRow> = connection_secrets::table
                .filter(connection_secrets::organization_id.eq(key.tenant))
                .filter(connection_secrets::connection_id.eq(key.id))
                .order(connection_secrets::field)
                .select(SecretRow::as_select())
                .load(conn)
                .await?;
            let now: i64 = connections::table
                .find((key.tenant, key.id))
                .select(connections::revision)
                .first(conn)
                .await?;
            if now != row.revision {
                return Ok(None);
            }
            let sealed = secrets.into_iter().map(|row| {
                let SealedRow { place, sealed } = row.into();
                (place.field, sealed)
            });
            let sealed = sealed.collect();
            Ok(Some(StoredConnection { connection: row.try_into()?, sealed }))
        })
    }
}

/// Key of a connection's row.
#[derive(Debug, Clone, Copy)]
struct Key {
    tenant: Id,
    id: Id,
}

impl Key {
    fn of(tenant: TenantId, id: ConnectionId) -> Self {
        Self { tenant: tenant.into(), id: id.into() }
    }
}

/// Writes and takes away secrets.
async fn write_secrets<C: AsConn>(
    conn: &mut C,
    of: Key,
    sealed: &BTreeMap<String, Option<SealedSecret>>,
) -> Result<(), Error> {
    for (field, sealed) in sealed {
        match sealed {
            Some(sealed) => {
                known::still_known(conn, &sealed.key).await?;
                let row = SecretRow {
                    organization_id: of.tenant,
                    connection_id: of.id,
                    field: field.clone(),
                    key_id: sealed.key.clone(),
                    sealed: sealed.text.clone(),
                };
                on_conn!(conn, |conn| {
                    diesel::insert_into(connection_secrets::table)
                        .values(&row)
                        .on_conflict((
                            connection_secrets::organization_id,
                            connection_secrets::connection_id,
                            connection_secrets::field,
                        ))
                        .do_update()
                        .set(SecretChange::from(&row).set())
                        .execute(conn)
                        .await?;
                });
            }
            None => {
                let row = connection_secrets::table.find((of.tenant, of.id, field.as_str()));
                on_conn!(conn, |conn| {
                    diesel::delete(row).execute(conn).await?;
                });
            }
        }
    }
    Ok(())
}

#[async_trait]
impl ConnectionStore for SqlConnectionStore {
    async fn list(
        &self,
        tenant: TenantId,
        filter: &ConnectionFilter,
        access: &AccessFilter<resource::Connection>,
        page: &PageRequest,
    ) -> Result<Page<Connection>, StoreError> {
        let last: Option<String> = page::position(page)?;
        if access.is_empty() {
            return Ok(page::empty());
        }
        let items = read!(&self.db, |conn| {
            let mut query =
                connections::table.filter(connections::organization_id.eq(Id::from(tenant))).into_boxed();
            if let Some(q) = &filter.q {
                query = query.filter(connections::search.like(search::anywhere(q)).escape('\\'));
            }
            if let Some(kind) = filter.kind {
                query = query.filter(connections::kind.eq(KindWord(kind)));
            }
            if let Some(name) = &last {
                query = query.filter(connections::name.gt(name));
            }
            let rows: Vec<ConnectionRow> = within!(query, access, connections::id)
                .order(connections::name)
                .limit(page::surplus(page))
                .select(ConnectionRow::as_select())
                .load(conn)
                .await?;
            rows.into_iter().map(Connection::try_from).collect::<Result<Vec<_>, _>>()
        })?;
        Ok(Page::from_surplus(items, page.limit, |connection: &Connection| connection.name.clone()))
    }

    async fn get(&self, tenant: TenantId, id: ConnectionId) -> Result<Connection, StoreError> {
        let key = Key::of(tenant, id);
        read!(&self.db, |conn| {
            let row: ConnectionRow = connections::table
                .find((key.tenant, key.id))
                .select(ConnectionRow::as_select())
                .first(conn)
                .await?;
            row.try_into()
        })
    }

    async fn stored(&self, tenant: TenantId, id: ConnectionId) -> Result<StoredConnection, StoreError> {
        for _ in 0..READINGS {
            if let Some(stored) = self.read_whole(Key::of(tenant, id)).await? {
                return Ok(stored);
            }
        }
        Err(StoreError::Stale)
    }

    async fn insert<'a>(
        &self,
        write: ConnectionWrite<'a>,
        most: u64,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        let ConnectionWrite { connection, sealed } = write;
        let key = Key::of(connection.tenant, connection.id);
        write_tx!(&self.db, |conn| {
            lock::serialise(conn, &lock_name(connection.tenant)).await?;
            let there: i64 = connections::table
                .filter(connections::organization_id.eq(key.tenant))
                .count()
                .get_result(conn)
                .await?;
            if there.unsigned_abs() >= most {
                let used = there.unsigned_abs();
                return Err(StoreError::QuotaExceeded { limit: "connections", most, used }.into());
            }
            let row = ConnectionRow::try_from(connection)?;
            diesel::insert_into(connections::table).values(&row).execute(conn).await?;
            write_secrets(conn, key, sealed).await?;
            journal::write(conn, journal).await
        })
    }

    async fn update<'a>(
        &self,
        write: ConnectionWrite<'a>,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        let ConnectionWrite { connection, sealed } = write;
        let key = Key::of(connection.tenant, connection.id);
        write_tx!(&self.db, |conn| {
            let row = ConnectionRow::try_from(connection)?;
            let present =
                connections::table.find((key.tenant, key.id)).filter(connections::revision.eq(expected.0));
            let met = diesel::update(present).set(ConnectionChange::from(&row).set()).execute(conn).await?;
            if met == 0 {
                let there: i64 =
                    connections::table.find((key.tenant, key.id)).count().get_result(conn).await?;
                return Err(revision::unmet(there > 0).into());
            }
            write_secrets(conn, key, sealed).await?;
            journal::write(conn, journal).await
        })
    }

    async fn delete(
        &self,
        tenant: TenantId,
        id: ConnectionId,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<Deleted, StoreError> {
        let grave = Tombstone::of(tenant, tomb::CONNECTION, id);
        let key = Key::of(tenant, id);
        write_tx!(&self.db, |conn| {
            lock::serialise(conn, &lock_name(tenant)).await?;
            let present: Option<i64> = connections::table
                .find((key.tenant, key.id))
                .select(connections::revision)
                .first(conn)
                .await
                .optional()?;
            let Some(revision) = present else {
                return if tombstone::exists(conn, grave).await? {
                    Ok(Deleted::Before)
                } else {
                    Err(StoreError::NotFound.into())
                };
            };
            if let Some(expected) = expected {
                revision::check(revision, expected)?;
            }
            let users: Vec<(Id, String)> = webhooks::table
                .filter(webhooks::organization_id.eq(key.tenant).and(webhooks::connection_id.eq(key.id)))
                .order(webhooks::name)
                .limit(TOLD)
                .select((webhooks::id, webhooks::name))
                .load(conn)
                .await?;
            if !users.is_empty() {
                let uses =
                    users.into_iter().map(|(id, name)| Use { kind: "webhook", id: id.0.to_string(), name });
                return Ok(Deleted::InUse(uses.collect()));
            }
            // The sealed secrets go with the row.
            let row =
                connections::table.find((key.tenant, key.id)).filter(connections::revision.eq(revision));
            revision::met(diesel::delete(row).execute(conn).await?)?;
            tombstone::write(conn, grave, deleted_at(journal)).await?;
            journal::write(conn, journal).await?;
            Ok(Deleted::Now)
        })
    }

    async fn subscriptions_over(
        &self,
        tenant: TenantId,
        id: ConnectionId,
    ) -> Result<Vec<Subscription>, StoreError> {
        let key = Key::of(tenant, id);
        read!(&self.db, |conn| {
            let rows: Vec<WebhookRow> = webhooks::table
                .filter(webhooks::organization_id.eq(key.tenant).and(webhooks::connection_id.eq(key.id)))
                .select(WebhookRow::as_select())
                .load(conn)
                .await?;
            let mut all = Vec::with_capacity(rows.len());
            for row in rows {
                all.push(Subscription::from(&row.into_webhook(None)?));
            }
            Ok(all)
        })
    }

    async fn tested(
        &self,
        tenant: TenantId,
        id: ConnectionId,
        result: &TestResult,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        let key = Key::of(tenant, id);
        let at = At(result.tested_at);
        write_tx!(&self.db, |conn| {
            let told = Some(document::encode(result)?);
            let older = connections::tested_at.is_null().or(connections::tested_at.le(at));
            let row = connections::table.find((key.tenant, key.id)).filter(older);
            let met = diesel::update(row)
                .set((connections::last_test.eq(told), connections::tested_at.eq(Some(at))))
                .execute(conn)
                .await?;
            if met == 0 {
                let there: i64 =
                    connections::table.find((key.tenant, key.id)).count().get_result(conn).await?;
                revision::found(usize::from(there > 0))?;
            }
            journal::write(conn, journal).await
        })
    }
}
