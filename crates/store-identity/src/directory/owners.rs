//! Somebody stays in charge: every organisation keeps an active person with the owner role of their own, whose
//! membership and role have no end, and one of them who is not kept from mending its rights, nor from lifting a deny. What a
//! group gives does not count, so that no change of a group takes the last owner.

use crate::access::facts;
use crate::schema::{UserRow, members, role_bindings, roles, users};
use crate::words::{UserKindWord, UserStateWord};
use diesel::{BoolExpressionMethods, ExpressionMethods, JoinOnDsl, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_identity::records::{User, UserKind, UserState};
use heddle_identity::{Hold, hold_of};
use heddle_kernel::{TenantId, Timestamp, UserId};
use heddle_policy::system_roles::OWNER;
use heddle_store::{AsConn, Error, Id, StoreError, on_conn};

/// The owners of an organisation who can sign in, are in use, and whose membership and role have no end.
macro_rules! owners {
    ($tenant:expr) => {
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
            .filter(members::organization_id.eq(Id::from($tenant)))
            .filter(members::expires_at.is_null())
            .filter(role_bindings::expires_at.is_null())
            .filter(users::kind.eq(UserKindWord(UserKind::Person)))
            .filter(users::state.eq(UserStateWord(UserState::Active)))
            .filter(roles::system.eq(true).and(roles::name.eq(OWNER)))
    };
}

/// Whether the user is in charge of the organisation and nobody else is. Asked after the organisation's
/// authorization revision was raised, so that nobody else gives up the role at the same time.
pub(super) async fn is_last<C: AsConn>(conn: &mut C, tenant: TenantId, user: UserId) -> Result<bool, Error> {
    let owners: Vec<Id> =
        on_conn!(conn, |conn| owners!(tenant).select(members::user_id).limit(2).load(conn).await?);
    Ok(owners == [Id::from(user)])
}

/// Organisations in which an owner could mend rights before a change, after which one must still be there who can as much.
pub(super) struct Keys {
    held: Vec<(TenantId, Hold)>,
    now: Timestamp,
}

impl Keys {
    /// Those of a change that takes nothing from anybody.
    pub(super) const fn irrelevant() -> Self {
        Self { held: Vec::new(), now: Timestamp::from_micros(0) }
    }

    /// Looks before the change, once the authorization revisions of the organisations were raised.
    pub(super) async fn before<C: AsConn>(
        conn: &mut C,
        tenants: &[TenantId],
        now: Timestamp,
    ) -> Result<Self, Error> {
        let mut held = Vec::new();
        for tenant in tenants {
            held.push((*tenant, most_held(conn, *tenant, now).await?));
        }
        Ok(Self { held, now })
    }

    /// Looks again behind the change: `LockOut` when nobody is left who can as much, which takes the change back.
    pub(super) async fn kept<C: AsConn>(&self, conn: &mut C) -> Result<(), Error> {
        for (tenant, before) in self.held.iter().filter(|(_, before)| *before > Hold::Nothing) {
            if most_held(conn, *tenant, self.now).await? < *before {
                return Err(StoreError::LockOut.into());
            }
        }
        Ok(())
    }
}

/// The most that one of the owners can mend of the rights of the organisation. The first one mostly can all.
async fn most_held<C: AsConn>(conn: &mut C, tenant: TenantId, now: Timestamp) -> Result<Hold, Error> {
    let owners: Vec<UserRow> = on_conn!(conn, |conn| {
        owners!(tenant).order(users::id).select(UserRow::as_select()).load(conn).await?
    });
    let mut most = Hold::Nothing;
    for owner in owners.into_iter().map(User::from) {
        let standing = facts(conn, tenant, owner.id).await?;
        most = most.max(hold_of(&owner, tenant, &standing, now));
        if most == Hold::All {
            break;
        }
    }
    Ok(most)
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
