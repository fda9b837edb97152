-- Who started the run of a task stands beside those whom the task means, too: who sees their own tasks alone, and starts many
-- runs, finds those of them that are for everybody, for a group or for a user without a look at each task that they started.
DROP INDEX human_task_candidates_by_name;
DROP INDEX human_task_candidates_by_workflow;
ALTER TABLE human_task_candidates ADD COLUMN started_by BLOB;
UPDATE human_task_candidates SET started_by = t.started_by
FROM human_tasks AS t
WHERE t.organization_id = human_task_candidates.organization_id AND t.id = human_task_candidates.task_id
    AND t.started_by IS NOT NULL;
CREATE INDEX human_task_candidates_by_name ON human_task_candidates
    (organization_id, kind, name, instance_kind, standing, due_order, created_at, task_id, started_by);
CREATE INDEX human_task_candidates_by_workflow ON human_task_candidates
    (organization_id, workflow_id, kind, name, standing, due_order, created_at, task_id, started_by);
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('human_task_candidates', 'human_task_candidates_by_name', '1000000 500000 250000 20000 20000 10000 5000 2 1 1'),
    ('human_task_candidates', 'human_task_candidates_by_workflow', '1000000 500000 50000 25000 5000 2500 1000 2 1 1');
