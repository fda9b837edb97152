//! Contents of an organisation: connections to providers that would be lost with it.

use async_trait::async_trait;
use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_kernel::TenantId;
use heddle_models::types::ProviderKind;
use heddle_store::tenant::{InUse, TenantContents};
use heddle_store::{Conn, Error, Id, on_conn};

use crate::schema::model_connections;
use crate::words::KindWord;

/// Connections of an organisation, but for the one to the models inside the service, which it has by itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct ModelContents;

#[async_trait]
impl TenantContents for ModelContents {
    async fn in_use(&self, mut conn: Conn<'_>, tenant: TenantId) -> Result<Vec<InUse>, Error> {
        let all = model_connections::table
            .filter(model_connections::organization_id.eq(Id::from(tenant)))
            .filter(model_connections::kind.ne(KindWord(ProviderKind::Local)))
            .count();
        let count: i64 = on_conn!(&mut conn, |conn| all.get_result(conn).await?);
        if count == 0 {
            return Ok(Vec::new());
        }
        Ok(vec![InUse { kind: "model-connection", count: count.unsigned_abs() }])
    }
}
