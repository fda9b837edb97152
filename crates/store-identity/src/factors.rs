//! Second factors and recovery codes. A code is used by a conditional write, so that it counts once on all nodes.

use std::collections::BTreeMap;

use crate::schema::{
    FactorChange, FactorRow, RecoveryCodeRow, recovery_codes, sessions, totp_factors as factors, users,
};
use async_trait::async_trait;
use diesel::dsl::count_star;
use diesel::sql_types::{BigInt, Text};
use diesel::{ExpressionMethods, JoinOnDsl, OptionalExtension, QueryDsl, QueryableByName, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_identity::ports::{
    Enrolment, Factor, FactorAtHome, FactorPlace, FactorProof, FactorStore, Removal, SealedFactor,
};
use heddle_kernel::{Timestamp, UserId};
use heddle_store::audit::INSTALLATION;
use heddle_store::revision::{found, met};
use heddle_store::tombstone::{self, Tombstone};
use heddle_store::{AsConn, At, Conn, Error, Id, StoreError, journal, on_conn, read};
use heddle_usecase::Journal;

use crate::IdentityStore;
use crate::cache::write;

/// Kind of the tombstones of second factors, whose ids are those of their accounts.
const TAKEN: &str = "second-factor";

/// The trace that a factor leaves.
fn trace_of(user: UserId) -> Tombstone<'static> {
    Tombstone::of(INSTALLATION, TAKEN, user)
}

/// Whether a key of the installation's keyring was forgotten; no row for one that nobody has kept a check of.
const FORGOTTEN: &str = "SELECT CAST(CASE WHEN forgotten_at IS NULL THEN 0 ELSE 1 END AS BIGINT) AS forgotten \
    FROM connection_keys WHERE key_id = $1";

#[derive(QueryableByName)]
struct KeyState {
    #[diesel(sql_type = BigInt)]
    forgotten: i64,
}

/// Holds a key within a transaction that writes what is sealed under it: whoever forgets it waits, and finds that.
/// `Unavailable` for one that was forgotten before: this process has an old keyring.
async fn still_known<C: AsConn>(conn: &mut C, key: &str) -> Result<(), Error> {
    let found: Vec<KeyState> = match conn.as_conn() {
        Conn::Sqlite(conn) => diesel::sql_query(FORGOTTEN).bind::<Text, _>(key).load(conn).await?,
        Conn::Postgres(conn) => {
            let held = diesel::sql_query(format!("{FORGOTTEN} FOR SHARE"));
            held.bind::<Text, _>(key).load(conn).await?
        }
    };
    if found.iter().all(|state| state.forgotten == 0) {
        return Ok(());
    }
    let why = format!(
        "the key `{key}` of this server's keyring was forgotten: put the keyring of another node into its data directory \
         and start it anew"
    );
    Err(StoreError::Unavailable(why).into())
}

/// Uses a code, which counts once: `NotFound` when it was used before, or is none.
pub(crate) async fn spend<C: AsConn>(conn: &mut C, user: UserId, proof: &FactorProof) -> Result<(), Error> {
    let user = Id::from(user);
    let rows = on_conn!(conn, |conn| match proof {
        FactorProof::Code { step } => {
            let unused = factors::table
                .find(user)
                .filter(factors::confirmed_at.is_not_null())
                .filter(factors::last_step.lt(*step));
            diesel::update(unused).set(factors::last_step.eq(*step)).execute(conn).await?
        }
        FactorProof::RecoveryCode { sha256 } => {
            diesel::delete(recovery_codes::table.find((user, sha256.as_str()))).execute(conn).await?
        }
    });
    found(rows)
}

/// Takes the factor of an account, with its recovery codes.
pub(crate) async fn take<C: AsConn>(conn: &mut C, user: UserId, at: Timestamp) -> Result<(), Error> {
    let id = Id::from(user);
    on_conn!(conn, |conn| {
        diesel::delete(recovery_codes::table.filter(recovery_codes::user_id.eq(id))).execute(conn).await?;
        diesel::delete(factors::table.find(id)).execute(conn).await?;
    });
    tombstone::write(conn, trace_of(user), at).await
}

#[async_trait]
impl FactorStore for IdentityStore {
    async fn factor(&self, user: UserId) -> Result<Option<Factor>, StoreError> {
        read!(&self.db, |conn| {
            let row: Option<FactorRow> = factors::table
                .find(Id::from(user))
                .select(FactorRow::as_select())
                .first(conn)
                .await
                .optional()?;
            Ok(row.map(Factor::from))
        })
    }

    async fn begin(&self, factor: &Factor, journal: &Journal) -> Result<(), StoreError> {
        write!(self, |conn| {
            // The account's row is written in any case: a confirmation at the same time waits, or is waited for.
            let without = users::table.find(Id::from(factor.user)).filter(users::totp_enrolled_at.is_null());
            let none: Option<At> = None;
            met(diesel::update(without).set(users::totp_enrolled_at.eq(none)).execute(conn).await?)?;
            still_known(conn, &factor.sealed.key).await?;
            let row = FactorRow::from(factor);
            diesel::insert_into(factors::table)
                .values(&row)
                .on_conflict(factors::user_id)
                .do_update()
                .set(FactorChange::from(&row).set())
                .execute(conn)
                .await?;
            journal::write(conn, journal).await
        })
    }

