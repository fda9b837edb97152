//! Workflows that would be lost with an organisation.

use async_trait::async_trait;
use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_kernel::TenantId;
use heddle_store::tenant::{InUse, TenantContents};
use heddle_store::{Conn, Error, Id, on_conn};

use crate::schema::workflows;

/// The workflows of an organisation. Runs and tasks hang on them.
#[derive(Debug, Clone, Copy)]
pub struct WorkflowContents;

#[async_trait]
impl TenantContents for WorkflowContents {
    async fn in_use(&self, mut conn: Conn<'_>, tenant: TenantId) -> Result<Vec<InUse>, Error> {
        let query = workflows::table.filter(workflows::organization_id.eq(Id::from(tenant))).count();
        let count: i64 = on_conn!(&mut conn, |conn| query.get_result(conn).await?);
        Ok(if count > 0 { vec![InUse { kind: "workflow", count: count.unsigned_abs() }] } else { Vec::new() })
    }
}
