-- Number of an organisation's last change of connections or deployments, and the number of its deployments
CREATE TABLE model_heads (
    organization_id uuid NOT NULL,
    version bigint NOT NULL,
    deployments bigint NOT NULL,
    PRIMARY KEY (organization_id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);

-- A connection to a provider of models
CREATE TABLE model_connections (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    is_local boolean NOT NULL,
    settings bytea NOT NULL,
    api_key bytea,
    timeouts bytea NOT NULL,
    limits bytea NOT NULL,
    enabled boolean NOT NULL,
    revision bigint NOT NULL,
    last_test bytea,
    tested_at timestamptz,
    discovered_at timestamptz,
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    updated_by uuid NOT NULL,
    search text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, name),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);
CREATE INDEX model_connections_by_kind ON model_connections (organization_id, kind, name);

-- The sealed key of a connection
CREATE TABLE model_keys (
    organization_id uuid NOT NULL,
    connection_id uuid NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    sealed text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization_id, connection_id),
    FOREIGN KEY (organization_id, connection_id) REFERENCES model_connections (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX model_keys_by_key ON model_keys (key_id, organization_id, connection_id);

-- A model that a provider told of; `capabilities` holds words between commas
CREATE TABLE model_catalogue (
    organization_id uuid NOT NULL,
    connection_id uuid NOT NULL,
    model text COLLATE "C" NOT NULL,
    entry bytea NOT NULL,
    capabilities text COLLATE "C" NOT NULL,
    discovered_at timestamptz NOT NULL,
    search text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization_id, connection_id, model),
    FOREIGN KEY (organization_id, connection_id) REFERENCES model_connections (organization_id, id) ON DELETE CASCADE
);

-- A deployment; `settings` holds what no list asks for, `state` to `observed` are what was seen last, `looked_after` says whether the
-- reconciler looks at it
CREATE TABLE model_deployments (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    alias text COLLATE "C" NOT NULL,
    connection_id uuid NOT NULL,
    model text COLLATE "C" NOT NULL,
    capabilities text COLLATE "C" NOT NULL,
    settings bytea NOT NULL,
    preload boolean NOT NULL,
    enabled boolean NOT NULL,
    looked_after boolean NOT NULL,
    state text COLLATE "C" NOT NULL,
    state_detail text COLLATE "C",
    observed bytea NOT NULL,
    model_revision text COLLATE "C",
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    updated_by uuid NOT NULL,
    search text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, alias),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, connection_id) REFERENCES model_connections (organization_id, id)
);
CREATE INDEX model_deployments_by_connection ON model_deployments (organization_id, connection_id, alias);
CREATE INDEX model_deployments_by_state ON model_deployments (organization_id, state, alias);
CREATE INDEX model_deployments_looked_after ON model_deployments (organization_id, id) WHERE looked_after;

-- A fallback of a deployment, in its place
CREATE TABLE model_fallbacks (
    organization_id uuid NOT NULL,
    deployment_id uuid NOT NULL,
    position bigint NOT NULL,
    fallback_id uuid NOT NULL,
    PRIMARY KEY (organization_id, deployment_id, position),
    FOREIGN KEY (organization_id, deployment_id) REFERENCES model_deployments (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX model_fallbacks_by_fallback ON model_fallbacks (organization_id, fallback_id, deployment_id);
