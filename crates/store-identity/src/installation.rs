//! The installation as a whole.

use crate::schema::{
    InstallationChange, InstallationRow, MemberRow, installation, members, organizations, users,
};
use async_trait::async_trait;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper};
use diesel_async::RunQueryDsl;
use heddle_identity::ports::{AuditEvent, AuditFilter, InstallationStore, LimitOutcome, SetUp};
use heddle_identity::records::{InstallationState, Usage};
use heddle_kernel::{Page, PageRequest, Revision, TenantId, Timestamp};
use heddle_policy::{AccessFilter, resource};
use heddle_store::{
    AsConn, Error, StoreError, audit, idempotency, journal, on_conn, read, revision, write_tx,
};
use heddle_usecase::{AuditEntry, IdempotencyRecord, Journal};
use uuid::Uuid;

use crate::IdentityStore;
use crate::cache::write;
use crate::directory::{insert_organization_rows, insert_user_row, set_bindings};
use crate::nodes;
use crate::rights::lock_counted;
use crate::rows::ONE;

async fn replace<C: AsConn>(
    conn: &mut C,
    state: &InstallationState,
    expected: Revision,
) -> Result<(), Error> {
    let row = InstallationRow::try_from(state)?;
    let rows = on_conn!(conn, |conn| {
        diesel::update(installation::table.find(ONE).filter(installation::revision.eq(expected.0)))
            .set(InstallationChange::from(&row).set())
            .execute(conn)
            .await?
    });
    if rows > 0 {
        return Ok(());
    }
    let there: i64 = on_conn!(conn, |conn| installation::table.count().get_result(conn).await?);
    Err(revision::unmet(there > 0).into())
}

#[async_trait]
impl InstallationStore for IdentityStore {
    async fn load(&self) -> Result<Option<InstallationState>, StoreError> {
        read!(&self.db, |conn| {
            let row: Option<InstallationRow> = installation::table
                .find(ONE)
                .select(InstallationRow::as_select())
                .first(conn)
                .await
                .optional()?;
            row.map(InstallationState::try_from).transpose()
        })
    }

    async fn insert(&self, state: &InstallationState, journal: &Journal) -> Result<(), StoreError> {
        write!(self, |conn| {
            let row = InstallationRow::try_from(state)?;
            diesel::insert_into(installation::table).values(&row).execute(conn).await?;
            journal::write(conn, journal).await
        })
    }

    async fn update(
        &self,
        state: &InstallationState,
        expected: Revision,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        write!(self, |conn| {
            replace(conn, state, expected).await?;
            journal::write(conn, journal).await
        })
    }

    async fn set_up(&self, set_up: &SetUp, journal: &Journal) -> Result<(), StoreError> {
        write!(self, |conn| {
            lock_counted(conn).await?;
            let users: i64 = users::table.count().get_result(conn).await?;
            if users > 0 {
                return Err(StoreError::Duplicate("users".to_owned()).into());
            }
            replace(conn, &set_up.state, set_up.expected).await?;
            insert_organization_rows(conn, &set_up.organization).await?;
            insert_user_row(conn, &set_up.user.user).await?;
            let owner = &set_up.organization.owner;
            diesel::insert_into(members::table).values(MemberRow::from(owner)).execute(conn).await?;
            set_bindings(conn, owner).await?;
            journal::write(conn, journal).await
        })
    }

    async fn usage(&self) -> Result<Usage, StoreError> {
        read!(&self.db, |conn| {
            let organizations: i64 = organizations::table.count().get_result(conn).await?;
            let users: i64 = users::table.count().get_result(conn).await?;
            Ok(Usage { organizations: organizations.unsigned_abs(), users: users.unsigned_abs() })
        })
    }

    async fn join(&self, node: Uuid, now: Timestamp, limit: Option<u64>) -> Result<LimitOutcome, StoreError> {
        nodes::join(self, node, now, limit).await
    }

    async fn stay(&self, node: Uuid, now: Timestamp) -> Result<(), StoreError> {
        nodes::stay(self, node, now).await
    }

    async fn leave(&self, node: Uuid) -> Result<(), StoreError> {
        nodes::leave(self, node).await
    }

    async fn nodes(&self, now: Timestamp) -> Result<u64, StoreError> {
        nodes::count(self, now).await
    }

    async fn audit(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        write_tx!(&self.db, |conn| audit::insert(conn, entry).await)
    }

    async fn audit_events(
        &self,
        tenant: Option<TenantId>,
        filter: &AuditFilter,
        access: &AccessFilter<resource::AuditEvent>,
        page: &PageRequest,
    ) -> Result<Page<AuditEvent>, StoreError> {
        crate::audit::page(self, tenant, filter, access, page).await
    }

    async fn idempotent(
        &self,
        tenant: TenantId,
        operation: &str,
        keys: &[String],
        now: Timestamp,
    ) -> Result<Option<IdempotencyRecord>, StoreError> {
        idempotency::find(&self.db, tenant, operation, keys, now).await
    }
}
