CREATE TABLE run_events_of_runs (
    organization_id BLOB NOT NULL,
    run_id BLOB NOT NULL,
    first_sequence INTEGER NOT NULL,
    last_sequence INTEGER NOT NULL,
    events BLOB NOT NULL,
    commit_number INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (organization_id, run_id, first_sequence)
) STRICT, WITHOUT ROWID;
INSERT INTO run_events_of_runs
    (organization_id, run_id, first_sequence, last_sequence, events, commit_number)
    SELECT organization_id, run_id, first_sequence, last_sequence, events, commit_number FROM run_events;
DROP TABLE run_events;
ALTER TABLE run_events_of_runs RENAME TO run_events;
CREATE INDEX run_events_by_commit ON run_events (organization_id, commit_number, run_id, first_sequence);
