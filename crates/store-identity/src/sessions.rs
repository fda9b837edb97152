//! Sign-in, sessions, passwords and API tokens.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use crate::schema::{
    OrganizationRow, SessionRow, ThrottleChange, ThrottleRow, TokenRow, UserRow, api_tokens, group_members,
    group_roles, members, organizations, role_bindings, roles, sessions, sign_in_throttle as throttle,
    taken_sign_ins, users,
};
use async_trait::async_trait;
use diesel::{
    BoolExpressionMethods, EscapeExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods,
    OptionalExtension, QueryDsl, SelectableHelper, TextExpressionMethods,
};
use diesel_async::RunQueryDsl;
use heddle_identity::ports::{Attempt, NewSession, PasswordChange, SessionStore};
use heddle_identity::records::{ApiToken, OwnOrganization, Session, Throttle, User};
use heddle_identity::throttle::{Bucket, MOST_BUCKETS, Verdict};
use heddle_kernel::{Page, PageRequest, Revision, SessionId, TenantId, Timestamp, TokenId, UserId};
use heddle_store::audit::INSTALLATION;
use heddle_store::lock::serialise;
use heddle_store::revision::found;
use heddle_store::schema::tombstones;
use heddle_store::tombstone::{self, Tombstone};
use heddle_store::{
    AsConn, At, Error, Id, StoreError, journal, keyset, on_conn, page, read, revision, search, write_tx,
};
use heddle_usecase::Journal;

use crate::IdentityStore;
use crate::cache::write;
use crate::factors;
use crate::rights::bump_resting;
use crate::tombstones::{actor, deleted_at};

/// A deleted token is remembered for its user, not for an organisation: a repeat does not name one.
fn token_kind(user: UserId) -> String {
    format!("api-token of {user}")
}

/// An ended session is remembered for who ended it: nobody else learns that it was there.
fn ended_by(user: UserId) -> String {
    format!("{ENDED}{user}")
}

/// Kind of the tombstones of sessions, before the id of who ended them.
const ENDED: &str = "session ended by ";

/// Tries between two looks at how many buckets there are.
const TRIM_EVERY: u64 = 256;

/// Buckets in one order for everybody: they are locked one by one.
fn in_order(buckets: &[Bucket]) -> Vec<Bucket> {
    let mut buckets = buckets.to_vec();
    buckets.sort_by(|one, other| one.key.cmp(&other.key));
    buckets
}

/// Takes a try back from buckets.
async fn forgive<C: AsConn>(conn: &mut C, buckets: &[Bucket]) -> Result<(), Error> {
    for bucket in in_order(buckets) {
        serialise(conn, &bucket.key).await?;
        on_conn!(conn, |conn| {
            let kept: Option<ThrottleRow> = throttle::table
                .find(&bucket.key)
                .select(ThrottleRow::as_select())
                .first(conn)
                .await
                .optional()?;
            if let Some(kept) = kept {
                let back = heddle_identity::throttle::forgiven(bucket.pace, kept.into());
                let row = ThrottleRow::of(&bucket.key, back);
                diesel::update(throttle::table.find(&bucket.key))
                    .set(ThrottleChange::from(&row).set())
                    .execute(conn)
                    .await?;
            }
        });
    }
    Ok(())
}

/// Removes the oldest buckets beyond so many.
async fn trim<C: AsConn>(conn: &mut C, most: u32) -> Result<usize, Error> {
    let youngest_to_go = throttle::table
        .order(throttle::last_at.desc())
        .offset(i64::from(most))
        .limit(1)
        .select(throttle::last_at);
    Ok(on_conn!(conn, |conn| {
        let beyond: Option<At> = youngest_to_go.first(conn).await.optional()?;
        match beyond {
            Some(at) => {
                diesel::delete(throttle::table.filter(throttle::last_at.le(at))).execute(conn).await?
            }
            None => 0,
        }
    }))
}

