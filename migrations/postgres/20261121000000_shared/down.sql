DROP TABLE tombstones;
DROP TABLE idempotency_keys;
DROP TABLE audit_events;
