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
use crate::schema::{KeyRow, SecretRow, connection_keys, connection_secrets};

fn of_check(check: &KeyCheck, at: Timestamp) -> KeyRow {
    KeyRow {
        key_id: check.key.clone(),
        check_value: check.value.clone(),
        created_at: at.into(),
        forgotten_at: None,
    }
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
            Ok(rows.into_iter().map(|row| SealedRow::from(row).place).collect())
        })
    }

    async fn keys_in_use(&self) -> Result<BTreeMap<String, u64>, StoreError> {
        read!(&self.db, |conn| {
            let counts: Vec<(String, i64)> = connection_secrets::table
                .group_by(connection_secrets::key_id)
                .select((connection_secrets::key_id, count_star()))
                .load(conn)
                .await?;
            Ok(counts.into_iter().map(|(key, count)| (key, count.unsigned_abs())).collect())
        })
    }

    async fn sealed_under_others<'a>(
        &self,
        current: &'a str,
        after: Option<&'a SecretPlace>,
        limit: u32,
    ) -> Result<Vec<SealedRow>, StoreError> {
        use connection_secrets::dsl::{connection_id, field, key_id, organization_id};
        read!(&self.db, |conn| {
            let mut query = connection_secrets::table.filter(key_id.ne(current)).into_boxed();
            if let Some(after) = after {
                let (tenant, connection) = (Id::from(after.tenant), Id::from(after.connection));
                let behind = connection_id
                    .gt(connection)
                    .or(connection_id.eq(connection).and(field.gt(after.field.as_str())));
                // The bound by itself says the same once more: behind an `OR` alone SQLite reads all from the beginning.
                query = query
                    .filter(organization_id.ge(tenant))
                    .filter(organization_id.gt(tenant).or(organization_id.eq(tenant).and(behind)));
            }
            let rows: Vec<SecretRow> = query
                .order((organization_id, connection_id, field))
                .limit(i64::from(limit))
                .select(SecretRow::as_select())
                .load(conn)
                .await?;
            Ok(rows.into_iter().map(SealedRow::from).collect())
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
                let row = connection_secrets::table
                    .find(key)
                    .filter(connection_secrets::sealed.eq(before.text.as_str()));
                let met = diesel::update(row)
                    .set((
                        connection_secrets::key_id.eq(sealed.key.as_str()),
                        connection_secrets::sealed.eq(sealed.text.as_str()),
                    ))
                    .execute(conn)
                    .await?;
                written += met as u64;
            }
            Ok(written)
        })
    }
}
