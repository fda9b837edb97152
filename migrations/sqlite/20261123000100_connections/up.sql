-- A connection; `labels`, `config`, `secrets` (what is shown of them) and `last_test` are documents, `search` holds name,
-- description and labels in small letters
CREATE TABLE connections (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    description TEXT,
    labels BLOB NOT NULL,
    config BLOB NOT NULL,
    secrets BLOB NOT NULL,
    revision INTEGER NOT NULL,
    last_test BLOB,
    tested_at INTEGER,
    created_at INTEGER NOT NULL,
    created_by BLOB NOT NULL,
    updated_at INTEGER NOT NULL,
    updated_by BLOB NOT NULL,
    search TEXT NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, name),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;

-- A sealed secret of a connection; it opens in this row alone
CREATE TABLE connection_secrets (
    organization_id BLOB NOT NULL,
    connection_id BLOB NOT NULL,
    field TEXT NOT NULL,
    key_id TEXT NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (organization_id, connection_id, field),
    FOREIGN KEY (organization_id, connection_id) REFERENCES connections (organization_id, id) ON DELETE CASCADE
) STRICT;
-- The keys in use are counted at each start
CREATE INDEX connection_secrets_by_key ON connection_secrets (key_id);

-- The check of a key that secrets are or were sealed under; it tells nothing of the key
CREATE TABLE connection_keys (
    key_id TEXT NOT NULL PRIMARY KEY,
    check_value TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- A webhook; `event_types` and `workflows` are documents, `search` holds the name in small letters
CREATE TABLE webhooks (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    connection_id BLOB NOT NULL,
    event_types BLOB NOT NULL,
    workflows BLOB,
    paused TEXT,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    created_by BLOB NOT NULL,
    updated_at INTEGER NOT NULL,
    updated_by BLOB NOT NULL,
    search TEXT NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, name),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, connection_id) REFERENCES connections (organization_id, id) ON DELETE NO ACTION
) STRICT;
-- What uses a connection is asked before its deletion
CREATE INDEX webhooks_by_connection ON webhooks (organization_id, connection_id);

-- The last delivery of a webhook, a document, apart from the webhook: it is written often
CREATE TABLE webhook_deliveries (
    organization_id BLOB NOT NULL,
    webhook_id BLOB NOT NULL,
    delivery BLOB NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, webhook_id),
    FOREIGN KEY (organization_id, webhook_id) REFERENCES webhooks (organization_id, id) ON DELETE CASCADE
) STRICT;
