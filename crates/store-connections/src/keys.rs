//! Rows that a rotation of keys needs: the sealed secrets of all organisations, and the checks of keys.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use diesel::dsl::count_star;
use diesel::{BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_connections::ports::{KeyCheck, KeyStore, Rewrap, SealedRow};
use heddle_connections::secret::SecretPlace;
use heddle_kernel::Timestamp;
use heddle_store::{At, Id, StoreError, lock, read, write_tx};

use crate::SqlConnectionStore;
use crate::known;
use crate::schema::{HookSecretRow, KeyRow, SecretRow, connection_keys, connection_secrets, hook_secrets};

fn of_check(check: &KeyCheck, at: Timestamp) -> KeyRow {
    KeyRow {
        key_id: check.key.clone(),
        check_value: check.value.clone(),
        created_at: at.into(),
        forgotten_at: None,
    }
}

/// Secrets of a table that are sealed under another key than the current one, behind a place, in the order of their places.
macro_rules! under_others {
    ($conn:expr, $table:ident, $record:ident, $row:ident, $current:expr, $after:expr, $limit:expr) => {{
        let mut query = $table::table.filter($table::key_id.ne($current)).into_boxed();
        if let Some(after) = $after {
            let (tenant, record) = (Id::from(after.tenant), Id::from(after.connection));
            let behind = $table::$record
                .gt(record)
                .or($table::$record.eq(record).and($table::field.gt(after.field.as_str())));
            // The bound by itself says the same once more: behind an `OR` alone SQLite reads all from the beginning.
            query = query.filter($table::organization_id.ge(tenant)).filter(
                $table::organization_id.gt(tenant).or($table::organization_id.eq(tenant).and(behind)),
            );
        }
        let rows: Vec<$row> = query
            .order(($table::organization_id, $table::$record, $table::field))
            .limit(i64::from($limit))
            .select($row::as_select())
            .load($conn)
            .await?;
        rows.into_iter().map(SealedRow::from)
    }};
}

/// Writes a sealed form over the one that was read; the number of rows that were met.
macro_rules! rewrap {
    ($conn:expr, $table:ident, $key:expr, $before:expr, $sealed:expr) => {{
        let row = $table::table.find($key).filter($table::sealed.eq($before.text.as_str()));
        diesel::update(row)
            .set(($table::key_id.eq($sealed.key.as_str()), $table::sealed.eq($sealed.text.as_str())))
            .execute($conn)
            .await?
    }};
}

#[async_trait]
impl KeyStore for SqlConnectionStore {
    async fn key_checks(&self) -> Result<Vec<KeyCheck>, StoreError> {
        read!(&self.db, |conn| {
            let rows: Vec<KeyRow> = connection_keys::table
                .filter(connection_keys::forgotten_at.is_null())
                .order(connection_keys::key_id)
                .select(KeyRow::as_select())
                .load(conn)
                .await?;
            Ok(rows.into_iter().map(|row| KeyCheck { key: row.key_id, value: row.check_value }).collect())
        })
    }

    async fn add_first_key_check(&self, check: &KeyCheck, at: Timestamp) -> Result<bool, StoreError> {
        write_tx!(&self.db, |conn| {
            // Two nodes that begin at a time wait for each other: one of them is the first.
            lock::serialise(conn, "keys of connections").await?;
            let there: i64 = connection_keys::table.select(count_star()).first(conn).await?;
            if there > 0 {
                return Ok(false);
            }
            let row = of_check(check, at);
            diesel::insert_into(connection_keys::table).values(&row).execute(conn).await?;
            Ok(true)
        })
    }

    async fn add_key_checks(&self, checks: &[KeyCheck], at: Timestamp) -> Result<(), StoreError> {
        write_tx!(&self.db, |conn| {
            for check in checks {
                let row = of_check(check, at);
                diesel::insert_into(connection_keys::table)
                    .values(&row)
                    .on_conflict(connection_keys::key_id)
                    .do_update()
                    .set(connection_keys::forgotten_at.eq(None::<At>))
                    .execute(conn)
                    .await?;
            }
            Ok(())
        })
    }

    async fn forget_key(&self, key: &str, at: Timestamp) -> Result<u64, StoreError> {
        write_tx!(&self.db, |conn| {
            // Writers of secrets that are under way end first, and those that come see that it is forgotten.
            known::held_alone(conn, key).await?;
            let sealed: i64 = connection_secrets::table
                .filter(connection_secrets::key_id.eq(key))
                .count()
                .get_result(conn)
                .await?;
            let of_hooks: i64 =
                hook_secrets::table.filter(hook_secrets::key_id.eq(key)).count().get_result(conn).await?;
            let sealed = sealed + of_hooks;
            if sealed == 0 {
                diesel::update(connection_keys::table.find(key))
                    .set(connection_keys::forgotten_at.eq(Some(At::from(at))))
                    .execute(conn)
                    .await?;
            }
            Ok(sealed.unsigned_abs())
        })
    }

    async fn is_forgotten(&self, key: &str) -> Result<bool, StoreError> {
        read!(&self.db, |conn| {
            let found: i64 = connection_keys::table
                .filter(connection_keys::key_id.eq(key))
                .filter(connection_keys::forgotten_at.is_not_null())
                .count()
                .get_result(conn)
                .await?;
            Ok(found > 0)
        })
    }

    async fn sealed_under(&self, key: &str, limit: u32) -> Result<Vec<SecretPlace>, StoreError> {
        read!(&self.db, |conn| {
            let rows: Vec<SecretRow> = connection_secrets::table
                .filter(connection_secrets::key_id.eq(key))
                .limit(i64::from(limit))
                .select(SecretRow::as_select())
                .load(conn)
                .await?;
            let left = i64::from(limit).saturating_sub(i64::try_from(rows.len()).unwrap_or(i64::MAX));
            let of_hooks: Vec<HookSecretRow> = hook_secrets::table
                .filter(hook_secrets::key_id.eq(key))
                .limit(left)
                .select(HookSecretRow::as_select())
                .load(conn)
                .await?;
            let all = rows.into_iter().map(SealedRow::from).chain(of_hooks.into_iter().map(SealedRow::from));
            Ok(all.map(|row| row.place).collect())
        })
    }

    async fn keys_in_use(&self) -> Result<BTreeMap<String, u64>, StoreError> {
        read!(&self.db, |conn| {
            let counts: Vec<(String, i64)> = connection_secrets::table
                .group_by(connection_secrets::key_id)
                .select((connection_secrets::key_id, count_star()))
                .load(conn)
                .await?;
            let of_hooks: Vec<(String, i64)> = hook_secrets::table
                .group_by(hook_secrets::key_id)
                .select((hook_secrets::key_id, count_star()))
                .load(conn)
                .await?;
            let mut all: BTreeMap<String, u64> = BTreeMap::new();
            for (key, count) in counts.into_iter().chain(of_hooks) {
                *all.entry(key).or_default() += count.unsigned_abs();
            }
            Ok(all)
        })
    }

    async fn sealed_under_others<'a>(
        &self,
        current: &'a str,
        after: Option<&'a SecretPlace>,
        limit: u32,
    ) -> Result<Vec<SealedRow>, StoreError> {
        read!(&self.db, |conn| {
            let connections =
                under_others!(conn, connection_secrets, connection_id, SecretRow, current, after, limit);
            let hooks = under_others!(conn, hook_secrets, hook_id, HookSecretRow, current, after, limit);
            let mut all: Vec<SealedRow> = connections.chain(hooks).collect();
            all.sort_by(|one, other| one.place.cmp(&other.place));
            all.truncate(limit as usize);
            Ok(all)
        })
    }

    async fn rewrapped(&self, rows: &[Rewrap]) -> Result<u64, StoreError> {
        let keys: BTreeSet<&str> = rows.iter().map(|one| one.sealed.key.as_str()).collect();
        write_tx!(&self.db, |conn| {
            for key in &keys {
                known::still_known(conn, key).await?;
            }
            let mut written = 0;
            for Rewrap { row: SealedRow { place, sealed: before }, sealed } in rows {
                let key = (Id::from(place.tenant), Id::from(place.connection), place.field.as_str());
                let met = match rewrap!(conn, connection_secrets, key, before, sealed) {
                    0 => rewrap!(conn, hook_secrets, key, before, sealed),
                    met => met,
                };
                written += met as u64;
            }
            Ok(written)
        })
    }
}
