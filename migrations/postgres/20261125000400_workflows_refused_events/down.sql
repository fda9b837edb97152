ALTER TABLE case_events DROP COLUMN refused;
