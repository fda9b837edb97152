ALTER TABLE human_tasks DROP COLUMN started_by;
DROP INDEX human_tasks_by_completer;

CREATE TABLE human_task_people (
    organization_id uuid NOT NULL,
    task_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    user_id uuid NOT NULL,
    state text COLLATE "C" NOT NULL,
    due_order timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    instance_kind text COLLATE "C" NOT NULL DEFAULT 'workflow',
    PRIMARY KEY (organization_id, task_id, kind, user_id)
);
CREATE INDEX human_task_people_by_user
    ON human_task_people (organization_id, user_id, kind, instance_kind, state, due_order, created_at, task_id);
INSERT INTO human_task_people (organization_id, task_id, instance_kind, kind, user_id, state, due_order, created_at)
SELECT t.organization_id, t.id, t.instance_kind, 'starter', r.created_by, t.state, t.due_order, t.created_at
FROM human_tasks AS t JOIN runs AS r ON r.organization_id = t.organization_id AND r.id = t.run_id
WHERE r.created_by IS NOT NULL
UNION ALL
SELECT organization_id, id, instance_kind, 'completer', completed_by, state, due_order, created_at
FROM human_tasks WHERE completed_by IS NOT NULL;

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

CREATE FUNCTION human_tasks_own_remove() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM human_task_people AS p USING old_rows AS o
    WHERE p.organization_id = o.organization_id AND p.task_id = o.id;
    RETURN NULL;
END $$;
CREATE TRIGGER human_tasks_own_removed AFTER DELETE ON human_tasks REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION human_tasks_own_remove();
