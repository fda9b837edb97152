-- A call, without its prompt and its answer
CREATE TABLE model_calls (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    at timestamptz NOT NULL,
    principal_id uuid NOT NULL,
    deployment_id uuid NOT NULL,
    requested_id uuid NOT NULL,
    connection_id uuid NOT NULL,
    workflow_id uuid,
    request_id text COLLATE "C" NOT NULL,
    operation text COLLATE "C" NOT NULL,
    model_revision text COLLATE "C",
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cached_tokens bigint NOT NULL,
    reasoning_tokens bigint NOT NULL,
    estimated boolean NOT NULL,
    cost_micros bigint NOT NULL,
    price_version bigint,
    first_token_ms bigint,
    total_ms bigint NOT NULL,
    attempts bigint NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    fault text COLLATE "C",
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);
-- Forgetting, the oldest first
CREATE INDEX model_calls_by_time ON model_calls (at, organization_id, id);

-- Sums over the calls of a day: by axis and thing, of a deployment or (with the nil id) of all
CREATE TABLE model_sums (
    organization_id uuid NOT NULL,
    axis text COLLATE "C" NOT NULL,
    deployment_id uuid NOT NULL,
    thing_id uuid NOT NULL,
    day bigint NOT NULL,
    calls bigint NOT NULL,
    failed bigint NOT NULL,
    aborted bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cached_tokens bigint NOT NULL,
    reasoning_tokens bigint NOT NULL,
    cost_micros bigint NOT NULL,
    total_ms bigint NOT NULL,
    PRIMARY KEY (organization_id, axis, deployment_id, thing_id, day),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);

-- A budget's period: what was spent and what is set aside; the scope is a deployment's id, or the nil one for the organisation
CREATE TABLE model_budgets (
    organization_id uuid NOT NULL,
    scope_id uuid NOT NULL,
    period_start timestamptz NOT NULL,
    spent_micros bigint NOT NULL,
    held_micros bigint NOT NULL,
    spent_tokens bigint NOT NULL,
    held_tokens bigint NOT NULL,
    PRIMARY KEY (organization_id, scope_id, period_start),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);

-- What a call set aside, in every budget that `scopes` names
CREATE TABLE model_reservations (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    scopes bytea NOT NULL,
    cost_micros bigint NOT NULL,
    tokens bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);
CREATE INDEX model_reservations_by_end ON model_reservations (organization_id, expires_at, id);
CREATE INDEX model_reservations_by_time ON model_reservations (expires_at, organization_id, id);
