-- Number of the last generation that was begun: none is given twice, since what one left goes in the background by its number
ALTER TABLE vector_databases ADD COLUMN last_generation bigint NOT NULL DEFAULT 1;
UPDATE vector_databases SET last_generation = greatest(
    generation,
    coalesce(next_generation, 0),
    coalesce((SELECT max(one.generation) FROM vector_purges one WHERE one.organization_id = vector_databases.organization_id AND one.database_id = vector_databases.id), 0),
    coalesce((SELECT max(one.generation) FROM vector_builds one WHERE one.organization_id = vector_databases.organization_id AND one.database_id = vector_databases.id), 0),
    coalesce((SELECT max(one.generation) FROM vector_live one WHERE one.organization_id = vector_databases.organization_id AND one.database_id = vector_databases.id), 0)
);
-- Numbers were given twice until now: what serves or is built under one again stays
DELETE FROM vector_purges WHERE generation IS NOT NULL AND EXISTS (
    SELECT 1 FROM vector_databases one
    WHERE one.organization_id = vector_purges.organization_id AND one.id = vector_purges.database_id
    AND (one.generation = vector_purges.generation OR one.next_generation = vector_purges.generation)
);

-- Passages that the generation which is built has by now: they count for the quota before it serves
ALTER TABLE vector_databases ADD COLUMN next_passages bigint NOT NULL DEFAULT 0;
UPDATE vector_databases SET next_passages = coalesce((
    SELECT sum(one.end_passage - one.first_passage) FROM vector_live one
    WHERE one.organization_id = vector_databases.organization_id AND one.database_id = vector_databases.id AND one.generation = vector_databases.next_generation
), 0)
WHERE next_generation IS NOT NULL;

-- Methodology that the options of a file were given for
ALTER TABLE vector_files ADD COLUMN options_methodology text COLLATE "C";

-- What is open of a database, and what is at work of an organisation
DROP INDEX vector_builds_by_state;
CREATE INDEX vector_builds_by_state ON vector_builds (organization_id, state, database_id, generation);
