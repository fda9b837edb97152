-- Kind of an instance: a run of a workflow or a case of a case type. They stand in the same tables, and it is part of every
-- look for one. What is there are runs
ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'workflow';
ALTER TABLE human_tasks ADD COLUMN instance_kind TEXT NOT NULL DEFAULT 'workflow';
ALTER TABLE human_task_candidates ADD COLUMN instance_kind TEXT NOT NULL DEFAULT 'workflow';
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
