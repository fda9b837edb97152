-- Number of the rules under which a version was published: what a member of a definition does in a version stays. It is 1 for
-- every version of before, and for what an earlier program still writes
ALTER TABLE workflow_versions ADD COLUMN edition integer NOT NULL DEFAULT 1;
-- Instant from which on somebody should look at a task
ALTER TABLE human_tasks ADD COLUMN follow_up_at timestamptz;
-- Those with a follow-up date, in the order of the work list: the others are never looked at where it is asked for
CREATE INDEX human_tasks_to_follow_up
    ON human_tasks (organization_id, state, due_order, created_at, id, follow_up_at) WHERE follow_up_at IS NOT NULL;
