DROP INDEX human_task_candidates_by_workflow;
CREATE INDEX human_task_candidates_by_workflow ON human_task_candidates
    (organization_id, workflow_id, kind, name, standing, due_order, created_at, task_id);
DROP INDEX human_task_candidates_by_name;
CREATE INDEX human_task_candidates_by_name ON human_task_candidates
    (organization_id, kind, name, instance_kind, standing, due_order, created_at, task_id);
ALTER TABLE human_task_candidates DROP COLUMN started_by;
