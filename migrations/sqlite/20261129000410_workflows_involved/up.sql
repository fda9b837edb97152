-- Who has to do with a task whoever it is for stands in its row: the starter of its run beside who completed it. In a table of
-- their own each task cost four entries of indexes more, and triggers that looked for them
DROP TRIGGER human_tasks_own_opened;
DROP TRIGGER human_tasks_own_completed;
DROP TRIGGER human_tasks_own_ended;
DROP TRIGGER human_tasks_own_removed;
DROP TABLE human_task_people;
DELETE FROM sqlite_stat1 WHERE tbl = 'human_task_people';

ALTER TABLE human_tasks ADD COLUMN started_by BLOB;
UPDATE human_tasks SET started_by = r.created_by
FROM runs AS r
WHERE r.organization_id = human_tasks.organization_id AND r.id = human_tasks.run_id AND r.created_by IS NOT NULL;
CREATE INDEX human_tasks_by_starter ON human_tasks (organization_id, started_by, instance_kind, state, due_order, created_at, id)
    WHERE started_by IS NOT NULL;
CREATE INDEX human_tasks_by_completer ON human_tasks (organization_id, completed_by, instance_kind, state, due_order, created_at, id)
    WHERE completed_by IS NOT NULL;
