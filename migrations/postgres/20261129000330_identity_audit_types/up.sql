-- Events about a type of things, newest first. Starts and completions of tasks, nearly all of a large trail, are left out: they
-- are found by their actions
CREATE INDEX audit_events_by_type ON audit_events (organization_id, resource_type, id)
    WHERE NOT (action = 'workflow.run_started' AND resource_type = 'workflow')
    AND NOT (action = 'workflow.human_task_completed' AND resource_type = 'run')
    AND NOT (action = 'human_task.completed' AND resource_type = 'run')
    AND NOT (action = 'human_task.completed' AND resource_type = 'case')
    AND NOT (action = 'case.started' AND resource_type = 'case');
