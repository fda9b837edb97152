-- What stands here as open is open, and nobody's: lists of those who may take a task no longer ask its row. One that was opened
-- and ended by one step could stand here as open.
UPDATE human_task_candidates SET standing = (
    SELECT CASE WHEN t.assignee IS NULL THEN t.state ELSE 'assigned' END FROM human_tasks AS t
    WHERE t.organization_id = human_task_candidates.organization_id AND t.id = human_task_candidates.task_id
)
WHERE standing = 'open' AND EXISTS (
    SELECT 1 FROM human_tasks AS t
    WHERE t.organization_id = human_task_candidates.organization_id AND t.id = human_task_candidates.task_id
        AND (t.state <> 'open' OR t.assignee IS NOT NULL)
);

-- One's own runs with an incident: few of many, in the list that has those first.
CREATE INDEX runs_of_incidents_by_starter ON runs (organization_id, kind, created_by, created_at, id)
    WHERE has_incident AND created_by IS NOT NULL;
