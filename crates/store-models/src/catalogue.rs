//! Catalogues of connections.

use std::collections::BTreeMap;

use diesel::{
    BoolExpressionMethods, EscapeExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl,
    SelectableHelper, TextExpressionMethods,
};
use diesel_async::RunQueryDsl;
use heddle_kernel::{ModelConnectionId, ModelDeploymentId, Page, PageRequest, TenantId};
use heddle_models::ports::{CatalogueFilter, CatalogueWrite};
use heddle_models::records::CatalogueModel;
use heddle_store::{At, Db, Error, Id, StoreError, journal, page, read, search, write_tx};
use heddle_usecase::Journal;

use crate::rows::capability_pattern;
use crate::schema::{CatalogueRow, model_catalogue, model_connections, model_deployments};

/// Key of a connection.
type Key = (TenantId, ModelConnectionId);

/// Models with the deployments that there are of them; of several the first by alias.
fn with_deployments(
    rows: Vec<CatalogueRow>,
    deployed: Vec<(String, Id)>,
) -> Result<Vec<CatalogueModel>, Error> {
    let mut of_model: BTreeMap<String, ModelDeploymentId> = BTreeMap::new();
    for (model, id) in deployed {
        of_model.entry(model).or_insert_with(|| id.into());
    }
    let whole = |row: CatalogueRow| {
        let deployment = of_model.get(&row.model).copied();
        row.into_model(deployment)
    };
    rows.into_iter().map(whole).collect()
}

pub(crate) async fn list(
    db: &Db,
    (tenant, connection): Key,
    filter: &CatalogueFilter,
    page: &PageRequest,
) -> Result<Page<CatalogueModel>, StoreError> {
    let last: Option<String> = page::position(page)?;
    let (tenant, connection) = (Id::from(tenant), Id::from(connection));
    let items = read!(db, |conn| {
        let there: Option<i64> = model_connections::table
            .find((tenant, connection))
            .select(model_connections::revision)
            .first(conn)
            .await
            .optional()?;
        if there.is_none() {
            return Err(StoreError::NotFound.into());
        }
        let mut query = model_catalogue::table
            .filter(model_catalogue::organization_id.eq(tenant))
            .filter(model_catalogue::connection_id.eq(connection))
            .into_boxed();
        if let Some(q) = &filter.q {
            query = query.filter(model_catalogue::search.like(search::anywhere(q)).escape('\\'));
        }
        if let Some(capability) = filter.capability {
            query = query.filter(model_catalogue::capabilities.like(capability_pattern(capability)));
        }
        if let Some(model) = &last {
            query = query.filter(model_catalogue::model.gt(model));
        }
        let rows: Vec<CatalogueRow> = query
            .order(model_catalogue::model)
            .limit(page::surplus(page))
            .select(CatalogueRow::as_select())
            .load(conn)
            .await?;
        let names: Vec<String> = rows.iter().map(|row| row.model.clone()).collect();
        let deployed: Vec<(String, Id)> = model_deployments::table
            .filter(
                model_deployments::organization_id
                    .eq(tenant)
                    .and(model_deployments::connection_id.eq(connection)),
            )
            .filter(model_deployments::model.eq_any(names))
            .order(model_deployments::alias)
            .select((model_deployments::model, model_deployments::id))
            .load(conn)
            .await?;
        with_deployments(rows, deployed)
    })?;
    Ok(Page::from_surplus(items, page.limit, |model: &CatalogueModel| model.entry.model.clone()))
}

pub(crate) async fn whole(db: &Db, (tenant, connection): Key) -> Result<Vec<CatalogueModel>, StoreError> {
    let (tenant, connection) = (Id::from(tenant), Id::from(connection));
    read!(db, |conn| {
        let rows: Vec<CatalogueRow> = model_catalogue::table
            .filter(model_catalogue::organization_id.eq(tenant))
            .filter(model_catalogue::connection_id.eq(connection))
            .order(model_catalogue::model)
            .select(CatalogueRow::as_select())
            .load(conn)
            .await?;
        let deployed: Vec<(String, Id)> = model_deployments::table
            .filter(
                model_deployments::organization_id
                    .eq(tenant)
                    .and(model_deployments::connection_id.eq(connection)),
            )
            .order(model_deployments::alias)
            .select((model_deployments::model, model_deployments::id))
            .load(conn)
            .await?;
        with_deployments(rows, deployed)
    })
}

pub(crate) async fn discovered(
    db: &Db,
    write: CatalogueWrite<'_>,
    journal: &Journal,
) -> Result<(), StoreError> {
    let (tenant, connection) = (Id::from(write.tenant), Id::from(write.connection));
    let at = At(write.at);
    write_tx!(db, |conn| {
        let older = model_connections::discovered_at.is_null().or(model_connections::discovered_at.le(at));
        let met = diesel::update(model_connections::table.find((tenant, connection)).filter(older))
            .set(model_connections::discovered_at.eq(Some(at)))
            .execute(conn)
            .await?;
        if met == 0 {
            let there: i64 =
                model_connections::table.find((tenant, connection)).count().get_result(conn).await?;
            return Err(heddle_store::revision::unmet(there > 0).into());
        }
        let before = model_catalogue::table
            .filter(model_catalogue::organization_id.eq(tenant))
            .filter(model_catalogue::connection_id.eq(connection));
        diesel::delete(before).execute(conn).await?;
        for entry in write.entries {
            let row = CatalogueRow::of(&write, entry)?;
            diesel::insert_into(model_catalogue::table).values(&row).execute(conn).await?;
        }
        journal::write(conn, journal).await
    })
}
