DROP INDEX jobs_by_state;
CREATE INDEX jobs_by_state ON jobs (organization_id, state, id) WHERE state <> 'ready';
DROP INDEX human_tasks_by_follow_up;
