//! Groups, their members, and the roles that they give.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::schema::{
    GrantDbRow, GroupMemberRow, GroupRoleRow, GroupRow, GroupRowChange, RoleRow, grants, group_members,
    group_roles, groups, members, role_bindings, roles,
};
use diesel::{
    BoolExpressionMethods, EscapeExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods,
    OptionalExtension, QueryDsl, SelectableHelper, TextExpressionMethods,
};
use diesel_async::RunQueryDsl;
use heddle_identity::ports::{Change, Dependents, GroupChange, TenantAccess, Tombstone};
use heddle_identity::records::{GrantRow, Group, GroupRole, PrincipalKind};
use heddle_kernel::{GroupId, Page, PageRequest, Revision, TenantId, Timestamp, UserId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::{
    AsConn, At, Error, Id, StoreError, journal, on_conn, page, read, revision, search, tombstone, within,
};
use heddle_usecase::{Journal, RightsSeen};

use super::owners::Keys;
use crate::IdentityStore;
use crate::access::{Held, given_by_groups, to_any};
use crate::cache::write;
use crate::rights::bump_resting;
use crate::tombstones::{deleted_at, of};
use crate::words::PrincipalKindWord;

/// Most members of a group that are looked at in one go.
const SLICE: i64 = 500;

/// Roles of these groups, by name.
async fn roles_of<C: AsConn>(
    conn: &mut C,
    tenant: TenantId,
    ids: Vec<Id>,
) -> Result<HashMap<Id, Vec<GroupRole>>, Error> {
    let rows: Vec<(Id, Id, String, Option<At>)> = on_conn!(conn, |conn| {
        group_roles::table
            .inner_join(
                roles::table.on(roles::organization_id
                    .eq(group_roles::organization_id)
                    .and(roles::id.eq(group_roles::role_id))),
            )
            .filter(group_roles::organization_id.eq(Id::from(tenant)))
            .filter(group_roles::group_id.eq_any(ids))
            .order(roles::name)
            .select((group_roles::group_id, roles::id, roles::name, group_roles::expires_at))
            .load(conn)
            .await?
    });
    let mut found: HashMap<Id, Vec<GroupRole>> = HashMap::new();
    for (group, id, name, end) in rows {
        let role = GroupRole { id: id.into(), name, expires_at: end.map(Into::into) };
        found.entry(group).or_default().push(role);
    }
    Ok(found)
}

/// Groups of an organisation with their roles.
async fn whole<C: AsConn>(conn: &mut C, tenant: TenantId, rows: Vec<GroupRow>) -> Result<Vec<Group>, Error> {
    let mut roles = roles_of(conn, tenant, rows.iter().map(|row| row.id).collect()).await?;
    let with_roles = |row: GroupRow| {
        let own = roles.remove(&row.id).unwrap_or_default();
        row.with_roles(own)
    };
    Ok(rows.into_iter().map(with_roles).collect())
}

pub(super) async fn list(
    store: &IdentityStore,
    tenant: TenantId,
    q: Option<&str>,
    access: &AccessFilter<resource::Group>,
    page: &PageRequest,
) -> Result<Page<Group>, StoreError> {
    let last: Option<String> = page::position(page)?;
    if access.is_empty() {
        return Ok(page::empty());
    }
    let items = read!(&store.db, |conn| {
        let mut query = groups::table.filter(groups::organization_id.eq(Id::from(tenant))).into_boxed();
        if let Some(q) = q {
            query = query.filter(groups::search.like(search::anywhere(q)).escape('\\'));
        }
        if let Some(name) = &last {
            query = query.filter(groups::name.gt(name));
        }
        let rows: Vec<GroupRow> = within!(query, access, groups::id)
            .order(groups::name)
            .limit(page::surplus(page))
            .select(GroupRow::as_select())
            .load(conn)
            .await?;
        whole(conn, tenant, rows).await
    })?;
    Ok(Page::from_surplus(items, page.limit, |group: &Group| group.name.clone()))
}

pub(super) async fn named(
    store: &IdentityStore,
    tenant: TenantId,
    named: &[String],
) -> Result<Vec<Group>, StoreError> {
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Id> = named.iter().filter_map(|name| name.parse::<GroupId>().ok()).map(Id::from).collect();
    read!(&store.db, |conn| {
        let rows: Vec<GroupRow> = groups::table
            .filter(groups::organization_id.eq(Id::from(tenant)))
            .filter(groups::id.eq_any(&ids).or(groups::name.eq_any(named)))
            .order(groups::name)
            .select(GroupRow::as_select())
            .load(conn)
            .await?;
        whole(conn, tenant, rows).await
    })
}

pub(super) async fn all(
    store: &IdentityStore,
    tenant: TenantId,
) -> Result<Vec<(GroupId, String)>, StoreError> {
    read!(&store.db, |conn| {
        let rows: Vec<(Id, String)> = groups::table
            .filter(groups::organization_id.eq(Id::from(tenant)))
            .order(groups::name)
            .select((groups::id, groups::name))
            .load(conn)
            .await?;
        Ok(rows.into_iter().map(|(id, name)| (id.into(), name)).collect())
    })
}

pub(super) async fn get(store: &IdentityStore, tenant: TenantId, id: GroupId) -> Result<Group, StoreError> {
    read!(&store.db, |conn| {
        let row: GroupRow = groups::table
            .find((Id::from(tenant), Id::from(id)))
            .select(GroupRow::as_select())
            .first(conn)
            .await?;
        let roles = roles_of(conn, tenant, vec![row.id]).await?.remove(&row.id).unwrap_or_default();
        Ok(row.with_roles(roles))
    })
}

/// Rights of the members of a group, as they are gathered.
#[derive(Default)]
struct Gathered {
    held: Held,
    groups: BTreeSet<Id>,
    grants: BTreeMap<Id, GrantDbRow>,
}

/// Adds what these members have of their own, and their groups.
async fn gather<C: AsConn>(
    conn: &mut C,
    tenant: Id,
    users: &[Id],
    now: Timestamp,
    into: &mut Gathered,
) -> Result<(), Error> {
    on_conn!(conn, |conn| {
        let living =
            role_bindings::expires_at.is_null().or(role_bindings::expires_at.assume_not_null().gt(At(now)));
        let bound: Vec<(RoleRow, Option<At>)> = role_bindings::table
            .inner_join(
                roles::table.on(roles::organization_id
                    .eq(role_bindings::organization_id)
                    .and(roles::id.eq(role_bindings::role_id))),
            )
            .filter(role_bindings::organization_id.eq(tenant))
            .filter(role_bindings::user_id.eq_any(users).and(living))
            .select((RoleRow::as_select(), role_bindings::expires_at))
            .load(conn)
            .await?;
        bound.into_iter().for_each(|(role, end)| into.held.add(role, end));
        let others: Vec<Id> = group_members::table
            .filter(group_members::organization_id.eq(tenant))
            .filter(group_members::user_id.eq_any(users))
            .select(group_members::group_id)
            .distinct()
            .load(conn)
            .await?;
        into.groups.extend(others);
        let own: Vec<GrantDbRow> = grants::table
            .filter(grants::organization_id.eq(tenant).and(to_any!(User, users)))
            .select(GrantDbRow::as_select())
            .load(conn)
            .await?;
        into.grants.extend(own.into_iter().map(|grant| (grant.id, grant)));
    });
    Ok(())
}

pub(super) async fn standing(
    store: &IdentityStore,
    tenant: TenantId,
    id: GroupId,
    now: Timestamp,
) -> Result<TenantAccess, StoreError> {
    let (tenant, group) = (Id::from(tenant), Id::from(id));
    read!(&store.db, |conn| {
        let mut all = Gathered { groups: BTreeSet::from([group]), ..Gathered::default() };
        let mut last: Option<Id> = None;
        loop {
            let mut query = group_members::table
                .filter(group_members::organization_id.eq(tenant).and(group_members::group_id.eq(group)))
                .into_boxed();
            if let Some(last) = last {
                query = query.filter(group_members::user_id.gt(last));
            }
            let users: Vec<Id> = query
                .order(group_members::user_id)
                .limit(SLICE)
                .select(group_members::user_id)
                .load(conn)
                .await?;
            let Some(end) = users.last().copied() else { break };
            gather(conn, tenant, &users, now, &mut all).await?;
            last = Some(end);
        }
        let Gathered { mut held, groups, mut grants } = all;
        let group_ids: Vec<Id> = groups.into_iter().collect();
        let given: Vec<(RoleRow, Option<At>)> =
            given_by_groups!(tenant, group_ids.clone()).load(conn).await?;
        let lives = |end: &Option<At>| end.is_none_or(|end| end.0 > now);
        given.into_iter().filter(|(_, end)| lives(end)).for_each(|(role, end)| held.add(role, end));
        let shared: Vec<GrantDbRow> = grants::table
            .filter(grants::organization_id.eq(tenant))
            .filter(
                grants::principal_kind
                    .eq(PrincipalKindWord(PrincipalKind::Everyone))
                    .or(to_any!(Group, group_ids))
                    .or(to_any!(Role, held.ids())),
            )
            .select(GrantDbRow::as_select())
            .load(conn)
            .await?;
        grants.extend(shared.into_iter().map(|grant| (grant.id, grant)));
        let (roles, role_ends) = held.finish()?;
        let grants = grants.into_values().map(GrantRow::try_from).collect::<Result<_, _>>()?;
        Ok(TenantAccess { membership: None, roles, role_ends, groups: Vec::new(), grants, revision: 0 })
    })
}

/// `Duplicate` when a role has the group's name: human tasks name either. Asked once the organisation's rights are locked.
async fn no_role_has<C: AsConn>(conn: &mut C, group: &Group) -> Result<(), Error> {
    let same = roles::organization_id.eq(Id::from(group.tenant)).and(roles::name.eq(&group.name));
    let there: i64 = on_conn!(conn, |conn| roles::table.filter(same).count().get_result(conn).await?);
    if there > 0 { Err(StoreError::Duplicate("roles.name".to_owned()).into()) } else { Ok(()) }
}

/// Gives a group these roles and no others. `NotFound` when one is not the organisation's.
async fn set_roles<C: AsConn>(conn: &mut C, group: &Group) -> Result<(), Error> {
    let (tenant, id) = (Id::from(group.tenant), Id::from(group.id));
    let ids: Vec<Id> = group.roles.iter().map(|role| Id::from(role.id)).collect();
    on_conn!(conn, |conn| {
        let known: i64 = roles::table
            .filter(roles::organization_id.eq(tenant).and(roles::id.eq_any(&ids)))
            .count()
            .get_result(conn)
            .await?;
        if known.unsigned_abs() != ids.len() as u64 {
            return Err(StoreError::NotFound.into());
        }
        diesel::delete(
            group_roles::table
                .filter(group_roles::organization_id.eq(tenant).and(group_roles::group_id.eq(id))),
        )
        .execute(conn)
        .await?;
        for role in &group.roles {
            let row = GroupRoleRow {
                organization_id: tenant,
                group_id: id,
                role_id: role.id.into(),
                expires_at: role.expires_at.map(At),
            };
            diesel::insert_into(group_roles::table).values(&row).execute(conn).await?;
        }
    });
    Ok(())
}

/// Raises the revision of a membership; whether there is one.
async fn touch<C: AsConn>(conn: &mut C, tenant: Id, user: Id, at: Timestamp) -> Result<bool, Error> {
    let rows = on_conn!(conn, |conn| {
        diesel::update(members::table.find((tenant, user)))
            .set((members::revision.eq(members::revision + 1), members::updated_at.eq(At(at))))
            .execute(conn)
            .await?
    });
    Ok(rows > 0)
}

/// Lets members come into a group and leave it. `NotFound` for somebody who comes and is no member.
async fn set_members<C: AsConn>(conn: &mut C, change: &GroupChange) -> Result<(), Error> {
    let (tenant, group) = (Id::from(change.group.tenant), Id::from(change.group.id));
    let at = change.group.updated_at;
    for user in &change.removed {
        let key = (tenant, Id::from(*user), group);
        let left =
            on_conn!(conn, |conn| { diesel::delete(group_members::table.find(key)).execute(conn).await? });
        if left > 0 {
            touch(conn, tenant, Id::from(*user), at).await?;
        }
    }
    for user in &change.added {
        come(conn, tenant, group, *user, at).await?;
    }
    Ok(())
}

async fn come<C: AsConn>(
    conn: &mut C,
    tenant: Id,
    group: Id,
    user: UserId,
    at: Timestamp,
) -> Result<(), Error> {
    let user = Id::from(user);
    let there: Option<Id> = on_conn!(conn, |conn| {
        group_members::table
            .find((tenant, user, group))
            .select(group_members::user_id)
            .first(conn)
            .await
            .optional()?
    });
    if there.is_some() {
        return Ok(());
    }
    if !touch(conn, tenant, user, at).await? {
        return Err(StoreError::NotFound.into());
    }
    let row = GroupMemberRow { organization_id: tenant, user_id: user, group_id: group };
    on_conn!(conn, |conn| {
        diesel::insert_into(group_members::table).values(&row).execute(conn).await?;
    });
    Ok(())
}

pub(super) async fn insert(
    store: &IdentityStore,
    new: &GroupChange,
    journal: &Journal,
) -> Result<(), StoreError> {
    let tenant = new.group.tenant;
    write!(store, |conn| {
        bump_resting(conn, tenant, &journal.rights).await?;
        no_role_has(conn, &new.group).await?;
        let keys = Keys::before(conn, &[tenant], deleted_at(journal)).await?;
        diesel::insert_into(groups::table).values(GroupRow::from(&new.group)).execute(conn).await?;
        set_roles(conn, &new.group).await?;
        set_members(conn, new).await?;
        keys.kept(conn).await?;
        tombstone::clear(conn, of(tenant, Tombstone::Group(new.group.id))).await?;
        journal::write(conn, journal).await
    })
}

/// The revision of a group, with the organisation's rights locked.
async fn lock<C: AsConn>(
    conn: &mut C,
    tenant: TenantId,
    id: GroupId,
    rights: &RightsSeen,
) -> Result<i64, Error> {
    bump_resting(conn, tenant, rights).await?;
    let query = groups::table.find((Id::from(tenant), Id::from(id))).select(groups::revision);
    let stored: Option<i64> = on_conn!(conn, |conn| query.first(conn).await.optional()?);
    Ok(stored.ok_or(StoreError::NotFound)?)
}

pub(super) async fn update(
    store: &IdentityStore,
    change: &GroupChange,
    expected: Revision,
    journal: &Journal,
) -> Result<(), StoreError> {
    let group = &change.group;
    write!(store, |conn| {
        revision::check(lock(conn, group.tenant, group.id, &journal.rights).await?, expected)?;
        no_role_has(conn, group).await?;
        let keys = Keys::before(conn, &[group.tenant], deleted_at(journal)).await?;
        let row = GroupRow::from(group);
        diesel::update(groups::table.find((row.organization_id, row.id)))
            .set(GroupRowChange::from(&row).set())
            .execute(conn)
            .await?;
        set_roles(conn, group).await?;
        set_members(conn, change).await?;
        keys.kept(conn).await?;
        journal::write(conn, journal).await
    })
}

pub(super) async fn delete(
    store: &IdentityStore,
    tenant: TenantId,
    id: GroupId,
    expected: Revision,
    journal: &Journal,
) -> Result<Change, StoreError> {
    write!(store, |conn| {
        let (organization, group) = (Id::from(tenant), Id::from(id));
        revision::check(lock(conn, tenant, id, &journal.rights).await?, expected)?;
        let within: i64 = group_members::table
            .filter(group_members::organization_id.eq(organization).and(group_members::group_id.eq(group)))
            .count()
            .get_result(conn)
            .await?;
        if within > 0 {
            return Ok(Change::InUse(vec![Dependents { kind: "member", count: within.unsigned_abs() }]));
        }
        let to_group = grants::principal_kind.eq(PrincipalKindWord(PrincipalKind::Group));
        diesel::delete(
            grants::table
                .filter(grants::organization_id.eq(organization).and(to_group))
                .filter(grants::principal_id.eq(group)),
        )
        .execute(conn)
        .await?;
        // The roles that it gives go with it.
        diesel::delete(groups::table.find((organization, group))).execute(conn).await?;
        tombstone::write(conn, of(tenant, Tombstone::Group(id)), deleted_at(journal)).await?;
        journal::write(conn, journal).await?;
        Ok(Change::Done)
    })
}
