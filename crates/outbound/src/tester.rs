//! The tester of every type, and the deliverer of webhooks.

use async_trait::async_trait;
use heddle_connections::ConnectionKind;
use heddle_connections::ports::{Ping, Tested, Tester};
use heddle_connections::records::{OpenConnection, Phase};
use heddle_egress::{Egress, Instant};

use crate::webhook::{Delivered, Message};
use crate::{http, postgres, s3, smtp, webhook};

/// Speaker to the services on the other side of connections: cheap to clone.
#[derive(Debug, Clone)]
pub struct Outbound {
    egress: Egress,
}

impl Outbound {
    /// Speaker on the way out.
    #[must_use]
    pub const fn new(egress: Egress) -> Self {
        Self { egress }
    }

    /// The way out on behalf of the connection's organisation.
    fn egress_for(&self, connection: &OpenConnection) -> Egress {
        self.egress.on_behalf_of(&connection.tenant.to_string())
    }

    /// Delivers a message to the receiver of a connection of type webhook, once, within 30 s.
    pub async fn deliver(&self, connection: &OpenConnection, message: &Message) -> Delivered {
        webhook::deliver(&self.egress_for(connection), connection, message).await
    }
}

#[async_trait]
impl Tester for Outbound {
    async fn test(&self, connection: &OpenConnection, ping: &Ping) -> Tested {
        let began = Instant::now();
        let egress = &self.egress_for(connection);
        let found = match connection.kind {
            ConnectionKind::Http => http::test(egress, connection).await,
            ConnectionKind::Smtp => smtp::test(egress, connection).await,
            ConnectionKind::Postgresql => postgres::test(egress, connection).await,
            ConnectionKind::S3 => s3::test(egress, connection, ping.at).await,
            ConnectionKind::Webhook => webhook::test(egress, connection, ping).await,
        };
        let latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        match found {
            Ok(message) => Tested { ok: true, phase: Phase::Request, latency_ms, message },
            Err(failure) => Tested { ok: false, phase: failure.phase, latency_ms, message: failure.message },
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use heddle_connections::secret::Secret;
    use heddle_kernel::{ConnectionId, Revision, TenantId};
    use serde_json::Value;
    use uuid::Uuid;

    /// An open connection with this configuration and these secrets.
    pub(crate) fn opened(kind: ConnectionKind, config: Value, secrets: &[(&str, &str)]) -> OpenConnection {
        let Value::Object(config) = config else { panic!("{config} is no object") };
        OpenConnection {
            tenant: TenantId(Uuid::from_u128(1)),
            id: ConnectionId(Uuid::from_u128(2)),
            kind,
            revision: Revision::FIRST,
            config,
            secrets: secrets
                .iter()
                .map(|(name, secret)| ((*name).to_owned(), Secret::new(*secret)))
                .collect(),
        }
    }
}
