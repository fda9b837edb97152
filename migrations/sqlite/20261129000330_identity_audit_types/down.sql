DROP INDEX audit_events_by_type;
DELETE FROM sqlite_stat1 WHERE idx = 'audit_events_by_type';
ANALYZE sqlite_schema;
