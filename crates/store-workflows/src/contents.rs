//! Workflows and case types that would be lost with an organisation.

use async_trait::async_trait;
use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_kernel::{DefinitionKind, TenantId};
use heddle_store::tenant::{InUse, TenantContents};
use heddle_store::{Conn, Error, Id, on_conn};

use crate::schema::workflows;
use crate::tomb;
use crate::words::DefinitionKindWord;

/// The workflows and case types of an organisation. Runs, cases and tasks hang on them.
#[derive(Debug, Clone, Copy)]
pub struct WorkflowContents;

#[async_trait]
impl TenantContents for WorkflowContents {
    async fn in_use(&self, mut conn: Conn<'_>, tenant: TenantId) -> Result<Vec<InUse>, Error> {
        let mut found = Vec::new();
        for kind in DefinitionKind::ALL {
            let query = workflows::table
                .filter(workflows::organization_id.eq(Id::from(tenant)))
                .filter(workflows::kind.eq(DefinitionKindWord(*kind)))
                .count();
            let count: i64 = on_conn!(&mut conn, |conn| query.get_result(conn).await?);
            if count > 0 {
                found.push(InUse { kind: tomb::definition(*kind), count: count.unsigned_abs() });
            }
        }
        Ok(found)
    }
}
