DROP INDEX audit_events_by_sequence;
ALTER TABLE audit_events ALTER COLUMN sequence DROP NOT NULL, ALTER COLUMN hash DROP NOT NULL;
INSERT INTO audit_events (organization_id, id, at, actor_kind, actor_id, actor_display, actor_credential, action,
        resource_type, resource_id, target_type, target_id, outcome, request_id, client_ip, details)
    SELECT organization_id, id, at, actor_kind, actor_id, actor_display, actor_credential, action, resource_type, resource_id,
        target_type, target_id, outcome, request_id, client_ip, details
    FROM audit_unsealed;
DROP TABLE audit_unsealed;
CREATE UNIQUE INDEX audit_events_by_sequence ON audit_events (organization_id, sequence)
    WHERE sequence IS NOT NULL;
CREATE INDEX audit_events_unsealed ON audit_events (organization_id, id) WHERE sequence IS NULL;
