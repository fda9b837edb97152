-- Kind of an instance: a run of a workflow or a case of a case type. They stand in the same tables, and it is part of every
-- look for one. What is there are runs
ALTER TABLE runs ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'workflow';
ALTER TABLE human_tasks ADD COLUMN instance_kind text COLLATE "C" NOT NULL DEFAULT 'workflow';
ALTER TABLE human_task_candidates ADD COLUMN instance_kind text COLLATE "C" NOT NULL DEFAULT 'workflow';
ALTER TABLE jobs ADD COLUMN instance_kind text COLLATE "C" NOT NULL DEFAULT 'workflow';
ALTER TABLE job_endings ADD COLUMN instance_kind text COLLATE "C" NOT NULL DEFAULT 'workflow';
ALTER TABLE start_bindings ADD COLUMN instance_kind text COLLATE "C" NOT NULL DEFAULT 'workflow';
ALTER TABLE dead_letters ADD COLUMN instance_kind text COLLATE "C" NOT NULL DEFAULT 'workflow';
-- Cases that took an event, beside the runs; null where none did
ALTER TABLE case_events ADD COLUMN case_ids bytea;

-- Lists over all definitions are of one kind: it stands before their order
DROP INDEX runs_by_creation;
CREATE INDEX runs_by_creation ON runs (organization_id, kind, created_at, id);
DROP INDEX runs_of_state;
CREATE INDEX runs_of_state ON runs (organization_id, kind, state, created_at, id);
DROP INDEX runs_of_incidents;
CREATE INDEX runs_of_incidents ON runs (organization_id, kind, created_at, id)
    WHERE has_incident;
DROP INDEX runs_of_incidents_by_state;
CREATE INDEX runs_of_incidents_by_state ON runs (organization_id, kind, state, created_at, id)
    WHERE has_incident;
DROP INDEX runs_by_starter;
CREATE INDEX runs_by_starter ON runs (organization_id, kind, created_by, created_at, id)
    WHERE created_by IS NOT NULL;
DROP INDEX runs_by_business_key;
CREATE INDEX runs_by_business_key ON runs (organization_id, kind, business_key, created_at, id)
    WHERE business_key IS NOT NULL;
DROP INDEX runs_of_correlation;
CREATE INDEX runs_of_correlation ON runs (organization_id, kind, correlation_key, created_at, id)
    WHERE correlation_key IS NOT NULL;
DROP INDEX runs_of_active;
CREATE INDEX runs_of_active ON runs (organization_id, kind, created_at, id)
    WHERE ended_at IS NULL;
DROP INDEX human_tasks_by_state;
CREATE INDEX human_tasks_by_state ON human_tasks (organization_id, instance_kind, state, due_order, created_at, id);
DROP INDEX human_tasks_by_assignee;
CREATE INDEX human_tasks_by_assignee ON human_tasks (organization_id, assignee, instance_kind, state, due_order, created_at, id)
    WHERE assignee IS NOT NULL;
DROP INDEX human_tasks_to_follow_up;
CREATE INDEX human_tasks_to_follow_up ON human_tasks (organization_id, instance_kind, state, due_order, created_at, id, follow_up_at)
    WHERE follow_up_at IS NOT NULL;
DROP INDEX human_task_candidates_by_name;
CREATE INDEX human_task_candidates_by_name ON human_task_candidates (organization_id, kind, name, instance_kind, standing, due_order, created_at, task_id);

-- A case that is closed has ended, and is counted among those that were completed

CREATE OR REPLACE FUNCTION runs_count() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, active, incidents, completed, failed, cancelled, bytes)
    SELECT organization_id, workflow_id, own, count(*) FILTER (WHERE state NOT IN ('completed', 'failed', 'cancelled', 'closed')),
        count(*) FILTER (WHERE has_incident AND state NOT IN ('completed', 'failed', 'cancelled', 'closed')),
        count(*) FILTER (WHERE state IN ('completed', 'closed')), count(*) FILTER (WHERE state = 'failed'),
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
    SELECT organization_id, workflow_id, own, coalesce(sum(sign) FILTER (WHERE state NOT IN ('completed', 'failed', 'cancelled', 'closed')), 0),
        coalesce(sum(sign) FILTER (WHERE has_incident AND state NOT IN ('completed', 'failed', 'cancelled', 'closed')), 0),
        coalesce(sum(sign) FILTER (WHERE state IN ('completed', 'closed')), 0), coalesce(sum(sign) FILTER (WHERE state = 'failed'), 0),
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
    SELECT organization_id, workflow_id, own, -count(*) FILTER (WHERE state NOT IN ('completed', 'failed', 'cancelled', 'closed')),
        -count(*) FILTER (WHERE has_incident AND state NOT IN ('completed', 'failed', 'cancelled', 'closed')),
        -count(*) FILTER (WHERE state IN ('completed', 'closed')), -count(*) FILTER (WHERE state = 'failed'),
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
