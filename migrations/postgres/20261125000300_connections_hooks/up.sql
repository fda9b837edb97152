-- A hook: an address at which calls of a service outside become case events; `token_sha256` is the digest of the token in
-- the address, `settings` a document without secrets, `search` holds name and type of events in small letters
CREATE TABLE hooks (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    token_sha256 text COLLATE "C" NOT NULL,
    event_type text COLLATE "C" NOT NULL,
    settings bytea NOT NULL,
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    updated_by uuid NOT NULL,
    search text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, name),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);
-- A call names its hook by nothing but the token
CREATE UNIQUE INDEX hooks_by_token ON hooks (token_sha256);

-- A sealed secret of a hook; it opens in this row alone
CREATE TABLE hook_secrets (
    organization_id uuid NOT NULL,
    hook_id uuid NOT NULL,
    field text COLLATE "C" NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    sealed text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization_id, hook_id, field),
    FOREIGN KEY (organization_id, hook_id) REFERENCES hooks (organization_id, id) ON DELETE CASCADE
);
-- The keys in use are counted at each start
CREATE INDEX hook_secrets_by_key ON hook_secrets (key_id);
