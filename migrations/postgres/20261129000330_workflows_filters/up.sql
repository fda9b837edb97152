-- Tasks by their follow-up date: where few are due they are found by it, whatever waits for a later one
CREATE INDEX human_tasks_by_follow_up ON human_tasks (organization_id, instance_kind, state, follow_up_at)
    WHERE follow_up_at IS NOT NULL;

-- Lists of the jobs in a state, those that are ready among them
DROP INDEX jobs_by_state;
CREATE INDEX jobs_by_state ON jobs (organization_id, state, id);
