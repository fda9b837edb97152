DROP TABLE audit_checkpoints;
DROP INDEX audit_events_unsealed;
DROP INDEX audit_events_by_sequence;
ALTER TABLE audit_events DROP COLUMN hash;
ALTER TABLE audit_events DROP COLUMN sequence;
