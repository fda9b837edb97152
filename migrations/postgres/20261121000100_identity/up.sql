-- An organisation: the tenant
CREATE TABLE organizations (
    id uuid NOT NULL,
    slug text COLLATE "C" NOT NULL,
    display_name text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (slug)
);
CREATE INDEX organizations_by_creation ON organizations (created_at, id);

-- Grows with every change of rights in an organisation. Whoever changes them writes this row first, so that
-- such changes wait for each other
CREATE TABLE tenant_authz (
    organization_id uuid NOT NULL,
    revision bigint NOT NULL,
    PRIMARY KEY (organization_id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);

-- An account; `search` holds its address and name in small letters
CREATE TABLE users (
    id uuid NOT NULL,
    home_id uuid NOT NULL,
    email text COLLATE "C" NOT NULL,
    display_name text COLLATE "C" NOT NULL,
    password_hash text COLLATE "C",
    state text COLLATE "C" NOT NULL,
    password_changed_at timestamptz,
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    search text COLLATE "C" NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (email),
    FOREIGN KEY (home_id) REFERENCES organizations (id) ON DELETE NO ACTION
);
CREATE INDEX users_by_home ON users (home_id, created_at, id);

-- That a user belongs to an organisation
CREATE TABLE members (
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    expires_at timestamptz,
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, user_id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE,
    FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX members_by_user ON members (user_id);
CREATE INDEX members_by_creation ON members (organization_id, created_at, user_id);

-- A role; `rules` is a document
CREATE TABLE roles (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    description text COLLATE "C",
    system boolean NOT NULL,
    rules bytea NOT NULL,
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, name),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);

-- Which roles a member has
CREATE TABLE role_bindings (
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role_id uuid NOT NULL,
    PRIMARY KEY (organization_id, user_id, role_id),
    FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, role_id) REFERENCES roles (organization_id, id) ON DELETE NO ACTION
);
CREATE INDEX role_bindings_by_role ON role_bindings (organization_id, role_id);

-- A grant or a deny beside the roles
CREATE TABLE grants (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    principal_kind text COLLATE "C" NOT NULL,
    principal_id uuid,
    resource text COLLATE "C" NOT NULL,
    action text COLLATE "C" NOT NULL,
    selector text COLLATE "C" NOT NULL,
    effect text COLLATE "C" NOT NULL,
    reason text COLLATE "C",
    expires_at timestamptz,
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);
CREATE INDEX grants_by_principal ON grants (organization_id, principal_kind, principal_id);
CREATE INDEX grants_by_creation ON grants (organization_id, created_at, id);

-- A signed-in session
CREATE TABLE sessions (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    token_sha256 text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    client_ip text COLLATE "C",
    user_agent text COLLATE "C",
    PRIMARY KEY (id),
    UNIQUE (token_sha256),
    FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX sessions_by_user ON sessions (user_id, created_at);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- An API token, for one organisation or for all of its user; `permissions` is a document
CREATE TABLE api_tokens (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    organization_id uuid,
    name text COLLATE "C" NOT NULL,
    token_sha256 text COLLATE "C" NOT NULL,
    hint text COLLATE "C" NOT NULL,
    permissions bytea,
    created_at timestamptz NOT NULL,
    last_used_at timestamptz,
    expires_at timestamptz,
    PRIMARY KEY (id),
    UNIQUE (token_sha256),
    UNIQUE (user_id, name),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE,
    FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX api_tokens_by_user ON api_tokens (user_id, created_at, id);
CREATE INDEX api_tokens_by_organization ON api_tokens (organization_id) WHERE organization_id IS NOT NULL;
CREATE INDEX api_tokens_by_expiry ON api_tokens (expires_at) WHERE expires_at IS NOT NULL;

-- The failed sign-ins of an account, known or not
CREATE TABLE sign_in_throttle (
    account_key text COLLATE "C" NOT NULL,
    failures bigint NOT NULL,
    last_at timestamptz NOT NULL,
    next_at timestamptz NOT NULL,
    PRIMARY KEY (account_key)
);
CREATE INDEX sign_in_throttle_by_age ON sign_in_throttle (last_at);

-- The installation as a whole, its licence included: one row. `revoked` is a document
CREATE TABLE installation (
    one integer NOT NULL,
    installation_id text COLLATE "C" NOT NULL,
    setup_token_sha256 text COLLATE "C",
    setup_expires_at timestamptz,
    set_up_at timestamptz,
    licence text COLLATE "C",
    licence_installed_at timestamptz,
    trial_started_at timestamptz,
    revoked bytea NOT NULL,
    high_water_mark timestamptz NOT NULL,
    seal text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (one)
);
