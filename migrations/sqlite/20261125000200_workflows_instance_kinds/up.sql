-- Kind of an instance: a run of a workflow or a case of a case type. They stand in the same tables, and it is part of every
-- look for one. What is there are runs
ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'workflow';
ALTER TABLE human_tasks ADD COLUMN instance_kind TEXT NOT NULL DEFAULT 'workflow';
ALTER TABLE human_task_candidates ADD COLUMN instance_kind TEXT NOT NULL DEFAULT 'workflow';
ALTER TABLE run_people ADD COLUMN instance_kind TEXT NOT NULL DEFAULT 'workflow';
ALTER TABLE human_task_people ADD COLUMN instance_kind TEXT NOT NULL DEFAULT 'workflow';
ALTER TABLE jobs ADD COLUMN instance_kind TEXT NOT NULL DEFAULT 'workflow';
ALTER TABLE job_endings ADD COLUMN instance_kind TEXT NOT NULL DEFAULT 'workflow';
ALTER TABLE start_bindings ADD COLUMN instance_kind TEXT NOT NULL DEFAULT 'workflow';
ALTER TABLE dead_letters ADD COLUMN instance_kind TEXT NOT NULL DEFAULT 'workflow';
-- Cases that took an event, beside the runs; null where none did
ALTER TABLE case_events ADD COLUMN case_ids BLOB;

-- Lists over all definitions are of one kind: it stands before their order
DROP INDEX runs_by_creation;
CREATE INDEX runs_by_creation ON runs (organization_id, kind, created_at, id);
DROP INDEX runs_of_state;
CREATE INDEX runs_of_state ON runs (organization_id, kind, state, created_at, id);
DROP INDEX runs_of_incidents;
CREATE INDEX runs_of_incidents ON runs (organization_id, kind, created_at, id)
    WHERE has_incident;
DROP INDEX runs_of_incidents_by_state;
CREATE INDEX runs_of_incidents_by_state ON runs (organization_id, kind, state, created_at, id)
    WHERE has_incident;
DROP INDEX runs_by_starter;
CREATE INDEX runs_by_starter ON runs (organization_id, kind, created_by, created_at, id)
    WHERE created_by IS NOT NULL;
DROP INDEX runs_by_business_key;
CREATE INDEX runs_by_business_key ON runs (organization_id, kind, business_key, created_at, id)
    WHERE business_key IS NOT NULL;
DROP INDEX runs_of_correlation;
CREATE INDEX runs_of_correlation ON runs (organization_id, kind, correlation_key, created_at, id)
    WHERE correlation_key IS NOT NULL;
DROP INDEX runs_of_active;
CREATE INDEX runs_of_active ON runs (organization_id, kind, created_at, id)
    WHERE ended_at IS NULL;
DROP INDEX human_tasks_by_state;
CREATE INDEX human_tasks_by_state ON human_tasks (organization_id, instance_kind, state, due_order, created_at, id);
DROP INDEX human_tasks_by_assignee;
CREATE INDEX human_tasks_by_assignee ON human_tasks (organization_id, assignee, instance_kind, state, due_order, created_at, id)
    WHERE assignee IS NOT NULL;
DROP INDEX human_tasks_to_follow_up;
CREATE INDEX human_tasks_to_follow_up ON human_tasks (organization_id, instance_kind, state, due_order, created_at, id, follow_up_at)
    WHERE follow_up_at IS NOT NULL;
DROP INDEX human_task_candidates_by_name;
CREATE INDEX human_task_candidates_by_name ON human_task_candidates (organization_id, kind, name, instance_kind, standing, due_order, created_at, task_id);

-- A case that is closed has ended, and is counted among those that were completed

DROP TRIGGER runs_counted;
CREATE TRIGGER runs_counted AFTER INSERT ON runs
BEGIN
    UPDATE stored_counts SET
        active = active + (NEW.state NOT IN ('completed', 'failed', 'cancelled', 'closed')),
        incidents = incidents + (NEW.has_incident AND NEW.state NOT IN ('completed', 'failed', 'cancelled', 'closed')),
        completed = completed + (NEW.state IN ('completed', 'closed')),
        failed = failed + (NEW.state = 'failed'),
        cancelled = cancelled + (NEW.state = 'cancelled'),
        bytes = bytes + NEW.bytes
    WHERE organization_id = NEW.organization_id AND workflow_id = NEW.workflow_id AND shard = 0;
END;
DROP TRIGGER runs_recounted;
CREATE TRIGGER runs_recounted AFTER UPDATE OF state, has_incident, bytes ON runs
WHEN OLD.state <> NEW.state OR OLD.has_incident <> NEW.has_incident OR OLD.bytes <> NEW.bytes
BEGIN
    UPDATE stored_counts SET
        active = active + (NEW.state NOT IN ('completed', 'failed', 'cancelled', 'closed')) - (OLD.state NOT IN ('completed', 'failed', 'cancelled', 'closed')),
        incidents = incidents + (NEW.has_incident AND NEW.state NOT IN ('completed', 'failed', 'cancelled', 'closed')) - (OLD.has_incident AND OLD.state NOT IN ('completed', 'failed', 'cancelled', 'closed')),
        completed = completed + (NEW.state IN ('completed', 'closed')) - (OLD.state IN ('completed', 'closed')),
        failed = failed + (NEW.state = 'failed') - (OLD.state = 'failed'),
        cancelled = cancelled + (NEW.state = 'cancelled') - (OLD.state = 'cancelled'),
        bytes = bytes + NEW.bytes - OLD.bytes
    WHERE organization_id = NEW.organization_id AND workflow_id = NEW.workflow_id AND shard = 0;
