-- Who started the run of a task stands beside those whom the task means, too: who sees their own tasks alone, and starts many
-- runs, finds those of them that are for everybody, for a group or for a user without a look at each task that they started.
DROP INDEX human_task_candidates_by_name;
DROP INDEX human_task_candidates_by_workflow;
ALTER TABLE human_task_candidates ADD COLUMN started_by uuid;
UPDATE human_task_candidates AS c SET started_by = t.started_by
FROM human_tasks AS t
WHERE t.organization_id = c.organization_id AND t.id = c.task_id AND t.started_by IS NOT NULL;
CREATE INDEX human_task_candidates_by_name ON human_task_candidates
    (organization_id, kind, name, instance_kind, standing, due_order, created_at, task_id, started_by);
CREATE INDEX human_task_candidates_by_workflow ON human_task_candidates
    (organization_id, workflow_id, kind, name, standing, due_order, created_at, task_id, started_by);
