-- Place of an event in the chain of its organisation, and the hash of the chain up to it; none before it is sealed
ALTER TABLE audit_events ADD COLUMN sequence bigint;
ALTER TABLE audit_events ADD COLUMN hash bytea;
-- The chain in its order
CREATE UNIQUE INDEX audit_events_by_sequence ON audit_events (organization_id, sequence)
    WHERE sequence IS NOT NULL;
-- Events to seal: whatever was committed, in whichever order
CREATE INDEX audit_events_unsealed ON audit_events (organization_id, id) WHERE sequence IS NULL;

-- Signed checkpoints: how far a chain reaches ('head'), and up to where its events were dropped ('dropped')
CREATE TABLE audit_checkpoints (
    organization_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    hash bytea NOT NULL,
    dropped bigint NOT NULL,
    at timestamptz NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    signature bytea NOT NULL,
    PRIMARY KEY (organization_id, kind, sequence)
);
