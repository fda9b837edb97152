//! Deployments and their fallbacks.

use std::collections::BTreeMap;

use diesel::dsl::exists;
use diesel::{
    BoolExpressionMethods, EscapeExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl,
    SelectableHelper, TextExpressionMethods,
};
use diesel_async::RunQueryDsl;
use heddle_kernel::{ModelConnectionId, ModelDeploymentId, Page, PageRequest, Revision, TenantId, Timestamp};
use heddle_models::ports::{Deleted, DeploymentChange, DeploymentFilter, LICENSED, Most, SeenState};
use heddle_models::records::{Capability, Deployment, Use};
use heddle_models::types::ProviderKind;
use heddle_policy::{AccessFilter, Resource};
use heddle_store::filter::Names;
use heddle_store::tombstone::{self, Tombstone};
use heddle_store::{
    AsConn, Db, Error, Id, StoreError, document, journal, lock, on_conn, page, read, revision, search,
    within, write_tx,
};
use heddle_usecase::Journal;

use crate::rows::{capability_pattern, fallbacks_of};
use crate::schema::{
    DeploymentRow, DeploymentUpdate, FallbackRow, model_connections, model_deployments, model_fallbacks,
};
use crate::version::{self, changing};
use crate::words::{KindWord, StateWord};
use crate::{deleted_at, lock_name, tomb};

/// Most uses that a refused deletion tells.
const TOLD: i64 = 20;
/// Name of the lock of what all organisations have together.
const IN_ALL: &str = "deployments of the installation";

/// Deployments of rows, with their fallbacks.
fn whole(rows: Vec<DeploymentRow>, fallbacks: Vec<FallbackRow>) -> Result<Vec<Deployment>, Error> {
    let mut of: BTreeMap<Id, Vec<ModelDeploymentId>> = BTreeMap::new();
    for row in fallbacks {
        of.entry(row.deployment_id).or_default().push(row.fallback_id.into());
    }
    let deployment = |row: DeploymentRow| {
        let fallbacks = of.remove(&row.id).unwrap_or_default();
        row.into_deployment(fallbacks)
    };
    rows.into_iter().map(deployment).collect()
}

/// Rows of a query behind a key, in the order of the keys of all organisations.
macro_rules! behind {
    ($query:ident, $after:expr, $limit:expr) => {{
        if let Some((tenant, id)) = $after {
            let (tenant, id) = (Id::from(tenant), Id::from(id));
            // The bound by itself says the same once more: behind an `OR` alone SQLite reads all from the beginning.
            $query = $query.filter(model_deployments::organization_id.ge(tenant)).filter(
                model_deployments::organization_id
                    .gt(tenant)
                    .or(model_deployments::organization_id.eq(tenant).and(model_deployments::id.gt(id))),
            );
        }
        $query
            .order((model_deployments::organization_id, model_deployments::id))
            .limit(i64::from($limit))
            .select(DeploymentRow::as_select())
    }};
}

/// Fallbacks of rows, in their order. Ids are unique over all organisations; the organisation leads the key.
macro_rules! fallbacks {
    ($conn:expr, $rows:expr) => {{
        let tenants: Vec<Id> = $rows.iter().map(|row: &DeploymentRow| row.organization_id).collect();
        let ids: Vec<Id> = $rows.iter().map(|row: &DeploymentRow| row.id).collect();
        let found: Vec<FallbackRow> = model_fallbacks::table
            .filter(model_fallbacks::organization_id.eq_any(tenants))
            .filter(model_fallbacks::deployment_id.eq_any(ids))
            .order((
                model_fallbacks::organization_id,
                model_fallbacks::deployment_id,
                model_fallbacks::position,
            ))
            .select(FallbackRow::as_select())
            .load($conn)
            .await?;
        found
    }};
}

