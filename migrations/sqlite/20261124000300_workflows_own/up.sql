-- Whose runs are, beside who started them: users and groups by name, with the number of the open tasks that are theirs or
-- that they may take, and of those that they completed. In the order of the list of runs, whose creation stands in each
CREATE TABLE run_people (
    organization_id BLOB NOT NULL,
    run_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    tasks INTEGER NOT NULL,
    PRIMARY KEY (organization_id, run_id, kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_people_by_name ON run_people (organization_id, kind, name, created_at, run_id);

-- Who has to do with a task whoever it is for: the starter of its run, and whoever completed it. In the order of the work list
CREATE TABLE human_task_people (
    organization_id BLOB NOT NULL,
    task_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    user_id BLOB NOT NULL,
    state TEXT NOT NULL,
    due_order INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, task_id, kind, user_id)
) STRICT, WITHOUT ROWID;
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
    SELECT t.organization_id, t.run_id, c.kind, iif(c.kind = 'user', lower(c.name), c.name)
    FROM human_tasks AS t JOIN human_task_candidates AS c
        ON c.organization_id = t.organization_id AND c.task_id = t.id
    WHERE t.state = 'open' AND t.assignee IS NULL AND c.kind IN ('user', 'group')
    UNION ALL
    SELECT organization_id, run_id, 'user', lower(
        substr(hex(completed_by), 1, 8) || '-' || substr(hex(completed_by), 9, 4) || '-'
        || substr(hex(completed_by), 13, 4) || '-' || substr(hex(completed_by), 17, 4) || '-'
        || substr(hex(completed_by), 21)
    ) FROM human_tasks WHERE completed_by IS NOT NULL
) AS p JOIN runs AS r ON r.organization_id = p.organization_id AND r.id = p.run_id
GROUP BY p.organization_id, p.run_id, p.kind, p.name, r.created_at;

-- A run is written before its tasks, and a task before its candidates, who never change. Each trigger fires only where
-- there is something to write, and none depends on the order in which they do
CREATE TRIGGER human_tasks_own_opened AFTER INSERT ON human_tasks
BEGIN
    INSERT INTO human_task_people (organization_id, task_id, kind, user_id, state, due_order, created_at)
    SELECT NEW.organization_id, NEW.id, 'starter', r.created_by, NEW.state, NEW.due_order, NEW.created_at
    FROM runs AS r
    WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id AND r.created_by IS NOT NULL;
END;

CREATE TRIGGER human_tasks_own_opened_for AFTER INSERT ON human_tasks
WHEN NEW.state = 'open' AND NEW.assignee IS NOT NULL
BEGIN
    INSERT INTO run_people (organization_id, run_id, kind, name, created_at, tasks)
    SELECT NEW.organization_id, NEW.run_id, 'user', lower(NEW.assignee), r.created_at, 1
    FROM runs AS r
    WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id
    ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = tasks + 1;
END;

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

-- No longer an assignee's
CREATE TRIGGER human_tasks_own_left AFTER UPDATE OF state, assignee ON human_tasks
WHEN OLD.state = 'open' AND OLD.assignee IS NOT NULL AND (NEW.state <> 'open' OR OLD.assignee IS NOT NEW.assignee)
BEGIN
    UPDATE run_people SET tasks = tasks - 1
    WHERE organization_id = OLD.organization_id AND run_id = OLD.run_id
        AND kind = 'user' AND name = lower(OLD.assignee);
    DELETE FROM run_people
    WHERE organization_id = OLD.organization_id AND run_id = OLD.run_id AND tasks <= 0
        AND kind = 'user' AND name = lower(OLD.assignee);
END;

-- No longer for its candidates to take
CREATE TRIGGER human_tasks_own_taken AFTER UPDATE OF state, assignee ON human_tasks
WHEN OLD.state = 'open' AND OLD.assignee IS NULL AND (NEW.state <> 'open' OR NEW.assignee IS NOT NULL)
BEGIN
    UPDATE run_people SET tasks = tasks - (
        SELECT count(*) FROM human_task_candidates AS c
        WHERE c.organization_id = OLD.organization_id AND c.task_id = OLD.id AND c.kind = run_people.kind
            AND iif(c.kind = 'user', lower(c.name), c.name) = run_people.name
    )
    WHERE organization_id = OLD.organization_id AND run_id = OLD.run_id
        AND (kind, name) IN (
            SELECT c.kind, iif(c.kind = 'user', lower(c.name), c.name) FROM human_task_candidates AS c
            WHERE c.organization_id = OLD.organization_id AND c.task_id = OLD.id AND c.kind IN ('user', 'group')
        );
    DELETE FROM run_people
    WHERE organization_id = OLD.organization_id AND run_id = OLD.run_id AND tasks <= 0
        AND (kind, name) IN (
            SELECT c.kind, iif(c.kind = 'user', lower(c.name), c.name) FROM human_task_candidates AS c
            WHERE c.organization_id = OLD.organization_id AND c.task_id = OLD.id AND c.kind IN ('user', 'group')
        );
END;

-- An assignee's from now on
CREATE TRIGGER human_tasks_own_given AFTER UPDATE OF state, assignee ON human_tasks
WHEN NEW.state = 'open' AND NEW.assignee IS NOT NULL AND (OLD.state <> 'open' OR OLD.assignee IS NOT NEW.assignee)
BEGIN
    INSERT INTO run_people (organization_id, run_id, kind, name, created_at, tasks)
    SELECT NEW.organization_id, NEW.run_id, 'user', lower(NEW.assignee), r.created_at, 1
    FROM runs AS r
    WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id
    ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = tasks + 1;
END;

-- For its candidates to take from now on
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

-- Completed by somebody, which stays
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

CREATE TRIGGER human_tasks_own_ended AFTER UPDATE OF state ON human_tasks
WHEN OLD.state <> NEW.state
BEGIN
    UPDATE human_task_people SET state = NEW.state
    WHERE organization_id = NEW.organization_id AND task_id = NEW.id AND state <> NEW.state;
END;

CREATE TRIGGER human_tasks_own_removed AFTER DELETE ON human_tasks
BEGIN
    DELETE FROM human_task_people WHERE organization_id = OLD.organization_id AND task_id = OLD.id;
END;

CREATE TRIGGER runs_own_removed AFTER DELETE ON runs
BEGIN
    DELETE FROM run_people WHERE organization_id = OLD.organization_id AND run_id = OLD.id;
END;