END;
DROP TRIGGER runs_uncounted;
CREATE TRIGGER runs_uncounted AFTER DELETE ON runs
BEGIN
    UPDATE stored_counts SET
        active = active - (OLD.state NOT IN ('completed', 'failed', 'cancelled', 'closed')),
        incidents = incidents - (OLD.has_incident AND OLD.state NOT IN ('completed', 'failed', 'cancelled', 'closed')),
        completed = completed - (OLD.state IN ('completed', 'closed')),
        failed = failed - (OLD.state = 'failed'),
        cancelled = cancelled - (OLD.state = 'cancelled'),
        bytes = bytes - OLD.bytes
    WHERE organization_id = OLD.organization_id AND workflow_id = OLD.workflow_id AND shard = 0;
END;

-- Whose instances and tasks are is told in the order of lists of one kind
DROP INDEX run_people_by_name;
CREATE INDEX run_people_by_name ON run_people (organization_id, kind, name, instance_kind, created_at, run_id);
DROP INDEX human_task_people_by_user;
CREATE INDEX human_task_people_by_user
    ON human_task_people (organization_id, user_id, kind, instance_kind, state, due_order, created_at, task_id);

DROP TRIGGER human_tasks_own_opened;
CREATE TRIGGER human_tasks_own_opened AFTER INSERT ON human_tasks
BEGIN
    INSERT INTO human_task_people (organization_id, task_id, instance_kind, kind, user_id, state, due_order, created_at)
    SELECT NEW.organization_id, NEW.id, NEW.instance_kind, 'starter', r.created_by, NEW.state, NEW.due_order, NEW.created_at
    FROM runs AS r
    WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id AND r.created_by IS NOT NULL;
END;
DROP TRIGGER human_tasks_own_opened_for;
CREATE TRIGGER human_tasks_own_opened_for AFTER INSERT ON human_tasks
WHEN NEW.state = 'open' AND NEW.assignee IS NOT NULL
BEGIN
    INSERT INTO run_people (organization_id, run_id, instance_kind, kind, name, created_at, tasks)
    SELECT NEW.organization_id, NEW.run_id, r.kind, 'user', lower(NEW.assignee), r.created_at, 1
    FROM runs AS r
    WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id
    ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = tasks + 1;
END;
DROP TRIGGER human_task_candidates_own;
CREATE TRIGGER human_task_candidates_own AFTER INSERT ON human_task_candidates
WHEN NEW.kind IN ('user', 'group')
BEGIN
    INSERT INTO run_people (organization_id, run_id, instance_kind, kind, name, created_at, tasks)
    SELECT t.organization_id, t.run_id, r.kind, NEW.kind, iif(NEW.kind = 'user', lower(NEW.name), NEW.name), r.created_at, 1
    FROM human_tasks AS t CROSS JOIN runs AS r
    WHERE t.organization_id = NEW.organization_id AND t.id = NEW.task_id
        AND t.state = 'open' AND t.assignee IS NULL
        AND r.organization_id = t.organization_id AND r.id = t.run_id
    ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = tasks + 1;
END;
DROP TRIGGER human_tasks_own_given;
CREATE TRIGGER human_tasks_own_given AFTER UPDATE OF state, assignee ON human_tasks
WHEN NEW.state = 'open' AND NEW.assignee IS NOT NULL AND (OLD.state <> 'open' OR OLD.assignee IS NOT NEW.assignee)
BEGIN
    INSERT INTO run_people (organization_id, run_id, instance_kind, kind, name, created_at, tasks)
    SELECT NEW.organization_id, NEW.run_id, r.kind, 'user', lower(NEW.assignee), r.created_at, 1
    FROM runs AS r
    WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id
    ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = tasks + 1;
END;
DROP TRIGGER human_tasks_own_released;
CREATE TRIGGER human_tasks_own_released AFTER UPDATE OF state, assignee ON human_tasks
WHEN NEW.state = 'open' AND NEW.assignee IS NULL AND (OLD.state <> 'open' OR OLD.assignee IS NOT NULL)
BEGIN
    INSERT INTO run_people (organization_id, run_id, instance_kind, kind, name, created_at, tasks)
    SELECT NEW.organization_id, NEW.run_id, r.kind, c.kind, iif(c.kind = 'user', lower(c.name), c.name), r.created_at, 1
    FROM runs AS r CROSS JOIN human_task_candidates AS c
    WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id
        AND c.organization_id = NEW.organization_id AND c.task_id = NEW.id AND c.kind IN ('user', 'group')
    ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = tasks + 1;
END;
DROP TRIGGER human_tasks_own_completed;
CREATE TRIGGER human_tasks_own_completed AFTER UPDATE OF completed_by ON human_tasks
WHEN NEW.completed_by IS NOT NULL AND OLD.completed_by IS NULL
BEGIN
    INSERT INTO run_people (organization_id, run_id, instance_kind, kind, name, created_at, tasks)
    SELECT NEW.organization_id, NEW.run_id, r.kind, 'user', lower(
        substr(hex(NEW.completed_by), 1, 8) || '-' || substr(hex(NEW.completed_by), 9, 4) || '-'
        || substr(hex(NEW.completed_by), 13, 4) || '-' || substr(hex(NEW.completed_by), 17, 4) || '-'
        || substr(hex(NEW.completed_by), 21)
    ), r.created_at, 1
    FROM runs AS r
    WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id
    ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = tasks + 1;
    INSERT INTO human_task_people (organization_id, task_id, instance_kind, kind, user_id, state, due_order, created_at)
    VALUES (NEW.organization_id, NEW.id, NEW.instance_kind, 'completer', NEW.completed_by, NEW.state, NEW.due_order, NEW.created_at);
END;
