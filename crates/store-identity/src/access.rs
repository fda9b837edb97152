//! Identity and rights behind a token, read on the path of every request.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::schema::{
    GrantDbRow, MemberRow, RoleRow, SessionRow, TokenRow, UserRow, api_tokens, grants, group_members,
    group_roles, groups, members, role_bindings, roles, sessions, tenant_authz, users,
};
use async_trait::async_trait;
use diesel::{
    BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, OptionalExtension,
    QueryDsl, SelectableHelper,
};
use diesel_async::RunQueryDsl;
use heddle_identity::ports::{Access, AccessStore, Credential, TenantAccess, TokenKind};
use heddle_identity::records::{GrantRow, PrincipalKind, Role, RoleEnds, User};
use heddle_kernel::{GroupId, RoleId, TenantId, Timestamp, UserId};
use heddle_store::{AsConn, At, Db, Error, Id, StoreError, on_conn, read, write_tx};

use crate::IdentityStore;
use crate::words::PrincipalKindWord;

diesel::define_sql_function! {
    /// The first that is not null.
    #[sql_name = "coalesce"]
    fn coalesce_id(
        first: diesel::sql_types::Nullable<heddle_store::DbUuid>,
        second: heddle_store::DbUuid,
    ) -> heddle_store::DbUuid;
}

diesel::define_sql_function! {
    /// The first that is not null, if one is.
    #[sql_name = "coalesce"]
    fn coalesce_ids(
        first: diesel::sql_types::Nullable<heddle_store::DbUuid>,
        second: diesel::sql_types::Nullable<heddle_store::DbUuid>,
    ) -> diesel::sql_types::Nullable<heddle_store::DbUuid>;
}

/// Most readings of rights that change while they are read.
const TRIES: usize = 8;

/// Credential and user of a token, and the authorization revision of the organisation that counts.
pub(crate) type Found = (Credential, User, i64);

/// A token that was shown, and the organisation that was named with it.
pub(crate) type Shown = (TokenKind, String, Option<TenantId>);

/// One statement.
async fn find(db: &Db, (kind, token_sha256, tenant): Shown) -> Result<Option<Found>, StoreError> {
    let tenant = tenant.map(Id::from);
    read!(db, |conn| match kind {
        TokenKind::Session => {
            let row: Option<(SessionRow, UserRow, Option<i64>)> = sessions::table
                .inner_join(users::table.on(users::id.eq(sessions::user_id)))
                .left_join(
                    tenant_authz::table
                        .on(tenant_authz::organization_id.eq(coalesce_id(tenant, sessions::organization_id))),
                )
                .filter(sessions::token_sha256.eq(token_sha256))
                .select((SessionRow::as_select(), UserRow::as_select(), tenant_authz::revision.nullable()))
                .first(conn)
                .await
                .optional()?;
            let Some((session, user, revision)) = row else { return Ok(None) };
            Ok(Some((Credential::Session(session.into()), user.into(), revision.unwrap_or(0))))
        }
        TokenKind::ApiToken => {
            let row: Option<(TokenRow, UserRow, Option<i64>)> = api_tokens::table
                .inner_join(users::table.on(users::id.eq(api_tokens::user_id)))
                .left_join(
                    tenant_authz::table.on(tenant_authz::organization_id
                        .eq(coalesce_id(coalesce_ids(tenant, api_tokens::organization_id), users::home_id))),
                )
                .filter(api_tokens::token_sha256.eq(token_sha256))
                .select((TokenRow::as_select(), UserRow::as_select(), tenant_authz::revision.nullable()))
                .first(conn)
                .await
                .optional()?;
            let Some((token, user, revision)) = row else { return Ok(None) };
            Ok(Some((Credential::ApiToken(token.try_into()?), user.into(), revision.unwrap_or(0))))
        }
    })
}

impl IdentityStore {
    /// The credential of a token: on SQLite read, since what is read stays in memory; on PostgreSQL shared by those who ask
    /// at the same time, each read behind all who are told its answer.
    async fn find(&self, shown: Shown) -> Result<Option<Found>, StoreError> {
        match &self.db {
            Db::Sqlite(_) => find(&self.db, shown).await,
            Db::Postgres(_) => {
                let db = self.db.clone();
                self.shown.ask(shown.clone(), || async move { find(&db, shown).await }).await
            }
        }
    }

    /// Access of a user at a revision: kept, or read.
    async fn standing_at(
        &self,
        tenant: TenantId,
        user: UserId,
        revision: i64,
    ) -> Result<Arc<TenantAccess>, StoreError> {
        if let Some(standing) = self.cache.standing(tenant, user, revision) {
            return Ok(standing);
        }
        let standing = Arc::new(read_standing(&self.db, tenant, user).await?);
        self.cache.keep_standing(tenant, user, &standing);
        Ok(standing)
    }
}

