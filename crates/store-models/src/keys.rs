//! Rows that a rotation of keys needs: the sealed keys of all organisations.

use std::collections::BTreeMap;

use async_trait::async_trait;
use diesel::dsl::count_star;
use diesel::{BoolExpressionMethods, ExpressionMethods, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_kernel::{ModelConnectionId, TenantId};
use heddle_models::ports::{KeyPlace, KeyRewrap, KeyStore, SealedKey};
use heddle_store::{Id, StoreError, read, write_tx};

use crate::SqlModelStore;
use crate::schema::{KeyRow, model_keys};

#[async_trait]
impl KeyStore for SqlModelStore {
    async fn keys_in_use(&self) -> Result<BTreeMap<String, u64>, StoreError> {
        read!(&self.db, |conn| {
            let counts: Vec<(String, i64)> = model_keys::table
                .group_by(model_keys::key_id)
                .select((model_keys::key_id, count_star()))
                .load(conn)
                .await?;
            Ok(counts.into_iter().map(|(key, count)| (key, count.unsigned_abs())).collect())
        })
    }

    async fn sealed_under(&self, key: &str, limit: u32) -> Result<Vec<KeyPlace>, StoreError> {
        read!(&self.db, |conn| {
            let rows: Vec<KeyRow> = model_keys::table
                .filter(model_keys::key_id.eq(key))
                .order((model_keys::organization_id, model_keys::connection_id))
                .limit(i64::from(limit))
                .select(KeyRow::as_select())
                .load(conn)
                .await?;
            Ok(rows.into_iter().map(|row| SealedKey::from(row).place).collect())
        })
    }

    async fn sealed_under_others(
        &self,
        current: &str,
        after: Option<(TenantId, ModelConnectionId)>,
        limit: u32,
    ) -> Result<Vec<SealedKey>, StoreError> {
        read!(&self.db, |conn| {
            let mut query = model_keys::table.filter(model_keys::key_id.ne(current)).into_boxed();
            if let Some((tenant, connection)) = after {
                let (tenant, connection) = (Id::from(tenant), Id::from(connection));
                // The bound by itself says the same once more: behind an `OR` alone SQLite reads all from the beginning.
                query = query.filter(model_keys::organization_id.ge(tenant)).filter(
                    model_keys::organization_id.gt(tenant).or(model_keys::organization_id
                        .eq(tenant)
                        .and(model_keys::connection_id.gt(connection))),
                );
            }
            let rows: Vec<KeyRow> = query
                .order((model_keys::organization_id, model_keys::connection_id))
                .limit(i64::from(limit))
                .select(KeyRow::as_select())
                .load(conn)
                .await?;
            Ok(rows.into_iter().map(SealedKey::from).collect())
        })
    }

    async fn rewrapped(&self, rows: &[KeyRewrap]) -> Result<u64, StoreError> {
        write_tx!(&self.db, |conn| {
            let mut written = 0;
            for KeyRewrap { row, sealed } in rows {
                let key = (Id::from(row.place.tenant), Id::from(row.place.connection));
                let present =
                    model_keys::table.find(key).filter(model_keys::sealed.eq(row.sealed.text.as_str()));
                written += diesel::update(present)
                    .set((
                        model_keys::key_id.eq(sealed.key.as_str()),
                        model_keys::sealed.eq(sealed.text.as_str()),
                    ))
                    .execute(conn)
                    .await? as u64;
            }
            Ok(written)
        })
    }
}
