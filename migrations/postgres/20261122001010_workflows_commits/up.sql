-- Number of the last commit that wrote events of runs, of SQLite alone, which has one writer: here each transaction has
-- a number already, and a row that all writers change would make them wait for each other
CREATE TABLE run_commits (
    one integer NOT NULL CHECK (one = 1),
    number bigint NOT NULL,
    PRIMARY KEY (one)
);
INSERT INTO run_commits (one, number) VALUES (1, 0);

-- Place of events in the stream over all runs: the number of their transaction; 0 for those of before
ALTER TABLE run_events ADD COLUMN commit_number bigint NOT NULL DEFAULT 0;
ALTER TABLE run_events ALTER COLUMN commit_number SET DEFAULT (pg_current_xact_id()::text::bigint);
CREATE INDEX run_events_by_commit ON run_events (organization_id, commit_number, run_id, first_sequence);
