-- State of each part of the passage index that the extension pgvector keeps: the vectors stand in a partition of a table that is
-- made with the first of them, since its column's type is the extension's
CREATE TABLE vector_partitions (
    organization_id uuid NOT NULL,
    database_id uuid NOT NULL,
    generation bigint NOT NULL,
    -- Id and revision of the model; vectors of another one are not compared with its
    model text COLLATE "C" NOT NULL,
    dimensions integer NOT NULL CHECK (dimensions > 0),
    -- Number of the last commit that it has; none while it is built anew
    sequence bigint,
    passages bigint NOT NULL CHECK (passages >= 0),
    -- Grows each time it is begun anew: who began before writes no more
    epoch bigint NOT NULL,
    touched_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, database_id, generation)
);
