-- A workflow with its draft. A draft or a folder that was sent as null is not the same as none: the draft
-- is then the document `null`, the folder has its mark; `search` holds slug, name and description in small
-- letters
CREATE TABLE workflows (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    slug TEXT NOT NULL,
    display_name TEXT NOT NULL,
    description TEXT NOT NULL,
    folder_id TEXT,
    folder_null INTEGER NOT NULL CHECK (folder_null IN (0, 1)),
    state TEXT NOT NULL,
    revision INTEGER NOT NULL,
    draft_revision INTEGER NOT NULL,
    draft BLOB,
    draft_hash TEXT,
    published_version INTEGER,
    published_hash TEXT,
    created_at INTEGER NOT NULL,
    created_by BLOB NOT NULL,
    updated_at INTEGER NOT NULL,
    updated_by BLOB NOT NULL,
    search TEXT NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, slug)
) STRICT;
CREATE INDEX workflows_by_creation ON workflows (organization_id, created_at, id);
CREATE INDEX workflows_by_update ON workflows (organization_id, updated_at, id);
CREATE INDEX workflows_by_name ON workflows (organization_id, display_name, id);

-- A published, unchangeable definition
CREATE TABLE workflow_versions (
    organization_id BLOB NOT NULL,
    workflow_id BLOB NOT NULL,
    number INTEGER NOT NULL,
    hash TEXT NOT NULL,
    definition BLOB NOT NULL,
    published_at INTEGER NOT NULL,
    published_by BLOB NOT NULL,
    change_note TEXT,
    PRIMARY KEY (organization_id, workflow_id, number),
    FOREIGN KEY (organization_id, workflow_id) REFERENCES workflows (organization_id, id) ON DELETE CASCADE
) STRICT;

