//! Memberships with their roles and groups.

use std::collections::HashMap;

use crate::schema::{
    GroupMemberRow, MemberChange, MemberRow, RoleBindingRow, api_tokens, grants, group_members, groups,
    members, role_bindings, roles, users,
};
use diesel::{
    BoolExpressionMethods, EscapeExpressionMethods, ExpressionMethods, JoinOnDsl, OptionalExtension,
    QueryDsl, SelectableHelper, TextExpressionMethods,
};
use diesel_async::RunQueryDsl;
use heddle_identity::ports::{Change, MemberFilter, Tombstone};
use heddle_identity::records::{Member, Membership, PrincipalKind, RoleEnds};
use heddle_kernel::{GroupId, Page, PageRequest, Revision, RoleId, TenantId, UserId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::{
    AsConn, At, Error, Id, StoreError, journal, keyset, on_conn, page, read, revision, search, tombstone,
    within,
};
use heddle_usecase::{Journal, RightsSeen};

use super::owners::{self, Keys};
use crate::IdentityStore;
use crate::cache::write;
use crate::rights::bump_resting;
use crate::tombstones::{deleted_at, of};
use crate::words::{PrincipalKindWord, UserStateWord};

type Shown = (MemberRow, String, String, UserStateWord);

/// Memberships with what is shown of the users.
macro_rules! shown {
    ($query:expr) => {
        $query.inner_join(users::table.on(users::id.eq(members::user_id))).select((
            MemberRow::as_select(),
            users::email,
            users::display_name,
            users::state,
        ))
    };
}

/// Bindings with the roles' names.
macro_rules! bound {
    ($tenant:expr) => {
        role_bindings::table
            .inner_join(
                roles::table.on(roles::organization_id
                    .eq(role_bindings::organization_id)
                    .and(roles::id.eq(role_bindings::role_id))),
            )
            .filter(role_bindings::organization_id.eq($tenant))
            .order(roles::name)
    };
}

/// Groups of members with the groups' names.
macro_rules! grouped {
    ($tenant:expr) => {
        group_members::table
            .inner_join(
                groups::table.on(groups::organization_id
                    .eq(group_members::organization_id)
                    .and(groups::id.eq(group_members::group_id))),
            )
            .filter(group_members::organization_id.eq($tenant))
            .order(groups::name)
    };
}

/// Roles and groups of a member, by name.
#[derive(Default)]
struct Held {
    roles: Vec<(RoleId, String)>,
    ends: RoleEnds,
    groups: Vec<(GroupId, String)>,
}

impl Held {
    fn add_role(&mut self, id: Id, name: String, end: Option<At>) {
        self.roles.push((id.into(), name));
        self.ends.extend(end.map(|end| (RoleId::from(id), end.into())));
    }
}

fn member((row, email, display_name, state): Shown, held: Held) -> Member {
    let Held { roles, ends, groups } = held;
    let role_ids = roles.iter().map(|(id, _)| *id).collect();
    let membership = row.with(role_ids, ends, groups.iter().map(|(id, _)| *id).collect());
    Member { membership, email, display_name, state: state.0, roles, groups }
}

pub(super) async fn list(
    store: &IdentityStore,
    tenant: TenantId,
    filter: &MemberFilter,
    access: &AccessFilter<resource::Member>,
    page: &PageRequest,
) -> Result<Page<Member>, StoreError> {
    let last = page::position_in_time(page)?;
    if access.is_empty() {
        return Ok(page::empty());
    }
    let items = read!(&store.db, |conn| {
        let mut query =
            shown!(members::table).filter(members::organization_id.eq(Id::from(tenant))).into_boxed();
        if let Some(q) = &filter.q {
            query = query.filter(users::search.like(search::anywhere(q)).escape('\\'));
        }
        if let Some(group) = filter.group {
            let of_group = group_members::table
                .filter(group_members::organization_id.eq(Id::from(tenant)))
                .filter(group_members::group_id.eq(Id::from(group)))
                .select(group_members::user_id);
            query = query.filter(members::user_id.eq_any(of_group));
        }
        let query = within!(query, access, members::user_id);
        let rows: Vec<Shown> = keyset!(query, (members::created_at, members::user_id), last, ascending)
            .limit(page::surplus(page))
            .load(conn)
            .await?;
        let ids: Vec<Id> = rows.iter().map(|row| row.0.user_id).collect();
        let bound: Vec<(Id, Id, String, Option<At>)> = bound!(Id::from(tenant))
            .filter(role_bindings::user_id.eq_any(ids.clone()))
            .select((role_bindings::user_id, roles::id, roles::name, role_bindings::expires_at))
            .load(conn)
            .await?;
        let grouped: Vec<(Id, Id, String)> = grouped!(Id::from(tenant))
            .filter(group_members::user_id.eq_any(ids))
            .select((group_members::user_id, groups::id, groups::name))
            .load(conn)
            .await?;
        let mut held: HashMap<Id, Held> = HashMap::new();
        for (user, role, name, end) in bound {
            held.entry(user).or_default().add_role(role, name, end);
        }
        for (user, group, name) in grouped {
            held.entry(user).or_default().groups.push((group.into(), name));
        }
        let with_held = |row: Shown| {
            let own = held.remove(&row.0.user_id).unwrap_or_default();
            member(row, own)
        };
        Ok(rows.into_iter().map(with_held).collect::<Vec<_>>())
    })?;
    Ok(Page::from_surplus(items, page.limit, |one: &Member| {
        (one.membership.created_at.micros(), one.membership.user_id.0)
    }))
}

pub(super) async fn get(store: &IdentityStore, tenant: TenantId, user: UserId) -> Result<Member, StoreError> {
    let (tenant, user) = (Id::from(tenant), Id::from(user));
    read!(&store.db, |conn| {
        let row: Shown = shown!(members::table)
            .filter(members::organization_id.eq(tenant).and(members::user_id.eq(user)))
            .first(conn)
            .await?;
        let bound: Vec<(Id, String, Option<At>)> = bound!(tenant)
            .filter(role_bindings::user_id.eq(user))
            .select((roles::id, roles::name, role_bindings::expires_at))
            .load(conn)
            .await?;
        let grouped: Vec<(Id, String)> = grouped!(tenant)
            .filter(group_members::user_id.eq(user))
            .select((groups::id, groups::name))
            .load(conn)
            .await?;
        let mut held = Held::default();
        bound.into_iter().for_each(|(id, name, end)| held.add_role(id, name, end));
        held.groups.extend(grouped.into_iter().map(|(id, name)| (GroupId::from(id), name)));
        Ok(member(row, held))
    })
}

/// Gives a member these roles and groups and no others. `NotFound` when one is not the organisation's.
pub(crate) async fn set_bindings<C: AsConn>(conn: &mut C, membership: &Membership) -> Result<(), Error> {
    let (tenant, user) = (Id::from(membership.tenant), Id::from(membership.user_id));
    on_conn!(conn, |conn| {
        diesel::delete(
            role_bindings::table
                .filter(role_bindings::organization_id.eq(tenant).and(role_bindings::user_id.eq(user))),
        )
        .execute(conn)
        .await?;
        for role in &membership.roles {
            // A role that is not there breaks the foreign key.
            let expires_at = membership.role_ends.get(role).copied().map(At);
            let row = RoleBindingRow {
                organization_id: tenant,
                user_id: user,
                role_id: (*role).into(),
                expires_at,
            };
            diesel::insert_into(role_bindings::table).values(&row).execute(conn).await?;
        }
        diesel::delete(
            group_members::table
                .filter(group_members::organization_id.eq(tenant).and(group_members::user_id.eq(user))),
        )
        .execute(conn)
        .await?;
        for group in &membership.groups {
            let row = GroupMemberRow { organization_id: tenant, user_id: user, group_id: (*group).into() };
            diesel::insert_into(group_members::table).values(&row).execute(conn).await?;
        }
    });
    Ok(())
}

/// The revision of a membership, if there is one, with the organisation's rights locked.
async fn lock<C: AsConn>(
    conn: &mut C,
    tenant: TenantId,
    user: UserId,
    rights: &RightsSeen,
) -> Result<Option<i64>, Error> {
    bump_resting(conn, tenant, rights).await?;
    let query = members::table.find((Id::from(tenant), Id::from(user))).select(members::revision);
    Ok(on_conn!(conn, |conn| query.first(conn).await.optional()?))
}

pub(super) async fn set(
    store: &IdentityStore,
    membership: &Membership,
    expected: Option<Revision>,
    journal: &Journal,
) -> Result<Change, StoreError> {
    let (tenant, user) = (membership.tenant, membership.user_id);
    let ids: Vec<Id> = membership.roles.iter().copied().map(Id::from).collect();
    let lasting = membership.roles.iter().filter(|role| !membership.role_ends.contains_key(role));
    let lasting: Vec<Id> = lasting.copied().map(Id::from).collect();
    let group_ids: Vec<Id> = membership.groups.iter().copied().map(Id::from).collect();
    write!(store, |conn| {
        let stored = lock(conn, tenant, user, &journal.rights).await?;
        let known: i64 = roles::table
            .filter(roles::organization_id.eq(Id::from(tenant)).and(roles::id.eq_any(&ids)))
            .count()
            .get_result(conn)
            .await?;
        let known_groups: i64 = groups::table
            .filter(groups::organization_id.eq(Id::from(tenant)).and(groups::id.eq_any(&group_ids)))
            .count()
            .get_result(conn)
            .await?;
        if known.unsigned_abs() != ids.len() as u64 || known_groups.unsigned_abs() != group_ids.len() as u64 {
            return Err(StoreError::NotFound.into());
        }
        let keys = Keys::before(conn, &[tenant], deleted_at(journal)).await?;
        let row = MemberRow::from(membership);
        match (stored, expected) {
            (None, None) => {
                diesel::insert_into(members::table).values(&row).execute(conn).await?;
            }
            (Some(_), None) => return Err(StoreError::Duplicate("members.user_id".to_owned()).into()),
            (None, Some(_)) => return Err(StoreError::NotFound.into()),
            (Some(stored), Some(expected)) => {
                revision::check(stored, expected)?;
                let stays = membership.expires_at.is_none() && owners::among(conn, tenant, &lasting).await?;
                if !stays && owners::is_last(conn, tenant, user).await? {
                    return Ok(Change::LastOwner);
                }
                diesel::update(members::table.find((row.organization_id, row.user_id)))
                    .set(MemberChange::from(&row).set())
                    .execute(conn)
                    .await?;
            }
        }
        set_bindings(conn, membership).await?;
        keys.kept(conn).await?;
        tombstone::clear(conn, of(tenant, Tombstone::Member(user))).await?;
        journal::write(conn, journal).await?;
        Ok(Change::Done)
    })
}

pub(super) async fn remove(
    store: &IdentityStore,
    tenant: TenantId,
    user: UserId,
    expected: Revision,
    journal: &Journal,
) -> Result<Change, StoreError> {
    write!(store, |conn| {
        let (organization, person) = (Id::from(tenant), Id::from(user));
        let stored = lock(conn, tenant, user, &journal.rights).await?;
        revision::check(stored.ok_or(StoreError::NotFound)?, expected)?;
        if owners::is_last(conn, tenant, user).await? {
            return Ok(Change::LastOwner);
        }
        let keys = Keys::before(conn, &[tenant], deleted_at(journal)).await?;
        diesel::delete(members::table.find((organization, person))).execute(conn).await?;
        keys.kept(conn).await?;
        diesel::delete(
            api_tokens::table
                .filter(api_tokens::organization_id.eq(organization).and(api_tokens::user_id.eq(person))),
        )
        .execute(conn)
        .await?;
        let to_user = grants::principal_kind.eq(PrincipalKindWord(PrincipalKind::User));
        diesel::delete(
            grants::table
                .filter(grants::organization_id.eq(organization).and(to_user))
                .filter(grants::principal_id.eq(person)),
        )
        .execute(conn)
        .await?;
        tombstone::write(conn, of(tenant, Tombstone::Member(user)), deleted_at(journal)).await?;
        journal::write(conn, journal).await?;
        Ok(Change::Done)
    })
}
