-- All of one kind, and all that one caller did, newest first
CREATE INDEX audit_events_by_action ON audit_events (organization_id, action, id);
CREATE INDEX audit_events_by_actor ON audit_events (organization_id, actor_id, id) WHERE actor_id IS NOT NULL;
