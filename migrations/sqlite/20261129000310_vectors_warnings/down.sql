CREATE TABLE vector_fields_before (
    organization_id BLOB NOT NULL,
    database_id BLOB NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    file_id BLOB NOT NULL,
    PRIMARY KEY (organization_id, database_id, field, value, file_id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;
INSERT INTO vector_fields_before SELECT organization_id, database_id, field, value, file_id FROM vector_fields;
DROP TABLE vector_fields;
ALTER TABLE vector_fields_before RENAME TO vector_fields;
CREATE INDEX vector_fields_by_file ON vector_fields (organization_id, database_id, file_id);
ALTER TABLE vector_files DROP COLUMN warnings;
ALTER TABLE vector_builds DROP COLUMN warnings;
