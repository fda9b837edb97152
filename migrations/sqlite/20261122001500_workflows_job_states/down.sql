DROP INDEX jobs_by_state;
CREATE INDEX jobs_failed ON jobs (organization_id, id) WHERE state = 'failed';
ALTER TABLE jobs DROP COLUMN lapses;
