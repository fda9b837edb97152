DROP INDEX human_tasks_by_starter;
DROP INDEX human_tasks_by_completer;
ALTER TABLE human_tasks DROP COLUMN started_by;

CREATE TABLE human_task_people (
    organization_id BLOB NOT NULL,
    task_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    user_id BLOB NOT NULL,
    state TEXT NOT NULL,
    due_order INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    instance_kind TEXT NOT NULL DEFAULT 'workflow',
    PRIMARY KEY (organization_id, task_id, kind, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX human_task_people_by_user
    ON human_task_people (organization_id, user_id, kind, instance_kind, state, due_order, created_at, task_id);
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('human_task_people', 'human_task_people', '1000000 500000 2 1 1'),
    ('human_task_people', 'human_task_people_by_user', '1000000 500000 5000 2500 2500 1250 1000 1 1');
INSERT INTO human_task_people (organization_id, task_id, instance_kind, kind, user_id, state, due_order, created_at)
SELECT t.organization_id, t.id, t.instance_kind, 'starter', r.created_by, t.state, t.due_order, t.created_at
FROM human_tasks AS t JOIN runs AS r ON r.organization_id = t.organization_id AND r.id = t.run_id
WHERE r.created_by IS NOT NULL
UNION ALL
SELECT organization_id, id, instance_kind, 'completer', completed_by, state, due_order, created_at
FROM human_tasks WHERE completed_by IS NOT NULL;

CREATE TRIGGER human_tasks_own_opened AFTER INSERT ON human_tasks
BEGIN
    INSERT INTO human_task_people (organization_id, task_id, instance_kind, kind, user_id, state, due_order, created_at)
    SELECT NEW.organization_id, NEW.id, NEW.instance_kind, 'starter', r.created_by, NEW.state, NEW.due_order, NEW.created_at
    FROM runs AS r
    WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id AND r.created_by IS NOT NULL;
END;
CREATE TRIGGER human_tasks_own_completed AFTER UPDATE OF completed_by ON human_tasks
WHEN NEW.completed_by IS NOT NULL AND OLD.completed_by IS NULL
BEGIN
    INSERT INTO human_task_people (organization_id, task_id, instance_kind, kind, user_id, state, due_order, created_at)
    VALUES (NEW.organization_id, NEW.id, NEW.instance_kind, 'completer', NEW.completed_by, NEW.state, NEW.due_order, NEW.created_at);
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
