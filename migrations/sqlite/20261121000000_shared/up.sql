-- An audit event. The nil organisation holds those of the installation as a whole; ids rise with time, so
-- the key is the order in time as well
CREATE TABLE audit_events (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    at INTEGER NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_id TEXT,
    actor_display TEXT NOT NULL,
    action TEXT NOT NULL,
    resource_type TEXT NOT NULL,
    resource_id TEXT,
    outcome TEXT NOT NULL,
    request_id TEXT NOT NULL,
    client_ip TEXT,
    details TEXT NOT NULL,
    PRIMARY KEY (organization_id, id)
) STRICT, WITHOUT ROWID;

-- The answer that a repeat of a call gets, until it expires
CREATE TABLE idempotency_keys (
    organization_id BLOB NOT NULL,
    operation TEXT NOT NULL,
    key TEXT NOT NULL,
    body_sha256 TEXT NOT NULL,
    status INTEGER NOT NULL,
    body BLOB NOT NULL,
    etag TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, operation, key)
) STRICT;
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);

-- What was there and was deleted
CREATE TABLE tombstones (
    organization_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    id BLOB NOT NULL,
    deleted_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, kind, id)
) STRICT, WITHOUT ROWID;
