-- Indexes in the order of each list, behind what it is filtered by, so that a page costs the same however much is stored
DROP INDEX runs_by_state;
CREATE INDEX runs_by_state ON runs (organization_id, workflow_id, state, created_at, id);
CREATE INDEX runs_by_version ON runs (organization_id, workflow_id, version, created_at, id);
CREATE INDEX runs_with_incident ON runs (organization_id, workflow_id, created_at, id) WHERE has_incident;
CREATE INDEX runs_with_incident_by_state ON runs (organization_id, workflow_id, state, created_at, id)
    WHERE has_incident;
-- Those of which it is asked at which node they stand
CREATE INDEX runs_active ON runs (organization_id, workflow_id, created_at, id) WHERE ended_at IS NULL;
DROP INDEX runs_by_correlation;
CREATE INDEX runs_by_correlation ON runs (organization_id, workflow_id, correlation_key, created_at, id)
    WHERE correlation_key IS NOT NULL;

-- The place of a task in its list: when it is due, or the last instant there is
ALTER TABLE human_tasks ADD COLUMN due_order INTEGER NOT NULL DEFAULT 253402300799000000;
UPDATE human_tasks SET due_order = due_at WHERE due_at IS NOT NULL;
DROP INDEX human_tasks_by_state;
CREATE INDEX human_tasks_by_state ON human_tasks (organization_id, state, due_order, created_at, id);
DROP INDEX human_tasks_by_run;
CREATE INDEX human_tasks_by_run ON human_tasks (organization_id, run_id, state, due_order, created_at, id);
CREATE INDEX human_tasks_by_workflow
    ON human_tasks (organization_id, workflow_id, state, due_order, created_at, id);
CREATE INDEX human_tasks_by_assignee
    ON human_tasks (organization_id, assignee, state, due_order, created_at, id) WHERE assignee IS NOT NULL;

-- Candidates in the order of the list: `standing` is the task's state, or `assigned` while it is somebody's. A task
-- without candidates is for `everyone`
ALTER TABLE human_task_candidates ADD COLUMN workflow_id BLOB NOT NULL
    DEFAULT x'00000000000000000000000000000000';
ALTER TABLE human_task_candidates ADD COLUMN standing TEXT NOT NULL DEFAULT 'open';
ALTER TABLE human_task_candidates ADD COLUMN due_order INTEGER NOT NULL DEFAULT 253402300799000000;
ALTER TABLE human_task_candidates ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;
INSERT INTO human_task_candidates (organization_id, task_id, kind, name)
SELECT organization_id, id, 'everyone', '' FROM human_tasks AS t
WHERE NOT EXISTS (
    SELECT 1 FROM human_task_candidates AS c WHERE c.organization_id = t.organization_id AND c.task_id = t.id
);
UPDATE human_task_candidates AS c SET
    standing = iif(t.assignee IS NULL, t.state, 'assigned'),
    workflow_id = t.workflow_id,
    due_order = t.due_order,
    created_at = t.created_at
FROM human_tasks AS t WHERE t.organization_id = c.organization_id AND t.id = c.task_id;
CREATE INDEX human_task_candidates_by_name
    ON human_task_candidates (organization_id, kind, name, standing, due_order, created_at, task_id);
CREATE INDEX human_task_candidates_by_workflow ON human_task_candidates
    (organization_id, workflow_id, kind, name, standing, due_order, created_at, task_id);
CREATE TRIGGER human_tasks_stand AFTER UPDATE OF state, assignee ON human_tasks
WHEN OLD.state <> NEW.state OR OLD.assignee IS NOT NEW.assignee
BEGIN
    UPDATE human_task_candidates SET standing = iif(NEW.assignee IS NULL, NEW.state, 'assigned')
    WHERE organization_id = NEW.organization_id AND task_id = NEW.id;
END;

CREATE INDEX dead_letters_by_kind ON dead_letters (organization_id, kind, created_at, id);

-- Kept events by what they are correlated by, and those that a run waits for
ALTER TABLE case_events ADD COLUMN awaited INTEGER NOT NULL DEFAULT 0 CHECK (awaited IN (0, 1));
DROP INDEX case_events_kept;
CREATE INDEX case_events_kept ON case_events (organization_id, event_type, correlation_key, received_at, id)
    WHERE state = 'buffered';
CREATE INDEX case_events_awaited ON case_events (received_at, id) WHERE state = 'buffered' AND awaited;
CREATE INDEX case_events_awaited_by_organization ON case_events (organization_id, received_at, id)
    WHERE state = 'buffered' AND awaited;
UPDATE case_events SET awaited = 1 WHERE state = 'buffered' AND EXISTS (
    SELECT 1 FROM run_subscriptions AS s
    WHERE s.organization_id = case_events.organization_id AND s.kind = 'message'
        AND s.name = case_events.event_type AND s.correlation_key IS case_events.correlation_key
);
CREATE TRIGGER run_subscriptions_await AFTER INSERT ON run_subscriptions
WHEN NEW.kind = 'message'
BEGIN
    UPDATE case_events SET awaited = 1
    WHERE organization_id = NEW.organization_id AND state = 'buffered' AND event_type = NEW.name
        AND correlation_key IS NEW.correlation_key AND awaited = 0;
END;
CREATE TRIGGER case_events_await AFTER INSERT ON case_events
WHEN NEW.state = 'buffered' AND EXISTS (
    SELECT 1 FROM run_subscriptions AS s
    WHERE s.organization_id = NEW.organization_id AND s.kind = 'message' AND s.name = NEW.event_type
        AND s.correlation_key IS NEW.correlation_key
)
BEGIN
    UPDATE case_events SET awaited = 1 WHERE organization_id = NEW.organization_id AND id = NEW.id;
END;
CREATE TRIGGER case_events_await_again AFTER UPDATE OF state ON case_events
WHEN NEW.state = 'buffered' AND OLD.state <> 'buffered'
BEGIN
    UPDATE case_events SET awaited = EXISTS (
        SELECT 1 FROM run_subscriptions AS s
        WHERE s.organization_id = NEW.organization_id AND s.kind = 'message' AND s.name = NEW.event_type
            AND s.correlation_key IS NEW.correlation_key
    )
    WHERE organization_id = NEW.organization_id AND id = NEW.id;
END;