pub(crate) async fn list<R>(
    db: &Db,
    tenant: TenantId,
    filter: &DeploymentFilter,
    access: &AccessFilter<R>,
    page: &PageRequest,
) -> Result<Page<Deployment>, StoreError>
where
    R: Resource<Id: Into<Id>>,
    model_deployments::id: Names<R>,
{
    let last: Option<String> = page::position(page)?;
    if access.is_empty() {
        return Ok(page::empty());
    }
    let items = read!(db, |conn| {
        let mut query = model_deployments::table
            .filter(model_deployments::organization_id.eq(Id::from(tenant)))
            .into_boxed();
        if let Some(q) = &filter.q {
            query = query.filter(model_deployments::search.like(search::anywhere(q)).escape('\\'));
        }
        if let Some(connection) = filter.connection {
            query = query.filter(model_deployments::connection_id.eq(Id::from(connection)));
        }
        if let Some(capability) = filter.capability {
            query = query.filter(model_deployments::capabilities.like(capability_pattern(capability)));
        }
        if let Some(state) = filter.state {
            query = query.filter(model_deployments::state.eq(StateWord(state)));
        }
        if filter.callable {
            let enabled = model_connections::table
                .filter(model_connections::organization_id.eq(Id::from(tenant)))
                .filter(model_connections::enabled.eq(true))
                .select(model_connections::id);
            query = query
                .filter(model_deployments::enabled.eq(true))
                .filter(model_deployments::connection_id.eq_any(enabled));
        }
        if let Some(alias) = &last {
            query = query.filter(model_deployments::alias.gt(alias));
        }
        let rows: Vec<DeploymentRow> = within!(query, access, model_deployments::id)
            .order(model_deployments::alias)
            .limit(page::surplus(page))
            .select(DeploymentRow::as_select())
            .load(conn)
            .await?;
        let fallbacks = fallbacks!(conn, rows);
        whole(rows, fallbacks)
    })?;
    Ok(Page::from_surplus(items, page.limit, |deployment: &Deployment| deployment.alias.clone()))
}

/// The one deployment that was found.
fn one(mut found: Vec<Deployment>) -> Result<Deployment, Error> {
    found.pop().ok_or_else(|| StoreError::NotFound.into())
}

pub(crate) async fn get(db: &Db, tenant: TenantId, id: ModelDeploymentId) -> Result<Deployment, StoreError> {
    let key = (Id::from(tenant), Id::from(id));
    read!(db, |conn| {
        let rows: Vec<DeploymentRow> =
            model_deployments::table.find(key).select(DeploymentRow::as_select()).load(conn).await?;
        let fallbacks = fallbacks!(conn, rows);
        one(whole(rows, fallbacks)?)
    })
}

pub(crate) async fn by_alias(db: &Db, tenant: TenantId, alias: &str) -> Result<Deployment, StoreError> {
    read!(db, |conn| {
        let rows: Vec<DeploymentRow> = model_deployments::table
            .filter(model_deployments::organization_id.eq(Id::from(tenant)))
            .filter(model_deployments::alias.eq(alias))
            .select(DeploymentRow::as_select())
            .load(conn)
            .await?;
        let fallbacks = fallbacks!(conn, rows);
        one(whole(rows, fallbacks)?)
    })
}

pub(crate) async fn of_connection(
    db: &Db,
    tenant: TenantId,
    connection: ModelConnectionId,
) -> Result<Vec<Deployment>, StoreError> {
    read!(db, |conn| {
        let rows: Vec<DeploymentRow> = model_deployments::table
            .filter(model_deployments::organization_id.eq(Id::from(tenant)))
            .filter(model_deployments::connection_id.eq(Id::from(connection)))
            .order(model_deployments::alias)
            .select(DeploymentRow::as_select())
            .load(conn)
            .await?;
        let fallbacks = fallbacks!(conn, rows);
        whole(rows, fallbacks)
    })
}

pub(crate) async fn embedding(db: &Db, tenant: TenantId) -> Result<Vec<Deployment>, StoreError> {
    read!(db, |conn| {
        let enabled = model_connections::table
            .filter(model_connections::organization_id.eq(Id::from(tenant)))
            .filter(model_connections::enabled.eq(true))
            .select(model_connections::id);
        let rows: Vec<DeploymentRow> = model_deployments::table
            .filter(model_deployments::organization_id.eq(Id::from(tenant)))
            .filter(model_deployments::enabled.eq(true))
            .filter(model_deployments::capabilities.like(capability_pattern(Capability::Embeddings)))
            .filter(model_deployments::connection_id.eq_any(enabled))
            .order(model_deployments::alias)
            .select(DeploymentRow::as_select())
            .load(conn)
            .await?;
        let fallbacks = fallbacks!(conn, rows);
        whole(rows, fallbacks)
    })
}

pub(crate) async fn by_id(
    db: &Db,
    tenant: TenantId,
    ids: &[ModelDeploymentId],
) -> Result<Vec<Deployment>, StoreError> {
    let ids: Vec<Id> = ids.iter().map(|id| Id::from(*id)).collect();
    read!(db, |conn| {
        let rows: Vec<DeploymentRow> = model_deployments::table
            .filter(model_deployments::organization_id.eq(Id::from(tenant)))
            .filter(model_deployments::id.eq_any(ids.clone()))
            .select(DeploymentRow::as_select())
            .load(conn)
            .await?;
        let fallbacks = fallbacks!(conn, rows);
        whole(rows, fallbacks)
    })
}

