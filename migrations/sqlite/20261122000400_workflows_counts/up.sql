-- Bytes of what is stored of a run: state, input, trigger and events. Of new steps the engine's count of the events
ALTER TABLE runs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET bytes = length(trigger) + length(input) + length(snapshot) + (
    SELECT ifnull(sum(length(events)), 0) FROM run_events
    WHERE run_events.organization_id = runs.organization_id AND run_events.run_id = runs.id
);

-- Numbers that stand beside lists and that quotas bound, kept by triggers with the changes that they count. A row comes
-- with its workflow; the nil id has what belongs to none. SQLite has one writer and needs one shard
CREATE TABLE stored_counts (
    organization_id BLOB NOT NULL,
    workflow_id BLOB NOT NULL,
    shard INTEGER NOT NULL,
    active INTEGER NOT NULL DEFAULT 0,
    incidents INTEGER NOT NULL DEFAULT 0,
    completed INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    open_tasks INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    letters INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (organization_id, workflow_id, shard)
) STRICT;

-- Runs

CREATE TRIGGER runs_counted AFTER INSERT ON runs
BEGIN
    UPDATE stored_counts SET
        active = active + (NEW.state NOT IN ('completed', 'failed', 'cancelled')),
        incidents = incidents + (NEW.has_incident AND NEW.state NOT IN ('completed', 'failed', 'cancelled')),
        completed = completed + (NEW.state = 'completed'),
        failed = failed + (NEW.state = 'failed'),
        cancelled = cancelled + (NEW.state = 'cancelled'),
        bytes = bytes + NEW.bytes
    WHERE organization_id = NEW.organization_id AND workflow_id = NEW.workflow_id AND shard = 0;
END;

CREATE TRIGGER runs_recounted AFTER UPDATE OF state, has_incident, bytes ON runs
WHEN OLD.state <> NEW.state OR OLD.has_incident <> NEW.has_incident OR OLD.bytes <> NEW.bytes
BEGIN
    UPDATE stored_counts SET
        active = active + (NEW.state NOT IN ('completed', 'failed', 'cancelled')) - (OLD.state NOT IN ('completed', 'failed', 'cancelled')),
        incidents = incidents + (NEW.has_incident AND NEW.state NOT IN ('completed', 'failed', 'cancelled')) - (OLD.has_incident AND OLD.state NOT IN ('completed', 'failed', 'cancelled')),
        completed = completed + (NEW.state = 'completed') - (OLD.state = 'completed'),
        failed = failed + (NEW.state = 'failed') - (OLD.state = 'failed'),
        cancelled = cancelled + (NEW.state = 'cancelled') - (OLD.state = 'cancelled'),
        bytes = bytes + NEW.bytes - OLD.bytes
    WHERE organization_id = NEW.organization_id AND workflow_id = NEW.workflow_id AND shard = 0;
END;

CREATE TRIGGER runs_uncounted AFTER DELETE ON runs
BEGIN
    UPDATE stored_counts SET
        active = active - (OLD.state NOT IN ('completed', 'failed', 'cancelled')),
        incidents = incidents - (OLD.has_incident AND OLD.state NOT IN ('completed', 'failed', 'cancelled')),
        completed = completed - (OLD.state = 'completed'),
        failed = failed - (OLD.state = 'failed'),
        cancelled = cancelled - (OLD.state = 'cancelled'),
        bytes = bytes - OLD.bytes
    WHERE organization_id = OLD.organization_id AND workflow_id = OLD.workflow_id AND shard = 0;
END;

-- Human tasks

CREATE TRIGGER human_tasks_counted AFTER INSERT ON human_tasks
BEGIN
    UPDATE stored_counts SET
        open_tasks = open_tasks + (NEW.state = 'open'),
        bytes = bytes + length(NEW.candidate_users) + length(NEW.candidate_groups) + length(NEW.outcomes) + ifnull(length(NEW.form), 0)
    WHERE organization_id = NEW.organization_id AND workflow_id = NEW.workflow_id AND shard = 0;
END;

CREATE TRIGGER human_tasks_recounted AFTER UPDATE OF state ON human_tasks
WHEN OLD.state <> NEW.state
BEGIN
    UPDATE stored_counts SET
        open_tasks = open_tasks + (NEW.state = 'open') - (OLD.state = 'open')
    WHERE organization_id = NEW.organization_id AND workflow_id = NEW.workflow_id AND shard = 0;
END;

CREATE TRIGGER human_tasks_uncounted AFTER DELETE ON human_tasks
BEGIN
    UPDATE stored_counts SET
        open_tasks = open_tasks - (OLD.state = 'open'),
        bytes = bytes - (length(OLD.candidate_users) + length(OLD.candidate_groups) + length(OLD.outcomes) + ifnull(length(OLD.form), 0))
    WHERE organization_id = OLD.organization_id AND workflow_id = OLD.workflow_id AND shard = 0;
END;

-- Workflows, whose row of numbers comes and goes with them

CREATE TRIGGER workflows_counted AFTER INSERT ON workflows
BEGIN
    INSERT INTO stored_counts (organization_id, workflow_id, shard, bytes)
    VALUES (NEW.organization_id, NEW.id, 0, ifnull(length(NEW.draft), 0));
END;

