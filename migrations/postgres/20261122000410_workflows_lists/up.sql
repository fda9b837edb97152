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
ALTER TABLE human_tasks ADD COLUMN due_order timestamptz NOT NULL DEFAULT '9999-12-31 23:59:59+00';
UPDATE human_tasks SET due_order = due_at WHERE due_at IS NOT NULL;
ALTER TABLE human_tasks ALTER COLUMN due_order DROP DEFAULT;
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
ALTER TABLE human_task_candidates ADD COLUMN workflow_id uuid NOT NULL
    DEFAULT '00000000-0000-0000-0000-000000000000';
ALTER TABLE human_task_candidates ADD COLUMN standing text COLLATE "C" NOT NULL DEFAULT 'open';
ALTER TABLE human_task_candidates ADD COLUMN due_order timestamptz NOT NULL DEFAULT '9999-12-31 23:59:59+00';
ALTER TABLE human_task_candidates ADD COLUMN created_at timestamptz NOT NULL DEFAULT 'epoch';
INSERT INTO human_task_candidates (organization_id, task_id, kind, name)
SELECT organization_id, id, 'everyone', '' FROM human_tasks AS t
WHERE NOT EXISTS (
    SELECT 1 FROM human_task_candidates AS c WHERE c.organization_id = t.organization_id AND c.task_id = t.id
);
UPDATE human_task_candidates AS c SET
    standing = CASE WHEN t.assignee IS NULL THEN t.state ELSE 'assigned' END,
    workflow_id = t.workflow_id,
    due_order = t.due_order,
    created_at = t.created_at
FROM human_tasks AS t WHERE t.organization_id = c.organization_id AND t.id = c.task_id;
ALTER TABLE human_task_candidates ALTER COLUMN workflow_id DROP DEFAULT;
ALTER TABLE human_task_candidates ALTER COLUMN standing DROP DEFAULT;
ALTER TABLE human_task_candidates ALTER COLUMN due_order DROP DEFAULT;
ALTER TABLE human_task_candidates ALTER COLUMN created_at DROP DEFAULT;
CREATE INDEX human_task_candidates_by_name
    ON human_task_candidates (organization_id, kind, name, standing, due_order, created_at, task_id);
CREATE INDEX human_task_candidates_by_workflow ON human_task_candidates
    (organization_id, workflow_id, kind, name, standing, due_order, created_at, task_id);
CREATE FUNCTION human_tasks_stand() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE human_task_candidates AS c SET standing = CASE WHEN n.assignee IS NULL THEN n.state ELSE 'assigned' END
    FROM new_rows AS n
    WHERE c.organization_id = n.organization_id AND c.task_id = n.id
        AND c.standing <> CASE WHEN n.assignee IS NULL THEN n.state ELSE 'assigned' END;
    RETURN NULL;
END $$;
CREATE TRIGGER human_tasks_standing AFTER UPDATE ON human_tasks REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION human_tasks_stand();

CREATE INDEX dead_letters_by_kind ON dead_letters (organization_id, kind, created_at, id);

-- Kept events by what they are correlated by, and those that a run waits for
ALTER TABLE case_events ADD COLUMN awaited boolean NOT NULL DEFAULT FALSE;
ALTER TABLE case_events ALTER COLUMN awaited DROP DEFAULT;
DROP INDEX case_events_kept;
CREATE INDEX case_events_kept ON case_events (organization_id, event_type, correlation_key, received_at, id)
    WHERE state = 'buffered';
CREATE INDEX case_events_awaited ON case_events (received_at, id) WHERE state = 'buffered' AND awaited;
CREATE INDEX case_events_awaited_by_organization ON case_events (organization_id, received_at, id)
    WHERE state = 'buffered' AND awaited;
UPDATE case_events SET awaited = TRUE WHERE state = 'buffered' AND EXISTS (
    SELECT 1 FROM run_subscriptions AS s
    WHERE s.organization_id = case_events.organization_id AND s.kind = 'message'
        AND s.name = case_events.event_type
        AND s.correlation_key IS NOT DISTINCT FROM case_events.correlation_key
);
-- An event that another transaction has in its hands is left to it, so that nobody waits here
CREATE FUNCTION run_subscriptions_await() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM new_rows WHERE kind = 'message') THEN
        UPDATE case_events AS e SET awaited = TRUE
        WHERE (e.organization_id, e.id) IN (
            SELECT k.organization_id, k.id FROM new_rows AS s
            JOIN case_events AS k ON k.organization_id = s.organization_id AND k.event_type = s.name
                AND k.correlation_key = s.correlation_key
            WHERE s.kind = 'message' AND k.state = 'buffered' AND NOT k.awaited
            FOR UPDATE OF k SKIP LOCKED
        );
        IF EXISTS (SELECT 1 FROM new_rows WHERE kind = 'message' AND correlation_key IS NULL) THEN
            UPDATE case_events AS e SET awaited = TRUE
            WHERE (e.organization_id, e.id) IN (
                SELECT k.organization_id, k.id FROM new_rows AS s
                JOIN case_events AS k ON k.organization_id = s.organization_id AND k.event_type = s.name
                WHERE s.kind = 'message' AND s.correlation_key IS NULL AND k.correlation_key IS NULL
                    AND k.state = 'buffered' AND NOT k.awaited
                FOR UPDATE OF k SKIP LOCKED
            );
        END IF;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER run_subscriptions_awaited AFTER INSERT ON run_subscriptions REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION run_subscriptions_await();
CREATE FUNCTION case_events_await() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.correlation_key IS NULL THEN
        NEW.awaited := EXISTS (
            SELECT 1 FROM run_subscriptions AS s
            WHERE s.organization_id = NEW.organization_id AND s.kind = 'message' AND s.name = NEW.event_type
                AND s.correlation_key IS NULL
        );
    ELSE
        NEW.awaited := EXISTS (
            SELECT 1 FROM run_subscriptions AS s
            WHERE s.organization_id = NEW.organization_id AND s.kind = 'message' AND s.name = NEW.event_type
                AND s.correlation_key = NEW.correlation_key
        );
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER case_events_awaited BEFORE INSERT OR UPDATE OF state ON case_events
    FOR EACH ROW WHEN (NEW.state = 'buffered') EXECUTE FUNCTION case_events_await();