pub(crate) async fn resident(
    db: &Db,
    after: Option<(TenantId, ModelDeploymentId)>,
    limit: u32,
) -> Result<Vec<Deployment>, StoreError> {
    read!(db, |conn| {
        let mut query = model_deployments::table.filter(model_deployments::looked_after).into_boxed();
        let rows: Vec<DeploymentRow> = behind!(query, after, limit).load(conn).await?;
        let fallbacks = fallbacks!(conn, rows);
        whole(rows, fallbacks)
    })
}

pub(crate) async fn inside(
    db: &Db,
    after: Option<(TenantId, ModelDeploymentId)>,
    limit: u32,
) -> Result<Vec<Deployment>, StoreError> {
    read!(db, |conn| {
        let over = model_connections::table
            .filter(model_connections::organization_id.eq(model_deployments::organization_id))
            .filter(model_connections::id.eq(model_deployments::connection_id))
            .filter(model_connections::kind.eq(KindWord(ProviderKind::Local)));
        let mut query = model_deployments::table.filter(exists(over)).into_boxed();
        let rows: Vec<DeploymentRow> = behind!(query, after, limit).load(conn).await?;
        let fallbacks = fallbacks!(conn, rows);
        whole(rows, fallbacks)
    })
}

pub(crate) async fn is_fallback(
    db: &Db,
    tenant: TenantId,
    id: ModelDeploymentId,
) -> Result<bool, StoreError> {
    read!(db, |conn| {
        let found: Vec<Id> = model_fallbacks::table
            .filter(model_fallbacks::organization_id.eq(Id::from(tenant)))
            .filter(model_fallbacks::fallback_id.eq(Id::from(id)))
            .limit(1)
            .select(model_fallbacks::deployment_id)
            .load(conn)
            .await?;
        Ok(!found.is_empty())
    })
}

/// Writes the fallbacks of a deployment in the place of those that there are; all must be there.
async fn write_fallbacks<C: AsConn>(conn: &mut C, deployment: &Deployment) -> Result<(), Error> {
    let (tenant, id) = (Id::from(deployment.tenant), Id::from(deployment.id));
    let named: Vec<Id> = deployment.fallbacks.iter().map(|id| Id::from(*id)).collect();
    let wanted = i64::try_from(named.len()).unwrap_or(i64::MAX);
    let rows = fallbacks_of(deployment);
    on_conn!(conn, |conn| {
        let before = model_fallbacks::table
            .filter(model_fallbacks::organization_id.eq(tenant))
            .filter(model_fallbacks::deployment_id.eq(id));
        diesel::delete(before).execute(conn).await?;
        let there: i64 = model_deployments::table
            .filter(model_deployments::organization_id.eq(tenant))
            .filter(model_deployments::id.eq_any(named.clone()))
            .count()
            .get_result(conn)
            .await?;
        if there != wanted {
            return Err(StoreError::NotFound.into());
        }
        for row in &rows {
            diesel::insert_into(model_fallbacks::table).values(row).execute(conn).await?;
        }
    });
    Ok(())
}

/// Deployments that have others among their fallbacks, but for those that go with them.
async fn fallbacks_on<C: AsConn>(conn: &mut C, tenant: Id, ids: &[Id]) -> Result<Vec<Use>, Error> {
    let ids = ids.to_vec();
    let found: Vec<(Id, String)> = on_conn!(conn, |conn| {
        let named = model_fallbacks::table
            .filter(model_fallbacks::organization_id.eq(tenant))
            .filter(model_fallbacks::fallback_id.eq_any(ids.clone()))
            .filter(model_fallbacks::deployment_id.ne_all(ids.clone()))
            .select(model_fallbacks::deployment_id);
        model_deployments::table
            .filter(model_deployments::organization_id.eq(tenant))
            .filter(model_deployments::id.eq_any(named))
            .order(model_deployments::alias)
            .limit(TOLD)
            .select((model_deployments::id, model_deployments::alias))
            .load(conn)
            .await?
    });
    Ok(found.into_iter().map(|(id, name)| Use { kind: "deployment", id: id.0.to_string(), name }).collect())
}

/// Deletes deployments with their tombstones; gives what uses them, where something does: then none is deleted.
pub(crate) async fn delete_all<C: AsConn>(
    conn: &mut C,
    tenant: TenantId,
    ids: &[Id],
    at: Timestamp,
) -> Result<Option<Vec<Use>>, Error> {
    if ids.is_empty() {
        return Ok(None);
    }
    let uses = fallbacks_on(conn, tenant.into(), ids).await?;
    if !uses.is_empty() {
        return Ok(Some(uses));
    }
    let mut less = 0;
    for id in ids {
        let row = model_deployments::table.find((Id::from(tenant), *id));
        let met = on_conn!(conn, |conn| diesel::delete(row).execute(conn).await?);
        if met > 0 {
            less += 1;
            tombstone::write(conn, Tombstone::of(tenant, tomb::DEPLOYMENT, *id), at).await?;
        }
    }
    version::raise(conn, tenant, -less).await?;
    Ok(None)
}

