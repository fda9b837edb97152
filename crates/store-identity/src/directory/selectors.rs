//! Stored selectors: what is about one thing, in every organisation.

use crate::schema::{GrantDbRow, RoleRow, grants, roles};
use diesel::{BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_identity::records::{GrantRow, Role};
use heddle_kernel::{GrantId, TenantId};
use heddle_policy::facts::ANY;
use heddle_store::{Id, StoreError, journal, read, revision};
use heddle_usecase::Journal;

use crate::IdentityStore;
use crate::cache::write;
use crate::rights::bump_authz_revision;

pub(super) async fn grants_about_one(
    store: &IdentityStore,
    after: Option<(TenantId, GrantId)>,
    limit: u32,
) -> Result<Vec<GrantRow>, StoreError> {
    read!(&store.db, |conn| {
        let mut query = grants::table.filter(grants::selector.ne(ANY)).into_boxed();
        if let Some((tenant, id)) = after {
            let (tenant, id) = (Id::from(tenant), Id::from(id));
            let later = grants::organization_id.eq(tenant).and(grants::id.gt(id));
            query = query.filter(grants::organization_id.gt(tenant).or(later));
        }
        let rows: Vec<GrantDbRow> = query
            .order((grants::organization_id, grants::id))
            .limit(i64::from(limit))
            .select(GrantDbRow::as_select())
            .load(conn)
            .await?;
        rows.into_iter().map(GrantRow::try_from).collect::<Result<Vec<_>, _>>()
    })
}

pub(super) async fn own_roles(store: &IdentityStore) -> Result<Vec<Role>, StoreError> {
    read!(&store.db, |conn| {
        let rows: Vec<RoleRow> = roles::table
            .filter(roles::system.eq(false))
            .order((roles::organization_id, roles::id))
            .select(RoleRow::as_select())
            .load(conn)
            .await?;
        rows.into_iter().map(Role::try_from).collect::<Result<Vec<_>, _>>()
    })
}

pub(super) async fn respell_grant(
    store: &IdentityStore,
    grant: &GrantRow,
    before: &str,
    journal: &Journal,
) -> Result<(), StoreError> {
    write!(store, |conn| {
        bump_authz_revision(conn, grant.tenant).await?;
        let row = grants::table.find((Id::from(grant.tenant), Id::from(grant.id)));
        let written = diesel::update(row.filter(grants::selector.eq(before)))
            .set(grants::selector.eq(&grant.selector))
            .execute(conn)
            .await?;
        revision::met(written)?;
        journal::write(conn, journal).await
    })
}
