ALTER TABLE human_tasks DROP COLUMN follow_up_at;
ALTER TABLE workflow_versions DROP COLUMN edition;