#[async_trait]
impl SessionStore for IdentityStore {
    async fn attempt(&self, buckets: &[Bucket], now: Timestamp) -> Result<Attempt, StoreError> {
        let buckets = in_order(buckets);
        let trims = self.tries.fetch_add(1, Ordering::Relaxed).is_multiple_of(TRIM_EVERY);
        write_tx!(&self.db, |conn| {
            let mut counted = Vec::new();
            let mut until: Option<Timestamp> = None;
            for bucket in &buckets {
                serialise(conn, &bucket.key).await?;
                let kept: Option<ThrottleRow> = throttle::table
                    .find(&bucket.key)
                    .select(ThrottleRow::as_select())
                    .first(conn)
                    .await
                    .optional()?;
                match heddle_identity::throttle::next(bucket.pace, kept.map(Throttle::from), now) {
                    Verdict::Counted(new) => counted.push(ThrottleRow::of(&bucket.key, new)),
                    Verdict::Wait(wait) => until = until.max(Some(wait)),
                }
            }
            if let Some(next_at) = until {
                return Ok(Attempt::Refused { next_at });
            }
            for row in &counted {
                diesel::insert_into(throttle::table)
                    .values(row)
                    .on_conflict(throttle::account_key)
                    .do_update()
                    .set(ThrottleChange::from(row).set())
                    .execute(conn)
                    .await?;
            }
            if trims {
                trim(conn, MOST_BUCKETS).await?;
            }
            Ok(Attempt::Allowed)
        })
    }

    async fn forgive(&self, buckets: &[Bucket]) -> Result<(), StoreError> {
        write_tx!(&self.db, |conn| forgive(conn, buckets).await)
    }

    async fn forget(&self, keys: &[String], journal: &Journal) -> Result<u64, StoreError> {
        write_tx!(&self.db, |conn| {
            let mut rows = 0;
            for key in keys {
                let below = search::beginning(&format!("{key}/"));
                let of_key = throttle::account_key.eq(key).or(throttle::account_key.like(below).escape('\\'));
                rows += diesel::delete(throttle::table.filter(of_key)).execute(conn).await?;
            }
            journal::write(conn, journal).await?;
            Ok(rows as u64)
        })
    }

    async fn user_by_email(&self, email: &str) -> Result<Option<User>, StoreError> {
        read!(&self.db, |conn| {
            let row: Option<UserRow> = users::table
                .filter(users::email.eq(email))
                .select(UserRow::as_select())
                .first(conn)
                .await
                .optional()?;
            Ok(row.map(User::from))
        })
    }

    async fn user(&self, id: UserId) -> Result<Option<User>, StoreError> {
        read!(&self.db, |conn| {
            let row: Option<UserRow> =
                users::table.find(Id::from(id)).select(UserRow::as_select()).first(conn).await.optional()?;
            Ok(row.map(User::from))
        })
    }

    async fn organizations_of(
        &self,
        user: UserId,
        now: Timestamp,
    ) -> Result<Vec<OwnOrganization>, StoreError> {
        let user = Id::from(user);
        read!(&self.db, |conn| {
            let unended = members::expires_at.is_null().or(members::expires_at.assume_not_null().gt(At(now)));
            let lasting = role_bindings::expires_at
                .is_null()
                .or(role_bindings::expires_at.assume_not_null().gt(At(now)));
            let rows: Vec<OrganizationRow> = organizations::table
                .inner_join(members::table.on(members::organization_id.eq(organizations::id)))
                .filter(members::user_id.eq(user).and(unended))
                .order(organizations::slug)
                .select(OrganizationRow::as_select())
                .load(conn)
                .await?;
            let bound: Vec<(Id, String)> = role_bindings::table
                .inner_join(
                    roles::table.on(roles::organization_id
                        .eq(role_bindings::organization_id)
                        .and(roles::id.eq(role_bindings::role_id))),
                )
                .filter(role_bindings::user_id.eq(user).and(lasting))
                .filter(
                    role_bindings::organization_id.eq_any(rows.iter().map(|row| row.id).collect::<Vec<_>>()),
                )
                .select((roles::organization_id, roles::name))
                .load(conn)
                .await?;
            let unended_here =
                group_roles::expires_at.is_null().or(group_roles::expires_at.assume_not_null().gt(At(now)));
            let by_groups: Vec<(Id, String)> = group_members::table
                .inner_join(
                    group_roles::table.on(group_roles::organization_id
                        .eq(group_members::organization_id)
                        .and(group_roles::group_id.eq(group_members::group_id))),
                )
                .inner_join(
                    roles::table.on(roles::organization_id
                        .eq(group_roles::organization_id)
                        .and(roles::id.eq(group_roles::role_id))),
                )
                .filter(group_members::user_id.eq(user).and(unended_here))
                .filter(
                    group_members::organization_id.eq_any(rows.iter().map(|row| row.id).collect::<Vec<_>>()),
                )
                .select((roles::organization_id, roles::name))
                .load(conn)
                .await?;
            let own = |row: OrganizationRow| {
                let here = bound.iter().chain(&by_groups).filter(|(organization, _)| *organization == row.id);
                let names: BTreeSet<String> = here.map(|(_, name)| name.clone()).collect();
                OwnOrganization { organization: row.into(), roles: names.into_iter().collect() }
            };
            Ok(rows.into_iter().map(own).collect())
        })
    }

