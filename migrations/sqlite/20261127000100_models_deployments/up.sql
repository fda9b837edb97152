-- Number of an organisation's last change of connections or deployments, and the number of its deployments
CREATE TABLE model_heads (
    organization_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    deployments INTEGER NOT NULL,
    PRIMARY KEY (organization_id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;

-- A connection to a provider of models
CREATE TABLE model_connections (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    is_local INTEGER NOT NULL CHECK (is_local IN (0, 1)),
    settings BLOB NOT NULL,
    api_key BLOB,
    timeouts BLOB NOT NULL,
    limits BLOB NOT NULL,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    revision INTEGER NOT NULL,
    last_test BLOB,
    tested_at INTEGER,
    discovered_at INTEGER,
    created_at INTEGER NOT NULL,
    created_by BLOB NOT NULL,
    updated_at INTEGER NOT NULL,
    updated_by BLOB NOT NULL,
    search TEXT NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, name),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX model_connections_by_kind ON model_connections (organization_id, kind, name);

-- The sealed key of a connection
CREATE TABLE model_keys (
    organization_id BLOB NOT NULL,
    connection_id BLOB NOT NULL,
    key_id TEXT NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (organization_id, connection_id),
    FOREIGN KEY (organization_id, connection_id) REFERENCES model_connections (organization_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX model_keys_by_key ON model_keys (key_id, organization_id, connection_id);

-- A model that a provider told of; `capabilities` holds words between commas
CREATE TABLE model_catalogue (
    organization_id BLOB NOT NULL,
    connection_id BLOB NOT NULL,
    model TEXT NOT NULL,
    entry BLOB NOT NULL,
    capabilities TEXT NOT NULL,
    discovered_at INTEGER NOT NULL,
    search TEXT NOT NULL,
    PRIMARY KEY (organization_id, connection_id, model),
    FOREIGN KEY (organization_id, connection_id) REFERENCES model_connections (organization_id, id) ON DELETE CASCADE
) STRICT;

-- A deployment; `settings` holds what no list asks for, `state` to `observed` are what was seen last, `looked_after` says whether the
-- reconciler looks at it
CREATE TABLE model_deployments (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    alias TEXT NOT NULL,
    connection_id BLOB NOT NULL,
    model TEXT NOT NULL,
    capabilities TEXT NOT NULL,
    settings BLOB NOT NULL,
    preload INTEGER NOT NULL CHECK (preload IN (0, 1)),
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    looked_after INTEGER NOT NULL CHECK (looked_after IN (0, 1)),
    state TEXT NOT NULL,
    state_detail TEXT,
    observed BLOB NOT NULL,
    model_revision TEXT,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    created_by BLOB NOT NULL,
    updated_at INTEGER NOT NULL,
    updated_by BLOB NOT NULL,
    search TEXT NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, alias),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, connection_id) REFERENCES model_connections (organization_id, id)
) STRICT;
CREATE INDEX model_deployments_by_connection ON model_deployments (organization_id, connection_id, alias);
CREATE INDEX model_deployments_by_state ON model_deployments (organization_id, state, alias);
CREATE INDEX model_deployments_looked_after ON model_deployments (organization_id, id) WHERE looked_after;

-- A fallback of a deployment, in its place
CREATE TABLE model_fallbacks (
    organization_id BLOB NOT NULL,
    deployment_id BLOB NOT NULL,
    position INTEGER NOT NULL,
    fallback_id BLOB NOT NULL,
    PRIMARY KEY (organization_id, deployment_id, position),
    FOREIGN KEY (organization_id, deployment_id) REFERENCES model_deployments (organization_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX model_fallbacks_by_fallback ON model_fallbacks (organization_id, fallback_id, deployment_id);
