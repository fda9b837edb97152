-- Bytes of what is stored of a run: state, input, trigger and events. Of new steps the engine's count of the events
ALTER TABLE runs ADD COLUMN bytes bigint NOT NULL DEFAULT 0;
UPDATE runs SET bytes = octet_length(trigger) + octet_length(input) + octet_length(snapshot) + (
    SELECT coalesce(sum(octet_length(events)), 0) FROM run_events
    WHERE run_events.organization_id = runs.organization_id AND run_events.run_id = runs.id
);

-- Numbers that stand beside lists and that quotas bound, kept by triggers with the changes that they count: a row for
-- each workflow and shard; the nil id has what belongs to none. A number is the sum over the shards
CREATE TABLE stored_counts (
    organization_id uuid NOT NULL,
    workflow_id uuid NOT NULL,
    shard integer NOT NULL,
    active bigint NOT NULL DEFAULT 0,
    incidents bigint NOT NULL DEFAULT 0,
    completed bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    cancelled bigint NOT NULL DEFAULT 0,
    open_tasks bigint NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0,
    letters bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (organization_id, workflow_id, shard)
) WITH (fillfactor = 50);

-- A shard that no other open transaction writes: the lowest that is free, so that there are as many as there are
-- writers at once. Nobody waits for anybody, and no two transactions lock rows in opposite order
CREATE FUNCTION free_shard() RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
    FOR shard IN 0..31 LOOP
        IF pg_try_advisory_xact_lock(1212502093, hashtext(current_schema()) # shard) THEN
            RETURN shard;
        END IF;
    END LOOP;
    RETURN 32 + pg_backend_pid();
END $$;

-- Runs

CREATE FUNCTION runs_count() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER runs_counted AFTER INSERT ON runs REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION runs_count();

CREATE FUNCTION runs_recount() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER runs_recounted AFTER UPDATE ON runs REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION runs_recount();

-- What goes with its workflow is not counted: the workflow's numbers go with it, too

CREATE FUNCTION runs_uncount() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER runs_uncounted AFTER DELETE ON runs REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION runs_uncount();

-- Human tasks

CREATE FUNCTION human_tasks_count() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, open_tasks, bytes)
    SELECT organization_id, workflow_id, own, count(*) FILTER (WHERE state = 'open'),
        sum(octet_length(candidate_users) + octet_length(candidate_groups) + octet_length(outcomes)
            + coalesce(octet_length(form), 0))
    FROM new_rows GROUP BY organization_id, workflow_id
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        open_tasks = c.open_tasks + excluded.open_tasks,
        bytes = c.bytes + excluded.bytes;
    RETURN NULL;
END $$;

CREATE TRIGGER human_tasks_counted AFTER INSERT ON human_tasks REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION human_tasks_count();

CREATE FUNCTION human_tasks_recount() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, open_tasks)
    SELECT organization_id, workflow_id, own, sum(sign)
    FROM (
        SELECT 1 AS sign, organization_id, workflow_id FROM new_rows WHERE state = 'open'
        UNION ALL SELECT -1, organization_id, workflow_id FROM old_rows WHERE state = 'open'
    ) AS changed
    GROUP BY organization_id, workflow_id
    HAVING sum(sign) <> 0
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        open_tasks = c.open_tasks + excluded.open_tasks;
    RETURN NULL;
END $$;

CREATE TRIGGER human_tasks_recounted AFTER UPDATE ON human_tasks REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION human_tasks_recount();

CREATE FUNCTION human_tasks_uncount() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, open_tasks, bytes)
    SELECT organization_id, workflow_id, own, -count(*) FILTER (WHERE state = 'open'),
        -sum(octet_length(candidate_users) + octet_length(candidate_groups) + octet_length(outcomes)
            + coalesce(octet_length(form), 0))
    FROM old_rows AS r
    WHERE EXISTS (SELECT 1 FROM workflows AS w WHERE w.organization_id = r.organization_id AND w.id = r.workflow_id)
    GROUP BY organization_id, workflow_id
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        open_tasks = c.open_tasks + excluded.open_tasks,
        bytes = c.bytes + excluded.bytes;
    RETURN NULL;
