-- Tries of background work: failed attempts, crashes, and when it may be tried again. A timer and a start are
-- tried when they are due, so that their due time moves. The indexes by organisation serve a round in which all
-- share
ALTER TABLE outbox ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN not_before INTEGER NOT NULL DEFAULT 0;
UPDATE outbox SET not_before = created_at;
DROP INDEX outbox_by_age;
CREATE INDEX outbox_by_turn ON outbox (not_before, id);
CREATE INDEX outbox_by_organization ON outbox (organization_id, not_before, id);

ALTER TABLE run_timers ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run_timers ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
CREATE INDEX run_timers_by_organization ON run_timers (organization_id, due_at);

ALTER TABLE start_bindings ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE start_bindings ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
CREATE INDEX start_bindings_by_organization ON start_bindings (organization_id, next_due_at)
    WHERE next_due_at IS NOT NULL;

ALTER TABLE case_events ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE case_events ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE case_events ADD COLUMN retry_at INTEGER;
CREATE INDEX case_events_by_retry ON case_events (retry_at) WHERE state = 'buffered' AND retry_at IS NOT NULL;

-- Work that was set aside. The workflow is the nil id where there is none, so that it can be compared
CREATE TABLE dead_letters (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    kind TEXT NOT NULL,
    reason TEXT NOT NULL,
    message TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    crashes INTEGER NOT NULL,
    workflow_id BLOB NOT NULL,
    run_id BLOB,
    work BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id)
) STRICT;
CREATE INDEX dead_letters_by_age ON dead_letters (organization_id, created_at, id);
CREATE INDEX dead_letters_by_workflow ON dead_letters (organization_id, workflow_id, created_at, id);
CREATE INDEX dead_letters_by_run ON dead_letters (organization_id, run_id, created_at, id) WHERE run_id IS NOT NULL;

-- What each node is doing in the background: a row per queue, written before it begins
CREATE TABLE work_marks (
    node BLOB NOT NULL,
    queue TEXT NOT NULL,
    single INTEGER NOT NULL CHECK (single IN (0, 1)),
    marked_at INTEGER NOT NULL,
    pieces BLOB NOT NULL,
    PRIMARY KEY (node, queue)
) STRICT, WITHOUT ROWID;
