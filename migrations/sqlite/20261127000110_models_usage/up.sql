-- A call, without its prompt and its answer
CREATE TABLE model_calls (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    at INTEGER NOT NULL,
    principal_id BLOB NOT NULL,
    deployment_id BLOB NOT NULL,
    requested_id BLOB NOT NULL,
    connection_id BLOB NOT NULL,
    workflow_id BLOB,
    request_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    model_revision TEXT,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    estimated INTEGER NOT NULL CHECK (estimated IN (0, 1)),
    cost_micros INTEGER NOT NULL,
    price_version INTEGER,
    first_token_ms INTEGER,
    total_ms INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    fault TEXT,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;
-- Forgetting, the oldest first
CREATE INDEX model_calls_by_time ON model_calls (at, organization_id, id);

-- Sums over the calls of a day: by axis and thing, of a deployment or (with the nil id) of all
CREATE TABLE model_sums (
    organization_id BLOB NOT NULL,
    axis TEXT NOT NULL,
    deployment_id BLOB NOT NULL,
    thing_id BLOB NOT NULL,
    day INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    aborted INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    cost_micros INTEGER NOT NULL,
    total_ms INTEGER NOT NULL,
    PRIMARY KEY (organization_id, axis, deployment_id, thing_id, day),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;

-- A budget's period: what was spent and what is set aside; the scope is a deployment's id, or the nil one for the organisation
CREATE TABLE model_budgets (
    organization_id BLOB NOT NULL,
    scope_id BLOB NOT NULL,
    period_start INTEGER NOT NULL,
    spent_micros INTEGER NOT NULL,
    held_micros INTEGER NOT NULL,
    spent_tokens INTEGER NOT NULL,
    held_tokens INTEGER NOT NULL,
    PRIMARY KEY (organization_id, scope_id, period_start),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;

-- What a call set aside, in every budget that `scopes` names
CREATE TABLE model_reservations (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    scopes BLOB NOT NULL,
    cost_micros INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX model_reservations_by_end ON model_reservations (organization_id, expires_at, id);
CREATE INDEX model_reservations_by_time ON model_reservations (expires_at, organization_id, id);
