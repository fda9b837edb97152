//! Somebody stays in charge: every organisation keeps an active member with the owner role and without an end.

use crate::schema::{members, role_bindings, roles, users};
use crate::words::UserStateWord;
use diesel::{BoolExpressionMethods, ExpressionMethods, JoinOnDsl, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_identity::records::UserState;
use heddle_kernel::{TenantId, UserId};
use heddle_policy::system_roles::OWNER;
use heddle_store::{AsConn, Error, Id, on_conn};

/// Whether the user is in charge of the organisation and nobody else is. Asked after the organisation's
/// authorization revision was raised, so that nobody else gives up the role at the same time.
pub(super) async fn is_last<C: AsConn>(conn: &mut C, tenant: TenantId, user: UserId) -> Result<bool, Error> {
    let owners: Vec<Id> = on_conn!(conn, |conn| {
        members::table
            .inner_join(users::table.on(users::id.eq(members::user_id)))
            .inner_join(
                role_bindings::table.on(role_bindings::organization_id
                    .eq(members::organization_id)
                    .and(role_bindings::user_id.eq(members::user_id))),
            )
            .inner_join(
                roles::table.on(roles::organization_id
                    .eq(role_bindings::organization_id)
                    .and(roles::id.eq(role_bindings::role_id))),
            )
            .filter(members::organization_id.eq(Id::from(tenant)))
            .filter(members::expires_at.is_null())
            .filter(users::state.eq(UserStateWord(UserState::Active)))
            .filter(roles::system.eq(true).and(roles::name.eq(OWNER)))
            .select(members::user_id)
            .limit(2)
            .load(conn)
            .await?
    });
    Ok(owners == [Id::from(user)])
}

/// Whether one of these roles is the owner role.
pub(super) async fn among<C: AsConn>(conn: &mut C, tenant: TenantId, ids: &[Id]) -> Result<bool, Error> {
    let owner: i64 = on_conn!(conn, |conn| {
        roles::table
            .filter(roles::organization_id.eq(Id::from(tenant)))
            .filter(roles::id.eq_any(ids))
            .filter(roles::system.eq(true).and(roles::name.eq(OWNER)))
            .count()
            .get_result(conn)
            .await?
    });
    Ok(owner > 0)
}
