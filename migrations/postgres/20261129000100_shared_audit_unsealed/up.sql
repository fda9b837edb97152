-- An audit event that has no place in its chain yet: whatever was committed, in whichever order. It has no index but its
-- key: a change that is audited writes a row here, and what seals it moves many at once to where lists are read from
CREATE TABLE audit_unsealed (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    at timestamptz NOT NULL,
    actor_kind text COLLATE "C" NOT NULL,
    actor_id text COLLATE "C",
    actor_display text COLLATE "C" NOT NULL,
    actor_credential text COLLATE "C",
    action text COLLATE "C" NOT NULL,
    resource_type text COLLATE "C" NOT NULL,
    resource_id text COLLATE "C",
    target_type text COLLATE "C",
    target_id text COLLATE "C",
    outcome text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    client_ip text COLLATE "C",
    details jsonb NOT NULL,
    PRIMARY KEY (organization_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
INSERT INTO audit_unsealed
    SELECT organization_id, id, at, actor_kind, actor_id, actor_display, actor_credential, action, resource_type, resource_id,
        target_type, target_id, outcome, request_id, client_ip, details
    FROM audit_events WHERE sequence IS NULL;
DELETE FROM audit_events WHERE sequence IS NULL;

-- An audit event is never changed again once it has its place
DROP INDEX audit_events_unsealed;
DROP INDEX audit_events_by_sequence;
ALTER TABLE audit_events ALTER COLUMN sequence SET NOT NULL, ALTER COLUMN hash SET NOT NULL;
CREATE UNIQUE INDEX audit_events_by_sequence ON audit_events (organization_id, sequence);
