//! The tables of connections: one list of columns for each, from which table, row and changes come (`docs/STORAGE.md`).
//! Conversions to and from records are in `rows`.

use heddle_store::{At, Id, Migration, migrations, row};

use crate::words::{KindWord, PauseWord};

/// The migrations of the tables of connections.
pub const MIGRATIONS: &[Migration] = migrations![
    "20261123000100_connections",
    "20261124000200_connections_forgotten_keys",
    "20261125000300_connections_hooks",
];

row! {
    /// A connection.
    pub(crate) connections (organization_id, id) => ConnectionRow changes (ConnectionChange) {
        key   organization_id: [DbUuid] Id,
        key   id: [DbUuid] Id,
        each  name: [Text] String,
        once  kind: [Text] KindWord,
        each  description: [Nullable<Text>] Option<String>,
        each  labels: [Binary] Vec<u8>,
        each  config: [Binary] Vec<u8>,
        each  secrets: [Binary] Vec<u8>,
        each  revision: [BigInt] i64,
        alone last_test: [Nullable<Binary>] Option<Vec<u8>>,
        alone tested_at: [Nullable<DbInstant>] Option<At>,
        once  created_at: [DbInstant] At,
        once  created_by: [DbUuid] Id,
        each  updated_at: [DbInstant] At,
        each  updated_by: [DbUuid] Id,
        each  search: [Text] String,
    }
}

row! {
    /// A sealed secret of a connection.
    pub(crate) connection_secrets (organization_id, connection_id, field) => SecretRow changes (SecretChange) {
        key  organization_id: [DbUuid] Id,
        key  connection_id: [DbUuid] Id,
        key  field: [Text] String,
        each key_id: [Text] String,
        each sealed: [Text] String,
    }
}

row! {
    /// The check of a key.
    pub(crate) connection_keys (key_id) => KeyRow {
        key   key_id: [Text] String,
        once  check_value: [Text] String,
        once  created_at: [DbInstant] At,
        alone forgotten_at: [Nullable<DbInstant>] Option<At>,
    }
}

row! {
    /// A webhook.
    pub(crate) webhooks (organization_id, id) => WebhookRow changes (WebhookChange) {
        key  organization_id: [DbUuid] Id,
        key  id: [DbUuid] Id,
        each name: [Text] String,
        each connection_id: [DbUuid] Id,
        each event_types: [Binary] Vec<u8>,
        each workflows: [Nullable<Binary>] Option<Vec<u8>>,
        each paused: [Nullable<Text>] Option<PauseWord>,
        each revision: [BigInt] i64,
        once created_at: [DbInstant] At,
        once created_by: [DbUuid] Id,
        each updated_at: [DbInstant] At,
        each updated_by: [DbUuid] Id,
        each search: [Text] String,
    }
}

row! {
    /// The last delivery of a webhook.
    pub(crate) webhook_deliveries (organization_id, webhook_id) => DeliveryRow changes (DeliveryChange) {
        key  organization_id: [DbUuid] Id,
        key  webhook_id: [DbUuid] Id,
        each delivery: [Binary] Vec<u8>,
        each at: [DbInstant] At,
    }
}

row! {
    /// A hook.
    pub(crate) hooks (organization_id, id) => HookRow changes (HookChange) {
        key  organization_id: [DbUuid] Id,
        key  id: [DbUuid] Id,
        each name: [Text] String,
        once token_sha256: [Text] String,
        each event_type: [Text] String,
        each settings: [Binary] Vec<u8>,
        each revision: [BigInt] i64,
        once created_at: [DbInstant] At,
        once created_by: [DbUuid] Id,
        each updated_at: [DbInstant] At,
        each updated_by: [DbUuid] Id,
        each search: [Text] String,
    }
}

row! {
    /// A sealed secret of a hook.
    pub(crate) hook_secrets (organization_id, hook_id, field) => HookSecretRow changes (HookSecretChange) {
        key  organization_id: [DbUuid] Id,
        key  hook_id: [DbUuid] Id,
        key  field: [Text] String,
        each key_id: [Text] String,
        each sealed: [Text] String,
    }
}

diesel::allow_tables_to_appear_in_same_query!(
    connections,
    connection_secrets,
    connection_keys,
    webhooks,
    webhook_deliveries,
    hooks,
    hook_secrets,
);