    async fn confirm(&self, enrolment: &Enrolment, journal: &Journal) -> Result<(), StoreError> {
        let Enrolment { pending, step, recovery_codes: codes, expected, keep, at } = enrolment;
        let user = Id::from(pending.user);
        write!(self, |conn| {
            let seen = users::table.find(user).filter(users::revision.eq(expected.0));
            let rows = diesel::update(seen)
                .set((
                    users::totp_enrolled_at.eq(At(*at)),
                    users::updated_at.eq(At(*at)),
                    users::revision.eq(expected.next().0),
                ))
                .execute(conn)
                .await?;
            met(rows)?;
            let waiting = factors::table
                .find(user)
                .filter(factors::confirmed_at.is_null())
                .filter(factors::begun_at.eq(At(pending.begun_at)));
            let rows = diesel::update(waiting)
                .set((factors::confirmed_at.eq(At(*at)), factors::last_step.eq(*step)))
                .execute(conn)
                .await?;
            met(rows)?;
            diesel::delete(recovery_codes::table.filter(recovery_codes::user_id.eq(user)))
                .execute(conn)
                .await?;
            for code in codes {
                let row = RecoveryCodeRow { user_id: user, code_sha256: code.clone() };
                diesel::insert_into(recovery_codes::table).values(row).execute(conn).await?;
            }
            let others = sessions::table.filter(sessions::user_id.eq(user));
            diesel::delete(others.filter(sessions::id.ne(Id::from(*keep)))).execute(conn).await?;
            tombstone::clear(conn, trace_of(pending.user)).await?;
            journal::write(conn, journal).await
        })
    }

    async fn remove(&self, removal: &Removal, journal: &Journal) -> Result<(), StoreError> {
        let user = Id::from(removal.user);
        write!(self, |conn| {
            let seen = users::table
                .find(user)
                .filter(users::revision.eq(removal.expected.0))
                .filter(users::totp_enrolled_at.is_not_null());
            let none: Option<At> = None;
            let rows = diesel::update(seen)
                .set((
                    users::totp_enrolled_at.eq(none),
                    users::updated_at.eq(At(removal.at)),
                    users::revision.eq(removal.expected.next().0),
                ))
                .execute(conn)
                .await?;
            met(rows)?;
            if let Some(proof) = &removal.proof {
                spend(conn, removal.user, proof).await?;
            }
            take(conn, removal.user, removal.at).await?;
            let others = sessions::table.filter(sessions::user_id.eq(user));
            diesel::delete(others.filter(sessions::id.ne(Id::from(removal.keep)))).execute(conn).await?;
            journal::write(conn, journal).await
        })
    }

    async fn was_removed(&self, user: UserId) -> Result<bool, StoreError> {
        read!(&self.db, |conn| tombstone::exists(conn, trace_of(user)).await)
    }

    async fn keys_in_use(&self) -> Result<BTreeMap<String, u64>, StoreError> {
        read!(&self.db, |conn| {
            let counts: Vec<(String, i64)> = factors::table
                .group_by(factors::key_id)
                .select((factors::key_id, count_star()))
                .load(conn)
                .await?;
            Ok(counts.into_iter().map(|(key, count)| (key, count.unsigned_abs())).collect())
        })
    }

    async fn sealed_under_others<'a>(
        &self,
        current: &'a str,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<Vec<FactorAtHome>, StoreError> {
        read!(&self.db, |conn| {
            let mut query = factors::table
                .inner_join(users::table.on(users::id.eq(factors::user_id)))
                .filter(factors::key_id.ne(current))
                .into_boxed();
            if let Some(after) = after {
                query = query.filter(factors::user_id.gt(Id::from(after)));
            }
            let rows: Vec<(FactorRow, Id)> = query
                .order(factors::user_id)
                .limit(i64::from(limit))
                .select((FactorRow::as_select(), users::home_id))
                .load(conn)
                .await?;
            let at_home = |(row, home): (FactorRow, Id)| {
                let place = FactorPlace { home: home.into(), user: row.user_id.into() };
                FactorAtHome { place, sealed: SealedFactor { key: row.key_id, text: row.sealed } }
            };
            Ok(rows.into_iter().map(at_home).collect())
        })
    }

    async fn rewrapped(
        &self,
        user: UserId,
        before: &SealedFactor,
        sealed: &SealedFactor,
    ) -> Result<bool, StoreError> {
        write!(self, |conn| {
            still_known(conn, &sealed.key).await?;
            let row = factors::table.find(Id::from(user)).filter(factors::sealed.eq(&before.text));
            let rows = diesel::update(row)
                .set((factors::key_id.eq(&sealed.key), factors::sealed.eq(&sealed.text)))
                .execute(conn)
                .await?;
            Ok(rows > 0)
        })
    }
}
