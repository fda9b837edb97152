-- Times in a row that the lock of a job ran out without a word of its worker
ALTER TABLE jobs ADD COLUMN lapses INTEGER NOT NULL DEFAULT 0;
-- Lists of the jobs in one of the states that few jobs are in
DROP INDEX jobs_failed;
CREATE INDEX jobs_by_state ON jobs (organization_id, state, id) WHERE state <> 'ready';