    async fn open(&self, new: &NewSession, journal: &Journal) -> Result<(), StoreError> {
        write!(self, |conn| {
            // The row is written in any case: a change of the account at the same time waits, or is waited for.
            let user =
                users::table.find(Id::from(new.session.user_id)).filter(users::revision.eq(new.seen.0));
            let written = match &new.rehash {
                Some(hash) => diesel::update(user).set(users::password_hash.eq(hash)).execute(conn).await?,
                None => diesel::update(user).set(users::revision.eq(new.seen.0)).execute(conn).await?,
            };
            revision::met(written)?;
            if let Some(proof) = &new.factor {
                factors::spend(conn, new.session.user_id, proof).await?;
            }
            for bucket in in_order(&[new.forgotten.as_slice(), &new.forgiven].concat()) {
                serialise(conn, &bucket.key).await?;
            }
            for bucket in &new.forgotten {
                diesel::delete(throttle::table.find(&bucket.key)).execute(conn).await?;
            }
            forgive(conn, &new.forgiven).await?;
            if let Some(token) = &new.replaces {
                diesel::delete(sessions::table.filter(sessions::token_sha256.eq(token)))
                    .execute(conn)
                    .await?;
            }
            diesel::insert_into(sessions::table).values(SessionRow::from(&new.session)).execute(conn).await?;
            journal::write(conn, journal).await
        })
    }

    async fn rehash(&self, user: UserId, seen: Revision, hash: &str) -> Result<(), StoreError> {
        write!(self, |conn| {
            let user = users::table.find(Id::from(user)).filter(users::revision.eq(seen.0));
            diesel::update(user).set(users::password_hash.eq(hash)).execute(conn).await?;
            Ok(())
        })
    }

    async fn session(&self, id: SessionId) -> Result<Option<(Session, TenantId)>, StoreError> {
        read!(&self.db, |conn| {
            let row: Option<(SessionRow, Id)> = sessions::table
                .inner_join(users::table.on(users::id.eq(sessions::user_id)))
                .filter(sessions::id.eq(Id::from(id)))
                .select((SessionRow::as_select(), users::home_id))
                .first(conn)
                .await
                .optional()?;
            Ok(row.map(|(session, home)| (session.into(), home.into())))
        })
    }

    async fn sessions(&self, user: UserId, now: Timestamp) -> Result<Vec<Session>, StoreError> {
        read!(&self.db, |conn| {
            let rows: Vec<SessionRow> = sessions::table
                .filter(sessions::user_id.eq(Id::from(user)).and(sessions::expires_at.gt(At(now))))
                .order((sessions::created_at.desc(), sessions::id.desc()))
                .select(SessionRow::as_select())
                .load(conn)
                .await?;
            Ok(rows.into_iter().map(Session::from).collect())
        })
    }

    async fn end(&self, id: SessionId, journal: &Journal) -> Result<(), StoreError> {
        write!(self, |conn| {
            let rows = diesel::delete(sessions::table.find(Id::from(id))).execute(conn).await?;
            if rows == 0 {
                return Ok(());
            }
            if let Some(by) = actor(journal) {
                let kind = ended_by(by);
                tombstone::write(conn, Tombstone::of(INSTALLATION, &kind, id), deleted_at(journal)).await?;
            }
            journal::write(conn, journal).await
        })
    }

    async fn was_ended(&self, by: UserId, id: SessionId) -> Result<bool, StoreError> {
        let kind = ended_by(by);
        read!(&self.db, |conn| tombstone::exists(conn, Tombstone::of(INSTALLATION, &kind, id)).await)
    }

