//! Contents of an organisation: databases that would be lost with it.

use async_trait::async_trait;
use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_kernel::TenantId;
use heddle_store::tenant::{InUse, TenantContents};
use heddle_store::{Conn, Error, Id, on_conn};

use crate::schema::vector_databases;

/// Vector databases of an organisation.
#[derive(Debug, Clone, Copy, Default)]
pub struct VectorContents;

#[async_trait]
impl TenantContents for VectorContents {
    async fn in_use(&self, mut conn: Conn<'_>, tenant: TenantId) -> Result<Vec<InUse>, Error> {
        let all =
            vector_databases::table.filter(vector_databases::organization_id.eq(Id::from(tenant))).count();
        let count: i64 = on_conn!(&mut conn, |conn| all.get_result(conn).await?);
        if count == 0 {
            return Ok(Vec::new());
        }
        Ok(vec![InUse { kind: "vector-database", count: count.unsigned_abs() }])
    }
}
