-- What runs only knows nothing of cases: the way back is shut while there are any
DO $$
BEGIN
    IF EXISTS (SELECT 1 FROM runs WHERE kind <> 'workflow')
        OR EXISTS (SELECT 1 FROM start_bindings WHERE instance_kind <> 'workflow') THEN
        RAISE EXCEPTION 'no case may be stored';
    END IF;
END $$;

CREATE OR REPLACE FUNCTION runs_count() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, active, incidents, completed, failed, cancelled, bytes)
    SELECT organization_id, workflow_id, own, count(*) FILTER (WHERE state NOT IN ('completed', 'failed', 'cancelled')),
        count(*) FILTER (WHERE has_incident AND state NOT IN ('completed', 'failed', 'cancelled')),
        count(*) FILTER (WHERE state = 'completed'), count(*) FILTER (WHERE state = 'failed'),
        count(*) FILTER (WHERE state = 'cancelled'), sum(bytes)
    FROM new_rows GROUP BY organization_id, workflow_id
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        active = c.active + excluded.active,
        incidents = c.incidents + excluded.incidents,
        completed = c.completed + excluded.completed,
        failed = c.failed + excluded.failed,
        cancelled = c.cancelled + excluded.cancelled,
        bytes = c.bytes + excluded.bytes;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION runs_recount() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, active, incidents, completed, failed, cancelled, bytes)
    SELECT organization_id, workflow_id, own, coalesce(sum(sign) FILTER (WHERE state NOT IN ('completed', 'failed', 'cancelled')), 0),
        coalesce(sum(sign) FILTER (WHERE has_incident AND state NOT IN ('completed', 'failed', 'cancelled')), 0),
        coalesce(sum(sign) FILTER (WHERE state = 'completed'), 0), coalesce(sum(sign) FILTER (WHERE state = 'failed'), 0),
        coalesce(sum(sign) FILTER (WHERE state = 'cancelled'), 0), sum(sign * bytes)
    FROM (
        SELECT 1 AS sign, organization_id, workflow_id, state, has_incident, bytes FROM new_rows
        UNION ALL SELECT -1, organization_id, workflow_id, state, has_incident, bytes FROM old_rows
    ) AS changed
    GROUP BY organization_id, workflow_id
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        active = c.active + excluded.active,
        incidents = c.incidents + excluded.incidents,
        completed = c.completed + excluded.completed,
        failed = c.failed + excluded.failed,
        cancelled = c.cancelled + excluded.cancelled,
        bytes = c.bytes + excluded.bytes;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION runs_uncount() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, active, incidents, completed, failed, cancelled, bytes)
    SELECT organization_id, workflow_id, own, -count(*) FILTER (WHERE state NOT IN ('completed', 'failed', 'cancelled')),
        -count(*) FILTER (WHERE has_incident AND state NOT IN ('completed', 'failed', 'cancelled')),
        -count(*) FILTER (WHERE state = 'completed'), -count(*) FILTER (WHERE state = 'failed'),
        -count(*) FILTER (WHERE state = 'cancelled'), -sum(bytes)
    FROM old_rows AS r
    WHERE EXISTS (SELECT 1 FROM workflows AS w WHERE w.organization_id = r.organization_id AND w.id = r.workflow_id)
    GROUP BY organization_id, workflow_id
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        active = c.active + excluded.active,
        incidents = c.incidents + excluded.incidents,
        completed = c.completed + excluded.completed,
        failed = c.failed + excluded.failed,
        cancelled = c.cancelled + excluded.cancelled,
        bytes = c.bytes + excluded.bytes;
    RETURN NULL;
END $$;

DROP INDEX runs_by_creation;
CREATE INDEX runs_by_creation ON runs (organization_id, created_at, id);
DROP INDEX runs_of_state;
CREATE INDEX runs_of_state ON runs (organization_id, state, created_at, id);
DROP INDEX runs_of_incidents;
CREATE INDEX runs_of_incidents ON runs (organization_id, created_at, id)
    WHERE has_incident;
DROP INDEX runs_of_incidents_by_state;
CREATE INDEX runs_of_incidents_by_state ON runs (organization_id, state, created_at, id)
    WHERE has_incident;
DROP INDEX runs_by_starter;
CREATE INDEX runs_by_starter ON runs (organization_id, created_by, created_at, id)
    WHERE created_by IS NOT NULL;
DROP INDEX runs_by_business_key;
CREATE INDEX runs_by_business_key ON runs (organization_id, business_key, created_at, id)
    WHERE business_key IS NOT NULL;
DROP INDEX runs_of_correlation;
CREATE INDEX runs_of_correlation ON runs (organization_id, correlation_key, created_at, id)
    WHERE correlation_key IS NOT NULL;
DROP INDEX runs_of_active;
CREATE INDEX runs_of_active ON runs (organization_id, created_at, id)
    WHERE ended_at IS NULL;
DROP INDEX human_tasks_by_state;
CREATE INDEX human_tasks_by_state ON human_tasks (organization_id, state, due_order, created_at, id);
DROP INDEX human_tasks_by_assignee;
CREATE INDEX human_tasks_by_assignee ON human_tasks (organization_id, assignee, state, due_order, created_at, id)
    WHERE assignee IS NOT NULL;
DROP INDEX human_tasks_to_follow_up;
CREATE INDEX human_tasks_to_follow_up ON human_tasks (organization_id, state, due_order, created_at, id, follow_up_at)
    WHERE follow_up_at IS NOT NULL;
DROP INDEX human_task_candidates_by_name;
CREATE INDEX human_task_candidates_by_name ON human_task_candidates (organization_id, kind, name, standing, due_order, created_at, task_id);

ALTER TABLE case_events DROP COLUMN case_ids;
ALTER TABLE dead_letters DROP COLUMN instance_kind;
ALTER TABLE start_bindings DROP COLUMN instance_kind;
ALTER TABLE job_endings DROP COLUMN instance_kind;
ALTER TABLE jobs DROP COLUMN instance_kind;
ALTER TABLE human_task_candidates DROP COLUMN instance_kind;
ALTER TABLE human_tasks DROP COLUMN instance_kind;
ALTER TABLE runs DROP COLUMN kind;
