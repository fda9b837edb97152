-- The people of a run: by statements whose plans are kept, where a function of SQL alone is planned at each call.
CREATE OR REPLACE FUNCTION run_people_change(organization uuid, run uuid, task uuid, assigned text, change bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF assigned IS NOT NULL THEN
        INSERT INTO run_people AS p (organization_id, run_id, instance_kind, kind, name, created_at, tasks)
        SELECT organization, run, r.kind, 'user', lower(assigned COLLATE "C"), r.created_at, change
        FROM runs AS r
        WHERE r.organization_id = organization AND r.id = run
        ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = p.tasks + excluded.tasks;
        RETURN;
    END IF;
    -- Of several spellings of one user each counts, in one row.
    INSERT INTO run_people AS p (organization_id, run_id, instance_kind, kind, name, created_at, tasks)
    SELECT organization, run, r.kind, c.kind, CASE WHEN c.kind = 'user' THEN lower(c.name) ELSE c.name END,
        r.created_at, change * count(*)
    FROM human_task_candidates AS c CROSS JOIN runs AS r
    WHERE c.organization_id = organization AND c.task_id = task AND c.kind IN ('user', 'group')
        AND r.organization_id = organization AND r.id = run
    GROUP BY r.kind, c.kind, CASE WHEN c.kind = 'user' THEN lower(c.name) ELSE c.name END, r.created_at
    ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = p.tasks + excluded.tasks;
END $$;
-- The plans of these are made while the tables are small, and kept: they go by the indexes all the same.
ALTER FUNCTION run_people_change(uuid, uuid, uuid, text, bigint) SET enable_seqscan = off;
ALTER FUNCTION human_tasks_stand() SET enable_seqscan = off;
