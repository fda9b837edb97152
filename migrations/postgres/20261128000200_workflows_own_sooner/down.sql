ALTER FUNCTION human_tasks_stand() RESET enable_seqscan;
ALTER FUNCTION run_people_change(uuid, uuid, uuid, text, bigint) RESET enable_seqscan;
CREATE OR REPLACE FUNCTION run_people_change(organization uuid, run uuid, task uuid, assigned text, change bigint)
RETURNS void LANGUAGE sql AS $$
    INSERT INTO run_people AS p (organization_id, run_id, instance_kind, kind, name, created_at, tasks)
    SELECT organization, run, r.kind, meant.kind, meant.name, r.created_at, change * count(*)
    FROM (
        SELECT 'user' AS kind, lower(assigned COLLATE "C") AS name WHERE assigned IS NOT NULL
        UNION ALL
        SELECT c.kind, CASE WHEN c.kind = 'user' THEN lower(c.name) ELSE c.name END
        FROM human_task_candidates AS c
        WHERE assigned IS NULL AND c.organization_id = organization AND c.task_id = task
            AND c.kind IN ('user', 'group')
    ) AS meant CROSS JOIN runs AS r
    WHERE r.organization_id = organization AND r.id = run
    GROUP BY r.kind, meant.kind, meant.name, r.created_at
    ON CONFLICT (organization_id, run_id, kind, name) DO UPDATE SET tasks = p.tasks + excluded.tasks;
$$;
