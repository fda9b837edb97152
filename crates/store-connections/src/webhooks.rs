//! Webhooks and the state of their deliveries.

use std::collections::HashMap;

use async_trait::async_trait;
use diesel::{
    EscapeExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper,
    TextExpressionMethods,
};
use diesel_async::RunQueryDsl;
use heddle_connections::ports::{Deleted, WebhookFilter, WebhookStore};
use heddle_connections::records::{Delivery, PauseReason, Subscription, Webhook};
use heddle_kernel::{Page, PageRequest, Revision, TenantId, Timestamp, WebhookId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::tombstone::{self, Tombstone};
use heddle_store::{
    At, Db, Id, StoreError, document, journal, lock, page, read, revision, search, within, write_tx,
};
use heddle_usecase::Journal;

use crate::schema::{DeliveryChange, DeliveryRow, WebhookChange, WebhookRow, webhook_deliveries, webhooks};
use crate::words::PauseWord;
use crate::{deleted_at, lock_name, tomb};

/// Keeps webhooks.
#[derive(Clone)]
pub struct SqlWebhookStore {
    db: Db,
}

impl std::fmt::Debug for SqlWebhookStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlWebhookStore").finish_non_exhaustive()
    }
}

impl SqlWebhookStore {
    /// Store on a database whose migrations have run.
    #[must_use]
    pub const fn new(db: Db) -> Self {
        Self { db }
    }
}

#[async_trait]
impl WebhookStore for SqlWebhookStore {
    async fn list(
        &self,
        tenant: TenantId,
        filter: &WebhookFilter,
        access: &AccessFilter<resource::Webhook>,
        page: &PageRequest,
    ) -> Result<Page<Webhook>, StoreError> {
        let last: Option<String> = page::position(page)?;
        if access.is_empty() {
            return Ok(page::empty());
        }
        let items = read!(&self.db, |conn| {
            let mut query =
                webhooks::table.filter(webhooks::organization_id.eq(Id::from(tenant))).into_boxed();
            if let Some(q) = &filter.q {
                query = query.filter(webhooks::search.like(search::anywhere(q)).escape('\\'));
            }
            if let Some(connection) = filter.connection {
                query = query.filter(webhooks::connection_id.eq(Id::from(connection)));
            }
            query = match filter.paused {
                Some(true) => query.filter(webhooks::paused.is_not_null()),
                Some(false) => query.filter(webhooks::paused.is_null()),
                None => query,
            };
            if let Some(name) = &last {
                query = query.filter(webhooks::name.gt(name));
            }
            let rows: Vec<WebhookRow> = within!(query, access, webhooks::id)
                .order(webhooks::name)
                .limit(page::surplus(page))
                .select(WebhookRow::as_select())
                .load(conn)
                .await?;
            let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
            let deliveries: Vec<DeliveryRow> = webhook_deliveries::table
                .filter(webhook_deliveries::organization_id.eq(Id::from(tenant)))
                .filter(webhook_deliveries::webhook_id.eq_any(ids))
                .select(DeliveryRow::as_select())
                .load(conn)
                .await?;
            let mut last: HashMap<_, _> =
                deliveries.into_iter().map(|row| (row.webhook_id.0, row.delivery)).collect();
            let mut items = Vec::with_capacity(rows.len());
            for row in rows {
                let delivery = last.remove(&row.id.0).as_deref().map(document::decode).transpose()?;
                items.push(row.into_webhook(delivery)?);
            }
            Ok(items)
        })?;
        Ok(Page::from_surplus(items, page.limit, |webhook: &Webhook| webhook.name.clone()))
    }

    async fn get(&self, tenant: TenantId, id: WebhookId) -> Result<Webhook, StoreError> {
        let (tenant, id) = (Id::from(tenant), Id::from(id));
        read!(&self.db, |conn| {
            let row: WebhookRow =
                webhooks::table.find((tenant, id)).select(WebhookRow::as_select()).first(conn).await?;
            let delivery: Option<Vec<u8>> = webhook_deliveries::table
                .find((tenant, id))
                .select(webhook_deliveries::delivery)
                .first(conn)
                .await
                .optional()?;
            row.into_webhook(delivery.as_deref().map(document::decode).transpose()?)
        })
    }

