-- A hook: an address at which calls of a service outside become case events; `token_sha256` is the digest of the token in
-- the address, `settings` a document without secrets, `search` holds name and type of events in small letters
CREATE TABLE hooks (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    token_sha256 TEXT NOT NULL,
    event_type TEXT NOT NULL,
    settings BLOB NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    created_by BLOB NOT NULL,
    updated_at INTEGER NOT NULL,
    updated_by BLOB NOT NULL,
    search TEXT NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, name),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;
-- A call names its hook by nothing but the token
CREATE UNIQUE INDEX hooks_by_token ON hooks (token_sha256);

-- A sealed secret of a hook; it opens in this row alone
CREATE TABLE hook_secrets (
    organization_id BLOB NOT NULL,
    hook_id BLOB NOT NULL,
    field TEXT NOT NULL,
    key_id TEXT NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (organization_id, hook_id, field),
    FOREIGN KEY (organization_id, hook_id) REFERENCES hooks (organization_id, id) ON DELETE CASCADE
) STRICT;
-- The keys in use are counted at each start
CREATE INDEX hook_secrets_by_key ON hook_secrets (key_id);
