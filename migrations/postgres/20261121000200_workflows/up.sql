-- A workflow with its draft. A draft or a folder that was sent as null is not the same as none: the draft
-- is then the document `null`, the folder has its mark; `search` holds slug, name and description in small
-- letters
CREATE TABLE workflows (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    slug text COLLATE "C" NOT NULL,
    display_name text COLLATE "C" NOT NULL,
    description text COLLATE "C" NOT NULL,
    folder_id text COLLATE "C",
    folder_null boolean NOT NULL,
    state text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    draft_revision bigint NOT NULL,
    draft bytea,
    draft_hash text COLLATE "C",
    published_version integer,
    published_hash text COLLATE "C",
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    updated_by uuid NOT NULL,
    search text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, slug)
);
CREATE INDEX workflows_by_creation ON workflows (organization_id, created_at, id);
CREATE INDEX workflows_by_update ON workflows (organization_id, updated_at, id);
CREATE INDEX workflows_by_name ON workflows (organization_id, display_name, id);

-- A published, unchangeable definition
CREATE TABLE workflow_versions (
    organization_id uuid NOT NULL,
    workflow_id uuid NOT NULL,
    number integer NOT NULL,
    hash text COLLATE "C" NOT NULL,
    definition bytea NOT NULL,
    published_at timestamptz NOT NULL,
    published_by uuid NOT NULL,
    change_note text COLLATE "C",
    PRIMARY KEY (organization_id, workflow_id, number),
    FOREIGN KEY (organization_id, workflow_id) REFERENCES workflows (organization_id, id) ON DELETE CASCADE
);

