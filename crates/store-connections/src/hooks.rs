//! Hooks and their sealed secrets.

use std::collections::BTreeMap;

use async_trait::async_trait;
use diesel::{
    EscapeExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper,
    TextExpressionMethods,
};
use diesel_async::RunQueryDsl;
use heddle_connections::Hook;
use heddle_connections::ports::{Deleted, HookFilter, HookStore, HookWrite, SealedRow, StoredHook};
use heddle_connections::secret::SealedSecret;
use heddle_kernel::{HookId, Page, PageRequest, Revision, TenantId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::tombstone::{self, Tombstone};
use heddle_store::{
    AsConn, Db, Error, Id, StoreError, journal, lock, on_conn, page, read, revision, search, within, write_tx,
};
use heddle_usecase::Journal;

use crate::schema::{HookChange, HookRow, HookSecretChange, HookSecretRow, hook_secrets, hooks};
use crate::{deleted_at, known, lock_name, tomb};

/// Readings of a hook with its secrets, until both are of one revision.
const READINGS: usize = 5;

/// Keeps hooks.
#[derive(Clone)]
pub struct SqlHookStore {
    db: Db,
}

impl std::fmt::Debug for SqlHookStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlHookStore").finish_non_exhaustive()
    }
}

impl SqlHookStore {
    /// Store on a database whose migrations have run.
    #[must_use]
    pub const fn new(db: Db) -> Self {
        Self { db }
    }

    /// A hook with its secrets, unless it was changed between two of the statements.
    async fn read_whole(&self, token_sha256: &str) -> Result<Option<StoredHook>, StoreError> {
        read!(&self.db, |conn| {
            let row: HookRow = hooks::table
                .filter(hooks::token_sha256.eq(token_sha256))
                .select(HookRow::as_select())
                .first(conn)
                .await?;
            let secrets: Vec<HookSecretRow> = hook_secrets::table
                .filter(hook_secrets::organization_id.eq(row.organization_id))
                .filter(hook_secrets::hook_id.eq(row.id))
                .order(hook_secrets::field)
                .select(HookSecretRow::as_select())
                .load(conn)
                .await?;
            let now: i64 =
                hooks::table.find((row.organization_id, row.id)).select(hooks::revision).first(conn).await?;
            if now != row.revision {
                return Ok(None);
            }
            let sealed = secrets.into_iter().map(|row| {
                let SealedRow { place, sealed } = row.into();
                (place.field, sealed)
            });
            let sealed = sealed.collect();
            Ok(Some(StoredHook { hook: row.try_into()?, sealed }))
        })
    }
}

/// Writes and takes away secrets.
async fn write_secrets<C: AsConn>(
    conn: &mut C,
    hook: &Hook,
    sealed: &BTreeMap<String, Option<SealedSecret>>,
) -> Result<(), Error> {
    let (tenant, id) = (Id::from(hook.tenant), Id::from(hook.id));
    for (field, sealed) in sealed {
        let Some(sealed) = sealed else {
            let row = hook_secrets::table.find((tenant, id, field.as_str()));
            on_conn!(conn, |conn| {
                diesel::delete(row).execute(conn).await?;
            });
            continue;
        };
        known::still_known(conn, &sealed.key).await?;
        let row = HookSecretRow {
            organization_id: tenant,
            hook_id: id,
            field: field.clone(),
            key_id: sealed.key.clone(),
            sealed: sealed.text.clone(),
        };
        let one = (hook_secrets::organization_id, hook_secrets::hook_id, hook_secrets::field);
        on_conn!(conn, |conn| {
            diesel::insert_into(hook_secrets::table)
                .values(&row)
                .on_conflict(one)
                .do_update()
                .set(HookSecretChange::from(&row).set())
                .execute(conn)
                .await?;
        });
    }
    Ok(())
}

