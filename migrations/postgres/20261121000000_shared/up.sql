-- An audit event. The nil organisation holds those of the installation as a whole; ids rise with time, so
-- the key is the order in time as well
CREATE TABLE audit_events (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    at timestamptz NOT NULL,
    actor_kind text COLLATE "C" NOT NULL,
    actor_id text COLLATE "C",
    actor_display text COLLATE "C" NOT NULL,
    action text COLLATE "C" NOT NULL,
    resource_type text COLLATE "C" NOT NULL,
    resource_id text COLLATE "C",
    outcome text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    client_ip text COLLATE "C",
    details jsonb NOT NULL,
    PRIMARY KEY (organization_id, id)
);

-- The answer that a repeat of a call gets, until it expires
CREATE TABLE idempotency_keys (
    organization_id uuid NOT NULL,
    operation text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    body_sha256 text COLLATE "C" NOT NULL,
    status integer NOT NULL,
    body bytea NOT NULL,
    etag text COLLATE "C",
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, operation, key)
);
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);

-- What was there and was deleted
CREATE TABLE tombstones (
    organization_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    id uuid NOT NULL,
    deleted_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, kind, id)
);
