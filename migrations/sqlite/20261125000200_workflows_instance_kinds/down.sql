-- What runs only knows nothing of cases: the way back is shut while there are any
CREATE TEMP TABLE no_case_may_be_stored (cases INTEGER NOT NULL CHECK (cases = 0));
INSERT INTO no_case_may_be_stored SELECT count(*) FROM (SELECT 1 FROM runs WHERE kind <> 'workflow' LIMIT 1);
INSERT INTO no_case_may_be_stored SELECT count(*) FROM (SELECT 1 FROM start_bindings WHERE instance_kind <> 'workflow' LIMIT 1);
DROP TABLE no_case_may_be_stored;

DROP TRIGGER runs_counted;
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
DROP TRIGGER runs_recounted;
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
DROP TRIGGER runs_uncounted;
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

DROP INDEX runs_by_creation;
CREATE INDEX runs_by_creation ON runs (organization_id, created_at, id);
DROP INDEX runs_of_state;
CREATE INDEX runs_of_state ON runs (organization_id, state, created_at, id);
DROP INDEX runs_of_incidents;
CREATE INDEX runs_of_incidents ON runs (organization_id, created_at, id)
    WHERE has_incident;
DROP INDEX runs_of_incidents_by_state;
CREATE INDEX runs_of_incidents_by_state ON runs (organization_id, state, created_at, id)
    WHERE has_incident;
DROP INDEX runs_by_starter;
CREATE INDEX runs_by_starter ON runs (organization_id, created_by, created_at, id)
    WHERE created_by IS NOT NULL;
DROP INDEX runs_by_business_key;
CREATE INDEX runs_by_business_key ON runs (organization_id, business_key, created_at, id)
    WHERE business_key IS NOT NULL;
DROP INDEX runs_of_correlation;
CREATE INDEX runs_of_correlation ON runs (organization_id, correlation_key, created_at, id)
    WHERE correlation_key IS NOT NULL;
DROP INDEX runs_of_active;
CREATE INDEX runs_of_active ON runs (organization_id, created_at, id)
    WHERE ended_at IS NULL;
DROP INDEX human_tasks_by_state;
CREATE INDEX human_tasks_by_state ON human_tasks (organization_id, state, due_order, created_at, id);
DROP INDEX human_tasks_by_assignee;
CREATE INDEX human_tasks_by_assignee ON human_tasks (organization_id, assignee, state, due_order, created_at, id)
    WHERE assignee IS NOT NULL;
DROP INDEX human_tasks_to_follow_up;
CREATE INDEX human_tasks_to_follow_up ON human_tasks (organization_id, state, due_order, created_at, id, follow_up_at)
    WHERE follow_up_at IS NOT NULL;
DROP INDEX human_task_candidates_by_name;
CREATE INDEX human_task_candidates_by_name ON human_task_candidates (organization_id, kind, name, standing, due_order, created_at, task_id);

DROP INDEX run_people_by_name;
CREATE INDEX run_people_by_name ON run_people (organization_id, kind, name, created_at, run_id);
DROP INDEX human_task_people_by_user;
CREATE INDEX human_task_people_by_user
    ON human_task_people (organization_id, user_id, kind, state, due_order, created_at, task_id);

DROP TRIGGER human_tasks_own_opened;
CREATE TRIGGER human_tasks_own_opened AFTER INSERT ON human_tasks
BEGIN
    INSERT INTO human_task_people (organization_id, task_id, kind, user_id, state, due_order, created_at)
    SELECT NEW.organization_id, NEW.id, 'starter', r.created_by, NEW.state, NEW.due_order, NEW.created_at
    FROM runs AS r
    WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id AND r.created_by IS NOT NULL;
END;
DROP TRIGGER human_tasks_own_opened_for;
CREATE TRIGGER human_tasks_own_opened_for AFTER INSERT ON human_tasks
WHEN NEW.state = 'open' AND NEW.assignee IS NOT NULL
BEGIN
    INSERT INTO run_people (organization_id, run_id, kind, name, created_at, tasks)
    SELECT NEW.organization_id, NEW.run_id, 'user', lower(NEW.assignee), r.created_at, 1
    FROM runs AS r
    WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id
    ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = tasks + 1;
END;
DROP TRIGGER human_task_candidates_own;
CREATE TRIGGER human_task_candidates_own AFTER INSERT ON human_task_candidates
WHEN NEW.kind IN ('user', 'group')
BEGIN
    INSERT INTO run_people (organization_id, run_id, kind, name, created_at, tasks)
    SELECT t.organization_id, t.run_id, NEW.kind, iif(NEW.kind = 'user', lower(NEW.name), NEW.name), r.created_at, 1
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
    INSERT INTO run_people (organization_id, run_id, kind, name, created_at, tasks)
    SELECT NEW.organization_id, NEW.run_id, 'user', lower(NEW.assignee), r.created_at, 1
    FROM runs AS r
    WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id
    ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = tasks + 1;
END;
DROP TRIGGER human_tasks_own_released;
CREATE TRIGGER human_tasks_own_released AFTER UPDATE OF state, assignee ON human_tasks
WHEN NEW.state = 'open' AND NEW.assignee IS NULL AND (OLD.state <> 'open' OR OLD.assignee IS NOT NULL)
BEGIN
    INSERT INTO run_people (organization_id, run_id, kind, name, created_at, tasks)
    SELECT NEW.organization_id, NEW.run_id, c.kind, iif(c.kind = 'user', lower(c.name), c.name), r.created_at, 1
    FROM runs AS r CROSS JOIN human_task_candidates AS c
    WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id
        AND c.organization_id = NEW.organization_id AND c.task_id = NEW.id AND c.kind IN ('user', 'group')
    ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = tasks + 1;
END;
DROP TRIGGER human_tasks_own_completed;
CREATE TRIGGER human_tasks_own_completed AFTER UPDATE OF completed_by ON human_tasks
WHEN NEW.completed_by IS NOT NULL AND OLD.completed_by IS NULL
BEGIN
    INSERT INTO run_people (organization_id, run_id, kind, name, created_at, tasks)
    SELECT NEW.organization_id, NEW.run_id, 'user', lower(
        substr(hex(NEW.completed_by), 1, 8) || '-' || substr(hex(NEW.completed_by), 9, 4) || '-'
        || substr(hex(NEW.completed_by), 13, 4) || '-' || substr(hex(NEW.completed_by), 17, 4) || '-'
        || substr(hex(NEW.completed_by), 21)
    ), r.created_at, 1
    FROM runs AS r
    WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id
    ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = tasks + 1;
    INSERT INTO human_task_people (organization_id, task_id, kind, user_id, state, due_order, created_at)
    VALUES (NEW.organization_id, NEW.id, 'completer', NEW.completed_by, NEW.state, NEW.due_order, NEW.created_at);
END;

ALTER TABLE case_events DROP COLUMN case_ids;
ALTER TABLE dead_letters DROP COLUMN instance_kind;
ALTER TABLE start_bindings DROP COLUMN instance_kind;
ALTER TABLE job_endings DROP COLUMN instance_kind;
ALTER TABLE jobs DROP COLUMN instance_kind;
ALTER TABLE human_task_people DROP COLUMN instance_kind;
ALTER TABLE run_people DROP COLUMN instance_kind;
ALTER TABLE human_task_candidates DROP COLUMN instance_kind;
ALTER TABLE human_tasks DROP COLUMN instance_kind;
ALTER TABLE runs DROP COLUMN kind;