#[async_trait]
impl HookStore for SqlHookStore {
    async fn list(
        &self,
        tenant: TenantId,
        filter: &HookFilter,
        access: &AccessFilter<resource::Hook>,
        page: &PageRequest,
    ) -> Result<Page<Hook>, StoreError> {
        let last: Option<String> = page::position(page)?;
        if access.is_empty() {
            return Ok(page::empty());
        }
        let items = read!(&self.db, |conn| {
            let mut query = hooks::table.filter(hooks::organization_id.eq(Id::from(tenant))).into_boxed();
            if let Some(q) = &filter.q {
                query = query.filter(hooks::search.like(search::anywhere(q)).escape('\\'));
            }
            if let Some(name) = &last {
                query = query.filter(hooks::name.gt(name));
            }
            let rows: Vec<HookRow> = within!(query, access, hooks::id)
                .order(hooks::name)
                .limit(page::surplus(page))
                .select(HookRow::as_select())
                .load(conn)
                .await?;
            rows.into_iter().map(Hook::try_from).collect::<Result<Vec<_>, _>>()
        })?;
        Ok(Page::from_surplus(items, page.limit, |hook: &Hook| hook.name.clone()))
    }

    async fn get(&self, tenant: TenantId, id: HookId) -> Result<Hook, StoreError> {
        let key = (Id::from(tenant), Id::from(id));
        read!(&self.db, |conn| {
            let row: HookRow = hooks::table.find(key).select(HookRow::as_select()).first(conn).await?;
            row.try_into()
        })
    }

    async fn by_token(&self, token_sha256: &str) -> Result<StoredHook, StoreError> {
        for _ in 0..READINGS {
            if let Some(stored) = self.read_whole(token_sha256).await? {
                return Ok(stored);
            }
        }
        Err(StoreError::Stale)
    }

    async fn insert<'a>(&self, write: HookWrite<'a>, most: u64, journal: &Journal) -> Result<(), StoreError> {
        let HookWrite { hook, sealed } = write;
        write_tx!(&self.db, |conn| {
            lock::serialise(conn, &lock_name(hook.tenant)).await?;
            let there: i64 = hooks::table
                .filter(hooks::organization_id.eq(Id::from(hook.tenant)))
                .count()
                .get_result(conn)
                .await?;
            if there.unsigned_abs() >= most {
                let used = there.unsigned_abs();
                return Err(StoreError::QuotaExceeded { limit: "hooks", most, used }.into());
            }
            let row = HookRow::try_from(hook)?;
            diesel::insert_into(hooks::table).values(&row).execute(conn).await?;
            write_secrets(conn, hook, sealed).await?;
            journal::write(conn, journal).await
        })
    }

    async fn update<'a>(
        &self,
        write: HookWrite<'a>,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        let HookWrite { hook, sealed } = write;
        let key = (Id::from(hook.tenant), Id::from(hook.id));
        write_tx!(&self.db, |conn| {
            let row = HookRow::try_from(hook)?;
            let present = hooks::table.find(key).filter(hooks::revision.eq(expected.0));
            let met = diesel::update(present).set(HookChange::from(&row).set()).execute(conn).await?;
            if met == 0 {
                let there: i64 = hooks::table.find(key).count().get_result(conn).await?;
                return Err(revision::unmet(there > 0).into());
            }
            write_secrets(conn, hook, sealed).await?;
            journal::write(conn, journal).await
        })
    }

    async fn delete(
        &self,
        tenant: TenantId,
        id: HookId,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<Deleted, StoreError> {
        let grave = Tombstone::of(tenant, tomb::HOOK, id);
        let key = (Id::from(tenant), Id::from(id));
        write_tx!(&self.db, |conn| {
            let present: Option<i64> =
                hooks::table.find(key).select(hooks::revision).first(conn).await.optional()?;
            let Some(revision) = present else {
                return match tombstone::exists(conn, grave).await? {
                    true => Ok(Deleted::Before),
                    false => Err(StoreError::NotFound.into()),
                };
            };
            if let Some(expected) = expected {
                revision::check(revision, expected)?;
            }
            // The sealed secrets go with the row.
            let row = hooks::table.find(key).filter(hooks::revision.eq(revision));
            revision::met(diesel::delete(row).execute(conn).await?)?;
            tombstone::write(conn, grave, deleted_at(journal)).await?;
            journal::write(conn, journal).await?;
            Ok(Deleted::Now)
        })
    }
}
