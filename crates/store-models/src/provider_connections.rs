//! Connections and their sealed keys.

use diesel::{
    BoolExpressionMethods, EscapeExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl,
    SelectableHelper, TextExpressionMethods,
};
use diesel_async::RunQueryDsl;
use heddle_kernel::{ModelConnectionId, ModelDeploymentId, Page, PageRequest, Revision, TenantId};
use heddle_models::ports::{ConnectionFilter, ConnectionWrite, Deleted, SealedKey};
use heddle_models::records::{ModelConnection, StoredModelConnection, TestResult, Use};
use heddle_policy::{AccessFilter, resource};
use heddle_store::tenant as contents;
use heddle_store::tombstone::{self, Tombstone};
use heddle_store::{
    AsConn, At, Db, Error, Id, StoreError, document, journal, lock, on_conn, page, read, revision, search,
    within, write_tx,
};
use heddle_usecase::Journal;
use heddle_usecase::secret::SealedSecret;

use crate::schema::{
    ConnectionChange, ConnectionRow, KeyChange, KeyRow, model_connections, model_deployments, model_keys,
};
use crate::version::{self, changing};
use crate::words::KindWord;
use crate::{deleted_at, lock_name, tomb};

/// Most uses that a refused deletion tells.
const TOLD: i64 = 20;
/// Readings of a connection with its key, until both are of one revision.
const READINGS: usize = 5;

/// Key of a connection.
type Key = (TenantId, ModelConnectionId);

fn key((tenant, id): Key) -> (Id, Id) {
    (tenant.into(), id.into())
}

pub(crate) async fn list(
    db: &Db,
    tenant: TenantId,
    filter: &ConnectionFilter,
    access: &AccessFilter<resource::ModelConnection>,
    page: &PageRequest,
) -> Result<Page<ModelConnection>, StoreError> {
    let last: Option<String> = page::position(page)?;
    if access.is_empty() {
        return Ok(page::empty());
    }
    let items = read!(db, |conn| {
        let mut query = model_connections::table
            .filter(model_connections::organization_id.eq(Id::from(tenant)))
            .into_boxed();
        if let Some(q) = &filter.q {
            query = query.filter(model_connections::search.like(search::anywhere(q)).escape('\\'));
        }
        if let Some(kind) = filter.kind {
            query = query.filter(model_connections::kind.eq(KindWord(kind)));
        }
        if let Some(enabled) = filter.enabled {
            query = query.filter(model_connections::enabled.eq(enabled));
        }
        if let Some(name) = &last {
            query = query.filter(model_connections::name.gt(name));
        }
        let rows: Vec<ConnectionRow> = within!(query, access, model_connections::id)
            .order(model_connections::name)
            .limit(page::surplus(page))
            .select(ConnectionRow::as_select())
            .load(conn)
            .await?;
        rows.into_iter().map(ModelConnection::try_from).collect::<Result<Vec<_>, _>>()
    })?;
    Ok(Page::from_surplus(items, page.limit, |connection: &ModelConnection| connection.name.clone()))
}

pub(crate) async fn get(
    db: &Db,
    tenant: TenantId,
    id: ModelConnectionId,
) -> Result<ModelConnection, StoreError> {
    let of = key((tenant, id));
    read!(db, |conn| {
        let row: ConnectionRow =
            model_connections::table.find(of).select(ConnectionRow::as_select()).first(conn).await?;
        row.try_into()
    })
}

pub(crate) async fn local(db: &Db, tenant: TenantId) -> Result<Vec<ModelConnection>, StoreError> {
    read!(db, |conn| {
        let rows: Vec<ConnectionRow> = model_connections::table
            .filter(model_connections::organization_id.eq(Id::from(tenant)))
            .filter(model_connections::is_local.eq(true))
            .order(model_connections::name)
            .select(ConnectionRow::as_select())
            .load(conn)
            .await?;
        rows.into_iter().map(ModelConnection::try_from).collect::<Result<Vec<_>, _>>()
    })
}

pub(crate) async fn stored(
    db: &Db,
    tenant: TenantId,
    id: ModelConnectionId,
) -> Result<StoredModelConnection, StoreError> {
    for _ in 0..READINGS {
        if let Some(stored) = read_whole(db, (tenant, id)).await? {
            return Ok(stored);
        }
    }
    Err(StoreError::Stale)
}

/// A connection with its key, unless it was changed between two of the statements.
async fn read_whole(db: &Db, of: Key) -> Result<Option<StoredModelConnection>, StoreError> {
    let of = key(of);
    read!(db, |conn| {
        let row: ConnectionRow =
            model_connections::table.find(of).select(ConnectionRow::as_select()).first(conn).await?;
        let sealed: Option<KeyRow> =
            model_keys::table.find(of).select(KeyRow::as_select()).first(conn).await.optional()?;
        let now: i64 =
            model_connections::table.find(of).select(model_connections::revision).first(conn).await?;
        if now != row.revision {
            return Ok(None);
        }
        let sealed = sealed.map(|row| SealedKey::from(row).sealed);
        Ok(Some(StoredModelConnection { connection: row.try_into()?, sealed }))
    })
}

