DROP INDEX human_tasks_to_follow_up;
ALTER TABLE human_tasks DROP COLUMN follow_up_at;
ALTER TABLE workflow_versions DROP COLUMN edition;
