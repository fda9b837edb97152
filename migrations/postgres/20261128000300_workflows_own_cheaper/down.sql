CREATE OR REPLACE FUNCTION human_tasks_own() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was_open boolean := TG_OP = 'UPDATE' AND OLD.state = 'open';
    is_open boolean := NEW.state = 'open';
    is_same boolean := TG_OP = 'UPDATE' AND OLD.assignee IS NOT DISTINCT FROM NEW.assignee;
    was_completed boolean := TG_OP = 'UPDATE' AND OLD.completed_by IS NOT NULL;
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO human_task_people
            (organization_id, task_id, instance_kind, kind, user_id, state, due_order, created_at)
        SELECT NEW.organization_id, NEW.id, NEW.instance_kind, 'starter', r.created_by, NEW.state, NEW.due_order, NEW.created_at
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
        INSERT INTO human_task_people
            (organization_id, task_id, instance_kind, kind, user_id, state, due_order, created_at)
        VALUES (NEW.organization_id, NEW.id, NEW.instance_kind, 'completer', NEW.completed_by, NEW.state, NEW.due_order,
            NEW.created_at);
    END IF;
    IF was_open THEN
        DELETE FROM run_people
        WHERE organization_id = NEW.organization_id AND run_id = NEW.run_id AND tasks <= 0;
    END IF;
    RETURN NULL;
END $$;
ALTER FUNCTION run_people_change(uuid, uuid, uuid, text, bigint) SET enable_seqscan = off;
ALTER FUNCTION human_tasks_stand() SET enable_seqscan = off;
