//! Organisations.

use crate::schema::{
    MemberRow, OrganizationChange, OrganizationRow, TenantAuthzRow, group_roles, members, organizations,
    role_bindings, tenant_authz, users,
};
use diesel::{
    BoolExpressionMethods, EscapeExpressionMethods, ExpressionMethods, JoinOnDsl, OptionalExtension,
    QueryDsl, SelectableHelper, TextExpressionMethods,
};
use diesel_async::RunQueryDsl;
use heddle_identity::ports::{Change, Dependents, LimitOutcome, NewOrganization, Tombstone};
use heddle_identity::records::Organization;
use heddle_kernel::{Page, PageRequest, Revision, TenantId, UserId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::audit::INSTALLATION;
use heddle_store::tenant::{self, InUse};
use heddle_store::{
    AsConn, Error, Id, StoreError, journal, keyset, on_conn, page, read, revision, search, tombstone, within,
};
use heddle_usecase::Journal;

use super::{members::set_bindings, roles};
use crate::IdentityStore;
use crate::cache::write;
use crate::rights::lock_counted;
use crate::tombstones::{actor, deleted_at, of, organization_of};

pub(super) async fn list(
    store: &IdentityStore,
    user: UserId,
    q: Option<&str>,
    access: &AccessFilter<resource::Organization>,
    page: &PageRequest,
) -> Result<Page<Organization>, StoreError> {
    let last = page::position_in_time(page)?;
    if access.is_empty() {
        return Ok(page::empty());
    }
    let rows: Vec<OrganizationRow> = read!(&store.db, |conn| {
        let own = members::table.filter(members::user_id.eq(Id::from(user))).select(members::organization_id);
        let mut query = organizations::table.filter(organizations::id.eq_any(own)).into_boxed();
        if let Some(q) = q {
            query = query.filter(organizations::search.like(search::anywhere(q)).escape('\\'));
        }
        let query = within!(query, access, organizations::id);
        Ok(keyset!(query, (organizations::created_at, organizations::id), last, ascending)
            .limit(page::surplus(page))
            .select(OrganizationRow::as_select())
            .load(conn)
            .await?)
    })?;
    let items = rows.into_iter().map(Organization::from).collect();
    Ok(Page::from_surplus(items, page.limit, |one: &Organization| (one.created_at.micros(), one.id.0)))
}

pub(super) async fn get(
    store: &IdentityStore,
    user: UserId,
    id: TenantId,
) -> Result<Organization, StoreError> {
    read!(&store.db, |conn| {
        let row: OrganizationRow = organizations::table
            .inner_join(members::table.on(members::organization_id.eq(organizations::id)))
            .filter(organizations::id.eq(Id::from(id)).and(members::user_id.eq(Id::from(user))))
            .select(OrganizationRow::as_select())
            .first(conn)
            .await?;
        Ok(row.into())
    })
}

/// Writes an organisation with its authorization revision and its system roles, without members.
pub(crate) async fn insert_rows<C: AsConn>(conn: &mut C, new: &NewOrganization) -> Result<(), Error> {
    let row = OrganizationRow::from(&new.organization);
    on_conn!(conn, |conn| {
        let revision = TenantAuthzRow { organization_id: row.id, revision: 1 };
        diesel::insert_into(organizations::table).values(&row).execute(conn).await?;
        diesel::insert_into(tenant_authz::table).values(&revision).execute(conn).await?;
    });
    for role in &new.roles {
        roles::insert_row(conn, role).await?;
    }
    Ok(())
}

pub(super) async fn insert(
    store: &IdentityStore,
    new: &NewOrganization,
    limit: Option<u64>,
    journal: &Journal,
) -> Result<LimitOutcome, StoreError> {
    write!(store, |conn| {
        if let Some(limit) = limit {
            lock_counted(conn).await?;
            let used: i64 = organizations::table.count().get_result(conn).await?;
            if used.unsigned_abs() >= limit {
                return Ok(LimitOutcome::LimitReached { used: used.unsigned_abs() });
            }
        }
        insert_rows(conn, new).await?;
        diesel::insert_into(members::table).values(MemberRow::from(&new.owner)).execute(conn).await?;
        set_bindings(conn, &new.owner).await?;
        journal::write(conn, journal).await?;
        Ok(LimitOutcome::Done)
    })
}

pub(super) async fn update(
    store: &IdentityStore,
    organization: &Organization,
    expected: Revision,
    journal: &Journal,
) -> Result<(), StoreError> {
    write!(store, |conn| {
        let changed = OrganizationRow::from(organization);
        let row = organizations::table.find(changed.id);
        let rows = diesel::update(row.filter(organizations::revision.eq(expected.0)))
            .set(OrganizationChange::from(&changed).set())
            .execute(conn)
            .await?;
        if rows == 0 {
            let there: i64 = row.count().get_result(conn).await?;
            return Err(revision::unmet(there > 0).into());
        }
        journal::write(conn, journal).await
    })
}

pub(super) async fn delete(
    store: &IdentityStore,
    id: TenantId,
    expected: Revision,
    journal: &Journal,
) -> Result<Change, StoreError> {
    write!(store, |conn| {
        let key = Id::from(id);
        let stored: Option<i64> =
            organizations::table.find(key).select(organizations::revision).first(conn).await.optional()?;
        revision::check(stored.ok_or(StoreError::NotFound)?, expected)?;
        tenant::close(conn, id).await?;
        let at_home: i64 = users::table.filter(users::home_id.eq(key)).count().get_result(conn).await?;
        let mut used = Vec::new();
        if at_home > 0 {
            used.push(Dependents { kind: "user", count: at_home.unsigned_abs() });
        }
        for area in store.contents.iter() {
            let found = area.in_use(conn.as_conn(), id).await?;
            used.extend(found.into_iter().map(|InUse { kind, count }| Dependents { kind, count }));
        }
        if !used.is_empty() {
            return Ok(Change::InUse(used));
        }
        // The rest goes with the organisation; a role's binding would hold the role.
        diesel::delete(role_bindings::table.filter(role_bindings::organization_id.eq(key)))
            .execute(conn)
            .await?;
        diesel::delete(group_roles::table.filter(group_roles::organization_id.eq(key))).execute(conn).await?;
        diesel::delete(organizations::table.find(key)).execute(conn).await?;
        tombstone::write(conn, of(id, Tombstone::Organization(id)), deleted_at(journal)).await?;
        if let Some(by) = actor(journal) {
            let kind = organization_of(by);
            let mine = tombstone::Tombstone::of(INSTALLATION, &kind, id);
            tombstone::write(conn, mine, deleted_at(journal)).await?;
        }
        journal::write(conn, journal).await?;
        Ok(Change::Done)
    })
}