    async fn set_password(&self, change: &PasswordChange, journal: &Journal) -> Result<(), StoreError> {
        write!(self, |conn| {
            let user = Id::from(change.user_id);
            let rows = diesel::update(users::table.find(user).filter(users::revision.eq(change.expected.0)))
                .set((
                    users::password_hash.eq(&change.hash),
                    users::password_changed_at.eq(At(change.at)),
                    users::updated_at.eq(At(change.at)),
                    users::revision.eq(change.expected.next().0),
                ))
                .execute(conn)
                .await?;
            if rows == 0 {
                let there: i64 = users::table.find(user).count().get_result(conn).await?;
                return Err(revision::unmet(there > 0).into());
            }
            // No session has the nil id.
            let keep = change.keep.map_or(Id(uuid::Uuid::nil()), Id::from);
            diesel::delete(sessions::table.filter(sessions::user_id.eq(user).and(sessions::id.ne(keep))))
                .execute(conn)
                .await?;
            journal::write(conn, journal).await
        })
    }

    async fn tokens(&self, user: UserId, page: &PageRequest) -> Result<Page<ApiToken>, StoreError> {
        let last = page::position_in_time(page)?;
        let tokens = read!(&self.db, |conn| {
            let query = api_tokens::table.filter(api_tokens::user_id.eq(Id::from(user))).into_boxed();
            let rows: Vec<TokenRow> =
                keyset!(query, (api_tokens::created_at, api_tokens::id), last, descending)
                    .limit(page::surplus(page))
                    .select(TokenRow::as_select())
                    .load(conn)
                    .await?;
            rows.into_iter().map(ApiToken::try_from).collect::<Result<Vec<_>, _>>()
        })?;
        Ok(Page::from_surplus(tokens, page.limit, |token: &ApiToken| (token.created_at.micros(), token.id.0)))
    }

    async fn token(&self, user: UserId, id: TokenId) -> Result<ApiToken, StoreError> {
        read!(&self.db, |conn| {
            let row: TokenRow = api_tokens::table
                .filter(api_tokens::user_id.eq(Id::from(user)).and(api_tokens::id.eq(Id::from(id))))
                .select(TokenRow::as_select())
                .first(conn)
                .await?;
            ApiToken::try_from(row)
        })
    }

    async fn insert_token(&self, token: &ApiToken, journal: &Journal) -> Result<(), StoreError> {
        write!(self, |conn| {
            for (tenant, _) in &journal.rights.of {
                bump_resting(conn, *tenant, &journal.rights).await?;
            }
            diesel::insert_into(api_tokens::table).values(TokenRow::try_from(token)?).execute(conn).await?;
            journal::write(conn, journal).await
        })
    }

    async fn delete_token(&self, user: UserId, id: TokenId, journal: &Journal) -> Result<(), StoreError> {
        write!(self, |conn| {
            let kind = token_kind(user);
            let token = Tombstone::of(INSTALLATION, &kind, id);
            let of_user = api_tokens::user_id.eq(Id::from(user)).and(api_tokens::id.eq(Id::from(id)));
            let rows = diesel::delete(api_tokens::table.filter(of_user)).execute(conn).await?;
            if rows == 0 {
                return if tombstone::exists(conn, token).await? { Ok(()) } else { found(0) };
            }
            tombstone::write(conn, token, deleted_at(journal)).await?;
            journal::write(conn, journal).await
        })
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        let before = At(before);
        write!(self, |conn| {
            let mut rows =
                diesel::delete(sessions::table.filter(sessions::expires_at.lt(before))).execute(conn).await?;
            rows += diesel::delete(api_tokens::table.filter(api_tokens::expires_at.lt(before)))
                .execute(conn)
                .await?;
            rows +=
                diesel::delete(throttle::table.filter(throttle::last_at.lt(before))).execute(conn).await?;
            rows += trim(conn, MOST_BUCKETS).await?;
            rows += diesel::delete(taken_sign_ins::table.filter(taken_sign_ins::until.lt(before)))
                .execute(conn)
                .await?;
            let ended = tombstones::table
                .filter(tombstones::organization_id.eq(Id::from(INSTALLATION)))
                .filter(tombstones::kind.like(search::beginning(ENDED)).escape('\\'))
                .filter(tombstones::deleted_at.lt(before));
            diesel::delete(ended).execute(conn).await?;
            Ok(rows as u64)
        })
    }
}