END $$;

CREATE TRIGGER human_tasks_uncounted AFTER DELETE ON human_tasks REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION human_tasks_uncount();

-- Workflows

CREATE FUNCTION workflows_count() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, bytes)
    SELECT organization_id, id, own, sum(coalesce(octet_length(draft), 0))
    FROM new_rows GROUP BY organization_id, id
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        bytes = c.bytes + excluded.bytes;
    RETURN NULL;
END $$;

CREATE TRIGGER workflows_counted AFTER INSERT ON workflows REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION workflows_count();

CREATE FUNCTION workflows_recount() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, bytes)
    SELECT organization_id, id, own, sum(bytes)
    FROM (
        SELECT organization_id, id, coalesce(octet_length(draft), 0) AS bytes FROM new_rows
        UNION ALL SELECT organization_id, id, -coalesce(octet_length(draft), 0) FROM old_rows
    ) AS changed
    GROUP BY organization_id, id
    HAVING sum(bytes) <> 0
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        bytes = c.bytes + excluded.bytes;
    RETURN NULL;
END $$;

CREATE TRIGGER workflows_recounted AFTER UPDATE ON workflows REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION workflows_recount();

CREATE FUNCTION workflows_uncount() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM stored_counts AS c USING old_rows AS r
    WHERE c.organization_id = r.organization_id AND c.workflow_id = r.id;
    RETURN NULL;
END $$;

CREATE TRIGGER workflows_uncounted AFTER DELETE ON workflows REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION workflows_uncount();

CREATE FUNCTION workflow_versions_count() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, bytes)
    SELECT organization_id, workflow_id, own, sum(octet_length(definition))
    FROM new_rows GROUP BY organization_id, workflow_id
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        bytes = c.bytes + excluded.bytes;
    RETURN NULL;
END $$;

CREATE TRIGGER workflow_versions_counted AFTER INSERT ON workflow_versions REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION workflow_versions_count();

CREATE FUNCTION workflow_versions_uncount() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, bytes)
    SELECT organization_id, workflow_id, own, -sum(octet_length(definition))
    FROM old_rows AS r
    WHERE EXISTS (SELECT 1 FROM workflows AS w WHERE w.organization_id = r.organization_id AND w.id = r.workflow_id)
    GROUP BY organization_id, workflow_id
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        bytes = c.bytes + excluded.bytes;
    RETURN NULL;
END $$;

CREATE TRIGGER workflow_versions_uncounted AFTER DELETE ON workflow_versions REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION workflow_versions_uncount();

-- What belongs to the organisation

CREATE FUNCTION dead_letters_count() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, bytes, letters)
    SELECT organization_id, '00000000-0000-0000-0000-000000000000'::uuid, own, sum(octet_length(work)), count(*)
    FROM new_rows GROUP BY organization_id
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        bytes = c.bytes + excluded.bytes,
        letters = c.letters + excluded.letters;
    RETURN NULL;
END $$;

CREATE TRIGGER dead_letters_counted AFTER INSERT ON dead_letters REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION dead_letters_count();

CREATE FUNCTION dead_letters_uncount() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, bytes, letters)
    SELECT organization_id, '00000000-0000-0000-0000-000000000000'::uuid, own, -sum(octet_length(work)), -count(*)
    FROM old_rows GROUP BY organization_id
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        bytes = c.bytes + excluded.bytes,
        letters = c.letters + excluded.letters;
    RETURN NULL;
END $$;

CREATE TRIGGER dead_letters_uncounted AFTER DELETE ON dead_letters REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION dead_letters_uncount();

CREATE FUNCTION case_events_count() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, bytes)
    SELECT organization_id, '00000000-0000-0000-0000-000000000000'::uuid, own, sum(octet_length(payload))
    FROM new_rows GROUP BY organization_id
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        bytes = c.bytes + excluded.bytes;
    RETURN NULL;
END $$;