    async fn insert(&self, webhook: &Webhook, most: u64, journal: &Journal) -> Result<(), StoreError> {
        write_tx!(&self.db, |conn| {
            lock::serialise(conn, &lock_name(webhook.tenant)).await?;
            let there: i64 = webhooks::table
                .filter(webhooks::organization_id.eq(Id::from(webhook.tenant)))
                .count()
                .get_result(conn)
                .await?;
            if there.unsigned_abs() >= most {
                let used = there.unsigned_abs();
                return Err(StoreError::QuotaExceeded { limit: "webhooks", most, used }.into());
            }
            let row = WebhookRow::try_from(webhook)?;
            diesel::insert_into(webhooks::table).values(&row).execute(conn).await?;
            journal::write(conn, journal).await
        })
    }

    async fn update(
        &self,
        webhook: &Webhook,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        let key = (Id::from(webhook.tenant), Id::from(webhook.id));
        write_tx!(&self.db, |conn| {
            lock::serialise(conn, &lock_name(webhook.tenant)).await?;
            let row = WebhookRow::try_from(webhook)?;
            let present = webhooks::table.find(key).filter(webhooks::revision.eq(expected.0));
            let met = diesel::update(present).set(WebhookChange::from(&row).set()).execute(conn).await?;
            if met == 0 {
                let there: i64 = webhooks::table.find(key).count().get_result(conn).await?;
                return Err(revision::unmet(there > 0).into());
            }
            journal::write(conn, journal).await
        })
    }

    async fn delete(
        &self,
        tenant: TenantId,
        id: WebhookId,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<Deleted, StoreError> {
        let grave = Tombstone::of(tenant, tomb::WEBHOOK, id);
        let key = (Id::from(tenant), Id::from(id));
        write_tx!(&self.db, |conn| {
            let present: Option<i64> =
                webhooks::table.find(key).select(webhooks::revision).first(conn).await.optional()?;
            let Some(revision) = present else {
                return if tombstone::exists(conn, grave).await? {
                    Ok(Deleted::Before)
                } else {
                    Err(StoreError::NotFound.into())
                };
            };
            if let Some(expected) = expected {
                revision::check(revision, expected)?;
            }
            let row = webhooks::table.find(key).filter(webhooks::revision.eq(revision));
            revision::met(diesel::delete(row).execute(conn).await?)?;
            tombstone::write(conn, grave, deleted_at(journal)).await?;
            journal::write(conn, journal).await?;
            Ok(Deleted::Now)
        })
    }

    async fn tested(&self, tenant: TenantId, id: WebhookId, journal: &Journal) -> Result<(), StoreError> {
        let key = (Id::from(tenant), Id::from(id));
        write_tx!(&self.db, |conn| {
            let there: i64 = webhooks::table.find(key).count().get_result(conn).await?;
            revision::found(usize::from(there > 0))?;
            journal::write(conn, journal).await
        })
    }

    async fn subscriptions(&self, tenant: TenantId) -> Result<Vec<Subscription>, StoreError> {
        read!(&self.db, |conn| {
            let rows: Vec<WebhookRow> = webhooks::table
                .filter(webhooks::organization_id.eq(Id::from(tenant)))
                .order(webhooks::id)
                .select(WebhookRow::as_select())
                .load(conn)
                .await?;
            let mut all = Vec::with_capacity(rows.len());
            for row in rows {
                all.push(Subscription::from(&row.into_webhook(None)?));
            }
            Ok(all)
        })
    }

    async fn delivered(
        &self,
        tenant: TenantId,
        id: WebhookId,
        delivery: &Delivery,
    ) -> Result<(), StoreError> {
        let written = write_tx!(&self.db, |conn| {
            let row = DeliveryRow::of(tenant, id, delivery)?;
            diesel::insert_into(webhook_deliveries::table)
                .values(&row)
                .on_conflict((webhook_deliveries::organization_id, webhook_deliveries::webhook_id))
                .do_update()
                .set(DeliveryChange::from(&row).set())
                .execute(conn)
                .await?;
            Ok(())
        });
        match written {
            // The webhook is gone, and with it whoever would look at its state.
            Err(StoreError::NotFound) => Ok(()),
            other => other,
        }
    }

    async fn pause(
        &self,
        tenant: TenantId,
        id: WebhookId,
        reason: PauseReason,
        at: Timestamp,
        journal: &Journal,
    ) -> Result<bool, StoreError> {
        let key = (Id::from(tenant), Id::from(id));
        write_tx!(&self.db, |conn| {
            let row = webhooks::table.find(key).filter(webhooks::paused.is_null());
            let met = diesel::update(row)
                .set((
                    webhooks::paused.eq(Some(PauseWord(reason))),
                    webhooks::revision.eq(webhooks::revision + 1),
                    webhooks::updated_at.eq(At(at)),
                ))
                .execute(conn)
                .await?;
            if met > 0 {
                journal::write(conn, journal).await?;
            }
            Ok(met > 0)
        })
    }
}
