-- An audit event that has no place in its chain yet: whatever was committed, in whichever order. It has no index but its
-- key: a change that is audited writes a row here, and what seals it moves many at once to where lists are read from
CREATE TABLE audit_unsealed (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    at INTEGER NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_id TEXT,
    actor_display TEXT NOT NULL,
    actor_credential TEXT,
    action TEXT NOT NULL,
    resource_type TEXT NOT NULL,
    resource_id TEXT,
    target_type TEXT,
    target_id TEXT,
    outcome TEXT NOT NULL,
    request_id TEXT NOT NULL,
    client_ip TEXT,
    details TEXT NOT NULL,
    PRIMARY KEY (organization_id, id)
) STRICT, WITHOUT ROWID;
INSERT INTO audit_unsealed
    SELECT organization_id, id, at, actor_kind, actor_id, actor_display, actor_credential, action, resource_type, resource_id,
        target_type, target_id, outcome, request_id, client_ip, details
    FROM audit_events WHERE sequence IS NULL;

-- An audit event with its place in the chain of its organisation, and the hash of the chain up to it. The nil organisation
-- holds those of the installation as a whole; ids rise with time
CREATE TABLE sealed_events (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    at INTEGER NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_id TEXT,
    actor_display TEXT NOT NULL,
    action TEXT NOT NULL,
    resource_type TEXT NOT NULL,
    resource_id TEXT,
    outcome TEXT NOT NULL,
    request_id TEXT NOT NULL,
    client_ip TEXT,
    details TEXT NOT NULL,
    actor_credential TEXT,
    target_type TEXT,
    target_id TEXT,
    sequence INTEGER NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (organization_id, id)
) STRICT, WITHOUT ROWID;
INSERT INTO sealed_events
    SELECT organization_id, id, at, actor_kind, actor_id, actor_display, action, resource_type, resource_id, outcome,
        request_id, client_ip, details, actor_credential, target_type, target_id, sequence, hash
    FROM audit_events WHERE sequence IS NOT NULL;
DROP TABLE audit_events;
ALTER TABLE sealed_events RENAME TO audit_events;
CREATE UNIQUE INDEX audit_events_by_sequence ON audit_events (organization_id, sequence);
CREATE INDEX audit_events_by_resource ON audit_events (organization_id, resource_id, id)
    WHERE resource_id IS NOT NULL;
CREATE INDEX audit_events_by_target ON audit_events (organization_id, target_id, id)
    WHERE target_id IS NOT NULL;
CREATE INDEX audit_events_by_action ON audit_events (organization_id, action, id);
CREATE INDEX audit_events_by_actor ON audit_events (organization_id, actor_id, id) WHERE actor_id IS NOT NULL;

DELETE FROM sqlite_stat1 WHERE tbl IN ('audit_events', 'sealed_events');
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('audit_unsealed', 'audit_unsealed', '200 100 1'),
    ('audit_events', 'audit_events', '1000000 500000 1'),
    ('audit_events', 'audit_events_by_sequence', '1000000 500000 1'),
    ('audit_events', 'audit_events_by_actor', '1000000 500000 5000 1'),
    ('audit_events', 'audit_events_by_action', '1000000 500000 20000 1'),
    ('audit_events', 'audit_events_by_target', '500000 250000 20 1'),
    ('audit_events', 'audit_events_by_resource', '1000000 500000 20 1');
ANALYZE sqlite_schema;
