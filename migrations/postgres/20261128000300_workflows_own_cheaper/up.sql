-- The people of a run: nothing is called where there is nothing to change. A task that names nobody to take it, which one
-- look at its candidates tells, cost a call when it was opened and one when it ended.
CREATE OR REPLACE FUNCTION human_tasks_own() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was_open boolean := TG_OP = 'UPDATE' AND OLD.state = 'open';
    is_open boolean := NEW.state = 'open';
    is_same boolean := TG_OP = 'UPDATE' AND OLD.assignee IS NOT DISTINCT FROM NEW.assignee;
    was_completed boolean := TG_OP = 'UPDATE' AND OLD.completed_by IS NOT NULL;
    is_for_some boolean := FALSE;
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO human_task_people
            (organization_id, task_id, instance_kind, kind, user_id, state, due_order, created_at)
        SELECT NEW.organization_id, NEW.id, NEW.instance_kind, 'starter', r.created_by, NEW.state, NEW.due_order, NEW.created_at
        FROM runs AS r
        WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id AND r.created_by IS NOT NULL;
    ELSIF OLD.state <> NEW.state THEN
        UPDATE human_task_people SET state = NEW.state
        WHERE organization_id = NEW.organization_id AND task_id = NEW.id AND state <> NEW.state;
    END IF;
    IF (was_open OR is_open) AND NOT (was_open AND is_open AND is_same) THEN
        IF (was_open AND OLD.assignee IS NULL) OR (is_open AND NEW.assignee IS NULL) THEN
            is_for_some := EXISTS (
                SELECT 1 FROM human_task_candidates AS c
                WHERE c.organization_id = NEW.organization_id AND c.task_id = NEW.id AND c.kind IN ('user', 'group')
            );
        END IF;
        IF was_open AND (OLD.assignee IS NOT NULL OR is_for_some) THEN
            PERFORM run_people_change(OLD.organization_id, OLD.run_id, OLD.id, OLD.assignee, -1);
        END IF;
        IF is_open AND (NEW.assignee IS NOT NULL OR is_for_some) THEN
            PERFORM run_people_change(NEW.organization_id, NEW.run_id, NEW.id, NEW.assignee, 1);
        END IF;
    END IF;
    IF NEW.completed_by IS NOT NULL AND NOT was_completed THEN
        INSERT INTO run_people AS p (organization_id, run_id, instance_kind, kind, name, created_at, tasks)
        SELECT NEW.organization_id, NEW.run_id, r.kind, 'user', NEW.completed_by::text, r.created_at, 1
        FROM runs AS r
        WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id
        ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = p.tasks + excluded.tasks;
        INSERT INTO human_task_people
            (organization_id, task_id, instance_kind, kind, user_id, state, due_order, created_at)
        VALUES (NEW.organization_id, NEW.id, NEW.instance_kind, 'completer', NEW.completed_by, NEW.state, NEW.due_order,
            NEW.created_at);
    END IF;
    IF was_open AND (OLD.assignee IS NOT NULL OR is_for_some) THEN
        DELETE FROM run_people
        WHERE organization_id = NEW.organization_id AND run_id = NEW.run_id AND tasks <= 0;
    END IF;
    RETURN NULL;
END $$;
-- Statements of steps find their rows by keys whatever is set here, and who sets it for one call pays for it each time.
ALTER FUNCTION run_people_change(uuid, uuid, uuid, text, bigint) RESET enable_seqscan;
ALTER FUNCTION human_tasks_stand() RESET enable_seqscan;
