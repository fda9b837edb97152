-- A connection; `labels`, `config`, `secrets` (what is shown of them) and `last_test` are documents, `search` holds name,
-- description and labels in small letters
CREATE TABLE connections (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    description text COLLATE "C",
    labels bytea NOT NULL,
    config bytea NOT NULL,
    secrets bytea NOT NULL,
    revision bigint NOT NULL,
    last_test bytea,
    tested_at timestamptz,
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    updated_by uuid NOT NULL,
    search text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, name),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);

-- A sealed secret of a connection; it opens in this row alone
CREATE TABLE connection_secrets (
    organization_id uuid NOT NULL,
    connection_id uuid NOT NULL,
    field text COLLATE "C" NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    sealed text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization_id, connection_id, field),
    FOREIGN KEY (organization_id, connection_id) REFERENCES connections (organization_id, id) ON DELETE CASCADE
);
-- The keys in use are counted at each start
CREATE INDEX connection_secrets_by_key ON connection_secrets (key_id);

-- The check of a key that secrets are or were sealed under; it tells nothing of the key
CREATE TABLE connection_keys (
    key_id text COLLATE "C" NOT NULL PRIMARY KEY,
    check_value text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL
);

-- A webhook; `event_types` and `workflows` are documents, `search` holds the name in small letters
CREATE TABLE webhooks (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    connection_id uuid NOT NULL,
    event_types bytea NOT NULL,
    workflows bytea,
    paused text COLLATE "C",
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    updated_by uuid NOT NULL,
    search text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, name),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, connection_id) REFERENCES connections (organization_id, id) ON DELETE NO ACTION
);
-- What uses a connection is asked before its deletion
CREATE INDEX webhooks_by_connection ON webhooks (organization_id, connection_id);

-- The last delivery of a webhook, a document, apart from the webhook: it is written often
CREATE TABLE webhook_deliveries (
    organization_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    delivery bytea NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, webhook_id),
    FOREIGN KEY (organization_id, webhook_id) REFERENCES webhooks (organization_id, id) ON DELETE CASCADE
);
