//! Accounts.

use crate::schema::{
    MemberRow, UserChange, UserRow, api_tokens, external_identities, grants, mapped_roles, members, sessions,
    users,
};
use diesel::{
    BoolExpressionMethods, EscapeExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl,
    SelectableHelper, TextExpressionMethods,
};
use diesel_async::RunQueryDsl;
use heddle_identity::ports::{Change, LimitOutcome, NewUser, Tombstone, UserFilter};
use heddle_identity::records::{PrincipalKind, User, UserState};
use heddle_kernel::{Page, PageRequest, Revision, TenantId, UserId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::{
    AsConn, At, Error, Id, StoreError, journal, keyset, on_conn, page, read, revision, search, tombstone,
    within,
};
use heddle_usecase::{Journal, RightsSeen};

use super::members::set_bindings;
use super::owners::{self, Keys};
use crate::IdentityStore;
use crate::cache::write;
use crate::factors;
use crate::rights::{bump_resting, lock_counted};
use crate::tombstones::{deleted_at, of};
use crate::words::{PrincipalKindWord, UserKindWord, UserStateWord};

/// At home or a member here.
macro_rules! belonging {
    ($tenant:expr) => {
        users::table.filter(users::home_id.eq(Id::from($tenant)).or(users::id.eq_any(
            members::table.filter(members::organization_id.eq(Id::from($tenant))).select(members::user_id),
        )))
    };
}

pub(super) async fn list(
    store: &IdentityStore,
    tenant: TenantId,
    filter: &UserFilter,
    access: &AccessFilter<resource::User>,
    page: &PageRequest,
) -> Result<Page<User>, StoreError> {
    let last = page::position_in_time(page)?;
    if access.is_empty() {
        return Ok(page::empty());
    }
    let items = read!(&store.db, |conn| {
        let mut query = belonging!(tenant).into_boxed();
        if let Some(q) = &filter.q {
            query = query.filter(users::search.like(search::anywhere(q)).escape('\\'));
        }
        if let Some(state) = filter.state {
            query = query.filter(users::state.eq(UserStateWord(state)));
        }
        if let Some(kind) = filter.kind {
            query = query.filter(users::kind.eq(UserKindWord(kind)));
        }
        let query = within!(query, access, users::id);
        let rows: Vec<UserRow> = keyset!(query, (users::created_at, users::id), last, ascending)
            .limit(page::surplus(page))
            .select(UserRow::as_select())
            .load(conn)
            .await?;
        Ok(rows.into_iter().map(User::from).collect::<Vec<_>>())
    })?;
    Ok(Page::from_surplus(items, page.limit, |user: &User| (user.created_at.micros(), user.id.0)))
}

pub(super) async fn get(store: &IdentityStore, tenant: TenantId, id: UserId) -> Result<User, StoreError> {
    read!(&store.db, |conn| {
        let row: UserRow = belonging!(tenant)
            .filter(users::id.eq(Id::from(id)))
            .select(UserRow::as_select())
            .first(conn)
            .await?;
        Ok(row.into())
    })
}

pub(crate) async fn insert_row<C: AsConn>(conn: &mut C, user: &User) -> Result<(), Error> {
    let row = UserRow::from(user);
    on_conn!(conn, |conn| {
        diesel::insert_into(users::table).values(&row).execute(conn).await?;
    });
    Ok(())
}

pub(super) async fn insert(
    store: &IdentityStore,
    new: &NewUser,
    limit: Option<u64>,
    journal: &Journal,
) -> Result<LimitOutcome, StoreError> {
    write!(store, |conn| {
        if let Some(limit) = limit {
            lock_counted(conn).await?;
            let used: i64 = users::table.count().get_result(conn).await?;
            if used.unsigned_abs() >= limit {
                return Ok(LimitOutcome::LimitReached { used: used.unsigned_abs() });
            }
        }
        let home = new.user.home;
        bump_resting(conn, home, &journal.rights).await?;
        insert_row(conn, &new.user).await?;
        diesel::insert_into(members::table).values(MemberRow::from(&new.membership)).execute(conn).await?;
        set_bindings(conn, &new.membership).await?;
        tombstone::clear(conn, of(home, Tombstone::User(new.user.id))).await?;
        tombstone::clear(conn, of(home, Tombstone::Member(new.user.id))).await?;
        journal::write(conn, journal).await?;
        Ok(LimitOutcome::Done)
    })
}

/// Home and all organisations with a membership, in one order for everybody: they are locked one by one.
pub(super) async fn organizations_of<C: AsConn>(
    conn: &mut C,
    home: TenantId,
    user: UserId,
) -> Result<Vec<TenantId>, Error> {
    let query = members::table.filter(members::user_id.eq(Id::from(user))).select(members::organization_id);
    let mut all: Vec<Id> = on_conn!(conn, |conn| query.load(conn).await?);
    all.push(home.into());
    all.sort_unstable();
    all.dedup();
    Ok(all.into_iter().map(TenantId::from).collect())
}

/// The account of this home at the expected revision, and its organisations with their rights locked.
async fn lock<C: AsConn>(
    conn: &mut C,
    home: TenantId,
    id: UserId,
    expected: Revision,
    rights: &RightsSeen,
) -> Result<(UserRow, Vec<TenantId>), Error> {
    let tenants = organizations_of(conn, home, id).await?;
    for tenant in &tenants {
        bump_resting(conn, *tenant, rights).await?;
    }
    let query = users::table.find(Id::from(id)).filter(users::home_id.eq(Id::from(home)));
    let row: Option<UserRow> =
        on_conn!(conn, |conn| query.select(UserRow::as_select()).first(conn).await.optional()?);
    let row = row.ok_or(StoreError::NotFound)?;
    revision::check(row.revision, expected)?;
    Ok((row, tenants))
}

pub(super) async fn providers_of(store: &IdentityStore, user: UserId) -> Result<Vec<String>, StoreError> {
    read!(&store.db, |conn| {
        Ok(external_identities::table
            .filter(external_identities::user_id.eq(Id::from(user)))
            .order(external_identities::provider)
            .select(external_identities::provider)
            .load::<String>(conn)
            .await?)
    })
}

pub(super) async fn unlink(
    store: &IdentityStore,
    user: &User,
    provider: &str,
    expected: Revision,
    journal: &Journal,
) -> Result<(), StoreError> {
    write!(store, |conn| {
        let key = Id::from(user.id);
        lock(conn, user.home, user.id, expected, &journal.rights).await?;
        let rows = diesel::update(users::table.find(key).filter(users::revision.eq(expected.0)))
            .set((users::revision.eq(user.revision.0), users::updated_at.eq(At(user.updated_at))))
            .execute(conn)
            .await?;
        revision::met(rows)?;
        let links = external_identities::user_id.eq(key).and(external_identities::provider.eq(provider));
        let rows = diesel::delete(external_identities::table.filter(links)).execute(conn).await?;
        revision::found(rows)?;
        let marks = mapped_roles::user_id.eq(key).and(mapped_roles::provider.eq(provider));
        diesel::delete(mapped_roles::table.filter(marks)).execute(conn).await?;
        let opened =
            sessions::table.filter(sessions::user_id.eq(key)).filter(sessions::provider.eq(provider));
        diesel::delete(opened).execute(conn).await?;
        journal::write(conn, journal).await
    })
}

pub(super) async fn update(
    store: &IdentityStore,
    user: &User,
    expected: Revision,
    journal: &Journal,
) -> Result<Change, StoreError> {
    write!(store, |conn| {
        let key = Id::from(user.id);
        let (old, tenants) = lock(conn, user.home, user.id, expected, &journal.rights).await?;
        let active = user.state == UserState::Active;
        let goes = !active && old.state.0 == UserState::Active;
        let keys = match goes {
            false => Keys::irrelevant(),
            true => Keys::before(conn, &tenants, deleted_at(journal)).await?,
        };
        for tenant in tenants.iter().filter(|_| goes) {
            if owners::is_last(conn, *tenant, user.id).await? {
                return Ok(Change::LastOwner);
            }
        }
        let new = UserRow::from(user);
        let rows = diesel::update(users::table.find(key).filter(users::revision.eq(expected.0)))
            .set(UserChange::from(&new).set())
            .execute(conn)
            .await?;
        revision::met(rows)?;
        keys.kept(conn).await?;
        let loses_factor = old.totp_enrolled_at.is_some() && new.totp_enrolled_at.is_none();
        if loses_factor {
            factors::take(conn, user.id, deleted_at(journal)).await?;
        }
        if !active || loses_factor || new.password_hash != old.password_hash {
            diesel::delete(sessions::table.filter(sessions::user_id.eq(key))).execute(conn).await?;
        }
        if !active {
            diesel::delete(api_tokens::table.filter(api_tokens::user_id.eq(key))).execute(conn).await?;
        }
        journal::write(conn, journal).await?;
        Ok(Change::Done)
    })
}

pub(super) async fn delete(
    store: &IdentityStore,
    home: TenantId,
    id: UserId,
    expected: Revision,
    journal: &Journal,
) -> Result<Change, StoreError> {
    write!(store, |conn| {
        let (_, tenants) = lock(conn, home, id, expected, &journal.rights).await?;
        for tenant in &tenants {
            if owners::is_last(conn, *tenant, id).await? {
                return Ok(Change::LastOwner);
            }
        }
        let keys = Keys::before(conn, &tenants, deleted_at(journal)).await?;
        let to_user = grants::principal_kind.eq(PrincipalKindWord(PrincipalKind::User));
        diesel::delete(grants::table.filter(to_user).filter(grants::principal_id.eq(Id::from(id))))
            .execute(conn)
            .await?;
        // Memberships, sessions and tokens go with the account.
        diesel::delete(users::table.find(Id::from(id))).execute(conn).await?;
        keys.kept(conn).await?;
        let at = deleted_at(journal);
        for tenant in tenants {
            tombstone::write(conn, of(tenant, Tombstone::Member(id)), at).await?;
        }
        tombstone::write(conn, of(home, Tombstone::User(id)), at).await?;
        journal::write(conn, journal).await?;
        Ok(Change::Done)
    })
}
