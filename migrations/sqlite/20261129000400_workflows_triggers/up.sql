-- SQLite fills a table of its own for each list of more than two words whenever a trigger with it goes off: that costs a start
-- and an end more than the counting, and comparisons nothing

DROP TRIGGER runs_counted;
CREATE TRIGGER runs_counted AFTER INSERT ON runs
BEGIN
    UPDATE stored_counts SET
        active = active + (NEW.state <> 'completed' AND NEW.state <> 'failed' AND NEW.state <> 'cancelled' AND NEW.state <> 'closed'),
        incidents = incidents + (NEW.has_incident AND NEW.state <> 'completed' AND NEW.state <> 'failed' AND NEW.state <> 'cancelled' AND NEW.state <> 'closed'),
        completed = completed + (NEW.state = 'completed' OR NEW.state = 'closed'),
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
        active = active + (NEW.state <> 'completed' AND NEW.state <> 'failed' AND NEW.state <> 'cancelled' AND NEW.state <> 'closed') - (OLD.state <> 'completed' AND OLD.state <> 'failed' AND OLD.state <> 'cancelled' AND OLD.state <> 'closed'),
        incidents = incidents + (NEW.has_incident AND NEW.state <> 'completed' AND NEW.state <> 'failed' AND NEW.state <> 'cancelled' AND NEW.state <> 'closed') - (OLD.has_incident AND OLD.state <> 'completed' AND OLD.state <> 'failed' AND OLD.state <> 'cancelled' AND OLD.state <> 'closed'),
        completed = completed + (NEW.state = 'completed' OR NEW.state = 'closed') - (OLD.state = 'completed' OR OLD.state = 'closed'),
        failed = failed + (NEW.state = 'failed') - (OLD.state = 'failed'),
        cancelled = cancelled + (NEW.state = 'cancelled') - (OLD.state = 'cancelled'),
        bytes = bytes + NEW.bytes - OLD.bytes
    WHERE organization_id = NEW.organization_id AND workflow_id = NEW.workflow_id AND shard = 0;
END;

DROP TRIGGER runs_uncounted;
CREATE TRIGGER runs_uncounted AFTER DELETE ON runs
BEGIN
    UPDATE stored_counts SET
        active = active - (OLD.state <> 'completed' AND OLD.state <> 'failed' AND OLD.state <> 'cancelled' AND OLD.state <> 'closed'),
        incidents = incidents - (OLD.has_incident AND OLD.state <> 'completed' AND OLD.state <> 'failed' AND OLD.state <> 'cancelled' AND OLD.state <> 'closed'),
        completed = completed - (OLD.state = 'completed' OR OLD.state = 'closed'),
        failed = failed - (OLD.state = 'failed'),
        cancelled = cancelled - (OLD.state = 'cancelled'),
        bytes = bytes - OLD.bytes
    WHERE organization_id = OLD.organization_id AND workflow_id = OLD.workflow_id AND shard = 0;
END;

-- Whose own a run is that completed a task of it is written with the step, which knows the run
DROP TRIGGER human_tasks_own_completed;
CREATE TRIGGER human_tasks_own_completed AFTER UPDATE OF completed_by ON human_tasks
WHEN NEW.completed_by IS NOT NULL AND OLD.completed_by IS NULL
BEGIN
    INSERT INTO human_task_people (organization_id, task_id, instance_kind, kind, user_id, state, due_order, created_at)
    VALUES (NEW.organization_id, NEW.id, NEW.instance_kind, 'completer', NEW.completed_by, NEW.state, NEW.due_order, NEW.created_at);
END;
