//! Conversions of rows to and from records.

use heddle_connections::Hook;
use heddle_connections::ports::SealedRow;
use heddle_connections::records::{Connection, Delivery, Webhook};
use heddle_connections::secret::{SealedSecret, SecretPlace};
use heddle_kernel::{Revision, TenantId, WebhookId};
use heddle_store::{Error, document};

use crate::schema::{ConnectionRow, DeliveryRow, HookRow, HookSecretRow, SecretRow, WebhookRow};
use crate::words::{KindWord, PauseWord};

/// Between two texts that are searched together; no key of a keyboard, so that no search spans two texts.
const BETWEEN: char = '\u{1f}';

fn search(connection: &Connection) -> String {
    let mut text = connection.name.clone();
    for part in
        connection.description.iter().chain(connection.labels.iter().flat_map(|(key, value)| [key, value]))
    {
        text.push(BETWEEN);
        text.push_str(part);
    }
    text.to_lowercase()
}

impl TryFrom<&Connection> for ConnectionRow {
    type Error = Error;

    fn try_from(record: &Connection) -> Result<Self, Error> {
        Ok(Self {
            organization_id: record.tenant.into(),
            id: record.id.into(),
            name: record.name.clone(),
            kind: KindWord(record.kind),
            description: record.description.clone(),
            labels: document::encode(&record.labels)?,
            config: document::encode(&record.config)?,
            secrets: document::encode(&record.secrets)?,
            revision: record.revision.0,
            last_test: record.last_test.as_ref().map(document::encode).transpose()?,
            tested_at: record.last_test.as_ref().map(|test| test.tested_at.into()),
            created_at: record.created_at.into(),
            created_by: record.created_by.into(),
            updated_at: record.updated_at.into(),
            updated_by: record.updated_by.into(),
            search: search(record),
        })
    }
}

impl TryFrom<ConnectionRow> for Connection {
    type Error = Error;

    fn try_from(row: ConnectionRow) -> Result<Self, Error> {
        Ok(Self {
            tenant: row.organization_id.into(),
            id: row.id.into(),
            name: row.name,
            kind: row.kind.0,
            description: row.description,
            labels: document::decode(&row.labels)?,
            config: document::decode(&row.config)?,
            secrets: document::decode(&row.secrets)?,
            revision: Revision(row.revision),
            last_test: row.last_test.as_deref().map(document::decode).transpose()?,
            created_at: row.created_at.into(),
            created_by: row.created_by.into(),
            updated_at: row.updated_at.into(),
            updated_by: row.updated_by.into(),
        })
    }
}

impl From<SecretRow> for SealedRow {
    fn from(row: SecretRow) -> Self {
        Self {
            place: SecretPlace {
                tenant: row.organization_id.into(),
                connection: row.connection_id.into(),
                field: row.field,
            },
            sealed: SealedSecret { key: row.key_id, text: row.sealed },
        }
    }
}

impl From<HookSecretRow> for SealedRow {
    fn from(row: HookSecretRow) -> Self {
        Self {
            place: SecretPlace {
                tenant: row.organization_id.into(),
                // Ids are unique over all kinds of records, and a secret is sealed under that of its own.
                connection: row.hook_id.into(),
                field: row.field,
            },
            sealed: SealedSecret { key: row.key_id, text: row.sealed },
        }
    }
}

impl TryFrom<&Hook> for HookRow {
    type Error = Error;

    fn try_from(record: &Hook) -> Result<Self, Error> {
        Ok(Self {
            organization_id: record.tenant.into(),
            id: record.id.into(),
            name: record.name.clone(),
            token_sha256: record.token_sha256.clone(),
            event_type: record.event_type.clone(),
            settings: document::encode(&record.settings)?,
            revision: record.revision.0,
            created_at: record.created_at.into(),
            created_by: record.created_by.into(),
            updated_at: record.updated_at.into(),
            updated_by: record.updated_by.into(),
            search: format!("{}{BETWEEN}{}", record.name, record.event_type).to_lowercase(),
        })
    }
}

impl TryFrom<HookRow> for Hook {
    type Error = Error;

    fn try_from(row: HookRow) -> Result<Self, Error> {
        Ok(Self {
            tenant: row.organization_id.into(),
            id: row.id.into(),
            name: row.name,
            token_sha256: row.token_sha256,
            event_type: row.event_type,
            settings: document::decode(&row.settings)?,
            revision: Revision(row.revision),
            created_at: row.created_at.into(),
            created_by: row.created_by.into(),
            updated_at: row.updated_at.into(),
            updated_by: row.updated_by.into(),
        })
    }
}

impl TryFrom<&Webhook> for WebhookRow {
    type Error = Error;

    fn try_from(record: &Webhook) -> Result<Self, Error> {
        Ok(Self {
            organization_id: record.tenant.into(),
            id: record.id.into(),
            name: record.name.clone(),
            connection_id: record.connection_id.into(),
            event_types: document::encode(&record.event_types)?,
            workflows: record.workflows.as_ref().map(document::encode).transpose()?,
            paused: record.paused.map(PauseWord),
            revision: record.revision.0,
            created_at: record.created_at.into(),
            created_by: record.created_by.into(),
            updated_at: record.updated_at.into(),
            updated_by: record.updated_by.into(),
            search: record.name.to_lowercase(),
        })
    }
}

impl WebhookRow {
    /// The webhook, with its last delivery.
    pub(crate) fn into_webhook(self, last_delivery: Option<Delivery>) -> Result<Webhook, Error> {
        Ok(Webhook {
            tenant: self.organization_id.into(),
            id: self.id.into(),
            name: self.name,
            connection_id: self.connection_id.into(),
            event_types: document::decode(&self.event_types)?,
            workflows: self.workflows.as_deref().map(document::decode).transpose()?,
            paused: self.paused.map(|word| word.0),
            last_delivery,
            revision: Revision(self.revision),
            created_at: self.created_at.into(),
            created_by: self.created_by.into(),
            updated_at: self.updated_at.into(),
            updated_by: self.updated_by.into(),
        })
    }
}

impl DeliveryRow {
    /// The row of a webhook's last delivery.
    pub(crate) fn of(tenant: TenantId, webhook: WebhookId, delivery: &Delivery) -> Result<Self, Error> {
        Ok(Self {
            organization_id: tenant.into(),
            webhook_id: webhook.into(),
            delivery: document::encode(delivery)?,
            at: delivery.at.into(),
        })
    }
}
