//! Sign-in by providers.

use crate::schema::{
    ExternalIdentityRow, MappedRoleRow, MemberChange, MemberRow, OrganizationRow, SessionRow, TakenSignInRow,
    external_identities, mapped_roles, members, organizations, roles, sessions, taken_sign_ins, users,
};
use async_trait::async_trait;
use diesel::{BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_identity::ports::{
    FederationStore, MappedMembership, ProviderAccount, ProviderOutcome, ProviderSession, Tombstone,
};
use heddle_identity::records::{ExternalIdentity, MappedRole, Organization};
use heddle_kernel::{Revision, Timestamp, UserId};
use heddle_store::{
    AsConn, At, Error, Id, StoreError, journal, on_conn, read, revision, tombstone, write_tx,
};
use heddle_usecase::{Journal, RightsSeen};

use super::members::set_bindings;
use super::owners::{self, Keys};
use super::users::{insert_row, organizations_of};
use crate::IdentityStore;
use crate::cache::write;
use crate::rights::{bump_authz_revision, bump_resting, lock_counted};
use crate::tombstones::of;

#[async_trait]
impl FederationStore for IdentityStore {
    async fn take(&self, state_sha256: &str, until: Timestamp) -> Result<bool, StoreError> {
        let row = TakenSignInRow { state_sha256: state_sha256.to_owned(), until: At(until) };
        write_tx!(&self.db, |conn| {
            let rows = diesel::insert_into(taken_sign_ins::table)
                .values(&row)
                .on_conflict_do_nothing()
                .execute(conn)
                .await?;
            Ok(rows > 0)
        })
    }

    async fn linked_user(&self, identity: &ExternalIdentity) -> Result<Option<UserId>, StoreError> {
        let key = (&identity.provider, &identity.issuer, &identity.subject);
        read!(&self.db, |conn| {
            let user: Option<Id> = external_identities::table
                .find(key)
                .select(external_identities::user_id)
                .first(conn)
                .await
                .optional()?;
            Ok(user.map(UserId::from))
        })
    }

    async fn identities_of(&self, user: UserId) -> Result<Vec<ExternalIdentity>, StoreError> {
        read!(&self.db, |conn| {
            let rows: Vec<ExternalIdentityRow> = external_identities::table
                .filter(external_identities::user_id.eq(Id::from(user)))
                .order(external_identities::provider)
                .select(ExternalIdentityRow::as_select())
                .load(conn)
                .await?;
            Ok(rows.into_iter().map(ExternalIdentity::from).collect())
        })
    }

    async fn organization_named(&self, slug: &str) -> Result<Option<Organization>, StoreError> {
        read!(&self.db, |conn| {
            let row: Option<OrganizationRow> = organizations::table
                .filter(organizations::slug.eq(slug))
                .select(OrganizationRow::as_select())
                .first(conn)
                .await
                .optional()?;
            Ok(row.map(Organization::from))
        })
    }

    async fn mapped_roles(&self, user: UserId) -> Result<Vec<MappedRole>, StoreError> {
        read!(&self.db, |conn| {
            let rows: Vec<MappedRoleRow> = mapped_roles::table
                .filter(mapped_roles::user_id.eq(Id::from(user)))
                .select(MappedRoleRow::as_select())
                .load(conn)
                .await?;
            Ok(rows.into_iter().map(MappedRole::from).collect())
        })
    }

    async fn open_by_provider(
        &self,
        new: &ProviderSession,
        journals: &[Journal],
    ) -> Result<ProviderOutcome, StoreError> {
        write!(self, |conn| open(conn, new, journals).await)
    }
}

async fn open<C: AsConn>(
    conn: &mut C,
    new: &ProviderSession,
    journals: &[Journal],
) -> Result<ProviderOutcome, Error> {
    let (user, at) = (Id::from(new.session.user_id), At(new.session.created_at));
    match &new.account {
        ProviderAccount::Known { seen } => {
            belongs(conn, &new.identity, user).await?;
            unchanged(conn, user, *seen).await?;
        }
        ProviderAccount::Linked { seen, rights } => {
            rests_on(conn, user, rights).await?;
            unchanged(conn, user, *seen).await?;
            link(conn, &new.identity, user, at).await?;
        }
        ProviderAccount::Made { user: account, limit } => {
            // Nothing is written yet: a refusal leaves nothing behind.
            if is_full(conn, *limit).await? {
                return Ok(ProviderOutcome::LimitReached);
            }
            insert_row(conn, account).await?;
            link(conn, &new.identity, user, at).await?;
        }
    }
    for one in &new.memberships {
        set_mapped(conn, one, &new.identity.provider, new.session.created_at).await?;
    }
    let row = SessionRow::from(&new.session);
    on_conn!(conn, |conn| {
        if let Some(token) = &new.replaces {
            diesel::delete(sessions::table.filter(sessions::token_sha256.eq(token))).execute(conn).await?;
        }
        diesel::insert_into(sessions::table).values(&row).execute(conn).await?;
    });
    for journal in journals {
        journal::write(conn, journal).await?;
    }
    Ok(ProviderOutcome::Done)
}

/// The id still belongs to the account.
async fn belongs<C: AsConn>(conn: &mut C, identity: &ExternalIdentity, user: Id) -> Result<(), Error> {
    let key = (&identity.provider, &identity.issuer, &identity.subject);
    let query = external_identities::table.find(key).select(external_identities::user_id);
    let owner: Option<Id> = on_conn!(conn, |conn| query.first(conn).await.optional()?);
    if owner == Some(user) { Ok(()) } else { Err(StoreError::Stale.into()) }
}

/// The account is what was read. The row is written: a change of it at the same time waits, or is waited for.
async fn unchanged<C: AsConn>(conn: &mut C, user: Id, seen: Revision) -> Result<(), Error> {
    let row = users::table.find(user).filter(users::revision.eq(seen.0));
    let rows =
        on_conn!(conn, |conn| diesel::update(row).set(users::revision.eq(seen.0)).execute(conn).await?);
    revision::met(rows)
}

/// The account's rights are everywhere what was read.
async fn rests_on<C: AsConn>(conn: &mut C, user: Id, rights: &RightsSeen) -> Result<(), Error> {
    let query = users::table.find(user).select(users::home_id);
    let home: Option<Id> = on_conn!(conn, |conn| query.first(conn).await.optional()?);
    let home = home.ok_or(StoreError::Stale)?;
    for tenant in organizations_of(conn, home.into(), user.into()).await? {
        bump_resting(conn, tenant, rights).await?;
    }
    Ok(())
}

async fn link<C: AsConn>(conn: &mut C, identity: &ExternalIdentity, user: Id, at: At) -> Result<(), Error> {
    let row = ExternalIdentityRow::of(identity, user, at);
    on_conn!(conn, |conn| {
        diesel::insert_into(external_identities::table).values(&row).execute(conn).await?;
    });
    Ok(())
}

/// Whether the licence allows no further account.
async fn is_full<C: AsConn>(conn: &mut C, limit: Option<u64>) -> Result<bool, Error> {
    let Some(limit) = limit else { return Ok(false) };
    lock_counted(conn).await?;
    let used: i64 = on_conn!(conn, |conn| users::table.count().get_result(conn).await?);
    Ok(used.unsigned_abs() >= limit)
}

/// Writes a membership as groups make it, and marks the roles that they give.
async fn set_mapped<C: AsConn>(
    conn: &mut C,
    one: &MappedMembership,
    provider: &str,
    now: Timestamp,
) -> Result<(), Error> {
    let membership = &one.membership;
    let (tenant, user) = (membership.tenant, membership.user_id);
    let row = MemberRow::from(membership);
    let (organization, person) = (row.organization_id, row.user_id);
    bump_authz_revision(conn, tenant).await?;
    let ids: Vec<Id> = membership.roles.iter().copied().map(Id::from).collect();
    let lasting = membership.roles.iter().filter(|role| !membership.role_ends.contains_key(role));
    let lasting: Vec<Id> = lasting.copied().map(Id::from).collect();
    let stored = members::table.find((organization, person)).select(members::revision);
    let known = roles::table.filter(roles::organization_id.eq(organization).and(roles::id.eq_any(&ids)));
    let (stored, known): (Option<i64>, i64) = on_conn!(conn, |conn| {
        (stored.first(conn).await.optional()?, known.count().get_result(conn).await?)
    });
    if known.unsigned_abs() != ids.len() as u64 {
        return Err(StoreError::Stale.into());
    }
    let keys = Keys::before(conn, &[tenant], now).await?;
    match (stored, one.expected) {
        (None, None) => on_conn!(conn, |conn| {
            diesel::insert_into(members::table).values(&row).execute(conn).await?;
        }),
        (Some(stored), Some(expected)) => {
            revision::check(stored, expected)?;
            let stays = membership.expires_at.is_none() && owners::among(conn, tenant, &lasting).await?;
            if !stays && owners::is_last(conn, tenant, user).await? {
                return Err(StoreError::LockOut.into());
            }
            on_conn!(conn, |conn| {
                diesel::update(members::table.find((organization, person)))
                    .set(MemberChange::from(&row).set())
                    .execute(conn)
                    .await?;
            });
        }
        (Some(_), None) | (None, Some(_)) => return Err(StoreError::Stale.into()),
    }
    set_bindings(conn, membership).await?;
    keys.kept(conn).await?;
    let marked = mapped_roles::user_id
        .eq(person)
        .and(mapped_roles::organization_id.eq(organization))
        .and(mapped_roles::provider.eq(provider));
    on_conn!(conn, |conn| {
        diesel::delete(mapped_roles::table.filter(marked)).execute(conn).await?;
        for role in &one.mapped {
            let row = MappedRoleRow {
                user_id: person,
                organization_id: organization,
                role_id: (*role).into(),
                provider: provider.to_owned(),
            };
            diesel::insert_into(mapped_roles::table).values(&row).execute(conn).await?;
        }
    });
    tombstone::clear(conn, of(tenant, Tombstone::Member(user))).await
}