/// Checks that so many more are allowed.
async fn within_quota<C: AsConn>(conn: &mut C, tenant: TenantId, more: u64, most: Most) -> Result<(), Error> {
    if more == 0 {
        return Ok(());
    }
    if let Some(most) = most.licensed {
        // All organisations count, so all wait here for each other.
        lock::serialise(conn, IN_ALL).await?;
        let used = version::in_all(conn).await?;
        if used.saturating_add(more) > most {
            return Err(StoreError::QuotaExceeded { limit: LICENSED, most, used }.into());
        }
    }
    let used = version::deployments(conn, tenant).await?;
    if used.saturating_add(more) > most.own {
        return Err(StoreError::QuotaExceeded { limit: "deployments", most: most.own, used }.into());
    }
    Ok(())
}

pub(crate) async fn change(
    db: &Db,
    tenant: TenantId,
    change: &DeploymentChange,
    most: Most,
    journal: &Journal,
) -> Result<(), StoreError> {
    if change.insert.is_empty() && change.update.is_empty() && change.delete.is_empty() {
        return write_tx!(db, |conn| journal::write(conn, journal).await);
    }
    let gone: Vec<Id> = change.delete.iter().map(|id| Id::from(*id)).collect();
    changing!(db, tenant, |conn| {
        lock::serialise(conn, &lock_name(tenant)).await?;
        if let Some(_uses) = delete_all(conn, tenant, &gone, deleted_at(journal)).await? {
            return Err(StoreError::Stale.into());
        }
        let more = change.insert.len() as u64;
        within_quota(conn, tenant, more, most).await?;
        for deployment in &change.insert {
            let connection = (Id::from(tenant), Id::from(deployment.connection_id));
            let there: i64 = model_connections::table.find(connection).count().get_result(conn).await?;
            revision::found(usize::from(there > 0))?;
            let row = DeploymentRow::try_from(deployment)?;
            diesel::insert_into(model_deployments::table).values(&row).execute(conn).await?;
        }
        for (deployment, expected) in &change.update {
            let key = (Id::from(tenant), Id::from(deployment.id));
            let row = DeploymentRow::try_from(deployment)?;
            let present =
                model_deployments::table.find(key).filter(model_deployments::revision.eq(expected.0));
            let met = diesel::update(present).set(DeploymentUpdate::from(&row).set()).execute(conn).await?;
            if met == 0 {
                let there: i64 = model_deployments::table.find(key).count().get_result(conn).await?;
                return Err(revision::unmet(there > 0).into());
            }
        }
        for deployment in change.insert.iter().chain(change.update.iter().map(|(deployment, _)| deployment)) {
            write_fallbacks(conn, deployment).await?;
        }
        version::raise(conn, tenant, i64::try_from(more).unwrap_or(i64::MAX)).await?;
        journal::write(conn, journal).await
    })
}

pub(crate) async fn delete(
    db: &Db,
    tenant: TenantId,
    id: ModelDeploymentId,
    expected: Option<Revision>,
    journal: &Journal,
) -> Result<Deleted, StoreError> {
    let key = (Id::from(tenant), Id::from(id));
    let grave = Tombstone::of(tenant, tomb::DEPLOYMENT, id);
    changing!(db, tenant, |conn| {
        lock::serialise(conn, &lock_name(tenant)).await?;
        let present: Option<i64> = model_deployments::table
            .find(key)
            .select(model_deployments::revision)
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
        if let Some(uses) = delete_all(conn, tenant, &[key.1], deleted_at(journal)).await? {
            return Ok(Deleted::InUse(uses));
        }
        journal::write(conn, journal).await?;
        Ok(Deleted::Now)
    })
}

pub(crate) async fn seen(db: &Db, states: &[SeenState]) -> Result<(), StoreError> {
    if states.is_empty() {
        return Ok(());
    }
    write_tx!(db, |conn| {
        for state in states {
            let row = model_deployments::table.find((Id::from(state.tenant), Id::from(state.id)));
            diesel::update(row)
                .set((
                    model_deployments::state.eq(StateWord(state.state)),
                    model_deployments::state_detail.eq(state.detail.as_deref()),
                    model_deployments::observed.eq(document::encode(&state.observed)?),
                ))
                .execute(conn)
                .await?;
        }
        Ok(())
    })
}
