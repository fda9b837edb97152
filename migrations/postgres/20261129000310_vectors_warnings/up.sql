-- Omissions of a file with their reasons: what each build left out, and what is left out of what can be found
ALTER TABLE vector_builds ADD COLUMN warnings bytea;
ALTER TABLE vector_files ADD COLUMN warnings bytea;

-- A title that a file says itself is searched like one that was given
UPDATE vector_files SET search = search || lower(title) WHERE title IS NOT NULL AND right(search, 1) = chr(31);

-- The longest values have no room in an index: the key has the beginning alone, and the number among the values of the file
ALTER TABLE vector_fields ADD COLUMN head text COLLATE "C", ADD COLUMN place bigint;
UPDATE vector_fields one SET head = left(one.value, 500), place = other.place
FROM (
    SELECT organization_id, database_id, field, value, file_id,
        row_number() OVER (PARTITION BY organization_id, database_id, file_id ORDER BY field, value) - 1 AS place
    FROM vector_fields
) other
WHERE one.organization_id = other.organization_id AND one.database_id = other.database_id
    AND one.field = other.field AND one.value = other.value AND one.file_id = other.file_id;
ALTER TABLE vector_fields DROP CONSTRAINT vector_fields_pkey;
ALTER TABLE vector_fields ALTER COLUMN head SET NOT NULL, ALTER COLUMN place SET NOT NULL,
    ADD PRIMARY KEY (organization_id, database_id, field, head, file_id, place);
