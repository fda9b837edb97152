-- Whose runs are, beside who started them: users and groups by name, with the number of the open tasks that are theirs or
-- that they may take, and of those that they completed. In the order of the list of runs, whose creation stands in each
CREATE TABLE run_people (
    organization_id uuid NOT NULL,
    run_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    tasks bigint NOT NULL,
    PRIMARY KEY (organization_id, run_id, kind, name)
);
CREATE INDEX run_people_by_name ON run_people (organization_id, kind, name, created_at, run_id);

-- Who has to do with a task whoever it is for: the starter of its run, and whoever completed it. In the order of the work list
CREATE TABLE human_task_people (
    organization_id uuid NOT NULL,
    task_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    user_id uuid NOT NULL,
    state text COLLATE "C" NOT NULL,
    due_order timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, task_id, kind, user_id)
);
CREATE INDEX human_task_people_by_user
    ON human_task_people (organization_id, user_id, kind, state, due_order, created_at, task_id);

INSERT INTO human_task_people (organization_id, task_id, kind, user_id, state, due_order, created_at)
SELECT t.organization_id, t.id, 'starter', r.created_by, t.state, t.due_order, t.created_at
FROM human_tasks AS t JOIN runs AS r ON r.organization_id = t.organization_id AND r.id = t.run_id
WHERE r.created_by IS NOT NULL
UNION ALL
SELECT organization_id, id, 'completer', completed_by, state, due_order, created_at
FROM human_tasks WHERE completed_by IS NOT NULL;

INSERT INTO run_people (organization_id, run_id, kind, name, created_at, tasks)
SELECT p.organization_id, p.run_id, p.kind, p.name, r.created_at, count(*)
FROM (
    SELECT organization_id, run_id, 'user' AS kind, lower(assignee) AS name FROM human_tasks
    WHERE state = 'open' AND assignee IS NOT NULL
    UNION ALL
    SELECT t.organization_id, t.run_id, c.kind, CASE WHEN c.kind = 'user' THEN lower(c.name) ELSE c.name END
    FROM human_tasks AS t JOIN human_task_candidates AS c
        ON c.organization_id = t.organization_id AND c.task_id = t.id
    WHERE t.state = 'open' AND t.assignee IS NULL AND c.kind IN ('user', 'group')
    UNION ALL
    SELECT organization_id, run_id, 'user', completed_by::text FROM human_tasks WHERE completed_by IS NOT NULL
) AS p JOIN runs AS r ON r.organization_id = p.organization_id AND r.id = p.run_id
GROUP BY p.organization_id, p.run_id, p.kind, p.name, r.created_at;

-- Adds to the people of a run, or takes away, those whom an open task of it is for
CREATE FUNCTION run_people_change(organization uuid, run uuid, task uuid, assigned text, change bigint)
RETURNS void LANGUAGE sql AS $$
    INSERT INTO run_people AS p (organization_id, run_id, kind, name, created_at, tasks)
    SELECT organization, run, meant.kind, meant.name, r.created_at, change * count(*)
    FROM (
        SELECT 'user' AS kind, lower(assigned COLLATE "C") AS name WHERE assigned IS NOT NULL
        UNION ALL
        SELECT c.kind, CASE WHEN c.kind = 'user' THEN lower(c.name) ELSE c.name END
        FROM human_task_candidates AS c
        WHERE assigned IS NULL AND c.organization_id = organization AND c.task_id = task
            AND c.kind IN ('user', 'group')
    ) AS meant CROSS JOIN runs AS r
    WHERE r.organization_id = organization AND r.id = run
    GROUP BY meant.kind, meant.name, r.created_at
    ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = p.tasks + excluded.tasks;
$$;

-- The statements of a step are sent at once, so that a task may be there before its run or behind its candidates: it is
-- looked at when all is written
CREATE FUNCTION human_tasks_own() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was_open boolean := TG_OP = 'UPDATE' AND OLD.state = 'open';
    is_open boolean := NEW.state = 'open';
    is_same boolean := TG_OP = 'UPDATE' AND OLD.assignee IS NOT DISTINCT FROM NEW.assignee;
    was_completed boolean := TG_OP = 'UPDATE' AND OLD.completed_by IS NOT NULL;
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO human_task_people (organization_id, task_id, kind, user_id, state, due_order, created_at)
        SELECT NEW.organization_id, NEW.id, 'starter', r.created_by, NEW.state, NEW.due_order, NEW.created_at
        FROM runs AS r
        WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id AND r.created_by IS NOT NULL;
    ELSE
        UPDATE human_task_people SET state = NEW.state
        WHERE organization_id = NEW.organization_id AND task_id = NEW.id AND state <> NEW.state;
    END IF;
    IF NOT (was_open AND is_open AND is_same) THEN
        IF was_open THEN
            PERFORM run_people_change(OLD.organization_id, OLD.run_id, OLD.id, OLD.assignee, -1);
        END IF;
        IF is_open THEN
            PERFORM run_people_change(NEW.organization_id, NEW.run_id, NEW.id, NEW.assignee, 1);
        END IF;
    END IF;
    IF NEW.completed_by IS NOT NULL AND NOT was_completed THEN
        PERFORM run_people_change(NEW.organization_id, NEW.run_id, NEW.id, NEW.completed_by::text, 1);
        INSERT INTO human_task_people (organization_id, task_id, kind, user_id, state, due_order, created_at)
        VALUES (NEW.organization_id, NEW.id, 'completer', NEW.completed_by, NEW.state, NEW.due_order, NEW.created_at);
    END IF;
    IF was_open THEN
        DELETE FROM run_people
        WHERE organization_id = NEW.organization_id AND run_id = NEW.run_id AND tasks <= 0;
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER human_tasks_own AFTER INSERT ON human_tasks
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION human_tasks_own();
CREATE CONSTRAINT TRIGGER human_tasks_own_changed AFTER UPDATE OF state, assignee, completed_by ON human_tasks
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.state IS DISTINCT FROM NEW.state OR OLD.assignee IS DISTINCT FROM NEW.assignee
        OR OLD.completed_by IS DISTINCT FROM NEW.completed_by)
    EXECUTE FUNCTION human_tasks_own();

CREATE FUNCTION human_tasks_own_remove() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM human_task_people AS p USING old_rows AS o
    WHERE p.organization_id = o.organization_id AND p.task_id = o.id;
    RETURN NULL;
END $$;
CREATE TRIGGER human_tasks_own_removed AFTER DELETE ON human_tasks REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION human_tasks_own_remove();

CREATE FUNCTION runs_own_remove() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM run_people AS p USING old_rows AS o
    WHERE p.organization_id = o.organization_id AND p.run_id = o.id;
    RETURN NULL;
END $$;
CREATE TRIGGER runs_own_removed AFTER DELETE ON runs REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION runs_own_remove();
