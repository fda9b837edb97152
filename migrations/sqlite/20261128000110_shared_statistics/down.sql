DELETE FROM sqlite_stat1;
ANALYZE sqlite_schema;
