-- The session or API token of whoever did it
ALTER TABLE audit_events ADD COLUMN actor_credential text COLLATE "C";
-- What was made, or whom it concerns, beside the thing that was acted on
ALTER TABLE audit_events ADD COLUMN target_type text COLLATE "C";
ALTER TABLE audit_events ADD COLUMN target_id text COLLATE "C";
-- All about one thing, newest first
CREATE INDEX audit_events_by_resource ON audit_events (organization_id, resource_id, id)
    WHERE resource_id IS NOT NULL;
-- All that made one thing or concerns one, newest first
CREATE INDEX audit_events_by_target ON audit_events (organization_id, target_id, id)
    WHERE target_id IS NOT NULL;
