DROP INDEX audit_events_by_target;
DROP INDEX audit_events_by_resource;
ALTER TABLE audit_events DROP COLUMN target_id;
ALTER TABLE audit_events DROP COLUMN target_type;
ALTER TABLE audit_events DROP COLUMN actor_credential;
