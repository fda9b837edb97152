DROP TRIGGER human_tasks_own_taken;
CREATE TRIGGER human_tasks_own_taken AFTER UPDATE OF state, assignee ON human_tasks
WHEN OLD.state = 'open' AND OLD.assignee IS NULL AND (NEW.state <> 'open' OR NEW.assignee IS NOT NULL)
BEGIN
    UPDATE run_people SET tasks = tasks - (
        SELECT count(*) FROM human_task_candidates AS c
        WHERE c.organization_id = OLD.organization_id AND c.task_id = OLD.id AND c.kind = run_people.kind
            AND iif(c.kind = 'user', lower(c.name), c.name) = run_people.name
    )
    WHERE organization_id = OLD.organization_id AND run_id = OLD.run_id
        AND (kind, name) IN (
            SELECT c.kind, iif(c.kind = 'user', lower(c.name), c.name) FROM human_task_candidates AS c
            WHERE c.organization_id = OLD.organization_id AND c.task_id = OLD.id AND c.kind IN ('user', 'group')
        );
    DELETE FROM run_people
    WHERE organization_id = OLD.organization_id AND run_id = OLD.run_id AND tasks <= 0
        AND (kind, name) IN (
            SELECT c.kind, iif(c.kind = 'user', lower(c.name), c.name) FROM human_task_candidates AS c
            WHERE c.organization_id = OLD.organization_id AND c.task_id = OLD.id AND c.kind IN ('user', 'group')
        );
END;
