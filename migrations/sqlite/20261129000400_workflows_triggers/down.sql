-- The triggers as they were

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
