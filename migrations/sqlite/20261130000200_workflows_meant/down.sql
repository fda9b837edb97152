DROP INDEX human_task_candidates_by_workflow;
CREATE INDEX human_task_candidates_by_workflow ON human_task_candidates
    (organization_id, workflow_id, kind, name, standing, due_order, created_at, task_id);
DROP INDEX human_task_candidates_by_name;
CREATE INDEX human_task_candidates_by_name ON human_task_candidates
    (organization_id, kind, name, instance_kind, standing, due_order, created_at, task_id);
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('human_task_candidates', 'human_task_candidates_by_name', '1000000 500000 250000 20000 20000 10000 5000 2 1'),
    ('human_task_candidates', 'human_task_candidates_by_workflow', '1000000 500000 50000 25000 5000 2500 1000 2 1');
ALTER TABLE human_task_candidates DROP COLUMN started_by;
