-- Work outside of the process that changes asked for. A lane is what keeps an order, or shares a target without one
-- (its line is empty then). `turn` is the due time in a lane without an order, and the beginning of time in one with an
-- order, so that one index gives the first of either; `position` is the order of writing. A lease is a node and a due
-- time at which it ends
CREATE TABLE errands (
    position INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    kind TEXT NOT NULL,
    lane BLOB NOT NULL,
    target TEXT NOT NULL,
    line TEXT NOT NULL,
    turn INTEGER NOT NULL,
    workflow_id BLOB,
    run_id BLOB,
    name TEXT NOT NULL,
    payload BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    node BLOB,
    epoch INTEGER NOT NULL,
    suspect INTEGER NOT NULL CHECK (suspect IN (0, 1)),
    attempts INTEGER NOT NULL,
    crashes INTEGER NOT NULL,
    UNIQUE (organization_id, id)
) STRICT;
-- The first of each lane, and the next lane behind one
CREATE INDEX errands_by_lane ON errands (kind, lane, turn, position);
-- What a node left behind
CREATE INDEX errands_by_node ON errands (node) WHERE node IS NOT NULL;
