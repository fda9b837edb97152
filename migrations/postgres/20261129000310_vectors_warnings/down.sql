-- Fails while there are values that have no room in the index of before
ALTER TABLE vector_fields DROP CONSTRAINT vector_fields_pkey;
ALTER TABLE vector_fields DROP COLUMN head, DROP COLUMN place,
    ADD PRIMARY KEY (organization_id, database_id, field, value, file_id);
ALTER TABLE vector_files DROP COLUMN warnings;
ALTER TABLE vector_builds DROP COLUMN warnings;
