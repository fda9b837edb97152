-- An organisation: the tenant
CREATE TABLE organizations (
    id BLOB NOT NULL,
    slug TEXT NOT NULL,
    display_name TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (slug)
) STRICT;
CREATE INDEX organizations_by_creation ON organizations (created_at, id);

-- Grows with every change of rights in an organisation. Whoever changes them writes this row first, so that
-- such changes wait for each other
CREATE TABLE tenant_authz (
    organization_id BLOB NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (organization_id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- An account; `search` holds its address and name in small letters
CREATE TABLE users (
    id BLOB NOT NULL,
    home_id BLOB NOT NULL,
    email TEXT NOT NULL,
    display_name TEXT NOT NULL,
    password_hash TEXT,
    state TEXT NOT NULL,
    password_changed_at INTEGER,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    search TEXT NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (email),
    FOREIGN KEY (home_id) REFERENCES organizations (id) ON DELETE NO ACTION
) STRICT;
CREATE INDEX users_by_home ON users (home_id, created_at, id);

-- That a user belongs to an organisation
CREATE TABLE members (
    organization_id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    expires_at INTEGER,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, user_id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE,
    FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX members_by_user ON members (user_id);
CREATE INDEX members_by_creation ON members (organization_id, created_at, user_id);

-- A role; `rules` is a document
CREATE TABLE roles (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    system INTEGER NOT NULL CHECK (system IN (0, 1)),
    rules BLOB NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, name),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;

-- Which roles a member has
CREATE TABLE role_bindings (
    organization_id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    role_id BLOB NOT NULL,
    PRIMARY KEY (organization_id, user_id, role_id),
    FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, role_id) REFERENCES roles (organization_id, id) ON DELETE NO ACTION
) STRICT, WITHOUT ROWID;
CREATE INDEX role_bindings_by_role ON role_bindings (organization_id, role_id);

-- A grant or a deny beside the roles
CREATE TABLE grants (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    principal_kind TEXT NOT NULL,
    principal_id BLOB,
    resource TEXT NOT NULL,
    action TEXT NOT NULL,
    selector TEXT NOT NULL,
    effect TEXT NOT NULL,
    reason TEXT,
    expires_at INTEGER,
    created_at INTEGER NOT NULL,
    created_by BLOB NOT NULL,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX grants_by_principal ON grants (organization_id, principal_kind, principal_id);
CREATE INDEX grants_by_creation ON grants (organization_id, created_at, id);

-- A signed-in session
CREATE TABLE sessions (
    id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    organization_id BLOB NOT NULL,
    token_sha256 TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    client_ip TEXT,
    user_agent TEXT,
    PRIMARY KEY (id),
    UNIQUE (token_sha256),
    FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX sessions_by_user ON sessions (user_id, created_at);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- An API token, for one organisation or for all of its user; `permissions` is a document
CREATE TABLE api_tokens (
    id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    organization_id BLOB,
    name TEXT NOT NULL,
    token_sha256 TEXT NOT NULL,
    hint TEXT NOT NULL,
    permissions BLOB,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    expires_at INTEGER,
    PRIMARY KEY (id),
    UNIQUE (token_sha256),
    UNIQUE (user_id, name),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE,
    FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX api_tokens_by_user ON api_tokens (user_id, created_at, id);
CREATE INDEX api_tokens_by_organization ON api_tokens (organization_id) WHERE organization_id IS NOT NULL;
CREATE INDEX api_tokens_by_expiry ON api_tokens (expires_at) WHERE expires_at IS NOT NULL;

-- The failed sign-ins of an account, known or not
CREATE TABLE sign_in_throttle (
    account_key TEXT NOT NULL,
    failures INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    PRIMARY KEY (account_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_throttle_by_age ON sign_in_throttle (last_at);

-- The installation as a whole, its licence included: one row. `revoked` is a document
CREATE TABLE installation (
    one INTEGER NOT NULL,
    installation_id TEXT NOT NULL,
    setup_token_sha256 TEXT,
    setup_expires_at INTEGER,
    set_up_at INTEGER,
    licence TEXT,
    licence_installed_at INTEGER,
    trial_started_at INTEGER,
    revoked BLOB NOT NULL,
    high_water_mark INTEGER NOT NULL,
    seal TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (one)
) STRICT;