CREATE TRIGGER case_events_counted AFTER INSERT ON case_events REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION case_events_count();

CREATE FUNCTION case_events_uncount() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, bytes)
    SELECT organization_id, '00000000-0000-0000-0000-000000000000'::uuid, own, -sum(octet_length(payload))
    FROM old_rows GROUP BY organization_id
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        bytes = c.bytes + excluded.bytes;
    RETURN NULL;
END $$;

CREATE TRIGGER case_events_uncounted AFTER DELETE ON case_events REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION case_events_uncount();

CREATE FUNCTION import_sources_count() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, bytes)
    SELECT organization_id, '00000000-0000-0000-0000-000000000000'::uuid, own, sum(octet_length(bytes))
    FROM new_rows GROUP BY organization_id
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        bytes = c.bytes + excluded.bytes;
    RETURN NULL;
END $$;

CREATE TRIGGER import_sources_counted AFTER INSERT ON import_sources REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION import_sources_count();

CREATE FUNCTION import_sources_uncount() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE own integer := free_shard();
BEGIN
    INSERT INTO stored_counts AS c (organization_id, workflow_id, shard, bytes)
    SELECT organization_id, '00000000-0000-0000-0000-000000000000'::uuid, own, -sum(octet_length(bytes))
    FROM old_rows GROUP BY organization_id
    ON CONFLICT (organization_id, workflow_id, shard) DO UPDATE SET
        bytes = c.bytes + excluded.bytes;
    RETURN NULL;
END $$;

CREATE TRIGGER import_sources_uncounted AFTER DELETE ON import_sources REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION import_sources_uncount();

-- What is there already

INSERT INTO stored_counts (organization_id, workflow_id, shard, bytes)
SELECT organization_id, id, 0, coalesce(octet_length(draft), 0) + (
    SELECT coalesce(sum(octet_length(definition)), 0) FROM workflow_versions AS v
    WHERE v.organization_id = workflows.organization_id AND v.workflow_id = workflows.id
) FROM workflows;

UPDATE stored_counts AS c SET
    active = now.active,
    incidents = now.incidents,
    completed = now.completed,
    failed = now.failed,
    cancelled = now.cancelled,
    bytes = c.bytes + now.bytes
FROM (
    SELECT organization_id, workflow_id, count(*) FILTER (WHERE state NOT IN ('completed', 'failed', 'cancelled')) AS active,
        count(*) FILTER (WHERE has_incident AND state NOT IN ('completed', 'failed', 'cancelled')) AS incidents,
        count(*) FILTER (WHERE state = 'completed') AS completed, count(*) FILTER (WHERE state = 'failed') AS failed,
        count(*) FILTER (WHERE state = 'cancelled') AS cancelled, sum(bytes) AS bytes
    FROM runs GROUP BY organization_id, workflow_id
) AS now
WHERE c.organization_id = now.organization_id AND c.workflow_id = now.workflow_id;

UPDATE stored_counts AS c SET open_tasks = now.open_tasks, bytes = c.bytes + now.bytes
FROM (
    SELECT organization_id, workflow_id, count(*) FILTER (WHERE state = 'open') AS open_tasks,
        sum(octet_length(candidate_users) + octet_length(candidate_groups) + octet_length(outcomes)
            + coalesce(octet_length(form), 0)) AS bytes
    FROM human_tasks GROUP BY organization_id, workflow_id
) AS now
WHERE c.organization_id = now.organization_id AND c.workflow_id = now.workflow_id;

INSERT INTO stored_counts (organization_id, workflow_id, shard, bytes, letters)
SELECT organization_id, '00000000-0000-0000-0000-000000000000'::uuid, 0, sum(bytes), sum(letters)
FROM (
    SELECT organization_id, octet_length(work) AS bytes, 1 AS letters FROM dead_letters
    UNION ALL SELECT organization_id, octet_length(payload), 0 FROM case_events
    UNION ALL SELECT organization_id, octet_length(bytes), 0 FROM import_sources
) AS kept
GROUP BY organization_id;