-- Which workflows a user has starred
CREATE TABLE workflow_stars (
    organization_id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    workflow_id BLOB NOT NULL,
    PRIMARY KEY (organization_id, user_id, workflow_id),
    FOREIGN KEY (organization_id, workflow_id) REFERENCES workflows (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX workflow_stars_by_workflow ON workflow_stars (organization_id, workflow_id);

-- Imported bytes, kept for good once a workflow claims them
CREATE TABLE import_sources (
    organization_id BLOB NOT NULL,
    sha256 TEXT NOT NULL,
    media_type TEXT NOT NULL,
    file_name TEXT,
    bytes BLOB NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (organization_id, sha256)
) STRICT;
CREATE INDEX import_sources_by_expiry ON import_sources (expires_at) WHERE expires_at IS NOT NULL;

-- Which imported bytes a workflow came from; the main one is given out again
CREATE TABLE workflow_sources (
    organization_id BLOB NOT NULL,
    workflow_id BLOB NOT NULL,
    sha256 TEXT NOT NULL,
    main INTEGER NOT NULL CHECK (main IN (0, 1)),
    PRIMARY KEY (organization_id, workflow_id, sha256),
    FOREIGN KEY (organization_id, workflow_id) REFERENCES workflows (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, sha256) REFERENCES import_sources (organization_id, sha256) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX workflow_sources_by_source ON workflow_sources (organization_id, sha256);

-- What starts a run: a message, a signal or a timer of the published version
CREATE TABLE start_bindings (
    organization_id BLOB NOT NULL,
    workflow_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    process_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    next_due_at INTEGER,
    timer BLOB,
    PRIMARY KEY (organization_id, workflow_id, process_id, node_id, kind, name),
    FOREIGN KEY (organization_id, workflow_id) REFERENCES workflows (organization_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX start_bindings_by_name ON start_bindings (organization_id, kind, name);
CREATE INDEX start_bindings_by_due ON start_bindings (next_due_at) WHERE next_due_at IS NOT NULL;

-- A run: one process instance. No foreign keys here and below: a row each would be looked up for every one
-- written. A batch of new runs locks their workflows once against deletion, and a purge removes what
-- belongs to a run
CREATE TABLE runs (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    workflow_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    process_id TEXT NOT NULL,
    state TEXT NOT NULL,
    has_incident INTEGER NOT NULL CHECK (has_incident IN (0, 1)),
    business_key TEXT,
    correlation_key TEXT,
    trigger BLOB NOT NULL,
    input BLOB NOT NULL,
    snapshot BLOB NOT NULL,
    last_sequence INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    created_by BLOB,
    updated_at INTEGER NOT NULL,
    ended_at INTEGER,
    waiting_since INTEGER,
    PRIMARY KEY (organization_id, id)
) STRICT;
CREATE INDEX runs_by_workflow ON runs (organization_id, workflow_id, created_at, id);
CREATE INDEX runs_by_state ON runs (organization_id, workflow_id, state, has_incident);
CREATE INDEX runs_by_correlation ON runs (organization_id, correlation_key) WHERE correlation_key IS NOT NULL;

-- The events of a run, a row for each commit: the JSON text of an array
CREATE TABLE run_events (
    organization_id BLOB NOT NULL,
    run_id BLOB NOT NULL,
    first_sequence INTEGER NOT NULL,
    last_sequence INTEGER NOT NULL,
    events BLOB NOT NULL,
    PRIMARY KEY (organization_id, run_id, first_sequence)
) STRICT, WITHOUT ROWID;

-- A timer that a run waits for
CREATE TABLE run_timers (
    organization_id BLOB NOT NULL,
    run_id BLOB NOT NULL,
    timer_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, run_id, timer_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_timers_by_due ON run_timers (due_at);

-- A message or signal that a run waits for
CREATE TABLE run_subscriptions (
    organization_id BLOB NOT NULL,
    run_id BLOB NOT NULL,
    subscription_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    correlation_key TEXT,
    node_id TEXT NOT NULL,
    PRIMARY KEY (organization_id, run_id, subscription_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_subscriptions_by_name ON run_subscriptions (organization_id, kind, name, correlation_key);

-- A task for people
CREATE TABLE human_tasks (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    run_id BLOB NOT NULL,
    workflow_id BLOB NOT NULL,
    node_id TEXT NOT NULL,
    node_instance_id TEXT NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    assignee TEXT,
    candidate_users BLOB NOT NULL,
    candidate_groups BLOB NOT NULL,
    due_at INTEGER,
    priority INTEGER NOT NULL,
    form BLOB,
    outcomes BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at INTEGER,
    completed_by BLOB,
    PRIMARY KEY (organization_id, id)
) STRICT;
CREATE INDEX human_tasks_by_state ON human_tasks (organization_id, state, due_at, created_at, id);
CREATE INDEX human_tasks_by_run ON human_tasks (organization_id, run_id);

-- Who may take a task: a row for each user and group
CREATE TABLE human_task_candidates (
    organization_id BLOB NOT NULL,
    task_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (organization_id, task_id, kind, name)
) STRICT, WITHOUT ROWID;

-- An event from outside and what became of it
CREATE TABLE case_events (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    idempotency_key TEXT NOT NULL,
    body_sha256 TEXT NOT NULL,
    correlation_key TEXT,
    event_type TEXT NOT NULL,
    payload BLOB NOT NULL,
    received_at INTEGER NOT NULL,
    received_by BLOB,
    state TEXT NOT NULL,
    run_ids BLOB NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, idempotency_key)
) STRICT;
CREATE INDEX case_events_kept ON case_events (organization_id, event_type, correlation_key) WHERE state = 'buffered';
CREATE INDEX case_events_by_expiry ON case_events (expires_at) WHERE state = 'buffered';

-- A message or signal that a run has thrown and that is not yet delivered
CREATE TABLE outbox (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    run_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    correlation_key TEXT,
    payload BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id)
) STRICT;
CREATE INDEX outbox_by_age ON outbox (created_at, id);
