//! Grants and denies.

use crate::schema::{GrantDbRow, grants, groups, members, roles};
use diesel::{BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_identity::ports::{GrantFilter, Tombstone};
use heddle_identity::records::{GrantPrincipal, GrantRow, PrincipalKind};
use heddle_kernel::{GrantId, Page, PageRequest, TenantId};
use heddle_policy::{AccessFilter, Effect, resource};
use heddle_store::revision::found;
use heddle_store::{AsConn, Error, Id, StoreError, journal, keyset, on_conn, page, read, tombstone, within};
use heddle_usecase::Journal;

use super::owners::Keys;
use crate::IdentityStore;
use crate::cache::write;
use crate::rights::bump_resting;
use crate::tombstones::{deleted_at, of};
use crate::words::PrincipalKindWord;

pub(super) async fn list(
    store: &IdentityStore,
    tenant: TenantId,
    filter: &GrantFilter,
    access: &AccessFilter<resource::Grant>,
    page: &PageRequest,
) -> Result<Page<GrantRow>, StoreError> {
    let last = page::position_in_time(page)?;
    if access.is_empty() {
        return Ok(page::empty());
    }
    let items = read!(&store.db, |conn| {
        let mut query = grants::table.filter(grants::organization_id.eq(Id::from(tenant))).into_boxed();
        if let Some(principal) = &filter.principal {
            query = query.filter(grants::principal_kind.eq(PrincipalKindWord(principal.kind())));
            query = match principal.id() {
                Some(id) => query.filter(grants::principal_id.eq(Id(id))),
                None => query.filter(grants::principal_id.is_null()),
            };
        }
        if let Some(resource) = &filter.resource {
            query = query.filter(grants::resource.eq(resource));
        }
        if let Some(selector) = &filter.selector {
            query = query.filter(grants::selector.eq(selector));
        }
        let query = within!(query, access, grants::id);
        let rows: Vec<GrantDbRow> = keyset!(query, (grants::created_at, grants::id), last, descending)
            .limit(page::surplus(page))
            .select(GrantDbRow::as_select())
            .load(conn)
            .await?;
        rows.into_iter().map(GrantRow::try_from).collect::<Result<Vec<_>, _>>()
    })?;
    Ok(Page::from_surplus(items, page.limit, |grant: &GrantRow| (grant.created_at.micros(), grant.id.0)))
}

pub(super) async fn get(
    store: &IdentityStore,
    tenant: TenantId,
    id: GrantId,
) -> Result<GrantRow, StoreError> {
    read!(&store.db, |conn| {
        let row: GrantDbRow = grants::table
            .find((Id::from(tenant), Id::from(id)))
            .select(GrantDbRow::as_select())
            .first(conn)
            .await?;
        row.try_into()
    })
}

/// The grants and denies to principals of a kind with one of these ids.
pub(super) async fn to_any(
    store: &IdentityStore,
    tenant: TenantId,
    kind: PrincipalKind,
    ids: Vec<Id>,
) -> Result<Vec<GrantRow>, StoreError> {
    read!(&store.db, |conn| {
        let rows: Vec<GrantDbRow> = grants::table
            .filter(grants::organization_id.eq(Id::from(tenant)))
            .filter(grants::principal_kind.eq(PrincipalKindWord(kind)))
            .filter(grants::principal_id.eq_any(&ids))
            .order(grants::id)
            .select(GrantDbRow::as_select())
            .load(conn)
            .await?;
        rows.into_iter().map(GrantRow::try_from).collect::<Result<Vec<_>, _>>()
    })
}

/// `NotFound` when the user is no member or the group or role is not there.
async fn check_principal<C: AsConn>(conn: &mut C, grant: &GrantRow) -> Result<(), Error> {
    let tenant = Id::from(grant.tenant);
    let there: i64 = on_conn!(conn, |conn| match grant.principal {
        GrantPrincipal::User(id) => {
            members::table.find((tenant, Id::from(id))).count().get_result(conn).await?
        }
        GrantPrincipal::Group(id) => {
            groups::table.find((tenant, Id::from(id))).count().get_result(conn).await?
        }
        GrantPrincipal::Role(id) =>
            roles::table.find((tenant, Id::from(id))).count().get_result(conn).await?,
        GrantPrincipal::Everyone => 1,
    });
    found(usize::from(there > 0))
}

pub(super) async fn insert(
    store: &IdentityStore,
    grant: &GrantRow,
    journal: &Journal,
) -> Result<(), StoreError> {
    write!(store, |conn| {
        bump_resting(conn, grant.tenant, &journal.rights).await?;
        check_principal(conn, grant).await?;
        let keys = match grant.effect {
            Effect::Allow => Keys::irrelevant(),
            Effect::Deny => Keys::before(conn, &[grant.tenant], deleted_at(journal)).await?,
        };
        diesel::insert_into(grants::table).values(GrantDbRow::from(grant)).execute(conn).await?;
        keys.kept(conn).await?;
        tombstone::clear(conn, of(grant.tenant, Tombstone::Grant(grant.id))).await?;
        journal::write(conn, journal).await
    })
}

pub(super) async fn delete(
    store: &IdentityStore,
    tenant: TenantId,
    id: GrantId,
    journal: &Journal,
) -> Result<(), StoreError> {
    write!(store, |conn| {
        bump_resting(conn, tenant, &journal.rights).await?;
        found(diesel::delete(grants::table.find((Id::from(tenant), Id::from(id)))).execute(conn).await?)?;
        tombstone::write(conn, of(tenant, Tombstone::Grant(id)), deleted_at(journal)).await?;
        journal::write(conn, journal).await
    })
}