/// Membership, roles and grants of one revision: what is read between two equal revisions belongs together,
/// since every change raises it.
async fn read_standing(db: &Db, tenant: TenantId, user: UserId) -> Result<TenantAccess, StoreError> {
    for _ in 0..TRIES {
        let (before, mut standing, after) = read!(db, |conn| {
            let before = revision(conn, tenant).await?;
            let standing = facts(conn, tenant, user).await?;
            Ok((before, standing, revision(conn, tenant).await?))
        })?;
        if before == after {
            standing.revision = before;
            return Ok(standing);
        }
    }
    Err(StoreError::Unavailable("the rights change faster than they can be read".to_owned()))
}

async fn revision<C: AsConn>(conn: &mut C, tenant: TenantId) -> Result<i64, Error> {
    let query = tenant_authz::table.find(Id::from(tenant)).select(tenant_authz::revision);
    let revision: Option<i64> = on_conn!(conn, |conn| query.first(conn).await.optional()?);
    Ok(revision.unwrap_or(0))
}

/// Roles by id, with their ends.
#[derive(Default)]
pub(crate) struct Held {
    roles: BTreeMap<Id, RoleRow>,
    ends: RoleEnds,
}

impl Held {
    /// Adds a role that is held until an instant: of several ends the last one counts, and none is the last of all.
    pub(crate) fn add(&mut self, row: RoleRow, end: Option<At>) {
        let (id, end) = (row.id, end.map(Timestamp::from));
        let before = self.roles.insert(id, row).map(|_| self.ends.get(&RoleId::from(id)).copied());
        let latest = match (before, end) {
            (None, end) => end,
            (Some(None), _) | (Some(_), None) => None,
            (Some(Some(before)), Some(end)) => Some(before.max(end)),
        };
        match latest {
            Some(end) => self.ends.insert(id.into(), end),
            None => self.ends.remove(&RoleId::from(id)),
        };
    }

    /// The ids of the roles.
    pub(crate) fn ids(&self) -> Vec<Id> {
        self.roles.keys().copied().collect()
    }

    /// The roles by id, and their ends.
    pub(crate) fn finish(self) -> Result<(Vec<Role>, RoleEnds), Error> {
        let roles = self.roles.into_values().map(Role::try_from).collect::<Result<_, _>>()?;
        Ok((roles, self.ends))
    }
}

/// The roles that groups give.
macro_rules! given_by_groups {
    ($tenant:expr, $groups:expr) => {
        group_roles::table
            .inner_join(
                roles::table.on(roles::organization_id
                    .eq(group_roles::organization_id)
                    .and(roles::id.eq(group_roles::role_id))),
            )
            .filter(group_roles::organization_id.eq($tenant))
            .filter(group_roles::group_id.eq_any($groups))
            .select((RoleRow::as_select(), group_roles::expires_at))
    };
}

/// The grants and denies to principals of a kind.
macro_rules! to_any {
    ($kind:ident, $ids:expr) => {
        grants::principal_kind
            .eq(PrincipalKindWord(PrincipalKind::$kind))
            .and(grants::principal_id.eq_any($ids))
            .assume_not_null()
    };
}

/// The groups in which a user is, with their names.
macro_rules! groups_of {
    ($tenant:expr, $user:expr) => {
        group_members::table
            .inner_join(
                groups::table.on(groups::organization_id
                    .eq(group_members::organization_id)
                    .and(groups::id.eq(group_members::group_id))),
            )
            .filter(group_members::organization_id.eq($tenant).and(group_members::user_id.eq($user)))
            .order(groups::name)
            .select((groups::id, groups::name))
    };
}

pub(crate) use {given_by_groups, to_any};

