-- State of each part of the passage index that PostgreSQL's extension pgvector keeps: always empty here
CREATE TABLE vector_partitions (
    organization_id BLOB NOT NULL,
    database_id BLOB NOT NULL,
    generation INTEGER NOT NULL,
    model TEXT NOT NULL,
    dimensions INTEGER NOT NULL CHECK (dimensions > 0),
    sequence INTEGER,
    passages INTEGER NOT NULL CHECK (passages >= 0),
    epoch INTEGER NOT NULL,
    touched_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, database_id, generation)
) STRICT;