CREATE TRIGGER workflows_recounted AFTER UPDATE OF draft ON workflows
BEGIN
    UPDATE stored_counts SET
        bytes = bytes + ifnull(length(NEW.draft), 0) - ifnull(length(OLD.draft), 0)
    WHERE organization_id = NEW.organization_id AND workflow_id = NEW.id AND shard = 0;
END;

CREATE TRIGGER workflows_uncounted AFTER DELETE ON workflows
BEGIN
    DELETE FROM stored_counts WHERE organization_id = OLD.organization_id AND workflow_id = OLD.id;
END;

CREATE TRIGGER workflow_versions_counted AFTER INSERT ON workflow_versions
BEGIN
    UPDATE stored_counts SET
        bytes = bytes + length(NEW.definition)
    WHERE organization_id = NEW.organization_id AND workflow_id = NEW.workflow_id AND shard = 0;
END;

CREATE TRIGGER workflow_versions_uncounted AFTER DELETE ON workflow_versions
BEGIN
    UPDATE stored_counts SET
        bytes = bytes - length(OLD.definition)
    WHERE organization_id = OLD.organization_id AND workflow_id = OLD.workflow_id AND shard = 0;
END;

-- What belongs to the organisation

CREATE TRIGGER dead_letters_counted AFTER INSERT ON dead_letters
BEGIN
    INSERT INTO stored_counts (organization_id, workflow_id, shard, bytes, letters)
    VALUES (NEW.organization_id, x'00000000000000000000000000000000', 0, length(NEW.work), 1)
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        bytes = bytes + excluded.bytes,
        letters = letters + excluded.letters;
END;

CREATE TRIGGER dead_letters_uncounted AFTER DELETE ON dead_letters
BEGIN
    UPDATE stored_counts SET
        bytes = bytes - length(OLD.work),
        letters = letters - 1
    WHERE organization_id = OLD.organization_id AND workflow_id = x'00000000000000000000000000000000' AND shard = 0;
END;

CREATE TRIGGER case_events_counted AFTER INSERT ON case_events
BEGIN
    INSERT INTO stored_counts (organization_id, workflow_id, shard, bytes, letters)
    VALUES (NEW.organization_id, x'00000000000000000000000000000000', 0, length(NEW.payload), 0)
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        bytes = bytes + excluded.bytes,
        letters = letters + excluded.letters;
END;

CREATE TRIGGER case_events_uncounted AFTER DELETE ON case_events
BEGIN
    UPDATE stored_counts SET
        bytes = bytes - length(OLD.payload)
    WHERE organization_id = OLD.organization_id AND workflow_id = x'00000000000000000000000000000000' AND shard = 0;
END;

CREATE TRIGGER import_sources_counted AFTER INSERT ON import_sources
BEGIN
    INSERT INTO stored_counts (organization_id, workflow_id, shard, bytes, letters)
    VALUES (NEW.organization_id, x'00000000000000000000000000000000', 0, length(NEW.bytes), 0)
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        bytes = bytes + excluded.bytes,
        letters = letters + excluded.letters;
END;

CREATE TRIGGER import_sources_uncounted AFTER DELETE ON import_sources
BEGIN
    UPDATE stored_counts SET
        bytes = bytes - length(OLD.bytes)
    WHERE organization_id = OLD.organization_id AND workflow_id = x'00000000000000000000000000000000' AND shard = 0;
END;

-- What is there already

INSERT INTO stored_counts (organization_id, workflow_id, shard, bytes)
SELECT organization_id, id, 0, ifnull(length(draft), 0) + (
    SELECT ifnull(sum(length(definition)), 0) FROM workflow_versions AS v
    WHERE v.organization_id = workflows.organization_id AND v.workflow_id = workflows.id
) FROM workflows;

UPDATE stored_counts SET
    active = now.active,
    incidents = now.incidents,
    completed = now.completed,
    failed = now.failed,
    cancelled = now.cancelled,
    bytes = stored_counts.bytes + now.bytes
FROM (
    SELECT organization_id, workflow_id, sum(state NOT IN ('completed', 'failed', 'cancelled')) AS active,
        sum(has_incident AND state NOT IN ('completed', 'failed', 'cancelled')) AS incidents, sum(state = 'completed') AS completed,
        sum(state = 'failed') AS failed, sum(state = 'cancelled') AS cancelled, sum(bytes) AS bytes
    FROM runs GROUP BY organization_id, workflow_id
) AS now
WHERE stored_counts.organization_id = now.organization_id AND stored_counts.workflow_id = now.workflow_id;

UPDATE stored_counts SET open_tasks = now.open_tasks, bytes = stored_counts.bytes + now.bytes
FROM (
    SELECT organization_id, workflow_id, sum(state = 'open') AS open_tasks,
        sum(length(candidate_users) + length(candidate_groups) + length(outcomes) + ifnull(length(form), 0)) AS bytes
    FROM human_tasks GROUP BY organization_id, workflow_id
) AS now
WHERE stored_counts.organization_id = now.organization_id AND stored_counts.workflow_id = now.workflow_id;

INSERT INTO stored_counts (organization_id, workflow_id, shard, bytes, letters)
SELECT organization_id, x'00000000000000000000000000000000', 0, sum(bytes), sum(letters)
FROM (
    SELECT organization_id, length(work) AS bytes, 1 AS letters FROM dead_letters
    UNION ALL SELECT organization_id, length(payload), 0 FROM case_events
    UNION ALL SELECT organization_id, length(bytes), 0 FROM import_sources
)
GROUP BY organization_id;