/// Writes a key, or takes it away.
async fn write_key<C: AsConn>(
    conn: &mut C,
    of: Key,
    sealed: Option<&Option<SealedSecret>>,
) -> Result<(), Error> {
    let of = key(of);
    match sealed {
        None => {}
        Some(Some(sealed)) => {
            let row = KeyRow {
                organization_id: of.0,
                connection_id: of.1,
                key_id: sealed.key.clone(),
                sealed: sealed.text.clone(),
            };
            on_conn!(conn, |conn| {
                diesel::insert_into(model_keys::table)
                    .values(&row)
                    .on_conflict((model_keys::organization_id, model_keys::connection_id))
                    .do_update()
                    .set(KeyChange::from(&row).set())
                    .execute(conn)
                    .await?;
            });
        }
        Some(None) => {
            let row = model_keys::table.find(of);
            on_conn!(conn, |conn| {
                diesel::delete(row).execute(conn).await?;
            });
        }
    }
    Ok(())
}

pub(crate) async fn insert(
    db: &Db,
    write: ConnectionWrite<'_>,
    most: u64,
    journal: &Journal,
) -> Result<(), StoreError> {
    let ConnectionWrite { connection, sealed } = write;
    let tenant = connection.tenant;
    changing!(db, tenant, |conn| {
        contents::keep_open(conn, tenant).await?;
        lock::serialise(conn, &lock_name(tenant)).await?;
        let there: i64 = model_connections::table
            .filter(model_connections::organization_id.eq(Id::from(tenant)))
            .count()
            .get_result(conn)
            .await?;
        let used = there.unsigned_abs();
        if used >= most {
            return Err(StoreError::QuotaExceeded { limit: "modelConnections", most, used }.into());
        }
        let row = ConnectionRow::try_from(connection)?;
        diesel::insert_into(model_connections::table).values(&row).execute(conn).await?;
        write_key(conn, (tenant, connection.id), sealed).await?;
        version::raise(conn, tenant, 0).await?;
        journal::write(conn, journal).await
    })
}

pub(crate) async fn update(
    db: &Db,
    write: ConnectionWrite<'_>,
    expected: Revision,
    journal: &Journal,
) -> Result<(), StoreError> {
    let ConnectionWrite { connection, sealed } = write;
    let (tenant, of) = (connection.tenant, key((connection.tenant, connection.id)));
    changing!(db, tenant, |conn| {
        let row = ConnectionRow::try_from(connection)?;
        let present = model_connections::table.find(of).filter(model_connections::revision.eq(expected.0));
        let met = diesel::update(present).set(ConnectionChange::from(&row).set()).execute(conn).await?;
        if met == 0 {
            let there: i64 = model_connections::table.find(of).count().get_result(conn).await?;
            return Err(revision::unmet(there > 0).into());
        }
        write_key(conn, (tenant, connection.id), sealed).await?;
        version::raise(conn, tenant, 0).await?;
        journal::write(conn, journal).await
    })
}

pub(crate) async fn delete(
    db: &Db,
    id: Key,
    expected: Option<Revision>,
    cascade: &[ModelDeploymentId],
    journal: &Journal,
) -> Result<Deleted, StoreError> {
    let (tenant, of) = (id.0, key(id));
    let grave = Tombstone::of(tenant, tomb::CONNECTION, id.1);
    let with: Vec<Id> = cascade.iter().map(|id| Id::from(*id)).collect();
    changing!(db, tenant, |conn| {
        lock::serialise(conn, &lock_name(tenant)).await?;
        let present: Option<i64> = model_connections::table
            .find(of)
            .select(model_connections::revision)
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
        let users: Vec<(Id, String)> = model_deployments::table
            .filter(
                model_deployments::organization_id.eq(of.0).and(model_deployments::connection_id.eq(of.1)),
            )
            .filter(model_deployments::id.ne_all(with.clone()))
            .order(model_deployments::alias)
            .limit(TOLD)
            .select((model_deployments::id, model_deployments::alias))
            .load(conn)
            .await?;
        if !users.is_empty() {
            let uses =
                users.into_iter().map(|(id, name)| Use { kind: "deployment", id: id.0.to_string(), name });
            return Ok(Deleted::InUse(uses.collect()));
        }
        if let Some(uses) = crate::deployments::delete_all(conn, tenant, &with, deleted_at(journal)).await? {
            return Ok(Deleted::InUse(uses));
        }
        // The sealed key and the catalogue go with the row.
        let row = model_connections::table.find(of).filter(model_connections::revision.eq(revision));
        revision::met(diesel::delete(row).execute(conn).await?)?;
        tombstone::write(conn, grave, deleted_at(journal)).await?;
        version::raise(conn, tenant, 0).await?;
        journal::write(conn, journal).await?;
        Ok(Deleted::Now)
    })
}

pub(crate) async fn tested(
    db: &Db,
    id: Key,
    result: &TestResult,
    journal: &Journal,
) -> Result<(), StoreError> {
    let of = key(id);
    let at = At(result.tested_at);
    write_tx!(db, |conn| {
        let told = Some(document::encode(result)?);
        let older = model_connections::tested_at.is_null().or(model_connections::tested_at.le(at));
        let met = diesel::update(model_connections::table.find(of).filter(older))
            .set((model_connections::last_test.eq(told), model_connections::tested_at.eq(Some(at))))
            .execute(conn)
            .await?;
        if met == 0 {
            let there: i64 = model_connections::table.find(of).count().get_result(conn).await?;
            revision::found(usize::from(there > 0))?;
        }
        journal::write(conn, journal).await
    })
}
