-- Place of an event in the chain of its organisation, and the hash of the chain up to it; none before it is sealed
ALTER TABLE audit_events ADD COLUMN sequence INTEGER;
ALTER TABLE audit_events ADD COLUMN hash BLOB;
-- The chain in its order
CREATE UNIQUE INDEX audit_events_by_sequence ON audit_events (organization_id, sequence)
    WHERE sequence IS NOT NULL;
-- Events to seal: whatever was committed, in whichever order
CREATE INDEX audit_events_unsealed ON audit_events (organization_id, id) WHERE sequence IS NULL;

-- Signed checkpoints: how far a chain reaches ('head'), and up to where its events were dropped ('dropped')
CREATE TABLE audit_checkpoints (
    organization_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    hash BLOB NOT NULL,
    dropped INTEGER NOT NULL,
    at INTEGER NOT NULL,
    key_id TEXT NOT NULL,
    signature BLOB NOT NULL,
    PRIMARY KEY (organization_id, kind, sequence)
) STRICT, WITHOUT ROWID;
