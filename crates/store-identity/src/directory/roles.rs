//! Roles.

use crate::schema::{RoleChange, RoleRow, grants, group_roles, groups, organizations, role_bindings, roles};
use diesel::{
    BoolExpressionMethods, EscapeExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl,
    SelectableHelper, TextExpressionMethods,
};
use diesel_async::RunQueryDsl;
use heddle_identity::ports::{Change, Dependents, NameTaken, Tombstone};
use heddle_identity::records::{PrincipalKind, Role};
use heddle_kernel::{Page, PageRequest, Revision, RoleId, TenantId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::{
    AsConn, Error, Id, StoreError, journal, on_conn, page, read, revision, search, tombstone, within,
};
use heddle_usecase::{Journal, RightsSeen};

use super::owners::Keys;
use crate::IdentityStore;
use crate::cache::write;
use crate::rights::bump_resting;
use crate::tombstones::{deleted_at, of};
use crate::words::PrincipalKindWord;

pub(super) async fn list(
    store: &IdentityStore,
    tenant: TenantId,
    q: Option<&str>,
    access: &AccessFilter<resource::Role>,
    page: &PageRequest,
) -> Result<Page<Role>, StoreError> {
    let last: Option<String> = page::position(page)?;
    if access.is_empty() {
        return Ok(page::empty());
    }
    let items = read!(&store.db, |conn| {
        let mut query = roles::table.filter(roles::organization_id.eq(Id::from(tenant))).into_boxed();
        if let Some(q) = q {
            query = query.filter(roles::search.like(search::anywhere(q)).escape('\\'));
        }
        if let Some(name) = &last {
            query = query.filter(roles::name.gt(name));
        }
        let rows: Vec<RoleRow> = within!(query, access, roles::id)
            .order(roles::name)
            .limit(page::surplus(page))
            .select(RoleRow::as_select())
            .load(conn)
            .await?;
        rows.into_iter().map(Role::try_from).collect::<Result<Vec<_>, _>>()
    })?;
    Ok(Page::from_surplus(items, page.limit, |role: &Role| role.name.clone()))
}

pub(super) async fn all(store: &IdentityStore, tenant: TenantId) -> Result<Vec<Role>, StoreError> {
    read!(&store.db, |conn| {
        let rows: Vec<RoleRow> = roles::table
            .filter(roles::organization_id.eq(Id::from(tenant)))
            .order(roles::name)
            .select(RoleRow::as_select())
            .load(conn)
            .await?;
        rows.into_iter().map(Role::try_from).collect::<Result<Vec<_>, _>>()
    })
}

/// The organisations without a system role of this name.
pub(super) async fn lacking(
    store: &IdentityStore,
    name: &str,
) -> Result<Vec<(TenantId, NameTaken)>, StoreError> {
    read!(&store.db, |conn| {
        let all: Vec<Id> =
            organizations::table.order(organizations::id).select(organizations::id).load(conn).await?;
        let named: Vec<(Id, bool)> = roles::table
            .filter(roles::name.eq(name))
            .select((roles::organization_id, roles::system))
            .load(conn)
            .await?;
        let grouped: Vec<Id> =
            groups::table.filter(groups::name.eq(name)).select(groups::organization_id).load(conn).await?;
        let of =
            |id: Id| named.iter().find(|(organization, _)| *organization == id).map(|(_, system)| *system);
        let lacking = all.into_iter().filter_map(|id| match of(id) {
            Some(true) => None,
            Some(false) => Some((TenantId::from(id), NameTaken::ByOwnRole)),
            None if grouped.contains(&id) => Some((TenantId::from(id), NameTaken::ByGroup)),
            None => Some((TenantId::from(id), NameTaken::No)),
        });
        Ok(lacking.collect())
    })
}

pub(super) async fn get(store: &IdentityStore, tenant: TenantId, id: RoleId) -> Result<Role, StoreError> {
    read!(&store.db, |conn| {
        let row: RoleRow = roles::table
            .find((Id::from(tenant), Id::from(id)))
            .select(RoleRow::as_select())
            .first(conn)
            .await?;
        row.try_into()
    })
}

pub(super) async fn insert_row<C: AsConn>(conn: &mut C, role: &Role) -> Result<(), Error> {
    let row = RoleRow::try_from(role)?;
    on_conn!(conn, |conn| {
        diesel::insert_into(roles::table).values(&row).execute(conn).await?;
    });
    Ok(())
}

/// `Duplicate` when a group has the role's name: human tasks name either. Asked once the organisation's rights are locked.
async fn no_group_has<C: AsConn>(conn: &mut C, role: &Role) -> Result<(), Error> {
    let same = groups::organization_id.eq(Id::from(role.tenant)).and(groups::name.eq(&role.name));
    let there: i64 = on_conn!(conn, |conn| groups::table.filter(same).count().get_result(conn).await?);
    if there > 0 { Err(StoreError::Duplicate("groups.name".to_owned()).into()) } else { Ok(()) }
}

pub(super) async fn insert(store: &IdentityStore, role: &Role, journal: &Journal) -> Result<(), StoreError> {
    write!(store, |conn| {
        bump_resting(conn, role.tenant, &journal.rights).await?;
        no_group_has(conn, role).await?;
        insert_row(conn, role).await?;
        tombstone::clear(conn, of(role.tenant, Tombstone::Role(role.id))).await?;
        journal::write(conn, journal).await
    })
}

/// The revision of a role, with the organisation's rights locked.
async fn lock<C: AsConn>(
    conn: &mut C,
    tenant: TenantId,
    id: RoleId,
    rights: &RightsSeen,
) -> Result<i64, Error> {
    bump_resting(conn, tenant, rights).await?;
    let query = roles::table.find((Id::from(tenant), Id::from(id))).select(roles::revision);
    let stored: Option<i64> = on_conn!(conn, |conn| query.first(conn).await.optional()?);
    Ok(stored.ok_or(StoreError::NotFound)?)
}

pub(super) async fn update(
    store: &IdentityStore,
    role: &Role,
    expected: Revision,
    journal: &Journal,
) -> Result<(), StoreError> {
    write!(store, |conn| {
        revision::check(lock(conn, role.tenant, role.id, &journal.rights).await?, expected)?;
        no_group_has(conn, role).await?;
        let keys = Keys::before(conn, &[role.tenant], deleted_at(journal)).await?;
        let row = RoleRow::try_from(role)?;
        diesel::update(roles::table.find((row.organization_id, row.id)))
            .set(RoleChange::from(&row).set())
            .execute(conn)
            .await?;
        keys.kept(conn).await?;
        journal::write(conn, journal).await
    })
}

pub(super) async fn delete(
    store: &IdentityStore,
    tenant: TenantId,
    id: RoleId,
    expected: Revision,
    journal: &Journal,
) -> Result<Change, StoreError> {
    write!(store, |conn| {
        let (organization, role) = (Id::from(tenant), Id::from(id));
        revision::check(lock(conn, tenant, id, &journal.rights).await?, expected)?;
        let holders: i64 = role_bindings::table
            .filter(role_bindings::organization_id.eq(organization).and(role_bindings::role_id.eq(role)))
            .count()
            .get_result(conn)
            .await?;
        let givers: i64 = group_roles::table
            .filter(group_roles::organization_id.eq(organization).and(group_roles::role_id.eq(role)))
            .count()
            .get_result(conn)
            .await?;
        let used = [("member", holders), ("group", givers)].into_iter().filter(|(_, count)| *count > 0);
        let used: Vec<_> =
            used.map(|(kind, count)| Dependents { kind, count: count.unsigned_abs() }).collect();
        if !used.is_empty() {
            return Ok(Change::InUse(used));
        }
        let to_role = grants::principal_kind.eq(PrincipalKindWord(PrincipalKind::Role));
        diesel::delete(
            grants::table
                .filter(grants::organization_id.eq(organization).and(to_role))
                .filter(grants::principal_id.eq(role)),
        )
        .execute(conn)
        .await?;
        diesel::delete(roles::table.find((organization, role))).execute(conn).await?;
        tombstone::write(conn, of(tenant, Tombstone::Role(id)), deleted_at(journal)).await?;
        journal::write(conn, journal).await?;
        Ok(Change::Done)
    })
}