-- Which workflows a user has starred
CREATE TABLE workflow_stars (
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    workflow_id uuid NOT NULL,
    PRIMARY KEY (organization_id, user_id, workflow_id),
    FOREIGN KEY (organization_id, workflow_id) REFERENCES workflows (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX workflow_stars_by_workflow ON workflow_stars (organization_id, workflow_id);

-- Imported bytes, kept for good once a workflow claims them
CREATE TABLE import_sources (
    organization_id uuid NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    media_type text COLLATE "C" NOT NULL,
    file_name text COLLATE "C",
    bytes bytea NOT NULL,
    expires_at timestamptz,
    PRIMARY KEY (organization_id, sha256)
);
CREATE INDEX import_sources_by_expiry ON import_sources (expires_at) WHERE expires_at IS NOT NULL;

-- Which imported bytes a workflow came from; the main one is given out again
CREATE TABLE workflow_sources (
    organization_id uuid NOT NULL,
    workflow_id uuid NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    main boolean NOT NULL,
    PRIMARY KEY (organization_id, workflow_id, sha256),
    FOREIGN KEY (organization_id, workflow_id) REFERENCES workflows (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, sha256) REFERENCES import_sources (organization_id, sha256) ON DELETE CASCADE
);
CREATE INDEX workflow_sources_by_source ON workflow_sources (organization_id, sha256);

-- What starts a run: a message, a signal or a timer of the published version
CREATE TABLE start_bindings (
    organization_id uuid NOT NULL,
    workflow_id uuid NOT NULL,
    version integer NOT NULL,
    process_id text COLLATE "C" NOT NULL,
    node_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    next_due_at timestamptz,
    timer bytea,
    PRIMARY KEY (organization_id, workflow_id, process_id, node_id, kind, name),
    FOREIGN KEY (organization_id, workflow_id) REFERENCES workflows (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX start_bindings_by_name ON start_bindings (organization_id, kind, name);
CREATE INDEX start_bindings_by_due ON start_bindings (next_due_at) WHERE next_due_at IS NOT NULL;

-- A run: one process instance. No foreign keys here and below: a row each would be looked up for every one
-- written. A batch of new runs locks their workflows once against deletion, and a purge removes what
-- belongs to a run
CREATE TABLE runs (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    workflow_id uuid NOT NULL,
    version integer NOT NULL,
    process_id text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    has_incident boolean NOT NULL,
    business_key text COLLATE "C",
    correlation_key text COLLATE "C",
    trigger bytea NOT NULL,
    input bytea NOT NULL,
    snapshot bytea NOT NULL,
    last_sequence bigint NOT NULL,
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    created_by uuid,
    updated_at timestamptz NOT NULL,
    ended_at timestamptz,
    waiting_since timestamptz,
    PRIMARY KEY (organization_id, id)
);
CREATE INDEX runs_by_workflow ON runs (organization_id, workflow_id, created_at, id);
CREATE INDEX runs_by_state ON runs (organization_id, workflow_id, state, has_incident);
CREATE INDEX runs_by_correlation ON runs (organization_id, correlation_key) WHERE correlation_key IS NOT NULL;

-- The events of a run, a row for each commit: the JSON text of an array
CREATE TABLE run_events (
    organization_id uuid NOT NULL,
    run_id uuid NOT NULL,
    first_sequence bigint NOT NULL,
    last_sequence bigint NOT NULL,
    events bytea NOT NULL,
    PRIMARY KEY (organization_id, run_id, first_sequence)
);

-- A timer that a run waits for
CREATE TABLE run_timers (
    organization_id uuid NOT NULL,
    run_id uuid NOT NULL,
    timer_id text COLLATE "C" NOT NULL,
    node_id text COLLATE "C" NOT NULL,
    due_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, run_id, timer_id)
);
CREATE INDEX run_timers_by_due ON run_timers (due_at);

-- A message or signal that a run waits for
CREATE TABLE run_subscriptions (
    organization_id uuid NOT NULL,
    run_id uuid NOT NULL,
    subscription_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    correlation_key text COLLATE "C",
    node_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization_id, run_id, subscription_id)
);
CREATE INDEX run_subscriptions_by_name ON run_subscriptions (organization_id, kind, name, correlation_key);

-- A task for people
CREATE TABLE human_tasks (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    run_id uuid NOT NULL,
    workflow_id uuid NOT NULL,
    node_id text COLLATE "C" NOT NULL,
    node_instance_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    assignee text COLLATE "C",
    candidate_users bytea NOT NULL,
    candidate_groups bytea NOT NULL,
    due_at timestamptz,
    priority integer NOT NULL,
    form bytea,
    outcomes bytea NOT NULL,
    created_at timestamptz NOT NULL,
    ended_at timestamptz,
    completed_by uuid,
    PRIMARY KEY (organization_id, id)
);
CREATE INDEX human_tasks_by_state ON human_tasks (organization_id, state, due_at, created_at, id);
CREATE INDEX human_tasks_by_run ON human_tasks (organization_id, run_id);

-- Who may take a task: a row for each user and group
CREATE TABLE human_task_candidates (
    organization_id uuid NOT NULL,
    task_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization_id, task_id, kind, name)
);

-- An event from outside and what became of it
CREATE TABLE case_events (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    idempotency_key text COLLATE "C" NOT NULL,
    body_sha256 text COLLATE "C" NOT NULL,
    correlation_key text COLLATE "C",
    event_type text COLLATE "C" NOT NULL,
    payload bytea NOT NULL,
    received_at timestamptz NOT NULL,
    received_by uuid,
    state text COLLATE "C" NOT NULL,
    run_ids bytea NOT NULL,
    expires_at timestamptz,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, idempotency_key)
);
CREATE INDEX case_events_kept ON case_events (organization_id, event_type, correlation_key) WHERE state = 'buffered';
CREATE INDEX case_events_by_expiry ON case_events (expires_at) WHERE state = 'buffered';

-- A message or signal that a run has thrown and that is not yet delivered
CREATE TABLE outbox (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    run_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    correlation_key text COLLATE "C",
    payload bytea NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id)
);
CREATE INDEX outbox_by_age ON outbox (created_at, id);
