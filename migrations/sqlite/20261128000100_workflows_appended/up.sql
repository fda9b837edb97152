-- The events of runs stand in the order in which they were written: a step of a run that slept writes behind the last
-- one's, where what else is written stands, and not between pages of runs that are as old as it is.
CREATE TABLE run_events_appended (
    organization_id BLOB NOT NULL,
    run_id BLOB NOT NULL,
    first_sequence INTEGER NOT NULL,
    last_sequence INTEGER NOT NULL,
    events BLOB NOT NULL,
    commit_number INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (organization_id, run_id, first_sequence)
) STRICT;
INSERT INTO run_events_appended
    (organization_id, run_id, first_sequence, last_sequence, events, commit_number)
    SELECT organization_id, run_id, first_sequence, last_sequence, events, commit_number FROM run_events;
DROP TABLE run_events;
ALTER TABLE run_events_appended RENAME TO run_events;
CREATE INDEX run_events_by_commit ON run_events (organization_id, commit_number, run_id, first_sequence);
