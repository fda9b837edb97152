ALTER TABLE case_events DROP COLUMN hops;
