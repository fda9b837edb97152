DROP INDEX audit_events_by_sequence;
ALTER TABLE audit_events RENAME COLUMN sequence TO sealed_sequence;
ALTER TABLE audit_events RENAME COLUMN hash TO sealed_hash;
ALTER TABLE audit_events ADD COLUMN sequence INTEGER;
ALTER TABLE audit_events ADD COLUMN hash BLOB;
UPDATE audit_events SET sequence = sealed_sequence, hash = sealed_hash;
ALTER TABLE audit_events DROP COLUMN sealed_hash;
ALTER TABLE audit_events DROP COLUMN sealed_sequence;
INSERT INTO audit_events (organization_id, id, at, actor_kind, actor_id, actor_display, actor_credential, action,
        resource_type, resource_id, target_type, target_id, outcome, request_id, client_ip, details)
    SELECT organization_id, id, at, actor_kind, actor_id, actor_display, actor_credential, action, resource_type, resource_id,
        target_type, target_id, outcome, request_id, client_ip, details
    FROM audit_unsealed;
DROP TABLE audit_unsealed;
CREATE UNIQUE INDEX audit_events_by_sequence ON audit_events (organization_id, sequence)
    WHERE sequence IS NOT NULL;
CREATE INDEX audit_events_unsealed ON audit_events (organization_id, id) WHERE sequence IS NULL;
DELETE FROM sqlite_stat1 WHERE tbl = 'audit_unsealed';
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('audit_events', 'audit_events_unsealed', '200 100 1'),
    ('audit_events', 'audit_events_by_sequence', '1000000 500000 1');
ANALYZE sqlite_schema;
