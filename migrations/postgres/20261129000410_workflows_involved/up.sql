-- Who has to do with a task whoever it is for stands in its row: the starter of its run beside who completed it. In a table of
-- their own each task cost four entries of indexes more, and triggers that looked for them
CREATE OR REPLACE FUNCTION human_tasks_own() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was_open boolean := TG_OP = 'UPDATE' AND OLD.state = 'open';
    is_open boolean := NEW.state = 'open';
    is_same boolean := TG_OP = 'UPDATE' AND OLD.assignee IS NOT DISTINCT FROM NEW.assignee;
    was_completed boolean := TG_OP = 'UPDATE' AND OLD.completed_by IS NOT NULL;
    is_for_some boolean := FALSE;
BEGIN
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
    END IF;
    IF was_open AND (OLD.assignee IS NOT NULL OR is_for_some) THEN
        DELETE FROM run_people
        WHERE organization_id = NEW.organization_id AND run_id = NEW.run_id AND tasks <= 0;
    END IF;
    RETURN NULL;
END $$;

DROP TRIGGER human_tasks_own_removed ON human_tasks;
DROP FUNCTION human_tasks_own_remove();
DROP TABLE human_task_people;

ALTER TABLE human_tasks ADD COLUMN started_by uuid;
-- Nothing that they keep is changed by it
ALTER TABLE human_tasks DISABLE TRIGGER USER;
UPDATE human_tasks AS t SET started_by = r.created_by
FROM runs AS r
WHERE r.organization_id = t.organization_id AND r.id = t.run_id AND r.created_by IS NOT NULL;
ALTER TABLE human_tasks ENABLE TRIGGER USER;
CREATE INDEX human_tasks_by_starter ON human_tasks (organization_id, started_by, instance_kind, state, due_order, created_at, id)
    WHERE started_by IS NOT NULL;
CREATE INDEX human_tasks_by_completer ON human_tasks (organization_id, completed_by, instance_kind, state, due_order, created_at, id)
    WHERE completed_by IS NOT NULL;
