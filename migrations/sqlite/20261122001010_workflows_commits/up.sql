-- Number of the last commit that wrote events of runs: it never falls, whatever is removed
CREATE TABLE run_commits (
    one INTEGER NOT NULL CHECK (one = 1),
    number INTEGER NOT NULL,
    PRIMARY KEY (one)
) STRICT, WITHOUT ROWID;
INSERT INTO run_commits (one, number) VALUES (1, 0);

-- Place of events in the stream over all runs: the number of their commit; 0 for those of before
ALTER TABLE run_events ADD COLUMN commit_number INTEGER NOT NULL DEFAULT 0;
CREATE INDEX run_events_by_commit ON run_events (organization_id, commit_number, run_id, first_sequence);