/// Membership, groups, roles and grants of a user in an organisation, without its authorization revision.
pub(crate) async fn facts<C: AsConn>(
    conn: &mut C,
    tenant: TenantId,
    user: UserId,
) -> Result<TenantAccess, Error> {
    let (tenant, user) = (Id::from(tenant), Id::from(user));
    on_conn!(conn, |conn| {
        let member: Option<MemberRow> = members::table
            .find((tenant, user))
            .select(MemberRow::as_select())
            .first(conn)
            .await
            .optional()?;
        let in_groups: Vec<(Id, String)> = groups_of!(tenant, user).load(conn).await?;
        let bound: Vec<(RoleRow, Option<At>)> = role_bindings::table
            .inner_join(
                roles::table.on(roles::organization_id
                    .eq(role_bindings::organization_id)
                    .and(roles::id.eq(role_bindings::role_id))),
            )
            .filter(role_bindings::organization_id.eq(tenant).and(role_bindings::user_id.eq(user)))
            .select((RoleRow::as_select(), role_bindings::expires_at))
            .load(conn)
            .await?;
        let (mut held, mut own, mut own_ends) = (Held::default(), Vec::new(), RoleEnds::new());
        for (role, end) in bound {
            own.push(RoleId::from(role.id));
            own_ends.extend(end.map(|end| (RoleId::from(role.id), end.into())));
            held.add(role, end);
        }
        let group_ids: Vec<Id> = in_groups.iter().map(|(id, _)| *id).collect();
        if !group_ids.is_empty() {
            let given: Vec<(RoleRow, Option<At>)> =
                given_by_groups!(tenant, group_ids.clone()).load(conn).await?;
            given.into_iter().for_each(|(role, end)| held.add(role, end));
        }
        let to_user = grants::principal_kind
            .eq(PrincipalKindWord(PrincipalKind::User))
            .and(grants::principal_id.eq(user));
        let applying: Vec<GrantDbRow> = grants::table
            .filter(grants::organization_id.eq(tenant))
            .filter(
                grants::principal_kind
                    .eq(PrincipalKindWord(PrincipalKind::Everyone))
                    .or(to_user.assume_not_null())
                    .or(to_any!(Group, group_ids))
                    .or(to_any!(Role, held.ids())),
            )
            .order(grants::id)
            .select(GrantDbRow::as_select())
            .load(conn)
            .await?;
        let (roles, role_ends) = held.finish()?;
        let groups: Vec<(GroupId, String)> =
            in_groups.into_iter().map(|(id, name)| (id.into(), name)).collect();
        let in_them = groups.iter().map(|(id, _)| *id).collect();
        Ok(TenantAccess {
            membership: member.map(|member| member.with(own, own_ends, in_them)),
            roles,
            role_ends,
            groups,
            grants: applying.into_iter().map(GrantRow::try_from).collect::<Result<_, _>>()?,
            revision: 0,
        })
    })
}

#[async_trait]
impl AccessStore for IdentityStore {
    async fn access(
        &self,
        kind: TokenKind,
        token_sha256: &str,
        tenant: Option<TenantId>,
    ) -> Result<Option<Access>, StoreError> {
        if let Some(access) = self.cache.access(kind, token_sha256, tenant) {
            return Ok(Some(access));
        }
        let generation = self.cache.generation();
        let Some((credential, user, revision)) = self.find((kind, token_sha256.to_owned(), tenant)).await?
        else {
            return Ok(None);
        };
        let own = match &credential {
            Credential::Session(session) => session.tenant,
            Credential::ApiToken(token) => token.tenant.unwrap_or(user.home),
            // No token stands for it.
            Credential::CommandLine(_) => user.home,
        };
        let in_tenant = tenant.unwrap_or(own);
        let standing = self.standing_at(in_tenant, user.id, revision).await?;
        let access = Access { credential, user, tenant: in_tenant, standing };
        self.cache.keep_access((kind, token_sha256.to_owned(), tenant), generation, &access);
        Ok(Some(access))
    }

    async fn standing(
        &self,
        tenant: TenantId,
        user: UserId,
    ) -> Result<Option<(User, TenantAccess)>, StoreError> {
        let found = read!(&self.db, |conn| {
            let row: Option<UserRow> = users::table
                .find(Id::from(user))
                .select(UserRow::as_select())
                .first(conn)
                .await
                .optional()?;
            Ok(row.map(User::from))
        })?;
        let Some(account) = found else { return Ok(None) };
        let standing = read_standing(&self.db, tenant, user).await?;
        let belongs = account.home == tenant || standing.membership.is_some();
        Ok(belongs.then_some((account, standing)))
    }

    async fn tenants_of(&self, user: UserId) -> Result<Vec<TenantId>, StoreError> {
        read!(&self.db, |conn| {
            let rows: Vec<Id> = members::table
                .filter(members::user_id.eq(Id::from(user)))
                .order(members::organization_id)
                .select(members::organization_id)
                .load(conn)
                .await?;
            Ok(rows.into_iter().map(TenantId::from).collect())
        })
    }

    async fn touch(&self, kind: TokenKind, token_sha256: &str, at: Timestamp) -> Result<(), StoreError> {
        self.cache.seen(kind, token_sha256, at);
        // No change of rights: the generation stays.
        write_tx!(&self.db, |conn| {
            match kind {
                TokenKind::Session => {
                    diesel::update(sessions::table.filter(sessions::token_sha256.eq(token_sha256)))
                        .set(sessions::last_seen_at.eq(At(at)))
                        .execute(conn)
                        .await?;
                }
                TokenKind::ApiToken => {
                    diesel::update(api_tokens::table.filter(api_tokens::token_sha256.eq(token_sha256)))
                        .set(api_tokens::last_used_at.eq(At(at)))
                        .execute(conn)
                        .await?;
                }
            }
            Ok(())
        })
    }
}
