-- Omissions of a file with their reasons: what each build left out, and what is left out of what can be found
ALTER TABLE vector_builds ADD COLUMN warnings BLOB;
ALTER TABLE vector_files ADD COLUMN warnings BLOB;

-- A title that a file says itself is searched like one that was given
UPDATE vector_files SET search = search || lower(title) WHERE title IS NOT NULL AND substr(search, -1) = char(31);

-- A value by which filters find a file; its key has the beginning alone, since the longest ones have no room in an index of
-- PostgreSQL, and its number among the values of the file
CREATE TABLE vector_fields_next (
    organization_id BLOB NOT NULL,
    database_id BLOB NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    file_id BLOB NOT NULL,
    head TEXT NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (organization_id, database_id, field, head, file_id, place),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;
INSERT INTO vector_fields_next
SELECT organization_id, database_id, field, value, file_id, substr(value, 1, 500),
    row_number() OVER (PARTITION BY organization_id, database_id, file_id ORDER BY field, value) - 1
FROM vector_fields;
DROP TABLE vector_fields;
ALTER TABLE vector_fields_next RENAME TO vector_fields;
CREATE INDEX vector_fields_by_file ON vector_fields (organization_id, database_id, file_id);
