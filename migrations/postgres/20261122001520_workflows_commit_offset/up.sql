-- What the numbers of transactions are raised by, so that they go on behind what is stored: a database that was put back
-- into a new cluster begins with small ones again. The server sets it when it starts
CREATE FUNCTION run_commit_offset() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT number FROM run_commits';
ALTER TABLE run_events
    ALTER COLUMN commit_number SET DEFAULT (pg_current_xact_id()::text::bigint + run_commit_offset());
