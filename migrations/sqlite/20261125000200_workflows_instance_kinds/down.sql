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

ALTER TABLE case_events DROP COLUMN case_ids;
ALTER TABLE dead_letters DROP COLUMN instance_kind;
ALTER TABLE start_bindings DROP COLUMN instance_kind;
ALTER TABLE job_endings DROP COLUMN instance_kind;
ALTER TABLE jobs DROP COLUMN instance_kind;
ALTER TABLE human_task_candidates DROP COLUMN instance_kind;
ALTER TABLE human_tasks DROP COLUMN instance_kind;
ALTER TABLE runs DROP COLUMN kind;
