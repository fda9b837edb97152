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

DROP INDEX run_people_by_name;
CREATE INDEX run_people_by_name ON run_people (organization_id, kind, name, created_at, run_id);
DROP INDEX human_task_people_by_user;
CREATE INDEX human_task_people_by_user
    ON human_task_people (organization_id, user_id, kind, state, due_order, created_at, task_id);

CREATE OR REPLACE FUNCTION run_people_change(organization uuid, run uuid, task uuid, assigned text, change bigint)
RETURNS void LANGUAGE sql AS $$
    INSERT INTO run_people AS p (organization_id, run_id, kind, name, created_at, tasks)
    SELECT organization, run, meant.kind, meant.name, r.created_at, change * count(*)
    FROM (
        SELECT 'user' AS kind, lower(assigned COLLATE "C") AS name WHERE assigned IS NOT NULL
        UNION ALL
        SELECT c.kind, CASE WHEN c.kind = 'user' THEN lower(c.name) ELSE c.name END
        FROM human_task_candidates AS c
        WHERE assigned IS NULL AND c.organization_id = organization AND c.task_id = task
            AND c.kind IN ('user', 'group')
    ) AS meant CROSS JOIN runs AS r
    WHERE r.organization_id = organization AND r.id = run
    GROUP BY meant.kind, meant.name, r.created_at
    ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = p.tasks + excluded.tasks;
$$;
CREATE OR REPLACE FUNCTION human_tasks_own() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was_open boolean := TG_OP = 'UPDATE' AND OLD.state = 'open';
    is_open boolean := NEW.state = 'open';
    is_same boolean := TG_OP = 'UPDATE' AND OLD.assignee IS NOT DISTINCT FROM NEW.assignee;
    was_completed boolean := TG_OP = 'UPDATE' AND OLD.completed_by IS NOT NULL;
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO human_task_people (organization_id, task_id, kind, user_id, state, due_order, created_at)
        SELECT NEW.organization_id, NEW.id, 'starter', r.created_by, NEW.state, NEW.due_order, NEW.created_at
        FROM runs AS r
        WHERE r.organization_id = NEW.organization_id AND r.id = NEW.run_id AND r.created_by IS NOT NULL;
    ELSE
        UPDATE human_task_people SET state = NEW.state
        WHERE organization_id = NEW.organization_id AND task_id = NEW.id AND state <> NEW.state;
    END IF;
    IF NOT (was_open AND is_open AND is_same) THEN
        IF was_open THEN
            PERFORM run_people_change(OLD.organization_id, OLD.run_id, OLD.id, OLD.assignee, -1);
        END IF;
        IF is_open THEN
            PERFORM run_people_change(NEW.organization_id, NEW.run_id, NEW.id, NEW.assignee, 1);
        END IF;
    END IF;
    IF NEW.completed_by IS NOT NULL AND NOT was_completed THEN
        PERFORM run_people_change(NEW.organization_id, NEW.run_id, NEW.id, NEW.completed_by::text, 1);
        INSERT INTO human_task_people (organization_id, task_id, kind, user_id, state, due_order, created_at)
        VALUES (NEW.organization_id, NEW.id, 'completer', NEW.completed_by, NEW.state, NEW.due_order, NEW.created_at);
    END IF;
    IF was_open THEN
        DELETE FROM run_people
        WHERE organization_id = NEW.organization_id AND run_id = NEW.run_id AND tasks <= 0;
    END IF;
    RETURN NULL;
END $$;

ALTER TABLE case_events DROP COLUMN case_ids;
ALTER TABLE dead_letters DROP COLUMN instance_kind;
ALTER TABLE start_bindings DROP COLUMN instance_kind;
ALTER TABLE job_endings DROP COLUMN instance_kind;
ALTER TABLE jobs DROP COLUMN instance_kind;
ALTER TABLE human_task_people DROP COLUMN instance_kind;
ALTER TABLE run_people DROP COLUMN instance_kind;
ALTER TABLE human_task_candidates DROP COLUMN instance_kind;
ALTER TABLE human_tasks DROP COLUMN instance_kind;
ALTER TABLE runs DROP COLUMN kind;
